#!/bin/sh
# Installs Debian's packages where a probe fails, if this user may; fails where it still does: apt.sh PROBE PACKAGE…
probe=$1
shift
has() { sh -c "$probe" > /dev/null 2>&1; }
! has || exit 0
if [ "$(id -u)" = 0 ] && apt-get --version > /dev/null 2>&1; then
    export DEBIAN_FRONTEND=noninteractive
    # The list of packages may be good enough as it is.
    apt-get --quiet --yes update || :
    apt-get --quiet --yes install --no-install-recommends "$@" || :
fi
has || { printf '`%s` fails: apt-get install %s\n' "$probe" "$*" >&2; exit 1; }
