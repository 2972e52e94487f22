# The command: one static binary for each processor, with manual pages and completions.
. dist/pack/common.sh
for arch in $ARCHES; do
    name=orbgate-$VERSION-$arch-linux
    put_command "$arch" "$STAGE/$name"
    cp LICENSE-* crates/orbgate-cli/{README.md,Containerfile} "$STAGE/$name"
    archive "$name"
    made "$OUT/$name.tar.gz" orbgate-cli "$(target "$arch" musl)"
done
