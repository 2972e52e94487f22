"""An MCP endpoint over ASGI: the shared requests, of which only those that are allowed reach the handler, with the same bytes."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from orbgate import Policy
from orbgate.gate import Allowed, Gate, asgi, wsgi
from orbgate.gate.testing import Issuer

CASES = Path(__file__).parents[3] / "policy" / "cases" / "mcp"
POLICY = Policy.from_file(CASES / "policy.yaml")
ROWS, VISIBLE = ([json.loads(line) for line in (CASES / name).read_text().splitlines()] for name in ("requests.jsonl", "visible.jsonl"))
ISSUER = Issuer()
HELD = "mcp:connect orders:read"
JSON = ("Content-Type", "application/json")
MIB = 1 << 20

Lines = Iterable[tuple[str, str]]


def gate(**options: Any) -> Gate:
    return Gate(POLICY, ISSUER.tokens, fetch=ISSUER.fetch, mcp="/mcp", mcp_initial_scopes="mcp:connect", mcp_origins=["https://app.example"], **options)


def call(tool: str) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": tool}}).encode()


def in_pieces(body: bytes, size: int = 5) -> list[dict[str, Any]]:
    pieces = [body[at : at + size] for at in range(0, len(body), size)] or [b""]
    return [{"type": "http.request", "body": piece, "more_body": at < len(pieces) - 1} for at, piece in enumerate(pieces)]


class Service:
    """A handler that reads all that it receives, and the end of the connection."""

    def __init__(self, gate: Gate) -> None:
        self.bodies: list[bytes] = []
        self.allowed: list[Allowed] = []
        self.after: list[str] = []
        self.middleware = asgi.GateMiddleware(self.run, gate)

    async def run(self, scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        self.bodies.append(body)
        self.allowed.append(asgi.allowed(scope))
        self.after.append((await receive())["type"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"ran"})

    async def ask(
        self, messages: list[dict[str, Any]], lines: Lines = (JSON,), scopes: str | None = HELD, method: str = "POST", path: str = "/mcp", kind: str = "http"
    ) -> tuple[int, dict[str, str], bytes]:
        """The response to a request that is over when its messages are."""
        headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in lines]
        if scopes is not None:
            headers.append((b"authorization", ISSUER.bearer("user", scopes).encode()))
        scope = {"type": kind, "method": method, "path": path, "raw_path": path.encode(), "query_string": b"", "headers": headers}
        waiting, sent = [*messages, {"type": "http.disconnect"}], []

        async def receive() -> Any:
            return waiting.pop(0)

        async def send(message: Any) -> None:
            sent.append(message)

        await self.middleware(scope, receive, send)
        if kind == "websocket":
            return 0, {}, sent[0]["type"].encode()
        return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}, sent[1]["body"]

    def send(self, *given: Any, **others: Any) -> tuple[int, dict[str, str], bytes]:
        return asyncio.run(self.ask(*given, **others))


def body_of(row: Any) -> bytes:
    return base64.b64decode(row["body_base64"]) if "body_base64" in row else row["body"].encode()


def lines_of(row: Any) -> list[tuple[str, str]]:
    return [tuple(line.split(": ", 1)) for line in row["headers"]]


def test_a_page_reads_what_the_gate_states() -> None:
    """The shared requests of pages, whose service has headers of its own, but for those that a ledger denies."""
    rows = [json.loads(line) for line in (CASES / "pages.jsonl").read_text().splitlines()]
    for row in rows:
        if row["status"] in (402, 500):
            continue
        own = [tuple(part.encode() for part in line.split(": ", 1)) for line in row.get("service", [])]

        async def run(scope: Any, receive: Any, send: Any, own: Any = own) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": own})
            await send({"type": "http.response.body", "body": b"ran"})

        service = Service(gate())
        service.middleware = asgi.GateMiddleware(run, service.middleware.gate)
        body = call(row["tool"]) if "tool" in row else b""
        status, headers, _ = service.send([{"type": "http.request", "body": body}], [JSON, *lines_of(row)], row.get("scopes"), row.get("method", "POST"))
        assert (status, headers["vary"]) == (row["status"], "Origin"), row["name"]
        assert {name: value for name, value in headers.items() if name.lower().startswith("access-control-")} == row["stated"], row["name"]


def test_only_allowed_messages_reach_the_handler() -> None:
    service = Service(gate())
    allowed = []
    for row in ROWS:
        status, headers, body = service.send(in_pieces(body_of(row)), lines_of(row))
        assert status == row["status"], row["name"]
        if status == 200:
            allowed.append(body_of(row))
            assert service.allowed[-1].decision.route is not None
        else:
            assert headers["content-length"] == str(len(body))
            assert ("content-type" in headers) == bool(body) == (status in (400, 404)), row["name"]
            assert ("www-authenticate" in headers) == ("scope" in row), row["name"]
            if body:
                named = b'"id":%b,' % row["id"].encode() if "id" in row else b""
                assert body.startswith(b'{"jsonrpc":"2.0",%b"error":' % named), row["name"]
        assert service.bodies == allowed, row["name"]
    groups = {group: sum(row["group"] == group for row in ROWS) for group in ("fine", "hostile", "legacy")}
    assert (groups["hostile"] >= 60, groups["legacy"] >= 20, len(allowed) >= 20) == (True, True, True)
    # Streams wait for it: without it, they would never end.
    assert set(service.after) == {"http.disconnect"}


def test_visible_names_are_those_of_the_token() -> None:
    service = Service(gate())
    for row in VISIBLE:
        ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
        assert service.send(in_pieces(ping), scopes=f"mcp:connect {row['scopes']}".strip())[0] == 200
        assert service.allowed[-1].visible(row["method"], row["names"]) == row["visible"]
    assert len(VISIBLE) == 6


def test_the_token_comes_before_the_body_and_its_limit() -> None:
    service = Service(gate(mcp_most_bytes=100, metadata=ISSUER.audience))
    status, headers, body = service.send([], scopes=None)
    url = f"{ISSUER.audience}/.well-known/oauth-protected-resource"
    assert (status, body) == (401, b"")
    assert headers["www-authenticate"] == f'Bearer scope="mcp:connect", resource_metadata="{url}"'
    long = call("list_orders" + " " * 100)
    for lines in ((JSON,), (JSON, ("Content-Length", str(len(long))))):
        status, _, body = service.send(in_pieces(long), lines)
        assert (status, json.loads(body)["error"]["code"]) == (400, -32600)
    cut = [{"type": "http.request", "body": b"{", "more_body": True}]
    status, _, body = service.send(cut)
    assert (status, json.loads(body)["error"]["code"]) == (400, -32700)
    assert service.bodies == []


def test_bodies_have_a_limit_in_all() -> None:
    service = Service(gate())

    async def fill() -> None:
        never = asyncio.Event()

        async def wait(*_: Any) -> Any:
            await never.wait()

        async def one() -> None:
            headers = [(b"authorization", ISSUER.bearer("user", HELD).encode())]
            scope = {"type": "http", "method": "POST", "path": "/mcp", "raw_path": b"/mcp", "query_string": b"", "headers": headers}
            await service.middleware(scope, wait, wait)

        waiting = [asyncio.ensure_future(one()) for _ in range(16)]
        while service.middleware.gate.take_room(1):
            service.middleware.gate.leave_room(1)
            await asyncio.sleep(0)
        status, headers, body = await service.ask([])
        assert (status, headers["retry-after"], json.loads(body)["error"]["code"]) == (429, "1", -32000)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        status, *_ = await service.ask(in_pieces(call("list_orders")))
        assert status == 200
        assert service.middleware.gate.take_room(64 * MIB)

    asyncio.run(fill())


def test_the_policy_counts_that_is_active_when_the_body_has_arrived() -> None:
    new_gate = gate()
    service = Service(new_gate)
    newer = Policy.from_yaml((CASES / "policy.yaml").read_text().replace("call/list_orders", "call/list"))

    class Late(dict[str, Any]):
        def get(self, name: str, default: Any = None) -> Any:
            new_gate.policy = newer
            return super().get(name, default)

    [message] = in_pieces(call("list_orders"), 1000)
    assert service.send([Late(message)])[0] == 404
    assert service.bodies == []


def test_origins_metadata_and_other_ways_in() -> None:
    service = Service(gate(metadata=ISSUER.audience))
    for origin, status in (("https://app.example", 200), ("https://evil.example", 403)):
        answer = service.send(in_pieces(call("list_orders")), [JSON, ("Origin", origin)])
        assert answer[0] == status
    for path, method in (("/.well-known/oauth-protected-resource", "GET"), ("/.well-known/oauth-protected-resource", "HEAD")):
        status, headers, body = service.send([], [], None, method, path)
        assert (status, headers["access-control-allow-origin"], headers["cache-control"]) == (200, "*", "max-age=3600")
        assert (body == b"") == (method == "HEAD")
        assert method == "HEAD" or json.loads(body)["resource"] == ISSUER.audience
    # A stream is declared, but a WebSocket isn't one.
    assert service.send(in_pieces(b""), [], method="GET")[0] == 200
    assert service.send(in_pieces(b""), [("Upgrade", "websocket")], method="GET")[0] == 400
    assert service.send([], [], method="GET", kind="websocket")[2] == b"websocket.close"
    assert service.send([], [], method="DELETE")[0] == 405
    assert service.send([], [], method="MCP", path="/mcp/tools/call/list_orders")[0] == 400
    # Nor does a path that only operations have exist.
    status, headers, _ = service.send([], [], method="GET", path="/mcp/tools/call/list_orders")
    assert (status, "allow" in headers) == (404, False)
    assert len(service.bodies) == 2


def test_wrong_settings_are_refused(tmp_path: Path) -> None:
    for wrong, why in (
        ({"mcp": "/"}, "path of an MCP endpoint"),
        ({"mcp_initial_scopes": '"'}, "scopes"),
        ({"mcp_origins": ["https://app.example/"]}, "origin"),
        ({"mcp_legacy": "perhaps"}, "mcp_legacy"),
        ({"metadata": "https://other.example"}, "audience"),
        ({"mcp": None, "mcp_origins": ["https://app.example"]}, "only a gate with `mcp`"),
    ):
        with pytest.raises(ValueError, match=why):
            Gate(POLICY, ISSUER.tokens, **{"mcp": "/mcp", **wrong})  # type: ignore[arg-type]
    other = (CASES / "policy.yaml").read_text().replace("MCP /ping", "POST /ping")
    with pytest.raises(ValueError, match="only MCP operations"):
        Gate(Policy.from_yaml(other), ISSUER.tokens, mcp="/mcp")
    file = tmp_path / "policy.yaml"
    file.write_text(other)
    new_gate = gate()
    with pytest.raises(ValueError, match="only MCP operations"):
        new_gate.reload(file)
    new_gate.check_routes([("POST", "/mcp")])
    with pytest.raises(ValueError, match="ASGI"):
        wsgi.GateMiddleware(lambda environ, start: [], new_gate)


def test_a_denied_operation_is_counted_audited_and_explained(caplog: pytest.LogCaptureFixture) -> None:
    counted: list[Any] = []
    lines: list[str] = []
    caplog.set_level("INFO", "orbgate.gate")
    service = Service(gate(count=lambda name, labels: counted.append(labels["reason"]), audit=lines.append, debug=True))
    status, headers, _ = service.send(in_pieces(call("refund")))
    assert (status, headers["www-authenticate"]) == (403, 'Bearer error="insufficient_scope", scope="orders:write"')
    assert counted == ["scope_missing"]
    assert json.loads(lines[0])["about"] == "MCP /mcp/tools/call/refund"
    assert '"path":"/mcp/tools/call/refund"' in caplog.text
