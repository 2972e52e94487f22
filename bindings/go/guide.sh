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
# The output that the guide shows for its three calls, and the length that it promises.
shown=$(awk '/^\$ call / { on = 1; next } /^```/ { on = 0 } on && !/^\$/' README.md)
[ "$(sed -n '/^func main() {$/,/^}$/p' "$home/0/main.go" | wc -l)" -le 12 ]
cd "$home"
issuer=
trap 'kill $issuer' EXIT
# As the guide's example: the answer to a call with this bearer token.
call() { curl --silent --write-out '%{http_code}\n' --header "Authorization: Bearer $1" "http://127.0.0.1:$port/orders" || :; }
# The status and the allowed origin of a browser's question about this path.
preflight() {
    curl --silent --output /dev/null --write-out '%{http_code} %header{access-control-allow-origin}' --request OPTIONS \
        --header 'Origin: https://app.example.com' --header 'Access-Control-Request-Method: GET' "http://127.0.0.1:$port$1" || :
}
token() { curl --silent "http://$address/token?scope=$1"; }
go mod init guide
go mod edit -replace="github.com/orbgate/orbgate/bindings/go=$module"
go mod tidy
go build "$@" -o issue github.com/orbgate/orbgate/bindings/go/orbgate/gate/gatetest/issuer
./issue 0 2> issued &
issuer=$!
while ! grep -q tokens.yaml issued; do
    kill -0 $issuer
    sleep 0.1
done
address=$(sed -n 's#.*http://\([^/]*\)/token?.*#\1#p' issued)
curl --silent --fail --output tokens.yaml "http://$address/tokens.yaml"
for program in [0-9]*; do
    if grep -q ListenAndServe "$program/main.go"; then
        # On a free port: if a server ends at once, another program has its port.
        port=$((20000 + $$ % 10000)) last=$((20020 + $$ % 10000)) status=
        mkdir "$program/on_port"
        while [ -z "$status" ] && [ "$port" -lt "$last" ]; do
            port=$((port + 1))
            ! curl --silent --output /dev/null "http://127.0.0.1:$port" || continue
            sed "s/127\.0\.0\.1:8080/127.0.0.1:$port/" "$program/main.go" > "$program/on_port/main.go"
            go build "$@" -o "$program/server" "./$program/on_port"
            "$program/server" &
            server=$!
            trap 'kill $server $issuer' EXIT
            while [ -z "$status" ] && kill -0 "$server" 2> /dev/null; do
                sleep 0.1
                status=$(curl --silent --output /dev/null --write-out '%{http_code}' "http://127.0.0.1:$port/api/v1/external/orbs") || status=
            done
            if [ "$status" = 401 ] && grep -q "GET /orders" "$program/main.go"; then
                status=$(call none; call "$(token write:orders)"; call "$(token read:orders)")
                [ "$status" != "$shown" ] || status=401
                if grep -q "GET /healthz" "$program/main.go"; then
                    actual="$(curl --silent "http://127.0.0.1:$port/healthz"), $(preflight /orders), $(preflight /nowhere)"
                    [ "$actual" = "fine, 204 https://app.example.com, 401 https://app.example.com" ] || status=$actual
                    recipes=run
                fi
            fi
            kill "$server" 2> /dev/null || :
            trap 'kill $issuer' EXIT
        done
        [ "$status" = 401 ] || { echo "a server answers $status, and not 401" >&2; exit 1; }
    else
        go run "$@" "./$program"
    fi
done
[ "${recipes:-}" = run ] || { echo "no server has a health check" >&2; exit 1; }
