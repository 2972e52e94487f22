# Everything that a release publishes, in `target/dist`, with its digests and bills of materials: here is what builds the binaries; the scripts in
# `dist/` pack them and try the packages. Our own code, because cargo-dist and goreleaser only make archives of commands. No tool covers the
# rest: libraries for an old glibc and for musl in the packages of seven languages, trials without Rust, and reproducible bytes.

# Whether one of these forms is asked for.
wants() {
    local form
    for form; do
        case " $forms " in *" $form "*) return 0 ;; esac
    done
    return 1
}

# What is packed, for these processors, and tried if TRY says so. With QUICK it is what the other steps have built, which is only for this machine:
# dist QUICK TRY ARCHES FORM….
dist() {
    quick=$1 try=$2 arches=$3 forms=${*:4}
    at=$home/dist to=$TARGET/dist ready=$home/dist/built told=$home/dist/release.env
    [ -z "$quick" ] || to=$at/quick ready=$at/built-quick told=$at/quick.env
    # Steps of both lanes pack into that folder, one after another: as long as this shell runs.
    if [ -n "$quick" ] && command -v flock > /dev/null; then
        exec 8> "$home/dist.lock"
        flock 8
    fi
    tools=$at/tools/bin
    # Sources without their history can be tried, not published.
    commit=$(git rev-parse HEAD || { [ -n "$quick" ] && echo unknown; })
    # When the commit was made: the time of every file in every artefact.
    epoch=$(git log -1 --format=%ct || { [ -n "$quick" ] && echo 1577836800; })
    dist_programs
    [ -n "$quick" ] || dist_compilers
    dist_tell
    dist_libraries
    if wants command deb rpm; then dist_commands; fi
    if wants node go; then
        wasm
        cp "$home/wasm/orbgate.wasm" "$ready"
        cp "$home/wasm/orbgate_wasm.wasm" "$ready/orbgate_questions.wasm"
    fi
    RELEASE=$told bash dist/make.sh $forms
    [ -z "$try" ] || RELEASE=$told bash dist/try.sh $forms
}

# The same, and then once more from a clone, by XTASK, with these options of its own: dist_twice TRY ARCHES FORMS OPTION….
dist_twice() {
    local status
    status=$(git status --porcelain)
    [ -z "$status" ] || fail "commit first: a clone has what is committed: $status"
    rm -rf "$TARGET/dist"
    dist "" "$1" "$2" $3
    RELEASE=$told bash dist/verify.sh "$XTASK" dist "${@:4}"
}

# Sets up the programs that packers and trials need, before anything is built.
dist_programs() {
    apt tar tar
    apt jq jq
    mkdir -p "$ready"
    if wants deb; then apt dpkg-deb dpkg; fi
    if wants rpm; then
        apt rpmbuild rpm
        apt cpio cpio
    fi
    if [ -n "$try" ] && wants c deb rpm go; then
        compilers
        apt pkg-config pkg-config
        apt cmake cmake
    fi
    if [ -n "$try" ] && [ -z "$quick" ]; then
        apt aarch64-linux-gnu-g++ g++-aarch64-linux-gnu libc6-dev-arm64-cross
        apt buildah buildah
        apt qemu-aarch64 qemu-user
    fi
    if wants node; then node_ready; fi
    if wants go; then go_ready; fi
    if wants rust; then
        cargo publish --help | grep -e --workspace > /dev/null ||
            fail "packages that depend on each other need Rust 1.90 or newer: rustup update"
    fi
}

# Sets up what builds for older and other systems than this one: `zig cc` has every glibc and musl in it.
dist_compilers() {
    local arch libc
    apt "python3 -m venv --help" python3-venv
    for arch in $arches; do
        # It reads any object of its processor, for every C library.
        apt "$arch-linux-gnu-strip" "binutils-${arch/_/-}-linux-gnu"
        for libc in gnu musl; do target "$arch-unknown-linux-$libc"; done
    done
    "$tools/cargo-zigbuild" --version > /dev/null 2>&1 || {
        python3 -m venv "$at/tools"
        "$tools/pip" install --quiet ziglang==0.17.1 cargo-zigbuild==0.24.0 maturin==1.16.0
    }
}

# Writes the scripts' settings, so that a user can run them again.
dist_tell() {
    local names kits="" interpreters="" libcs="gnu musl"
    [ -z "$quick" ] || libcs=gnu
    # A JDK of each way into the library, the newest first; the oldest and the newest Python.
    if wants java; then
        java_kits
        kits="$foreign $older"
    fi
    if wants python; then interpreters=$(pythons | sed -n '1p;$p'); fi
    names=$(published .name)
    {
        printf "export %s=%q\n" ROOT "$PWD" CARGO_TARGET_DIR "$TARGET" HOME_OF_DIST "$at" BUILT "$ready" DIST "$to" \
            PATH "$tools:$PATH" VERSION "$(version)" COMMIT "$commit" SOURCE_DATE_EPOCH "$epoch" ARCHES "$arches" LIBCS "$libcs" \
            QUICK "$quick" FLAGS "$(remap)" CRATES "${names//$'\n'/ }" JDKS "$kits" PYTHONS "${interpreters//$'\n'/ }"
    } > "$told"
}

# cargo for a platform, with the oldest glibc that the libraries run with, that of manylinux2014. The commit's time is now:
# dist_cargo COMMAND ARCH LIBC FLAGS OPTION….
dist_cargo() {
    local glibc=
    [ "$3" != gnu ] || glibc=.2.17
    env "PATH=$tools:$PATH" "SOURCE_DATE_EPOCH=$epoch" "RUSTFLAGS=$(remap)$4" "$tools/cargo-zigbuild" $1 \
        --locked --profile published --target "$2-unknown-linux-$3$glibc" "${@:5}"
}

# Builds the C libraries for every processor. By default, musl is linked into programs, and there is no shared library. The folder differs from
# the command's, because cargo uses one name for both, and each would rebuild what the other has built.
dist_libraries() {
    local arch libc libcs="" flags folder
    if wants c node java; then libcs="gnu musl"; elif wants deb rpm go; then libcs=gnu; fi
    for arch in $arches; do
        for libc in $libcs; do
            if [ -n "$quick" ]; then
                [ "$libc" != gnu ] || native "$ready/$arch-linux-gnu" dev strip
                continue
            fi
            flags="" folder=$TARGET
            [ "$libc" = gnu ] || flags=" -Ctarget-feature=-crt-static" folder=$at/shared
            built "$ready/$arch-linux-$libc" "$folder/$arch-unknown-linux-$libc/published" "$arch-linux-gnu-strip" \
                dist_cargo "rustc -p orbgate-capi --lib" "$arch" "$libc" "$flags" --target-dir "$folder"
        done
    done
}

# Builds the command for every processor, with all that it needs in it; the other steps build it without the explorer.
dist_commands() {
    local arch from
    if [ -n "$quick" ]; then $command; else explorer_page; fi
    for arch in $arches; do
        from=$TARGET/debug
        if [ -z "$quick" ]; then
            ORBGATE_EXPLORER=$page dist_cargo "build -p orbgate-cli --all-features" "$arch" musl ""
            from=$TARGET/$arch-unknown-linux-musl/published
        fi
        mkdir -p "$ready/$arch"
        cp "$from/orbgate" "$ready/$arch"
    done
}
