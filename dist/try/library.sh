#!/usr/bin/env bash
# Programs build from an installed C library as its guide says, and run: library.sh PREFIX LIB FOLDER, which gets the programs. CC and CXX
# are compilers for another platform, RUN runs its programs. LINKINGS are `shared`, `static`, by the guide's two lines, and `alone`: where
# there is no shared library, or in programs that are all static.
. dist/try/common.sh
prefix=$(realpath "$1") lib=$2 home=$(realpath "$3")
location=-DCMAKE_PREFIX_PATH=$prefix
[ "$lib" = lib64 ] && location=-Dorbgate_DIR=$prefix/$lib/cmake/orbgate # Debian's CMake does not look there
export PKG_CONFIG_PATH=$prefix/$lib/pkgconfig

# Fails where a program has the other library: has LINKING PROGRAM.
has() {
    local needed=static
    ! readelf --dynamic --wide "$2" | grep '\[liborbgate\.so\.' > /dev/null || needed=shared
    [ "$needed" = "${1/alone/static}" ] || { echo "$2 has the $needed library" >&2; return 1; }
}

build() { # LINKING LANGUAGE SOURCE PROGRAM
    local line compiler="${CC:-cc} -std=c11"
    [ "$2" = cpp ] && compiler="${CXX:-c++} -std=c++17"
    case $1 in
        shared) line=$(grep -m 1 '^cc program.c \$' bindings/c/README.md) ;;
        static) line=$(grep -m 1 '^cc program.c -Wl' bindings/c/README.md) ;;
        alone) line='cc program.c $(pkg-config --cflags --libs --static orbgate) -o program' ;;
    esac
    line=${line%%#*}
    line=${line/#cc program.c/$compiler $3}
    line=${line/-o program/-Wall -Wextra -Wpedantic -Werror -Wl,-rpath,$prefix/$lib -o $4}
    echo "$ $line"
    eval "$line"
    has "$1" "$4"
}

for linking in ${LINKINGS:-shared static}; do
    for language in c cpp; do
        program "$language" "bindings/$language/README.md" > "$home/first.$language"
        build "$linking" "$language" "$home/first.$language" "$home/first"
        answers ${RUN:-} "$home/first"
        build "$linking" "$language" "bindings/$language/conformance/conformance.$language" "$home/conformance"
        conforms "$language" ${RUN:-} "$home/conformance"
        build "$linking" "$language" "bindings/$language/example/authorize.$language" "$home/authorize-$linking-$language"
        prints $'HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\nAllow: GET\r\n\r' \
            ${RUN:-} "$home/authorize-$linking-$language" PUT /api/v1/external/orbs user read:orbs
        if [ -z "${CC:-}" ]; then # CMake, for this machine
            folder=$home/cmake-$linking-$language static=OFF
            [ "$linking" = shared ] || static=ON
            cmake -S "bindings/$language/example" -B "$folder" "$location" -DSTATIC=$static
            cmake --build "$folder"
            has "$linking" "$folder/authorize"
            mv "$folder/authorize" "$folder-authorize"
        fi
    done
done
