#!/usr/bin/env bash
# Runs each fuzz target for some seconds, starting from the corpus: fuzz/run.sh SECONDS, at the root, with a nightly Rust.
set -euo pipefail
seconds=$1
cargo fuzz --version > /dev/null 2>&1 || cargo install --locked cargo-fuzz
tar -xJf fuzz/corpus.tar.xz -C fuzz
for file in fuzz/targets/*.rs; do
    target=$(basename "$file" .rs)
    mkdir -p "fuzz/corpus/$target"
    cargo +nightly fuzz run "$target" "fuzz/corpus/$target" -- -max_total_time="$seconds"
done
