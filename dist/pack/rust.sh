# Rust: the archive of each published crate, as `cargo publish --workspace` uploads it.
. dist/pack/common.sh
for crate in $CRATES; do packages+=(--package "$crate"); done
# Verified by the trial: cargo would build what they share once for each, in a folder of its own.
cargo package --allow-dirty --no-verify "${packages[@]}"
for crate in $CRATES; do
    cp "$CARGO_TARGET_DIR/package/$crate-$VERSION.crate" "$OUT"
    made "$OUT/$crate-$VERSION.crate" "$crate"
done
