-- The ledger in PostgreSQL, version 1. Amounts and times are at most 2^53 - 1, so no sum of two overflows. An account without
-- entries was created by a grant that was refused.
CREATE SCHEMA orbs;

CREATE TABLE orbs.setting (name text PRIMARY KEY, value text NOT NULL);
INSERT INTO orbs.setting VALUES ('version', '1'), ('order', 'bonus_first');

CREATE DOMAIN orbs.amount AS bigint CHECK (VALUE BETWEEN 0 AND 9007199254740991);

CREATE TABLE orbs.account (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    clock orbs.amount NOT NULL DEFAULT 0,
    seq orbs.amount NOT NULL DEFAULT 0,
    paid orbs.amount NOT NULL DEFAULT 0,
    bonus orbs.amount NOT NULL DEFAULT 0,
    held orbs.amount NOT NULL DEFAULT 0
);

CREATE TABLE orbs.grants (
    account bigint NOT NULL,
    seq orbs.amount NOT NULL,
    id text COLLATE "C" NOT NULL UNIQUE,
    bucket text NOT NULL CHECK (bucket IN ('paid', 'bonus')),
    amount orbs.amount NOT NULL CHECK (amount > 0),
    expires_at orbs.amount,
    at orbs.amount NOT NULL,
    available orbs.amount NOT NULL,
    held orbs.amount NOT NULL DEFAULT 0,
    captured orbs.amount NOT NULL DEFAULT 0,
    expired orbs.amount NOT NULL DEFAULT 0,
    revoked orbs.amount NOT NULL DEFAULT 0,
    PRIMARY KEY (account, seq),
    CHECK (available + held + captured + expired + revoked = amount)
);
CREATE INDEX ON orbs.grants (account) WHERE available > 0 OR held > 0;
CREATE INDEX ON orbs.grants (expires_at) WHERE available > 0;

CREATE TABLE orbs.hold (
    id text COLLATE "C" PRIMARY KEY,
    account bigint, -- null if it was voided before it came
    amount orbs.amount NOT NULL,
    bonus_allowed boolean NOT NULL,
    ttl orbs.amount NOT NULL,
    note text NOT NULL,
    at orbs.amount NOT NULL,
    lines jsonb NOT NULL, -- [[grant, orbs], ...] in the order in which they were taken
    bonus orbs.amount NOT NULL,
    expires_at orbs.amount NOT NULL,
    state text NOT NULL CHECK (state IN ('pending', 'captured', 'voided', 'expired')),
    requested orbs.amount,
    captured orbs.amount,
    captured_bonus orbs.amount,
    shortfall orbs.amount,
    late boolean,
    settled_at orbs.amount,
    CHECK ((settled_at IS NOT NULL) = (state IN ('captured', 'voided')))
);
CREATE INDEX ON orbs.hold (account, expires_at) WHERE state = 'pending';
CREATE INDEX ON orbs.hold (expires_at) WHERE state = 'pending';

CREATE TABLE orbs.revocation (
    id text COLLATE "C" PRIMARY KEY,
    account bigint NOT NULL,
    grant_id text COLLATE "C" NOT NULL,
    amount orbs.amount NOT NULL,
    at orbs.amount NOT NULL
);

CREATE TABLE orbs.extension (
    id text COLLATE "C" PRIMARY KEY,
    hold text COLLATE "C" NOT NULL,
    ttl orbs.amount NOT NULL,
    expires_at orbs.amount NOT NULL,
    at orbs.amount NOT NULL
);

CREATE TABLE orbs.entry (
    -- The cursor is (xid, position): a reader sees only what is before every running transaction, so nothing can appear
    -- before a cursor later.
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    position bigint GENERATED ALWAYS AS IDENTITY,
    account bigint NOT NULL,
    seq orbs.amount NOT NULL,
    at orbs.amount NOT NULL,
    cause text NOT NULL,
    id text COLLATE "C" NOT NULL,
    lines jsonb NOT NULL, -- [[grant, available, held, captured], ...]
    paid orbs.amount NOT NULL,
    bonus orbs.amount NOT NULL,
    held orbs.amount NOT NULL,
    shortfall orbs.amount NOT NULL,
    PRIMARY KEY (xid, position),
    UNIQUE (account, seq)
);

CREATE FUNCTION orbs.never() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'entries are never changed';
END $$;
CREATE TRIGGER never BEFORE UPDATE OR DELETE OR TRUNCATE ON orbs.entry FOR EACH STATEMENT EXECUTE FUNCTION orbs.never();
ALTER FUNCTION orbs.never() SET search_path = pg_catalog, pg_temp;
REVOKE ALL ON FUNCTION orbs.never() FROM PUBLIC;
