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
for project in service bare token; do
    cd "$home/$project"
    {
        printf '[package]\nname = "%s"\nedition = "2024"\n\n' "$project"
        sed "s,@CRATES@,$root/crates," manifest.toml
        awk '/^\[/ { on = /^\[profile\.dev/ } on' "$root/Cargo.toml"
        echo "[workspace]"
    } > Cargo.toml
    cp "$root/Cargo.lock" .
    echo "$ cargo run # $project"
    cargo build
    diff expected.txt <(cargo run --quiet)
done

# A policy with an error fails the build, and the error's location is seen in cargo's output.
cd "$home/service"
echo "colour: red" >> prints.v2.yaml
! cargo build 2> build.log || { echo "an unknown key was compiled into the program" >&2; exit 1; }
grep "prints.v2.yaml:$(wc -l < prints.v2.yaml):1: " build.log

# The built-in engine brings nothing else.
cd "$home/bare"
names=$(cargo tree -e normal --target all --prefix none | cut -d ' ' -f 1 | sort -u | xargs)
[ "$names" = "bare orbgate" ] || { echo "the core alone depends on others: $names" >&2; exit 1; }
