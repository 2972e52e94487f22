# The steps, in the order in which each lane runs them: `cargo xtask test NAME` is `test_NAME`. Above it is what it shows; when it runs, `always`
# with `test` and `test --all`, `all` with the latter, `if-changed` with `assure`, and with `test --all` only if a path that it covers has changed
# since its last recorded run, `assure` with that only; its lane; and the paths whose change ends its record in docs/assurance.md: git's pathspecs,
# and after `+` the folder of a package, which stands for all of it and for the sources of what it is built and tested with. Checks of how things
# are packed cover that alone: the other steps test what is in them. Steps of the lanes `cargo` and `languages` run side by side, because cargo builds one thing at a time; those of `quiet` after both, one
# at a time: tests with deadlines of seconds, and those that use every core.

# Every file is formatted
# @ always cargo
test_fmt() {
    component fmt rustfmt
    cargo fmt --all --check
}

# The core depends on nothing new, and each lock file is current
# @ always cargo
test_tree() {
    local lock
    for lock in $(git ls-files '*Cargo.lock'); do
        cargo update --workspace --locked --quiet --manifest-path "${lock%.lock}.toml" || fail "$lock isn't current"
    done
    # Each package once, without its version.
    cargo tree -p orbgate -e normal --target all --prefix none | cut -d ' ' -f 1 | LC_ALL=C sort -u | diff crates/xtask/core-dependencies.txt -
}

# No lint complains
# @ all cargo
test_clippy() {
    component clippy clippy
    cargo clippy --workspace --all-targets --all-features -- -D warnings
    cargo clippy -p orbgate --no-default-features -- -D warnings
}

# Unit, integration and documentation tests of every crate; the pages
# @ always cargo
test_tests() {
    # Without them, tests skip themselves.
    apt "$initdb" postgresql || :
    apt /usr/sbin/pgbouncer pgbouncer || :
    apt promtool prometheus || :
    if apt python3 python3; then scripts; else skip "the scripts in Python: it is missing"; fi
    # One run names all that fails.
    cargo test --workspace --all-features --no-fail-fast
    # The examples of the core's README are for its default features, too.
    cargo test -p orbgate --doc
}

# What judges in Python, with its examples.
scripts() {
    local script
    for script in benches/{bindings,gates,instructions,ledger}.py $steps/skipped.py; do python3 -m doctest "$script"; done
}

# The documentation builds as docs.rs builds it, and its links resolve
# @ all cargo
test_docs() {
    local without
    # docs.rs uses the features that a manifest tells it to: here all of them at once, so the same there.
    without=$(published 'select(.metadata.docs.rs."all-features" != true).name')
    [ -z "$without" ] || fail "docs.rs would leave out features: $without"
    RUSTDOCFLAGS=-Dwarnings cargo doc --no-deps --workspace --all-features
}

# The Python package, installed: all but the long tests in the newest Python, those of the native module in the others; the cases
# @ all languages
test_python() { python_test; }

# C and C++: headers, symbols, tests, cases, examples; under valgrind and sanitizers
# @ all languages
test_c() { c; }

# The Go package over each engine: its tests, also under the race detector, its guide, the cases
# @ all languages
test_go() {
    go_test wasm
    go_test cgo
}

# The Java package in a Java of each way into the library: its tests and the cases
# @ all languages
test_java() { java_test; }

# The Node package over each engine: its types, its tests and the cases
# @ all languages
test_node() { node_test; }

# Other projects can embed the crates, with policies and dependencies of their own
# @ all cargo
test_embed() { bash crates/xtask/embed/run.sh; }

# No hot path takes more instructions than listed
# @ all cargo
test_instructions() { instructions x86-64; }

# The core's portable code decides correctly
# @ all cargo
test_portable() {
    # The compiler is wrapped, because `RUSTFLAGS` would also rebuild all other crates.
    RUSTC_WORKSPACE_WRAPPER=$PWD/$steps/portable.sh decisions
}

# The tests that distinguish one processor's code from another's, with every assertion, built as in the step `tests`: decisions [ARGUMENT…].
decisions() {
    cargo test -p orbgate --lib -- "$@"
    cargo test -p orbgate --test all -- cases:: edges:: "$@"
}

# The core decides correctly as WebAssembly, with its vectors
# @ all cargo
test_wasm() {
    # For tests, which print and ask for the time. wazero is of the version of bindings/go/go.mod, so it is the same compiler.
    target wasm32-wasip1
    "$home/wazero/wazero" version > /dev/null 2>&1 || {
        go version || fail "Go is missing, which brings wazero: https://go.dev/dl"
        GOBIN=$home/wazero go install github.com/tetratelabs/wazero/cmd/wazero@v1.11.0
    }
    CARGO_BUILD_TARGET=wasm32-wasip1 CARGO_TARGET_WASM32_WASIP1_RUNNER="$home/wazero/wazero run -mount=$PWD:$PWD" \
        RUSTFLAGS=-Ctarget-feature=+simd128 PROPTEST_CASES=64 decisions
}

# Real proxies pass only allowed requests: nginx, HAProxy, Caddy, Traefik before a backend
# @ all quiet
test_gateway() { proxies --skip envoy --skip keycloak::; }

# The gateway behind real proxies: the tests that these names choose.
proxies() {
    # nginx has no `--version`. Each test skips its own proxy if it is missing.
    packages "test -x /usr/sbin/nginx -a -x /usr/sbin/haproxy -a -x /usr/sbin/lighttpd -a -x /usr/bin/php-cgi -a -d /usr/share/tomcat10" \
        nginx haproxy lighttpd php-cgi tomcat10
    apt "python3 -m pip" python3-pip
    apt systemd-analyze systemd
    # Each test mostly waits. The quick start uses the command.
    $command
    cargo test --workspace --all-features --test gateway -- --ignored --test-threads 6 "$@"
}

# Every language's gate gives the same answers to the same requests, over real sockets; all of them in its first framework, over each engine.
# `orbgate mcp probe` finds the faults planted in MCP servers of four SDKs; unmodified clients of two SDKs run the example of docs/mcp.md.
# Before servers of five SDKs, callers' sequences of calls cost what docs/mcp.md lists
# @ all quiet
test_gates() {
    gates --quick
    cargo test --workspace --all-features --test servers -- --ignored
}

# The gate of every language.
gates() {
    # The example brings the features of tests.
    cargo build --workspace --all-features --bin orbgate-exchange --example gate
    target/debug/orbgate-exchange --every "$@"
    # Hypercorn upgrades before its gate, which the other groups refuse. Without Python, `--every` has said so.
    local python=target/xtask/gate-python/bin/python
    [ ! -x $python ] ||
        target/debug/orbgate-exchange --group servers --server Hypercorn -- $python bindings/python/gate/gate.py hypercorn
}

# Every published crate compiles with each feature alone and with none, and its pages build with the default features
# @ if-changed cargo Cargo.toml crates/*/Cargo.toml crates/*/src/* :!crates/xtask :!crates/orbgate-testing
test_features() {
    local alone package
    # Like cargo-hack, in a few lines: building that would take a minute.
    alone=$(published '.name + ":" + ("", (.features | keys[]))')
    for alone in $alone; do cargo check --no-default-features -p "${alone%:*}" --features "${alone#*:}"; done
    # Where programs check signatures, nothing needs C.
    target $WASM
    cargo check --no-default-features -p orbgate-gate --target $WASM
    # With the features of a plain `cargo doc`, no link may lead to an item of a feature that is off.
    package=$(published 'select(any(.targets[]; .doc)).name')
    for package in $package; do RUSTDOCFLAGS=-Dwarnings cargo doc --no-deps -p "$package"; done
}

# The fuzz targets compile
# @ if-changed cargo +fuzz crates/orbgate/tests/support
test_fuzz() {
    # A package of its own outside the workspace, with one folder for the builds of both.
    cargo check --locked --manifest-path fuzz/Cargo.toml --target-dir target
}

# Every published crate compiles from its own archive
# @ if-changed cargo Cargo.toml crates/*/Cargo.toml dist/*/rust.sh LICENSE-*
test_package() { dist quick try "$(uname -m)" rust; }

# The published crates compile with the oldest Rust that they promise
# @ if-changed cargo Cargo.lock Cargo.toml crates/*/Cargo.toml
test_msrv() {
    local oldest
    # `clippy::incompatible_msrv` finds newer functions of the standard library in sources.
    oldest=$(published 'select(.name == "orbgate").rust_version')
    rustup toolchain install --profile minimal --no-self-update "$oldest"
    crates
    # A directory of its own: cargo would rebuild everything at each change of the compiler.
    rustup run "$oldest" cargo check --all-features --target-dir "$TARGET/msrv" $crates
}

# C, C++ and Go programs build from an installed library, wherever it is moved; the guides' services start from a clone
# @ if-changed cargo bindings/c/install bindings/c/include bindings/*README.md crates/orbgate-tower/README.md dist/try
test_install() { install_test; }

# The Go package as its users get it: from a module proxy, with Go and at most a C compiler
# @ if-changed cargo bindings/go bindings/node/testing.js dist/pack/go.sh dist/try
test_go-module() { dist quick try "$(uname -m)" go; }

# A release's artefacts for this machine, installed and run without Rust
# @ if-changed cargo dist bindings/node/package.json bindings/node/testing.js bindings/java/pom.xml
test_dist() { dist quick try "$(uname -m)" command c node java; }

# The core decides correctly on aarch64, under qemu, and no hot path takes more instructions there than listed
# @ if-changed cargo +crates/orbgate benches/instructions-aarch64.tsv
test_aarch64() {
    target aarch64-unknown-linux-gnu
    apt aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross
    apt qemu-aarch64 qemu-user
    # qemu is some ten times slower than the machine. Tables are left out, which every processor reads with the same code.
    CARGO_BUILD_TARGET=aarch64-unknown-linux-gnu CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
        CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu" PROPTEST_CASES=64 \
        decisions --skip templates::every_
    instructions aarch64
}

# Licences and sources of all dependencies are accepted
# @ assure cargo Cargo.lock Cargo.toml crates/*/Cargo.toml
test_deny() { subcommand deny check licenses bans sources; }

# Every language's gate in each framework gives the same answers to all requests
# @ assure quiet bindings +bindings/cpp +bindings/go +bindings/java +bindings/node +bindings/python +crates/orbgate-tower policy/cases
test_frameworks() {
    ORBGATE_SEQUENCES=300 gates
    sh bindings/java/gate/containers.sh
}

# The Python wheel of a release: all tests in every Python but the newest; its size and its speed; the report in a browser, Spark and other long
# tests
# @ assure quiet +bindings/python
test_pythons() { python_others; }

# The Go package over the C library under the race detector; its builds for other systems
# @ assure cargo +bindings/go
test_race() {
    (
        go_engine cgo dev
        go_race
    )
    go_engine wasm dev
    go_for linux/arm64 darwin/arm64 freebsd/amd64
}

# Envoy passes only allowed requests, as `gateway` shows of the other proxies
# @ assure quiet +crates/orbgate-gateway docs/gateway examples/gateway
test_envoy() { proxies envoy; }

# The gateway decides with the tokens of a real Keycloak, from its discovery document to a change of its keys
# @ assure cargo +crates/orbgate-gateway docs/issuers.md
test_keycloak() {
    apt mvn maven
    cargo test --workspace --all-features --test gateway keycloak:: -- --ignored
}

# No answered command of a ledger is lost: 2,000 crashes over SQLite, PostgreSQL killed under load and failed over; every planted bug is found
# @ assure quiet +crates/orbgate-ledger
test_ledger() {
    apt "$initdb" postgresql
    apt /usr/sbin/pgbouncer pgbouncer
    ORBGATE_LEDGER_HISTORIES=10000 cargo test -p orbgate-ledger --all-features --test all -- --nocapture reference::
    ORBGATE_LEDGER_CRASHES=2000 ORBGATE_LEDGER_SUITES=60 ORBGATE_LEDGER_KILLS=20 ORBGATE_LEDGER_FAILOVER=1 \
        cargo test -p orbgate-ledger --all-features --test all -- --nocapture crash:: postgres::
    sh crates/orbgate-ledger/tests/crash/bugs.sh
    sh crates/orbgate-ledger/tests/reference/plant.sh
}

# The explorer in a real browser: the cases, hostile targets, links, `orbgate explore`; axe-core, light and dark
# @ assure quiet explorer +crates/orbgate-wasm +crates/orbgate-cli policy docs/codes.md docs/lint.md docs/tutorial bindings/go/README.md
test_explorer() {
    apt chromium chromium
    explorer_command
    (cd explorer && ORBGATE_PAGE=$page ORBGATE_COMMAND=$home/explorer/target/debug/orbgate npm --silent test)
}

# The `unsafe` of the core and of the C ABI, under Miri
# @ assure cargo +crates/orbgate +crates/orbgate-capi
test_miri() {
    nightly miri,rust-src
    # Few random cases: it is some hundred times slower than the machine.
    export PROPTEST_CASES=4 MIRIFLAGS=-Zmiri-disable-isolation
    local miri="cargo +nightly miri test --no-default-features --lib"
    $miri -p orbgate -- vector scopes
    $miri -p orbgate-capi --features gate
    # What threads share, in many of the orders that weak memory allows.
    MIRIFLAGS+=" -Zmiri-many-seeds=0..16"
    $miri -p orbgate-capi --features gate every_decision_of_a_handle
}

# Reloads and gates under ThreadSanitizer
# @ assure cargo +bindings/c
test_threads() { sh bindings/c/tests/thread_sanitizer.sh; }

# Each fuzz target for a minute, from the cases and the inputs of earlier runs
# @ assure cargo +fuzz crates/orbgate/tests/support
test_fuzz-run() {
    nightly rust-src
    bash fuzz/run.sh 60
}

# `orbgate replay` answers ten million lines in constant memory; a million random MCP requests are read as an oracle reads them
# @ assure quiet +crates/orbgate-cli +crates/orbgate-gate benches/soak.py
test_soak() {
    cargo build --release -p orbgate-cli
    python3 benches/soak.py
    ORBGATE_MCP_PAIRS=1000000 cargo test --release --all-features -p orbgate-gate --test all oracle
}

# One part in 144 of the mutants, a different one each day: the tests find every error that is put into the code, except those with a reason in `.cargo/mutants.toml`
# @ assure quiet crates/*/src/* .cargo/mutants.toml
test_mutants() {
    local day
    day=$(date -u +%j)
    PROPTEST_CASES=32 subcommand mutants --workspace --output target/xtask --shard "$((10#$day % 144))/144"
}
