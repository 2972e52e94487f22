-- What `pg_dump --no-owner --inserts -n orbs` wrote of a ledger of version 1, without its comments: thirteen commands, by its functions.
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE SCHEMA orbs;
CREATE DOMAIN orbs.amount AS bigint
    CONSTRAINT amount_check CHECK (((VALUE >= 0) AND (VALUE <= '9007199254740991'::bigint)));
CREATE FUNCTION orbs.add(p_account bigint, p_bucket text, p_amount bigint) RETURNS void
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    UPDATE orbs.account SET
        paid = paid + CASE p_bucket WHEN 'paid' THEN p_amount ELSE 0 END,
        bonus = bonus + CASE p_bucket WHEN 'bonus' THEN p_amount ELSE 0 END
    WHERE key = p_account
$$;
CREATE FUNCTION orbs.append(p_account bigint, p_at bigint, p_cause text, p_id text, p_lines jsonb, p_shortfall bigint) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    a orbs.account;
    v_lines jsonb;
BEGIN
    UPDATE orbs.account SET seq = seq + 1 WHERE key = p_account RETURNING * INTO a;
    SELECT coalesce(jsonb_agg(jsonb_build_array(s, v, h, c) ORDER BY s), '[]') INTO v_lines FROM (
        SELECT (l->>0)::bigint AS s, sum((l->>1)::bigint)::bigint AS v, sum((l->>2)::bigint)::bigint AS h,
            sum((l->>3)::bigint)::bigint AS c
        FROM jsonb_array_elements(p_lines) AS l GROUP BY 1
    ) AS merged;
    INSERT INTO orbs.entry (account, seq, at, cause, id, lines, paid, bonus, held, shortfall)
    VALUES (p_account, a.seq, p_at, p_cause, p_id, v_lines, a.paid, a.bonus, a.held, p_shortfall);
    RETURN a.seq;
END $$;
CREATE FUNCTION orbs.balance_at(p text, p_time bigint) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    o record;
    a orbs.account;
    v_now bigint;
BEGIN
    SELECT * INTO o FROM orbs.open(p, p_time);
    a := o.a;
    v_now := o.v_now;
    RETURN jsonb_build_object('Ok', jsonb_build_object('balance', jsonb_build_object('account', p,
        'posted', coalesce(a.paid + a.bonus + a.held, 0), 'held', coalesce(a.held, 0),
        'available', coalesce(a.paid + a.bonus, 0), 'paid', coalesce(a.paid, 0), 'bonus', coalesce(a.bonus, 0))));
END $$;
CREATE FUNCTION orbs.bonus_of(p_account bigint, p_lines jsonb) RETURNS bigint
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT coalesce(sum((l->>1)::bigint), 0)::bigint FROM jsonb_array_elements(p_lines) AS l
    JOIN orbs.grants ON account = p_account AND seq = (l->>0)::bigint AND bucket = 'bonus'
$$;
CREATE FUNCTION orbs.check_transaction() RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'a command runs under read committed, not %', current_setting('transaction_isolation');
    END IF;
    -- What was answered is durable, whatever the default of the database is. A lost transaction's number is used again, so a
    -- reader's cursor would be past the new entries.
    IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
END $$;
CREATE FUNCTION orbs.done(p_kind text, p_receipt jsonb, p_repeated boolean) RETURNS jsonb
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT jsonb_build_object('Ok', jsonb_build_object(p_kind, p_receipt || jsonb_build_object('repeated', p_repeated)))
$$;
CREATE FUNCTION orbs.draw(p_account bigint, p_bonus boolean, p_amount bigint) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    g orbs.grants;
    v_order text := (SELECT value FROM orbs.setting WHERE name = 'order');
    v_rest bigint := p_amount;
    v_lines jsonb := '[]';
BEGIN
    FOR g IN SELECT * FROM orbs.grants
        WHERE account = p_account AND available > 0 AND (p_bonus OR bucket = 'paid')
        ORDER BY CASE v_order WHEN 'soonest_first' THEN coalesce(expires_at, 9223372036854775807) ELSE 0 END,
            CASE v_order WHEN 'paid_first' THEN bucket = 'bonus' ELSE bucket = 'paid' END,
            coalesce(expires_at, 9223372036854775807), seq
    LOOP
        EXIT WHEN v_rest = 0;
        v_lines := v_lines || jsonb_build_array(jsonb_build_array(g.seq, least(g.available, v_rest)));
        v_rest := v_rest - least(g.available, v_rest);
    END LOOP;
    RETURN v_lines;
END $$;
CREATE FUNCTION orbs.due(p_time bigint) RETURNS SETOF bigint
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT account FROM orbs.hold WHERE state = 'pending' AND expires_at <= orbs.time(p_time, 0)
    UNION SELECT account FROM orbs.grants WHERE available > 0 AND expires_at <= orbs.time(p_time, 0)
$$;
CREATE FUNCTION orbs.entries(p_after text, p_limit bigint) RETURNS TABLE(cursor text, entry jsonb)
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT e.xid::text || '.' || e.position, jsonb_build_object('account', a.id, 'seq', e.seq, 'at', e.at, 'cause', e.cause,
        'id', e.id, 'paid', e.paid, 'bonus', e.bonus, 'held', e.held, 'shortfall', e.shortfall,
        'note', coalesce(CASE WHEN e.cause IN ('hold', 'capture', 'void', 'hold_expired')
            THEN (SELECT note FROM orbs.hold WHERE id = e.id) END, ''),
        'lines', coalesce((SELECT jsonb_agg(jsonb_build_object('grant', g.id, 'bucket', g.bucket, 'available', l->1,
            'held', l->2, 'captured', l->3) ORDER BY g.seq)
            FROM jsonb_array_elements(e.lines) AS l
            JOIN orbs.grants AS g ON g.account = e.account AND g.seq = (l->>0)::bigint), '[]'))
    FROM orbs.entry AS e JOIN orbs.account AS a ON a.key = e.account
    WHERE e.xid < pg_snapshot_xmin(pg_current_snapshot())
        AND (e.xid, e.position) > (split_part(p_after, '.', 1)::xid8, split_part(p_after, '.', 2)::bigint)
    ORDER BY e.xid, e.position LIMIT p_limit
$$;
CREATE FUNCTION orbs.expire(p_account bigint, p_now bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    g orbs.grants;
    h orbs.hold;
    v_changes jsonb;
    v_did boolean := false;
BEGIN
    LOOP
        SELECT * INTO g FROM orbs.grants WHERE account = p_account AND available > 0 AND expires_at <= p_now
            ORDER BY expires_at, seq LIMIT 1;
        SELECT * INTO h FROM orbs.hold WHERE account = p_account AND state = 'pending' AND expires_at <= p_now
            ORDER BY expires_at, id LIMIT 1;
        IF g.seq IS NOT NULL AND (h.id IS NULL OR g.expires_at <= h.expires_at) THEN
            UPDATE orbs.grants SET available = 0, expired = expired + g.available WHERE account = p_account AND seq = g.seq;
            PERFORM orbs.add(p_account, g.bucket, -g.available);
            v_changes := jsonb_build_array(jsonb_build_array(g.seq, -g.available, 0, 0));
            PERFORM orbs.append(p_account, g.expires_at, 'grant_expired', g.id, v_changes, 0);
        ELSIF h.id IS NOT NULL THEN
            v_changes := orbs.finish(p_account, h.lines, 0, h.expires_at);
            UPDATE orbs.hold SET state = 'expired' WHERE id = h.id AND state = 'pending';
            PERFORM orbs.append(p_account, h.expires_at, 'hold_expired', h.id, v_changes, 0);
        ELSE
            EXIT;
        END IF;
        v_did := true;
    END LOOP;
    IF v_did THEN
        UPDATE orbs.account SET clock = p_now WHERE key = p_account;
    END IF;
END $$;
CREATE FUNCTION orbs.expire_at(p_account bigint, p_time bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    PERFORM orbs.check_transaction();
    PERFORM orbs.open((SELECT id FROM orbs.account WHERE key = p_account), p_time);
END $$;
CREATE FUNCTION orbs.extend_at(p jsonb, p_time bigint) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    o record;
    a orbs.account;
    e orbs.extension;
    h orbs.hold;
    v_now bigint;
    v_ttl bigint := (p->>'ttl')::bigint;
    v_until bigint;
BEGIN
    IF v_ttl = 0 THEN
        RETURN orbs.fault('"zero"');
    END IF;
    SELECT * INTO e FROM orbs.extension WHERE id = p->>'id';
    IF e.id IS NOT NULL AND (e.ttl, e.hold) IS DISTINCT FROM (v_ttl, p->>'hold') THEN
        RETURN orbs.fault('"conflict"');
    END IF;
    SELECT * INTO h FROM orbs.hold WHERE id = p->>'hold';
    IF h.id IS NULL THEN
        RETURN orbs.fault('"unknown_hold"');
    ELSIF h.account IS NULL THEN
        RETURN orbs.fault(jsonb_build_object('not_pending', h.state));
    END IF;
    SELECT * INTO o FROM orbs.open((SELECT id FROM orbs.account WHERE key = h.account), p_time);
    a := o.a;
    v_now := o.v_now;
    -- Again under the lock: another transaction might have done it meanwhile.
    SELECT * INTO e FROM orbs.extension WHERE id = p->>'id';
    IF e.id IS NULL THEN
        SELECT * INTO h FROM orbs.hold WHERE id = p->>'hold';
        IF h.state <> 'pending' THEN
            RETURN orbs.fault(jsonb_build_object('not_pending', h.state));
        ELSIF v_now + v_ttl > 9007199254740991 THEN
            RETURN orbs.fault('"too_large"');
        END IF;
        v_until := greatest(h.expires_at, v_now + v_ttl);
        INSERT INTO orbs.extension VALUES (p->>'id', h.id, v_ttl, v_until, v_now) ON CONFLICT DO NOTHING;
        IF FOUND THEN
            UPDATE orbs.hold SET expires_at = v_until WHERE id = h.id;
            UPDATE orbs.account SET clock = v_now WHERE key = a.key;
            RETURN orbs.done('extended', jsonb_build_object('id', p->'id', 'hold', p->'hold', 'expires_at', v_until,
                'at', v_now), false);
        END IF;
        SELECT * INTO e FROM orbs.extension WHERE id = p->>'id';
    END IF;
    IF (e.ttl, e.hold) IS DISTINCT FROM (v_ttl, p->>'hold') THEN
        RETURN orbs.fault('"conflict"');
    END IF;
    UPDATE orbs.account SET seq = seq WHERE key = a.key;
    RETURN orbs.done('extended', jsonb_build_object('id', e.id, 'hold', e.hold, 'expires_at', e.expires_at, 'at', e.at), true);
END $$;
CREATE FUNCTION orbs.fault(p_error jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT jsonb_build_object('Err', p_error)
$$;
CREATE FUNCTION orbs.finish(p_account bigint, p_lines jsonb, p_captured bigint, p_at bigint) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    g orbs.grants;
    v_line jsonb;
    v_rest bigint := p_captured;
    v_amount bigint;
    v_taken bigint;
    v_back bigint;
    v_changes jsonb := '[]';
BEGIN
    FOR v_line IN SELECT value FROM jsonb_array_elements(p_lines) WITH ORDINALITY ORDER BY ordinality LOOP
        v_amount := (v_line->>1)::bigint;
        v_taken := least(v_rest, v_amount);
        v_rest := v_rest - v_taken;
        SELECT * INTO STRICT g FROM orbs.grants WHERE account = p_account AND seq = (v_line->>0)::bigint;
        v_back := CASE WHEN g.expires_at <= p_at THEN 0 ELSE v_amount - v_taken END;
        UPDATE orbs.grants SET held = held - v_amount, captured = captured + v_taken, available = available + v_back,
            expired = expired + (v_amount - v_taken - v_back)
        WHERE account = p_account AND seq = g.seq;
        UPDATE orbs.account SET held = held - v_amount WHERE key = p_account;
        PERFORM orbs.add(p_account, g.bucket, v_back);
        v_changes := v_changes || jsonb_build_array(jsonb_build_array(g.seq, v_back, -v_amount, v_taken));
    END LOOP;
    RETURN v_changes;
END $$;
CREATE FUNCTION orbs.grant_at(p jsonb, p_time bigint) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    o record;
    a orbs.account;
    g orbs.grants;
    v_now bigint;
    v_amount bigint := (p->>'amount')::bigint;
    v_expires bigint := (p->>'expires_at')::bigint;
    v_seq bigint;
    v_receipt jsonb := jsonb_build_object('id', p->'id', 'account', p->'account', 'amount', v_amount, 'bucket', p->'bucket',
        'expires_at', v_expires);
BEGIN
    IF v_amount = 0 THEN
        RETURN orbs.fault('"zero"');
    END IF;
    SELECT * INTO o FROM orbs.open(p->>'account', p_time);
    a := o.a;
    v_now := o.v_now;
    -- Again, because another transaction may use the id or create the account at the same time.
    FOR attempt IN 1..3 LOOP
        SELECT * INTO g FROM orbs.grants WHERE id = p->>'id';
        IF g.id IS NOT NULL THEN
            -- Another transaction might have created the account meanwhile.
            IF a.key IS NULL THEN
                SELECT * INTO o FROM orbs.open(p->>'account', p_time);
                a := o.a;
                v_now := o.v_now;
            END IF;
            IF (g.account, g.amount, g.bucket) IS DISTINCT FROM (a.key, v_amount, p->>'bucket')
                OR g.expires_at IS DISTINCT FROM v_expires THEN
                RETURN orbs.fault('"conflict"');
            END IF;
            -- Writes, so that the commit waits for what is answered to be durable, on standbys too.
            UPDATE orbs.account SET seq = seq WHERE key = a.key;
            RETURN orbs.done('granted', v_receipt || jsonb_build_object('at', g.at), true);
        END IF;
        IF v_expires <= v_now THEN
            RETURN orbs.fault('"expired"');
        END IF;
        IF coalesce(a.paid + a.bonus + a.held, 0) + v_amount > 9007199254740991 THEN
            RETURN orbs.fault('"too_large"');
        END IF;
        IF a.key IS NULL THEN
            INSERT INTO orbs.account (id) VALUES (p->>'account') ON CONFLICT DO NOTHING;
            SELECT * INTO o FROM orbs.open(p->>'account', p_time);
            a := o.a;
            v_now := o.v_now;
            CONTINUE WHEN a.seq > 0;
        END IF;
        v_seq := a.seq + 1;
        INSERT INTO orbs.grants (account, seq, id, bucket, amount, expires_at, at, available)
        VALUES (a.key, v_seq, p->>'id', p->>'bucket', v_amount, v_expires, v_now, v_amount) ON CONFLICT (id) DO NOTHING;
        CONTINUE WHEN NOT FOUND;
        PERFORM orbs.add(a.key, p->>'bucket', v_amount);
        UPDATE orbs.account SET clock = v_now WHERE key = a.key;
        PERFORM orbs.append(a.key, v_now, 'grant', p->>'id', jsonb_build_array(jsonb_build_array(v_seq, v_amount, 0, 0)), 0);
        RETURN orbs.done('granted', v_receipt || jsonb_build_object('at', v_now), false);
    END LOOP;
    RAISE EXCEPTION 'a grant could not be written';
END $$;
CREATE FUNCTION orbs.hold_at(p jsonb, p_time bigint) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    o record;
    a orbs.account;
    h orbs.hold;
    v_now bigint;
    v_amount bigint := (p->>'amount')::bigint;
    v_bonus boolean := (p->>'bonus')::boolean;
    v_ttl bigint := (p->>'ttl')::bigint;
    v_note text := coalesce(p->>'note', '');
    v_available numeric;
    v_back numeric;
    v_all numeric;
    v_lines jsonb;
    v_changes jsonb;
    v_of_bonus bigint;
    v_reason text := 'insufficient';
    v_retry bigint;
BEGIN
    IF v_amount = 0 OR v_ttl = 0 THEN
        RETURN orbs.fault('"zero"');
    END IF;
    SELECT * INTO o FROM orbs.open(p->>'account', p_time);
    a := o.a;
    v_now := o.v_now;
    -- Twice, because another transaction may use the id at the same time.
    FOR attempt IN 1..2 LOOP
        SELECT * INTO h FROM orbs.hold WHERE id = p->>'id';
        IF h.id IS NOT NULL THEN
            IF h.account IS NULL THEN
                RETURN orbs.fault(jsonb_build_object('settled', orbs.settled(h)));
            END IF;
            -- Another transaction might have created the account meanwhile.
            IF a.key IS NULL THEN
                SELECT * INTO o FROM orbs.open(p->>'account', p_time);
                a := o.a;
                v_now := o.v_now;
            END IF;
            IF (h.account, h.amount, h.bonus_allowed, h.ttl, h.note)
                IS DISTINCT FROM (a.key, v_amount, v_bonus, v_ttl, v_note) THEN
                RETURN orbs.fault('"conflict"');
            END IF;
            UPDATE orbs.account SET seq = seq WHERE key = a.key;
            RETURN jsonb_build_object('Ok', jsonb_build_object('hold', jsonb_build_object('hold', 'held', 'id', h.id,
                'account', p->'account', 'amount', h.amount, 'bonus', h.bonus, 'expires_at', h.at + h.ttl, 'at', h.at,
                'repeated', true, 'state', h.state)));
        END IF;
        IF v_now + v_ttl > 9007199254740991 THEN
            RETURN orbs.fault('"too_large"');
        END IF;
        SELECT coalesce(sum(available) FILTER (WHERE v_bonus OR bucket = 'paid'), 0),
            coalesce(sum(held) FILTER (WHERE v_bonus OR bucket = 'paid'), 0), coalesce(sum(available), 0)
        INTO v_available, v_back, v_all FROM orbs.grants
        WHERE account = a.key AND (available > 0 OR held > 0) AND (expires_at IS NULL OR expires_at > v_now);
        IF v_available < v_amount THEN
            IF v_available + v_back >= v_amount THEN
                v_reason := 'temporarily_held';
                v_retry := (SELECT min(expires_at) FROM orbs.hold WHERE account = a.key AND state = 'pending');
            ELSIF v_all >= v_amount THEN
                v_reason := 'bonus_not_allowed';
            END IF;
            RETURN jsonb_build_object('Ok', jsonb_build_object('hold', jsonb_build_object('hold', 'denied',
                'needed', v_amount, 'available', v_available, 'reason', v_reason, 'retry_at', v_retry)));
        END IF;
        v_lines := orbs.draw(a.key, v_bonus, v_amount);
        v_of_bonus := orbs.bonus_of(a.key, v_lines);
        INSERT INTO orbs.hold (id, account, amount, bonus_allowed, ttl, note, at, lines, bonus, expires_at, state)
        VALUES (p->>'id', a.key, v_amount, v_bonus, v_ttl, v_note, v_now, v_lines, v_of_bonus, v_now + v_ttl, 'pending')
        ON CONFLICT DO NOTHING;
        CONTINUE WHEN NOT FOUND;
        UPDATE orbs.grants SET available = available - (l->>1)::bigint, held = held + (l->>1)::bigint
        FROM jsonb_array_elements(v_lines) AS l WHERE account = a.key AND seq = (l->>0)::bigint;
        UPDATE orbs.account SET paid = paid - (v_amount - v_of_bonus), bonus = bonus - v_of_bonus, held = held + v_amount,
            clock = v_now WHERE key = a.key;
        SELECT jsonb_agg(jsonb_build_array(l->0, -(l->>1)::bigint, l->1, 0)) INTO v_changes
        FROM jsonb_array_elements(v_lines) AS l;
        PERFORM orbs.append(a.key, v_now, 'hold', p->>'id', v_changes, 0);
        RETURN jsonb_build_object('Ok', jsonb_build_object('hold', jsonb_build_object('hold', 'held', 'id', p->'id',
            'account', p->'account', 'amount', v_amount, 'bonus', v_of_bonus, 'expires_at', v_now + v_ttl, 'at', v_now,
            'repeated', false, 'state', 'pending')));
    END LOOP;
    RAISE EXCEPTION 'a hold could not be written';
END $$;
CREATE FUNCTION orbs.holds_at(p text, p_time bigint) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    o record;
    a orbs.account;
    v_now bigint;
BEGIN
    SELECT * INTO o FROM orbs.open(p, p_time);
    a := o.a;
    v_now := o.v_now;
    RETURN jsonb_build_object('Ok', jsonb_build_object('holds', (
        SELECT coalesce(jsonb_agg(jsonb_build_object('id', id, 'amount', amount, 'bonus', bonus, 'at', at,
            'expires_at', expires_at, 'note', note) ORDER BY at, id), '[]')
        FROM orbs.hold WHERE account = a.key AND state = 'pending')));
END $$;
CREATE FUNCTION orbs.never() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RAISE EXCEPTION 'entries are never changed';
END $$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE orbs.account (
    key bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    clock orbs.amount DEFAULT 0 NOT NULL,
    seq orbs.amount DEFAULT 0 NOT NULL,
    paid orbs.amount DEFAULT 0 NOT NULL,
    bonus orbs.amount DEFAULT 0 NOT NULL,
    held orbs.amount DEFAULT 0 NOT NULL
);
CREATE FUNCTION orbs.open(p_id text, p_given bigint, OUT a orbs.account, OUT v_now bigint) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    SELECT * INTO a FROM orbs.account WHERE id = p_id FOR UPDATE;
    v_now := orbs.time(p_given, a.clock);
    IF a.key IS NOT NULL THEN
        PERFORM orbs.expire(a.key, v_now);
        SELECT * INTO a FROM orbs.account WHERE key = a.key;
    END IF;
END $$;
CREATE FUNCTION orbs.revoke_at(p jsonb, p_time bigint) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    o record;
    a orbs.account;
    g orbs.grants;
    r orbs.revocation;
    v_now bigint;
    v_changes jsonb := '[]';
    v_receipt jsonb := jsonb_build_object('id', p->'id', 'account', p->'account', 'grant', p->'grant');
BEGIN
    SELECT * INTO o FROM orbs.open(p->>'account', p_time);
    a := o.a;
    v_now := o.v_now;
    SELECT * INTO r FROM orbs.revocation WHERE id = p->>'id';
    IF r.id IS NULL AND a.key IS NOT NULL THEN
        SELECT * INTO g FROM orbs.grants WHERE id = p->>'grant' AND account = a.key;
        IF g.id IS NULL THEN
            RETURN orbs.fault('"unknown_grant"');
        END IF;
        INSERT INTO orbs.revocation VALUES (p->>'id', a.key, g.id, g.available, v_now) ON CONFLICT DO NOTHING;
        IF FOUND THEN
            IF g.available > 0 THEN
                UPDATE orbs.grants SET available = 0, revoked = revoked + g.available WHERE account = a.key AND seq = g.seq;
                PERFORM orbs.add(a.key, g.bucket, -g.available);
                v_changes := jsonb_build_array(jsonb_build_array(g.seq, -g.available, 0, 0));
            END IF;
            UPDATE orbs.account SET clock = v_now WHERE key = a.key;
            PERFORM orbs.append(a.key, v_now, 'revoke', p->>'id', v_changes, 0);
            v_receipt := v_receipt || jsonb_build_object('amount', g.available, 'at', v_now);
            RETURN orbs.done('revoked', v_receipt, false);
        END IF;
        SELECT * INTO r FROM orbs.revocation WHERE id = p->>'id';
    END IF;
    IF r.id IS NULL THEN
        RETURN orbs.fault('"unknown_grant"');
    END IF;
    -- Another transaction might have created the account meanwhile.
    IF a.key IS NULL THEN
        SELECT * INTO o FROM orbs.open(p->>'account', p_time);
        a := o.a;
        v_now := o.v_now;
    END IF;
    IF (r.account, r.grant_id) IS DISTINCT FROM (a.key, p->>'grant') THEN
        RETURN orbs.fault('"conflict"');
    END IF;
    UPDATE orbs.account SET seq = seq WHERE key = a.key;
    RETURN orbs.done('revoked', v_receipt || jsonb_build_object('amount', r.amount, 'at', r.at), true);
END $$;
CREATE FUNCTION orbs.run(p_command jsonb) RETURNS jsonb
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT orbs.run_at(p_command, NULL)
$$;
CREATE FUNCTION orbs.run_at(p_command jsonb, p_time bigint) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    v_verb text := (SELECT jsonb_object_keys(p_command) LIMIT 1);
    p jsonb := p_command->v_verb;
BEGIN
    PERFORM orbs.check_transaction();
    RETURN CASE v_verb
        WHEN 'grant' THEN orbs.grant_at(p, p_time)
        WHEN 'revoke' THEN orbs.revoke_at(p, p_time)
        WHEN 'hold' THEN orbs.hold_at(p, p_time)
        WHEN 'extend' THEN orbs.extend_at(p, p_time)
        WHEN 'settle' THEN orbs.settle_at(p, p_time)
        WHEN 'balance' THEN orbs.balance_at(p #>> '{}', p_time)
        WHEN 'holds' THEN orbs.holds_at(p #>> '{}', p_time)
    END;
END $$;
CREATE FUNCTION orbs.settle_at(p jsonb, p_time bigint) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    o record;
    a orbs.account;
    h orbs.hold;
    v_now bigint;
    v_void boolean := p->'settlement' = '"void"';
    v_requested bigint := coalesce((p->'settlement'->>'capture')::bigint, 0);
    v_late boolean;
    v_held bigint;
    v_of_held bigint;
    v_more jsonb := '[]';
    v_taken bigint;
    v_bonus bigint := 0;
    v_lines jsonb;
    v_changes jsonb;
BEGIN
    SELECT * INTO h FROM orbs.hold WHERE id = p->>'hold';
    IF h.id IS NULL THEN
        IF NOT v_void THEN
            RETURN orbs.fault('"unknown_hold"');
        END IF;
        v_now := orbs.time(p_time, 0);
        INSERT INTO orbs.hold VALUES (p->>'hold', NULL, 0, false, 0, '', v_now, '[]', 0, v_now, 'voided', 0, 0, 0, 0, false, v_now)
        ON CONFLICT DO NOTHING RETURNING * INTO h;
        IF FOUND THEN
            RETURN orbs.done('settled', orbs.settled(h), false);
        END IF;
        -- The hold came in this moment.
        SELECT * INTO STRICT h FROM orbs.hold WHERE id = p->>'hold';
    END IF;
    IF h.account IS NOT NULL THEN
        SELECT * INTO o FROM orbs.open((SELECT id FROM orbs.account WHERE key = h.account), p_time);
        a := o.a;
        v_now := o.v_now;
        SELECT * INTO h FROM orbs.hold WHERE id = p->>'hold';
    END IF;
    IF h.settled_at IS NOT NULL THEN
        IF v_void <> (h.state = 'voided') OR (NOT v_void AND h.requested <> v_requested) THEN
            RETURN orbs.fault(jsonb_build_object('settled', orbs.settled(h)));
        END IF;
        UPDATE orbs.hold SET note = note WHERE id = h.id;
        RETURN orbs.done('settled', orbs.settled(h), true);
    END IF;
    v_late := h.state = 'expired';
    v_lines := CASE WHEN v_late THEN '[]' ELSE h.lines END;
    v_held := CASE WHEN v_late THEN 0 ELSE h.amount END;
    v_of_held := least(v_requested, v_held);
    IF NOT v_void THEN
        v_more := orbs.draw(a.key, h.bonus_allowed, v_requested - v_of_held);
    END IF;
    v_taken := orbs.sum_of(v_more);
    v_changes := orbs.finish(a.key, v_lines, v_of_held, v_now);
    SELECT coalesce(sum((l->>3)::bigint), 0) INTO v_bonus FROM jsonb_array_elements(v_changes) AS l
    JOIN orbs.grants ON account = a.key AND seq = (l->>0)::bigint AND bucket = 'bonus';
    v_bonus := v_bonus + orbs.bonus_of(a.key, v_more);
    UPDATE orbs.grants SET available = available - (l->>1)::bigint, captured = captured + (l->>1)::bigint
    FROM jsonb_array_elements(v_more) AS l WHERE account = a.key AND seq = (l->>0)::bigint;
    UPDATE orbs.account SET paid = paid - (v_taken - orbs.bonus_of(a.key, v_more)),
        bonus = bonus - orbs.bonus_of(a.key, v_more), clock = v_now WHERE key = a.key;
    SELECT v_changes || coalesce(jsonb_agg(jsonb_build_array(l->0, -(l->>1)::bigint, 0, l->1)), '[]') INTO v_changes
    FROM jsonb_array_elements(v_more) AS l;
    UPDATE orbs.hold SET state = CASE WHEN v_void THEN 'voided' ELSE 'captured' END, requested = v_requested,
        captured = v_of_held + v_taken, captured_bonus = v_bonus, shortfall = v_requested - v_of_held - v_taken,
        late = v_late, settled_at = v_now
    WHERE id = h.id AND state = h.state RETURNING * INTO STRICT h;
    PERFORM orbs.append(a.key, v_now, CASE WHEN v_void THEN 'void' ELSE 'capture' END, h.id, v_changes, h.shortfall);
    RETURN orbs.done('settled', orbs.settled(h), false);
END $$;
CREATE TABLE orbs.hold (
    id text NOT NULL COLLATE pg_catalog."C",
    account bigint,
    amount orbs.amount NOT NULL,
    bonus_allowed boolean NOT NULL,
    ttl orbs.amount NOT NULL,
    note text NOT NULL,
    at orbs.amount NOT NULL,
    lines jsonb NOT NULL,
    bonus orbs.amount NOT NULL,
    expires_at orbs.amount NOT NULL,
    state text NOT NULL,
    requested orbs.amount,
    captured orbs.amount,
    captured_bonus orbs.amount,
    shortfall orbs.amount,
    late boolean,
    settled_at orbs.amount,
    CONSTRAINT hold_check CHECK (((settled_at IS NOT NULL) = (state = ANY (ARRAY['captured'::text, 'voided'::text])))),
    CONSTRAINT hold_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'captured'::text, 'voided'::text, 'expired'::text])))
);
CREATE FUNCTION orbs.settled(h orbs.hold) RETURNS jsonb
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT jsonb_build_object('hold', h.id, 'account', (SELECT id FROM orbs.account WHERE key = h.account), 'state', h.state,
        'requested', h.requested, 'captured', h.captured, 'bonus', h.captured_bonus, 'shortfall', h.shortfall,
        'late', h.late, 'at', h.settled_at)
$$;
CREATE FUNCTION orbs.sum_of(p_lines jsonb) RETURNS bigint
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT coalesce(sum((l->>1)::bigint), 0)::bigint FROM jsonb_array_elements(p_lines) AS l
$$;
CREATE FUNCTION orbs."time"(p_given bigint, p_clock bigint) RETURNS bigint
    LANGUAGE sql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT greatest(coalesce(p_given, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint), p_clock, 0)
$$;
ALTER TABLE orbs.account ALTER COLUMN key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME orbs.account_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE orbs.entry (
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    "position" bigint NOT NULL,
    account bigint NOT NULL,
    seq orbs.amount NOT NULL,
    at orbs.amount NOT NULL,
    cause text NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    lines jsonb NOT NULL,
    paid orbs.amount NOT NULL,
    bonus orbs.amount NOT NULL,
    held orbs.amount NOT NULL,
    shortfall orbs.amount NOT NULL
);
ALTER TABLE orbs.entry ALTER COLUMN "position" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME orbs.entry_position_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE orbs.extension (
    id text NOT NULL COLLATE pg_catalog."C",
    hold text NOT NULL COLLATE pg_catalog."C",
    ttl orbs.amount NOT NULL,
    expires_at orbs.amount NOT NULL,
    at orbs.amount NOT NULL
);
CREATE TABLE orbs.grants (
    account bigint NOT NULL,
    seq orbs.amount NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    bucket text NOT NULL,
    amount orbs.amount NOT NULL,
    expires_at orbs.amount,
    at orbs.amount NOT NULL,
    available orbs.amount NOT NULL,
    held orbs.amount DEFAULT 0 NOT NULL,
    captured orbs.amount DEFAULT 0 NOT NULL,
    expired orbs.amount DEFAULT 0 NOT NULL,
    revoked orbs.amount DEFAULT 0 NOT NULL,
    CONSTRAINT grants_amount_check CHECK (((amount)::bigint > 0)),
    CONSTRAINT grants_bucket_check CHECK ((bucket = ANY (ARRAY['paid'::text, 'bonus'::text]))),
    CONSTRAINT grants_check
        CHECK (((((((available)::bigint + (held)::bigint) + (captured)::bigint) + (expired)::bigint) + (revoked)::bigint) = (amount)::bigint))
);
CREATE TABLE orbs.revocation (
    id text NOT NULL COLLATE pg_catalog."C",
    account bigint NOT NULL,
    grant_id text NOT NULL COLLATE pg_catalog."C",
    amount orbs.amount NOT NULL,
    at orbs.amount NOT NULL
);
CREATE TABLE orbs.setting (
    name text NOT NULL,
    value text NOT NULL
);
INSERT INTO orbs.account OVERRIDING SYSTEM VALUE VALUES (1, 'a', 2300, 7, 0, 0, 0);
INSERT INTO orbs.account OVERRIDING SYSTEM VALUE VALUES (2, 'b', 2500, 4, 6, 0, 4);
INSERT INTO orbs.entry OVERRIDING SYSTEM VALUE VALUES ('821', 1, 1, 1, 1000, 'grant', 'g1', '[[1, 100, 0, 0]]', 100, 0, 0, 0);
INSERT INTO orbs.entry OVERRIDING SYSTEM VALUE VALUES ('822', 2, 1, 2, 1100, 'grant', 'g2', '[[2, 50, 0, 0]]', 100, 50, 0, 0);
INSERT INTO orbs.entry OVERRIDING SYSTEM VALUE VALUES ('823', 3, 2, 1, 1200, 'grant', 'g3', '[[1, 10, 0, 0]]', 10, 0, 0, 0);
INSERT INTO orbs.entry OVERRIDING SYSTEM VALUE VALUES ('824', 4, 1, 3, 1300, 'hold', 'h1', '[[1, -20, 20, 0], [2, -50, 50, 0]]', 80, 0, 70, 0);
INSERT INTO orbs.entry OVERRIDING SYSTEM VALUE VALUES ('825', 5, 1, 4, 1400, 'capture', 'h1', '[[1, 10, -20, 10], [2, 0, -50, 50]]', 90, 0, 0, 0);
INSERT INTO orbs.entry OVERRIDING SYSTEM VALUE VALUES ('826', 6, 1, 5, 1500, 'hold', 'h2', '[[1, -20, 20, 0]]', 70, 0, 20, 0);
INSERT INTO orbs.entry OVERRIDING SYSTEM VALUE VALUES ('827', 7, 2, 2, 2000, 'hold', 'h3', '[[1, -4, 4, 0]]', 6, 0, 4, 0);
INSERT INTO orbs.entry OVERRIDING SYSTEM VALUE VALUES ('830', 8, 1, 6, 1600, 'hold_expired', 'h2', '[[1, 20, -20, 0]]', 90, 0, 0, 0);
INSERT INTO orbs.entry OVERRIDING SYSTEM VALUE VALUES ('830', 9, 1, 7, 2300, 'revoke', 'r1', '[[1, -90, 0, 0]]', 0, 0, 0, 0);
INSERT INTO orbs.entry OVERRIDING SYSTEM VALUE VALUES ('831', 10, 2, 3, 2400, 'hold', 'h5', '[[1, -3, 3, 0]]', 3, 0, 7, 0);
INSERT INTO orbs.entry OVERRIDING SYSTEM VALUE VALUES ('832', 11, 2, 4, 2500, 'void', 'h5', '[[1, 3, -3, 0]]', 6, 0, 4, 0);
INSERT INTO orbs.extension VALUES ('x1', 'h3', 70000, 72100, 2100);
INSERT INTO orbs.grants VALUES (1, 2, 'g2', 'bonus', 50, 9000, 1100, 0, 0, 50, 0, 0);
INSERT INTO orbs.grants VALUES (1, 1, 'g1', 'paid', 100, NULL, 1000, 0, 0, 10, 0, 90);
INSERT INTO orbs.grants VALUES (2, 1, 'g3', 'paid', 10, 5000, 1200, 6, 4, 0, 0, 0);
INSERT INTO orbs.hold VALUES ('h1', 1, 70, true, 1000, 'POST /v1/prompt', 1300, '[[2, 50], [1, 20]]', 50, 2300, 'captured', 60, 60, 50, 0, false, 1400);
INSERT INTO orbs.hold VALUES ('h3', 2, 4, false, 60000, '', 2000, '[[1, 4]]', 0, 72100, 'pending', NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO orbs.hold VALUES ('h4', NULL, 0, false, 0, '', 2200, '[]', 0, 2200, 'voided', 0, 0, 0, 0, false, 2200);
INSERT INTO orbs.hold VALUES ('h2', 1, 20, false, 100, '', 1500, '[[1, 20]]', 0, 1600, 'expired', NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO orbs.hold VALUES ('h5', 2, 3, false, 9000, '', 2400, '[[1, 3]]', 0, 11400, 'voided', 0, 0, 0, 0, false, 2500);
INSERT INTO orbs.revocation VALUES ('r1', 1, 'g1', 90, 2300);
INSERT INTO orbs.setting VALUES ('version', '1');
INSERT INTO orbs.setting VALUES ('order', 'bonus_first');
SELECT pg_catalog.setval('orbs.account_key_seq', 2, true);
SELECT pg_catalog.setval('orbs.entry_position_seq', 11, true);
ALTER TABLE ONLY orbs.account
    ADD CONSTRAINT account_id_key UNIQUE (id);
ALTER TABLE ONLY orbs.account
    ADD CONSTRAINT account_pkey PRIMARY KEY (key);
ALTER TABLE ONLY orbs.entry
    ADD CONSTRAINT entry_account_seq_key UNIQUE (account, seq);
ALTER TABLE ONLY orbs.entry
    ADD CONSTRAINT entry_pkey PRIMARY KEY (xid, "position");
ALTER TABLE ONLY orbs.extension
    ADD CONSTRAINT extension_pkey PRIMARY KEY (id);
ALTER TABLE ONLY orbs.grants
    ADD CONSTRAINT grants_id_key UNIQUE (id);
ALTER TABLE ONLY orbs.grants
    ADD CONSTRAINT grants_pkey PRIMARY KEY (account, seq);
ALTER TABLE ONLY orbs.hold
    ADD CONSTRAINT hold_pkey PRIMARY KEY (id);
ALTER TABLE ONLY orbs.revocation
    ADD CONSTRAINT revocation_pkey PRIMARY KEY (id);
ALTER TABLE ONLY orbs.setting
    ADD CONSTRAINT setting_pkey PRIMARY KEY (name);
CREATE INDEX grants_account_idx ON orbs.grants USING btree (account) WHERE (((available)::bigint > 0) OR ((held)::bigint > 0));
CREATE INDEX grants_expires_at_idx ON orbs.grants USING btree (expires_at) WHERE ((available)::bigint > 0);
CREATE INDEX hold_account_expires_at_idx ON orbs.hold USING btree (account, expires_at) WHERE (state = 'pending'::text);
CREATE INDEX hold_expires_at_idx ON orbs.hold USING btree (expires_at) WHERE (state = 'pending'::text);
CREATE TRIGGER never BEFORE DELETE OR UPDATE OR TRUNCATE ON orbs.entry FOR EACH STATEMENT EXECUTE FUNCTION orbs.never();
REVOKE ALL ON FUNCTION orbs.add(p_account bigint, p_bucket text, p_amount bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION orbs.append(p_account bigint, p_at bigint, p_cause text, p_id text, p_lines jsonb, p_shortfall bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION orbs.balance_at(p text, p_time bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION orbs.bonus_of(p_account bigint, p_lines jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION orbs.check_transaction() FROM PUBLIC;
REVOKE ALL ON FUNCTION orbs.done(p_kind text, p_receipt jsonb, p_repeated boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION orbs.draw(p_account bigint, p_bonus boolean, p_amount bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION orbs.due(p_time bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION orbs.entries(p_after text, p_limit bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION orbs.expire(p_account bigint, p_now bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION orbs.expire_at(p_account bigint, p_time bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION orbs.extend_at(p jsonb, p_time bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION orbs.fault(p_error jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION orbs.finish(p_account bigint, p_lines jsonb, p_captured bigint, p_at bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION orbs.grant_at(p jsonb, p_time bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION orbs.hold_at(p jsonb, p_time bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION orbs.holds_at(p text, p_time bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION orbs.never() FROM PUBLIC;
REVOKE ALL ON FUNCTION orbs.open(p_id text, p_given bigint, OUT a orbs.account, OUT v_now bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION orbs.revoke_at(p jsonb, p_time bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION orbs.run(p_command jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION orbs.run_at(p_command jsonb, p_time bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION orbs.settle_at(p jsonb, p_time bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION orbs.settled(h orbs.hold) FROM PUBLIC;
REVOKE ALL ON FUNCTION orbs.sum_of(p_lines jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION orbs."time"(p_given bigint, p_clock bigint) FROM PUBLIC;
