#!/usr/bin/env bash
# Packs kinds of artefacts into DIST, and says what they are: make.sh KIND…. Each gets a bill of materials; all are in manifest.json and
# SHA256SUMS. What the other kinds have made of the same commit stays. `cargo xtask dist` calls it, after it has built what
# they need, and written the file RELEASE.
set -euo pipefail
. "$RELEASE"
MADE=$(mktemp)
export MADE
trap 'rm "$MADE"' EXIT
manifest=$DIST/manifest.json
[ "$(jq --raw-output .commit "$manifest" 2> /dev/null)" = "$COMMIT" ] || rm -rf "$DIST"
mkdir -p "$DIST"
[ -f "$manifest" ] || echo '{"files": []}' > "$manifest"
for kind; do
    export OUT=$DIST/$kind STAGE=$HOME_OF_DIST/stage/$kind
    rm -rf "$OUT" "$STAGE" "$STAGE-built"
    mkdir -p "$OUT" "$STAGE"
    echo "== $kind"
    bash "dist/pack/$kind.sh"
done

while IFS='|' read -r file crate targets needs; do
    name=${file#"$DIST/"} digest=$(sha256sum "$file" | cut -d ' ' -f 1) size=$(stat --format=%s "$file")
    features=
    [ "$crate" != orbgate-cli ] || features=--all-features # as the command is built for packages
    for target in ${crate:+${targets:-all}}; do
        cargo tree $features --locked --edges normal,no-proc-macro --prefix depth --format $'{p}\t{l}' --target "$target" --package "$crate"
    done | jq --raw-input --null-input --arg needs "$needs" --arg name "$name" --arg version "$VERSION" --arg digest "$digest" \
        --from-file dist/sbom.jq > "$file.cdx.json"
    printf '%10s  %s\n' "$size" "$name" >&2
    jq --null-input --arg file "$name" --argjson size "$size" --arg sha256 "$digest" --arg crate "$crate" --arg targets "$targets" \
        '{ $file, $size, $sha256, $crate, targets: ($targets | split(" ")), sbom: "\($file).cdx.json" }'
done < "$MADE" | jq --slurp --slurpfile before "$manifest" --arg version "$VERSION" --arg commit "$COMMIT" --argjson time "$SOURCE_DATE_EPOCH" \
    --arg rustc "$(rustc --version)" --arg kinds "$*" '{
        name: "orbgate", $version, $commit, $time, $rustc, files: (
            [$before[0].files[] | select((.file | split("/")[0]) as $kind | $kinds | split(" ") | index($kind) | not)] + .)
    }' > "$manifest.new"
mv "$manifest.new" "$manifest"
cd "$DIST"
jq --raw-output '.files[] | .file, .sbom' manifest.json | cat - <(echo manifest.json) | LC_ALL=C sort | xargs sha256sum > SHA256SUMS
