# Java: one jar with the libraries of all platforms in it, where `Bundled.java` looks for them, the sources, the documentation and the pom.
. dist/pack/common.sh
folder=$STAGE/io/github/orbgate/native output=$STAGE-built
for arch in $ARCHES; do
    for libc in $LIBCS; do
        case $libc in gnu) name=Linux/$arch ;; musl) name=Linux-Musl/$arch ;; esac
        mkdir -p "$folder/$name"
        cp "$BUILT/$arch-linux-$libc/liborbgate.so" "$folder/$name"
        (cd "$folder" && sha256sum "$name/liborbgate.so" >> SHA256SUMS)
    done
done
mkdir "$STAGE/META-INF"
cp LICENSE-* "$STAGE/META-INF"
# Sources and documentation need more of Maven's plugins than the tests.
[ -n "$QUICK" ] && profile=() ends=() || profile=(-Prelease) ends=(-sources.jar -javadoc.jar)
JAVA_HOME=${JDKS%% *} mvn --quiet --batch-mode --file bindings/java/pom.xml clean package -DskipTests "${profile[@]}" \
    "-Doutput=$output" "-Dorbgate.libraries=$STAGE" "-Dproject.build.outputTimestamp=$SOURCE_DATE_EPOCH"
jna=$(grep -A 1 '<artifactId>jna</artifactId>' bindings/java/pom.xml | sed -n 's,.*<version>\(.*\)</version>.*,\1,p')
cp "$output/orbgate-$VERSION.jar" "$OUT"
made "$OUT/orbgate-$VERSION.jar" orbgate-capi "$(targets)" "pkg:maven/net.java.dev.jna/jna@${jna:?}"
for end in "${ends[@]}"; do
    cp "$output/orbgate-$VERSION$end" "$OUT"
    made "$OUT/orbgate-$VERSION$end"
done
cp bindings/java/pom.xml "$OUT/orbgate-$VERSION.pom"
made "$OUT/orbgate-$VERSION.pom"
