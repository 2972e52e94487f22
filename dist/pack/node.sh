# Node: the package, and for each platform a package with the library; npm installs the one that fits. And the package for pages.
. dist/pack/common.sh
node_arch() { case $1 in x86_64) echo x64 ;; aarch64) echo arm64 ;; esac; }
pack() { npm pack --silent --ignore-scripts --pack-destination "$OUT" "./$1"; }
cd "$STAGE"

for arch in $ARCHES; do
    for libc in $LIBCS; do
        platform=linux-$(node_arch "$arch")-$libc
        mkdir "$platform"
        cp "$ROOT"/LICENSE-* "$BUILT/$arch-linux-$libc/liborbgate.so" "$platform"
        echo "The library of the package \`orbgate\` for $platform. Install \`orbgate\`, which brings it." > "$platform/README.md"
        jq --null-input --arg platform "$platform" --arg cpu "$(node_arch "$arch")" --arg libc "${libc/gnu/glibc}" --arg version "$VERSION" '{
            name: "@orbgate/\($platform)", version: $version, description: "The library of the package orbgate for \($platform)",
            license: "MIT OR Apache-2.0", repository: { type: "git", url: "git+https://github.com/orbgate/orbgate.git" },
            os: ["linux"], cpu: [$cpu], libc: [$libc], files: ["liborbgate.so", "LICENSE-*"], preferUnplugged: true
        }' > "$platform/package.json"
        pack "$platform"
        made "$OUT/orbgate-$platform-$VERSION.tgz" orbgate-capi "$(target "$arch" "$libc")"
    done
done

# A machine takes the package of its own platform, and a machine of another platform takes none.
mkdir orbgate
tar --create --exclude=node_modules --dereference --directory="$ROOT/bindings/node" . | tar --extract --directory=orbgate
cp "$BUILT/orbgate.wasm" "$BUILT/orbgate_questions.wasm" orbgate
jq --arg version "$VERSION" '.optionalDependencies = ([("arm64", "x64") as $cpu | ("gnu", "musl") as $libc
    | { "@orbgate/linux-\($cpu)-\($libc)": $version }] | add) + .optionalDependencies' "$ROOT/bindings/node/package.json" > orbgate/package.json
pack orbgate
koffi=$(jq --raw-output '.packages["node_modules/koffi"].version' orbgate/package-lock.json)
made "$OUT/orbgate-$VERSION.tgz" orbgate-capi wasm32-unknown-unknown "pkg:npm/koffi@$koffi"

# The module that answers questions, as a package of its own for pages.
cp --recursive --dereference "$ROOT/crates/orbgate-wasm/npm" orbgate-wasm
cp "$ROOT"/LICENSE-* "$ROOT/crates/orbgate-wasm/README.md" orbgate-wasm
cp "$BUILT/orbgate_questions.wasm" orbgate-wasm/orbgate_wasm.wasm
pack orbgate-wasm
made "$OUT/orbgate-wasm-$VERSION.tgz" orbgate-wasm wasm32-unknown-unknown
