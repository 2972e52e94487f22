#!/usr/bin/env python3
"""What the layer costs a service under load, and whether its memory stays flat: needs wrk, and Linux, whose /proc it reads.

At the root: benches/load.py [--rounds 5] [--seconds 4] [--connections 16] [--minutes 10]
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import time

# The ways of serving, as examples/load.rs of orbgate-tower calls them.
SETTINGS = {
    "bare": "no layer",
    "known": "the layer, the token known by heart",
    "RS256": "the layer, RS256",
    "EdDSA": "the layer, EdDSA",
    "ES256": "the layer, ES256",
}
HEAD = "| | requests/s | processor time, µs | 50 %, µs | 90 % | 99 % | 99.9 % |\n|---|--:|--:|--:|--:|--:|--:|"
# What memory may grow by after the first minute without that being growth: allocators take pages in pieces.
SLACK_KIB = 2048
SCRIPT = pathlib.Path(__file__).with_suffix(".lua")


class Server:
    """A service under load: it serves until its standard input ends."""

    def __init__(self, setting: str) -> None:
        program = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "published/examples/load"
        self.child = subprocess.Popen([program, setting], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.address, self.token = (self.child.stdout.readline().strip() for _ in range(2))

    def proc(self, file: str) -> str:
        return pathlib.Path(f"/proc/{self.child.pid}/{file}").read_text()

    def memory_kib(self) -> int:
        time.sleep(0.2)  # what has been answered may not be tidied up yet
        return int(self.proc("status").split("VmRSS:")[1].split()[0])

    def processor_seconds(self) -> float:
        fields = self.proc("stat").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def wrk(self, what: str, seconds: int, connections: int) -> dict[str, float]:
        """Requests and refusals, and the cells of a row."""
        before = self.processor_seconds()
        wrk = f"wrk --threads 1 --connections {connections} --timeout 10s --duration {seconds}s --script {SCRIPT}".split()
        run = [*wrk, f"http://{self.address}", "--", self.token, what]
        output = subprocess.run(run, check=True, stdout=subprocess.PIPE, text=True).stdout
        taken = self.processor_seconds() - before
        figures = next(line for line in output.splitlines() if line.startswith("figures ")).split()[1:]
        requests, duration, refused, broken, *latencies = map(float, figures)
        assert requests > 0 and broken == 0, output
        cells = [requests / duration * 1e6, taken * 1e6 / requests, *latencies]
        return {"requests": requests, "refused": refused, "cells": cells}


def row(cells: list[float]) -> str:
    return " | ".join(f"{cell:.{1 if place == 1 else 0}f}" for place, cell in enumerate(cells))


def compare(options: argparse.Namespace) -> None:
    """The ways of serving, by turns; of each figure the median."""
    servers = {setting: Server(setting) for setting in SETTINGS}
    rows = {setting: [] for setting in SETTINGS}
    for server in servers.values():
        server.wrk("right", 1, options.connections)
    for _ in range(options.rounds):
        for setting, server in servers.items():
            figures = server.wrk("right", options.seconds, options.connections)
            assert figures["refused"] == 0, f"{setting}: a right request was denied"
            rows[setting].append(figures["cells"])
    print(HEAD)
    for setting, cells in rows.items():
        print(f"| {SETTINGS[setting]} | {row([statistics.median(each) for each in zip(*cells)])} |", flush=True)


def watch(options: argparse.Namespace) -> None:
    """Asks what is denied and what is not, each differently, and notes the memory every minute."""
    server = Server("audited")
    memory, requests = [server.memory_kib()], 0.0
    for _ in range(options.minutes):
        figures = server.wrk("mixed", 60, options.connections)
        # Those that are under way when wrk stops are not counted.
        one_in_two = abs(figures["refused"] * 2 - figures["requests"]) <= 2 * options.connections
        assert one_in_two, f"not every second one was denied: {figures}"
        requests += figures["requests"]
        memory.append(server.memory_kib())
    print(f"memory in KiB, at the start and after each minute: {memory}; {requests:.0f} requests, each audited")
    assert memory[-1] - memory[1] <= SLACK_KIB, "memory grew"


parser = argparse.ArgumentParser(description=__doc__)
for name, usual in {"rounds": 5, "seconds": 4, "connections": 16, "minutes": 10}.items():
    parser.add_argument(f"--{name}", type=int, default=usual)
chosen = parser.parse_args()
build = "cargo build --profile published -p orbgate-tower --all-features --example load"
subprocess.run(build.split(), check=True)
compare(chosen)
if chosen.minutes:
    watch(chosen)
