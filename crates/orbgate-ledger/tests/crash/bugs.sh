#!/bin/sh
# Plants bugs in a copy of the crate, one at a time, and requires that its tests find each.
set -eu
home=target/xtask/ledger-bugs
rm -rf "$home/copy" && mkdir -p "$home/copy"
git archive HEAD Cargo.toml Cargo.lock clippy.toml crates benches policy docs/orbs-growth.md | tar --extract --directory "$home/copy"
export CARGO_TARGET_DIR="$PWD/$home/target"
cd "$home/copy"
count=0
# bug NAME FILE SED TESTS
bug() {
    file=crates/orbgate-ledger/src/$2
    cp "$file" right.rs
    sed -i "$3" "$file"
    ! cmp -s "$file" right.rs || { echo "$1: not planted in $file" >&2; exit 1; }
    cargo build --quiet -p orbgate-ledger || { echo "$1: doesn't compile" >&2; exit 1; }
    # A test that hangs hasn't found it.
    ! timeout 900 cargo test --quiet -p orbgate-ledger --test all -- $4 > bug.log 2>&1 || { echo "$1: not found" >&2; exit 1; }
    # Found by a test, and not by the compiler.
    grep --quiet '^test result: FAILED' bug.log || { cat bug.log >&2; exit 1; }
    echo "found: $1"
    count=$((count + 1))
    cp right.rs "$file"
}
cargo test --quiet -p orbgate-ledger --test all -- conformance
bug 'commits are not synced' sqlite/open.rs 's/synchronous = FULL/synchronous = OFF/; s/synchronous != 2/false \&\& synchronous != 2/' crash
bug 'an answer before the commit' sqlite/writer.rs 's/Ok(answer) => done.push((reply, Ok(answer))),/Ok(answer) => reply(Ok(answer)),/' crash
bug 'a transaction that does not lock first' sqlite/writer.rs 's/BEGIN IMMEDIATE/BEGIN DEFERRED/' sqlite::a_transaction
bug 'settled without compare-and-set' plan/hold.rs 's/if row.settlement.is_some() {/if false {/' 'conformance properties'
bug 'the wrong order' plan/rows.rs 's/(is(Bucket::Paid), expiry, seq)/(is(Bucket::Paid), seq, expiry)/' 'conformance properties'
bug 'a bound that is not checked' value.rs 's/if number <= MAX {/if number <= u64::MAX {/' 'conformance properties'
bug 'an expiry one millisecond late' plan/rows.rs 's/expiry <= time/expiry < time/; s/due <= now/due < now/' 'conformance properties'
bug 'a clock that goes back' plan/account.rs 's/(now.max(account.clock), BTreeMap::new())/(now, BTreeMap::new())/' 'conformance properties'
echo "$count planted bugs, all found"
