-- Version 5: nothing of an account expires before `next_due`, so that a hold needn't look for what has. Of older accounts it isn't known.
ALTER TABLE orbs.account ADD COLUMN next_due bigint DEFAULT 0;
ALTER TABLE orbs.account ALTER COLUMN next_due DROP DEFAULT;
UPDATE orbs.setting SET value = '5' WHERE name = 'version';
