-- Version 4: writers number entries, and say until when what they see is complete. Some ledgers of version 3 have the column already.
ALTER TABLE orbs.feed ADD COLUMN IF NOT EXISTS until bigint;
CREATE INDEX feed_low ON orbs.feed (number) WHERE low IS NOT NULL;
UPDATE orbs.setting SET value = '4' WHERE name = 'version';
