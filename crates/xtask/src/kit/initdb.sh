#!/bin/sh
# Runs the newest `initdb` of Debian's packages.
for initdb in /usr/lib/postgresql/*/bin/initdb; do :; done
exec "$initdb" "$@"
