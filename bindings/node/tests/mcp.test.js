"use strict";
// An MCP endpoint before each framework: only allowed messages reach the handler, with the same bytes.
const test = require("node:test");
const assert = require("node:assert/strict");
const fs = require("node:fs");
const http = require("node:http");
const os = require("node:os");
const path = require("node:path");
const { Transform } = require("node:stream");
const { once } = require("node:events");
const { Engine } = require("orbgate");
const { Gate, allowed, fastify, hono, listener, middleware, refusal, routesOf } = require("orbgate/gate");
const { gated, portOf, served } = require("./support/service.js");
const { issuer } = require("./support/issuer.js");

const express5 = require("express");
// @ts-expect-error: its types are those of 5
const express4 = /** @type {typeof express5} */ (require("express4"));

const CASES = path.join(__dirname, "../../../policy/cases/mcp");
const [ROWS, VISIBLE] = ["requests.jsonl", "visible.jsonl"].map((name) => (
  fs.readFileSync(path.join(CASES, name), "utf8").trim().split("\n").map((line) => JSON.parse(line))
));
const SCOPES = "mcp:connect orders:read";
const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_orders"}}';
const JSON_TYPE = ["content-type", "application/json"];

/** @param {import("node:test").TestContext} context @param {import("orbgate/gate").GateOptions} [more] */
const shop = (context, more) => gated(context, Engine.fromFile(path.join(CASES, "policy.yaml")), { mcp: { path: "/mcp", initialScopes: "mcp:connect", origins: ["https://app.example"] }, ...more });

/**
 * @param {number} port
 * @param {string[]} headers names and values, as they are
 * @param {Buffer | string | null} body `null`: it never ends
 * @param {string} [method]
 * @param {string} [at]
 */
async function send(port, headers, body, method = "POST", at = "/mcp") {
  const length = body === null ? [] : ["content-length", String(Buffer.byteLength(body))];
  const request = http.request({ port, method, path: at, host: "127.0.0.1", agent: false, headers: ["host", `127.0.0.1:${port}`, ...length, ...headers] });
  if (body === null) {
    request.flushHeaders();
  } else {
    request.end(body);
  }
  const [response] = await once(request, "response");
  const bytes = Buffer.concat(await response.toArray());
  request.destroy();
  return { status: response.statusCode, headers: response.headers, body: bytes };
}

/** Hono and its server, without its types, which need those of browsers. @returns {Promise<any>} */
const honos = async () => Object.assign({}, ...await Promise.all(["hono", "@hono/node-server"].map((name) => import(name))));

/** What each framework runs behind its gate: the handler answers with the body that it gets. */
const FRAMEWORKS = {
  /** @param {import("node:test").TestContext} context @param {Gate} gate @param {() => void} ran */
  "node:http": (context, gate, ran) => served(context, listener(gate, (request, response) => {
    ran();
    allowed(request);
    /** @type {any} */ (request).pipe(response);
  })),
  /** @param {import("node:test").TestContext} context @param {Gate} gate @param {() => void} ran */
  "Express 5": (context, gate, ran) => served(context, expressOf(express5, gate, ran)),
  /** @param {import("node:test").TestContext} context @param {Gate} gate @param {() => void} ran */
  "Express 4": (context, gate, ran) => served(context, expressOf(express4, gate, ran)),
  /** @param {import("node:test").TestContext} context @param {Gate} gate @param {() => void} ran */
  Fastify: async (context, gate, ran) => {
    const app = require("fastify")();
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    // It passes the body through a stream of its own.
    app.addHook("preParsing", async (_request, _reply, payload) => payload.pipe(new Transform({ transform: (chunk, _, done) => done(null, chunk) })));
    await app.register(fastify(gate));
    app.post("/mcp", async (request) => {
      ran();
      return request.body;
    });
    await app.listen({ host: "127.0.0.1", port: 0 });
    context.after(() => app.close());
    return portOf(app.server);
  },
  /** @param {import("node:test").TestContext} context @param {Gate} gate @param {() => void} ran */
  Hono: async (context, gate, ran) => {
    const { Hono, getRequestListener } = await honos();
    const app = new Hono();
    app.use(hono(gate));
    app.post("/mcp", async (/** @type {any} */ one) => {
      ran();
      return new Response(await one.req.raw.arrayBuffer());
    });
    return served(context, getRequestListener(app.fetch));
  },
  /** @param {import("node:test").TestContext} context @param {Gate} gate @param {() => void} ran */
  Fetch: async (context, gate, ran) => {
    const { getRequestListener } = await honos();
    return served(context, getRequestListener(async (/** @type {any} */ request) => {
      const denied = await refusal(gate, request);
      if (denied !== undefined) {
        return /** @type {any} */ (denied);
      }
      ran();
      return new Response(await request.arrayBuffer());
    }));
  },
};

/** @param {typeof express5} express @param {Gate} gate @param {() => void} ran */
function expressOf(express, gate, ran) {
  const app = express();
  app.use(middleware(gate));
  app.post("/mcp", express.raw({ type: () => true, limit: "8mb" }), (request, response) => {
    ran();
    response.end(request.body);
  });
  assert.deepEqual(gate.checkRoutes(routesOf(app)), []);
  return app;
}

for (const [name, serve] of Object.entries(FRAMEWORKS)) {
  test(`only allowed messages reach the handler: ${name}`, async (context) => {
    const { gate, bearer } = await shop(context);
    let ran = 0;
    const port = await serve(context, gate, () => void (ran += 1));
    const token = ["authorization", bearer(SCOPES).authorization];
    let count = 0;
    for (const row of ROWS) {
      const headers = row.headers.flatMap((/** @type {string} */ line) => /^(.*?): (.*)$/s.exec(line)?.slice(1));
      // Requests of the Fetch API join the values of a header, which is denied as well.
      const body = row.body_base64 === undefined ? Buffer.from(row.body) : Buffer.from(row.body_base64, "base64");
      const answer = await send(port, [...token, ...headers], body);
      assert.equal(answer.status, row.status, `${row.name}: ${answer.body}`);
      count += row.status === 200 ? 1 : 0;
      assert.equal(ran, count, row.name);
      if (row.status === 200) {
        assert.deepEqual(answer.body, body, row.name);
      } else if (row.status === 403) {
        assert.equal(answer.headers["www-authenticate"], row.scope && `Bearer error="insufficient_scope", scope="${row.scope}"`);
        assert.equal(answer.body.length, 0);
      } else {
        assert.equal(answer.headers["content-type"], "application/json");
        assert.ok(JSON.parse(answer.body.toString()).error, row.name);
        assert.ok(row.id === undefined || answer.body.includes(`"id":${row.id},`), row.name);
      }
    }
    assert.deepEqual([ROWS.length, count], [162, 25]);
    const long = CALL.replace('"params":{', `"params":{"arguments":{"a":"${"x".repeat((4 << 20) - 200)}"},`);
    const answer = await send(port, [...token, ...JSON_TYPE], long);
    assert.deepEqual([answer.status, answer.body.equals(Buffer.from(long))], name === "Fastify" ? [413, false] : [200, true]);
    // The body isn't read without a valid token, nor if its stated length is too large.
    const denied = await send(port, JSON_TYPE, null);
    assert.deepEqual([denied.status, denied.headers["www-authenticate"]], [401, 'Bearer scope="mcp:connect"']);
    const large = await send(port, [...token, ...JSON_TYPE, "content-length", String((4 << 20) + 1)], null);
    assert.deepEqual([large.status, JSON.parse(large.body.toString()).error.code], [400, -32600]);
  });
}

test("a page reads what the gate states, however the service writes its head", async (context) => {
  const { gate, bearer } = await shop(context);
  const page = ["origin", "https://app.example"];
  const stated = { origin: "https://app.example", exposed: "WWW-Authenticate, Mcp-Session-Id", credentials: undefined };
  const of = (/** @type {any} */ { "access-control-allow-origin": origin, "access-control-expose-headers": exposed, "access-control-allow-credentials": credentials }) => ({ origin, exposed, credentials });
  const own = { "access-control-allow-origin": "*", "Access-Control-Allow-Credentials": "true", vary: "Accept", "x-own": "1" };
  /** @type {((response: any) => void)[]} */
  const heads = [
    (response) => response.writeHead(200, own),
    (response) => response.writeHead(200, "Fine", Object.entries(own).flat()),
    (response) => response.setHeaders(new Map(Object.entries(own))),
    (response) => response.setHeader("vary", "Accept, origin").setHeader("x-own", "1").flushHeaders(),
    (response) => response.setHeader("Access-Control-Allow-Origin", "*").setHeader("x-own", "2").writeHead(200, { ...own, "set-cookie": ["a", "b"] }),
  ];
  for (const head of heads) {
    const port = await served(context, listener(gate, (_, response) => {
      head(response);
      response.end("ran");
    }));
    const { status, headers, body } = await send(port, [...page, "authorization", bearer(SCOPES).authorization, ...JSON_TYPE], CALL);
    assert.deepEqual([status, of(headers), body.toString(), headers["x-own"]], [200, stated, "ran", "1"], String(head));
    assert.deepEqual(headers.vary?.toLowerCase().split(", "), ["accept", "origin"]);
  }
  const { getRequestListener, Hono } = await honos();
  const respond = () => new Response("ran", { headers: own });
  const fetching = async (/** @type {any} */ request) => (await refusal(gate, request)) ?? allowed(request).respond(respond());
  const app = new Hono().use(hono(gate)).post("/mcp", respond);
  for (const answer of [fetching, app.fetch]) {
    const port = await served(context, getRequestListener(/** @type {any} */ (answer)));
    const { status, headers, body } = await send(port, [...page, "authorization", bearer(SCOPES).authorization, ...JSON_TYPE], CALL);
    assert.deepEqual([status, of(headers), body.toString(), headers["x-own"], headers.vary], [200, stated, "ran", "1", "Accept, Origin"]);
    const asked = await send(port, [...page, "access-control-request-method", "POST", "access-control-request-headers", "mcp-param-a"], "", "OPTIONS");
    assert.deepEqual([asked.status, asked.headers["access-control-allow-headers"]?.endsWith(", mcp-param-a")], [204, true]);
  }
});

test("a body that something has read before the gate is denied", async (context) => {
  const { gate, bearer } = await shop(context);
  const headers = ["authorization", bearer(SCOPES).authorization, ...JSON_TYPE];
  const parsed = express5().use(express5.json(), middleware(gate)).post("/mcp", (_, response) => void response.end("ran"));
  const ended = http.createServer((request, response) => {
    request.resume().on("end", () => listener(gate, (_, last) => void last.end("ran"))(request, response));
  });
  const { Hono, getRequestListener } = await honos();
  const app = new Hono();
  app.use(async (/** @type {any} */ one, /** @type {() => Promise<void>} */ next) => {
    await one.req.json();
    return next();
  });
  app.use(hono(gate));
  app.post("/mcp", () => new Response("ran"));
  for (const listen of [parsed, ended.listeners("request")[0], getRequestListener(app.fetch)]) {
    const answer = await send(await served(context, /** @type {any} */ (listen)), headers, CALL);
    assert.deepEqual([answer.status, JSON.parse(answer.body.toString()).error.code], [400, -32700]);
  }
  const { isAllow, httpStatus } = await gate.answer({ method: "POST", target: "/mcp", authorization: [bearer(SCOPES).authorization], upgrade: [], headerNames: [] });
  assert.deepEqual([isAllow, httpStatus], [false, 400]);
});

test("a body arrives in pieces, and a client that leaves runs nothing", async (context) => {
  const { gate, bearer } = await shop(context);
  let ran = 0;
  const port = await served(context, listener(gate, (request, response) => {
    ran += 1;
    /** @type {any} */ (request).pipe(response);
  }));
  const begun = () => http.request({ port, host: "127.0.0.1", method: "POST", path: "/mcp", agent: false, headers: { ...bearer(SCOPES), "content-type": "application/json" } });
  const request = begun();
  for (const piece of [CALL.slice(0, 1), CALL.slice(1, 40), CALL.slice(40)]) {
    request.write(piece);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const [response] = await once(request.end(), "response");
  assert.equal(Buffer.concat(await response.toArray()).toString(), CALL);
  const leaving = begun();
  leaving.on("error", () => {}).write(CALL);
  await new Promise((resolve) => setTimeout(resolve, 20));
  leaving.destroy();
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(ran, 1);
});

test("bodies that are held are bounded", async (context) => {
  const { gate, bearer } = await shop(context);
  const port = await served(context, listener(gate, (request, response) => void /** @type {any} */ (request).pipe(response)));
  const headers = ["host", "x", "authorization", bearer(SCOPES).authorization, ...JSON_TYPE, "content-length", String(4 << 20)];
  const waiting = Array.from({ length: 16 }, () => {
    const request = http.request({ port, host: "127.0.0.1", method: "POST", path: "/mcp", agent: false, headers }).on("error", () => {});
    request.flushHeaders();
    return request;
  });
  let busy;
  for (let tries = 0; tries < 100 && busy?.status !== 429; tries += 1) {
    busy = await send(port, headers.slice(2, 6), CALL);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.deepEqual([busy?.status, busy?.headers["retry-after"], JSON.parse(String(busy?.body)).error.code], [429, "1", -32000]);
  waiting.forEach((request) => request.destroy());
  let free;
  for (let tries = 0; tries < 100 && free?.status !== 200; tries += 1) {
    free = await send(port, headers.slice(2, 6), CALL);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.equal(free?.status, 200);
});

test("visible names are those of the token", async (context) => {
  const { gate } = await shop(context);
  for (const { scopes, method, names, visible } of VISIBLE) {
    assert.deepEqual(gate.visible(/** @type {any} */ ({ kind: "user", scopes }), method, names), visible);
    assert.deepEqual(gate.visible(/** @type {any} */ ({ kind: "unknown", scopes }), method, names), []);
  }
  assert.equal(VISIBLE.length, 6);
});

test("metadata needs no token", async (context) => {
  const { gate } = await shop(context, { resource: "https://api.example.com" });
  for (const port of [
    await served(context, listener(gate, (_, response) => void response.end("ran"))),
    await served(context, express5().use(middleware(gate))),
  ]) {
    const answer = await send(port, [], "", "GET", "/.well-known/oauth-protected-resource");
    assert.equal(answer.status, 200);
    const { resource, scopes_supported: scopes } = JSON.parse(answer.body.toString());
    assert.deepEqual([resource, scopes, answer.headers["access-control-allow-origin"]], ["https://api.example.com", ["mcp:connect"], "*"]);
    assert.equal((await send(port, JSON_TYPE, CALL)).headers["www-authenticate"], 'Bearer scope="mcp:connect", resource_metadata="https://api.example.com/.well-known/oauth-protected-resource"');
  }
  const { tokens } = await issuer(context);
  assert.throws(() => new Gate(Engine.external(), tokens, { resource: "https://other.example" }), /audience/);
  assert.throws(() => new Gate(Engine.external(), tokens, /** @type {any} */ ({ mcp: { path: "/mcp", scopes: "" } })), /scopes/);
});

test("what runs was allowed under the body's own method and name", async (context) => {
  const { gate, bearer } = await shop(context);
  const authorization = [bearer(SCOPES).authorization];
  let seed = 60;
  const random = (/** @type {number} */ below) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  const of = (/** @type {string[]} */ from) => /** @type {string} */ (from[random(from.length)]);
  const names = ["list_orders", "refund", "List_Orders", "delete_all", "list\\u005forders"];
  const methods = ["tools/call", "tools/list", "ping", "prompts/get", "Tools/Call"];
  let ran = 0;
  for (let at = 0; at < 10_000; at += 1) {
    const member = () => `"${of(["name", "name", "name", "Name", "na\\u006de", "name\\u0000"])}":"${of(names)}"`;
    const params = random(4) === 0 ? `${member()},${member()}` : member();
    const message = `{"jsonrpc":"2.0","id":1,"${of(["method", "method", "method", "Method"])}":"${of(methods)}","${of(["params", "params", "param\\u017f"])}":{${params}}}`;
    const body = random(8) === 0 ? `[${message}]` : message;
    const headers = /** @type {[string, string][]} */ ([["content-type", "application/json"]]);
    if (random(2) === 0) {
      headers.push(["Mcp-Method", of(methods)]);
    }
    if (random(2) === 0) {
      headers.push(["Mcp-Name", of([...names, `=?base64?${Buffer.from(of(names)).toString("base64")}?=`])]);
    }
    const answer = await gate.answer({ method: "POST", target: "/mcp", authorization, upgrade: [], headerNames: [], message: async () => ({ headers, body: Buffer.from(body) }) });
    if (answer.isAllow) {
      ran += 1;
      // A decoder that ignores letter case and takes the last member must agree with one that takes the exact one.
      const exact = JSON.parse(body);
      const loose = JSON.parse(body, (_, value) => (value === null || typeof value !== "object" || Array.isArray(value) ? value : Object.fromEntries(Object.entries(value).map(([name, one]) => [name.toLowerCase().replace("ſ", "s").replace("\0", ""), one]))));
      assert.deepEqual([loose.method, loose.params?.name], [exact.method, exact.params?.name], body);
      assert.ok(["ping", "tools/list"].includes(exact.method) || (exact.method === "tools/call" && exact.params.name === "list_orders"), body);
    }
  }
  assert.ok(ran > 100, String(ran));
});

test("a list can have only callable tools", async (context) => {
  const [{ Client, StreamableHTTPClientTransport }, { listCallable }] = /** @type {any[]} */ (
    await Promise.all([import(`${"@modelcontextprotocol/client"}`), import(path.join(__dirname, "../guide/mcp-lists.mjs"))])
  );
  const { tokens, token } = await issuer(context);
  const gate = new Gate(Engine.fromFile(path.join(CASES, "policy.yaml")), tokens, { mcp: { path: "/mcp" } });
  const tool = [{ description: "a tool" }, async () => ({ content: [] })];
  const port = await served(context, listener(gate, listCallable(gate, { list_orders: tool, refund: tool })));
  for (const [scopes, names] of [["", []], [" orders:read", ["list_orders"]], [" orders:read orders:write", ["list_orders", "refund"]]]) {
    for (const mode of [{ pin: "2026-07-28" }, "legacy"]) {
      const authProvider = { token: async () => token(`mcp:connect${scopes}`) };
      const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), { authProvider });
      const client = new Client({ name: "client", version: "1" }, { versionNegotiation: { mode } });
      await client.connect(transport);
      const listed = names.length === 0 ? [] : (await client.listTools()).tools;
      assert.deepEqual(listed.map((/** @type {any} */ { name }) => name), names);
      await client.close();
    }
  }
});

test("a client of the SDK steps up, and each tool runs once: node:http, Express, Hono", async (context) => {
  // They have types that need those of browsers. The guide imports them, and `require` would get other copies.
  const [{ Client, StreamableHTTPClientTransport, InsufficientScopeError }, { McpServer, createMcpHandler }, { toNodeHandler }] = /** @type {any[]} */ (
    await Promise.all(["client", "server", "node"].map((name) => import(`@modelcontextprotocol/${name}`)))
  );
  for (const [mode, version] of [[{ pin: "2026-07-28" }, "2026-07-28"], ["legacy", "2025-11-25"]]) {
    const { tokens, token } = await issuer(context);
    const files = /** @type {[string, string]} */ ([path.join(CASES, "policy.yaml"), path.join(fs.mkdtempSync(path.join(os.tmpdir(), "orbgate-")), "tokens.yaml")]);
    fs.writeFileSync(files[1], tokens);
    context.after(() => fs.rmSync(path.dirname(files[1]), { recursive: true }));
    const ran = { list_orders: 0, refund: 0 };
    const newServer = () => {
      const server = new McpServer({ name: "shop", version: "1" });
      for (const name of /** @type {const} */ (["list_orders", "refund"])) {
        server.registerTool(name, { description: name }, async () => {
          ran[name] += 1;
          return { content: [{ type: "text", text: name }] };
        });
      }
      return server;
    };
    const resource = "https://api.example.com";
    const gate = Gate.fromFiles(...files, { mcp: { path: "/mcp", initialScopes: "mcp:connect" }, resource });
    const guide = await import(path.join(__dirname, "../guide/mcp.mjs"));
    const { Hono, getRequestListener } = await honos();
    const app = new Hono().use(hono(gate)).all("/mcp", (/** @type {any} */ one) => createMcpHandler(newServer).fetch(one.req.raw));
    for (const listen of [listener(gate, toNodeHandler(createMcpHandler(newServer))), guide.serve(newServer, ...files, resource), getRequestListener(app.fetch)]) {
      const port = await served(context, /** @type {any} */ (listen));
      ran.list_orders = 0;
      ran.refund = 0;
      const [challenges, scopes] = [/** @type {string[]} */ ([]), /** @type {string[]} */ ([])];
      const grow = (/** @type {string} */ scope) => {
        challenges.push(scope);
        scopes.push(...scope.split(" "));
      };
      const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), {
        onInsufficientScope: "throw",
        authProvider: {
          token: async () => (scopes.length === 0 ? undefined : token(scopes.join(" "))),
          onUnauthorized: async (/** @type {any} */ { response }) => grow(/scope="(.*?)"/.exec(response.headers.get("www-authenticate") ?? "")?.[1] ?? ""),
        },
      });
      const client = new Client({ name: "client", version: "1" }, { versionNegotiation: { mode } });
      await client.connect(transport);
      assert.equal(transport.sessionId, undefined); // Another caller could use it.
      assert.equal(client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion, version);
      assert.deepEqual((await client.listTools()).tools.map((/** @type {any} */ { name }) => name), ["list_orders", "refund"]);
      for (const name of ["list_orders", "refund"]) {
        await assert.rejects(client.callTool({ name, arguments: {} }), (error) => error instanceof InsufficientScopeError && (grow(/** @type {any} */ (error).requiredScope), true));
        const result = await client.callTool({ name, arguments: {} });
        assert.equal(result.content[0].text, name);
      }
      await assert.rejects(client.callTool({ name: "delete_all", arguments: {} }), /unknown name/);
      assert.deepEqual([challenges, ran], [["mcp:connect", "orders:read", "orders:write"], { list_orders: 1, refund: 1 }]);
      // Of the shared requests, the server gets only those that are allowed.
      const common = ["authorization", `Bearer ${token(SCOPES)}`, "accept", "application/json, text/event-stream"];
      for (const row of ROWS) {
        const before = { ...ran };
        const headers = row.headers.flatMap((/** @type {string} */ line) => /^(.*?): (.*)$/s.exec(line)?.slice(1));
        const { status } = await send(port, [...common, ...headers], row.body_base64 === undefined ? row.body : Buffer.from(row.body_base64, "base64"));
        if (row.status !== 200) {
          assert.deepEqual([status, ran], [row.status, before], row.name);
        }
      }
      assert.ok(ran.list_orders > 1 && ran.refund === 1, JSON.stringify(ran));
      await client.close();
    }
  }
});
