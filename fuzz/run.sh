#!/usr/bin/env bash
# Runs each fuzz target for some seconds: fuzz/run.sh SECONDS, at the root, with a nightly Rust. It starts from the project's cases,
# and from fuzz/corpus, which has the inputs of earlier runs that reached something new.
set -euo pipefail
seconds=$1
cargo fuzz --version > /dev/null 2>&1 || cargo install --locked cargo-fuzz
seeds=fuzz/corpus/seeds
rm -rf "$seeds"
mkdir -p "$seeds"/{target,scopes,token}
# A column of the cases, each row as a file.
column() { grep -hv '^#' policy/cases/*.tsv | cut -f "$1" | sort -u | split -l 1 -a 4 - "$seeds/$2/"; }
column 4 target
column 7 scopes
cp crates/orbgate-token/testdata/token.jwt "$seeds/token"
for file in fuzz/targets/*.rs; do
    target=$(basename "$file" .rs)
    from="$seeds/$target"
    case $target in policy | fmt) from=policy ;; esac
    mkdir -p "fuzz/corpus/$target" "$from"
    cargo +nightly fuzz run "$target" "fuzz/corpus/$target" "$from" -- -max_total_time="$seconds"
done
