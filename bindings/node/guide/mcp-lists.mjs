// An MCP server of the official SDK that lists only tools that the caller's token may call: docs/mcp.md prints it.
import { toNodeHandler } from "@modelcontextprotocol/node";
import { McpServer, createMcpHandler } from "@modelcontextprotocol/server";
import { allowed } from "orbgate/gate";

/** `tools` has the arguments of `registerTool` by name. */
export const listCallable = (gate, tools) => {
  const handler = toNodeHandler(createMcpHandler(({ authInfo }) => {
    const server = new McpServer({ name: "shop", version: "1" });
    for (const name of gate.visible(authInfo.extra.token, "tools/call", Object.keys(tools))) {
      server.registerTool(name, ...tools[name]);
    }
    return server;
  }));
  return (request, response) => {
    const { token } = allowed(request);
    request.auth = { token: token.fingerprint, clientId: token.client ?? "", scopes: token.scopes.split(" "), extra: { token } };
    return handler(request, response, request.body);
  };
};
