"""A report that is interrupted and resumed is the one that was not interrupted; what is not the same log is not resumed; memory."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from made_up_calls import TABLE
from orbgate import Policy, TableError, logs
from orbgate.__main__ import main
from orbgate._report import Report, make
from orbgate._count.replay import replayed
from orbgate._count import resume
from orbgate._read import input as _input

pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.once

POLICY = Policy.external()
OTHER = Policy.from_yaml(POLICY.text.decode().replace("write:voxies", "write:voxels"))


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many blocks, after each of which the file is written, and many ends at which rare things may be dropped."""
    monkeypatch.setattr(resume, "EVERY", 0)
    monkeypatch.setattr(_input, "PIECE", 50_000)
    monkeypatch.setattr("orbgate._read.reader.ROWS_AT_ONCE", 256)
    monkeypatch.setattr("orbgate._count.decided.ROWS_AT_ONCE", 256)
    monkeypatch.setattr("orbgate._read.tables.ROWS_AT_ONCE", 100)
    monkeypatch.setattr("orbgate._count.counts.WAITING_ROWS", 200)


@pytest.fixture(autouse=True)
def interrupts() -> Iterator[None]:
    """Ctrl+C interrupts programs that are started here, also if a shell runs the tests in the background, where it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def written(folder: Path, name: str) -> list[Path]:
    """A log in a format, with rows that cannot be read."""
    data = pa.BufferOutputStream()
    csv.write_csv(TABLE, data)
    text = data.getvalue().to_pybytes()
    text = text[: len(text) // 3].rpartition(b"\n")[0] + b"\ntorn\n" + text[len(text) // 3 :].partition(b"\n")[2]
    path = folder / name
    if name.endswith(".parquet"):
        pq.write_table(TABLE, path, row_group_size=100)
    elif name.endswith(".json"):
        rows = ({**row, "time": row["time"] and row["time"].isoformat()} for row in TABLE.to_pylist())
        path.write_text("".join(json.dumps(row) + "\n" for row in rows) + "{\n")
    else:
        path.write_bytes(gzip.compress(text, mtime=0) if name.endswith(".gz") else text)
    if name != "two.csv":
        return [path]
    path.with_name("later.csv").write_bytes(text)
    return [path, path.with_name("later.csv")]


def read(paths: list[Path]) -> logs.Reader:
    return logs.read(paths, format="json" if paths[0].suffix == ".json" else None)


def stop_at(log: logs.Reader, row: int) -> Callable[[], None]:
    def watch() -> None:
        if log.rows >= row:
            raise KeyboardInterrupt

    return watch


def run(paths: list[Path], file: Path, stop: int | None = None, policy: Policy = POLICY) -> Report:
    log = read(paths)
    watch = None if stop is None else stop_at(log, stop)
    return make(log, policy, "t", 9, watch, OTHER, None, resume.Resume(file, log, policy, OTHER))


@pytest.mark.parametrize("name", ["calls.csv", "calls.csv.gz", "calls.parquet", "calls.json", "two.csv"])
def test_it_makes_the_same_page_and_bundle(tmp_path: Path, name: str) -> None:
    paths, file = written(tmp_path, name), tmp_path / "state"
    expected = make(read(paths), POLICY, "t", 9, None, OTHER)
    reached = 0
    for stop in (600, 1_000, 1_001, 2_500):
        with pytest.raises(KeyboardInterrupt):
            run(paths, file, stop)
        rows = json.loads(file.read_bytes().partition(b"\n")[0])["rows"]
        assert reached <= rows <= 3 * len(TABLE) and rows > stop - 1_000
        reached = rows
    made = run(paths, file)
    assert made.html == expected.html and made.bundle() == expected.bundle()


@pytest.mark.parametrize("name", ["calls.csv", "calls.csv.gz", "calls.parquet", "calls.json", "two.csv"])
def test_a_replay_makes_the_same_summary(tmp_path: Path, name: str) -> None:
    paths, file = written(tmp_path, name), tmp_path / "state"

    def replay(stop: int | None) -> dict[str, Any]:
        log = read(paths)
        watch = None if stop is None else stop_at(log, stop)
        return replayed(log, POLICY, OTHER, None, 9, 2, watch, resume.Resume(file, log, POLICY, OTHER, "replay")).to_dict()

    expected = logs.replay(read(paths), POLICY, base=OTHER, top=9, examples=2).to_dict()
    for stop in (600, 1_001, 2_500):
        with pytest.raises(KeyboardInterrupt):
            replay(stop)
        assert json.loads(file.read_bytes().partition(b"\n")[0])["rows"] > stop - 1_000
    assert replay(None) == expected
    # What a report has counted is something else.
    log = read(paths)
    with pytest.raises(TableError, match="the command"):
        make(log, POLICY, "t", 9, None, OTHER, None, resume.Resume(file, log, POLICY, OTHER))


def test_the_command_replays_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = written(tmp_path, "calls.csv")
    file = tmp_path / "state"
    command = ["replay", str(path), "--tolerate", "1%", "--json"]
    assert main(command) == 0
    expected = capsys.readouterr().out
    log = read([path])
    arguments = {"tolerate": "1%"}
    log.also.update(arguments)
    with pytest.raises(KeyboardInterrupt):
        replayed(log, POLICY, None, None, 10, 3, stop_at(log, 1_500), resume.Resume(file, log, POLICY, None, "replay with 3 examples"))
    before = file.read_bytes()
    assert main([*command, "--resume", str(file), "--examples", "2"]) == 2 and "the command" in capsys.readouterr().err
    assert file.read_bytes() == before
    assert main([*command, "--resume", str(file)]) == 0 and capsys.readouterr().out == expected
    assert not file.exists()
    for wrong in (["--out", str(tmp_path / "out.parquet"), "--resume", str(file)], ["--resume", str(path)]):
        with pytest.raises(SystemExit):
            main([*command, *wrong])
    assert path.read_bytes() and not file.exists()
    capsys.readouterr()


@pytest.mark.parametrize("about", [[], "x", None, 7])
def test_a_head_of_another_form_is_a_clear_error(tmp_path: Path, about: Any) -> None:
    (path,) = written(tmp_path, "calls.csv")
    file, body = tmp_path / "state", pickle.dumps([])
    head = {"format": resume.FORMAT, "rows": 1, "sha256": hashlib.sha256(body).hexdigest(), "about": about}
    for content in (head, [head], {**head, "about": {}, "rows": "1"}):
        file.write_bytes(json.dumps(content).encode() + b"\n" + body)
        with pytest.raises(TableError, match=" --resume, .* damaged"):
            run([path], file)


def test_rows_before_are_not_decided_again(tmp_path: Path) -> None:
    paths, file = written(tmp_path, "calls.csv"), tmp_path / "state"
    with pytest.raises(KeyboardInterrupt):
        run(paths, file, 2_000)
    log = read(paths)
    seen: list[int] = []
    kept = resume.Resume(file, log, POLICY, OTHER)
    make(log, POLICY, "t", 9, lambda: seen.append(log.rows), OTHER, None, kept)
    # While it is read again there are no rows, and then all at once.
    assert min(row for row in seen if row) > 1_500


def test_what_comes_later_may_grow(tmp_path: Path) -> None:
    (path,) = written(tmp_path, "calls.csv")
    file = tmp_path / "state"
    with pytest.raises(KeyboardInterrupt):
        run([path], file, 2_000)
    path.write_bytes(path.read_bytes() + path.read_bytes().partition(b"\n")[2])
    assert run([path], file).html == make(read([path]), POLICY, "t", 9, None, OTHER).html


def earlier(path: Path, file: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"GET", b"PUT", 1))


def shorter(path: Path, file: Path) -> None:
    path.write_bytes(path.read_bytes()[:1_000])


def cut(path: Path, file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def empty(path: Path, file: Path) -> None:
    file.write_bytes(b"")


def code(path: Path, file: Path) -> None:
    head, _, _ = file.read_bytes().partition(b"\n")
    body = pickle.dumps(os.getcwd)
    forged = {**json.loads(head), "sha256": hashlib.sha256(body).hexdigest()}
    file.write_bytes(json.dumps(forged).encode() + b"\n" + body)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (earlier, "content has changed"),
        (shorter, "(shorter than|content has changed)"),
        (cut, " --resume, .* damaged"),
        (empty, " --resume, .* damaged"),
        (code, "`(posix|nt).getcwd`"),
    ],
)
def test_another_log_or_file_is_refused(tmp_path: Path, change: Callable[[Path, Path], None], message: str) -> None:
    (path,) = written(tmp_path, "calls.csv")
    file = tmp_path / "state"
    with pytest.raises(KeyboardInterrupt):
        run([path], file, 2_000)
    change(path, file)
    with pytest.raises(TableError, match=message):
        run([path], file)


def test_other_arguments_and_policies_are_refused(tmp_path: Path) -> None:
    (path,) = written(tmp_path, "calls.csv")
    file = tmp_path / "state"
    with pytest.raises(KeyboardInterrupt):
        run([path], file, 2_000)
    with pytest.raises(TableError, match="because the policy changed; "):
        run([path], file, policy=OTHER)
    log = logs.read(path, kind="user")
    with pytest.raises(TableError, match="because the arguments for the log "):
        make(log, POLICY, "t", 9, None, OTHER, None, resume.Resume(file, log, POLICY, OTHER))
    for unreadable in (logs.read("-", format="csv"), logs.read(TABLE)):
        with pytest.raises(ValueError, match="only a log of files "):
            resume.Resume(file, unreadable, POLICY, OTHER)


SCRIPT = """
import sys
from orbgate._count import resume
from orbgate._read import input
resume.EVERY, input.PIECE = 0, 50_000
from orbgate.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is no signal there")
def test_ctrl_c_leaves_nothing_half_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = written(tmp_path, "calls.csv")
    file, out, bundle = (tmp_path / name for name in ("state", "page.html", "evidence.zip"))
    arguments = ["report", str(path), "--tolerate", "1%", "--out", str(out), "--bundle", str(bundle), "--resume", str(file)]

    def interrupted() -> tuple[int, str]:
        path.write_bytes(path.read_bytes() + path.read_bytes().partition(b"\n")[2])
        running = subprocess.Popen([sys.executable, "-c", SCRIPT, *arguments], stderr=subprocess.PIPE, text=True)
        while not file.exists() and running.poll() is None:
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate()
        return running.returncode, errors

    code, errors = interrupted()
    # A machine under load may see the file only when all is done: then with a longer log.
    for _ in range(4):
        if code == 0:
            out.unlink()
            bundle.unlink()
            code, errors = interrupted()
    assert code == 130, errors
    assert "Traceback" not in errors and re.search(rf"^interrupted after [\d,]+ rows; run the same command with --resume {re.escape(str(file))} to continue$", errors, re.MULTILINE)
    assert sorted(os.listdir(tmp_path)) == ["calls.csv", "state"]
    assert main(arguments) == 0 and sorted(os.listdir(tmp_path)) == ["calls.csv", "evidence.zip", "page.html"]
    pages = out.read_bytes(), bundle.read_bytes()
    assert main(arguments[:-2]) == 0 and pages == (out.read_bytes(), bundle.read_bytes())
    capsys.readouterr()


SIGNALLED = """
import signal, sys
from orbgate.__main__ import main
from orbgate._read import input
from orbgate._read.decide import Decider
input.PIECE = 50_000
block, name, times = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
decide, seen = Decider.decide, []
def decided(self, batch):
    seen.append(1)
    if len(seen) == block:
        for _ in range(times):
            signal.raise_signal(getattr(signal, name))
    return decide(self, batch)
Decider.decide = decided
sys.exit(main(sys.argv[4:]))
"""


def signalled(folder: Path, command: str, name: str, block: int = 3, times: int = 1) -> tuple[int, str, Path]:
    """Runs a command that gets signals while it counts a block, in its first minute."""
    file, out = folder / "state", ["--out", str(folder / "page.html")] if command == "report" else []
    arguments = [command, str(folder / "calls.csv"), "--tolerate", "1%", *out, "--resume", str(file)]
    done = subprocess.run([sys.executable, "-c", SIGNALLED, str(block), name, str(times), *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr, file


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is no signal there")
@pytest.mark.parametrize("command", ["replay", "report"])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_what_was_counted_before_a_signal_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, name: str) -> None:
    (path,) = written(tmp_path, "calls.csv")
    code, errors, file = signalled(tmp_path, command, name)
    assert code == 130 and sorted(os.listdir(tmp_path)) == ["calls.csv", "state"], errors
    rows = json.loads(file.read_bytes().partition(b"\n")[0])["rows"]
    # The block that was counted is kept, too.
    assert 0 < rows < len(TABLE) and errors == f"interrupted after {rows:,} rows; run the same command with --resume {file} to continue\n"
    out = ["--out", str(tmp_path / "page.html")] if command == "report" else []
    arguments = [command, str(path), "--tolerate", "1%", *out]
    capsys.readouterr()
    assert main([*arguments, "--resume", str(file)]) == 0
    resumed = capsys.readouterr().out, out and (tmp_path / "page.html").read_bytes()
    assert main(arguments) == 0 and resumed == (capsys.readouterr().out, out and (tmp_path / "page.html").read_bytes())
    assert not file.exists()


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is no signal there")
def test_a_second_signal_does_not_wait(tmp_path: Path) -> None:
    written(tmp_path, "calls.csv")
    code, errors, file = signalled(tmp_path, "replay", "SIGINT", times=2)
    assert code == 130 and not file.exists() and "Traceback" not in errors
    assert re.fullmatch(r"interrupted after [\d,]+ rows; nothing was written\n", errors)


def test_before_the_first_row_there_is_nothing_to_keep(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = written(tmp_path, "calls.csv")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("orbgate._read.tables.delimited", interrupted)
    assert main(["replay", str(path), "--resume", str(tmp_path / "state")]) == 130
    assert capsys.readouterr().err == "interrupted before any row was read; nothing was written\n" and os.listdir(tmp_path) == ["calls.csv"]


def test_what_is_no_file_is_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--out /dev/stdout`; and a link stays one."""
    (path,) = written(tmp_path, "calls.csv")
    pipe, real = tmp_path / "pipe", tmp_path / "real.html"
    os.mkfifo(pipe)
    (tmp_path / "page.html").symlink_to(real)
    with open(tmp_path / "read", "wb") as read_to:
        reading = subprocess.Popen(["cat", str(pipe)], stdout=read_to)
    assert main(["report", str(path), "--tolerate", "1%", "--out", str(pipe)]) == 0
    assert reading.wait(timeout=60) == 0
    assert main(["report", str(path), "--tolerate", "1%", "--out", str(tmp_path / "page.html")]) == 0
    assert pipe.is_fifo() and (tmp_path / "page.html").is_symlink() and (tmp_path / "read").read_bytes() == real.read_bytes()
    capsys.readouterr()


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="what /proc says")
def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    """A log of 2,000 callers, and six times as many rows of them."""
    numpy: Any = pytest.importorskip("numpy")
    from access_log import applications, calls

    draw = numpy.random.RandomState(7)
    table = calls(POLICY, applications(POLICY, draw, 2_000), 100_000, draw, days=365)
    table = table.append_column("served_status", pa.array(draw.choice([200, 403, 404], len(table))))
    table = table.append_column("agent", pa.repeat("Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0", len(table)))
    data = pa.BufferOutputStream()
    csv.write_csv(table, data)
    head, lines = (data.getvalue().to_pybytes() + b"torn\n" * 30).split(b"\n", 1)
    script = (
        "import sys; from orbgate.__main__ import main; main(sys.argv[1:]);"
        "print(*(line for line in open('/proc/self/status') if line.startswith('VmHWM')), file=sys.stderr)"
    )
    peaks = []
    for times in (1, 6):
        log = tmp_path / f"{times}.csv"
        log.write_bytes(b"\n".join((head, lines * times)))
        arguments = [sys.executable, "-c", script, "report", str(log), "--tolerate", "1%", "--out", str(tmp_path / "page.html")]
        ran = subprocess.run(arguments, capture_output=True, check=True)
        peaks.append(int(ran.stderr.split()[-2]) // 1024)
    # The longer log is 120 MB longer.
    assert peaks[1] - peaks[0] < 60, peaks
