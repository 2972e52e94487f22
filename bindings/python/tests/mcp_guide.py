"""An MCP server of the official SDK, each of whose tools has a scope: docs/mcp.md prints it."""

from urllib.parse import urlsplit

from mcp.server.mcpserver import MCPServer
from orbgate.gate import Gate
from orbgate.gate.mcp import protect
from starlette.applications import Starlette


def serve(server: MCPServer, policy: str, tokens: str, resource: str) -> Starlette:
    gate = Gate.from_files(policy, tokens, mcp="/mcp", mcp_initial_scopes="mcp:connect", metadata=resource)
    app = server.streamable_http_app(host=urlsplit(resource).hostname or "")
    # It tells the SDK who calls. Otherwise, any caller could use a session of an older version.
    protect(app, gate)
    return app
