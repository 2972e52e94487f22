# The Go package with each of its engines: the WebAssembly module that it carries, and the C library.

module_of_go=github.com/orbgate/orbgate/bindings/go

# Fails if Go isn't installed, or older than the module requires.
go_ready() { GOWORK=off go -C bindings/go list -m > /dev/null || fail "Go 1.24 or newer is missing: https://go.dev/dl"; }

# The package's library for this machine, and the header: go_library PROFILE. They are in the package's own folder without subfolders, because
# `go mod vendor` copies only the folder with the code.
go_library() {
    case $(uname -sm) in
        "Linux x86_64") archive=liborbgate_linux_amd64.a ;;
        "Linux aarch64") archive=liborbgate_linux_arm64.a ;;
        *) fail "the Go package has the C library for Linux on amd64 and arm64 alone" ;;
    esac
    archive=bindings/go/orbgate/$archive
    compilers
    native "$home/native/go" "$1" strip
    cp bindings/c/include/orbgate.h bindings/go/orbgate
    cp "$home/native/go/liborbgate.a" "$archive"
}

# Go's environment and its options, in `with`, for an engine: go_engine wasm|cgo PROFILE.
go_engine() {
    go_ready
    engine=$1 with=()
    export GOWORK=off CGO_ENABLED=0
    if [ "$engine" = wasm ]; then
        wasm
    else
        go_library "$2"
        export CGO_ENABLED=1
        # Sets a variable that doesn't exist: it differs for each build of the library, which Go ignores when it decides whether to link again.
        with=(-tags=orbgate_cgo "-ldflags=-X=$module_of_go/orbgate.library=$(sha256sum < "$archive" | cut -d ' ' -f 1)")
    fi
}

go_build() { go -C bindings/go build "${with[@]}" -o "$home/go/$1-$engine" "./$1"; }

# A command of the package, in `program`: go_program wasm|cgo NAME PROFILE.
go_program() {
    (
        go_engine "$1" "$3"
        go_build "$2"
    )
    program=("$home/go/$2-$1")
}

# Whether a program loads the shared library when it starts.
has_shared() { readelf --dynamic --wide "$1" | grep --fixed-strings "[$SONAME]" > /dev/null; }

go_race() {
    compilers
    CGO_ENABLED=1 go -C bindings/go test -race "${with[@]}" ./orbgate ./orbgate/gate
}

# Builds for other systems and processors need no C compiler: go_for SYSTEM/PROCESSOR….
go_for() {
    local other
    for other; do GOOS=${other%/*} GOARCH=${other#*/} go -C bindings/go build "${with[@]}" ./...; done
}

go_test() (
    local unformatted
    go_engine "$1" dev
    unformatted=$(cd bindings/go && gofmt -l .)
    [ -z "$unformatted" ] || fail "not formatted: $unformatted"
    go -C bindings/go vet "${with[@]}" ./...
    go -C bindings/go test "${with[@]}" ./...
    # The race detector needs C. Here it checks the engine whose pool is written in Go.
    [ "$1" = cgo ] || go_race
    # A separate module, because the package depends on no framework.
    go -C bindings/go/recipes test "${with[@]}" .
    apt curl curl
    (cd bindings/go && ./guide.sh "$home/go/guide" "${with[@]}")
    go_build conformance
    ! has_shared "$home/go/conformance-$1" || fail "the program has no library in it"
    cases go "$home/go/conformance-$1"
    # These two differ most from Linux on amd64: another system, and a big-endian processor, for which wazero interprets.
    [ "$1" = cgo ] || go_for windows/amd64 linux/s390x
)

# The cases with a shared library installed below a prefix, instead of the package's static one.
go_shared() {
    go_ready
    GOWORK=off CGO_ENABLED=1 PKG_CONFIG_PATH=$1/lib/pkgconfig \
        go -C bindings/go build -tags=orbgate_cgo,orbgate_shared -o "$home/go/shared" ./conformance
    has_shared "$home/go/shared" || fail "not linked with the library"
    LD_LIBRARY_PATH=$1/lib cases go "$home/go/shared"
}
