# Java: the engine's jar with the libraries of all platforms in it, where `Bundled.java` looks for them, and the modules for Servlet and Spring
# Boot; of each the sources, the documentation and the pom.
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
JAVA_HOME=${JDKS%% *} mvn --quiet --batch-mode --file bindings/java/gate/pom.xml --projects ..,servlet,spring clean package -DskipTests "${profile[@]}" \
    "-Doutput=$output" "-Dorbgate.libraries=$STAGE" "-Dproject.build.outputTimestamp=$SOURCE_DATE_EPOCH"
jna=$(grep -A 1 '<artifactId>jna</artifactId>' bindings/java/pom.xml | sed -n 's,.*<version>\(.*\)</version>.*,\1,p')
# What a file begins with; where Maven has put it; its pom; the crate and the targets that are in it, and what it needs.
put() {
    local name=$1-$VERSION
    cp "$output/$2$name.jar" "$OUT"
    made "$OUT/$name.jar" "${@:4}"
    for end in "${ends[@]}"; do
        cp "$output/$2$name$end" "$OUT"
        made "$OUT/$name$end"
    done
    cp "bindings/java/$3pom.xml" "$OUT/$name.pom"
    made "$OUT/$name.pom"
}
put orbgate '' '' orbgate-capi "$(targets)" "pkg:maven/net.java.dev.jna/jna@${jna:?}"
for module in servlet spring-boot-starter; do
    put "orbgate-$module" "orbgate-$module/" "gate/${module%%-*}/"
done
# What both have in common.
cp bindings/java/gate/pom.xml "$OUT/orbgate-gates-$VERSION.pom"
made "$OUT/orbgate-gates-$VERSION.pom"
