-- Version 2: the order in which the orbs of a bucket are taken and expire (2^53 is after every time), the grants that are held, and
-- the order in which holds expire. The functions are those of older programs.
DO $$
DECLARE
    function regprocedure;
BEGIN
    FOR function IN SELECT oid FROM pg_proc WHERE pronamespace = 'orbs'::regnamespace AND proname = ANY (ARRAY['add', 'append',
        'balance_at', 'bonus_of', 'check_transaction', 'done', 'draw', 'due', 'entries', 'expire', 'expire_at', 'extend_at', 'fault',
        'finish', 'grant_at', 'hold_at', 'holds_at', 'open', 'revoke_at', 'run', 'run_at', 'settle_at', 'settled', 'sum_of', 'time'])
    LOOP
        EXECUTE format('DROP FUNCTION %s', function);
    END LOOP;
END $$;
DROP INDEX orbs.grants_account_idx;
DROP INDEX orbs.hold_account_expires_at_idx;
CREATE INDEX grants_rank ON orbs.grants (account, bucket, coalesce(expires_at, 9007199254740992), seq) WHERE available > 0;
CREATE INDEX grants_held ON orbs.grants (account, seq) WHERE held > 0;
CREATE INDEX hold_pending ON orbs.hold (account, expires_at, id) WHERE state = 'pending';
UPDATE orbs.setting SET value = '2' WHERE name = 'version';
