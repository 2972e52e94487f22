# Setting up what a machine with only the language toolchains lacks, and what cargo knows of the project.

fail() {
    echo "$1" >&2
    exit 1
}

# Records that something isn't tested, and why.
skip() {
    echo "skipped: $1"
    [ -z "${ORBGATE_SKIPPED:-}" ] || echo "$1" >> "$ORBGATE_SKIPPED"
}

# Installs Debian's packages where a probe fails, if this user may: packages PROBE PACKAGE….
packages() { sh crates/xtask/src/kit/apt.sh "$@"; }

# The same, where a program fails with `--version` added.
apt() { packages "$1 --version" "${@:2}"; }

compilers() {
    apt cc build-essential
    apt c++ build-essential
}

# Creates a PostgreSQL cluster, and isn't on the search path.
initdb="sh crates/xtask/src/kit/initdb.sh"

# Sets up a part of the toolchain that rustup's minimal profile lacks: component COMMAND COMPONENT.
component() { cargo "$1" --version > /dev/null 2>&1 || rustup component add "$2"; }

# Installs the standard library of a target where the compiler in use lacks it.
target() { [ -d "$(rustc --print target-libdir --target "$1")" ] || rustup target add "$1"; }

# Installs the nightly Rust with these components.
nightly() { rustup toolchain install nightly --profile minimal --no-self-update --component "$1"; }

# A command of cargo's that a crate brings, built below target/ where it is not there yet: subcommand NAME [ARGUMENT…].
subcommand() {
    local tool=$home/$1/bin/cargo-$1
    "$tool" "$1" --version > /dev/null 2>&1 || cargo install --locked "cargo-$1" --root "$home/$1"
    "$tool" "$@"
}

# What jq says of each package that users get from the registry: published FILTER.
published() {
    apt jq jq >&2
    cargo metadata --no-deps --format-version 1 | jq --raw-output ".packages[] | select(.publish == null) | $1"
}

version() { published 'select(.name == "orbgate").version'; }

# The published packages as options of cargo, in `crates`.
crates() { crates=$(published '"-p " + .name'); }

# Builds the command `orbgate`, with the features that the step `tests` builds it with.
command="cargo test --no-run --workspace --all-features --test command"

# Keeps a step of the other lane from building the same thing, perhaps with other features, before it is copied: as long as this shell runs.
alone() {
    ! command -v flock > /dev/null || { exec 9> "$home/$1.lock" && flock 9; }
}

# Puts every case to a language's program: cases LANGUAGE PROGRAM…. `run.py` knows the languages.
cases() {
    apt python3 python3
    python3 policy/cases/run.py "$@"
}
