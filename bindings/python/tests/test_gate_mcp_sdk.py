"""The official SDK's client, unmodified, before the official SDK's server with a gate: it is challenged, steps up twice and calls."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import http.client
import json
import socket
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from orbgate import Policy
from orbgate.gate import Gate, Ledger
from orbgate.gate.testing import Issuer
from test_gate_ledger import SECRET, Service
from test_gate_mcp import CASES, HELD, POLICY, ROWS, body_of, lines_of

pytest.importorskip("mcp")
import httpx2
import mcp_guide
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


class Authorizer(ThreadingHTTPServer):
    """An authorization server whose user agrees to everything. Its keys are an `Issuer`'s."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Endpoints)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.issuer = Issuer(self.url)
        self.scopes: list[str] = []
        self.codes: dict[str, dict[str, str]] = {}
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Endpoints(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def known(self) -> Authorizer:
        assert isinstance(self.server, Authorizer)
        return self.server

    def do_GET(self) -> None:
        url, known = urlsplit(self.path), self.known
        if url.path == "/.well-known/oauth-authorization-server":
            ends = {f"{name}_endpoint": f"{known.url}/{path}" for name, path in (("authorization", "authorize"), ("token", "token"), ("registration", "register"))}
            self._say(200, {"issuer": known.url, **ends, "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"]})
        elif url.path == "/jwks":
            self._say(200, json.loads(known.issuer.fetch("", 0, 0).body))
        elif url.path == "/authorize":
            query = {name: values[0] for name, values in parse_qs(url.query).items()}
            known.scopes.append(query["scope"])
            code = f"code-{len(known.codes)}"
            known.codes[code] = query
            self._say(302, {}, f"{REDIRECT}?{urlencode({'code': code, 'state': query['state']})}")
        else:
            self._say(404, {})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.path == "/register":
            self._say(201, {**json.loads(body), "client_id": "client"})
            return
        given = {name: values[0] for name, values in parse_qs(body).items()}
        query = self.known.codes.pop(given["code"])
        challenge = base64.urlsafe_b64encode(hashlib.sha256(given["code_verifier"].encode()).digest()).rstrip(b"=").decode()
        assert challenge == query["code_challenge"]
        token = self.known.issuer.bearer("user", query["scope"], aud=query["resource"]).removeprefix("Bearer ")
        self._say(200, {"access_token": token, "token_type": "Bearer", "expires_in": 600, "scope": query["scope"]})

    def _say(self, status: int, told: Any, location: str | None = None) -> None:
        text = json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        if location is not None:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:
        """Logs nothing, because responses contain tokens."""


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

    async def redirect(self, url: str) -> None:
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
        return AuthorizationCodeResult(code=query["code"][0], state=query["state"][0])


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


@asynccontextmanager
async def served(app: Any, listener: socket.socket) -> AsyncIterator[str]:
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
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
    authorizer = Authorizer()

    async def run() -> None:
        with listening() as listener:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
            authorizer.issuer.audience = url
            tokens = tmp_path / "tokens.yaml"
            tokens.write_text(authorizer.issuer.tokens)
            app = mcp_guide.serve(shop_server(ran), str(CASES / "policy.yaml"), str(tokens), url)
            user = User()
            told = OAuthClientMetadata(redirect_uris=[REDIRECT], token_endpoint_auth_method="none", grant_types=["authorization_code"])  # type: ignore[list-item]
            auth = OAuthClientProvider(url, told, Kept(), user.redirect, user.callback)
            async with served(app, listener), httpx2.AsyncClient(auth=auth, timeout=30) as web:
                async with Client(streamable_http_client(url, http_client=web), mode=mode) as client:
                    tools = await client.list_tools()
                    assert {tool.name for tool in tools.tools} == {"list_orders", "refund"}
                    assert authorizer.scopes == ["mcp:connect"]
                    for tool, result in (("list_orders", "none"), ("refund", "done"), ("list_orders", "none")):
                        called = await client.call_tool(tool, {})
                        assert (called.is_error, called.content[0].text) == (False, result)  # type: ignore[union-attr]

    try:
        asyncio.run(run())
    finally:
        authorizer.shutdown()
        authorizer.server_close()
    assert ran == ["list_orders", "refund", "list_orders"]
    assert authorizer.scopes == ["mcp:connect", "mcp:connect orders:read", "mcp:connect orders:read orders:write"]


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
    protect(app, Gate(POLICY, issuer.tokens, fetch=issuer.fetch, mcp="/mcp", ledger=ledger))
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
    assert (len(service.holds), service.settled) == (3, [{"capture": 5}, "void", "void"])
