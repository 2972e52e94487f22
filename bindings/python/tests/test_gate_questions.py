"""What a gate does with questions: it refuses wider policies, and explains denials in the log."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from orbgate import Policy, PolicyError
from orbgate.gate import Fetched, Gate, Post, asgi, wsgi
from orbgate.gate.testing import Issuer

ITEMS = "orbgate: 1\napis: { a: { base_path: '', scopes: { 'read:a': { orbs: 2, routes: ['GET /items/{id}', GET /items/new] } } } }\n...\n"
NOTHING = "orbgate: 1\napis: { a: { scopes: {} } }\n...\n"


class Reloaded:
    """A gate whose policy is replaced from a file."""

    def __init__(self, folder: Path, policy: str, **options: Any) -> None:
        self.file = folder / "policy.yaml"
        self.results: list[str] = []
        self.gate = Gate(Policy.from_yaml(policy), Issuer().tokens, count=self.count, **options)

    def count(self, name: str, labels: Mapping[str, str]) -> None:
        self.results.append(labels["result"])

    def reload(self, text: str) -> None:
        self.file.write_text(text)
        self.gate.reload(self.file)


def test_a_wider_policy_is_refused_on_request(tmp_path: Path) -> None:
    wider = ITEMS.replace("GET /items/new", "GET /items/new, GET /more")
    for refuses in (True, False):
        reloaded = Reloaded(tmp_path, ITEMS, refuse_wider=refuses)
        reloaded.reload("# the same\n" + ITEMS)
        before = reloaded.gate.policy
        if refuses:
            with pytest.raises(PolicyError, match="policy.yaml:1:1: .*1 wider"):
                reloaded.reload(wider)
            assert reloaded.gate.policy is before
        else:
            reloaded.reload(wider)
            assert reloaded.gate.policy == Policy.from_yaml(wider)
        assert reloaded.results == ["loaded", "wider" if refuses else "loaded"]
    with pytest.raises(PolicyError, match="sha256"):
        Reloaded(tmp_path, ITEMS, require_seal=True).reload(ITEMS)


ROUTES = "orbgate: 1\napis: { a: { base_path: '', scopes: { 'read:a': { orbs: false, routes: ['GET /items/{id}', GET /other] } } } }\n...\n"


def explained(caplog: pytest.LogCaptureFixture) -> Iterator[dict[str, Any]]:
    for record in caplog.records:
        if record.getMessage().startswith("denied: "):
            yield json.loads(record.getMessage().removeprefix("denied: "))


@pytest.mark.parametrize("debug", [True, False])
def test_a_denial_is_explained_in_the_log_on_request(debug: bool, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    issuer = Issuer()
    gate = Gate(Policy.from_yaml(ROUTES), issuer.tokens, fetch=issuer.fetch, debug=debug)
    right = [(b"authorization", issuer.bearer("user", "read:a").encode())]
    assert gate.answer("GET", "/items/7", right)
    assert gate.answer(b"GET", b"/itmes/7?secret=1", right).status == 404
    assert gate.answer("GET", "/other", [(b"authorization", issuer.bearer("organisation", "read:b").encode())]).status == 403
    assert asyncio.run(gate.answer_async("GET", "/items/7", [(b"authorization", b"Bearer nonsense")])).status == 401
    assert gate.answer("GET", "/items/7", []).status == 401
    assert gate.answer(b"GET", b"/items/\xff\n?secret", right).status == 400
    found = list(explained(caplog))
    reasons = ["no_route", "scope_missing", "invalid_token", "no_token", "malformed_request"]
    assert [row["explanation"]["reason"] for row in found] == (reasons if debug else [])
    if debug:
        assert (found[0]["path"], found[0]["explanation"]["near"][0]["meant"]) == ("/itmes/7", "/items/7")
    assert not any(secret in caplog.text for secret in ("secret", "nonsense", "eyJ"))


def test_a_denial_for_another_cause_is_logged_with_its_own_reason(caplog: pytest.LogCaptureFixture) -> None:
    """The explanation gets neither headers nor the query, so it would allow these calls."""
    caplog.set_level(logging.INFO)
    issuer = Issuer()
    gate = Gate(Policy.from_yaml(ROUTES), issuer.tokens, fetch=issuer.fetch, debug=True)
    right = [(b"authorization", issuer.bearer("user", "read:a").encode())]
    denied = [
        gate.answer("GET", "/other?secret", [*right, (b"upgrade", b"h2c")]),
        gate.answer("GET", "/other?secret", [*right, (b"x-http-method-override", b"DELETE")]),
        gate.answer("GET", "/other?secret#", right),
    ]
    assert [answer.decision.detail for answer in denied] == ["upgrade", "method", "fragment"]
    assert [row["explanation"] for row in explained(caplog)] == [answer.decision.to_dict() for answer in denied]
    caplog.clear()
    assert gate.answer("GET", "/other?secret", [(b"authorization", issuer.bearer("user", "read:b").encode())]).status == 403
    [row] = explained(caplog)
    assert row["explanation"]["reason"] == "scope_missing"
    assert row["explanation"]["rules"]
    assert "secret" not in caplog.text


def test_denials_by_servers_and_routers_are_explained(caplog: pytest.LogCaptureFixture) -> None:
    """Those that ASGI and WSGI make. One that is found in a handler isn't, because the policy allows the request."""
    caplog.set_level(logging.INFO)
    issuer = Issuer()
    gate = Gate(Policy.from_yaml(ROUTES), issuer.tokens, fetch=issuer.fetch, debug=True)
    right = [(b"authorization", issuer.bearer("user", "read:a").encode())]

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError("it is denied")

    async def send(message: Any) -> None:
        assert message.get("status", 404) == 404 and not message.get("body")

    scope = {"type": "http", "method": "GET", "path": "/nowhere", "raw_path": b"/nowhere", "query_string": b"secret", "headers": right}
    asyncio.run(asgi.GateMiddleware(serve, gate)({**scope, "root_path": ""}, serve, send))  # type: ignore[arg-type]
    environ = {"REQUEST_METHOD": "GET", "RAW_URI": "/nobody?secret", "PATH_INFO": "/nobody", "HTTP_AUTHORIZATION": right[0][1].decode()}
    wsgi.GateMiddleware(lambda *_: [b""], gate)(environ, lambda *_: None)
    allowed = gate.allowed(gate.answer("GET", "/items/7", right), "GET", "/items/7")
    assert not allowed.compare("GET", "/items/7", "/other")
    assert gate.answer("GET", "/items/7", right, lambda: "/other").misrouted == "/other"
    found = [(row["path"], row["explanation"]["reason"]) for row in explained(caplog)]
    assert found == [("/nowhere", "no_route"), ("/nobody", "no_route")]
    assert "secret" not in caplog.text


def test_the_policy_that_decided_explains(caplog: pytest.LogCaptureFixture) -> None:
    """A reload while a request waits for keys, or after its answer, changes nothing of the explanation."""
    caplog.set_level(logging.INFO)
    issuer = Issuer()
    later = Policy.from_yaml(ROUTES.replace("read:a", "read:later"))

    def fetch(url: str, timeout: float, max_bytes: int, post: Post | None) -> Fetched:
        gate.policy = later
        return issuer.fetch(url, timeout, max_bytes)

    def count(name: str, labels: Mapping[str, str]) -> None:
        gate.policy = Policy.from_yaml(NOTHING)

    gate = Gate(Policy.from_yaml(ROUTES), issuer.tokens, fetch=fetch, count=count, debug=True)
    answer = gate.answer("GET", "/other", [(b"authorization", issuer.bearer("user", "read:a").encode())])
    [row] = explained(caplog)
    assert (row["explanation"]["policy"], row["explanation"]["scope"]) == (later.digest, "read:later")
    assert answer.policy == later != gate.policy


def test_a_log_that_fails_changes_no_answer(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    issuer = Issuer()
    gate = Gate(Policy.from_yaml(ROUTES), issuer.tokens, fetch=issuer.fetch, debug=True)

    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("orbgate._native.ask", fail)
    assert [gate.answer("GET", "/nowhere", []).status for _ in range(2)] == [401, 401]
    assert [record.getMessage() for record in caplog.records] == ["denials aren't explained"]
