-- What a batch reads and writes. These functions have no rules: they only let a server plan each statement once for a
-- connection, and not for each transaction. Each of their statements sees what was committed before it starts. Version 6 has begun with
-- them. A version that changes a column makes all of them again.
DO $$
DECLARE
    function regprocedure;
BEGIN
    FOR function IN SELECT oid FROM pg_proc WHERE pronamespace = 'orbs'::regnamespace AND proname <> 'never' LOOP
        EXECUTE format('DROP FUNCTION %s', function);
    END LOOP;
END $$;

-- What each transaction begins with that can write. No name means another schema's object. A process that stops midway delays its
-- accounts by 5 seconds. What was answered is durable, whatever the default of the database is. A plan is kept, and finds each row by
-- its index, however few rows there were when it was made.
CREATE FUNCTION orbs.begins() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    PERFORM set_config('idle_in_transaction_session_timeout', '5000', true), set_config('plan_cache_mode', 'force_generic_plan', true),
        set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
        set_config('jit', 'off', true);
    IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
END $$;

-- Begins, creates accounts in the order of their ids, and locks those that commands name or that have the holds that they name, also in
-- that order, so that two batches can't wait for each other. One that is locked elsewhere is left out if this skips. Then it reads the time
-- and the rows: a statement that locked and read at once would see grants as they were before it waited.
CREATE FUNCTION orbs.read(accounts text[], resolved text[], new_accounts text[], holds text[], takers text[], buckets text[], most bigint,
    grant_ids text[], revocations text[], extensions text[], refunds text[], refunded text[], freezes text[], skips boolean)
RETURNS TABLE (what integer, columns text[]) LANGUAGE plpgsql AS $$
DECLARE
    keys bigint[];
BEGIN
    PERFORM orbs.begins();
    IF new_accounts <> '{}' THEN
        INSERT INTO orbs.account (id) SELECT new.id FROM unnest(new_accounts) AS new (id)
            WHERE NOT EXISTS (SELECT FROM orbs.account AS a WHERE a.id = new.id) ORDER BY new.id COLLATE "C" ON CONFLICT DO NOTHING;
    END IF;
    keys := ARRAY(SELECT a.key FROM orbs.account AS a WHERE a.id = ANY (accounts));
    IF resolved <> '{}' THEN
        keys := keys || ARRAY(SELECT h.account FROM orbs.hold AS h WHERE h.id = ANY (resolved) AND h.account IS NOT NULL);
    END IF;
    IF skips THEN
        RETURN QUERY SELECT 0, ARRAY[a.key::text] FROM orbs.account AS a WHERE a.key = ANY (keys) ORDER BY a.id FOR UPDATE SKIP LOCKED;
    ELSE
        RETURN QUERY SELECT 0, ARRAY[a.key::text] FROM orbs.account AS a WHERE a.key = ANY (keys) ORDER BY a.id FOR UPDATE;
    END IF;
    RETURN QUERY SELECT 1, ARRAY[floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint::text,
        (SELECT value FROM orbs.setting WHERE name = 'version'), (SELECT value FROM orbs.setting WHERE name = 'order')];
    RETURN QUERY SELECT 2, ARRAY[a.key::text, a.id, a.clock::text, a.seq::text, a.paid::text, a.bonus::text, a.held::text, a.next_due::text,
        a.frozen::text]
        FROM orbs.account AS a WHERE a.key = ANY (keys);
    IF holds <> '{}' THEN
        RETURN QUERY SELECT 3, ARRAY[h.id, h.account::text, h.amount::text, h.bonus_allowed::text, h.ttl::text, h.note, h.at::text,
            h.lines::text, h.bonus::text, h.expires_at::text, h.state, h.requested::text, h.captured::text, h.captured_bonus::text,
            h.shortfall::text, h.late::text, h.settled_at::text] FROM orbs.hold AS h WHERE h.id = ANY (holds);
    END IF;
    -- The grants that holds take from first. 2^53 is after every time.
    IF takers <> '{}' THEN
        RETURN QUERY SELECT 4, ARRAY[g.account::text, g.seq::text, g.id, g.bucket, g.amount::text, g.expires_at::text, g.at::text,
            g.available::text, g.held::text, g.captured::text, g.expired::text, g.revoked::text,
            g.refunded::text, '1']
            FROM orbs.account AS a, unnest(buckets) AS b (name), LATERAL (SELECT * FROM orbs.grants AS r
                WHERE r.account = a.key AND r.bucket = b.name AND r.is_open
                ORDER BY coalesce(r.expires_at, 9007199254740992), r.seq LIMIT most) AS g WHERE a.id = ANY (takers);
    END IF;
    -- The grants of pending holds.
    IF resolved <> '{}' THEN
        RETURN QUERY SELECT 4, ARRAY[g.account::text, g.seq::text, g.id, g.bucket, g.amount::text, g.expires_at::text, g.at::text,
            g.available::text, g.held::text, g.captured::text, g.expired::text, g.revoked::text,
            g.refunded::text, '0']
            FROM (SELECT DISTINCT h.account, (l->>0)::bigint AS line FROM orbs.hold AS h, LATERAL jsonb_array_elements(h.lines) AS l
                WHERE h.id = ANY (resolved) AND h.state = 'pending') AS h JOIN orbs.grants AS g ON g.account = h.account AND g.seq = h.line;
    END IF;
    IF grant_ids <> '{}' THEN
        RETURN QUERY SELECT 4, ARRAY[g.account::text, g.seq::text, g.id, g.bucket, g.amount::text, g.expires_at::text, g.at::text,
            g.available::text, g.held::text, g.captured::text, g.expired::text, g.revoked::text,
            g.refunded::text, '0']
            FROM orbs.grants AS g WHERE g.id = ANY (grant_ids);
    END IF;
    IF revocations <> '{}' THEN
        RETURN QUERY SELECT 5, ARRAY[r.id, r.account::text, r.grant_id, r.amount::text, r.at::text, r.stated::text, a.id]
            FROM orbs.revocation AS r JOIN orbs.account AS a ON a.key = r.account WHERE r.id = ANY (revocations);
    END IF;
    IF extensions <> '{}' THEN
        RETURN QUERY SELECT 6, ARRAY[e.id, e.hold, e.ttl::text, e.expires_at::text, e.at::text]
            FROM orbs.extension AS e WHERE e.id = ANY (extensions);
    END IF;
    -- Refunds, also earlier ones of these holds, and the entries of captures that might have taken other orbs than those that were held.
    IF refunds <> '{}' THEN
        RETURN QUERY SELECT 7, ARRAY[r.id, r.account::text, r.hold, r.amount::text, r.bonus::text, r.expires_at::text, r.at::text,
            r.stated::text, a.id] FROM (SELECT * FROM orbs.refund WHERE id = ANY (refunds) UNION SELECT * FROM orbs.refund
                WHERE hold = ANY (refunded)) AS r JOIN orbs.account AS a ON a.key = r.account;
        RETURN QUERY SELECT 8, ARRAY[e.account::text, e.seq::text, e.at::text, e.cause, e.id, e.lines::text, e.paid::text, e.bonus::text,
            e.held::text, e.shortfall::text] FROM orbs.hold AS h JOIN orbs.entry AS e ON e.account = h.account AND e.id = h.id
            WHERE h.id = ANY (refunded) AND e.cause = 'capture' AND (h.late OR h.requested > h.amount);
    END IF;
    IF freezes <> '{}' THEN
        RETURN QUERY SELECT 9, ARRAY[f.id, f.account::text, f.frozen::text, f.at::text, a.id]
            FROM orbs.freeze AS f JOIN orbs.account AS a ON a.key = f.account WHERE f.id = ANY (freezes);
    END IF;
END $$;

-- What was read under a lock is there when it changes.
CREATE FUNCTION orbs.check_changed(changed bigint, rows integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF changed <> rows THEN
        RAISE EXCEPTION 'the ledger contradicts itself: a row changed while a command ran' USING ERRCODE = 'ORBS1';
    END IF;
END $$;

-- Each of the following takes columns of rows. What isn't known is how many rows there are: with this limit, the planner expects one,
-- and not more than a table has that is still small.

-- Lines are often equal: each text comes once, and is parsed once. A hold that has ended meanwhile is new before it is updated.
CREATE FUNCTION orbs.insert_holds(ids text[], accounts bigint[], amounts bigint[], bonuses_allowed boolean[], ttls bigint[], notes text[],
    ats bigint[], bonuses bigint[], expiries bigint[], lines text[], lines_of integer[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    parsed jsonb[] := lines::jsonb[];
BEGIN
    INSERT INTO orbs.hold (id, account, amount, bonus_allowed, ttl, note, at, lines, bonus, expires_at, state)
    SELECT ids[i], accounts[i], amounts[i], bonuses_allowed[i], ttls[i], notes[i], ats[i], parsed[lines_of[i]], bonuses[i],
        expiries[i], 'pending'
    FROM generate_subscripts(ids, 1) AS i;
END $$;

CREATE FUNCTION orbs.insert_grants(accounts bigint[], seqs bigint[], ids text[], buckets text[], amounts bigint[], expiries bigint[],
    ats bigint[], available bigint[], held bigint[], captured bigint[], expired bigint[], revoked bigint[], refunded bigint[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO orbs.grants
    SELECT accounts[i], seqs[i], ids[i], buckets[i], amounts[i], expiries[i], ats[i], available[i], held[i], captured[i],
        expired[i], revoked[i], refunded[i]
    FROM generate_subscripts(ids, 1) AS i;
END $$;

CREATE FUNCTION orbs.insert_revocations(ids text[], accounts bigint[], grant_ids text[], amounts bigint[], ats bigint[], stated bigint[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO orbs.revocation
    SELECT ids[i], accounts[i], grant_ids[i], amounts[i], ats[i], stated[i] FROM generate_subscripts(ids, 1) AS i;
END $$;

CREATE FUNCTION orbs.insert_extensions(ids text[], holds text[], ttls bigint[], expiries bigint[], ats bigint[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO orbs.extension
    SELECT ids[i], holds[i], ttls[i], expiries[i], ats[i] FROM generate_subscripts(ids, 1) AS i;
END $$;

CREATE FUNCTION orbs.insert_refunds(ids text[], accounts bigint[], holds text[], amounts bigint[], bonuses bigint[], expiries bigint[],
    ats bigint[], stated bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO orbs.refund
    SELECT ids[i], accounts[i], holds[i], amounts[i], bonuses[i], expiries[i], ats[i], stated[i] FROM generate_subscripts(ids, 1) AS i;
END $$;

CREATE FUNCTION orbs.insert_freezes(ids text[], accounts bigint[], frozens boolean[], ats bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO orbs.freeze SELECT ids[i], accounts[i], frozens[i], ats[i] FROM generate_subscripts(ids, 1) AS i;
END $$;

CREATE FUNCTION orbs.insert_remarks(causes text[], ids text[], notes text[], authors text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO orbs.remark SELECT causes[i], ids[i], notes[i], authors[i] FROM generate_subscripts(ids, 1) AS i;
END $$;

-- `were` is a compare-and-set, under the account's lock.
CREATE FUNCTION orbs.update_holds(ids text[], were text[], expiries bigint[], states text[], requests bigint[], captures bigint[],
    captures_of_bonus bigint[], shortfalls bigint[], lates boolean[], settled bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    changed bigint;
BEGIN
    UPDATE orbs.hold AS h SET expires_at = expiries[c.i], state = states[c.i], requested = requests[c.i], captured = captures[c.i],
        captured_bonus = captures_of_bonus[c.i], shortfall = shortfalls[c.i], late = lates[c.i], settled_at = settled[c.i]
    FROM (SELECT id, i::integer FROM unnest(ids) WITH ORDINALITY AS r (id, i) LIMIT cardinality(ids)) AS c
    WHERE h.id = c.id AND h.state = were[c.i];
    GET DIAGNOSTICS changed = ROW_COUNT;
    PERFORM orbs.check_changed(changed, cardinality(ids));
END $$;

CREATE FUNCTION orbs.update_grants(accounts bigint[], seqs bigint[], availables bigint[], helds bigint[], captures bigint[],
    expiries bigint[], revokes bigint[], refunds bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    changed bigint;
BEGIN
    UPDATE orbs.grants AS g SET available = availables[c.i], held = helds[c.i], captured = captures[c.i], expired = expiries[c.i],
        revoked = revokes[c.i], refunded = refunds[c.i]
    FROM (SELECT account, i::integer FROM unnest(accounts) WITH ORDINALITY AS r (account, i) LIMIT cardinality(accounts)) AS c
    WHERE g.account = c.account AND g.seq = seqs[c.i];
    GET DIAGNOSTICS changed = ROW_COUNT;
    PERFORM orbs.check_changed(changed, cardinality(accounts));
END $$;

CREATE FUNCTION orbs.update_accounts(keys bigint[], clocks bigint[], seqs bigint[], paids bigint[], bonuses bigint[], helds bigint[],
    dues bigint[], frozens boolean[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    changed bigint;
BEGIN
    UPDATE orbs.account AS a SET clock = clocks[c.i], seq = seqs[c.i], paid = paids[c.i], bonus = bonuses[c.i], held = helds[c.i],
        next_due = dues[c.i], frozen = frozens[c.i]
    FROM (SELECT key, i::integer FROM unnest(keys) WITH ORDINALITY AS r (key, i) LIMIT cardinality(keys)) AS c
    WHERE a.key = c.key;
    GET DIAGNOSTICS changed = ROW_COUNT;
    PERFORM orbs.check_changed(changed, cardinality(keys));
END $$;

CREATE FUNCTION orbs.insert_entries(accounts bigint[], seqs bigint[], ats bigint[], causes text[], ids text[], paids bigint[],
    bonuses bigint[], helds bigint[], shortfalls bigint[], lines text[], lines_of integer[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    parsed jsonb[] := lines::jsonb[];
BEGIN
    INSERT INTO orbs.entry (account, seq, at, cause, id, lines, paid, bonus, held, shortfall)
    SELECT accounts[i], seqs[i], ats[i], causes[i], ids[i], parsed[lines_of[i]], paids[i], bonuses[i], helds[i], shortfalls[i]
    FROM generate_subscripts(accounts, 1) AS i;
END $$;
