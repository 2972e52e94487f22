#!/usr/bin/env python3
"""`orbgate replay` answers millions of lines, in order and in constant memory: benches/soak.py [LINES], on Linux, at the root."""

import os
import pathlib
import subprocess
import sys
import threading

LINES = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
# More than this at any time is a leak or a buffer without an end; the second is what an allocator may add after the first tenth.
MOST_KIB, SLACK_KIB = 64 * 1024, 1024

TOKEN = '"token":{"kind":"user","scopes":"read:keys write:voxies"}'
EXTERNAL = "/api/v1/external"
# Kinds of lines, each with what its answer has in it; `#` is the number of the line.
KINDS = [
    (f'{{"method":"POST","target":"{EXTERNAL}/voxies/#/run",{TOKEN},"allow_bonus_orbs_use":true}}', '"reason":"scope_held"'),
    (f'{{"method":"GET","target":"{EXTERNAL}/voxies/#",{TOKEN}}}', '"reason":"scope_missing"'),
    ('{"scope":"read:inference","token":{"kind":"user","scopes":["read:inference"]}}', '"reason":"scope_held"'),
    (f'{{"method":"DELETE","target":"{EXTERNAL}/keys/#","token":null}}', '"reason":"no_token"'),
    (f'{{"method":"DELETE","target":"{EXTERNAL}/keys/#","token":{{"kind":"robot"}}}}', '"reason":"invalid_token"'),
    (f'{{"method":"GET","target":"/elsewhere/#",{TOKEN}}}', '"reason":"no_route"'),
    (f'{{"method":"PUT","target":"{EXTERNAL}/voxies/#",{TOKEN}}}', '"reason":"method_not_declared"'),
    (f'{{"method":"GET","target":"{EXTERNAL}//voxies/#",{TOKEN}}}', '"reason":"malformed_request"'),
    ("this is not JSON #", '{"error":{"line":#,'),
    ("", '{"error":{"line":#,'),
    (f'{{"method":"GET","target":"/#",{TOKEN},"colour":"red"}}', '{"error":{"line":#,'),
    (f'{{"method":"GET","target":"/{"long/" * 20_000}",{TOKEN}}}', '"reason":"malformed_request"'),
]


def kind(line: int) -> tuple[str, str]:
    """No pattern repeats, so that answers in another order are noticed; a long line is rare."""
    number = line * 0x9E3779B97F4A7C15 & (1 << 64) - 1
    number = ((number ^ number >> 30) * 0xBF58476D1CE4E5B9) >> 20 & 0xFFFFFFFF
    return KINDS[-1] if number % 4096 == 0 else KINDS[number % 11]


def feed(pipe) -> None:
    try:
        with pipe:
            for line in range(1, LINES + 1):
                pipe.write(kind(line)[0].replace("#", str(line)) + "\n")
    except BrokenPipeError:
        pass  # it ended early; what it answered, or did not, says why


subprocess.run("cargo build --release -p orbgate-cli".split(), check=True)
orbgate = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "release/orbgate"
replay = subprocess.Popen([orbgate, "replay", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
threading.Thread(target=feed, args=[replay.stdin], daemon=True).start()
peaks = []
for line in range(1, LINES + 1):
    answer, (request, expected) = replay.stdout.readline(), kind(line)
    assert expected.replace("#", str(line)) in answer, f"line {line}: {request}\nwas answered: {answer}not: {expected}"
    # In the middle of each tenth: after its last answer, a program that has ended has no memory left to read.
    if line % (LINES // 10) == LINES // 20:
        status = pathlib.Path(f"/proc/{replay.pid}/status").read_text()
        peaks.append(int(status.split("VmHWM:")[1].split()[0]))
        print(f"{line:>12} lines answered, peak memory {peaks[-1]} KiB", flush=True)
assert replay.stdout.read() == "", "more answers than lines"
assert replay.wait() == 2, f"invalid lines are said by exit code 2, not {replay.returncode}"
assert peaks[-1] <= MOST_KIB and peaks[-1] - peaks[0] <= SLACK_KIB, f"peak memory grew: {peaks}"
