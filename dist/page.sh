#!/usr/bin/env bash
# Puts the files of the release's page into one folder, because the page has no folders: page.sh DIST PAGE. The crates are only at crates.io.
# Fails if two files have the same name, which the page would refuse after the registries had taken theirs.
set -euo pipefail
dist=$1 page=$2
files=$(sed 's/^[0-9a-f]*  //' "$dist/SHA256SUMS" | grep -v '\.crate\(\.cdx\.json\)\?$')
twice=$(sed 's,.*/,,' <<< "$files" | LC_ALL=C sort | uniq --repeated)
[ -z "$twice" ] || { printf 'two files of the release have the same name:\n%s\n' "$twice" >&2; exit 1; }
mkdir -p "$page"
while read -r file; do cp "$dist/$file" "$page"; done <<< "$files"
cd "$page"
LC_ALL=C ls | grep -v '^SHA256SUMS$' | xargs sha256sum > SHA256SUMS
