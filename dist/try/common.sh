# What the trials share: the program of a guide that decides first, and all cases.
set -euo pipefail

# The first example of a guide in a language: first LANGUAGE GUIDE.
first() { awk -v fence="\`\`\`$1" '$0 == "```" && on { exit } on; $0 == fence { on = 1 }' "$2"; }

# The program of a guide that decides first: program LANGUAGE GUIDE.
program() { first "$1" <(sed -n "/^## A first decision/,\$p" "$2"); }

# The section of a guide that protects a service: protection GUIDE.
protection() { sed -n '/^## Protect a service/,$p' "$1"; }

# What a guide asks for its service by curl: asked GUIDE.
asked() { protection "$1" | sed -nE 's/^\$ (curl -i|call\(\) .*) (http:[^ ;]*).*/\2/p' | head -n 1; }

# Fails if a program prints anything else: prints EXPECTED PROGRAM….
prints() {
    local printed
    echo "$ ${*:2}"
    printed=$("${@:2}")
    diff <(echo "$1") <(echo "$printed")
    echo "$printed"
}

# What the program of each guide that decides first prints.
answers() { prints "allowed, and consumes orbs" "$@"; }

# Puts all cases to a program of a language: conforms LANGUAGE PROGRAM….
conforms() {
    echo "$ $*"
    python3 policy/cases/run.py "$@"
}

# What runs programs of a processor: qemu, if it is not this one.
emulator() { [ "$1" = "$(uname -m)" ] || echo "qemu-$1 -L /usr/$1-linux-gnu"; }

# Programs build with the library that is below a prefix: with_library ARCH LIBC PREFIX LIB.
with_library() {
    local programs zig
    programs=$(mktemp --directory "$HOME/programs-XXXXXX")
    # Debian's compiler for musl has glibc's unwinder. Zig's has musl's, for every processor.
    zig="$HOME_OF_DIST/tools/bin/python -m ziglang"
    export RUN CC= CXX= LINKINGS= ZIG_GLOBAL_CACHE_DIR=$HOME_OF_DIST/zig
    RUN=$(emulator "$1")
    [ -z "$RUN" ] || CC=$1-linux-gnu-gcc CXX=$1-linux-gnu-g++
    [ "$2" = gnu ] || CC="$zig cc -static -target $1-linux-musl" CXX="$zig c++ -static -target $1-linux-musl" LINKINGS=alone
    bash dist/try/library.sh "$3" "$4" "$programs"
}

# The command answers the first example of its guide as is shown there: decides PROGRAM….
decides() {
    local shown words
    shown=$(first console crates/orbgate-cli/README.md)
    words=$(head -n 1 <<< "$shown")
    prints "$(tail -n +2 <<< "$shown")" "$@" ${words#'$ orbgate '}
}
