# What C and C++ see of the library. The tests are CTest's, in `bindings/c/tests/CMakeLists.txt`.

c() {
    compilers
    apt cmake cmake
    # A second compiler sees other errors than the first.
    apt clang++ clang || skip "C and C++: clang++ is missing"
    apt valgrind valgrind || skip "C and C++: valgrind is missing"
    sh bindings/cpp/example/set_up.sh || skip "C and C++: the example of a gate lacks what set_up.sh brings"
    library dev
    native "$home/native/panics" dev "" --features test-panic
    mkdir -p "$home/c"
    # With the features that the step `tests` builds it with.
    cargo build --quiet --workspace --all-features --bin orbgate-generate
    "$TARGET/debug/orbgate-generate" fields-of-c "$home/c/gate_fields.c"
    cmake -S bindings/c/tests -B "$home/c" "-DLIBRARY=$library" "-DPANICS=$home/native/panics"
    cmake --build "$home/c" --parallel 2
    ctest --output-on-failure --no-tests=error --parallel 2 --test-dir "$home/c"
    conformance c cpp
}

# A program of C or C++ over the library, in `program`: c_program c|cpp NAME [OPTION…].
c_program() {
    program=("$home/native/$2-$1")
    link "$1" "bindings/$1/$2/$2.$1" "${program[0]}" "${@:3}"
}
