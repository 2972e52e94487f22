#!/usr/bin/env bash
# Puts the C library below a prefix as distributions lay it out: install.sh BUILT PREFIX [LIB]. BUILT has liborbgate.so, liborbgate.a and
# system-libraries, a line of what the static one needs; LIB may be a deeper folder than lib.
set -euo pipefail
built=$1 prefix=$2 lib=${3:-lib}
bindings=$(realpath "$(dirname "$0")/../..")
header=$bindings/c/include/orbgate.h

stated() { sed -n "s/^#define ORBGATE_$1 \"\?\([^\"]*\)\"\?$/\1/p" "$header"; }
version=$(stated VERSION) soname=liborbgate.so.$(stated ABI_MAJOR)
shared=$soname.$(stated ABI_MINOR).0
up=$(sed 's,[^/]\+,..,g' <<< "$lib/pkgconfig") # back to the prefix
system=$(< "$built/system-libraries")

mkdir -p "$prefix/include" "$prefix/$lib/pkgconfig" "$prefix/$lib/cmake/orbgate"
cp "$bindings/c/include/"*.h "$bindings/cpp/include/"*.hpp "$prefix/include"
cp "$built/liborbgate.a" "$prefix/$lib"
cp "$built/liborbgate.so" "$prefix/$lib/$shared"
ln -s -f -n "$shared" "$prefix/$lib/$soname"
ln -s -f -n "$soname" "$prefix/$lib/liborbgate.so"

# The files by which pkg-config and CMake find it.
fill() { # TEMPLATE SYSTEM_LIBRARIES FOLDER
    IFS=. read -r major minor _ <<< "$version"
    sed "s,@LIB@,$lib,g; s,@UP@,$up,g; s,@VERSION@,$version,g; s,@MAJOR@,$major,g; s,@MINOR@,$minor,g
        s,@SHARED@,$shared,g; s,@SONAME@,$soname,g; s,@SYSTEM_LIBRARIES@,$2,g" "$bindings/c/install/$1.in" > "$prefix/$lib/$3/$1"
}
fill orbgate.pc "$system" pkgconfig
fill orbgateConfig.cmake "$(sed 's/-l//g; s/ /;/g' <<< "$system")" cmake/orbgate # CMake takes a list
fill orbgateConfigVersion.cmake "" cmake/orbgate
