# Debian's packages: the library, named by its soname, what programs build with, and the command. By Debian's own tool: nfpm and cargo-deb
# write no `shlibs`, by which packages that link the library find their dependency.
. dist/pack/common.sh

pack() { # PACKAGE SECTION SUMMARY CRATE LIBC [DEPENDS]
    local root=$STAGE/$1 file=$OUT/$1_${VERSION}_$(debian "$arch").deb size
    size=$(du --summarize --apparent-size --block-size=1024 "$root" | cut -f 1)
    mkdir -p "$root/DEBIAN"
    cat > "$root/DEBIAN/control" << END
Package: $1
Version: $VERSION
Architecture: $(debian "$arch")
Section: $2
Priority: optional
Maintainer: The Orbgate project <orbgate@users.noreply.github.com>
Homepage: https://github.com/orbgate/orbgate
Installed-Size: $size
${6:+Depends: $6
}Description: Scope and orb policy engine: $3
 Orbgate answers which scope a request needs, whether its token may make the call, whether it consumes orbs, and why.
END
    if [ "$1" = liborbgate1 ]; then
        echo "activate-noawait ldconfig" > "$root/DEBIAN/triggers"
        echo "liborbgate 1 $1 (>= $VERSION)" > "$root/DEBIAN/shlibs"
    fi
    dpkg-deb --root-owner-group -Zxz --build "$root" "$file"
    made "$file" "$4" "$(target "$arch" "$5")"
}

for arch in $ARCHES; do
    roots "$arch" "lib/$arch-linux-gnu"
    pack liborbgate1 libs "shared library" orbgate-capi gnu "libc6 (>= 2.17)"
    pack liborbgate-dev libdevel "headers and static library" orbgate-capi gnu "liborbgate1 (= $VERSION)"
    pack orbgate utils "the command" orbgate-cli musl
done
