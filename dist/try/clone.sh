# The table of bindings/README.md: clone.sh PREFIX FOLDER builds the service of each guide by the table's commands, next to this working tree and
# over the library below PREFIX, and asks it. Python's takes minutes to build: the step `python` has the package and its guide.
. dist/try/common.sh
prefix=$(realpath "$1") home=$2 protect=$PWD/dist/try/protect.mjs
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
rm -rf "$home" && mkdir -p "$home" && ln -s "$PWD" "$home/orbgate"

# The commands of a language: row LANGUAGE.
row() { sed -n '/^## Start from a clone/,/^## [^S]/p' bindings/README.md | grep -F "| [$1](" | cut -d '`' -f 2; }

# What a service answers without a token, with a wrong one and with the right one: try LANGUAGE GUIDE FENCE FILE PATH SCOPE EXPECTED. With the
# scope `-`, it prints both.
try() (
    commands=$(row "$1") guide=$PWD/$2
    port=$(node -e 'const server = net.createServer().listen(0, "127.0.0.1", () => { console.log(server.address().port); server.close(); })')
    mkdir -p "$home/$1/src" && cd "$home/$1"
    first "$3" "$guide" | sed "s/8080/$port/" > "$4"
    first yaml "$guide" > policy.yaml
    [ "$1" != Rust ] || { manifest "$guide" && cargo build --quiet; }
    echo "$ $commands"
    [[ $commands != *' && '* ]] || bash -euc "${commands% && *}"
    prints "$7" node "$protect" "http://127.0.0.1:$port$5" "$6" bash -c "exec ${commands##* && }"
)

# The guide's dependencies, in a project that shares what is built: as in the step `embed`.
manifest() {
    printf '[workspace]\n[package]\nname = "shop"\nedition = "2024"\n' > Cargo.toml
    { first toml "$1" | sed "s,\.\./orbgate,$(realpath ../orbgate),"; awk '/^\[/ { on = /^\[profile\.dev/ } on' ../orbgate/Cargo.toml; } >> Cargo.toml
    cp ../orbgate/Cargo.lock .
}

try Rust crates/orbgate-tower/README.md rust,no_run src/main.rs /api/v1/external/orbs - "401 403 200"
try Node.js bindings/node/README.md js service.mjs /api/v1/orbs read:orbs "401 403 200"
try Go bindings/go/README.md go main.go /orders read:orders "401 403 200"
try Java bindings/java/README.md java Protected.java /orbs - "401 403 204"
try C++ bindings/cpp/README.md cpp service.cpp /orders read:orders "401 403 200"
commands=$(row C)
mkdir "$home/C" && cd "$home/C"
bash -euc "$commands" | grep -a '^HTTP/1.1 200 OK'
