-- Version 3: each entry has the digest of all entries up to it. Programs of older versions can't write it, and look for `position`.
ALTER TABLE entry RENAME TO entry_before;
CREATE TABLE entry (
    number INTEGER PRIMARY KEY, -- 1, 2, 3 and so on: one writer, so the order of commits
    account INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    cause TEXT NOT NULL,
    id TEXT NOT NULL,
    lines TEXT NOT NULL, -- [[grant, available, held, captured], …]
    paid INTEGER NOT NULL,
    bonus INTEGER NOT NULL,
    held INTEGER NOT NULL,
    shortfall INTEGER NOT NULL,
    digest INTEGER NOT NULL,
    UNIQUE (account, seq)
) STRICT;
-- What digests begin with, and the last entry whose cursor of an older version, its position alone, is known.
INSERT INTO setting VALUES ('ledger', lower(hex(randomblob(8)))), ('translated', (SELECT count(*) FROM entry_before));
