# The command: it answers and serves the explorer, and the archive's Containerfile makes an image that answers.
. dist/try/common.sh
for arch in $ARCHES; do
    tar --extract --file "$DIST/command/orbgate-$VERSION-$arch-linux.tar.gz"
    decides $(emulator "$arch") "orbgate-$VERSION-$arch-linux/bin/orbgate"
done
# The tests' command needs a C library, which the image has not.
[ -z "$QUICK" ] || exit 0
# Nor has it the explorer's page.
"orbgate-$VERSION-$(uname -m)-linux/bin/orbgate" explore > explorer &
trap "kill $!" EXIT
timeout 20 sh -c 'until grep -q http explorer; do sleep 0.1; done'
curl --silent --fail --output page "$(cat explorer)"
grep --quiet '<title>' page
buildah="buildah --storage-driver vfs --root $HOME/images --runroot $HOME/run"
# Isolated by `chroot`, which also works within a container.
$buildah build --isolation chroot --tag orbgate "orbgate-$VERSION-$(uname -m)-linux"
container=$($buildah from --pull-never orbgate)
decides $buildah run --isolation chroot "$container" -- /orbgate
