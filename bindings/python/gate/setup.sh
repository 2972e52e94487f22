#!/bin/sh
# Installs the package of this checkout, built without optimisation or by PROFILE, and what the gate programs serve with. At the root.
set -e
profile=${PROFILE:-dev}
home=target/xtask/gate-python
[ -x $home/bin/python ] || python3 -m venv $home
$home/bin/pip install --quiet --disable-pip-version-check -r bindings/python/gate/requirements.txt
cargo build --quiet -p orbgate-python --profile $profile
[ $profile = dev ] && folder=debug || folder=$profile
site=$($home/bin/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
rm -rf "$site/orbgate"
cp -R bindings/python/python/orbgate "$site"
cp target/$folder/liborbgate_python.so "$site/orbgate/_native.abi3.so"
