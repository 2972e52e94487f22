-- Version 1 of the ledger in SQLite. Every amount has its bounds, so that no sum in a check can overflow.
CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE account (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    clock INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    paid INTEGER NOT NULL CHECK (paid BETWEEN 0 AND 9007199254740991),
    bonus INTEGER NOT NULL CHECK (bonus BETWEEN 0 AND 9007199254740991),
    held INTEGER NOT NULL CHECK (held BETWEEN 0 AND 9007199254740991),
    next_due INTEGER -- nothing expires before this time
) STRICT;
CREATE INDEX account_due ON account (next_due) WHERE next_due IS NOT NULL;

CREATE TABLE grants (
    account INTEGER NOT NULL,
    seq INTEGER NOT NULL, -- of its entry
    id TEXT NOT NULL UNIQUE,
    bucket TEXT NOT NULL CHECK (bucket IN ('paid', 'bonus')),
    amount INTEGER NOT NULL CHECK (amount BETWEEN 1 AND 9007199254740991),
    expires_at INTEGER,
    at INTEGER NOT NULL,
    available INTEGER NOT NULL CHECK (available BETWEEN 0 AND 9007199254740991),
    held INTEGER NOT NULL CHECK (held BETWEEN 0 AND 9007199254740991),
    captured INTEGER NOT NULL CHECK (captured BETWEEN 0 AND 9007199254740991),
    expired INTEGER NOT NULL CHECK (expired BETWEEN 0 AND 9007199254740991),
    revoked INTEGER NOT NULL CHECK (revoked BETWEEN 0 AND 9007199254740991),
    PRIMARY KEY (account, seq),
    CHECK (available + held + captured + expired + revoked = amount)
) STRICT, WITHOUT ROWID;
CREATE INDEX grants_open ON grants (account) WHERE available > 0 OR held > 0;

CREATE TABLE hold (
    id TEXT PRIMARY KEY,
    account INTEGER, -- null if it was voided before it came
    amount INTEGER NOT NULL CHECK (amount BETWEEN 0 AND 9007199254740991),
    bonus_allowed INTEGER NOT NULL CHECK (bonus_allowed IN (0, 1)),
    ttl INTEGER NOT NULL,
    note TEXT NOT NULL,
    at INTEGER NOT NULL,
    lines TEXT NOT NULL, -- [[grant, orbs], …] in the order in which they were taken
    bonus INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'captured', 'voided', 'expired')),
    requested INTEGER,
    captured INTEGER,
    captured_bonus INTEGER,
    shortfall INTEGER,
    late INTEGER,
    settled_at INTEGER,
    CHECK ((settled_at IS NOT NULL) = (state IN ('captured', 'voided')))
) STRICT, WITHOUT ROWID;
CREATE INDEX hold_pending ON hold (account, expires_at) WHERE state = 'pending';

CREATE TABLE revocation (
    id TEXT PRIMARY KEY,
    account INTEGER NOT NULL,
    grant_id TEXT NOT NULL,
    amount INTEGER NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE extension (
    id TEXT PRIMARY KEY,
    hold TEXT NOT NULL,
    ttl INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE entry (
    position INTEGER PRIMARY KEY, -- the cursor: one writer, so the order of commits
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
    UNIQUE (account, seq)
) STRICT;
CREATE TRIGGER entry_is_never_changed BEFORE UPDATE ON entry BEGIN SELECT raise(ABORT, 'entries are never changed'); END;
CREATE TRIGGER entry_is_never_deleted BEFORE DELETE ON entry BEGIN SELECT raise(ABORT, 'entries are never deleted'); END;
