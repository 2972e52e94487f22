#!/bin/sh
# The tests of upgrades and of callers that leave in the containers of Spring Boot besides Tomcat, in which every build runs them. Without Maven,
# it only says so.
set -eu
cd "$(dirname "$0")/../../.."
if ! mvn --version >/dev/null 2>&1; then
    echo "skipped: the upgrades and the leaving callers of Java's containers: no Maven"
    test -z "${CI:-}"
    exit
fi
cargo build --quiet -p orbgate-capi
for container in jetty undertow; do
    mvn --quiet --batch-mode --file bindings/java/gate/pom.xml test --activate-profiles "$container" \
        --projects ..,../gate/servlet,../gate/spring -Doutput="$PWD/target/xtask/gate-java" \
        -Dorbgate.library="$PWD/target/debug/liborbgate.so" \
        -Dtest='StarterTest#aWebSocket*+everyStream*,io.github.orbgate.spring.LeavingTest' -Dsurefire.failIfNoSpecifiedTests=false
done
