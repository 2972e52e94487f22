# The Node package, set up as npm does and tested by its own `npm run types` and `npm test`.

node_ready() {
    local major
    major=$(node --print 'process.versions.node.split(".")[0]') || major=0
    [ "$major" -ge 20 ] && npm --version > /dev/null || fail "Node 20 or newer with npm is missing: https://nodejs.org"
}

# Installs a folder's dependencies.
node_packages() {
    node_ready
    (cd "$1" && npm ci --prefer-offline --ignore-scripts --no-audit --no-fund)
}

node_test() {
    local over
    wasm
    library dev
    node_packages bindings/node
    (cd bindings/node && ORBGATE_LIBRARY=$library/$shared npm --silent run types)
    for over in "$library/$shared" "$home/wasm/orbgate.wasm"; do
        (export ORBGATE_LIBRARY=$over ORBGATE_LAYOUT=$PWD/crates/orbgate-capi/layout.tsv && cd bindings/node && npm --silent test)
        ORBGATE_LIBRARY=$over cases node node bindings/node/conformance/conformance.js
    done
    # The package of the module that answers questions.
    (cd crates/orbgate-wasm/npm && ORBGATE_WASM=$home/wasm/orbgate_wasm.wasm npm --silent test)
}

# A program of the package, in `program`: node_program LIBRARY NAME.
node_program() {
    node_packages bindings/node
    program=(env "ORBGATE_LIBRARY=$1" node "$PWD/bindings/node/$2/$2.js")
}

# The explorer's page, one HTML file, at $page, which the command `orbgate explore` serves.
page=$home/explorer/explorer.html
explorer_page() {
    questions
    node_packages explorer
    (cd explorer && npm --silent run types && node build.mjs "$home/wasm/orbgate_wasm.wasm" "$page")
}

# The command with the page in it, as tests build it: in a folder of its own, so that the commands of other steps stay as they are.
explorer_command() {
    explorer_page
    ORBGATE_EXPLORER=$page cargo build -p orbgate-cli --all-features --target-dir "$home/explorer/target"
}
