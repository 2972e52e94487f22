# rpm's packages: what Debian's are.
. dist/pack/common.sh
for arch in $ARCHES; do
    roots "$arch" lib64
    for package in liborbgate1 liborbgate-dev orbgate; do
        (cd "$STAGE/$package" && find . \( -type f -o -type l \) -printf '/%P\n' | LC_ALL=C sort) > "$STAGE/$package.files"
    done
    rpmbuild -bb --quiet --define "_topdir $STAGE/rpm" --define "_rpmdir $OUT" --define "stage $STAGE" --define "stated $VERSION" \
        --define "_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm" --target "$arch-linux" dist/pack/orbgate.spec
    made "$OUT/liborbgate1-$VERSION-1.$arch.rpm" orbgate-capi "$(target "$arch" gnu)"
    made "$OUT/liborbgate-devel-$VERSION-1.$arch.rpm" orbgate-capi "$(target "$arch" gnu)"
    made "$OUT/orbgate-$VERSION-1.$arch.rpm" orbgate-cli "$(target "$arch" musl)"
done
