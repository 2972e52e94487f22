# Java: a Maven project depends on it, from a repository in a folder; each way into the library runs what Maven brings. So does a service of
# Spring Boot with the starter.
. dist/try/common.sh
for artefact in orbgate orbgate-gates orbgate-servlet orbgate-spring-boot-starter; do
    place=repository/io/github/orbgate/$artefact/$VERSION
    mkdir -p "$place"
    cp "$DIST/java/$artefact-$VERSION".{jar,pom} "$place" 2> /dev/null || cp "$DIST/java/$artefact-$VERSION.pom" "$place"
done
cat > pom.xml << END
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId><version>1</version>
  <repositories><repository><id>folder</id><url>file://$HOME/repository</url></repository></repositories>
  <dependencies>$(first xml bindings/java/README.md)</dependencies>
</project>
END
# Maven's own plugins are kept; the package is not, or an older one would be taken.
rm -rf "$HOME_OF_DIST/maven/io/github/orbgate"
brings() {
    JAVA_HOME=${JDKS%% *} mvn --quiet --batch-mode --file "$1" org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy-dependencies \
        "-Dmaven.repo.local=$HOME_OF_DIST/maven" "-DoutputDirectory=$2"
}
brings pom.xml "$PWD/lib"
program java bindings/java/README.md > First.java
# Java runs a source where its package would have it.
cases=io/github/orbgate/conformance/Conformance
mkdir -p "$(dirname $cases)"
cp bindings/java/conformance/Conformance.java $cases.java
for jdk in $JDKS; do
    java="$jdk/bin/java --enable-native-access=ALL-UNNAMED --class-path lib/*"
    set -f # Java reads the pattern itself
    answers $java First.java
    conforms java $java $cases.java
    set +f
done
# The application brings Spring; the starter brings the filter and the engine.
spring=$(sed -n 's,.*<spring.boot.version>\(.*\)</spring.boot.version>.*,\1,p' "$DIST/java/orbgate-spring-boot-starter-$VERSION.pom")
sed "s,<dependencies>,&$(printf '<dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version></dependency>' \
    io.github.orbgate orbgate-spring-boot-starter "$VERSION" org.springframework.boot spring-boot-starter-web "$spring")," pom.xml > shop.xml
brings shop.xml "$PWD/shop"
prints "401 403 200" "${JDKS%% *}/bin/java" --enable-native-access=ALL-UNNAMED --class-path "$PWD/shop/*" dist/try/Shop.java
for arch in ${ARCHES//$(uname -m)/}; do
    # Its Java has no compiler, and classes are the same everywhere.
    "${JDKS%% *}/bin/javac" --release 17 -d classes --class-path 'lib/*' First.java $cases.java
    java=(bash dist/try/debian.sh "$arch" java --class-path 'classes:lib/*')
    answers "${java[@]}" First
    conforms java "${java[@]}" ${cases//\//.}
done
