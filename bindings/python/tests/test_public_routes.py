"""Routes that need no token, in the answers about a log: a health check is no mismatch, and nobody's denial."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from orbgate import Policy, TableError, audit, logs, report
from orbgate.__main__ import main

pytest.importorskip("pyarrow")

PUBLIC = ["GET /healthz", "GET /docs/{page}"]
KEYS = "/api/v1/external/keys"
CALLS: list[dict[str, Any]] = [
    {"method": "GET", "target": "/healthz", "served_status": 200},
    {"method": "GET", "target": "/healthz?full=1", "kind": "robot", "served_status": 200},
    {"method": "GET", "target": "/docs/start", "kind": "user", "scopes": "read:keys", "caller": "ann", "served_status": 200},
    # Another method, another spelling, a malformed path and a path that isn't public.
    {"method": "HEAD", "target": "/healthz", "served_status": 401},
    {"method": "GET", "target": "/HEALTHZ", "served_status": 401},
    {"method": "GET", "target": "/healthz/", "served_status": 400},
    {"method": "GET", "target": "/metrics", "served_status": 401},
    {"method": "GET", "target": KEYS, "kind": "user", "scopes": "read:keys", "caller": "ann", "served_status": 200},
    {"method": "GET", "target": KEYS, "served_status": 401},
]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "calls.jsonl"
    path.write_text("".join(f"{json.dumps(call)}\n" for call in CALLS))
    return path


def replayed(log: Path, capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, Any]:
    assert main(["replay", str(log), "--format", "json", "--json", *more]) == 0
    summary: dict[str, Any] = json.loads(capsys.readouterr().out)
    return summary


def test_calls_to_public_routes_are_allowed(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    without = replayed(log, capsys)
    assert without["served"]["served_though_denied"] == 3
    summary = replayed(log, capsys, *(f"--public={route}" for route in PUBLIC))
    assert summary["arguments"]["public"] == PUBLIC
    assert summary["served"]["served_though_denied"] == summary["served"]["refused_though_allowed"] == 0
    assert {row["reason"]: row["count"] for row in summary["reasons"]} == {
        "malformed_request": 1, "no_token": 4, "scope_held": 1, "public_route": 3,
    }  # fmt: skip
    assert {row["route"]: row["allowed"] for row in summary["routes"]} == {
        "GET /healthz": 2, "GET /docs/{page}": 1, f"GET {KEYS}": 1, None: 0,
    }  # fmt: skip
    assert summary["orbs"]["calls"] == 0


def test_a_decided_table_names_no_route(log: Path, tmp_path: Path) -> None:
    from orbgate._count.replay import replay

    out = tmp_path / "decided.parquet"
    replay(logs.read(log, format="json", public=PUBLIC), Policy.external(), out=out)
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    rows = pq.read_table(out).to_pylist()
    assert [row["reason"] == "public_route" for row in rows] == [True] * 3 + [False] * 6
    for row in rows[:3]:
        assert (row["decision"], row["policy"]) == ("allow", Policy.external().digest)
        assert {row[name] for name in ("route", "scope", "status", "consumes", "amount", "bonus_allowed")} == {None}


def test_a_report_shows_them_by_route(log: Path, tmp_path: Path) -> None:
    made = report(log, Policy.external(), format="json", public=PUBLIC, base=Policy.external())
    assert {row.route: (row.allowed, row.denied) for row in made.figures.decisions.routes} == {
        "GET /healthz": (2, 0), "GET /docs/{page}": (1, 0), f"GET {KEYS}": (1, 1), None: (0, 4),
    }  # fmt: skip
    assert made.figures.changes is not None
    assert not made.figures.changes.calls
    assert not [row for row in made.figures.findings if row.kind == "served_though_denied"]
    assert "public=GET /healthz, GET /docs/{page}" in made.html
    bundle = tmp_path / "evidence.zip"
    bundle.write_bytes(made.bundle())
    assert [row.what for row in audit.verify(bundle, [log]) if row.is_same is False] == []


def test_a_run_goes_on_with_the_same_public_routes_only(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from orbgate._count.resume import Resume

    resume = tmp_path / "resume"

    def of(public: list[str]) -> Resume:
        return Resume(os.fspath(resume), logs.read(log, format="json", public=public), Policy.external(), None)

    of(PUBLIC).save([], 0)
    assert of(PUBLIC).load() == []
    with pytest.raises(TableError, match="because the arguments for the log "):
        of(PUBLIC[:1]).load()


def test_privileges_leave_them_out(log: Path) -> None:
    privileges = audit.privileges(log, Policy.external(), format="json", public=PUBLIC)
    [row] = privileges.rows
    assert (row.caller, row.calls, row.used) == ("ann", 1, ("read:keys",))
    # Those that need a token, and have none.
    assert (privileges.calls, privileges.without_caller, privileges.with_valid_token) == (6, 5, 1)


@pytest.mark.parametrize(
    ("public", "error"),
    [
        (["GET healthz"], "`GET healthz`"),
        (["GET /healthz", "GET /healthz"], "`GET /healthz`"),
        ([f"HEAD {KEYS}"], "same paths"),
    ],
)
def test_a_public_route_that_cannot_be_is_refused(log: Path, public: list[str], error: str) -> None:
    for ask in (
        lambda: report(log, Policy.external(), format="json", public=public),
        lambda: audit.privileges(log, Policy.external(), format="json", public=public),
    ):
        with pytest.raises(ValueError, match=error):
            ask()


def test_a_slash_at_the_end_is_the_policys(log: Path) -> None:
    policy = Policy.from_yaml("orbgate: 1\ntrailing_slash: always\napis: {a: {base_path: '', scopes: {}}}")
    made = report(log, policy, format="json", public=PUBLIC)
    assert {row.reason.value: row.calls for row in made.figures.decisions.reasons}["public_route"] == 1
