# rpm: the same as Debian's.
. dist/try/common.sh
for arch in $ARCHES; do
    mkdir "rpm-$arch"
    for package in "$DIST"/rpm/*."$arch.rpm"; do rpm2cpio "$package" | (cd "rpm-$arch" && cpio --extract --quiet --make-directories); done
    with_library "$arch" gnu "rpm-$arch/usr" lib64
    decides $(emulator "$arch") "rpm-$arch/usr/bin/orbgate"
done
