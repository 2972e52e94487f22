#!/usr/bin/env bash
# The step `embed`: the projects of other people in this folder, outside the workspace, use the crates and print what is expected. They share
# built dependencies with the workspace: the same versions, with the same profile.
set -euo pipefail
root=$PWD target=${CARGO_TARGET_DIR:-$PWD/target}
home=$target/xtask/embed
export CARGO_TARGET_DIR=$target
rm -rf "$home"
mkdir -p "$home"
cp -r crates/xtask/embed/*/ "$home"
cp crates/orbgate-token/testdata/{token.yaml,token.jwt,jwks.json} "$home/token"

# Runs a project with these dependencies, which prints what is expected.
run() { # PROJECT DEPENDENCIES EXPECTED
    cd "$home/$1"
    {
        printf '[package]\nname = "%s"\nedition = "2024"\n\n%s\n' "$1" "${2//@CRATES@/$root/crates}"
        awk '/^\[/ { on = /^\[profile\.dev/ } on' "$root/Cargo.toml"
        echo "[workspace]"
    } > Cargo.toml
    cp "$root/Cargo.lock" .
    echo "$ cargo run # $1"
    cargo build
    diff <(echo "$3") <(cargo run --quiet)
}

run service '[dependencies]
orbgate = { path = "@CRATES@/orbgate" }

[build-dependencies]
orbgate-build = { path = "@CRATES@/orbgate-build" }' \
    'built in: allow scope_held POST /api/v1/external/voxies/prompt/run write:voxies consumes=true amount=None
built in: deny scope_missing POST /api/v1/external/voxies/prompt/run write:voxies
run time: allow scope_held GET /shelves/{shelfId} read:shelves consumes=false amount=Some(0)
run time: deny no_route - -
build time: allow scope_held POST /v2/prints/{printId}/copies write:prints consumes=true amount=Some(5)
build time: deny method_not_declared /v2/prints/{printId}/copies -
build time: allow scope_held GET /v2/prints/{printId} read:prints consumes=false amount=Some(0)
build time: allow scope_held GET /v2/prints/{printId} read:prints consumes=false amount=Some(0)
build time: deny scope_missing GET /v2/prints/{printId} read:prints
build time: deny method_not_declared /v2/prints/new -'
run bare '[dependencies]
orbgate = { path = "@CRATES@/orbgate", default-features = false }' \
    'scope_held'
run token '[dependencies]
orbgate-token = { path = "@CRATES@/orbgate-token" }
jsonwebtoken = { version = "=11.1.0", features = ["aws_lc_rs", "rust_crypto"] }
serde_json = { version = "1", features = ["arbitrary_precision", "preserve_order"] }' \
    'theirs: panicked
ours: user read:account write:voxies'

# A policy with an error fails the build, and the error's location is seen in cargo's output.
cd "$home/service"
echo "colour: red" >> prints.v2.yaml
! cargo build 2> build.log || { echo "an unknown key was compiled into the program" >&2; exit 1; }
grep "prints.v2.yaml:$(wc -l < prints.v2.yaml):1: " build.log

# The built-in engine brings nothing else.
cd "$home/bare"
names=$(cargo tree -e normal --target all --prefix none | cut -d ' ' -f 1 | sort -u | xargs)
[ "$names" = "bare orbgate" ] || { echo "the core alone depends on others: $names" >&2; exit 1; }
