# Go: the tags that Go takes its modules from, as a file that git fetches from; and the files of a module proxy, so that `go get` with
# `GOPROXY=file://…/dist/go` has the modules: the package, and the interceptors for gRPC.
#
# Go takes what git has, and git has no engine: so the tags `bindings/go/vVERSION` and `bindings/go/grpcgate/vVERSION` are on a commit of its
# own, the release's with the engines. In it, the module `grpcgate` requires the package in this version, and replaces nothing.
. dist/pack/common.sh
folder=bindings/go
module=github.com/orbgate/orbgate/$folder tag=$folder/v$VERSION grpc_tag=$folder/grpcgate/v$VERSION repository=$STAGE/repository.git
git clone --quiet --bare . "$repository"
in_it() { GIT_INDEX_FILE=$STAGE/index git --git-dir="$repository" "$@"; }

# The folder as git has it, with files for links, which Go leaves out, and what is made. In the tests also what is not committed.
git ls-files ${QUICK:+--others --exclude-standard --cached} "$folder" | tar --create --dereference --files-from=- | tar --extract --directory="$STAGE"
cp bindings/c/include/orbgate.h "$BUILT/orbgate.wasm" "$BUILT/orbgate_questions.wasm" "$STAGE/$folder/orbgate"
for arch in $ARCHES; do
    cp "$BUILT/$arch-linux-gnu/liborbgate.a" "$STAGE/$folder/orbgate/liborbgate_linux_$(debian "$arch").a"
done
go mod edit -dropreplace="$module" -require="$module@v$VERSION" "$STAGE/$folder/grpcgate/go.mod"

# The same files give the same commit.
in_it read-tree "$COMMIT"
(cd "$STAGE" && in_it --work-tree=. add --force --all "$folder")
for who in AUTHOR COMMITTER; do
    export "GIT_${who}_NAME=$(in_it log -1 --format=%an "$COMMIT")" "GIT_${who}_EMAIL=$(in_it log -1 --format=%ae "$COMMIT")" \
        "GIT_${who}_DATE=$(in_it log -1 --format=%aD "$COMMIT")"
done
in_it tag "$tag" "$(in_it commit-tree -p "$COMMIT" -m "The Go module v$VERSION with its engines" "$(in_it write-tree)")"
in_it tag "$grpc_tag" "$tag"
differ=$(in_it diff --name-status --diff-filter=MD "$COMMIT" "$tag" -- . ":!$folder/grpcgate/go.mod")
[ -z "$differ" ] || [ -n "$QUICK" ] || { printf 'not packed from %s:\n%s\n' "$COMMIT" "$differ" >&2; exit 1; }
# Nothing is found out anew by chance: the same objects give the same bytes.
in_it -c pack.threads=1 -c pack.window=0 bundle create --quiet "$OUT/tag.bundle" "refs/tags/$tag" "refs/tags/$grpc_tag" "^$COMMIT"
git bundle verify --quiet "$OUT/tag.bundle"

(
    cd "$STAGE"
    export GOWORK=off GOPROXY=direct GOPRIVATE=$module GOMODCACHE=$STAGE/modules
    export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=url.$repository.insteadOf GIT_CONFIG_VALUE_0=https://github.com/orbgate/orbgate
    go mod download -modcacherw "$module@v$VERSION" "$module/grpcgate@v$VERSION"
)
proxy=orbgate-go-$VERSION needs=
for name in "$module" "$module/grpcgate"; do
    place=$STAGE/$proxy/$name/@v made_by_go=$STAGE/modules/cache/download/$name/@v
    mkdir -p "$place"
    cp "$made_by_go/v$VERSION".{zip,mod,info} "$made_by_go/list" "$place"
    needs+=$(go mod edit -json "$made_by_go/v$VERSION.mod" | jq --raw-output '.Require[] | " pkg:golang/\(.Path)@\(.Version)"')
done
# An archive, because both modules have files of the same names; and what is in it.
archive "$proxy"
cp --recursive "$STAGE/$proxy/." "$OUT"
for file in "$OUT/$proxy.tar.gz" "$OUT/tag.bundle"; do
    made "$file" orbgate-capi "$(LIBCS=gnu targets) wasm32-unknown-unknown" "$(xargs <<< "$needs")"
done
