#!/usr/bin/env bash
# Installs and runs what was packed where there is no Rust and no checkout: try.sh KIND…. A trial gets nothing of this environment but the
# folders of programs without those that have Rust's, the guides, what runs the cases, and a test issuer.
set -euo pipefail
. "$RELEASE"

# What the release says of its files is so, and a bill of materials names what its file was built from.
(cd "$DIST" && sha256sum --quiet --check SHA256SUMS)
jq --raw-output '.files[] | select(.crate != "") | .crate + " " + .sbom' "$DIST/manifest.json" | while read -r crate bill; do
    jq --exit-status --arg crate "$crate" '.components | any(.name == $crate)' "$DIST/$bill" > /dev/null || { echo "$bill" >&2; exit 1; }
done

home=$(mktemp --directory "${TMPDIR:-/tmp}/orbgate-try-XXXXXX")
trap 'chmod -R u+w "$home"; rm -rf "$home"' EXIT

# The release's page can have all of them.
bash dist/page.sh "$DIST" "$home/page"
(cd "$home/page" && sha256sum --quiet --check SHA256SUMS)

cp --recursive --dereference --parents bindings/*/{README.md,conformance,example} bindings/node/testing.js dist policy crates/orbgate-cli/README.md "$home"

while read -r -d : folder; do
    for program in cargo rustc rustup maturin; do
        [ ! -e "$folder/$program" ] || continue 2
    done
    path+=$folder:
done <<< "$PATH:"

environment=(LANG=C.UTF-8 "HOME=$home" "PATH=${path%:}")
for name in VERSION ARCHES LIBCS QUICK DIST HOME_OF_DIST JDKS PYTHONS; do environment+=("$name=${!name}"); done
for program in cargo rustc; do
    ! env -i "${environment[@]}" $program --version 2> /dev/null || { echo "$program is on the path" >&2; exit 1; }
done

for kind; do
    printf '\n-- %s where there is no Rust\n' "$kind"
    if [ "$kind" = rust ]; then
        bash dist/try/rust.sh # its users have it
    else
        (cd "$home" && env -i "${environment[@]}" bash "dist/try/$kind.sh")
    fi
done
