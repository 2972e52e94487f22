"use strict";
// An MCP server of the TypeScript SDK with one planted fault, or none.
const { createServer } = require("node:http");
const { createRequire } = require("node:module");

const from = createRequire(`${process.cwd()}/bindings/node/`);
const { McpServer, createMcpHandler, fromJsonSchema, requireBearerAuth, requireScopes } = from("@modelcontextprotocol/server");
const { toNodeHandler } = from("@modelcontextprotocol/node");

const FAULT = process.argv[2];
const URL_OF_RESOURCE = "https://api.example.com/mcp";
const RESOURCES = { good: URL_OF_RESOURCE, other: "https://other.example.com/mcp" };

const verifier = {
  verifyAccessToken: async (token) => {
    if (!Object.hasOwn(RESOURCES, token)) {
      const { OAuthError, OAuthErrorCode } = from("@modelcontextprotocol/server");
      throw new OAuthError(OAuthErrorCode.InvalidToken, "unknown");
    }
    return { token, clientId: "client", scopes: ["orders:read"], expiresAt: Date.now() / 1000 + 600, resource: new URL(RESOURCES[token]) };
  },
};
const bearer = requireBearerAuth({
  verifier, resourceMetadataUrl: "https://api.example.com/.well-known/oauth-protected-resource/mcp",
  expectedResource: FAULT === "audience" ? undefined : new URL(URL_OF_RESOURCE),
});

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: "shop", version: "1" });
  server.registerTool("list_orders", { description: "lists" }, async () => ({ content: [{ type: "text", text: "none" }] }));
  // The SDK's own challenge, or a server that decides in its tool or by a header.
  const scopeChallenge = ["error", "name", "batch"].includes(FAULT) ? undefined : requireScopes("orders:write");
  server.registerTool("refund", { description: "refunds", scopeChallenge }, async () => (
    FAULT === "error" ? { isError: true, content: [{ type: "text", text: "the scope is missing" }] } : { content: [{ type: "text", text: "done" }] }
  ));
  return server;
});

async function answer(request) {
  const headers = new Headers(request.headers);
  const body = request.method === "POST" ? await request.text() : undefined;
  if (FAULT === "open" && headers.get("mcp-method") === "tools/list") {
    headers.set("authorization", "Bearer good");
  }
  const changed = new Request(request.url, { method: request.method, headers, body });
  const auth = await bearer(changed);
  if (auth instanceof Response) {
    return auth;
  }
  // A guard that believes a header, or checks only the first message of a batch, which the SDK reads.
  const messages = body && ["name", "batch"].includes(FAULT) ? [JSON.parse(body)].flat() : [];
  const names = FAULT === "batch" ? [messages[0]?.params?.name] : messages.map(({ params }) => headers.get("mcp-name") ?? params?.name);
  if (names.includes("refund")) {
    return new Response(null, { status: 403, headers: { "www-authenticate": 'Bearer error="insufficient_scope", scope="orders:write"' } });
  }
  return handler.fetch(changed, { authInfo: auth });
}

const server = createServer(toNodeHandler({ fetch: answer }));
server.listen(0, "127.0.0.1", () => console.log(`listening http://127.0.0.1:${server.address().port}/mcp`));
