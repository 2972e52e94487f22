#!/usr/bin/env python3
"""What a gate costs a service under load: requests a second of each language's gate program, without the gate and with it, by turns.

At the root: benches/gates_load.py [--seconds 10] [--turns 3] [--record] 'LANGUAGE [FRAMEWORK]'…. Needs wrk and openssl. With `--record` the
table is added to that of the day in benches/record. Tokens are signed with RS256, each
used often; the programs are those of `cargo xtask gate`, and write a line for each request that they answer. All is on this machine."""

import argparse
import base64
import http.server
import json
import os
import pathlib
import re
import signal
import socket
import statistics
import subprocess
import tempfile
import threading
import time

POLICY, TARGET = "policy/external.yaml", "/api/v1/external/orbs"


def text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def openssl(*arguments: str, data: bytes = b"") -> bytes:
    return subprocess.run(["openssl", *arguments], input=data, capture_output=True, check=True).stdout


def issuer(home: pathlib.Path) -> str:
    """An issuer on this machine, whose configuration is in `tokens.yaml`: a token of it."""
    key = str(home / "key.pem")
    openssl("genrsa", "-out", key, "2048")
    modulus = openssl("rsa", "-in", key, "-noout", "-modulus").decode().strip().split("=")[1]
    keys = json.dumps({"keys": [{"kty": "RSA", "kid": "1", "n": text(bytes.fromhex(modulus)), "e": "AQAB"}]}).encode()

    class Issuer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(keys)

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Issuer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    name = f"http://127.0.0.1:{server.server_port}"
    known = {"issuer": name, "audience": "api", "algorithms": ["RS256"], "kind": "user", "jwks_uri": f"{name}/keys"}
    (home / "tokens.yaml").write_text(json.dumps({"orbgate_token": 1, "issuers": [known]}))
    claims = {"iss": name, "aud": "api", "sub": "me", "client_id": "app", "exp": int(time.time()) + 36000, "scope": "read:orbs"}
    signed = ".".join(text(json.dumps(part).encode()) for part in ({"alg": "RS256", "kid": "1", "typ": "at+jwt"}, claims))
    return f"{signed}.{text(openssl('dgst', '-sha256', '-sign', key, data=signed.encode()))}"


def requests_a_second(words: list[str], home: pathlib.Path, token: str, gate: list[str], seconds: int) -> float:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    command = ["cargo", "xtask", "gate", *words, "--listen", address, "--policy", POLICY, "--tokens", str(home / "tokens.yaml"), *gate]
    # A group of its own, because some programs are started by others; its input stays open.
    service = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        url = f"http://{address}{TARGET}"
        ask = ["curl", "--silent", "--fail", "--output", os.devnull, "--header", f"Authorization: Bearer {token}", url]
        until = time.monotonic() + 300  # it may have to be built
        while subprocess.run(ask).returncode != 0:
            assert time.monotonic() < until and service.poll() is None, f"{words} does not answer"
            time.sleep(0.2)
        wrk = ["wrk", "--threads", "1", "--connections", "8", "--duration", f"{seconds}s", "--header", f"Authorization: Bearer {token}", url]
        said = subprocess.run(wrk, check=True, stdout=subprocess.PIPE, text=True).stdout
        assert "Non-2xx" not in said and "Socket errors" not in said, said
        return float(said.split("Requests/sec:")[1].split()[0])
    finally:
        os.killpg(service.pid, signal.SIGTERM)
        service.wait()


def processor() -> str:
    return pathlib.Path("/proc/cpuinfo").read_text().split("model name\t: ")[1].split("\n")[0]


def heading(given: argparse.Namespace) -> str:
    """What was run, where and when, and how busy the machine was."""
    command = f"benches/gates_load.py --seconds {given.seconds} --turns {given.turns}"
    machine = f"{processor()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    return f"`{command}`, eight connections, RS256; {machine}; {time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime())}, commit {commit}:\n"


def row(program: str, turns: list[list[float]]) -> str:
    """The medians of both, and of what is left in each turn.

    >>> row("go chi", [[100, 50], [300, 60], [200, 80]])
    '| go chi | 200 | 60 | 0.40 |'
    """
    without, with_gate = map(statistics.median, zip(*turns))
    left = statistics.median(gated / bare for bare, gated in turns)
    return f"| {program} | {without:.0f} | {with_gate:.0f} | {left:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("programs", nargs="+", metavar="LANGUAGE")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        token = issuer(home)
        lines = [heading(given), "| program | requests/s without the gate | with it | median of the turns |", "|---|--:|--:|--:|"]
        print("\n".join(lines), flush=True)
        for program in given.programs:
            ask = [program.split(), home, token]
            turns = [[requests_a_second(*ask, gate, given.seconds) for gate in (["--ungated"], [])] for _ in range(given.turns)]
            lines.append(row(program, turns))
            print(lines[-1], flush=True)
    if given.record:
        name = re.sub("[^a-z0-9]+", "-", processor().lower()).strip("-")
        file = pathlib.Path(f"benches/record/{time.strftime('%Y-%m-%d')}-{name}-gates.md")
        with file.open("a") as record:
            record.write("\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
