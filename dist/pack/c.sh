# The C library: an archive for each platform, which is a prefix that may be unpacked anywhere.
. dist/pack/common.sh
for arch in $ARCHES; do
    for libc in $LIBCS; do
        name=liborbgate-$VERSION-$arch-linux-$libc
        bindings/c/install/install.sh "$BUILT/$arch-linux-$libc" "$STAGE/$name"
        cp -r LICENSE-* bindings/c/{README.md,example} "$STAGE/$name"
        archive "$name"
        made "$OUT/$name.tar.gz" orbgate-capi "$(target "$arch" "$libc")"
    done
done
