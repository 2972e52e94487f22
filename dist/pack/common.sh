# What the packers share. Each is told, by the file RELEASE and by `make.sh`: VERSION; ARCHES and LIBCS, the platforms; BUILT, what was built
# for each; OUT, the folder of its artefacts; STAGE, an empty folder to put them together in; MADE, the list of what is made; QUICK, in the
# tests' steps, which take what other steps have built.
set -euo pipefail

# Debian's and Go's name of a processor.
debian() { case $1 in x86_64) echo amd64 ;; aarch64) echo arm64 ;; esac; }

target() { echo "$1-unknown-linux-$2"; }

targets() { for arch in $ARCHES; do for libc in $LIBCS; do target "$arch" "$libc"; done; done | xargs; }

# Notes an artefact: made FILE [CRATE [TARGETS [NEEDS]]], the crate and the targets that it was built from, and what it needs that is not
# Rust's, as package URLs.
made() { echo "$1|${2:-}|${3:-}|${4:-}" >> "$MADE"; }

# Packs a folder of the stage: sorted, owned by root, with the commit's time.
archive() {
    tar --create --format=ustar --sort=name --owner=0 --group=0 --numeric-owner --mode=a+rX,u+w,go-w --mtime="@$SOURCE_DATE_EPOCH" \
        --use-compress-program='gzip -9 -n' --file="$OUT/$1.tar.gz" --directory="$STAGE" "$1"
}

# Puts the command for a processor under a prefix, with what shells and `man` look for there: this machine can print it.
put_command() {
    local share=$2/share here
    here=$BUILT/$(uname -m)/orbgate
    mkdir -p "$2/bin" "$share/man/man1" "$share/bash-completion/completions" "$share/zsh/site-functions" "$share/fish/vendor_completions.d"
    cp "$BUILT/$1/orbgate" "$2/bin"
    "$here" manual "$share/man/man1"
    "$here" completions bash > "$share/bash-completion/completions/orbgate"
    "$here" completions zsh > "$share/zsh/site-functions/_orbgate"
    "$here" completions fish > "$share/fish/vendor_completions.d/orbgate.fish"
}

# The files of the three packages of a distribution, each below a root of its own: roots ARCH LIB.
roots() {
    local development=$STAGE/liborbgate-dev/usr library=$STAGE/liborbgate1/usr/$2
    rm -rf "${STAGE:?}"/*
    bindings/c/install/install.sh "$BUILT/$1-linux-gnu" "$development" "$2"
    mkdir -p "$library"
    mv "$development/$2"/liborbgate.so.1* "$library"
    put_command "$1" "$STAGE/orbgate/usr"
    for package in liborbgate1 liborbgate-dev orbgate; do
        mkdir -p "$STAGE/$package/usr/share/doc/$package"
        cp LICENSE-* "$STAGE/$package/usr/share/doc/$package"
    done
    chmod -R u=rwX,go=rX "$STAGE"
}
