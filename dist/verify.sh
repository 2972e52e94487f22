#!/usr/bin/env bash
# The same commit built once more, from a clone in another folder, gives the same bytes: verify.sh XTASK WORD…, what is typed after it.
set -euo pipefail
. "$RELEASE"
clone=$(mktemp --directory "${TMPDIR:-/tmp}/orbgate-clone-XXXXXX")
git clone --quiet . "$clone"
git -C "$clone" checkout --quiet --detach "$COMMIT"
# The tools are the same for both builds.
mkdir -p "$clone/target/xtask/dist"
ln -s "$HOME_OF_DIST/tools" "$clone/target/xtask/dist/tools"
(cd "$clone" && CARGO_TARGET_DIR=$clone/target "$@")
diff "$DIST/SHA256SUMS" "$clone/target/dist/SHA256SUMS" || { echo "built twice, these are not the same; the second is $clone" >&2; exit 1; }
echo "the same bytes twice: $(wc -l < "$DIST/SHA256SUMS") files"
rm -rf "$clone"
