#!/bin/sh
# Every program in README.md builds and runs, in a module made as the guide says, with the two files of its gate. In this folder: ./guide.sh NEW_FOLDER [OPTIONS OF go run]
set -eu
module=$PWD
home=$1
shift
rm -rf "$home"
mkdir -p "$home"
awk -v home="$home" '
    /^```go$/ { folder = home "/" count++; system("mkdir " folder); file = folder "/main.go"; next }
    /^```yaml$/ && files < 2 { file = home "/" (files++ ? "tokens" : "policy") ".yaml"; next }
    /^```/ { file = "" }
    file { print > file }
    END { exit count < 5 }' README.md
cd "$home"
go mod init guide
go mod edit -replace="github.com/orbgate/orbgate/bindings/go=$module"
go mod tidy
for program in [0-9]*; do
    if grep -q ListenAndServe "$program/main.go"; then
        go build "$@" -o "$program/server" "./$program"
        "$program/server" &
        server=$!
        trap 'kill $server' EXIT
        for _ in 1 2 3 4 5 6 7 8 9 10; do
            status=$(curl --silent --output /dev/null --write-out '%{http_code}' http://127.0.0.1:8080/api/v1/external/orbs) || sleep 1
        done
        kill "$server"
        trap - EXIT
        [ "$status" = 401 ] || { echo "a server answers $status, and not 401" >&2; exit 1; }
    else
        go run "$@" "./$program"
    fi
done
