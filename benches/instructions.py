#!/usr/bin/env python3
"""No hot path may grow unseen: counts the instructions of each and compares them with instructions*.tsv, or with `--update` writes these.

`cargo xtask bench --instructions` sets up what this needs: benches/instructions.py x86-64|aarch64 [--update]

Instructions, not time: they are the same on every machine and in every run, so that a few per cent count. The list names the compiler
that it was made with. The same one is used, even if another is installed, because each makes other instructions. The programs are
linked with its own musl: glibc picks its `memcpy` by the processor, and another version of it counts otherwise. On every machine
with AVX2, valgrind shows programs the same processor: with AVX2, without AVX-512 and SHA instructions.
"""

import concurrent.futures
import functools
import os
import pathlib
import platform
import re
import shlex
import subprocess
import sys
import tempfile

BENCHES = pathlib.Path(__file__).parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target"))
UPDATE = "cargo xtask bench --instructions --update"
HEAD = """\
# Instructions of each hot path, {}: of a decision or a token's scopes
# the mean over a stream, of a load (1000/…) all. Written by `{}`, in
# the commit that changes them.
# rustc {}
"""
PROCESSORS = {
    "x86-64": ("instructions.tsv", "counted by callgrind on a processor with AVX2", "x86_64"),
    "aarch64": ("instructions-aarch64.tsv", "of aarch64, counted by qemu", "aarch64"),
}
# A path may differ by this much, in per cent: smaller differences come from what the compiler inlines.
ROOM = 3.0
# A path that has to end in a slash may take this many per cent more than the same path without.
SLASH = 5.0


def run(*command: str | pathlib.Path, **environment: str) -> subprocess.CompletedProcess:
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    return done if done.returncode == 0 else sys.exit(f"`{shlex.join(map(str, command))}` failed:\n{done.stderr}")


def compiler() -> str:
    return run("rustc", "--version").stdout.split()[1]


def build(version: str, processor: str) -> pathlib.Path:
    """Builds the programs that are counted, and gives their folder."""
    target = f"{processor}-unknown-linux-musl"
    by_rustup = []
    if version != compiler():
        install = "rustup toolchain install --profile minimal --no-self-update --target"
        run(*install.split(), target, version)
        by_rustup = ["rustup", "run", version]
    cargo = "cargo build --locked --release --no-default-features --features routers --bin paths --bin start --bin start-without"
    # The compiler's own linker links for any processor; what it needs of musl it has, too.
    name = f"CARGO_TARGET_{target.upper().replace('-', '_')}_LINKER"
    linker = {} if processor == platform.machine() else {name: "rust-lld"}
    folder = TARGET / "bench"
    where = ["--manifest-path", BENCHES / "Cargo.toml", "--target", target, "--target-dir", folder]
    run(*by_rustup, *cargo.split(), *where, **linker)
    return folder / target / "release"


def callgrind(program: pathlib.Path, *arguments: str, everything: bool = False) -> tuple[str, int]:
    """What a program prints, and the instructions of what it measures or of everything."""
    options = [] if everything else ["--toggle-collect=paths::measured*"]
    with tempfile.NamedTemporaryFile("r", prefix="callgrind.", dir=TARGET / "bench") as profile:
        valgrind = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={profile.name}", *options]
        printed = run(*valgrind, program, *arguments).stdout
        return printed, int(re.search(r"^totals: (\d+)$", profile.read(), re.MULTILINE)[1])


def qemu(program: pathlib.Path, *arguments: str) -> tuple[str, int]:
    """The same, between the program's two calls of `sched_yield`."""
    done = run("qemu-aarch64", "-plugin", plugin(), program, *arguments)
    return done.stdout, int(done.stderr)


@functools.cache
def plugin() -> pathlib.Path:
    """Compiled for the qemu of this machine."""
    path = TARGET / "bench" / "qemu-count.so"
    major = int(re.search(r"version (\d+)", run("qemu-aarch64", "--version").stdout)[1])
    cc = f"cc -Wall -Wextra -Werror -O2 -shared -fPIC -DINTERFACE={1 if major < 9 else 2} -o"
    run(*cc.split(), path, BENCHES / "qemu_count.c")
    return path


def rounded(count: float) -> float:
    """Four digits: the seeds of hash maps move the fifth of what uses some.

    >>> [rounded(count) for count in (693.22, 2829.4, 42736671.0, 1.0)]
    [693.2, 2829, 42740000, 1]
    """
    count = round(float(f"{count:.4g}"), 1)
    return int(count) if count == int(count) else count


def compare(listed: dict[str, float], counted: dict[str, float]) -> list[str]:
    """What has to be said of each path that is not as listed. A list that says too much would hide the next growth.

    >>> compare({"a": 100, "b": 100, "c": 100, "d": 100, "old": 1}, {"a": 102.9, "b": 103.1, "c": 97.1, "d": 90, "new": 1})
    ['b: 100 → 103.1 instructions', 'd: 100 → 90 instructions', 'new: None → 1 instructions', 'old: 1 → None instructions']
    """
    diagnostics = []
    for name in {**listed, **counted}:
        before, now = listed.get(name), counted.get(name)
        if None in (before, now) or abs(now / before - 1) * 100 > ROOM:
            diagnostics.append((name, f"{name}: {before} → {now} instructions"))
    return [diagnostic for _, diagnostic in sorted(diagnostics)]


def compare_slashes(counted: dict[str, float]) -> list[str]:
    """
    >>> compare_slashes({"a/hits": 100, "a-slash/hits": 105, "b/hits": 100, "b-slash/hits": 106})
    ['b-slash/hits: 106 instructions, more than 5.0 % over 100 without a slash']
    """
    pairs = [(name, counted[name.replace("-slash", "")], now) for name, now in counted.items() if "-slash/" in name]
    return [
        f"{name}: {now} instructions, more than {SLASH} % over {without} without a slash"
        for name, without, now in pairs
        if now > without * (1 + SLASH / 100)
    ]


def check_start(programs: pathlib.Path) -> None:
    """The built-in engine does no work before the first decision, and none to prepare it: two programs that differ only in the engine are
    counted from their very first instruction on."""

    def total(program: str, decisions: int) -> int:
        return callgrind(programs / program, str(decisions), everything=True)[1]

    def before_main(program: str) -> list[str]:
        # `[18] .init_array INIT_ARRAY ADDRESS OFFSET SIZE …`
        sections = run("readelf", "--wide", "--sections", programs / program).stdout
        return re.findall(r" \.init_array +\S+ +\S+ +\S+ +(\S+)", sections)

    assert before_main("start") == before_main("start-without"), "the engine brings a function that runs before `main`"
    idle, (none, one, two) = total("start-without", 0), (total("start", decisions) for decisions in range(3))
    more, first, second = none - idle, one - none - (total("start-without", 1) - idle), two - one
    print(f"the built-in engine takes {more} instructions at the start, {first} in the first decision, {second} in the next")
    judge_start(more, first, second)


def judge_start(more: int, first: int, second: int) -> None:
    """
    >>> judge_start(300, 860, 850)
    >>> judge_start(300, 3990, 850)
    Traceback (most recent call last):
    AssertionError: there is work in the first decision
    >>> judge_start(4300, 850, 850)
    Traceback (most recent call last):
    AssertionError: there is work before a decision is asked for
    """
    assert more < second, "there is work before a decision is asked for"
    assert first < second * 1.03, "there is work in the first decision"


def main(processor: str, *options: str) -> None:
    name, how, machine = PROCESSORS[processor]
    path, count = BENCHES / name, callgrind if processor == "x86-64" else qemu
    lines = path.read_text().splitlines()
    version = compiler() if options else re.search(r"^# rustc (\S+)$", "\n".join(lines), re.MULTILINE)[1]
    programs = build(version, machine)
    counted = {}
    names = count(programs / "paths")[0].splitlines()
    # Instructions are the same on a busy machine, so every core counts.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as cores:
        answers = cores.map(lambda each: count(programs / "paths", "count", each), names)
        for each, (units, total) in zip(names, answers):
            counted[each] = rounded(total / float(units))
            print(f"{each:<46}{counted[each]:>12}", flush=True)
    if slow := compare_slashes(counted):
        sys.exit("\n".join(slow))
    if options == ("--update",):
        path.write_text(HEAD.format(how, UPDATE, version) + "".join(f"{each}\t{now}\n" for each, now in counted.items()))
        return
    listed = dict(line.split("\t") for line in lines if not line.startswith("#"))
    if diagnostics := compare({each: float(before) for each, before in listed.items()}, counted):
        sys.exit("\n".join([*diagnostics, f"if that is meant, {path} belongs into the same commit: {UPDATE}"]))
    print(f"every path that was counted is within {ROOM} % of {path}")
    if processor == "x86-64":
        check_start(programs)


if __name__ == "__main__":
    main(*sys.argv[1:])
