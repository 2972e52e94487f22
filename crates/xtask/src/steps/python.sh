# The Python package, built once and tested as users have it, installed. The sessions are nox's, in `bindings/python/noxfile.py`; here is what
# finds the Pythons and sets up nox.

# The Pythons of the machine that the package is for, one of each version, the oldest first: on the path, and pyenv's. The wheel is for the
# stable interface, which Pythons without a lock do not have yet.
pythons() {
    local python
    for python in python3.{10..15} ~/.pyenv/versions/*/bin/python python3; do
        "$python" -c "import sys, sysconfig as c
if sys.implementation.name == 'cpython' and sys.version_info >= (3, 10) and not c.get_config_var('Py_GIL_DISABLED'):
    print(sys.version_info[1], sys.executable)" 2> /dev/null || :
    done | sort --numeric-sort --stable --unique --key 1,1 | cut -d ' ' -f 2-
}

# Nox, and maturin and uv, in an environment of their own, in `tools`. Programs are looked for there first, then among the Pythons.
nox_set_up() {
    apt "python3 -m ensurepip" python3 python3-venv
    bin=bin
    [ "${OS:-}" != Windows_NT ] || bin=Scripts
    tools=$home/python/tools/$bin
    mapfile -t interpreters < <(pythons)
    [ -n "${interpreters[*]}" ] || fail "no Python from 3.10 on"
    "$tools/pip" --version > /dev/null 2>&1 || "${interpreters[-1]}" -m venv --clear "$home/python/tools"
    "$tools/pip" install --quiet -r bindings/python/tools.txt
    nox_path=$tools:$(printf '%s\n' "${interpreters[@]}" | xargs -d '\n' dirname | paste -s -d :):$PATH
}

# Sessions, in new environments: nox_session NAME… [OPTION…].
nox_session() { (cd bindings/python && PATH=$nox_path nox --envdir "$home/python/envs" --session "$@"); }

# Builds the wheel by a profile of cargo's.
python_wheel() {
    if [ "$1" = dev ]; then
        nox_session wheel -- --profile dev
    else
        # All files of all archives have one time, so cargo would take what an earlier archive gave for fresh.
        crates
        cargo clean --quiet --profile published -p orbgate-python $crates
        nox_session wheel
    fi
}

# All but the package's long tests in the newest Python of the machine, and those of the native module in the others.
python_test() {
    nox_set_up
    apt valgrind valgrind || skip "Python's tests with valgrind: it is missing"
    apt "minisign -v" minisign || skip "Python's tests with minisign: it is missing"
    # The package's answers are held to the command's, and the tutorial runs the gateway.
    $command --test gateway
    python_wheel dev
    nox_session tests
    ORBGATE_COMMAND=$TARGET/debug/orbgate nox_session everything -- "-m=not published and not long"
    cases python env PYTHONDONTWRITEBYTECODE=1 "$home/python/envs/everything/$bin/python" bindings/python/conformance/conformance.py
}

# The wheel of a release: all tests in every Python but the newest, the oldest frameworks, size, speed, and the long tests.
python_others() {
    nox_set_up
    apt chromium chromium
    # The report's test shows a page in each of these.
    packages "fc-list -q 'Liberation Sans' && fc-list -q 'DejaVu Sans'" fontconfig fonts-liberation fonts-dejavu-core || :
    java_kits
    [ -n "$spark" ] || fail "the tests with Spark: Java 17 or 21 is missing"
    python_wheel published
    JAVA_HOME=$spark nox_session tests oldest long -- every
}

# A script of the package, with the package installed in the newest Python, in `program`: python_program NAME PROFILE.
python_program() {
    nox_set_up
    python_wheel "$2"
    nox_session installed
    program=(env PYTHONDONTWRITEBYTECODE=1 "$home/python/envs/installed/$bin/python" "$PWD/bindings/python/$1/$1.py")
}
