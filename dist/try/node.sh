# Node: in a new project, from the packed files; no script runs, and nothing is built. Once more without optional packages, so the library
# is WebAssembly, as on every other platform; and then for other processors.
. dist/try/common.sh
cpu() { case $1 in x86_64) echo x64 ;; aarch64) echo arm64 ;; esac; }

try() { # OPTIONS PACKAGES NODE…
    local packages=() package
    for package in $2; do packages+=("$DIST/node/$package-$VERSION.tgz"); done
    rm -rf project && mkdir project
    echo '{ "private": true }' > project/package.json
    (cd project && npm install --ignore-scripts --no-audit --no-fund --prefer-offline $1 "${packages[@]}")
    program js bindings/node/README.md > project/first.mjs
    cp bindings/node/conformance/conformance.js project
    answers "${@:3}" project/first.mjs
    conforms node "${@:3}" project/conformance.js
}

try "" "orbgate orbgate-linux-$(cpu "$(uname -m)")-gnu" node
[ -e project/node_modules/koffi ]
# The service of the guide's ten lines, with its policy and the Express that npm brings.
guide=bindings/node/README.md
first js <(protection $guide) > project/service.mjs
first yaml <(protection $guide) > project/policy.yaml
(cd project && npm install --ignore-scripts --no-audit --no-fund --prefer-offline express)
url=$(asked $guide)
(cd project && prints "401 403 200" node ../dist/try/protect.mjs "$url" read:orbs node service.mjs)
try --omit=optional orbgate node
[ ! -e project/node_modules/koffi ]
# The package for pages.
rm -rf project && mkdir project
echo '{ "private": true }' > project/package.json
(cd project && npm install --ignore-scripts --no-audit --no-fund --prefer-offline "$DIST/node/orbgate-wasm-$VERSION.tgz")
cat > project/questions.mjs << 'PROGRAM'
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Orbgate } from "orbgate-wasm";

const module = readFileSync(fileURLToPath(import.meta.resolve("orbgate-wasm/orbgate_wasm.wasm")));
const orbgate = new Orbgate(await WebAssembly.compile(module));
const engine = orbgate.load(readFileSync("policy/external.yaml", "utf8"));
console.log(engine.ask("reach", { token: { kind: "user", scopes: "read:orbs" } }).allowed.map(({ route }) => route).join(", "));
PROGRAM
prints "GET /api/v1/external/orbs, GET /api/v1/external/orbs/offers" node project/questions.mjs
for arch in ${ARCHES//$(uname -m)/}; do
    # npm has Node itself for each processor: the oldest that the package is for.
    folder=$HOME_OF_DIST/node-$(cpu "$arch")
    if [ ! -e "$folder/package/bin/node" ]; then
        mkdir -p "$folder"
        npm pack --silent --pack-destination "$folder" "node-linux-$(cpu "$arch")@20"
        tar --extract --directory "$folder" --file "$folder"/node-linux-*.tgz
    fi
    # Forced, because npm installs a package for another processor only if it is optional.
    try "--force --os=linux --libc=glibc --cpu=$(cpu "$arch")" "orbgate orbgate-linux-$(cpu "$arch")-gnu" \
        bash dist/try/debian.sh "$arch" "$folder/package/bin/node"
done
