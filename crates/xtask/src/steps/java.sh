# The Java package, built once and tested in a Java of each way into the library. Maven does it, with `bindings/java/gate/pom.xml`; here is what
# finds the JDKs, which Maven's own discovery would look for in more than this machine's folders.

# The JDKs of the machine, one for each version, from JAVA_HOME and from where Linux and macOS have them: lines `VERSION FOLDER`.
jdks() {
    local kit version
    for kit in "${JAVA_HOME:-/none}" /usr/lib/jvm/* /Library/Java/JavaVirtualMachines/*{/Contents/Home,}; do
        # `JAVA_VERSION="17.0.15"` in the file `release`.
        version=$(sed -nE 's/^JAVA_VERSION="([0-9]+).*/\1/p' "$kit/release" 2> /dev/null) || continue
        if [ -n "$version" ] && [ -x "$kit/bin/javac" ]; then echo "$version $kit"; fi
    done | sort --numeric-sort --stable --unique --key 1,1
}

# The first Java that the package is for is 17, and the first with the Foreign Function and Memory API 22: the newest with it, at $foreign, and
# the oldest without, at $older; at least one of them. Spark is not made for 22 and newer ones: the newest that it runs in, at $spark.
java_kits() {
    local all
    all=$(jdks)
    foreign=$(awk '$1 >= 22 { print $2 }' <<< "$all" | tail -n 1)
    older=$(awk '$1 >= 17 && $1 < 22 { print $2 }' <<< "$all" | sed -n 1p)
    spark=$(awk '$1 >= 17 && $1 < 22 { print $2 }' <<< "$all" | tail -n 1)
    [ -n "$foreign$older" ] || fail "no JDK from 17 on"
    apt mvn maven
}

# Maven for the package, its output in the target directory of everything else: java_maven GOAL….
java_maven() {
    JAVA_HOME=${foreign:-$older} mvn --quiet --batch-mode --file bindings/java/gate/pom.xml "$@" "-Doutput=$home/java" \
        "-Dorbgate.library=$library/$shared" ${foreign:+${older:+"-Djava17.home=$older"}}
}

# A program with the package's jar, as users have it, in `program`: java_program KIT CLASS.
java_program() {
    local access=() jar
    jar=$home/java/orbgate-$(version).jar
    [ "$1" != "$foreign" ] || access=(--enable-native-access=ALL-UNNAMED)
    program=("$1/bin/java" "-Dorbgate.library=$library/$shared" "${access[@]}" --class-path "$jar:$home/java/lib/*:$home/java/test-classes"
        "io.github.orbgate.$2")
}

java_jar() {
    java_kits
    java_maven package -DskipTests --projects ..
}

java_test() {
    local kit reason
    java_kits
    library dev
    # Otherwise deleted tests and their resources would stay.
    rm -rf "$home"/java/{,*/}{test-classes,surefire-reports}*
    java_maven verify
    apt python3 python3
    python3 $steps/skipped.py "$home"/java/{,*/}surefire-reports*/*.xml > "$home/java/skipped"
    while read -r reason; do skip "$reason"; done < "$home/java/skipped"
    for kit in $foreign $older; do
        java_program "$kit" conformance.Conformance
        cases java "${program[@]}"
    done
    [ -n "$foreign" ] || skip "Java's own way into the library needs a JDK from 22 on"
    [ -n "$older" ] || skip "the way by JNA needs a JDK from 17 to 21"
}
