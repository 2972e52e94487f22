-- The end of version 3, once the entries of older versions have numbers: the last of those whose cursors, a transaction and a
-- position, are known. There is none if transactions have had lower numbers since, as after a dump was restored in another server:
-- then their order isn't the one in which entries were read.
INSERT INTO orbs.setting SELECT 'translated', CASE WHEN EXISTS (SELECT FROM orbs.entry WHERE xid < pg_snapshot_xmax(pg_current_snapshot())
    AND position > (SELECT min(position) FROM orbs.entry WHERE xid >= pg_snapshot_xmax(pg_current_snapshot())))
    THEN '0' ELSE (SELECT count(*)::text FROM orbs.feed) END;
ALTER TABLE orbs.entry DROP CONSTRAINT entry_pkey;
-- Programs of version 2 that still run look for `xid`, and fail.
ALTER TABLE orbs.entry RENAME COLUMN xid TO first_xid;
ALTER TABLE orbs.entry ALTER COLUMN first_xid DROP NOT NULL, ALTER COLUMN first_xid DROP DEFAULT, ADD PRIMARY KEY (position);
UPDATE orbs.setting SET value = '3' WHERE name = 'version';
