# Go: what users do, where there is Go and, of all other programs, those that they need.
. dist/try/common.sh
module=github.com/orbgate/orbgate/bindings/go guide=bindings/go/README.md
go=$(go env GOROOT)/bin proxy=file://$DIST/go,$(go env GOPROXY)
for tool in cargo rustc gcc cc clang pkg-config; do [ ! -e "$go/$tool" ] || { echo "$go has $tool" >&2; exit 1; }; done

# What a user types in the module's folder. The users share what Go has built. The module is not published: no database knows its digest.
types() {
    (cd "$user/module" && env -i "PATH=$go:$user/bin" "HOME=$user" "GOPATH=$user/gopath" "GOCACHE=$HOME/cache" GOTOOLCHAIN=local \
        "GOPROXY=$proxy" "GONOSUMDB=$module" "$@")
}

# A user with these programs begins a module with the guide's program that decides first, and gets the package as the guide says: that is one line.
begin() {
    user=$HOME/$1
    mkdir -p "$user/bin" "$user/module"
    for program in "${@:2}"; do ln -s "$(command -v "$program")" "$user/bin"; done
    program go $guide > "$user/module/main.go"
    types go mod init example.com/first
    types $(first sh $guide)
}

begin go
answers types go run .
types go build -o conformance $module/conformance
conforms go "$user/module/conformance"

# The service of the guide's ten lines. Node is its issuer, which has made the package's module.
begin service
first go <(protection $guide) > "$user/module/main.go"
first yaml <(protection $guide) > "$user/module/policy.yaml"
types go mod tidy
types go build -o service .
protect=$PWD/dist/try/protect.mjs url=$(asked $guide)
(cd "$user/module" && prints "401 403 200" node "$protect" "$url" read:orders ./service)

# Its sibling for gRPC: neither a call nor a stream passes without a token.
begin grpc
cp dist/try/grpc.go "$user/module/main.go"
first yaml <(protection $guide) > "$user/module/policy.yaml"
first yaml <(protection $guide | sed '1,/^`tokens.yaml`/d') > "$user/module/tokens.yaml"
types $(protection $guide | sed -n 's/^`\(go get [^`]*\)`.*/\1/p')
types go mod tidy
prints "Unauthenticated Unauthenticated" types go run .

# The same with a C compiler and the library that is linked into the program, by the guide's lines; with the modules in `vendor`, too.
for arch in $ARCHES; do
    run=$(emulator "$arch") prefix= build=$(grep --max-count=1 '^go build -tags orbgate_cgo' $guide)
    [ -z "$run" ] || prefix=$arch-linux-gnu- build=$(grep --max-count=1 "^CC=$arch-linux-gnu-gcc " $guide)
    begin "$arch" "${prefix}gcc" "${prefix}as" "${prefix}ld" ${run%% *}
    types $build
    answers types $run ./first
    types ${build% .} -o conformance $module/conformance
    conforms go $run "$user/module/conformance"
    if [ -z "$run" ]; then
        types go mod vendor
        types ${build% .} -o vendored .
        answers types ./vendored
    fi
done
