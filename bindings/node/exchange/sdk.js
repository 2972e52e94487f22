"use strict";
// The MCP servers of the TypeScript SDKs behind the gate program, with sessions of older versions as both show them. The driver decides
// when and how their tools end.
const { randomUUID } = require("node:crypto");

/** Their types need those of browsers. @type {(name: string) => any} */
const load = require;

/**
 * Tells the driver at this URL that the tool of a call has done its work, and ends as it says.
 * @param {string} work
 * @param {string} key
 */
async function run(work, key) {
  const end = await (await fetch(`${work}/${key}`)).text();
  if (end === "error") {
    throw Object.assign(new Error("no"), { code: -32000 });
  }
  return { isError: end === "tool error", content: [{ type: /** @type {const} */ ("text"), text: "done" }] };
}

/**
 * A server, whose handlers of messages answer even with an error of JSON-RPC.
 * @param {any} Server
 * @param {[unknown, unknown]} methods of lists and of calls, as the SDK names them
 * @param {string[]} tools
 * @param {string} work
 */
function serverOf(Server, [list, call], tools, work) {
  const server = new Server({ name: "work", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler(list, () => ({ tools: tools.map((name) => ({ name, inputSchema: { type: "object" } })) }));
  server.setRequestHandler(call, (/** @type {any} */ { params }) => run(work, params.arguments.key));
  return server;
}

/**
 * Serves requests of sessions, each with a transport of its own, and passes on those that belong to none.
 * @param {any} Transport
 * @param {() => any} newServer
 * @param {boolean} isJson
 * @param {(request: any, response: any, body: any) => void} rest
 */
function withSessions(Transport, newServer, isJson, rest) {
  /** @type {Map<string, any>} */
  const transports = new Map();
  const serve = async (/** @type {any} */ request, /** @type {any} */ response) => {
    const text = Buffer.concat(await request.toArray()).toString();
    const body = text === "" ? undefined : JSON.parse(text);
    let transport = transports.get(request.headers["mcp-session-id"]);
    if (transport === undefined && body?.method === "initialize") {
      transport = new Transport({
        sessionIdGenerator: randomUUID, enableJsonResponse: isJson,
        onsessioninitialized: (/** @type {string} */ id) => void transports.set(id, transport),
        onsessionclosed: (/** @type {string} */ id) => void transports.delete(id),
      });
      await newServer().connect(transport);
    }
    return transport === undefined ? rest(request, response, body) : transport.handleRequest(request, response, body);
  };
  // A request whose caller leaves before its body has come fails.
  return (/** @type {any} */ request, /** @type {any} */ response) => {
    serve(request, response).catch((error) => response.destroy(error));
  };
}

const unknown = (/** @type {any} */ _, /** @type {any} */ response) => response.writeHead(400, { "content-type": "application/json" })
  .end('{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no session"}}');

/**
 * A listener of `node:http`.
 * @param {string} version of the SDK
 * @param {string[]} tools
 * @param {string} work
 * @param {boolean} isJson
 */
exports.sdk = (version, tools, work, isJson) => {
  if (version === "1") {
    const { Server } = load("@modelcontextprotocol/sdk/server/index.js");
    const { StreamableHTTPServerTransport } = load("@modelcontextprotocol/sdk/server/streamableHttp.js");
    const { CallToolRequestSchema, ListToolsRequestSchema } = load("@modelcontextprotocol/sdk/types.js");
    const newServer = () => serverOf(Server, [ListToolsRequestSchema, CallToolRequestSchema], tools, work);
    return withSessions(StreamableHTTPServerTransport, newServer, isJson, unknown);
  }
  const { Server, createMcpHandler } = load("@modelcontextprotocol/server");
  const { NodeStreamableHTTPServerTransport, toNodeHandler } = load("@modelcontextprotocol/node");
  const newServer = () => serverOf(Server, ["tools/list", "tools/call"], tools, work);
  const newest = toNodeHandler(createMcpHandler(newServer, { responseMode: isJson ? "json" : "sse" }));
  return withSessions(NodeStreamableHTTPServerTransport, newServer, isJson, newest);
};
