"""A server of the official SDK that lists only tools that the caller's token may call: docs/mcp.md prints it."""

from typing import Any

from mcp.server.mcpserver import MCPServer
from orbgate.gate.asgi import allowed


def list_callable(server: MCPServer) -> None:
    async def listing(ctx: Any, call_next: Any) -> Any:
        result = await call_next(ctx)
        if ctx.method == "tools/list":
            tools = result["tools"]
            visible = allowed(ctx.request).visible("tools/call", [tool["name"] for tool in tools])
            result["tools"] = [tool for tool in tools if tool["name"] in visible]
        return result

    server.middleware.append(listing)
