"""Opaque tokens: nothing shows them. What an endpoint is asked, and who waits for a turn, the exchanges of every language show."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from orbgate import Policy
from orbgate.gate import Fetched, Gate, Post

ORBS = "/api/v1/external/orbs"


@pytest.fixture
def tokens(tmp_path: Path) -> str:
    secret = tmp_path / "secret"
    secret.write_text("s3cr3t\n", encoding="utf-8")
    opaque = {"endpoint": "http://127.0.0.1:1/introspect", "client_id": "my api", "client_secret_file": str(secret)}
    issuer = {"issuer": "https://id.example.com", "audience": "https://service.test", "kind": "user", "opaque": opaque}
    return json.dumps({"orbgate_token": 1, "issuers": [issuer]})


def bearer(token: str) -> list[tuple[bytes, bytes]]:
    return [(b"authorization", f"Bearer {token}".encode())]


def test_nothing_shows_a_secret_or_a_token(tokens: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    posts: list[Post] = []

    def quoting(url: str, timeout: float, max_bytes: int, post: Post | None) -> Fetched:
        assert post is not None
        posts.append(post)
        raise ValueError(f"{post.headers} {post.body!r}")

    audit: list[str] = []
    gate = Gate(Policy.external(), tokens, fetch=quoting, audit=audit.append)
    answer = gate.answer("GET", ORBS, bearer("opaque-token"))
    assert answer.refused == "unanswered"
    [post] = posts
    assert post.body == b"token=opaque-token&token_type_hint=access_token"
    shown = " ".join([repr(post), repr(gate), repr(answer), caplog.text, *audit])
    assert "ValueError" in shown
    hidden = ["opaque-token", "s3cr", post.headers["Authorization"].removeprefix("Basic ")]
    assert not any(text in shown for text in hidden), shown
    [(name, count, failure)] = gate.keys()
    assert (name, count) == ("https://id.example.com", 0) and failure
