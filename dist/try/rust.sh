# Rust: the archives build together, in a workspace in which they find each other, with the versions and the profile of ours, so that it
# shares what is built. A release's are also checked one by one, without the features that the others ask for.
. dist/try/common.sh
home=$CARGO_TARGET_DIR/xtask/package
rm -rf "$home" && mkdir -p "$home"
for crate in $CRATES; do
    # With the time of now (--touch): archives have one time for all, and cargo would see no change.
    tar --extract --touch --directory="$home" --file "$DIST/rust/$crate-$VERSION.crate"
    mv "$home/$crate-$VERSION" "$home/$crate"
    # Files, not links that lead out of it, and the right ones.
    for file in LICENSE-APACHE LICENSE-MIT $([ "$crate" != orbgate ] || echo policy/external.yaml); do
        [ ! -L "$home/$crate/$file" ] && cmp "$file" "$home/$crate/$file" || { echo "$crate: $file is not ours" >&2; exit 1; }
    done
done
{
    echo "[workspace]"
    echo "resolver = \"3\""
    echo "members = [$(printf '"%s", ' $CRATES)]"
    echo "[patch.crates-io]"
    printf '%s = { path = "%s" }\n' $(for crate in $CRATES; do echo "$crate $crate"; done)
    awk '/^\[/ { on = /^\[profile\.dev/ } on' Cargo.toml
} > "$home/Cargo.toml"
cp Cargo.lock "$home"
cd "$home"
cargo check --workspace --all-features
[ -n "$QUICK" ] || for crate in $CRATES; do cargo check --package "$crate"; done
