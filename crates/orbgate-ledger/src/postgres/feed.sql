-- Version 3: the order in which entries are read. An entry has a position when it is written, and a number soon after it is committed:
-- the numbers have no gaps, and nothing can appear before a number later. Every position up to the newest `low` has a number, or will
-- never be used.
CREATE TABLE orbs.feed (
    number bigint PRIMARY KEY,
    position bigint NOT NULL UNIQUE,
    digest bigint NOT NULL, -- of all entries up to this one
    low bigint,
    until bigint -- entries above `low` are no earlier, unless they have expired
);
CREATE TRIGGER never BEFORE UPDATE OR DELETE OR TRUNCATE ON orbs.feed FOR EACH STATEMENT EXECUTE FUNCTION orbs.never();
-- What digests begin with.
INSERT INTO orbs.setting VALUES ('ledger', left(replace(gen_random_uuid()::text, '-', ''), 16));
