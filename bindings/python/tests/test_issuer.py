"""The issuer for tests: its options, and what it answers over HTTP. The tests of its rules are those of the Rust crate."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from orbgate import Policy, Reason
from orbgate.gate import Gate
from orbgate.gate.testing import Issuer, Server, serve

REDIRECT = "http://127.0.0.1:1/callback"
VERIFIER = "a" * 43
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()


def claims_of(token: str) -> dict[str, Any]:
    part = token.split(".")[1]
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return claims


def test_options_are_in_the_tokens() -> None:
    issuer = Issuer(audience="https://shop.test", subject="ada", client="app", expires_in=60, claims={"tenant": "acme", "roles": ["a"], "none": None})
    gate = Gate(Policy.external(), issuer.tokens, fetch=issuer.fetch)
    bearer = issuer.bearer("user", "read:orbs")
    answer = gate.answer("GET", "/api/v1/external/orbs", [(b"authorization", bearer.encode())])
    assert answer.decision is not None and answer.decision.reason == Reason.SCOPE_HELD
    claims = claims_of(bearer)
    assert claims["exp"] - claims.pop("iat") == 60
    claims.pop("exp")
    usual = {"iss": "https://issuer.test", "token_kind": "user", "scope": "read:orbs"}
    assert claims == {**usual, "aud": "https://shop.test", "sub": "ada", "client_id": "app", "tenant": "acme", "roles": ["a"]}
    assert (issuer.name, issuer.audience) == ("https://issuer.test", "https://shop.test")
    # A token's own claims replace them.
    assert claims_of(issuer.bearer("robot", "", sub="eve", tenant=None)) | {"iat": 0, "exp": 0} == {
        **usual, "token_kind": "robot", "scope": "", "aud": "https://shop.test", "sub": "eve", "client_id": "app", "roles": ["a"], "iat": 0, "exp": 0,
    }
    expired = Issuer(expires_in=-600)
    gate = Gate(Policy.external(), expired.tokens, fetch=expired.fetch)
    assert gate.answer("GET", "/api/v1/external/orbs", [(b"authorization", expired.bearer("user", "read:orbs").encode())]).status == 401


@pytest.mark.parametrize(
    ("option", "value", "typed"),
    [
        ("audience", "", ["--audience", ""]),
        ("subject", "a\nb", ["--subject", "a\nb"]),
        ("client", "", ["--client", ""]),
        ("kind", "robot", ["--kind", "robot"]),
        ("expires_in", 10**9, ["--expires-in", "1h"]),
        ("claims", {"sub": "ada"}, ["--claim", "sub=ada"]),
        ("claims", {"": 1}, ["--claim", "tenant"]),
        ("claims", {"a": float("nan")}, ["--claim", "a:=["]),
    ],
)
def test_a_wrong_option_is_named(option: str, value: Any, typed: list[str]) -> None:
    options: dict[str, Any] = {option: value}
    with pytest.raises(ValueError, match=rf"^{option.removesuffix('s')}s?: "):
        Issuer(**options)
    with pytest.raises(ValueError):
        serve(0, **options)
    ran = subprocess.run([sys.executable, "-m", "orbgate.gate.testing", "0", *typed], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 2
    assert typed[0] in ran.stderr.splitlines()[-1], ran.stderr


@pytest.fixture
def served() -> Iterator[Server]:
    server = serve(0, subject="ada")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def send(server: Server, method: str, target: str, body: bytes = b"", **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = HTTPConnection("127.0.0.1", server.server_address[1], timeout=30)
    connection.request(method, target, body or None, {name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    answer = response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
    connection.close()
    return answer


def test_a_client_discovers_registers_and_gets_a_token_once(served: Server) -> None:
    metadata = json.loads(send(served, "GET", "/.well-known/oauth-authorization-server")[2])
    assert metadata["issuer"] == served.issuer.name
    told = json.dumps({"redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none"}).encode()
    status, _, body = send(served, "POST", "/register", told, content_type="application/json")
    client = json.loads(body)["client_id"]
    query = {"response_type": "code", "client_id": client, "redirect_uri": REDIRECT, "scope": "read:orbs", "code_challenge": CHALLENGE, "code_challenge_method": "S256"}

    def location(**changed: str) -> dict[str, list[str]]:
        status, headers, _ = send(served, "GET", f"/authorize?{urlencode({**query, **changed})}")
        assert status == 302 and headers["location"].startswith(f"{REDIRECT}?")
        return parse_qs(urlsplit(headers["location"]).query)

    assert location(code_challenge="")["error"] == ["invalid_request"]
    assert send(served, "GET", f"/authorize?{urlencode({**query, 'redirect_uri': 'https://evil.test'})}")[0] == 400
    form = {"grant_type": "authorization_code", "client_id": client, "redirect_uri": REDIRECT, "code_verifier": VERIFIER, "code": location()["code"][0]}
    for expected in (200, 400):
        status, headers, body = send(served, "POST", "/token", urlencode(form).encode(), content_type="application/x-www-form-urlencoded")
        assert (status, headers["cache-control"]) == (expected, "no-store")
        assert expected == 400 or claims_of(json.loads(body)["access_token"])["sub"] == "ada"
    assert json.loads(body)["error"] == "invalid_grant"


def test_one_token_has_its_own_options(served: Server) -> None:
    status, _, token = send(served, "GET", "/token?scope=read:orbs&subject=eve&claim=tenant=acme")
    claims = claims_of(token.decode())
    assert (status, claims["sub"], claims["tenant"]) == (200, "eve", "acme")
    assert send(served, "GET", "/token?kind=robot")[::2] == (400, b"kind: write `user` or `organisation`\n")
    assert send(served, "GET", "/token", host="evil.test")[0] == 421
    assert send(served, "POST", "/token", content_length="100000")[0] == 413
    assert json.loads(send(served, "GET", "/jwks")[2])["keys"][0]["kid"] == "test"
    assert send(served, "GET", "/tokens.yaml")[2].decode() == served.issuer.tokens + "\n"
    assert send(served, "GET", "/other")[0] == 404
