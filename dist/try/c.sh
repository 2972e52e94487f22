# C: each archive is unpacked somewhere, and programs build with it.
. dist/try/common.sh
for arch in $ARCHES; do
    for libc in $LIBCS; do
        name=liborbgate-$VERSION-$arch-linux-$libc
        tar --extract --file "$DIST/c/$name.tar.gz"
        cmp "$name/example/authorize.c" bindings/c/example/authorize.c
        with_library "$arch" "$libc" "$name" lib
    done
done
