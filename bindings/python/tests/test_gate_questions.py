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

NOTHING = "orbgate: 1\napis: { a: { scopes: {} } }\n...\n"


def test_a_seal_is_required_on_request(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(ROUTES)
    with pytest.raises(PolicyError, match="sha256"):
        Gate(Policy.from_yaml(ROUTES), Issuer().tokens, require_seal=True).reload(tmp_path / "policy.yaml")


ROUTES = "orbgate: 1\napis: { a: { base_path: '', scopes: { 'read:a': { orbs: false, routes: ['GET /items/{id}', GET /other] } } } }\n...\n"


def explained(caplog: pytest.LogCaptureFixture) -> Iterator[dict[str, Any]]:
    for record in caplog.records:
        if record.getMessage().startswith("denied: "):
            yield json.loads(record.getMessage().removeprefix("denied: "))


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
    reasons = [(row["path"], row["explanation"]["reason"]) for row in explained(caplog)]
    assert reasons == [("/nowhere", "no_route"), ("/nobody", "no_route")]
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
