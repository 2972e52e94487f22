-- Version 2: the order in which the orbs of a bucket are taken and expire. 2^53 is after every time.
CREATE INDEX grants_rank ON grants (account, bucket, ifnull(expires_at, 9007199254740992), seq) WHERE available > 0;
