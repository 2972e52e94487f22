# Python: a wheel for each processor, for every CPython from 3.10 on, and the source archive.
. dist/pack/common.sh
export RUSTFLAGS=$FLAGS
cd bindings/python
for arch in $ARCHES; do
    maturin build --profile published --zig --compatibility manylinux_2_17 --locked --target "$(target "$arch" gnu)" --out "$OUT"
    wheel=$(ls "$OUT"/*_"$arch".whl)
    size=$(stat --format=%s "$wheel")
    # Up to 1.5 MB without the gate, which brings aws-lc: signatures are checked in place.
    [ "$size" -lt 2800000 ] || { echo "$wheel has $size bytes" >&2; exit 1; }
    made "$wheel" orbgate-python "$(target "$arch" gnu)"
done
maturin sdist --out "$OUT"
made "$(ls "$OUT"/*.tar.gz)" orbgate-python
