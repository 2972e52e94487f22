"""An MCP server of the Python SDK with one planted fault, or none."""

import json
import socket
import sys

import uvicorn
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer

FAULT = sys.argv[1]
URL = "https://api.example.com/mcp"
RESOURCES = {"good": URL, "other": "https://other.example.com/mcp"}


class Verifier:
    async def verify_token(self, token):
        resource = RESOURCES.get(token)
        return resource and AccessToken(token=token, client_id="client", scopes=["orders:read"], resource=resource)


class Guard:
    """Gives `refund` a scope that no token has."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http" or scope["method"] != "POST":
            return await self.app(scope, receive, send)
        body, more = b"", True
        while more:
            part = await receive()
            body, more = body + part.get("body", b""), part.get("more_body", False)
        headers = dict(scope["headers"])
        if FAULT == "open" and headers.get(b"mcp-method") == b"tools/list":
            scope = {**scope, "headers": [*scope["headers"], (b"authorization", b"Bearer good")]}
        try:
            message = json.loads(body)
            if FAULT == "batch" and isinstance(message, list):
                message, body = message[0], json.dumps(message[-1]).encode()  # it checks only the first message
            name = message["params"]["name"] if message["method"] == "tools/call" else None
        except (KeyError, TypeError, ValueError):
            name = None
        if FAULT == "name" and b"mcp-name" in headers:
            name = headers[b"mcp-name"].decode()
        if name == "refund" and b"authorization" in headers:
            result = {"isError": True, "content": [{"type": "text", "text": "the scope `orders:write` is missing"}]}
            answer = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode() if FAULT == "error" else b""
            challenge = (b"www-authenticate", b'Bearer error="insufficient_scope", scope="orders:write"')
            status, lines = (200, [(b"content-type", b"application/json")]) if FAULT == "error" else (403, [challenge])
            await send({"type": "http.response.start", "status": status, "headers": [*lines, (b"content-length", b"%d" % len(answer))]})
            return await send({"type": "http.response.body", "body": answer})
        length = (b"content-length", b"%d" % len(body))
        scope = {**scope, "headers": [line for line in scope["headers"] if line[0] != b"content-length"] + [length]}
        whole = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def again():
            return next(whole, None) or await receive()

        return await self.app(scope, again, send)


auth = AuthSettings(issuer_url="https://issuer.example.com", resource_server_url=URL, validate_token_resource=FAULT != "audience")
server = MCPServer("shop", auth=auth, token_verifier=Verifier())


@server.tool()
def list_orders() -> str:
    return "none"


@server.tool()
def refund() -> str:
    return "done"


with socket.create_server(("127.0.0.1", 0)) as listening:
    print(f"listening http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
    app = Guard(server.streamable_http_app(json_response=True))
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run([listening])
