#!/usr/bin/env python3
"""What a gate takes from the bearer header to the answer, compared with the language's usual library verifying alone.

`cargo xtask bench --bindings` runs this; at the root `benches/gates.py go node-wasm` measures these alone. Each program takes turns with
its peer and prints a line `ALGORITHM GATE PEER` for each turn, in nanoseconds of processor time a token: other work on the machine counts little, and the
threads of a library count. `mcp` is a tool call, whose body the gate also reads, compared with the MCP SDK's own check of the token."""

import collections
import statistics
import subprocess
import sys

# Most that a gate may take of its peer's time, the median of the turns. A tool call has no limit.
MOST = 1.1
GO = "cd bindings/go/recipes && GOWORK=off CGO_ENABLED={} go build {} -o ../../../target/xtask/gate-speed-{} ./speed"
NPM = "npm ci --prefix bindings/node --prefer-offline --ignore-scripts --no-audit --no-fund --silent"
# nimbus-jose-jwt is no dependency of the package, not even of its tests: a program of one file, which Java compiles.
MAVEN = "mvn --quiet --batch-mode"
JAVA_HOME = "$(dirname $(dirname $(readlink -f $(ls -d /usr/lib/jvm/*{}*/bin/java | head -1))))"
JAVA_BUILD = (
    f"cargo xtask go && JAVA_HOME={JAVA_HOME.format(25)} {MAVEN} --file bindings/java/gate/pom.xml package -DskipTests --projects .. "
    "-Doutput=$PWD/target/xtask/java && "
    f"{MAVEN} dependency:copy -Dartifact=com.nimbusds:nimbus-jose-jwt:10.5 -DoutputDirectory=target/xtask/nimbus"
)
JAVA = (
    f"{JAVA_HOME}/bin/java {{}} -Dorbgate.library=target/published/liborbgate.so "
    "--class-path \"$(ls target/xtask/java/orbgate-*.jar):target/xtask/java/lib/*:target/xtask/nimbus/*\" bindings/java/speed/Speed.java"
)
# What builds each program, and what starts it. `cargo xtask go` makes the module and the library of a release.
PROGRAMS = {
    "go": (f"cargo xtask go && {GO.format(0, '', 'wasm')}", "target/xtask/gate-speed-wasm"),
    "go-cgo": (f"cargo xtask go && {GO.format(1, '-a -tags=orbgate_cgo', 'cgo')}", "target/xtask/gate-speed-cgo"),
    "node": (f"cargo xtask go && {NPM}", "ORBGATE_LIBRARY=target/published/liborbgate.so node bindings/node/bench/gate.js"),
    "node-wasm": (f"cargo xtask wasm && {NPM}", "ORBGATE_LIBRARY=bindings/node/orbgate.wasm node bindings/node/bench/gate.js"),
    # By the Foreign Function and Memory API, and by JNA.
    "java": (JAVA_BUILD, JAVA.format(25, "--enable-native-access=ALL-UNNAMED")),
    "java-jna": (JAVA_BUILD, JAVA.format(17, "")),
    "python": (
        "PROFILE=published sh bindings/python/gate/setup.sh && target/xtask/gate-python/bin/pip install --quiet 'pyjwt[crypto]' 'mcp>=2.3'",
        "target/xtask/gate-python/bin/python bindings/python/bench/gate.py",
    ),
}


def rows(printed: str) -> list[tuple[str, float, float, float]]:
    """The algorithms, each with the medians of the gate, of its peer and of the ratios.

    >>> rows("ES256 30 20\\nES256 50 50\\nES256 20 40\\nRS256 7 7\\n")
    [('ES256', 30.0, 40.0, 1.0), ('RS256', 7.0, 7.0, 1.0)]
    """
    turns = collections.defaultdict(list)
    for line in printed.splitlines():
        algorithm, *figures = line.split(" ")
        gate, peer = map(float, figures)
        turns[algorithm].append((gate, peer, gate / peer))
    return [(name, *map(statistics.median, zip(*triples))) for name, triples in sorted(turns.items())]


def main(languages: list[str]) -> None:
    slow = []
    for language in languages:
        subprocess.run(PROGRAMS[language][0], shell=True, check=True, stdout=subprocess.DEVNULL)
    print("\n| language | algorithm | gate, ns | library alone, ns | ratio |\n|---|---|--:|--:|--:|")
    for language in languages:
        printed = subprocess.run(PROGRAMS[language][1], shell=True, check=True, stdout=subprocess.PIPE, text=True).stdout
        for algorithm, gate, peer, ratio in rows(printed):
            print(f"| {language} | {algorithm} | {gate:.0f} | {peer:.0f} | {ratio:.2f} |", flush=True)
            slow += [f"{language} {algorithm}: {ratio:.2f}, at most {MOST}"] * (ratio > MOST and algorithm != "mcp")
    if slow:
        sys.exit(f"more than it may be: {'; '.join(slow)}")


if __name__ == "__main__":
    main(sys.argv[1:] or list(PROGRAMS))
