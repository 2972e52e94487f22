"""Tokens by their fingerprints: used by two clients, from two networks at once, and served after they expire. No token is stored or shown."""

from __future__ import annotations

import html
import json
import re
from datetime import datetime, timedelta, timezone
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from expected import Expected
from orbgate import Policy, logs, report

pa = pytest.importorskip("pyarrow")
pytest.importorskip("vl_convert")

from orbgate._report.tokens import networks  # noqa: E402

pytestmark = pytest.mark.once

POLICY = Policy.from_yaml("{orbgate: 1, apis: {shop: {base_path: '', scopes: {look: {orbs: false, routes: [GET /items]}}}}}")
START = datetime(2026, 11, 2, tzinfo=timezone.utc)
NAMED = {"token": "fingerprint", "address": "ip", "token_expires": "until", "served_status": "status"}
ONE, TWO, THREE = "00000000000000aa", "00000000000000bb", "00000000000000cc"


def call(minute: float, token: str | None = ONE, caller: str = "ann", ip: str | None = "11.0.0.7", until: float | None = 10_000, status: int = 200) -> dict[str, Any]:
    end = None if until is None else START + timedelta(minutes=until)
    return {"method": "GET", "target": "/items", "kind": "user", "scopes": "look", "caller": caller, "time": START + timedelta(minutes=minute), "fingerprint": token, "ip": ip, "until": end, "status": status}


def uses(*calls: dict[str, Any]) -> dict[tuple[str, str], tuple[int, int]]:
    made = report(pa.Table.from_pylist([*calls, call(0, TWO), call(50, TWO)]), POLICY, columns=NAMED)
    return {(row.token, row.what): (row.calls, row.row) for row in made.figures.tokens.uses}


SHARED, NETWORKS, EXPIRED = "used by several clients", "used from two networks within a minute", "served after its expiry"


@pytest.mark.parametrize(
    ("calls", "suspicious"),
    [
        ([call(0), call(1), call(2, caller="eve")], {SHARED: (1, 3)}),
        ([call(0), call(0.9, ip="11.0.1.7")], {NETWORKS: (2, 1)}),
        ([call(0), call(0.5, caller="eve", ip="11.0.1.7")], {SHARED: (1, 2)}),
        ([call(0), call(0.9, ip="11.0.0.8")], {}),
        ([call(0), call(1, ip="11.0.1.7")], {}),
        ([call(0), call(0.5, ip=None), call(0.5, ip="unknown")], {}),
        ([call(0, ip="2001:db8::1"), call(0.5, ip="2001:db8:0:9::1")], {}),
        ([call(0, ip="2001:db8::1"), call(0.5, ip="2001:db8:1::1")], {NETWORKS: (2, 1)}),
        ([call(0, ip="11.0.0.7"), call(0.5, ip="::ffff:11.0.0.9")], {}),
        ([call(5.5, until=4), call(6, until=4, status=401), call(3, until=4)], {EXPIRED: (1, 1)}),
        ([call(4, until=4), call(5, until=4), call(9, until=None)], {}),
        ([call(0, ip="10.0.0.7"), call(0.5, ip="10.0.1.7")], {}),
        ([call(0, ip="2001:db8::1"), call(0.5, ip="11.0.0.7")], {}),
        ([call(0, token=None), call(0.1, token=None, caller="eve", ip="11.9.9.9")], {}),
    ],
)
def test_what_is_suspicious(calls: list[dict[str, Any]], suspicious: dict[str, tuple[int, int]]) -> None:
    assert uses(*calls) == {(ONE, what): of for what, of in suspicious.items()}


def test_the_order_of_rows_does_not_matter() -> None:
    calls = [call(at / 7, token, caller, ip, until=3) for at, (token, caller, ip) in enumerate([(ONE, "ann", "11.0.0.1"), (TWO, "eve", "11.0.1.1"), (ONE, "eve", "11.0.2.1"), (THREE, "bob", "11.0.3.1"), (THREE, "bob", "11.0.4.1")] * 9)]
    assert {key: of[0] for key, of in uses(*calls).items()} == {key: of[0] for key, of in uses(*calls[::-1]).items()} and len(uses(*calls)) == 6


def test_a_token_itself_is_hashed_before_it_is_shown(tmp_path: Path, expected: Expected) -> None:
    secret = "eyJhbGciOiJub25lIn0.e30."
    calls = [call(0, secret), call(0.5, secret, "eve", "192.0.2.1"), call(20, "00000000000000AA", until=0)]
    table = pa.Table.from_pylist(calls)
    made = report(table, POLICY, columns=NAMED)
    name = sha256(secret.encode()).hexdigest()[:16]
    assert {row.token for row in made.figures.tokens.uses} == {name, sha256(b"00000000000000AA").hexdigest()[:16]}
    out = tmp_path / "out.parquet"
    path = tmp_path / "calls.json"
    path.write_text("".join(json.dumps({**row, "time": row["time"].isoformat(), "until": row["until"].isoformat()}) + "\n" for row in calls))
    logs.replay(logs.read(path, format="json", columns=NAMED), POLICY, out=out)
    for text in (made.html, made.bundle().decode("latin-1"), out.read_bytes().decode("latin-1")):
        assert secret not in text and name in text
    same = report(path, POLICY, format="json", columns=NAMED)
    assert same.figures.tokens == made.figures.tokens
    rows = made.figures.findings.where(lambda row: row.section == "Tokens")
    assert [(row.kind, row.level) for row in rows] == [("expired_token", "high"), ("shared_token", "medium")]
    assert all(row.sentence in html.unescape(made.html) for row in rows) and "<h2>Tokens</h2>" in made.html
    expected(*(text for row in rows for text in (row.sentence, row.action)))


def findings(*calls: dict[str, Any]) -> Any:
    return report(pa.Table.from_pylist([*calls]), POLICY, columns=NAMED).figures.findings


@pytest.mark.parametrize(("minutes", "kind", "level"), [((0.9, 1), None, None), ((2, 9), "late_tokens", "medium"), ((2, 16), "expired_token", "high")])
def test_tokens_that_are_late_by_minutes_may_show_a_clock(minutes: tuple[float, float], kind: str | None, level: str | None, expected: Expected) -> None:
    """One pod's clock was nine minutes ahead, and each token that it served was said to be stolen or unchecked. All are one finding."""
    rows = findings(*(call(at, f"{at:016x}", f"c{at % 7}", until=at - minutes[at % 2]) for at in range(60, 120)))
    late = rows.where(lambda row: row.section == "Tokens")
    assert [(row.kind, row.level, row.affected) for row in late] == ([] if kind is None else [(kind, level, 60)])
    expected("nothing", *(text for row in late for text in (row.sentence, row.action)))


def test_one_token_has_its_expiry_and_several_have_theirs() -> None:
    for tokens, words in ((1, "1 token was served after its expiry: "), (2, "2 tokens were served after their expiry: ")):
        [finding] = findings(*(call(20 + at, f"{at:016x}", until=0) for at in range(tokens))).where(lambda row: row.kind == "expired_token")
        assert finding.sentence.startswith(words)


@pytest.mark.parametrize(("life", "before", "tokens", "is_clock"), [(60, 8, 60, True), (60, 40, 60, False), (10, 9, 60, False), (15, 5, 60, True), (60, 8, 4, True), (15, 5, 4, False), (60, 8, 1, False)])
def test_tokens_that_are_refused_in_their_last_minutes_show_a_clock(life: int, before: int, tokens: int, is_clock: bool) -> None:
    """Only if they would hardly all be refused so late by chance."""
    served = [call(at, f"{at:016x}", until=at + life * (at % 10 + 1) / 10) for at in range(100)]
    refused = [call(at, f"{100 + at % tokens:016x}", until=at + 2 + (at % 7) * before / 7, status=401) for at in range(100, 160)]
    [finding] = findings(*served, *refused).where(lambda row: row.kind == "refused_though_allowed")
    assert (" before their tokens expire, as if a clock of the server were ahead" in finding.sentence) is is_clock


def hours(callers: int, devices: int, apart: float, gap: float, ahead: float) -> list[dict[str, Any]]:
    """Six hours of callers with tokens of an hour, which are renewed after a 401. The clock of every fourth answer is ahead."""
    calls = []
    for client, device in product(range(callers), range(devices)):
        of, tokens, minute = f"c{client}", 0, client * 7 + device * apart
        until = minute + 60
        for at in range(int(360 / gap)):
            shown = (now := minute + at * gap) + (ahead if at % 4 == 0 else 0)
            is_refused = shown > until
            calls.append({**call(shown, f"{client:08x}{device:04x}{tokens:04x}", of, until=until, status=401 if is_refused else 200), **({"kind": None, "scopes": None} if is_refused else {})})
            if now > until:
                until, tokens = now + 60, tokens + 1
    return calls


@pytest.mark.parametrize(
    ("callers", "devices", "apart", "gap", "ahead", "is_clock"),
    [(5, 1, 0, 1, 9, True), (20, 1, 0, 3, 9, True), (2, 1, 0, 1, 9, False), (20, 1, 0, 7, 0, False), (20, 2, 3, 7, 0, False), (20, 6, 11, 7, 0, False), (20, 2, 31, 17, 0, False)],
)
def test_tokens_that_are_refused_after_the_next_one_show_a_clock(callers: int, devices: int, apart: float, gap: float, ahead: float, is_clock: bool) -> None:
    """A pod whose clock was ahead stamped its rows itself, so the tokens that it refused had expired. Clients with several tokens look alike."""
    rows = findings(*hours(callers, devices, apart, gap, ahead))
    clock = rows.where(lambda row: row.kind == "early_expiry")
    assert bool(clock) is is_clock and (is_clock or all(row.level == "low" for row in rows))
    assert all(re.fullmatch(r"\d+ tokens of \d+ callers were refused up to 1\d minutes after their expiry, when the next ones were already in use, as if .*", row.sentence) for row in clock)


def test_the_networks_of_a_client_s_other_tokens_are_its_own() -> None:
    """A phone between two networks was said to have lost its token; a thief's network comes with one token only."""
    home = [call(at * 60 + (0.5 if at % 2 else 0), token, ip=ip) for at, (token, ip) in enumerate([(TWO, "11.0.0.7"), (TWO, "11.0.1.7"), (THREE, "11.0.0.7"), (THREE, "11.0.1.7")])]
    long = [call(600 + at, ip="11.0.0.7") for at in range(100)]
    for other, kind in (("11.0.1.7", "roaming_tokens"), ("11.9.9.9", "token_networks")):
        assert [row.kind for row in findings(*home, *long, call(695.5, ip=other)) if row.section == "Tokens"] == [kind]


def test_without_a_name_the_columns_are_not_read() -> None:
    table = pa.Table.from_pylist([call(0), call(1, caller="eve")]).rename_columns(["method", "target", "kind", "scopes", "caller", "time", "token", "address", "token_expires", "served_status"])
    assert not report(table, POLICY).figures.tokens.uses and "token" not in logs.read(table).schema.names
    assert "token" in logs.read(table, columns={"token": "token"}).schema.names


def test_networks_of_addresses() -> None:
    prefixes = networks(pa.array([b"11.1.2.3", b"2001:db8::5", b"::1", b"fe80::1%eth0", b"proxy", None], pa.binary()))
    assert prefixes.to_pylist() == [b"11.1.2.0/24", b"2001:db8::/48", None, None, None, None]
