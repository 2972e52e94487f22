# Debian: from the packages, unpacked into a root of their own, programs build and the command decides.
. dist/try/common.sh
for arch in $ARCHES; do
    case $arch in x86_64) end=_amd64.deb ;; aarch64) end=_arm64.deb ;; esac
    for package in "$DIST"/deb/*"$end"; do dpkg-deb --extract "$package" "deb-$arch"; done
    with_library "$arch" gnu "deb-$arch/usr" "lib/$arch-linux-gnu"
    decides $(emulator "$arch") "deb-$arch/usr/bin/orbgate"
done
