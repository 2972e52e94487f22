# The C library as a distribution lays it out, and what builds with it. By a script, because cargo-c takes minutes to build, writes no CMake
# package, and knows neither another linker nor an older glibc, which the packages of a release need. Its settings in orbgate-capi's manifest
# are for people who use cargo-c.

# Installs it below a prefix: installed PREFIX PROFILE.
installed() {
    native "$home/install/built" "$2" strip
    bash bindings/c/install/install.sh "$home/install/built" "$1"
}

install_for_users() {
    local prefix
    [ "$(uname)" = Linux ] ||
        fail "only Linux's layout is known here; elsewhere build with \`cargo build --profile published -p orbgate-capi\`"
    installed "$1" published
    prefix=$(realpath "$1")
    echo "installed; to build against it and to load it:
  export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
  cmake -DCMAKE_PREFIX_PATH=$prefix …    # find_package(orbgate CONFIG REQUIRED)
if the loader searches $prefix/lib, \`ldconfig\` instead of LD_LIBRARY_PATH"
}

# Programs build from a prefix that has been moved, in every way there is.
install_test() {
    local at=$home/install example
    apt pkg-config pkg-config
    apt cmake cmake
    compilers
    rm -rf "$at"
    installed "$at/first" dev
    [ "$(tail -n 1 "$at/first/lib/pkgconfig/orbgate.pc")" = "Libs.private: $SYSTEM_LIBRARIES" ] ||
        fail "other system libraries than are known: $at/first/lib/pkgconfig/orbgate.pc"
    mv "$at/first" "$at/moved"
    # As a package of static libraries has it: the linker has no other choice.
    cp -r "$at/moved" "$at/alone"
    find "$at/alone/lib" -name "liborbgate.so*" -delete
    mkdir "$at/programs"
    LINKINGS="shared static" bash dist/try/library.sh "$at/moved" lib "$at/programs"
    LINKINGS=alone bash dist/try/library.sh "$at/alone" lib "$at/programs"
    for example in "$at"/programs/*authorize*; do bindings/c/example/check.sh "$example"; done
    go_shared "$at/moved"
    node_ready
    java_kits
    sh bindings/cpp/example/set_up.sh
    bash dist/try/clone.sh "$at/moved" "$at/clone"
}
