-- Version 4: refunds, which return captured orbs, and freezes. What a command says beside its content is in `remark`.
ALTER TABLE grants RENAME TO grants_before;
DROP INDEX grants_open;
DROP INDEX grants_rank;
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
    refunded INTEGER NOT NULL CHECK (refunded BETWEEN 0 AND 9007199254740991), -- now in another grant
    PRIMARY KEY (account, seq),
    CHECK (available + held + captured + expired + revoked + refunded = amount)
) STRICT, WITHOUT ROWID;
INSERT INTO grants SELECT *, 0 FROM grants_before;
DROP TABLE grants_before;
CREATE INDEX grants_open ON grants (account) WHERE available > 0 OR held > 0;
-- 2^53 is after every time.
CREATE INDEX grants_rank ON grants (account, bucket, ifnull(expires_at, 9007199254740992), seq) WHERE available > 0;

ALTER TABLE account ADD COLUMN frozen INTEGER NOT NULL DEFAULT 0 CHECK (frozen IN (0, 1));
-- The amount that the command stated; null for all that is left.
ALTER TABLE revocation ADD COLUMN stated INTEGER;

CREATE TABLE refund (
    id TEXT PRIMARY KEY,
    account INTEGER NOT NULL,
    hold TEXT NOT NULL,
    amount INTEGER NOT NULL,
    bonus INTEGER NOT NULL,
    expires_at INTEGER,
    at INTEGER NOT NULL,
    stated INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX refund_hold ON refund (hold);
CREATE INDEX refund_account ON refund (account);

CREATE TABLE freeze (
    id TEXT PRIMARY KEY,
    account INTEGER NOT NULL,
    frozen INTEGER NOT NULL CHECK (frozen IN (0, 1)),
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE remark (
    cause TEXT NOT NULL, -- of the entry
    id TEXT NOT NULL,
    note TEXT NOT NULL,
    author TEXT NOT NULL,
    PRIMARY KEY (cause, id)
) STRICT, WITHOUT ROWID;
