# Python: in a new environment of the oldest and of the newest one, the wheel alone, without an index to look into.
. dist/try/common.sh
program python bindings/python/README.md > first.py
cases=bindings/python/conformance/conformance.py
for python in $PYTHONS; do
    "$python" -m venv --clear venv
    venv/bin/python -m pip install --quiet --disable-pip-version-check --no-index "$DIST"/python/*_"$(uname -m)".whl
    prints "" venv/bin/python first.py
    conforms python venv/bin/python "$cases"
done
for arch in ${ARCHES//$(uname -m)/}; do
    python3 -m zipfile --extract "$DIST"/python/*_"$arch".whl wheel
    export PYTHONPATH=$HOME/wheel
    prints "" bash dist/try/debian.sh "$arch" python3.11 first.py
    conforms python bash dist/try/debian.sh "$arch" python3.11 "$cases"
done
