"""Opaque tokens: a real endpoint is asked about them, over ASGI and WSGI alike."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from orbgate import ConfigError, Policy
from orbgate.gate import Fetched, Gate, Post, asgi, fetch, wsgi
from orbgate.gate.testing import Issuer
from test_gate import call, call_wsgi, service
from together import together

ORBS = "/api/v1/external/orbs"
ACCOUNT = "/api/v1/external/account"
AUDIENCE = "https://service.test"


class Endpoint(ThreadingHTTPServer):
    """An introspection endpoint on this machine."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/introspect"
        self.secret = "s3cr:t é"
        self.scopes = {"good": "read:orbs", "poor": "read:account", "ory_at_good": "read:orbs"}
        self.status = 200
        self.pause = 0.0
        self.padding = ""
        self.asked: list[str] = []
        self.visited: list[str] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    @property
    def endpoint(self) -> Endpoint:
        assert isinstance(self.server, Endpoint)
        return self.server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        asked, server = parse_qs(body, strict_parsing=True), self.endpoint
        [token] = asked["token"]
        assert asked["token_type_hint"] == ["access_token"]
        assert self.headers["Content-Type"] == "application/x-www-form-urlencoded"
        server.asked.append(token)
        time.sleep(server.pause)
        basic = base64.b64encode(("my%20api:" + server.secret.replace(":", "%3A").replace(" é", "%20%C3%A9")).encode())
        is_right = self.headers["Authorization"] == f"Basic {basic.decode()}"
        says: dict[str, Any] = {"active": token in server.scopes}
        if says["active"]:
            says |= {"aud": AUDIENCE, "exp": int(time.time()) + 600, "sub": "user-7", "scope": server.scopes[token]}
        self.answer(server.status if is_right else 401, json.dumps({**says, "padding": server.padding}).encode())

    def do_GET(self) -> None:
        self.endpoint.visited.append(self.path)
        self.answer(200, b"{}")

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        if status == 307:
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        return None


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as endpoint:
        yield endpoint
        endpoint.shutdown()


def issuer(endpoint: Endpoint, secret: Path, name: str = "https://id.example.com", **opaque: Any) -> dict[str, Any]:
    asks = {"endpoint": endpoint.url, "client_id": "my api", "client_secret_file": str(secret), "max_cache_seconds": 1}
    told = {key: value for key, value in {**asks, **opaque}.items() if value is not None}
    return {"issuer": name, "audience": AUDIENCE, "kind": "user", "opaque": told}


def tokens(*issuers: dict[str, Any]) -> str:
    return json.dumps({"orbgate_token": 1, "issuers": issuers})


@pytest.fixture
def secret(endpoint: Endpoint, tmp_path: Path) -> Path:
    path = tmp_path / "secret"
    path.write_text(f"{endpoint.secret}\n", encoding="utf-8")
    return path


@pytest.fixture
def gate(endpoint: Endpoint, secret: Path) -> Gate:
    return Gate(Policy.external(), tokens(issuer(endpoint, secret)))


def bearer(token: str) -> list[tuple[bytes, bytes]]:
    return [(b"authorization", f"Bearer {token}".encode())]


def over_asgi(gate: Gate, token: str, target: str = ORBS) -> int:
    """The status of a call, through the middleware."""
    status, _, text = call(asgi.GateMiddleware(service, gate), target, bearer(token))
    assert status != 200 or text.startswith(b"user-7 ")
    return status


def over_wsgi(gate: Gate, token: str, target: str = ORBS) -> int:
    """The same over WSGI."""

    def service(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        assert wsgi.allowed(environ).token.subject == "user-7"
        start_response("200 OK", [])
        return [b""]

    return call_wsgi(wsgi.GateMiddleware(service, gate), target, bearer(token))


@pytest.mark.parametrize("status_of", [over_asgi, over_wsgi])
def test_the_issuer_of_an_opaque_token_is_asked_about_it(status_of: Any, gate: Gate, endpoint: Endpoint) -> None:
    assert status_of(gate, "good") == 200
    assert status_of(gate, "good", ACCOUNT) == 403, "a decision is never kept"
    assert status_of(gate, "good") == 200
    assert endpoint.asked == ["good"]
    assert status_of(gate, "poor") == 403
    assert status_of(gate, "other") == 401
    answer = gate.answer("GET", ORBS, bearer("other"))
    assert (answer.status, answer.refused) == (401, "inactive")
    assert endpoint.asked == ["good", "poor", "other"]
    # A revocation is seen within the second that is configured.
    del endpoint.scopes["good"]
    time.sleep(1)
    assert status_of(gate, "good") == 401


@pytest.mark.parametrize("status_of", [over_asgi, over_wsgi])
def test_an_endpoint_that_fails_is_a_401(status_of: Any, gate: Gate, endpoint: Endpoint, caplog: pytest.LogCaptureFixture) -> None:
    endpoint.status = 503
    assert [status_of(gate, f"t{at}") for at in range(6)] == [401] * 6
    assert len(endpoint.asked) == 4, "it rests after four failures"
    assert gate.answer("GET", ORBS, bearer("good")).refused == "unanswered"
    assert caplog.text.count("opaque tokens of `https://id.example.com` cannot be asked about: ") == 1
    endpoint.status = 200
    time.sleep(1)
    assert status_of(gate, "good") == 200
    assert gate.keys() == [("https://id.example.com", 0, None)]


@pytest.mark.parametrize("status", [307, 200])
def test_neither_a_redirect_is_followed_nor_a_huge_answer_read(status: int, gate: Gate, endpoint: Endpoint) -> None:
    endpoint.status = status
    endpoint.padding = "x" * 300_000 if status == 200 else ""
    assert gate.answer("GET", ORBS, bearer("good")).refused == "unanswered"
    assert (endpoint.asked, endpoint.visited) == (["good"], [])


def test_secrets_are_read_again_with_the_policy(gate: Gate, endpoint: Endpoint, secret: Path, root: Path, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text((root / "policy" / "external.yaml").read_text(encoding="utf-8") + "...\n", encoding="utf-8")
    assert over_wsgi(gate, "good") == 200
    endpoint.secret = "another"
    assert over_wsgi(gate, "poor") == 401
    secret.write_text("another", encoding="utf-8")
    gate.reload(policy)
    assert over_wsgi(gate, "good") == 200
    assert endpoint.asked == ["good", "poor", "good"], "answers to another secret are forgotten"
    secret.unlink()
    before = gate.policy
    with pytest.raises(ConfigError, match="client_secret_file"):
        gate.reload(policy)
    assert gate.policy is before
    assert over_wsgi(gate, "poor") == 403
    # The policy is checked before the secrets are read.
    secret.write_text("another", encoding="utf-8")
    strict = Gate(Policy.from_yaml("orbgate: 1\napis: {a: {scopes: {}}}\n"), tokens(issuer(endpoint, secret)), refuse_wider=True)
    secret.unlink()
    with pytest.raises(ValueError, match="allows more"):
        strict.reload(policy)


def test_without_its_secret_no_gate_starts(endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"tokens\.yaml:.*client_secret_file"):
        Gate(Policy.external(), tokens(issuer(endpoint, tmp_path / "none")), file="tokens.yaml")
    of_variable = tokens(issuer(endpoint, tmp_path, client_secret_file=None, client_secret_env="ORBGATE_TEST_SECRET"))
    with pytest.raises(ConfigError, match="ORBGATE_TEST_SECRET"):
        Gate(Policy.external(), of_variable)
    monkeypatch.setenv("ORBGATE_TEST_SECRET", endpoint.secret)
    assert over_wsgi(Gate(Policy.external(), of_variable), "good") == 200


def test_a_jwt_and_opaque_tokens_of_two_issuers_side_by_side(endpoint: Endpoint, secret: Path) -> None:
    signer = Issuer()
    [signed] = json.loads(signer.tokens)["issuers"]
    other = Endpoint()
    other.scopes = {"rest": "read:orbs"}
    both = issuer(endpoint, secret, prefix="ory_at_"), issuer(other, secret, "https://other.example")

    def fetched(url: str, timeout: float, max_bytes: int, post: Post | None) -> Fetched:
        if post is None:
            return signer.fetch(url, timeout, max_bytes)
        return fetch(url, timeout, max_bytes, post)

    gate = Gate(Policy.external(), tokens(signed, *both), fetch=fetched)
    with other:
        jwt = signer.bearer("user", "read:orbs").removeprefix("Bearer ")
        asked = [jwt, "ory_at_good", "rest", "good"]
        refused = [gate.answer("GET", ORBS, bearer(token)).refused for token in asked]
        assert refused == [None, None, None, "inactive"]
        assert (endpoint.asked, other.asked) == (["ory_at_good"], ["rest", "good"])
        other.shutdown()


def test_nothing_shows_a_secret_or_a_token(endpoint: Endpoint, secret: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    posts: list[Post] = []

    def quoting(url: str, timeout: float, max_bytes: int, post: Post | None) -> Fetched:
        assert post is not None
        posts.append(post)
        raise ValueError(f"{post.headers} {post.body!r}")

    audit: list[str] = []
    gate = Gate(Policy.external(), tokens(issuer(endpoint, secret)), fetch=quoting, audit=audit.append)
    answer = gate.answer("GET", ORBS, bearer("opaque-token"))
    assert answer.refused == "unanswered"
    [post] = posts
    assert post.body == b"token=opaque-token&token_type_hint=access_token"
    shown = " ".join([repr(post), repr(gate), repr(answer), caplog.text, *audit])
    assert "ValueError" in shown
    hidden = ["opaque-token", "s3cr", post.headers["Authorization"].removeprefix("Basic ")]
    assert not any(text in shown for text in hidden), shown


def test_many_tokens_are_asked_about_and_the_loop_goes_on(gate: Gate, endpoint: Endpoint) -> None:
    """More than are asked about at once: each waits for its turn, and each gets its answer."""
    endpoint.scopes = {f"good{at}": "read:orbs" for at in range(100)}
    endpoint.pause = 0.1

    answers = asyncio.run(together(gate.answer_async("GET", ORBS, bearer(f"good{at}")) for at in range(100)))
    assert [answer.refused for answer in answers] == [None] * 100
    assert len(endpoint.asked) == 100
