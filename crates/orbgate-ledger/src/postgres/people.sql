-- Version 7: refunds, which return captured orbs, and freezes. What a command says beside its content is in `remark`.
ALTER TABLE orbs.grants ADD COLUMN refunded orbs.amount NOT NULL DEFAULT 0; -- now in another grant
ALTER TABLE orbs.grants DROP CONSTRAINT grants_check;
ALTER TABLE orbs.grants ADD CONSTRAINT grants_check CHECK (available + held + captured + expired + revoked + refunded = amount);
ALTER TABLE orbs.account ADD COLUMN frozen boolean NOT NULL DEFAULT false;
-- The amount that the command stated; null for all that is left.
ALTER TABLE orbs.revocation ADD COLUMN stated orbs.amount;

CREATE TABLE orbs.refund (
    id text COLLATE "C" PRIMARY KEY,
    account bigint NOT NULL,
    hold text COLLATE "C" NOT NULL,
    amount orbs.amount NOT NULL,
    bonus orbs.amount NOT NULL,
    expires_at orbs.amount,
    at orbs.amount NOT NULL,
    stated orbs.amount
);
CREATE INDEX refund_hold ON orbs.refund (hold);
CREATE INDEX refund_account ON orbs.refund (account);

CREATE TABLE orbs.freeze (
    id text COLLATE "C" PRIMARY KEY,
    account bigint NOT NULL,
    frozen boolean NOT NULL,
    at orbs.amount NOT NULL
);

CREATE TABLE orbs.remark (
    cause text NOT NULL, -- of the entry
    id text COLLATE "C" NOT NULL,
    note text NOT NULL,
    author text NOT NULL,
    PRIMARY KEY (cause, id)
);

-- Whoever may use the older tables may use the new ones in the same way.
DO $$
DECLARE
    may record;
BEGIN
    FOR may IN SELECT DISTINCT acl.privilege_type AS what, CASE acl.grantee WHEN 0 THEN 'PUBLIC' ELSE acl.grantee::regrole::text END AS who
        FROM pg_class, aclexplode(relacl) AS acl WHERE oid = 'orbs.revocation'::regclass
    LOOP
        EXECUTE format('GRANT %s ON orbs.refund, orbs.freeze, orbs.remark TO %s', may.what, may.who);
    END LOOP;
END $$;
UPDATE orbs.setting SET value = '7' WHERE name = 'version';
