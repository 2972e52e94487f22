#!/bin/sh
# 8 threads decide while one reloads 10,000 times, under ThreadSanitizer: at the root, on x86-64 Linux. Everything is instrumented,
# Rust's standard library too, so this takes rustup's nightly and some minutes of building.
set -eu
target=x86_64-unknown-linux-gnu
home=target/sanitize
rustup toolchain install nightly --profile minimal --component rust-src --no-self-update
RUSTFLAGS=-Zsanitizer=thread cargo +nightly build -Zbuild-std -p orbgate-capi --target $target --target-dir $home
cc -std=c11 -g -O1 -fsanitize=thread -Ibindings/c/include -c bindings/c/tests/reload.c -o $home/reload.o
# With Rust's own runtime, which knows what both compilers call: that of an older gcc does not.
runtime=$(rustc +nightly --print target-libdir --target $target)/librustc-nightly_rt.tsan.a
cc -pie $home/reload.o $home/$target/debug/liborbgate.a -Wl,--whole-archive "$runtime" -Wl,--no-whole-archive,--export-dynamic \
    -lpthread -ldl -lm -lrt -lgcc_s -o $home/reload
# A sanitizer that is not linked finds nothing.
nm $home/reload | grep -q __tsan_atomic64_compare_exchange
TSAN_OPTIONS=halt_on_error=1 $home/reload 10000
