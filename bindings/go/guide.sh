#!/bin/sh
# Every program in README.md builds and runs, in a module made as the guide says. In this folder: ./guide.sh NEW_FOLDER [OPTIONS OF go run]
set -eu
module=$PWD
home=$1
shift
rm -rf "$home"
mkdir -p "$home"
awk -v home="$home" '
    /^```go$/ { folder = home "/" count++; system("mkdir " folder); file = folder "/main.go"; next }
    /^```/ { file = "" }
    file { print > file }
    END { exit count < 4 }' README.md
cd "$home"
go mod init guide
go mod edit -replace="github.com/orbgate/orbgate/bindings/go=$module"
go mod tidy
for program in [0-9]*; do
    go run "$@" "./$program"
done
