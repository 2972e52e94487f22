"""The MCP server of the Python SDK behind the gate program, with sessions. The driver decides when and how its tools end."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlsplit

from mcp import MCPError
from mcp.server.mcpserver import MCPServer
from orbgate.gate import Gate
from orbgate.gate.mcp import protect


def application(gate: Gate, tools: list[str], work: str, is_json: bool) -> Any:
    """The server with these tools, which work at this URL."""
    server, at = MCPServer("work"), urlsplit(work)

    async def run(key: str) -> str:
        """Tells the driver that the tool of a call has done its work, and ends as it says."""
        reader, writer = await asyncio.open_connection(at.hostname, at.port)
        try:
            writer.write(f"GET /{key} HTTP/1.0\r\n\r\n".encode())
            end = (await reader.read()).partition(b"\r\n\r\n")[2]
        finally:
            writer.close()
        if end == b"error":
            raise MCPError(-32000, "no")
        if end == b"tool error":
            raise ValueError("no")
        return "done"

    for name in tools:
        server.add_tool(run, name=name)
    app = server.streamable_http_app(json_response=is_json)
    protect(app, gate)
    return app
