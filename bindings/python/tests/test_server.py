"""The example server refuses bare, and says what its statuses need."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest
from server import serve

ORBS = "/api/v1/external/orbs"


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serve(0) as server:
        threading.Thread(target=server.serve_forever).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.mark.parametrize(
    ("method", "target", "kind", "scopes", "status", "header"),
    [
        ("GET", ORBS, "user", "read:store", 403, ("WWW-Authenticate", None)),
        ("GET", ORBS, None, None, 401, ("WWW-Authenticate", "Bearer")),
        ("GET", ORBS, "robot", "read:orbs", 401, ("WWW-Authenticate", 'Bearer error="invalid_token"')),
        ("PUT", ORBS, "user", "read:orbs", 405, ("Allow", "GET")),
        ("GET", "/elsewhere", "user", "read:orbs", 404, ("Allow", None)),
        ("GET", "/" + ORBS, "user", "read:orbs", 400, ("Allow", None)),
        ("GET", ORBS + "/", "user", "read:orbs", 400, ("Allow", None)),
    ],
)
def test_a_denial_is_bare(
    port: int, method: str, target: str, kind: str | None, scopes: str | None, status: int, header: tuple[str, str | None]
) -> None:
    headers = {name: text for name, text in (("X-Token-Kind", kind), ("X-Token-Scopes", scopes)) if text is not None}
    name, value = header
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request(method, target, headers=headers)
        answer = connection.getresponse()
        assert (answer.status, answer.getheader(name), answer.read()) == (status, value, b"")


def test_who_has_the_scope_gets_an_answer(port: int) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("GET", ORBS, headers={"X-Token-Kind": "user", "X-Token-Scopes": "read:orbs"})
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (200, b"needs read:orbs and consumes orbs\n")
