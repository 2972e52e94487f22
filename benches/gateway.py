#!/usr/bin/env python3
"""What the gateway adds to each proxy, and how it stands twice the load that it takes: needs wrk, and Linux, whose /proc it reads.

Caddy, Traefik and Envoy are those that `cargo xtask test gateway` has fetched; a proxy that is not there is left out.
At the root: benches/gateway.py [--rounds 5] [--seconds 4] [--connections 16] [--minutes 10] [--profile published]
"""

import argparse
import http.client
import pathlib
import re
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPT = pathlib.Path(__file__).with_name("load.lua")
FETCHED = ROOT / "target/tmp/proxies"
# What memory may grow by after the first minute without that being growth: allocators take pages in pieces.
SLACK_KIB = 2048
# The most connections that the gateway takes while it gets twice as many.
CAPACITY = 64
HEAD = "| | | requests/s | 50 %, µs | 90 % | 99 % | 99.9 % |\n|---|---|--:|--:|--:|--:|--:|"
# Of each proxy: its example, its program, its arguments, how it asks, and what is cut out so that it does not ask.
PROXIES = {
    "nginx": ("nginx", "nginx", "-p . -c nginx.conf -g daemon|off;", "nginx", r"auth_request /_orbgate;"),
    "HAProxy": ("haproxy", "haproxy", "-f haproxy.cfg", "forward_auth", r"http-request lua\.orbgate"),
    "Caddy": ("caddy", "bin/caddy", "run --config Caddyfile --adapter caddyfile", "forward_auth", r"\tforward_auth[^}]*}"),
    "Traefik": ("traefik", "bin/traefik", "--configFile=traefik.yaml", "forward_auth", r"middlewares: \[orbgate\]"),
    "Envoy, HTTP": ("envoy-http", "envoy/_bin/envoy", "-c envoy.yaml --use-dynamic-base-id", "envoy_http", None),
    "Envoy, gRPC": ("envoy-grpc", "envoy/_bin/envoy", "-c envoy.yaml --use-dynamic-base-id", "envoy_grpc", None),
}
ENVOY = r" *- name: envoy\.filters\.http\.ext_authz.*?(?= *- name: envoy\.filters\.http\.router)"


def free_port() -> int:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return opened.getsockname()[1]


def wait_for(port: int) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with socket.socket() as opened:
            if opened.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit(f"nothing listens at {port}")


class Programs:
    """The programs of this run, which end with it."""

    def __init__(self, profile: str) -> None:
        build = f"cargo build --profile {profile} -p orbgate-gateway --bin orbgate-gateway --example load"
        subprocess.run(build.split(), check=True, cwd=ROOT)
        self.built = ROOT / "target" / ("debug" if profile == "dev" else profile)
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="gateway-"))
        self.running = []
        self.backend, self.yes, self.yes_grpc, self.issuer = (free_port() for _ in range(4))
        ports = map(str, (self.backend, self.yes, self.yes_grpc, self.issuer))
        self.world = self.start([self.built / "examples/load", *ports], self.home, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.token = self.world.stdout.readline().strip()

    def start(self, command: list, home: pathlib.Path, **more) -> subprocess.Popen:
        child = subprocess.Popen(command, cwd=home, stderr=subprocess.DEVNULL, **more)
        self.running.append(child)
        return child

    def new_token(self) -> str:
        """One of a new key."""
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
        )
        shutil.copy(ROOT / "policy/external.yaml", home / "policy.yaml")
        (home / "gateway.yaml").write_text(
            f"orbgate_gateway: 1\npolicy: policy.yaml\ntokens: tokens.yaml\nadmin: 127.0.0.1:{admin}\n{more}"
            f"listeners: [{{ mode: {mode}, listen: 127.0.0.1:{port}, trusted_proxies: [127.0.0.1] }}]\n"
        )
        child = self.start([self.built / "orbgate-gateway", "--config", "gateway.yaml"], home)
        wait_for(port)
        return child, port, admin

    def proxy(self, name: str, way: str) -> int:
        """A proxy with its example; where it listens."""
        example, program, arguments, mode, cut = PROXIES[name]
        found = shutil.which(program, path="/usr/sbin:/usr/bin:/usr/local/bin") or str(FETCHED / program)
        asked = {"alone": 1, "yes": self.yes_grpc if mode == "envoy_grpc" else self.yes}
        asked = asked[way] if way in asked else self.gateway(mode)[1]
        home, port = self.home / f"{example}-{free_port()}", free_port()
        home.mkdir()
        for file in (ROOT / "examples/gateway" / example).iterdir():
            text = file.read_text()
            for old, new in {"8080": port, "3000": self.backend, **dict.fromkeys(["9181", "9182", "9183", "9184"], asked)}.items():
                text = text.replace(f":{old}", f":{new}").replace(f"port_value: {old}", f"port_value: {new}")
            if way == "alone":
                text = re.sub(cut or ENVOY, "", text, flags=re.DOTALL)
            (home / file.name).write_text(text)
        command = [found, *(part.replace("|", " ") for part in arguments.split())]
        self.start(command, home, stdout=subprocess.DEVNULL, env={"HOME": str(home), "PATH": "/usr/bin:/bin"})
        wait_for(port)
        return port

    def end(self) -> None:
        for child in self.running:
            child.terminate()
        for child in self.running:
            child.wait(10)
        shutil.rmtree(self.home)


def wrk(port: int, token: str, seconds: int, connections: int, *what: str) -> dict[str, float]:
    command = f"wrk --threads 1 --connections {connections} --timeout 10s --duration {seconds}s --script {SCRIPT}".split()
    run = [*command, f"http://127.0.0.1:{port}", "--", token, *what]
    output = subprocess.run(run, check=True, stdout=subprocess.PIPE, text=True).stdout
    figures = next(line for line in output.splitlines() if line.startswith("figures ")).split()[1:]
    requests, duration, refused, broken, *latencies = map(float, figures)
    return {"requests": requests, "refused": refused, "broken": broken, "cells": [requests / duration * 1e6, *latencies]}


def compare(programs: Programs, options: argparse.Namespace) -> None:
    """Each proxy alone, with the authorizer that says yes, and with Orbgate, by turns; of each figure the median."""
    print(HEAD)
    for name, (_, program, *_) in PROXIES.items():
        if not (shutil.which(program, path="/usr/sbin:/usr/bin:/usr/local/bin") or (FETCHED / program).exists()):
            print(f"| {name} | not on this machine |")
            continue
        ways = {way: programs.proxy(name, way) for way in ("alone", "yes", "Orbgate")}
        rows = {way: [] for way in ways}
        for port in ways.values():
            wrk(port, programs.token, 1, options.connections, "right")
        for _ in range(options.rounds):
            for way, port in ways.items():
                figures = wrk(port, programs.token, options.seconds, options.connections, "right")
                assert figures["requests"] > 0 and figures["refused"] == figures["broken"] == 0, f"{name}, {way}: {figures}"
                rows[way].append(figures["cells"])
        medians = {way: [statistics.median(each) for each in zip(*cells)] for way, cells in rows.items()}
        for way, cells in medians.items():
            print(f"| {name} | {way} | {' | '.join(f'{cell:.0f}' for cell in cells)} |", flush=True)
        ratios = " | ".join(f"{ours / theirs:.2f}" for ours, theirs in zip(medians["Orbgate"], medians["yes"]))
        print(f"| {name} | Orbgate ÷ yes | {ratios} |", flush=True)


class Checker(threading.Thread):
    """Asks what it knows the answer to, all the time. Past capacity a question may get no answer, and never a wrong one."""

    def __init__(self, port: int, token: str) -> None:
        super().__init__(daemon=True)
        self.port, self.token, self.is_over = port, token, False
        # Of the newest key, which the gateway may not have yet.
        self.newest = token
        self.right = self.past_capacity = self.rotated = 0
        self.wrong, self.questions = [], 0
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)

    def run(self) -> None:
        while not self.is_over:
            file, newest = "/api/v1/external/files/1", self.newest
            cases = [(file, self.token, [200]), ("/api/v1/external/account", self.token, [403]), (file, None, [401]), (file, newest, [200, 401])]
            for target, token, expected in cases:
                headers = {"X-Original-Method": "GET", "X-Original-URI": target}
                if token:
                    headers["Authorization"] = f"Bearer {token}"
                status = self.ask(headers)
                if status == 503:
                    self.past_capacity += 1
                elif status in expected:
                    self.right += 1
                    self.rotated += status == 200 and token not in (None, self.token)
                else:
                    self.wrong.append((target, token is not None, status))
            time.sleep(0.01)

    def ask(self, headers: dict[str, str]) -> int:
        """The status; that of a fault of capacity where there is no answer."""
        # A connection serves for a while, and then another one must be had.
        self.questions += 1
        if self.questions % 200 == 0:
            self.connection.close()
        try:
            self.connection.request("GET", "/", headers=headers)
            answer = self.connection.getresponse()
            answer.read()
            return answer.status
        except (OSError, http.client.HTTPException):
            self.connection.close()
            return 503


def overload(programs: Programs, seconds: int) -> None:
    """Twice as many connections as the gateway takes, while policies and keys change."""
    limits = f"limits: {{ connections: {CAPACITY}, questions: 16 }}\n"
    child, port, admin = programs.gateway("nginx", limits)
    home = pathlib.Path(f"/proc/{child.pid}/cwd").resolve()
    policy = (home / "policy.yaml").read_text()
    checker = Checker(port, programs.token)
    checker.start()
    figures = {}
    load = threading.Thread(target=lambda: figures.update(wrk(port, programs.token, seconds, 2 * CAPACITY, "mixed", "nginx")))
    load.start()
    memory, begun, turn, changed = [], time.monotonic(), 0, 0
    while load.is_alive():
        time.sleep(1)
        turn += 1
        if turn % 6 == 0:
            new = policy if changed % 2 else policy + "# another text, and the same meaning\n"
            (home / "new").write_text(new)
            (home / "new").rename(home / "policy.yaml")
            changed += 1
        if turn % 10 == 0:
            checker.newest = programs.new_token()
        if turn % 15 == 0:
            child.send_signal(signal.SIGHUP)
        if turn % 10 == 0:
            status = pathlib.Path(f"/proc/{child.pid}/status").read_text()
            memory.append(int(status.split("VmRSS:")[1].split()[0]))
    checker.is_over = True
    checker.join(30)
    asked = http.client.HTTPConnection("127.0.0.1", admin)
    asked.request("GET", "/metrics")
    counted = [line for line in asked.getresponse().read().decode().splitlines() if "faults_total{" in line or "loads_total{" in line]
    print(f"{time.monotonic() - begun:.0f} s; {figures['requests']:.0f} answers, {figures['refused']:.0f} of them denials")
    print(f"known answers: {checker.right} right, {len(checker.wrong)} wrong, {checker.past_capacity} past capacity; {checker.rotated} allowed by new keys")
    print(f"memory in KiB, every 10 s: {memory}")
    print("\n".join(counted))
    assert checker.right > 0 and not checker.wrong, checker.wrong[:3]
    settled = memory[6:] or memory
    assert settled[-1] - settled[0] <= SLACK_KIB, "memory grew"


parser = argparse.ArgumentParser(description=__doc__)
for name, usual in {"rounds": 5, "seconds": 4, "connections": 16, "minutes": 10}.items():
    parser.add_argument(f"--{name}", type=float if name == "minutes" else int, default=usual)
parser.add_argument("--profile", default="published")
chosen = parser.parse_args()
started = Programs(chosen.profile)
try:
    if chosen.rounds:
        compare(started, chosen)
    if chosen.minutes:
        overload(started, round(chosen.minutes * 60))
finally:
    started.end()
