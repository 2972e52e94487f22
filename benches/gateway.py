#!/usr/bin/env python3
"""What the gateway adds to each proxy, how it stands beside Cerbos, and twice the load that it takes: needs wrk, and Linux, whose /proc it reads.

Caddy, Traefik and Envoy are those that `cargo xtask test gateway` has fetched, Cerbos comes by npm; what is not there is left out, and said.
At the root: benches/gateway.py [--rounds 5] [--seconds 4] [--connections 16] [--minutes 10] [--remember 10000] [--profile published] [--record]
With `--record` the tables go to benches/record, too. Exit code 1: a wrong answer, memory that grows, or a part that could not run.
"""

import argparse
import datetime
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPT = pathlib.Path(__file__).with_name("load.lua")
FETCHED = ROOT / "target/tmp/proxies"
# What memory may grow by after the first minute without that being growth: allocators take pages in pieces.
SLACK_KIB = 2048
# The most connections that the gateway takes while it gets twice as many.
CAPACITY = 64
HEAD = "| | | requests/s | 50 %, µs | 90 % | 99 % | 99.9 % | authorizer, µs |\n|---|---|--:|--:|--:|--:|--:|--:|"
# What the gateway may take of the authorizer that says yes, in requests a second and in the median: an aim, which is said and not enforced.
AIM = 1.1
CERBOS = "@cerbos/cerbos-linux-x64@0.55.0"
# Of each proxy: its example, its program, its arguments, how it asks, and what is cut out so that it does not ask.
PROXIES = {
    "nginx": ("nginx", "nginx", "-p . -c nginx.conf -g daemon|off;", "nginx", r"auth_request /_orbgate;"),
    "HAProxy": ("haproxy", "haproxy", "-f haproxy.cfg", "forward_auth", r"http-request lua\.orbgate[^}]*}"),
    "Caddy": ("caddy", "bin/caddy", "run --config Caddyfile --adapter caddyfile", "forward_auth", r"\tforward_auth[^}]*}"),
    "Traefik": ("traefik", "bin/traefik", "--configFile=traefik.yaml", "forward_auth", r"middlewares: \[orbgate\]"),
    "Envoy, HTTP": ("envoy-http", "envoy/_bin/envoy", "-c envoy.yaml --use-dynamic-base-id", "envoy_http", None),
    "Envoy, gRPC": ("envoy-grpc", "envoy/_bin/envoy", "-c envoy.yaml --use-dynamic-base-id", "envoy_grpc", None),
}
ENVOY = r" *- name: envoy\.filters\.http\.ext_authz.*?(?= *- name: envoy\.filters\.http\.router)"
# Path and message.
AUTHZEN = (
    "/access/v1/evaluation",
    '{"subject":{"type":"user","id":"user-7","properties":{"token":"%s"}},"action":{"name":"GET"},'
    '"resource":{"type":"target","id":"/api/v1/external/files/1"}}',
)
CHECK = (
    "/api/check/resources",
    '{"requestId":"1","principal":{"id":"user-7","roles":["user"]},"resources":[{"actions":["read"],"resource":{"kind":"file","id":"1"}}],'
    '"auxData":{"jwt":{"token":"%s","keySetId":"issuer"}}}',
)


def free_port() -> int:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return opened.getsockname()[1]


class Report:
    """What is said: tables on standard output and in the record, progress on standard error."""

    def __init__(self, record: bool) -> None:
        self.begun, self.lines, self.failures = time.monotonic(), [], []
        cpu = next(line for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")).split(": ")[1]
        name = f"{datetime.date.today()}-{re.sub('[^a-z0-9]+', '-', cpu.lower()).strip('-')}-gateway.md"
        self.file = ROOT / "benches/record" / name if record else None
        command = " ".join(["benches/gateway.py", *sys.argv[1:]])
        self.say(f"# The gateway, {datetime.date.today()}\n\n`{command}`; {cpu}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} at the start.")

    def say(self, text: str) -> None:
        print(text, flush=True)
        self.lines.append(text)
        if self.file:
            self.file.write_text("\n".join(self.lines) + "\n")

    def progress(self, text: str) -> None:
        print(f"[{time.monotonic() - self.begun:4.0f} s] {text}", file=sys.stderr, flush=True)

    def fail(self, text: str) -> None:
        self.failures.append(text)
        self.say(f"FAILED: {text}")


class Programs:
    """The programs of this run, which end with it."""

    def __init__(self, profile: str, remember: int) -> None:
        self.remember = remember
        build = f"cargo build --profile {profile} -p orbgate-gateway --bin orbgate-gateway --example backend --example flood"
        subprocess.run(build.split(), check=True, cwd=ROOT)
        self.built = ROOT / "target" / ("debug" if profile == "dev" else profile)
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="gateway-"))
        self.running = []
        self.backend, self.issuer, self.yes, self.yes_grpc, *unused = (free_port() for _ in range(8))
        # The authorizer that says yes is a process of its own: so what it takes is known.
        self.world = self.example("backend", self.backend, *unused[:2], self.issuer)
        self.agrees = self.example("backend", unused[2], self.yes, self.yes_grpc, unused[3])
        self.token = self.new_token(False)

    def example(self, name: str, *arguments: object) -> subprocess.Popen:
        command = [self.built / "examples" / name, *map(str, arguments)]
        return self.start(command, self.home, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def start(self, command: list, home: pathlib.Path, **more) -> subprocess.Popen:
        log = (self.home / "log").open("a")
        child = subprocess.Popen(command, cwd=home, stderr=log, **more)
        self.running.append(child)
        return child

    def wait_for(self, port: int, child: subprocess.Popen) -> None:
        until = time.monotonic() + 60
        while time.monotonic() < until and child.poll() is None:
            with socket.socket() as opened:
                if opened.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.05)
        said = (self.home / "log").read_text()[-2000:]
        raise RuntimeError(f"{child.args[0]} does not listen at {port}: {said}")

    def new_token(self, is_new_key: bool = True) -> str:
        """One of a new key."""
        if is_new_key:
            self.world.stdin.write("\n")
            self.world.stdin.flush()
        return self.world.stdout.readline().strip()

    def gateway(self, mode: str, more: str = "") -> tuple[subprocess.Popen, int, int]:
        """The gateway, where it listens, and where its operators ask."""
        home, port, admin = self.home / f"gateway-{free_port()}", free_port(), free_port()
        home.mkdir()
        issuer = f"http://127.0.0.1:{self.issuer}"
        (home / "tokens.yaml").write_text(
            f"orbgate_token: 1\nissuers:\n  - issuer: {issuer}\n    audience: https://api.example.com\n    jwks_uri: {issuer}/jwks\n"
            "    algorithms: [ES256]\n    kind: { user: [{ claim: token_kind, equals: user }] }\n"
            f"remember_signatures: {self.remember}\n"
        )
        shutil.copy(ROOT / "policy/external.yaml", home / "policy.yaml")
        (home / "gateway.yaml").write_text(
            f"orbgate_gateway: 1\npolicy: policy.yaml\ntokens: tokens.yaml\nadmin: 127.0.0.1:{admin}\n{more}"
            f"listeners: [{{ mode: {mode}, listen: 127.0.0.1:{port}, trusted_proxies: [127.0.0.1] }}]\n"
        )
        child = self.start([self.built / "orbgate-gateway", "--config", "gateway.yaml"], home)
        self.wait_for(port, child)
        return child, port, admin

    def proxy(self, name: str, way: str) -> tuple[subprocess.Popen | None, int]:
        """The authorizer, if there is one, and where the proxy listens that asks it."""
        example, program, arguments, mode, cut = PROXIES[name]
        if way == "Orbgate":
            authorizer, asked, _ = self.gateway(mode)
        else:
            authorizer, asked = (None, 1) if way == "alone" else (self.agrees, self.yes_grpc if mode == "envoy_grpc" else self.yes)
        home, port = self.home / f"{example}-{free_port()}", free_port()
        home.mkdir()
        for file in (ROOT / "examples/gateway" / example).iterdir():
            text = file.read_text()
            for old, new in {"8080": port, "3000": self.backend, **dict.fromkeys(["9181", "9182", "9183", "9184"], asked)}.items():
                text = text.replace(f":{old}", f":{new}").replace(f"port_value: {old}", f"port_value: {new}")
            if way == "alone":
                text = re.sub(cut or ENVOY, "", text, flags=re.DOTALL)
            (home / file.name).write_text(text)
        command = [found(program), *(part.replace("|", " ") for part in arguments.split())]
        child = self.start(command, home, stdout=subprocess.DEVNULL, env={"HOME": str(home), "PATH": "/usr/bin:/bin"})
        self.wait_for(port, child)
        return authorizer, port

    def cerbos(self) -> tuple[subprocess.Popen, int]:
        """Cerbos with a policy that asks of a file what ours asks; npm brings its program once."""
        place = ROOT / "target/tmp/peers"
        program = place / "node_modules" / CERBOS.rsplit("@", 1)[0] / "cerbos-linux-x64"
        if not program.exists():
            place.mkdir(parents=True, exist_ok=True)
            npm = ["npm", "install", "--prefix", str(place), "--ignore-scripts", "--no-audit", "--no-fund", "--silent", CERBOS]
            subprocess.run(npm, check=True)
        home, port, grpc = self.home / "cerbos", free_port(), free_port()
        (home / "policies").mkdir(parents=True)
        issuer = f"http://127.0.0.1:{self.issuer}"
        says = {"scope": "'read:files' in J.scope.split(' ')", "iss": f"J.iss == '{issuer}'", "aud": "'https://api.example.com' in J.aud"}
        condition = " && ".join(says.values()).replace("J.", "request.aux_data.jwt.")
        rule = {"actions": ["read"], "effect": "EFFECT_ALLOW", "roles": ["user"], "condition": {"match": {"expr": condition}}}
        policy = {"apiVersion": "api.cerbos.dev/v1", "resourcePolicy": {"version": "default", "resource": "file", "rules": [rule]}}
        # JSON is YAML.
        (home / "policies/file.yaml").write_text(json.dumps(policy))
        keys = {"id": "issuer", "remote": {"url": f"{issuer}/jwks"}, "insecure": {"optionalAlg": True}}
        config = {
            "server": {"httpListenAddr": f"127.0.0.1:{port}", "grpcListenAddr": f"127.0.0.1:{grpc}"},
            "telemetry": {"disabled": True},
            "auxData": {"jwt": {"keySets": [keys]}},
            "storage": {"driver": "disk", "disk": {"directory": str(home / "policies"), "watchForChanges": False}},
        }
        (home / "cerbos.yaml").write_text(json.dumps(config))
        command = [program, "server", "--config", "cerbos.yaml", "--log-level", "error"]
        child = self.start(command, home, stdout=subprocess.DEVNULL)
        self.wait_for(port, child)
        return child, port

    def end(self, first: int = 0) -> None:
        """Ends the programs from this one on."""
        ending, self.running = self.running[first:], self.running[:first]
        for child in ending:
            child.terminate()
        for child in ending:
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()


def found(program: str) -> str | None:
    fetched = FETCHED / program
    return shutil.which(program, path="/usr/sbin:/usr/bin:/usr/local/bin") or (str(fetched) if fetched.exists() else None)


def processor_seconds(child: subprocess.Popen) -> float:
    fields = pathlib.Path(f"/proc/{child.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wrk(asked: tuple[subprocess.Popen | None, int], token: str, seconds: int, connections: int, *what: str) -> list[float]:
    """The figures of a row: everything must be allowed."""
    authorizer, port = asked
    before = processor_seconds(authorizer) if authorizer else 0.0
    command = f"wrk --threads 1 --connections {connections} --timeout 10s --duration {seconds}s --script {SCRIPT}".split()
    run = [*command, f"http://127.0.0.1:{port}", "--", token, *what]
    output = subprocess.run(run, check=True, stdout=subprocess.PIPE, text=True).stdout
    figures = next(line for line in output.splitlines() if line.startswith("figures ")).split()[1:]
    requests, duration, refused, broken, *latencies = map(float, figures)
    if not requests or refused or broken:
        raise RuntimeError(f"of {requests:.0f} right requests {refused:.0f} were refused and {broken:.0f} broken")
    taken = (processor_seconds(authorizer) - before) * 1e6 / requests if authorizer else 0.0
    return [requests / duration * 1e6, *latencies, taken]


def by_turns(report: Report, options: argparse.Namespace, name: str, ways: dict, token: str, what: dict) -> None:
    """A row for each way, of each figure the median; and how the last way stands to the one before."""
    rows = {way: [] for way in ways}
    for way, asked in ways.items():
        wrk(asked, token, 1, options.connections, *what[way])
    for number in range(options.rounds):
        report.progress(f"{name}: round {number + 1} of {options.rounds}")
        for way, asked in ways.items():
            rows[way].append(wrk(asked, token, options.seconds, options.connections, *what[way]))
    medians = {way: [statistics.median(each) for each in zip(*cells)] for way, cells in rows.items()}
    for way, cells in medians.items():
        report.say(f"| {name} | {way} | {' | '.join(f'{cell:.0f}' if cell else '–' for cell in cells)} |")
    *_, (theirs, their), (ours, our) = medians.items()
    report.say(f"| {name} | {ours} ÷ {theirs} | {' | '.join(f'{a / b:.2f}' if b else '–' for a, b in zip(our, their))} |")
    if theirs == "yes" and max(their[0] / our[0], our[1] / their[1]) > AIM:
        report.missed.append(name)


def compare(report: Report, programs: Programs, options: argparse.Namespace) -> None:
    """Each proxy alone, with the authorizer that says yes, and with Orbgate."""
    report.say(f"\n## Each proxy alone, with an authorizer that says yes, with Orbgate\n\n{HEAD}")
    report.missed = []
    for name, (_, program, *_) in PROXIES.items():
        first = len(programs.running)
        try:
            if not found(program):
                report.say(f"| {name} | not on this machine | | | | | | |")
                continue
            ways = {way: programs.proxy(name, way) for way in ("alone", "yes", "Orbgate")}
            by_turns(report, options, name, ways, programs.token, dict.fromkeys(ways, ["right"]))
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            report.fail(f"{name}: {error}")
        finally:
            programs.end(first)
    report.say(
        "\nEverything is on this machine, and medians of turns. Each question has one token with ES256, which Orbgate verifies, "
        f"with `remember_signatures: {options.remember}`. The last column is processor"
        f" time a question of the authorizer alone. Over {AIM} times the authorizer that says yes, in requests a second or in the median: "
        f"{', '.join(report.missed) or 'none'}."
    )


def ask(port: int, path: str, message: str) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("POST", path, message, {"Content-Type": "application/json"})
    return connection.getresponse().read().decode()


def beside_cerbos(report: Report, programs: Programs, options: argparse.Namespace) -> None:
    """The same question to both: may the holder of this token read this file?"""
    report.say(f"\n## Beside Cerbos, each asked in its own words over HTTP\n\n{HEAD}")
    first = len(programs.running)
    try:
        cerbos = programs.cerbos()
        gateway, port, _ = programs.gateway("authzen")
        # Both say no to a token that is not the issuer's.
        for token, may in ((programs.token, True), (programs.token[:-20] + "A" * 20, False)):
            said = [ask(at, path, message % token) for at, path, message in ((cerbos[1], *CHECK), (port, *AUTHZEN))]
            if [("EFFECT_ALLOW" in said[0]), ('"decision":true' in said[1])] != [may, may]:
                raise RuntimeError(f"{may} was to be said: {said}")
        ways = {"Cerbos": cerbos, "Orbgate": (gateway, port)}
        what = {name: ["right", path, message % programs.token] for name, (path, message) in {"Cerbos": CHECK, "Orbgate": AUTHZEN}.items()}
        by_turns(report, options, "a file", ways, programs.token, what)
        report.say(
            f"\n{CERBOS}: `POST /api/check/resources` with the token in `auxData`, whose signature, issuer, audience and scope its policy asks about;"
            " Orbgate: `POST /access/v1/evaluation`. Each keeps what it has verified: Cerbos tokens (`auxData.jwt.cacheSize`, its usual value),"
            f" Orbgate signatures (`remember_signatures: {options.remember}`)."
        )
    except (RuntimeError, OSError, KeyError, ValueError, subprocess.SubprocessError) as error:
        report.fail(f"Cerbos: {error}")
    finally:
        programs.end(first)


def overload(report: Report, programs: Programs, seconds: int) -> None:
    """Twice as many connections as the gateway takes, each answer judged, while policies and keys change."""
    report.say(f"\n## {seconds} s at twice the capacity, while policies and keys change\n")
    limits = f"limits: {{ connections: {CAPACITY}, requests: 16 }}\n"
    child, port, admin = programs.gateway("nginx", limits)
    home = pathlib.Path(f"/proc/{child.pid}/cwd").resolve()
    first, second = home / "first.yaml", home / "second.yaml"
    shutil.copy(home / "policy.yaml", first)
    # Without the route that half of the questions are about.
    second.write_text(first.read_text().replace("          - GET /files/{fileId}\n", ""))
    flood = programs.example("flood", f"127.0.0.1:{port}", seconds, 2 * CAPACITY, programs.token, first, second)
    memory, begun, turn, changes = [], time.monotonic(), 0, {"policies": 0, "keys": 0, "SIGHUP": 0}
    while flood.poll() is None and child.poll() is None:
        time.sleep(1)
        turn += 1
        if turn % 6 == 0:
            shutil.copy(first if changes["policies"] % 2 else second, home / "new")
            (home / "new").rename(home / "policy.yaml")
            changes["policies"] += 1
        if turn % 10 == 0 and flood.poll() is None:
            flood.stdin.write(programs.new_token() + "\n")
            flood.stdin.flush()
            changes["keys"] += 1
            status = pathlib.Path(f"/proc/{child.pid}/status").read_text()
            memory.append(int(status.split("VmRSS:")[1].split()[0]))
        if turn % 15 == 0:
            child.send_signal(signal.SIGHUP)
            changes["SIGHUP"] += 1
        if turn % 30 == 0:
            report.progress(f"overload: {turn} s of {seconds}, memory {memory[-1]} KiB")
        if time.monotonic() - begun > seconds + 120:
            return report.fail("the load does not end")
    if child.poll() is not None:
        return report.fail(f"the gateway ended: {child.returncode}")
    said = json.loads(flood.stdout.read())
    asked = http.client.HTTPConnection("127.0.0.1", admin)
    asked.request("GET", "/metrics")
    metrics = asked.getresponse().read().decode().splitlines()
    half, most, nearly_all = said["latency_us"]
    report.say(
        f"| | |\n|---|--:|\n| decided answers | {said['allowed'] + said['denied']} |\n| of them allowed | {said['allowed']} |\n"
        f"| of them wrong | {said['wrong']} |\n| allowed by a key that is new | {said['by_new_keys']} |\n"
        f"| told that it is too much: 503 | {said['past_capacity']} |\n| closed without an answer | {said['unanswered']} |\n"
        f"| microseconds to a decided answer: 50 %, 99 %, 99.9 % | {half}, {most}, {nearly_all} |\n"
        f"| changes of {', '.join(changes)} | {', '.join(map(str, changes.values()))} |\n"
        f"| memory in KiB, every 10 s | {' '.join(map(str, memory))} |\n"
    )
    for line in metrics:
        if re.match(r"orbgate_(gateway_(errors|loads)|policy_loads)_total{", line):
            report.say(f"- `{line}`")
    if said["wrong"]:
        report.fail(f"{said['wrong']} wrong answers: {said['examples']}")
    if not said["allowed"] or not said["denied"] or not said["past_capacity"]:
        report.fail("not every kind of answer came")
    # Keys that are new are fetched at most once in half a minute.
    if seconds >= 120 and not said["by_new_keys"]:
        report.fail("no new key ever counted")
    # After the first minute, what memory is at the end and was at the start.
    settled = memory[6:] or memory or [0]
    ends = [statistics.median(part) for part in (settled[:6], settled[-6:])]
    if ends[1] - ends[0] > SLACK_KIB:
        report.fail(f"memory grew from {ends[0]:.0f} KiB to {ends[1]:.0f} KiB")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, usual in {"rounds": 5, "seconds": 4, "connections": 16, "minutes": 10, "remember": 10000}.items():
        parser.add_argument(f"--{name}", type=float if name == "minutes" else int, default=usual)
    parser.add_argument("--profile", default="published")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    programs = Programs(options.profile, options.remember)
    report = Report(options.record)
    try:
        if options.minutes:
            overload(report, programs, round(options.minutes * 60))
        if options.rounds:
            compare(report, programs, options)
            beside_cerbos(report, programs, options)
    finally:
        programs.end()
        shutil.rmtree(programs.home, ignore_errors=True)
    report.say(f"\nIt took {(time.monotonic() - report.begun) / 60:.0f} minutes; load {os.getloadavg()[0]:.1f} at the end; {len(report.failures)} failures.")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
