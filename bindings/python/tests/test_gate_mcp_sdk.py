"""The official SDK's client, unmodified, before the official SDK's server with a gate: it is challenged, steps up twice and calls."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from orbgate import Policy
from orbgate.gate import Gate, Ledger
from orbgate.gate.testing import Issuer, serve
from test_gate_ledger import SECRET, Service
from test_gate_mcp import CASES, HELD, POLICY, ROWS, body_of, lines_of

pytest.importorskip("mcp")
import httpx2
import mcp_guide
import mcp_lists_guide
import uvicorn
from mcp import Client, MCPError
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from orbgate.gate.mcp import protect

pytestmark = pytest.mark.once
REDIRECT = "http://127.0.0.1:1/callback"
# With what clients of older versions do to their sessions.
SESSIONS = Policy.from_yaml(
    (CASES / "policy.yaml").read_text().replace("- MCP /ping\n", "- MCP /ping\n          - MCP /notifications/cancelled\n          - MCP /session/end\n")
)


class Kept:
    """The client's tokens."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class User:
    """A browser, which the client sends to the authorization server."""

    def __init__(self) -> None:
        self.code: AuthorizationCodeResult | None = None
        self.scopes: list[str] = []

    async def redirect(self, url: str) -> None:
        self.scopes.append(parse_qs(urlsplit(url).query)["scope"][0])
        self.code = await asyncio.get_running_loop().run_in_executor(None, self._visit, url)

    async def callback(self) -> AuthorizationCodeResult:
        assert self.code is not None
        return self.code

    @staticmethod
    def _visit(url: str) -> AuthorizationCodeResult:
        at = urlsplit(url)
        connection = http.client.HTTPConnection(at.netloc)
        connection.request("GET", f"{at.path}?{at.query}")
        query = parse_qs(urlsplit(connection.getresponse().headers["Location"]).query)
        connection.close()
        return AuthorizationCodeResult(code=query["code"][0], state=query["state"][0], iss=query["iss"][0])


def shop_server(ran: list[str]) -> MCPServer:
    """A server of the SDK, which runs whatever reaches it."""
    server = MCPServer("shop")

    @server.tool()
    def list_orders() -> str:
        ran.append("list_orders")
        return "none"

    @server.tool()
    def refund() -> str:
        ran.append("refund")
        return "done"

    return server


def shop(ran: list[str], **options: Any) -> Any:
    return shop_server(ran).streamable_http_app(**options)


@contextmanager
def listening() -> Iterator[socket.socket]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        yield listener


@contextmanager
def issuing(**options: Any) -> Iterator[Issuer]:
    """An issuer that clients can talk to."""
    server = serve(0, **options)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.issuer
    finally:
        server.shutdown()
        server.server_close()


@asynccontextmanager
async def served(app: Any, listener: socket.socket) -> AsyncIterator[str]:
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1))
    task = asyncio.ensure_future(server.serve([listener]))
    while not server.started:
        assert not task.done(), "the server didn't start"
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


@pytest.mark.parametrize("mode", ["2026-07-28", "auto", "legacy"])
def test_a_client_is_challenged_steps_up_twice_and_calls(mode: Any, tmp_path: Path) -> None:
    ran: list[str] = []
    user = User()

    async def run() -> None:
        with listening() as listener:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
            with issuing(audience=url) as issuer:
                tokens = tmp_path / "tokens.yaml"
                tokens.write_text(issuer.tokens)
                app = mcp_guide.serve(shop_server(ran), str(CASES / "policy.yaml"), str(tokens), url)
                auth = OAuthClientProvider(url, OAuthClientMetadata(redirect_uris=[REDIRECT]), Kept(), user.redirect, user.callback)  # type: ignore[list-item]
                async with served(app, listener), httpx2.AsyncClient(auth=auth, timeout=30) as web:
                    async with Client(streamable_http_client(url, http_client=web), mode=mode) as client:
                        tools = await client.list_tools()
                        assert {tool.name for tool in tools.tools} == {"list_orders", "refund"}
                        assert user.scopes == ["mcp:connect"]
                        for tool, result in (("list_orders", "none"), ("refund", "done"), ("list_orders", "none")):
                            called = await client.call_tool(tool, {})
                            assert (called.is_error, called.content[0].text) == (False, result)  # type: ignore[union-attr]

    asyncio.run(run())
    assert ran == ["list_orders", "refund", "list_orders"]
    assert user.scopes == ["mcp:connect", "mcp:connect orders:read", "mcp:connect orders:read orders:write"]


def test_the_server_runs_only_the_allowed_tool() -> None:
    """The shared requests before the SDK's server. Without the gate, the same server believes lying headers of older versions."""
    issuer = Issuer()

    async def send(app: Any, ran: list[str]) -> list[tuple[Any, int, list[str]]]:
        results = []
        with listening() as listener:
            async with served(app, listener) as url, httpx2.AsyncClient(timeout=30) as web:
                for row in ROWS:
                    headers = [("accept", "application/json, text/event-stream"), ("authorization", issuer.bearer("user", HELD)), *lines_of(row)]
                    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers]
                    response = await web.post(f"{url}/mcp", headers=raw, content=body_of(row))
                    results.append((row, response.status_code, list(ran)))
                    ran.clear()
        return results

    ran: list[str] = []
    gated = shop(ran, stateless_http=True, json_response=True)
    protect(gated, Gate(POLICY, issuer.tokens, fetch=issuer.fetch, mcp="/mcp", mcp_origins=["https://app.example"]))
    served_calls = 0
    for row, status, tools in asyncio.run(send(gated, ran)):
        runs = row["status"] == 200 and row.get("target") == "/mcp/tools/call/list_orders"
        # The SDK rejects some requests that the gate allows, such as those of unknown versions.
        assert tools in ([], ["list_orders"]) if runs else tools == [], row["name"]
        assert row["status"] in (200, status), row["name"]
        served_calls += len(tools)
    assert served_calls > 5
    refunds = sum(tools.count("refund") for _, _, tools in asyncio.run(send(shop(ran, stateless_http=True, json_response=True), ran)))
    assert refunds > 3


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
@pytest.mark.parametrize("language", ["go", "python", "typescript"])
def test_a_client_connects_with_a_drafted_policy(command: str, language: str, mode: Any) -> None:
    """`orbgate mcp import` of the answers that the SDKs' example servers give."""
    answer = Path(__file__).parents[3] / "crates" / "orbgate-cli" / "tests" / "command" / "tools" / f"{language}.json"
    draft = subprocess.run([command, "mcp", "import", answer], check=True, capture_output=True, text=True).stdout
    names = [tool["name"] for tool in json.loads(answer.read_text())["result"]["tools"]]
    issuer, server = Issuer(), MCPServer("drafted")
    for name in names:
        server.add_tool(lambda: "done", name=name)
    app = server.streamable_http_app()
    protect(app, Gate(Policy.from_yaml(draft), issuer.tokens, fetch=issuer.fetch, mcp="/mcp"))

    async def run() -> None:
        with listening() as listener:
            async with served(app, listener) as url:
                for scopes in ("mcp:connect", "mcp:connect tools:read tools:write"):
                    headers = {"Authorization": issuer.bearer("user", scopes)}
                    async with httpx2.AsyncClient(headers=headers, timeout=30) as web:
                        async with Client(streamable_http_client(f"{url}/mcp", http_client=web), mode=mode) as client:
                            assert [tool.name for tool in (await client.list_tools()).tools] == names
                            for name in names if "tools" in scopes else ():
                                assert not (await client.call_tool(name, {})).is_error

    asyncio.run(run())


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
def test_a_list_can_have_only_callable_tools(mode: Any) -> None:
    issuer, server = Issuer(), shop_server([])
    mcp_lists_guide.list_callable(server)
    app = server.streamable_http_app()
    protect(app, Gate(POLICY, issuer.tokens, fetch=issuer.fetch, mcp="/mcp"))
    lists = {"mcp:connect": [], "mcp:connect orders:read": ["list_orders"], "mcp:connect orders:read orders:write": ["list_orders", "refund"]}

    async def run() -> None:
        with listening() as listener:
            async with served(app, listener) as url:
                for scopes, names in lists.items():
                    async with httpx2.AsyncClient(headers={"Authorization": issuer.bearer("user", scopes)}, timeout=30) as web:
                        async with Client(streamable_http_client(f"{url}/mcp", http_client=web), mode=mode) as client:
                            assert [tool.name for tool in (await client.list_tools()).tools] == names

    asyncio.run(run())


def test_a_session_belongs_to_its_caller() -> None:
    issuer, callers = Issuer(), []
    server = MCPServer("shop")

    @server.tool()
    def list_orders() -> str:
        token = get_access_token()
        assert token is not None
        callers.append((token.subject, token.client_id, token.claims))
        assert "." not in token.token
        return "none"

    app = server.streamable_http_app(json_response=True)
    protect(app, Gate(POLICY, issuer.tokens, fetch=issuer.fetch, mcp="/mcp"))

    async def run() -> None:
        with listening() as listener:
            async with served(app, listener) as url, httpx2.AsyncClient(timeout=30) as web:

                async def send(subject: str, method: str, params: Any, **headers: str) -> httpx2.Response:
                    lines = {"Accept": "application/json, text/event-stream", "Authorization": issuer.bearer("user", HELD, sub=subject), **headers}
                    return await web.post(f"{url}/mcp", headers=lines, json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params})

                client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
                begun = await send("ada", "initialize", client)
                session = {"Mcp-Session-Id": begun.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
                assert (await send("eve", "tools/call", {"name": "list_orders"}, **session)).status_code == 404
                assert callers == []
                assert (await send("ada", "tools/call", {"name": "list_orders"}, **session)).status_code == 200

    asyncio.run(run())
    assert callers == [("ada", "client", {"iss": issuer.name})]


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
@pytest.mark.parametrize("is_json", [False, True])
def test_the_server_s_responses_settle(mode: Any, is_json: bool) -> None:
    issuer, service = Issuer(), Service()
    server = MCPServer("shop")

    @server.tool()
    def refund(end: str) -> str:
        if end == "tool error":
            raise ValueError("no")
        if end == "error":
            raise MCPError(-32000, "no")
        return "done"

    ledger = Ledger(service.url, secret=SECRET, on_cancelled="void", on_tool_error="void", on_input_required="void")
    app = server.streamable_http_app(json_response=is_json)
    protect(app, Gate(POLICY, issuer.tokens, fetch=issuer.fetch, mcp="/mcp", ledger=ledger, mcp_charge_sessions=True))
    headers = {"Authorization": issuer.bearer("user", f"{HELD} orders:write")}

    async def run() -> None:
        with listening() as listener:
            async with served(app, listener) as url, httpx2.AsyncClient(timeout=30, headers=headers) as web:
                async with Client(streamable_http_client(f"{url}/mcp", http_client=web), mode=mode) as client:
                    for end, is_error in (("result", False), ("tool error", True)):
                        assert (await client.call_tool("refund", {"end": end})).is_error is is_error
                        assert await asyncio.to_thread(ledger.flush, 20)
                    with pytest.raises(MCPError):
                        await client.call_tool("refund", {"end": "error"})

    asyncio.run(run())
    assert ledger.flush(20)
    service.shutdown()
    service.server_close()
    # The client of an older version has a session, in which a response could be that to another call.
    error = {"capture": 5} if mode == "legacy" else "void"
    assert (len(service.holds), service.settled) == (3, [{"capture": 5}, error, error])


@pytest.mark.parametrize("is_json", [False, True])
@pytest.mark.parametrize("attack", ["same id", "cancelled", "session ended"])
# The SDK forgets the streams that it mixes up.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_finished_work_in_a_session_is_never_free(attack: str, is_json: bool) -> None:
    """The SDK sends a response to the last call with its id, answers a cancelled call with an error, and drops what waits when a
    session ends. The paid tool does its work in each case.
    """
    issuer, service, ran = Issuer(), Service(), []
    server = MCPServer("shop")
    listed, paid, go = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @server.tool()
    async def refund() -> str:
        paid.set()
        try:
            await asyncio.wait_for(go.wait(), 10)
        finally:
            ran.append("refund")
        return "done"

    @server.tool()
    async def list_orders() -> str:
        listed.set()
        await asyncio.wait_for(paid.wait(), 10)
        raise MCPError(-32000, "that of the free call")

    ledger = Ledger(service.url, secret=SECRET, on_cancelled="void", on_tool_error="void", on_input_required="void")
    app = server.streamable_http_app(json_response=is_json)
    protect(app, Gate(SESSIONS, issuer.tokens, fetch=issuer.fetch, mcp="/mcp", ledger=ledger, mcp_charge_sessions=True))
    own = {"Accept": "application/json, text/event-stream", "Authorization": issuer.bearer("user", f"{HELD} orders:write")}

    async def run() -> None:
        with listening() as listener:
            async with served(app, listener) as url, httpx2.AsyncClient(timeout=30) as web:

                async def send(message: Any, **headers: str) -> httpx2.Response:
                    return await web.post(f"{url}/mcp", headers={**own, **headers}, json={"jsonrpc": "2.0", **message})

                client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
                begun = await send({"id": 0, "method": "initialize", "params": client})
                session = {"Mcp-Session-Id": begun.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
                await send({"method": "notifications/initialized"}, **session)

                def call(tool: str) -> dict[str, Any]:
                    return {"id": 1, "method": "tools/call", "params": {"name": tool}}

                calls = []
                if attack == "same id":
                    calls.append(asyncio.create_task(send(call("list_orders"), **session)))
                    # Its tool waits for the paid one.
                    await asyncio.wait_for(listed.wait(), 10)
                calls.append(asyncio.create_task(send(call("refund"), **session)))
                await asyncio.wait_for(paid.wait(), 10)
                if attack == "cancelled":
                    await send({"method": "notifications/cancelled", "params": {"requestId": 1}}, **session)
                elif attack == "session ended":
                    await web.delete(f"{url}/mcp", headers={**own, **session})
                else:
                    response = await asyncio.wait_for(calls[1], 10)
                    assert "that of the free call" in response.text
                go.set()
                _, waiting = await asyncio.wait(calls, timeout=1)
                for task in waiting:
                    task.cancel()
                await asyncio.gather(*calls, return_exceptions=True)

    asyncio.run(run())
    assert ledger.flush(20)
    service.shutdown()
    service.server_close()
    assert (ran, len(service.holds), service.settled) == (["refund"], 1, [{"capture": 5}])
