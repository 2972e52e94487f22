#!/usr/bin/env python3
"""Holds of a ledger compared with the same writes through bare statements, how long callers wait, and a gate's answers with and without a
ledger: `cargo xtask bench --ledger`. Writes the record, and its tables into docs/speed.md."""

import os
import pathlib
import re
import subprocess

PAGE = pathlib.Path("docs/speed.md")
CARGO = "--quiet --locked --release --manifest-path benches/Cargo.toml --no-default-features --features ledger --bin ledger"
STATEMENTS = [*CARGO.split(), "--target-dir", os.environ.get("TARGET", "target") + "/bench"]
STORES = "cargo test --quiet --release -p orbgate-ledger --all-features --test all".split()
CALLERS = "cargo test --quiet --release -p orbgate-tower --all-features --test ledger".split()
MEASURES = ["speed", "--", "--ignored", "--nocapture", "--test-threads=1"]
RECORD = """\
# Ledger, {date}

`cargo xtask bench --ledger` at {commit}: {model}, {processors} processors, at a load of {before:.2f} before it and {after:.2f} after it.

Bare statements write the same rows to the same tables, in transactions of the same size and as durably; the best round counts. In SQLite they are
prepared, and a row each. In PostgreSQL, where a pool may lack prepared statements, they have no name; one locks the account, and each table's
rows are one statement. A ledger also reads the account and its grants, chooses among them, crosses to its thread and back, and checks what it changes.
It sends what it reads at once, and what it writes with the commit, so the network counts less: "1 ms each way" delays what is sent and what is
answered. Then clients send one hold after another, each of which waits for its commit, and holds are measured in accounts with much in them, and while
much expires. At last, calls of a service go through the tower layer: one that holds nothing and one that holds 10 orbs take turns, over connections
that stay open, each with its account and token. The gate remembers signatures. Times are from the request to the end of the answer's head: a
hold's commit is before the handler, and settlements share commits after it. SQLite and PostgreSQL sync each commit to the same disk.

{tables}"""


def tables_of(output: str) -> list[str]:
    """The tables of an output. The harness reports a test that takes longer, in the middle of its table.

    >>> tables_of("running 1 test\\n| a | b |\\n|--|--|\\ntest it has been running\\n| 1 | 2 |\\n.\\n\\n| c |\\n|--|\\n| 3 |\\n")
    ['| a | b |\\n|--|--|\\n| 1 | 2 |\\n', '| c |\\n|--|\\n| 3 |\\n']
    """
    return re.findall(r"(?:^\|.*\n)+", re.sub(r"^test .*\n", "", output, flags=re.MULTILINE), re.MULTILINE)


def replaced(page: str, table: str) -> str:
    """A page with this table instead of the one with the same head.

    >>> replaced("# Page\\n\\n| a | b |\\n|--|--|\\n| 8 | 9 |\\n| 9 | 9 |\\n\\nText\\n", "| a | b |\\n|--|--|\\n| 1 | 2 |\\n")
    '# Page\\n\\n| a | b |\\n|--|--|\\n| 1 | 2 |\\n\\nText\\n'
    >>> replaced("# Page\\n", "| c |\\n|--|\\n")
    Traceback (most recent call last):
    ValueError: docs/speed.md has no table | c |
    """
    head = table.partition("\n")[0]
    before, separator, after = page.partition(head)
    if not separator:
        raise ValueError(f"{PAGE} has no table {head}")
    return before + table + "\n" + after.partition("\n\n")[2]


def printed(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.rstrip("\n")


def main() -> None:
    # What is built takes the processors from what is measured.
    subprocess.run(["cargo", "build", *STATEMENTS], check=True)
    for tests in STORES, CALLERS:
        subprocess.run([*tests, "--no-run"], check=True)
    before = os.getloadavg()[0]
    tables = []
    for command in ["cargo", "run", *STATEMENTS], [*STORES, *MEASURES], [*CALLERS, *MEASURES]:
        output = printed(*command)
        print(f"$ {' '.join(command)}\n{output}")
        tables += tables_of(output + "\n")
    after = os.getloadavg()[0]
    date, commit = printed("date", "-u", "+%F"), printed("git", "rev-parse", "--short=12", "HEAD")
    models = re.findall(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    figures = {"date": date, "commit": commit, "model": models[0], "processors": len(models), "before": before, "after": after}
    record = f"benches/record/{date}-{'-'.join(models[0].split(' ')[:2]).lower()}-ledger.md"
    pathlib.Path(record).write_text(RECORD.format(tables="\n".join(tables), **figures))
    page = PAGE.read_text()
    for table in tables:
        page = replaced(page, table)
    PAGE.write_text(re.sub(r"^\[ledger\]: .*$", f"[ledger]: ../{record}", page, flags=re.MULTILINE))


if __name__ == "__main__":
    main()
