-- Accounts and grants change with each command. Their indexes name only what seldom changes, and their pages have room, so that a
-- change stays in its page and no index grows (a heap-only tuple).
ALTER TABLE orbs.account SET (fillfactor = 50);
ALTER TABLE orbs.grants SET (fillfactor = 50);
DROP INDEX orbs.grants_rank, orbs.grants_held, orbs.grants_expires_at_idx;
ALTER TABLE orbs.grants ADD COLUMN is_open boolean NOT NULL GENERATED ALWAYS AS (available > 0) STORED,
    ADD COLUMN is_held boolean NOT NULL GENERATED ALWAYS AS (held > 0) STORED;
CREATE INDEX grants_rank ON orbs.grants (account, bucket, coalesce(expires_at, 9007199254740992), seq) WHERE is_open;
CREATE INDEX grants_held ON orbs.grants (account, seq) WHERE is_held;
CREATE INDEX grants_expires_at_idx ON orbs.grants (expires_at) WHERE is_open;
