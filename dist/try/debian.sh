# Runs a program of another processor under qemu, in Debian 12 for it: debian.sh ARCH PROGRAM…, where PROGRAM may be python3.11, java, of
# the oldest version that the package is for, or a path of this machine. Debian's packages are taken once; apt installs nothing.
set -euo pipefail
case $1 in x86_64) debian=amd64 ;; aarch64) debian=arm64 ;; esac
home=$HOME_OF_DIST/debian-$debian root=$HOME_OF_DIST/debian-$debian/root
if [ ! -e "$root" ]; then
    mkdir -p "$home"/{state/lists,cache/archives}/partial "$home/part"
    : > "$home/state/status"
    apt() {
        apt-get --quiet "-oDir::State=$home/state" "-oDir::State::status=$home/state/status" "-oDir::Cache=$home/cache" \
            "-oAPT::Architecture=$debian" "-oAPT::Architectures=$debian" "$@" >&2
    }
    apt update
    # Node needs the library of C++.
    apt --yes --download-only --no-install-recommends install \
        libstdc++6 python3.11-minimal libpython3.11-stdlib openjdk-17-jre-headless
    for package in "$home"/cache/archives/*.deb; do dpkg-deb --extract "$package" "$home/part"; done
    mv "$home/part" "$root" # under its name when everything is there
fi
case $2 in
    python3.11) program=$root/usr/bin/python3.11 ;;
    java) program=$root/usr/lib/jvm/java-17-openjdk-$debian/bin/java ;;
    *) program=$2 ;;
esac
export PYTHONHOME=$root/usr
exec "qemu-$1" -L "$root" -E "LD_LIBRARY_PATH=$root/usr/lib/$1-linux-gnu:$root/lib/$1-linux-gnu" "$program" "${@:3}"
