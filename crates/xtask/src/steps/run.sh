#!/usr/bin/env bash
# Runs a function of the files in this folder, and prints each command: run.sh FUNCTION [ARGUMENT…]. At the root; `cargo xtask` does it, and tells
# in TARGET where cargo puts what it builds.
set -euo pipefail
[ "${BASH_VERSINFO[0]}" -ge 5 ] || { echo "bash 5 or newer is missing" >&2 && exit 1; }
PS4='$ '
TARGET=${TARGET:-$PWD/target}
# What is built by steps, and by them alone.
home=$TARGET/xtask
shopt -s nullglob
steps=crates/xtask/src/steps
for part in common library c go java node python install dist commands steps; do . "$steps/$part.sh"; done
mkdir -p "$home"
# The last line: processor time of all that it started, user and system.
[[ $1 != test_* ]] || trap '{ set +x; } 2> /dev/null; times' EXIT
set -x
# On one line: bash reads on where it was, and this file may change meanwhile.
"$@"; exit
