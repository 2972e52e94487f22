#!/bin/sh
# Threads decide, or ask a gate, while one reloads, under ThreadSanitizer: at the root, on x86-64 Linux. Everything is instrumented,
# Rust's standard library too, so this takes rustup's nightly and some minutes of building. Signatures are not checked here: that is C.
set -eu
target=x86_64-unknown-linux-gnu
home=target/sanitize
rustup toolchain install nightly --profile minimal --component rust-src --no-self-update
RUSTFLAGS=-Zsanitizer=thread cargo +nightly build -Zbuild-std -p orbgate-capi --no-default-features --features gate --target $target --target-dir $home
# With Rust's own runtime, which knows what both compilers call: that of an older gcc does not.
runtime=$(rustc +nightly --print target-libdir --target $target)/librustc-nightly_rt.tsan.a
for test in reload gate_threads gate_handles; do
    cc -std=c11 -g -O1 -fsanitize=thread -Ibindings/c/include -c bindings/c/tests/$test.c -o $home/$test.o
    cc -pie $home/$test.o $home/$target/debug/liborbgate.a -Wl,--whole-archive "$runtime" -Wl,--no-whole-archive,--export-dynamic \
        -lpthread -ldl -lm -lrt -lgcc_s -o $home/$test
    # A sanitizer that is not linked finds nothing.
    nm $home/$test | grep -q __tsan_atomic64_compare_exchange
    TSAN_OPTIONS=halt_on_error=1 $home/$test 10000
done
