# The C library and the WebAssembly modules, built for a platform.

# The shared library's file, and its name for programs with the ABI's first number: it stays while old clients work.
shared=liborbgate.so
[ "$(uname)" != Darwin ] || shared=liborbgate.dylib
SONAME=liborbgate.so.1

# What the static library needs of the system on Linux. The compiler is asked each time; this is what it is known to answer.
SYSTEM_LIBRARIES="-lgcc_s -lutil -lrt -lpthread -lm -ldl -lc"

# Where `library` puts it.
library=$home/native/plain

# Builds the C library by a command of cargo's, and puts it where no later build replaces it, without debug information if a program for that
# is named: built FOLDER FROM STRIP COMMAND….
built() {
    local folder=$1 from=$2 strip=$3 soname= file
    mkdir -p "$folder"
    [ "$(uname)" != Linux ] || soname=-Clink-arg=-Wl,-soname,$SONAME
    "${@:4}" -- --print=native-static-libs $soname 2> "$folder/log" || { cat "$folder/log" >&2 && return 1; }
    sed -n 's/.*native-static-libs: //p' "$folder/log" | tail -n 1 > "$folder/system-libraries"
    [ -s "$folder/system-libraries" ] || fail "the compiler did not name the system's libraries"
    "$strip" --version > /dev/null 2>&1 || strip=
    for file in "$shared" liborbgate.a; do
        # A program that has the old one open keeps it: if it changed in place, the program would crash.
        cp "$from/$file" "$folder/new"
        [ -z "$strip" ] || "$strip" --strip-debug "$folder/new"
        mv "$folder/new" "$folder/$file"
    done
    # Programs that are linked with it look for this name.
    cp "$folder/$shared" "$folder/new"
    mv "$folder/new" "$folder/$SONAME"
}

# Builds it for this machine, by cargo's profile `dev`, which is one build for the tests of every language, or `published`, which is what users
# get: native FOLDER PROFILE [STRIP [OPTION…]].
native() (
    alone native
    built "$1" "$TARGET/${2/dev/debug}" "${3:-}" cargo rustc -p orbgate-capi --lib --profile "$2" "${@:4}"
)

library() { native "$library" "$1"; }

# Links a program of C or C++ with it, with our warnings, which are errors: link c|cpp SOURCE PROGRAM [OPTION…].
link() {
    local compiler="cc -std=c11"
    [ "$1" = c ] || compiler="c++ -std=c++17"
    compilers
    mkdir -p "$(dirname "$3")"
    $compiler -Wall -Wextra -Wpedantic -Werror -g -O1 -Ibindings/c/include -Ibindings/cpp/include "${@:4}" "$2" \
        "-L$library" "-Wl,-rpath,$library" -lorbgate -lpthread -o "$3"
}

# Names no folder of this machine in messages of panics: what is built is the same everywhere.
remap() { echo "--remap-path-prefix=$PWD=/orbgate --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"; }

# No system and no imports.
WASM=wasm32-unknown-unknown

# Builds a module, if the sources are newer, optimises it, if it differs, and puts it where bindings have it, which git ignores. What would pass
# the end of its stack, which each instance has, traps: module FILE LEVEL STACK PLACES COMMAND….
module() (
    npm --version > /dev/null || fail "npm is missing, which brings wasm-opt"
    target $WASM
    # Steps of both lanes need it, perhaps at once.
    alone wasm
    mkdir -p "$home/wasm"
    RUSTFLAGS="-Ctarget-feature=+simd128 -Clink-arg=-zstack-size=$3 $(remap)" "${@:5}" --target $WASM
    from=$TARGET/$WASM/$1 to=$home/wasm/${1##*/} place=
    # Binaryen's, which npm carries for every system. It may use what the engines have that are asked to run it.
    if [ ! -e "$to" ] || ! cmp --silent "$from" "${to%.wasm}.built"; then
        npx --yes --package=binaryen@132.0.0 -- wasm-opt --strip-producers "$2" --enable-simd --enable-bulk-memory \
            --enable-nontrapping-float-to-int --enable-sign-ext --enable-mutable-globals --enable-multivalue --enable-reference-types \
            --enable-bulk-memory-opt --enable-call-indirect-overlong "$from" -o "$to"
        cp "$from" "${to%.wasm}.built"
    fi
    # Another step might be reading it.
    for place in $4; do cmp --silent "$to" "$place" || cp "$to" "$place"; done
)

packed() { gzip -9 -n -c "$1" | wc -c; }

# The module that answers questions: core and analysis, small, because pages carry it.
questions() {
    local size
    module wasm-small/orbgate_wasm.wasm -Oz 1048576 "bindings/go/orbgate/orbgate_questions.wasm bindings/node/orbgate_questions.wasm" \
        cargo build -p orbgate-wasm --profile wasm-small
    size=$(packed "$home/wasm/orbgate_wasm.wasm")
    [ "$size" -le 400000 ] || fail "orbgate_wasm.wasm: $size bytes compressed, and at most 400000 are allowed"
}

# The C ABI's module, with gates, and without cryptography, which is in C: their host checks signatures. Languages that carry it also carry the
# other one.
wasm() {
    questions
    module wasm/orbgate.wasm -O3 262144 "bindings/go/orbgate/orbgate.wasm bindings/node/orbgate.wasm" \
        cargo build -p orbgate-capi --no-default-features --features gate --profile wasm
}
