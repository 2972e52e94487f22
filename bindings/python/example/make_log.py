"""Makes up a log of any size, in constant memory: `python make_log.py ROWS FILE [--callers N] [--days N] [--dirty SHARE] [--seed N]`.

The file's name says its format: `.csv`, `.json` (flat objects) or `.log` (access log), and after it `.gz`; `-.csv` is standard output. The calls are those of
`access_log.py`, with the status with which a server answered them, which in a few rows is not what the policy decides. Of the rows, a
share is dirty: cut off, no text, or with a time or a status that is none. The same arguments always give the same text. Needs numpy and `orbgate[logs]`.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from collections.abc import Iterator
from datetime import timedelta
from typing import IO, Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute  # type: ignore[import-untyped]
from access_log import FIRST, applications, calls
from orbgate import Policy

pc: Any = pyarrow.compute

ROWS_A_PART = 200_000
# How many calls the server answered otherwise than the policy decides.
OTHERWISE = 0.002
AGENTS = [
    "curl/8.11.0",
    "python-requests/2.32.3",
    "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
]
NAMES = ("time", "caller", "method", "target", "served_status", "kind", "scopes", "allow_bonus_orbs_use", "agent")
TIMES = {"csv": "%Y-%m-%dT%H:%M:%SZ", "json": "%Y-%m-%dT%H:%M:%SZ", "log": "%d/%b/%Y:%H:%M:%S +0000"}
# Each line is these, with a column's text between any two.
FORMS = {
    "csv": ["", *[","] * (len(NAMES) - 2), ',"', '"\n'],
    "json": ['{"time":"', *[f'","{name}":"' for name in NAMES[1:]], '"}\n'],
    "log": ["10.0.0.7 - ", " [", '] "', " ", ' HTTP/1.1" ', ' 17 "-" "', '" "', '" ', " ", "\n"],
}
ORDER = {"log": ("caller", "time", "method", "target", "served_status", "agent", "scopes", "kind", "allow_bonus_orbs_use")}
HEADS = {"csv": ",".join(NAMES) + "\n"}
# Lines that no format reads.
TORN = [b"2026-11-02T\n", b"\xff\xfe\x00 <GET>\n", b"\n"]


def texts(format: str, rows: int, seed: int, callers: int, days: int, dirty: float) -> Iterator[Any]:
    """The log's text, part by part."""
    policy = Policy.external()
    known = applications(policy, np.random.RandomState(seed), callers)
    yield HEADS.get(format, "").encode()
    parts = range(0, rows, ROWS_A_PART)
    for at, start in enumerate(parts):
        draw = np.random.RandomState([seed, at])
        first = FIRST + timedelta(days * at // len(parts))
        length = max(1, days * (at + 1) // len(parts) - days * at // len(parts))
        table = calls(policy, known, min(ROWS_A_PART, rows - start), draw, first, length)
        yield _text(format, _columns(policy, table, TIMES[format], draw, dirty), draw, dirty)


def _columns(policy: Policy, table: pa.Table, time: str, draw: np.random.RandomState, dirty: float) -> dict[str, Any]:
    """The columns as texts, some of which are not what they should be."""
    rows = table.num_rows

    def chosen(share: float) -> Any:
        return pa.array(draw.random_sample(rows) < share)

    # Without a status, the policy allows.
    decided = policy.decide_table(table).to_pyarrow()["status"].cast(pa.int64()).fill_null(200)
    other = pc.if_else(pc.equal(decided, 200), 403, 200)
    status = pc.if_else(chosen(OTHERWISE), other, decided).cast(pa.string())
    columns = {name: table[name].cast(pa.string()) for name in ("method", "target", "scopes", "caller", "allow_bonus_orbs_use")}
    return {
        **columns,
        "kind": table["kind"].fill_null("-" if time == TIMES["log"] else ""),
        "time": pc.if_else(chosen(dirty / 3), "yesterday", pc.strftime(table["time"].cast(pa.timestamp("s"), safe=False), time)),
        "served_status": pc.if_else(chosen(dirty / 3), "9", status),
        "agent": pa.array(AGENTS).take(pa.array(draw.randint(0, len(AGENTS), rows))),
    }


def _text(format: str, columns: dict[str, Any], draw: np.random.RandomState, dirty: float) -> Any:
    """The lines of some rows."""
    parts: list[Any] = []
    for between, name in zip(FORMS[format], ORDER.get(format, NAMES)):
        parts += [between, columns[name]]
    lines = pc.binary_join_element_wise(*parts, FORMS[format][-1], "").cast(pa.binary()).combine_chunks()
    rows = len(lines)
    torn = pa.array(TORN).take(pa.array(draw.randint(0, len(TORN), rows)))
    lines = pc.if_else(pa.array(draw.random_sample(rows) < dirty / 3), torn, lines)
    # One line is behind the other already.
    return memoryview(lines.buffers()[2])[: pc.sum(pc.binary_length(lines)).as_py()]


def main() -> None:
    parser = argparse.ArgumentParser(description="Make up a log.")
    parser.add_argument("rows", type=int)
    parser.add_argument("file")
    parser.add_argument("--callers", type=int, default=20_000)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--dirty", type=float, default=0.001, metavar="SHARE")
    parser.add_argument("--seed", type=int, default=7)
    said = parser.parse_args()
    name = said.file.removesuffix(".gz")
    format = name.rpartition(".")[2]
    if format not in FORMS:
        parser.error(f"`{name}` ends with none of .{', .'.join(FORMS)}")
    raw: IO[bytes] = sys.stdout.buffer if name == f"-.{format}" else open(said.file, "wb")
    # Without a name and a time, the same text makes the same file.
    file: Any = gzip.GzipFile("", "wb", 1, raw, 0) if name != said.file else raw
    with raw, file:
        for text in texts(format, said.rows, said.seed, said.callers, said.days, said.dirty):
            file.write(text)


if __name__ == "__main__":
    main()
