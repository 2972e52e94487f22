"""The same requests in every format of a log get the same answers: those of `decide` and of the `orbgate` command."""

from __future__ import annotations

import gzip
import importlib.util
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from orbgate import Policy, TableError, Token, logs
from orbgate._read import input as _input

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from test_logs import decided, read_rows  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
COLUMNS = ["method", "target", "kind", "scopes", "bonus", "by_scope"]
Request = dict[str, Any]


def cases() -> dict[str, list[Request]]:
    """Every case of policy/cases as a request, by policy."""
    spec = importlib.util.spec_from_file_location("run", ROOT / "policy/cases/run.py")
    assert spec and spec.loader
    runner = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runner)
    by_policy: dict[str, list[Request]] = {}
    for _, case in runner.cases():
        request: Request = {name: runner.plain(case[name]) for name in ("method", "target", "scopes", "by_scope")}
        request["kind"] = case["kind"].encode() or None
        request["bonus"] = case["bonus"] == "yes"
        if request["by_scope"]:
            request["method"] = request["target"] = None
        else:
            request["by_scope"] = None
        by_policy.setdefault(case["policy"], []).append(request)
    return by_policy


CASES = cases()


def policy_of(name: str) -> Policy:
    folder = ROOT / "policy"
    return Policy.from_file(folder / "external.yaml" if name == "external" else folder / "cases/policies" / f"{name}.yaml")


def is_text(request: Request) -> bool:
    """Whether JSON can hold it."""
    try:
        return all(value.decode() is not None for value in request.values() if isinstance(value, bytes))
    except UnicodeDecodeError:
        return False


def is_in_access_logs(request: Request) -> bool:
    """A request line starts with a method, and a log of calls has no scopes asked for without one."""
    return bool(request["method"]) and b" " not in request["method"]


def text(value: bytes | None) -> str | None:
    return None if value is None else value.decode()


def write_requests(path: Path, requests: list[Request]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for request in requests:
            if request["by_scope"] is None:
                line: dict[str, Any] = {"method": text(request["method"]), "target": text(request["target"])}
            else:
                line = {"scope": text(request["by_scope"])}
            if request["kind"] is not None:
                line["token"] = {"kind": text(request["kind"]), "scopes": text(request["scopes"])}
            file.write(json.dumps({**line, "allow_bonus_orbs_use": request["bonus"]}) + "\n")


def write_flat(path: Path, requests: list[Request]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for request in requests:
            values = ((name, request[name]) for name in COLUMNS)
            line = {name: value.decode() if isinstance(value, bytes) else value for name, value in values}
            file.write(json.dumps({**line, "other": {"things": [1]}}) + "\n")


# What a CSV file has in quotes (RFC 4180); the writer of Python 3.10 cannot write every byte.
QUOTED = re.compile(rb'[",\t\r\n]')


def write_csv(path: Path, requests: list[Request], delimiter: str = ",") -> None:
    lines = [delimiter.join(["id", *COLUMNS]).encode()]
    for number, request in enumerate(requests):
        values = (request[name] for name in COLUMNS)
        cells = (b"" if value is None else value if isinstance(value, bytes) else str(value).lower().encode() for value in values)
        quoted = (b'"' + cell.replace(b'"', b'""') + b'"' if QUOTED.search(cell) else cell for cell in cells)
        lines.append(delimiter.encode().join([str(number).encode(), *quoted]))
    path.write_bytes(b"".join(line + b"\r\n" for line in lines))


def write_parquet(path: Path, requests: list[Request]) -> None:
    binary = {name: pa.array([request[name] for request in requests], pa.binary()) for name in COLUMNS if name != "bonus"}
    bonus = pa.array([request["bonus"] for request in requests])
    pq.write_table(pa.table({**binary, "bonus": bonus, "other": bonus}), path, row_group_size=100)


def nginx(value: bytes | None) -> str:
    """A field as nginx writes it."""
    plain = range(0x20, 0x7F)
    escaped = (chr(byte) if byte in plain and byte not in b'"\\' else f"\\x{byte:02X}" for byte in value or b"")
    return "-" if value is None else "".join(escaped)


APACHE = {0x22: '\\"', 0x5C: "\\\\", 0x08: "\\b", 0x09: "\\t", 0x0A: "\\n", 0x0B: "\\v", 0x0D: "\\r"}


def apache(value: bytes | None) -> str:
    """A field as Apache writes it."""
    escaped = (APACHE.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}") for byte in value or b"")
    return "-" if value is None else "".join(escaped)


def write_access(path: Path, requests: list[Request], escape: Callable[[bytes | None], str] = nginx) -> None:
    with path.open("w", encoding="ascii", newline="") as file:
        for request in requests:
            call, kind = f"{escape(request['method'])} {escape(request['target'])}", escape(request["kind"])
            file.write(
                f'10.0.0.1 - ann [20/Nov/2026:13:05:00 +0100] "{call} HTTP/1.1" 200 17 "-" "curl \\x22" '
                f'"{escape(request["scopes"])}" "{kind}" {str(request["bonus"]).lower()}\n'
            )


NAMED = {"allow_bonus_orbs_use": "bonus"}
EXTRA = {"scopes": "extra1", "kind": "extra2", "allow_bonus_orbs_use": "extra3"}
FORMATS: dict[str, tuple[str, Callable[[Path, list[Request]], None], dict[str, Any], Callable[[Request], bool]]] = {
    "requests": ("a.jsonl", write_requests, {}, is_text),
    "flat objects": ("a.jsonl", write_flat, {"columns": NAMED}, is_text),
    "csv": ("a.csv", write_csv, {"columns": NAMED}, lambda request: True),
    "tsv": ("a.tsv", lambda path, rows: write_csv(path, rows, "\t"), {"columns": NAMED}, lambda request: True),
    "parquet": ("a.parquet", write_parquet, {"columns": NAMED}, lambda request: True),
    "nginx": ("a.log", write_access, {"columns": EXTRA}, is_in_access_logs),
    "apache": ("a.log", lambda path, rows: write_access(path, rows, apache), {"columns": EXTRA}, is_in_access_logs),
}


def answer(policy: Policy, request: Request) -> dict[str, Any]:
    """What `decide` says of a request."""
    token = None if request["kind"] is None else Token(request["kind"].decode(), request["scopes"])
    if request["by_scope"] is not None:
        decision = policy.decide_scope(request["by_scope"], token, allow_bonus_orbs_use=request["bonus"])
    else:
        decision = policy.decide(request["method"], request["target"], token, allow_bonus_orbs_use=request["bonus"])
    fields = decision.to_dict()
    orbs = fields.pop("orbs") or dict.fromkeys(["consumes", "amount", "bonus_allowed"])
    needs = needs_of(fields.pop("scopes", None))
    return {**fields, **orbs, "about": decision.about, "needs": needs}


def needs_of(scopes: list[list[str]] | None) -> str | None:
    """The alternatives of a decision as a table has them."""
    return json.dumps(scopes, separators=(",", ":")) if scopes else None


@pytest.mark.once
@pytest.mark.parametrize("format", FORMATS)
def test_every_format_gives_the_answers_of_the_cases(tmp_path: Path, format: str) -> None:
    name, write, options, fits = FORMATS[format]
    ran = 0
    for policy_name, requests in CASES.items():
        policy = policy_of(policy_name)
        requests = [request for request in requests if fits(request)]
        write(tmp_path / name, requests)
        rows = decided(tmp_path, logs.read(tmp_path / name, **options), policy)
        assert len(rows) == len(requests)
        for row, request in zip(rows, requests):
            expected = answer(policy, request)
            assert {key: row[key] for key in expected} == expected, request
            assert row["error"] is None
        ran += len(rows)
    assert ran > 1_500


@pytest.mark.once
def test_the_orbgate_command_gives_the_same_answers(tmp_path: Path, command: str) -> None:
    """Line by line, over every case of policy/cases that JSON can hold, and lines that are no requests."""
    ran = 0
    for name, cases in CASES.items():
        path = tmp_path / "requests.jsonl"
        write_requests(path, [request for request in cases if is_text(request)])
        text = path.read_bytes()
        path.write_bytes(text[:50] + b"\n" + NO_REQUESTS + text + text[:80])
        file = "external.yaml" if name == "external" else f"cases/policies/{name}.yaml"
        line = [command, "replay", str(path), "--policy", str(ROOT / "policy" / file)]
        answers = subprocess.run(line, capture_output=True, check=False)
        assert answers.returncode == 2
        expected = [json.loads(answer) for answer in answers.stdout.splitlines()]
        logs.replay(logs.read(path), policy_of(name), out=tmp_path / "out.parquet")
        rows = pq.read_table(tmp_path / "out.parquet").to_pylist()
        assert len(rows) == len(expected)
        for row, answer in zip(rows, expected):
            assert said(row) == answer
        ran += len(rows)
    assert ran > 1_900


NO_REQUESTS = (
    b'\n \t\r\n{}\n[]\nnull\n"\n{"method":"GET"}\n{"method":"GET","target":"/","target":"/"}\n\xff\n\xef\xbb\xbf{}\n'
    b'{"method":"GET","target":"/","kind":"user"}\n{"method":1,"target":"/"}\n{"scope":"a","method":"GET"}\n'
    b'{"method":"GET","target":"/\\ud800"}\n{"method":"GET","target":"/","token":{}}\n'
    b'{"method":"GET","target":"/","token":{"kind":"user","scopes":["a b","read:orbs"," "]}}\n'
    b'{"method":"GET","target":"/","token":{"kind":"User","scopes":[]},"allow_bonus_orbs_use":null}\n'
)


def said(row: dict[str, Any]) -> dict[str, Any]:
    """A row as the command says it, which has no other format to point to."""
    if row["error"] is not None:
        message = row["error"].removesuffix("; for flat objects with other members, use the format `json`")
        return {"error": {"line": row["row"], "message": message}}
    names = ("decision", "status", "reason", "detail", "api", "route", "scope", "policy")
    orbs = {name: row[name] for name in ("consumes", "amount", "bonus_allowed")}
    scopes = {} if row["needs"] is None else {"scopes": json.loads(row["needs"])}
    return {**{name: row[name] for name in names}, **scopes, "orbs": None if orbs["consumes"] is None else orbs}


@pytest.mark.parametrize("format", ["requests", "flat objects", "csv", "nginx"])
@pytest.mark.parametrize("piece", [1, 7, 64, 1 << 20])
def test_pieces_and_ends_of_lines_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str, piece: int
) -> None:
    name, write, options, fits = FORMATS[format]
    requests = [request for request in CASES["inference-allow"] if fits(request)][:20]
    path = tmp_path / name
    write(path, requests)
    content = path.read_bytes()
    expected = read_rows(path, content, **options)
    assert len(expected) == len(requests)
    monkeypatch.setattr(_input, "PIECE", piece)
    unix = content.replace(b"\r\n", b"\n")
    for text in (unix, unix.replace(b"\n", b"\r\n"), unix.removesuffix(b"\n"), gzip.compress(unix), zstd(unix)):
        assert read_rows(path, text, **options) == expected
    # Several compressed pieces one after the other are one log.
    assert read_rows(path, gzip.compress(unix[:100]) + gzip.compress(unix[100:]), **options) == expected


def zstd(content: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return bytes(sink.getvalue())


@pytest.mark.parametrize("format", ["requests", "flat objects", "csv", "nginx"])
def test_a_log_that_breaks_off(tmp_path: Path, policy: Policy, format: str) -> None:
    """Every whole line before the end counts, and the end is an error."""
    name, write, options, fits = FORMATS[format]
    requests = [request for request in CASES["external"] if fits(request)]
    path = tmp_path / name
    write(path, requests)
    whole = gzip.compress(path.read_bytes())
    expected = read_rows(path, whole, **options)
    path.write_bytes(whole[: len(whole) * 2 // 3])
    rows, reader = [], logs.read(path, **options)
    with pytest.raises(TableError, match="cannot read .*: .*end-of-stream"):
        for batch in reader:
            rows += batch.to_pylist()
    assert 0 < len(rows) < len(expected) and rows == expected[: len(rows)]
    summary = logs.replay(logs.read(path, **options), policy)
    assert summary.rows == len(rows) and summary.broken and not summary.is_complete
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 0xFF
    path.write_bytes(bytes(damaged))
    with pytest.raises(TableError, match="cannot read"):
        list(logs.read(path, **options))


def test_a_flat_log_that_is_taken_for_requests_says_so(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"method":"GET","target":"/","user":"ann"}\n{"method":"GET","target":"/"}\n[]\n')
    [batch] = logs.read(log)
    unknown, none, other = batch["error"].to_pylist()
    assert unknown.startswith("unknown field `user`") and unknown.endswith(", use the format `json`")
    assert none is None and "format" not in other
    [batch] = logs.read(log, format="json")
    assert batch["error"].to_pylist()[:2] == [None, None]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("calls.jsonl", '{"method":"GET","target":"/","token":{"kind":"user","scopes":"a"}}\n'), ("flat.json", '{"method":"GET","target":"/","kind":"user","scopes":"a"}\n'),
        ("calls.csv", "method,target,kind,scopes\nGET,/,user,a\n"), ("calls.tsv", "method\ttarget\tkind\tscopes\nGET\t/\tuser\ta\n"),
        ("access.log", '::1 - - [20/Nov/2026:13:05:00 +0000] "GET / HTTP/1.1" 200 17\n'),
    ],
)  # fmt: skip
def test_a_byte_order_mark_costs_no_row(name: str, text: str, tmp_path: Path) -> None:
    format = "json" if name == "flat.json" else None
    (tmp_path / name).write_bytes(text.encode())
    wanted = pa.table(logs.read(tmp_path / name, format=format)).to_pylist()
    (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert pa.table(logs.read(tmp_path / name, format=format)).to_pylist() == wanted
    assert [(row["method"], row["target"], row["error"]) for row in wanted] == [("GET", "/", None)]


SERVERS = {
    "W3C": "#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query c-ip cs(X-Scopes) sc-status\n"
    "2026-11-12 11:49:08 10.0.0.1 GET /api/v1/external/orbs - 203.0.113.1 read:orbs 200\n"
    "#Remark: a restart\n",
    "ALB": "h2 2026-11-12T11:49:08Z app/lb-a/30118 203.0.113.1:13624 198.51.100.1:8000 0.000 0.177 0.000 200 200 961 2071 "
    '"GET https://shop.example:443/api/v1/external/orbs HTTP/2.0" "curl/8" TLS_AES TLSv1.3 arn:x "Root=1-66" "shop.example" "arn:y" 10160 -\n',
    "HAProxy": "203.0.113.1:33317 [12/Nov/2026:11:49:08.000] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {read:orbs} "
    '"GET /api/v1/external/orbs HTTP/1.1"\n',
    "Envoy": '[2026-11-12T11:49:08Z] "GET /api/v1/external/orbs HTTP/2" 200 - 0 17 3 2 "203.0.113.1" "curl/8" "1b6c" "shop.example" "10.0.0.1:80"\n',
}


@pytest.mark.parametrize("server", SERVERS)
def test_the_logs_of_other_servers(tmp_path: Path, server: str, policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    scopes = {"W3C": {"scopes": "cs(X-Scopes)"}, "HAProxy": {"scopes": "extra1"}}.get(server)
    options: dict[str, Any] = {"columns": scopes} if scopes else {"scopes": "read:orbs"}
    for piece in (1, 1 << 20):
        # A header counts for the blocks after its own.
        monkeypatch.setattr(_input, "PIECE", piece)
        [row] = read_rows(tmp_path / "access.log", SERVERS[server].encode(), kind="user", **options)
        assert (row["method"], row["target"], row["scopes"]) == ("GET", "/api/v1/external/orbs", "read:orbs")
        assert (row["caller"], row["served_status"], str(row["time"])) == ("203.0.113.1", 200, "2026-11-12 11:49:08+00:00")
    summary = logs.replay(logs.read(tmp_path / "access.log", kind="user", **options), policy)
    assert summary.to_dict()["allowed"] == 1


def test_a_broken_line_names_its_format(tmp_path: Path) -> None:
    for server, log in SERVERS.items():
        broken = log.replace("200 ", "x ", 1).replace("/orbs -", "/orbs x -")
        [row] = read_rows(tmp_path / "access.log", broken.encode())
        assert row["error"].startswith(f"{server}: ") and row["method"] is None, row["error"]
    # A header belongs to its file.
    (tmp_path / "1.log").write_text(SERVERS["W3C"])
    (tmp_path / "2.log").write_text("# no comment\n")
    errors = pa.table(logs.read([tmp_path / "1.log", tmp_path / "2.log"])).column("error").to_pylist()
    assert errors[0] is None and errors[1].endswith("no time in brackets between the user and the request's quotes")


def test_a_compressed_log_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = b'{"method":"GET","target":"/"}\n'
    monkeypatch.setattr(_input, "DECOMPRESSED_LIMIT", len(line) * 3)
    for compress in (gzip.compress, zstd):
        assert len(read_rows(tmp_path / "a.jsonl", compress(line * 3))) == 3
        (tmp_path / "a.jsonl").write_bytes(compress(line * 4))
        with pytest.raises(TableError, match="longer than 64 GiB when decompressed"):
            list(logs.read(tmp_path / "a.jsonl"))
    assert len(read_rows(tmp_path / "a.jsonl", line * 4)) == 4
