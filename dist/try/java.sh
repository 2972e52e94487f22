# Java: a Maven project depends on it, from a repository in a folder; each way into the library runs what Maven brings.
. dist/try/common.sh
place=repository/io/github/orbgate/orbgate/$VERSION
mkdir -p "$place"
cp "$DIST/java/orbgate-$VERSION".{jar,pom} "$place"
cat > pom.xml << END
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId><version>1</version>
  <repositories><repository><id>folder</id><url>file://$HOME/repository</url></repository></repositories>
  <dependencies>$(first xml bindings/java/README.md)</dependencies>
</project>
END
# Maven's own plugins are kept; the package is not, or an older one would be taken.
rm -rf "$HOME_OF_DIST/maven/io/github/orbgate"
JAVA_HOME=${JDKS%% *} mvn --quiet --batch-mode org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy-dependencies \
    "-Dmaven.repo.local=$HOME_OF_DIST/maven" -DoutputDirectory=lib
program java bindings/java/README.md > First.java
# Java runs a source where its package would have it.
cases=io/github/orbgate/conformance/Conformance
mkdir -p "$(dirname $cases)"
cp bindings/java/conformance/Conformance.java $cases.java
for jdk in $JDKS; do
    java="$jdk/bin/java --enable-native-access=ALL-UNNAMED --class-path lib/*"
    set -f # Java reads the pattern itself
    answers $java First.java
    conforms $java $cases.java
    set +f
done
for arch in ${ARCHES//$(uname -m)/}; do
    # Its Java has no compiler, and classes are the same everywhere.
    "${JDKS%% *}/bin/javac" --release 17 -d classes --class-path 'lib/*' First.java $cases.java
    java=(bash dist/try/debian.sh "$arch" java --class-path 'classes:lib/*')
    answers "${java[@]}" First
    conforms "${java[@]}" ${cases//\//.}
done
