#!/bin/sh
# What the example must answer, PROGRAM: a bare refusal, and only to those who lack the scope.
set -eu
program=$1

answers() { # STATUS HEADERS METHOD [KIND SCOPES]
    expected="HTTP/1.1 $1\r\nContent-Length: 0\r\n$2\r\n"
    method=$3
    shift 3
    actual=$("$program" "$method" /api/v1/external/orbs "$@" && echo fine)
    [ "$actual" = "$(printf "$expected" && echo fine)" ] || {
        echo "$method $*: $actual" >&2
        exit 1
    }
}

answers "403 Forbidden" "" GET user "read:store write:store"
answers "401 Unauthorized" "WWW-Authenticate: Bearer\r\n" GET
answers "401 Unauthorized" 'WWW-Authenticate: Bearer error="invalid_token"\r\n' GET robot read:orbs
answers "405 Method Not Allowed" "Allow: GET\r\n" PUT user read:orbs
case $("$program" GET /api/v1/external/orbs user "read:store read:orbs" && echo fine) in
"HTTP/1.1 200 OK"*"consumes orbs"*fine) ;;
*) echo "not a 200 that names the charge" >&2 && exit 1 ;;
esac
