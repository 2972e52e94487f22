#!/bin/sh
# Plants errors in the ledger's rules in a copy of the crate, one at a time, and requires that the comparison with the second
# reference finds each. The model is no help: it runs the same rules. What no sequence of commands shows, such as a lock, other tests
# find. `plant.sh PATTERN` plants some of them.
set -eu
home=target/xtask/ledger-rules
rm -rf "$home/copy" && mkdir -p "$home/copy"
git ls-files Cargo.toml Cargo.lock clippy.toml crates benches policy docs/orbs-growth.md | tar --create --files-from - | tar --extract --directory "$home/copy"
export CARGO_TARGET_DIR="${ORBGATE_PLANT_TARGET:-$PWD/$home/target}" PROPTEST_CASES=16
cd "$home/copy"
count=0
# rule NAME FILE SED [TESTS]
rule() {
    case $1 in *${pattern:-}*) ;; *) return 0 ;; esac
    file=crates/orbgate-ledger/src/$2
    cp "$file" right.rs
    sed -i "$3" "$file"
    ! cmp -s "$file" right.rs || { echo "$1: not planted in $file" >&2; exit 1; }
    if timeout 900 cargo test --quiet -p orbgate-ledger ${4:+--all-features} --test all -- ${4:-reference::} > bug.log 2>&1; then
        echo "$1: not found" >&2
        failed=1
    else
        # Found by a test, and not by the compiler.
        grep --quiet '^test result: FAILED' bug.log || { cat bug.log >&2; exit 1; }
        echo "found: $1"
        count=$((count + 1))
    fi
    cp right.rs "$file"
}
pattern=${1:-} failed=
cargo test --quiet -p orbgate-ledger --test all -- reference::
# Those that the functions in SQL found first, which nothing else did.
rule 'a hold is settled twice' plan/hold.rs 's/if row.settlement.is_some() {/if false {/'
rule 'the wrong order' plan/rows.rs 's/(is(Bucket::Paid), expiry, seq)/(is(Bucket::Paid), u64::MAX - seq, expiry)/'
rule 'bonus orbs without permission' plan/account.rs '/fn draw(/,/^    }/s/if bonus {/if true {/'
rule 'orbs over the bound' plan/mod.rs 's/if open.posted().and_then(|posted| posted.plus(command.amount)).is_none() {/if false {/'
rule 'an expired grant is spent' model.rs 's/grant.has_expired(until)/grant.expires_at.is_some_and(|expiry| expiry < until)/'
rule 'time goes back' plan/account.rs 's/(now.max(account.clock), BTreeMap::new())/(now, BTreeMap::new())/'
rule 'an id with another amount' plan/hold.rs 's/(row.amount, row.bonus_allowed, row.ttl) == (command.amount, command.bonus, command.ttl)/(row.bonus_allowed, row.ttl) == (command.bonus, command.ttl)/'
rule 'a late capture from what it held' plan/hold.rs 's/let lines = if late { &\[\]\[..\] } else { &row.lines };/let lines = \&row.lines[..];/'
# Those that survived every test.
rule 'a void revives expired orbs' plan/account.rs 's/if grant.has_expired(at) {/if false {/'
rule 'an expiry revives expired orbs' plan/account.rs 's/self.end(tables, &mut changes, (&hold.lines, Orbs::ZERO), hold.expires_at)?;/self.end(tables, \&mut changes, (\&hold.lines, Orbs::ZERO), Millis::ZERO)?;/'
rule 'an id in another account' plan/hold.rs 's/|| row.account != account || row.note/|| row.note/'
rule 'an id of a grant in another account' plan/mod.rs 's/ \&\& row.account == open.account.key;/;/'
rule 'an id of a revocation in another account' plan/mod.rs 's/let same = (account, \&receipt.grant, stated) == (open.account.key, /let same = (open.account.key, \&receipt.grant, stated) == (open.account.key, /'
rule 'a revocation of another account' plan/mod.rs 's/.filter(|grant| grant.account == open.account.key);/;/'
rule 'a hold with another note' plan/hold.rs 's/ || row.note != command.note//'
# What the account knows to be due next.
rule 'a hold is not due' plan/account.rs 's/self.due_by(Some(expires_at));//'
rule 'a grant is not due' plan/account.rs '0,/self.due_by(grant.expires_at);/s/self.due_by(grant.expires_at);//'
rule 'a released orb is not due' plan/account.rs 's/self.due_by(expiry);$/let _ = expiry;/'
rule 'what is due is forgotten' plan/account.rs 's/\[tables.next_hold_expiry(key)?, /[None, /'
rule 'what is due of grants is forgotten' plan/account.rs 's/, tables.next_grant_expiry(key)?\]/, None]/'
rule 'too few grants are read' plan/rows.rs 's/rest = rest.minus(grant.available).unwrap_or_default();/rest = Orbs::ZERO;/'
rule 'a released orb that has expired stays' plan/account.rs 's/if grant.available > Orbs::ZERO \&\& grant.has_expired(now) {/if false {/'
rule 'due one millisecond late' plan/rows.rs 's/due <= now/due < now/'
# Others, one for each rule.
rule 'an expiry one millisecond late' plan/rows.rs 's/expiry <= time/expiry < time/'
rule 'holds expire before grants' plan/account.rs 's/time <= hold.get()/time < hold.get()/'
rule 'expiries in another order' model.rs 's/(a.expires_at, &a.id).cmp(&(b.expires_at, &b.id))/(\&a.id, a.expires_at).cmp(\&(\&b.id, b.expires_at))/'
rule 'an extension gives less time' plan/hold.rs 's/row.expires_at.max(until)/until/'
rule 'an extension leaves the clock' plan/hold.rs 's/open.touch();//'
rule 'an id of an extension with another hold' plan/hold.rs 's/(ttl, &receipt.hold) != (&command.ttl, &command.hold)/ttl != \&command.ttl/'
rule 'an expired hold is extended' plan/hold.rs 's/if row.state != State::Pending {/if row.state == State::Captured {/'
rule 'a late settlement is not late' plan/hold.rs 's/row.state == State::Expired);/false);/'
rule 'a capture of more is free' plan/hold.rs 's/let beyond = requested.minus(of_held).unwrap_or_default();/let beyond = Orbs::ZERO;/'
rule 'a void captures' plan/hold.rs 's/Cause::Void, (lines, Orbs::ZERO)/Cause::Void, (lines, Orbs::MAX)/'
rule 'another capture is a repetition' plan/hold.rs 's/(receipt.state, receipt.requested) == (State::Captured, requested)/receipt.state == State::Captured \&\& requested <= Orbs::MAX/'
rule 'a void before its hold is forgotten' plan/hold.rs 's/if row.account.is_none() {/if row.account.is_none() \&\& row.note != command.note {/'
rule 'held orbs of an expired grant come back' plan/account.rs 's/ \&\& !grant.has_expired(self.now));/);/'
rule 'a denial for want of permission' plan/hold.rs 's/eligible(true)? >= needed/eligible(true)? > needed/'
rule 'a temporary denial' plan/hold.rs 's/if would_be >= needed {/if would_be > needed {/'
rule 'the last orb is not for holds' plan/hold.rs 's/if available >= needed {/if available > needed {/'
rule 'bonus orbs are paid ones' plan/account.rs 's/?.0.bucket == Bucket::Bonus {/?.0.seq == *seq {/'
rule 'the wrong end of a hold is captured' plan/account.rs '/fn end(/,/^    }/s/for (seq, amount) in lines {/for (seq, amount) in lines.iter().rev() {/'
rule 'paid orbs first' plan/rows.rs 's/Order::PaidFirst => (is(Bucket::Bonus)/Order::PaidFirst => (is(Bucket::Paid)/'
rule 'the soonest first' plan/rows.rs 's/Order::SoonestFirst => (expiry, is(Bucket::Paid), seq)/Order::SoonestFirst => (expiry, is(Bucket::Bonus), seq)/'
# Of the rows in SQLite, which the model doesn't have.
rule 'open grants are stale' sqlite/rows.rs 's/grants.retain(|known| known.seq != \*seq);/if grants.iter().any(|known| known.seq == *seq) { return Ok(()); }/'
rule 'a refunded grant is not open again' sqlite/rows.rs 's/if grant.available > Orbs::ZERO || grant.held > Orbs::ZERO {/if grants.iter().any(|known| known.seq == *seq) {/'
rule 'a refund comes back in the order of the draw' plan/account.rs 's/in grants.iter_mut().rev() {/in grants.iter_mut() {/'
rule 'a refund takes no account of earlier ones' plan/refund.rs 's/let before = tables.refunded(&row.id)?;/let before = Orbs::ZERO;/'
rule 'a refund revives a grant that has expired' plan/account.rs 's/if back.iter().any(|(grant, _)| grant.has_expired(self.now)) {/if false {/;s/if grant.has_expired(now) {/if false {/'
rule 'a refunded grant is not due' plan/account.rs 's/let expiry = grant.expires_at;/let expiry = None;/'
rule 'a refund to an id that a grant has' plan/account.rs 's/if tables.grant(&id)?.is_some() {/if false {/'
rule 'a late capture is refunded to what was held' plan/rows.rs 's/settlement.late || settlement.requested/settlement.requested/'
rule 'a capture beyond is refunded to what was held' plan/rows.rs 's/settlement.late || settlement.requested > self.amount/settlement.late/'
rule 'a frozen account holds' plan/hold.rs 's/if open.account.frozen {/if false {/'
rule 'an account stays frozen' plan/account.rs 's/self.account.frozen = frozen;/self.account.frozen |= frozen;/'
rule 'a part of a grant is all of it' plan/account.rs 's/(part.unwrap_or(grant.available), grant.bucket)/(grant.available, grant.bucket)/'
rule 'an author counts' plan/mod.rs 's/(row.amount, row.bucket, row.expires_at) == (command.amount, command.bucket, command.expires_at)/(row.amount, row.bucket, row.expires_at) == (command.amount, command.bucket, command.expires_at) \&\& command.author == Note::default()/'
rule 'a refund is not known by its id' postgres/batch.sql 's/FROM orbs.refund WHERE id = ANY (refunds) UNION SELECT/FROM orbs.refund WHERE false UNION SELECT/' postgres::postgres_is_equal
rule 'earlier refunds are not read' postgres/batch.sql 's/WHERE hold = ANY (refunded)) AS r/WHERE false) AS r/' postgres::postgres_is_equal
rule 'what a late capture took is not read' postgres/batch.sql 's/(h.late OR h.requested > h.amount)/h.requested > h.amount/' postgres::postgres_is_equal
rule 'a new grant is unknown' sqlite/rows.rs 's/grants.push(grant.clone());//'
rule 'the account is stale' sqlite/rows.rs 's/known.account = account.clone();/known.account.seq = account.seq;/'
rule 'a grant is not the first by its index' sqlite/rows.rs 's/ORDER BY ifnull(expires_at, 9007199254740992), seq/ORDER BY seq/'
rule 'what is due by the index is later' sqlite/rows.rs 's/ifnull(expires_at, 9007199254740992) <= ?3/ifnull(expires_at, 9007199254740992) < ?3/'
# Of the writer, when more has expired than it writes at once.
rule 'a command overtakes one that waits' sqlite/writer.rs 's/rows.falls_behind(account);/let _ = account;/'
rule 'a settlement overtakes another command' sqlite/writer.rs 's/let known = rows.falls_behind_with(&command);/let known = Ok::<(), Stop>(());/'
rule 'a void overtakes its hold' plan/waits.rs 's/self.ids.extend(command.ids().cloned());//'
# Of the rows in PostgreSQL, and of the statements of a batch.
same='postgres::postgres_is_equal_to_the_reference'
rule 'rows are not locked' postgres/batch.sql 's/ FOR UPDATE;/;/; s/ FOR UPDATE SKIP LOCKED;/;/' postgres::a_thousand_holds
rule 'the first grants are others' postgres/batch.sql 's/ORDER BY coalesce(r.expires_at, 9007199254740992), r.seq LIMIT/ORDER BY r.seq LIMIT/' "$same"
rule 'more grants than were read' postgres/rows.rs 's/self.rows.bounds.known_to.insert((key, bucket), last);/let _ = last;/' "$same"
rule 'a hold is due one millisecond late' postgres/rows.rs "s/state = 'pending' AND expires_at BETWEEN a.since AND a.now/state = 'pending' AND expires_at BETWEEN a.since AND a.now - 1/" "$same"
rule 'what was due first is not read' postgres/rows.rs 's/|due| number(due.get()));/|due| number(due.get()).saturating_add(1));/' "$same"
rule 'an answer is not durable' postgres/writer.rs 's/if !became.iter().any(|became| matches!(became, Became::Done(_))) {/if true {/' postgres::each_transaction
rule 'the next expiry of a hold is unknown' postgres/rows.rs 's/named.ends.checked_add(1) };/Some(0_i64) };/' "$same"
rule 'what has expired is not all of a balance' postgres/rows.rs 's/.filter(|_| !named.seen.contains(&account.id))//' postgres::commands_of_other_accounts
rule 'a column of another one' postgres/batch.sql 's/held = helds\[c.i\], captured = captures/held = helds[c.i], captured = helds/' "$same"
rule 'a batch overtakes a command that waits' postgres/writer.rs 's/round.later.add(command, Some(key));/let _ = key;/' postgres::commands_of_other_accounts
rule 'a repetition is not durable' postgres/writer.rs 's/false if repeats => /false if false => /' postgres::each_transaction
rule 'what has expired is not looked for' postgres/named.rs 's/|| account.is_due(now)/|| false/' "$same"
rule 'what is due next is not kept' postgres/write.rs 's/account.next_due.map(|due| number(due.get()))/None::<i64>/' "$same"
rule 'a hold that is denied knows nothing that is held' postgres/rows.rs 's/self.rows.bounds.partly_held.insert(key);/let _ = key;/' "$same"
rule 'a batch that has changed too little commits' postgres/batch.sql 's/IF changed <> rows THEN/IF false THEN/' postgres::a_row_that
rule 'a stopped process keeps its locks' postgres/batch.sql "s/set_config('idle_in_transaction_session_timeout', '5000', true), //" postgres::each_transaction
rule 'a locked account is not skipped' postgres/writer.rs 's/rows::read(client, \&named, skips, round.given)/rows::read(client, \&named, skips \&\& false, round.given)/' postgres::a_locked_account
# Of the order in which entries are read.
rule 'a file knows a cursor of another history' sqlite/rows.rs 's/ WHERE number = ?1 AND digest = ?2/ WHERE number = ?1 AND ?2 = ?2/' feed::
rule 'a database knows a cursor of another history' postgres/feed.rs 's/WHERE number = $1 AND digest = $2/WHERE number = $1 AND $2 = $2/' postgres::feed::
rule 'a gap is closed before writers end' postgres/number.rs 's/let settled = settled(start, before);/let settled = Some(start);/' postgres::feed::
rule 'any writer that has ended settles' postgres/number.rs 's/Some(last) if !last.writers.iter().any(|writer| start.writers.contains(writer)) =>/Some(last) =>/' postgres::feed::
rule 'a page is complete before writers end' postgres/open.rs 's/let now = if start.writers.is_empty() { start.now } else { self.complete_until };/let now = start.now;/' postgres::feed::
rule 'a page is complete before entries have numbers' postgres/feed.rs 's/least(min(at), (SELECT/least((SELECT/' postgres::feed::
rule 'a standby is complete as its primary' postgres/feed.rs 's/if is_standby {/if false {/' postgres::feed::
rule 'a cursor is refused before entries have numbers' postgres/feed.rs 's/let knows = if might {/let knows = if false {/' postgres::feed::
rule 'any transaction of the server is waited for' postgres/feed.rs "s/ AND database = (SELECT oid.*current_database())//; s/ AND relation IN ('orbs.account'::regclass, 'orbs.entry'::regclass)//" postgres::feed::
rule 'two writers number at once' postgres/number.rs 's/pg_try_advisory_xact_lock(8029188924)/pg_try_advisory_xact_lock_shared(8029188924)/' postgres::feed::
rule 'a process leaves its entries to others' postgres/numberer.rs 's/=> return self.rest(),/=> return,/' postgres::feed::
# Of clocks that leap.
rule 'a leap is done' watch.rs 's/if now > known.latest(steady) {/if false {/' clock::
rule 'an accepted time is not read' watch.rs 's/\*accepted > known.now(steady)/false/' clock::
rule 'a reset is not read' watch.rs 's/self.reset != Some(\*reset)/false/' clock::
rule 'a reset leaves holds as they are' plan/account.rs 's/if expires_at < hold.expires_at {/if false {/' clock::
rule 'a reset has no entry' plan/account.rs 's/open.append(now, Cause::ClockReset, \&id, Lines::new(), Orbs::ZERO)?;/open.touch();/' clock::
rule 'a file expires at a leap' sqlite/writer.rs 's/let now = self.looked().map_err(Stop::error)?;/let now = self.clock.now();/' clock::
rule 'a file is complete until a leap' sqlite/writer.rs 's/=> self.shown(time).map_err(Stop::error),/=> Ok(time),/' clock::
rule 'a database does a leap' postgres/writer.rs 's/if let Err(leap) = round.watched.look(client, now)? {/if let Err(leap) = Ok::<(), crate::watch::Leap>(()) {/' postgres::clock::
rule 'a database is complete until a leap' postgres/feed.rs 's/now: watched.shown(client, start.now)?, ..start/..start/' postgres::clock::
test -z "$failed" || exit 1
echo "$count planted errors, all found"
