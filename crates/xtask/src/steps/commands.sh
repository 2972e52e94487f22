# The commands that are other programs' command lines, and nothing else: `cargo xtask NAME` is `make_NAME`, and says what is above it.

# Writes the JSON Schemas: of the policy format, the run request, the run record and the answers of a ledger
make_schema() { ORBGATE_UPDATE=1 schemas; }

# The crates' own tests have the generator and the comparison.
schemas() {
    local name
    for name in orbgate orbgate-contract orbgate-ledger; do cargo test -p $name --all-features --test all schema::; done
}

# Writes the core's module of the built-in engine, compiled from policy/external.yaml
make_external() {
    # The core is built without that module, which may not fit the tables any longer.
    RUSTFLAGS=--cfg=orbgate_bootstrap CARGO_TARGET_DIR=target/xtask/external cargo run -p orbgate-build --example external
}

# Writes the codes of every language and of the pages, the C header, layout.tsv and Layout.java
make_codes() { cargo run --quiet -p orbgate-generate; }

# Builds the WebAssembly modules: the C ABI, for the languages that carry it, and what answers questions
make_wasm() {
    local module
    wasm
    for module in "$home"/wasm/*.wasm; do
        echo "$module: $(stat --format=%s "$module") bytes"
        echo "compressed by gzip: $(packed "$module") bytes"
    done
}

# Builds the explorer, and the command `orbgate` that serves it
make_explorer() {
    explorer_command
    echo "$home/explorer/target/debug/orbgate"
}

# Builds what the Go package carries: the WebAssembly module, and the C library for this machine
make_go() {
    wasm
    go_library published
    wc --bytes bindings/go/orbgate/orbgate.wasm "$archive"
}

# Compares what is generated, and what the core depends on, with what is committed.
generated() {
    test_tree
    schemas
    cargo run --quiet -p orbgate-generate -- --check
}

# Rust's own promises since a release, by cargo-semver-checks against its tag.
promises() {
    crates
    subcommand semver-checks --baseline-rev "$1" $crates
}

# What answers a language's cases, or measures it, in `program`: prepare LANGUAGE conformance|bench PROFILE. C is optimised where it is measured.
prepare() {
    local options=()
    [ "$2" = conformance ] || options=(-O3)
    case $1 in
        c | cpp) c_program "$1" "$2" "${options[@]}" ;;
        go) go_program wasm "$2" "$3" ;;
        go-cgo) go_program cgo "$2" "$3" ;;
        java) java_program "${foreign:-$older}" conformance.Conformance ;;
        node) node_program "$library/$shared" "$2" ;;
        node-wasm)
            wasm
            node_program "$home/wasm/orbgate.wasm" "$2"
            ;;
        python) python_program "$2" "$3" ;;
    esac
}

# Puts every row of policy/cases to the public interface of these languages. `policy/cases/run.py` reads the cases and judges the
# answers; a language only has a program that asks its interface.
conformance() {
    local language
    library dev
    for language; do
        [ "$language" != java ] || java_jar
        prepare "$language" conformance dev
        cases "${language%-*}" "${program[@]}"
    done
}

# What a decision takes from each language, compared with the Rust call in the same run, and what a gate takes. `benches/bindings.py` runs and
# judges, `benches/gates.py` does that with gates. Each program takes a file of requests and a folder of questions, checks every answer and
# prints lines `NAME NANOSECONDS`: `single` for one call, `batch` for a decision in batches of 256 whose columns are there, `filled` for the same
# with making the columns of the language's own strings, `empty` for the language's own empty call.
bench_bindings() {
    local at=$home/bench rust=$TARGET/bench/release/bindings language line
    mkdir -p "$at"
    cargo build --locked --release --no-default-features --features questions --manifest-path benches/Cargo.toml --bin bindings \
        --target-dir "$TARGET/bench"
    "$rust" write "$at/requests.tsv" "$at"
    library published
    java_jar
    commands=("rust=$rust $at/requests.tsv $at")
    for language in c cpp go go-cgo java java-jna node-wasm node python; do
        case $language in
            java) [ -z "$foreign" ] && continue || java_program "$foreign" benchmark.Benchmark ;;
            java-jna) [ -z "$older" ] && continue || java_program "$older" benchmark.Benchmark ;;
            *) prepare "$language" bench published ;;
        esac
        printf -v line "%q " "${program[@]}" "$at/requests.tsv" "$at"
        commands+=("$language=$line")
    done
    # As in a service, which keeps memory. In a program that has no other, glibc returns that of each large answer to the system.
    MALLOC_MMAP_THRESHOLD_=4194304 MALLOC_TRIM_THRESHOLD_=8388608 python3 benches/bindings.py "${commands[@]}"
    python3 benches/gates.py
}

# Orbgate and its peers on the same requests: bench_compare FEATURES [OPTION…].
bench_compare() {
    local options=(--locked --release --manifest-path benches/Cargo.toml --features "$1" --target-dir "$TARGET/bench")
    # The comparison starts another program, which counts allocations.
    cargo build "${options[@]}" --bin compare --bin allocations
    cargo run --quiet "${options[@]}" -- "${@:2}"
}

# No hot path may grow unseen: counts every path on this kind of processor, and compares it with the committed list, or writes that:
# instructions x86-64|aarch64 [--update].
instructions() {
    local list=benches/instructions.tsv version
    if [ "$1" = x86-64 ]; then
        grep --word-regexp --max-count 1 avx2 /proc/cpuinfo > /dev/null || fail "instructions of x86-64 are counted on Linux, where the processor has AVX2"
        apt valgrind valgrind
    else
        [ "$(uname)" = Linux ] || fail "instructions are counted on Linux only"
        list=benches/instructions-aarch64.tsv
        apt qemu-aarch64 qemu-user
    fi
    apt python3 python3
    apt cc gcc libc6-dev
    version=$(sed -n 's/^# rustc //p' $list)
    if [ "$(rustc --version | cut -d ' ' -f 2)" = "$version" ]; then
        target "${1/-/_}-unknown-linux-musl"
    else
        rustup --version > /dev/null || fail "counting wants Rust $version, and rustup, which would install it, is missing"
    fi
    python3 benches/instructions.py "$@"
}
