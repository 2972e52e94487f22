"use strict";
// What a server of Node gives to other listeners than its request handler: a guard decides it, and without one nothing passes.
const test = require("node:test");
const assert = require("node:assert/strict");
const http = require("node:http");
const http2 = require("node:http2");
const net = require("node:net");
const { once } = require("node:events");
const { WebSocket, WebSocketServer } = require("ws");
const { Engine } = require("orbgate");
const { Gate, allowed, fastify, guard, hono, listener, middleware } = require("orbgate/gate");
const { ask, issuer } = require("./support/issuer.js");
const { gated, listening, portOf } = require("./support/service.js");

/** @typedef {import("node:test").TestContext} Context */

const ORBS = "/api/v1/external/orbs";

/**
 * A service with one route, in each framework.
 * @type {Record<string, (gate: Gate, context: Context) => Promise<http.Server>>}
 */
const services = {
  "node:http": async (gate) => http.createServer(listener(gate, onOrbs)),
  "Connect": async (gate) => (
    http.createServer(/** @type {any} */ (require("connect"))().use(middleware(gate)).use(onOrbs))
  ),
  // @ts-expect-error: its types are those of 5
  "Express 4": async (gate) => http.createServer(onExpress(require("express4"), gate)),
  "Express 5": async (gate) => http.createServer(onExpress(require("express"), gate)),
  "Hono": async (gate) => {
    const [{ Hono }, { createAdaptorServer }] = await Promise.all(["hono", "@hono/node-server"].map((/** @type {any} */ name) => import(name)));
    return createAdaptorServer(new Hono().use(hono(gate)).get(ORBS, (/** @type {any} */ context) => context.text("orbs")));
  },
};

const onOrbs = (/** @type {http.IncomingMessage} */ _, /** @type {http.ServerResponse} */ response) => void response.end("orbs");

/** An application of either version. */
const onExpress = (/** @type {any} */ express, /** @type {Gate} */ gate) => (
  express().use(middleware(gate)).get(ORBS, (/** @type {any} */ _, /** @type {any} */ response) => response.send("orbs"))
);

/**
 * The status of a handshake: 101 if it opens.
 * @param {number} port
 * @param {Record<string, string>} [headers]
 * @param {string} [path]
 * @returns {Promise<number>}
 */
function shake(port, headers = {}, path = ORBS) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers });
  return new Promise((resolve, reject) => {
    socket.on("error", reject);
    socket.on("unexpected-response", (request, { statusCode = 0, headers }) => {
      request.destroy();
      // A server of WebSockets answers 400 itself.
      return statusCode === 400 || headers["cache-control"] === "no-store" ? resolve(statusCode) : reject(new Error("a cache may keep the denial"));
    });
    socket.on("open", () => {
      socket.close();
      resolve(101);
    });
  });
}

/**
 * The answer to bytes.
 * @param {number} port
 * @param {string} head
 */
async function raw(port, head) {
  const socket = net.connect(port, "127.0.0.1").setEncoding("latin1");
  socket.write(`${head}\r\nHost: a\r\nConnection: close\r\n\r\n`);
  return (await socket.toArray()).join("");
}

/**
 * The status of a request over HTTP/2.
 * @param {number} port
 * @param {import("node:http2").OutgoingHttpHeaders} headers
 */
async function over2(port, headers) {
  const session = http2.connect(`http://127.0.0.1:${port}`);
  await once(session, "remoteSettings");
  const stream = session.request({ ":path": ORBS, ...headers });
  const [{ ":status": status }] = await once(stream, "response");
  session.destroy();
  return status;
}

for (const [name, service] of Object.entries(services)) {
  test(`${name}: without a guard of its WebSockets nothing passes, with one each handshake is decided`, async (context) => {
    const { gate, counted, logged, bearer } = await gated(context);
    const server = await service(gate, context);
    const port = await listening(context, server);
    const get = async () => (await ask(port, "GET", ORBS, bearer("read:orbs"))).status;
    assert.equal(await get(), 200);

    const sockets = new WebSocketServer({ server });
    context.after(() => void sockets.close());
    const seen = /** @type {unknown[]} */ ([]);
    sockets.on("connection", (_, request) => void seen.push([allowed(request).decision.route, allowed(request).token?.subject]));
    for (let round = 1; round <= 2; round++) {
      assert.equal(await get(), 403);
    }
    assert.deepEqual(logged.map((line) => /every request is denied.*`upgrade`.*`guard\(gate, server\)`/.test(line)), [true]);

    assert.equal(guard(gate, server), server);
    assert.equal(await get(), 200);
    const before = counted.length;
    assert.equal(await shake(port), 401);
    assert.equal(await shake(port, bearer("read:keys")), 403);
    assert.equal(await shake(port, bearer("read:orbs"), "/nowhere"), 404);
    const { authorization } = bearer("read:orbs");
    assert.match(await raw(port, `GET ${ORBS} HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: h2c\r\nAuthorization: ${authorization}`), /^HTTP\/1.1 400 /);
    assert.deepEqual(seen, []);
    assert.equal(await shake(port, bearer("read:orbs")), 101);
    assert.deepEqual(seen, [[`GET ${ORBS}`, "ada"]]);
    assert.deepEqual(counted.slice(before).map((one) => one.split(" ")[2]), ["no_token", "scope_missing", "no_route", "malformed_request", "scope_held"]);
  });

  test(`${name}: no upgrade comes before the first request`, async (context) => {
    const { gate, logged, bearer } = await gated(context);
    const server = await service(gate, context);
    let upgrades = 0;
    const sockets = new WebSocketServer({ server }).on("connection", () => void (upgrades += 1));
    context.after(() => void sockets.close());
    const port = await listening(context, server);
    assert.equal(await shake(port, bearer("read:orbs")), 403);
    assert.equal(await shake(port), 403);
    const pattern = name === "Hono" ? /upgrade is denied.* Hono's .*`guard\(gate, server\)`/ : /request is denied.*`upgrade`.*`guard\(gate, server\)`/;
    assert.deepEqual([upgrades, logged.map((line) => pattern.test(line))], [0, [true]]);
    // A request tells which server it is, and handshakes stay denied.
    assert.equal((await ask(port, "GET", ORBS, bearer("read:orbs"))).status, 403);
    assert.deepEqual([await shake(port, bearer("read:orbs")), upgrades], [403, 0]);
    guard(gate, server);
    assert.deepEqual([await shake(port), await shake(port, bearer("read:orbs")), upgrades], [401, 101, 1]);
  });

  test(`${name}: tunnels and expectations are decided, too`, async (context) => {
    const { gate, logged, bearer } = await gated(context);
    const server = await service(gate, context);
    const port = await listening(context, server);
    const { authorization } = bearer("read:orbs");
    const reached = /** @type {string[]} */ ([]);
    const served = { connect: (/** @type {any} */ _, /** @type {any} */ socket) => void socket.end("HTTP/1.1 200 \r\n\r\n") };
    const events = /** @type {[string, string, number, (request: any, output: any) => unknown][]} */ ([
      ["connect", `CONNECT ${ORBS} HTTP/1.1\r\nAuthorization: ${authorization}`, 405, served.connect],
      ["checkContinue", `GET ${ORBS} HTTP/1.1\r\nExpect: 100-continue`, 401, (_, response) => response.end()],
      ["checkContinue", `GET ${ORBS} HTTP/1.1\r\nExpect: 100-continue\r\nAuthorization: ${authorization}`, 200, (_, response) => response.end()],
      ["checkExpectation", `GET ${ORBS} HTTP/1.1\r\nExpect: more`, 401, (_, response) => response.end()],
      ["checkExpectation", `GET ${ORBS} HTTP/1.1\r\nExpect: more\r\nAuthorization: ${authorization}`, 200, (_, response) => response.end()],
    ]);
    const add = (/** @type {typeof events[number]} */ [event, , status, listen]) => server.on(event, (request, output) => {
      reached.push(`${event} ${status}`);
      listen(request, output);
    });
    for (const one of events) {
      add(one);
      assert.equal((await ask(port, "GET", ORBS, bearer("read:orbs"))).status, 403);
      server.removeAllListeners(one[0]);
      assert.equal((await ask(port, "GET", ORBS, bearer("read:orbs"))).status, 200);
    }
    assert.deepEqual(logged.map((line) => /`(\w+)`/.exec(line)?.[1]), ["connect", "checkContinue", "checkExpectation"]);
    server.on("request", () => {});
    for (let round = 1; round <= 2; round++) {
      assert.equal((await ask(port, "GET", ORBS, bearer("read:orbs"))).status, 200);
    }
    assert.deepEqual(logged.slice(3).map((line) => /several listeners for `request`/.test(line)), [true]);
    guard(gate, server);
    for (const one of events) {
      const [event, head, status] = one;
      add(one);
      assert.match(await raw(port, head), new RegExp(`^HTTP/1.1 ${status} `));
      server.removeAllListeners(event);
    }
    assert.deepEqual(reached, ["checkContinue 200", "checkExpectation 200"]);
  });
}

test("a handshake that waits for keys outlives its client, and is not handed over", async (context) => {
  const { tokens, token } = await issuer(context);
  const fetches = /** @type {(() => void)[]} */ ([]);
  const wait = (/** @type {Parameters<typeof fetch>} */ ...of) => new Promise((resolve) => fetches.push(() => resolve(fetch(...of))));
  const gate = new Gate(Engine.external(), tokens, { log: { info() {}, warn() {}, error() {} }, fetch: /** @type {any} */ (wait) });
  const server = guard(gate, http.createServer());
  let upgrades = 0;
  server.on("upgrade", (_, socket) => {
    upgrades += 1;
    socket.destroy();
  });
  const port = await listening(context, server);
  const shaking = (/** @type {string} */ authorization) => (
    net.connect(port, "127.0.0.1").on("error", () => {}).on("connect", /** @this {net.Socket} */ function connect() {
      this.write(`GET ${ORBS} HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\nAuthorization: ${authorization}\r\n\r\n`);
    })
  );
  const closing = () => new Promise((resolve) => void server.once("connection", (socket) => socket.once("close", resolve)));
  const closed = closing();
  const client = shaking(`Bearer ${token("read:orbs")}`);
  while (fetches.length === 0) {
    await new Promise(setImmediate);
  }
  client.resetAndDestroy();
  await closed;
  fetches.forEach((go) => go());
  // The keys are there now: this one is handed over, the one before is not.
  const next = shaking(`Bearer ${token("read:orbs")}`);
  await once(next, "close");
  assert.equal(upgrades, 1);
});

test("a denied handshake's socket is closed, even if its client keeps it open", async (context) => {
  const { gate } = await gated(context);
  const server = guard(gate, http.createServer());
  server.on("upgrade", () => assert.fail("reached"));
  const port = await listening(context, server);
  const closed = once(server, "connection").then(([socket]) => once(socket, "close"));
  const client = net.connect({ port, host: "127.0.0.1", allowHalfOpen: true }).resume();
  client.write(`GET ${ORBS} HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n`);
  await closed;
  client.destroy();
});

test("a server of HTTP/2 is guarded, and streams beside its requests are not", async (context) => {
  const { gate, logged, bearer } = await gated(context);
  const server = http2.createServer({ settings: { enableConnectProtocol: true } }, /** @type {any} */ (listener(gate, onOrbs)));
  const port = await listening(context, /** @type {any} */ (server));
  const get = (/** @type {import("node:http2").OutgoingHttpHeaders} */ headers) => over2(port, headers);
  const right = bearer("read:orbs");
  assert.equal(await get(right), 200);
  const connect = { ":method": "CONNECT", ":protocol": "websocket", ":scheme": "http", ":authority": "a" };
  const tunnels = /** @type {unknown[]} */ ([]);
  server.on("connect", (/** @type {any} */ request, /** @type {any} */ response) => {
    tunnels.push(request.url);
    response.end();
  });
  assert.equal(await get(right), 403);
  guard(gate, /** @type {any} */ (server));
  assert.equal(await get(right), 200);
  assert.deepEqual([await get(connect), await get({ ...connect, ...right }), tunnels], [401, 405, []]);

  const streams = () => {};
  server.on("stream", streams);
  assert.equal(await get(right), 403);
  server.off("stream", streams);
  server.once("session", (session) => void session.on("stream", streams));
  assert.equal(await get(right), 403);
  assert.equal(await get(right), 200);
  assert.equal(logged.filter((line) => /denied.*`connect`/.test(line)).length, 1);
});

test("Fastify guards its server: with @fastify/websocket, and with ws beside it", async (context) => {
  const { gate, counted, bearer } = await gated(context);
  const app = require("fastify").fastify();
  context.after(() => app.close());
  const seen = /** @type {unknown[]} */ ([]);
  await app.register(require("@fastify/websocket"));
  await app.register(fastify(gate));
  app.get(ORBS, { websocket: true }, (_, request) => void seen.push(allowed(request).token?.subject));
  app.get("/api/v1/external/account", async () => "account");
  await app.listen({ host: "localhost", port: 0 });
  const port = portOf(app.server);
  assert.equal(await shake(port), 401);
  assert.equal(await shake(port, bearer("read:keys")), 403);
  assert.deepEqual(seen, []);
  assert.equal(await shake(port, bearer("read:orbs")), 101);
  assert.deepEqual(seen, ["ada"]);
  // A handshake at another route is that route's call.
  assert.notEqual(await shake(port, bearer("read:orbs"), "/api/v1/external/account"), 101);
  assert.deepEqual(counted.map((one) => one.split(" ")[2]), ["no_token", "scope_missing", "scope_held", "scope_missing"]);

  const sockets = new WebSocketServer({ noServer: true });
  app.server.removeAllListeners("upgrade").on("upgrade", (request, socket, head) => sockets.handleUpgrade(request, socket, head, (one) => one.close()));
  assert.equal(await shake(port), 401);
  assert.equal(await shake(port, bearer("read:orbs")), 101);
  assert.equal((await ask(port, "GET", "/api/v1/external/account", bearer("read:account"))).status, 200);
});

test("a server of WebSockets with a path opens none for another allowed route", async (context) => {
  const { gate, bearer } = await gated(context);
  const server = guard(gate, http.createServer(listener(gate, onOrbs)));
  const port = await listening(context, server);
  const sockets = new WebSocketServer({ server, path: ORBS });
  context.after(() => void sockets.close());
  const account = bearer("read:account");
  // The gate allows this handshake, and only the path keeps it from a service that needs another scope.
  assert.equal((await ask(port, "GET", "/api/v1/external/account", account)).status, 200);
  assert.equal(await shake(port, account, "/api/v1/external/account"), 400);
  assert.equal(await shake(port, account), 403);
  assert.equal(await shake(port, bearer("read:orbs")), 101);
});

test("Fastify keeps a guard that its server has, of a gate with another policy", async (context) => {
  const { gate, bearer } = await gated(context);
  const { gate: other } = await gated(context, Engine.fromYaml("orbgate: 1\napis: { a: { base_path: /a, scopes: { s: { orbs: false, routes: [GET /b] } } } }"));
  const app = require("fastify").fastify();
  context.after(() => app.close());
  guard(gate, app.server);
  await app.register(fastify(other));
  await app.listen({ host: "127.0.0.1", port: 0 });
  const sockets = new WebSocketServer({ server: app.server });
  context.after(() => void sockets.close());
  assert.equal(await shake(portOf(app.server), bearer("read:orbs")), 101);
});

test("Fastify over HTTP/2 has no streams beside its requests", async (context) => {
  const { gate, bearer } = await gated(context);
  const app = /** @type {any} */ (require("fastify").fastify)({ http2: true });
  context.after(() => app.close());
  await app.register(fastify(gate));
  app.get(ORBS, async () => "orbs");
  await app.listen({ host: "127.0.0.1", port: 0 });
  assert.equal(await over2(portOf(app.server), bearer("read:orbs")), 200);
  app.server.on("stream", () => {});
  assert.equal(await over2(portOf(app.server), bearer("read:orbs")), 403);
});

test("Socket.IO's handshakes are decided, and without polling nothing passes beside them", async (context) => {
  const { gate, bearer } = await gated(context);
  const server = guard(gate, await /** @type {any} */ (services)["Express 5"](gate));
  const sockets = new (require("socket.io").Server)(server, { path: ORBS, addTrailingSlash: false, transports: ["websocket"] });
  const seen = /** @type {unknown[]} */ ([]);
  sockets.engine.on("connection", (/** @type {any} */ { request }) => void seen.push(allowed(request).token?.subject));
  context.after(() => void sockets.close());
  const port = await listening(context, server);
  const path = `${ORBS}?EIO=4&transport=websocket`;
  assert.deepEqual([await shake(port, {}, path), await shake(port, bearer("read:keys"), path), seen], [401, 403, []]);
  assert.equal(await shake(port, bearer("read:orbs"), path), 101);
  assert.equal((await ask(port, "GET", `${ORBS}?EIO=4&transport=polling`, bearer("read:orbs"))).status, 400);
  assert.deepEqual(seen, ["ada"]);
});

test("Fastify's injected handshake is decided", async (context) => {
  const { gate, bearer } = await gated(context);
  const app = require("fastify").fastify();
  context.after(() => app.close());
  await app.register(require("@fastify/websocket"));
  await app.register(fastify(gate));
  app.get(ORBS, { websocket: true }, () => {});
  await app.ready();
  await assert.rejects(app.injectWS(ORBS), /401/);
  const socket = await app.injectWS(ORBS, { headers: bearer("read:orbs") });
  socket.terminate();
});

test("Express finds the gate of a router and of a route before the first request", async (context) => {
  const { gate, bearer } = await gated(context);
  const answer = (/** @type {any} */ _, /** @type {any} */ response) => response.send("orbs");
  // @ts-expect-error: its types are those of 5
  for (const express of [require("express4"), require("express")]) {
    const ungated = express().get("/", answer);
    const inRouter = express().use("/api", express.Router().use(middleware(gate)).get("/", answer));
    const atRoute = express().get("/", middleware(gate), answer);
    for (const [app, status] of [[express(), 101], [ungated, 101], [inRouter, 403], [atRoute, 403]]) {
      const server = http.createServer(app);
      const sockets = new WebSocketServer({ server });
      context.after(() => void sockets.close());
      assert.equal(await shake(await listening(context, server), bearer("read:orbs")), status);
    }
  }
});

test("a server without a gate keeps its WebSockets, once a request has reached Hono's gate on its own server", async (context) => {
  const { gate, bearer } = await gated(context);
  const port = await listening(context, await /** @type {any} */ (services)["Hono"](gate, context));
  const open = http.createServer((_, response) => void response.end());
  const sockets = new WebSocketServer({ server: open });
  context.after(() => void sockets.close());
  const other = await listening(context, open);
  assert.equal(await shake(other), 403);
  assert.equal((await ask(port, "GET", ORBS, bearer("read:orbs"))).status, 200);
  assert.equal(await shake(other), 101);
});

test("Hono's own WebSockets are decided", async (context) => {
  const { gate, counted, bearer } = await gated(context);
  const [{ Hono }, { serve, upgradeWebSocket }] = await Promise.all(["hono", "@hono/node-server"].map((/** @type {any} */ name) => import(name)));
  const seen = /** @type {unknown[]} */ ([]);
  const app = new Hono().use(hono(gate)).get(ORBS, upgradeWebSocket((/** @type {any} */ c) => ({ onOpen: () => void seen.push(allowed(c.req).token?.subject) })));
  const start = async () => {
    const started = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0, websocket: { server: new WebSocketServer({ noServer: true }) } });
    await once(started, "listening");
    context.after(() => void started.close());
    return started;
  };
  // Its handshakes pass the application: without a guard, even the first is denied.
  assert.equal(await shake(portOf(await start()), bearer("read:orbs")), 403);
  assert.deepEqual(seen, []);
  const server = guard(gate, await start());
  const port = portOf(server);
  assert.deepEqual([await shake(port), await shake(port, bearer("read:keys")), seen], [401, 403, []]);
  assert.equal(await shake(port, bearer("read:orbs")), 101);
  assert.deepEqual(seen, ["ada"]);
  assert.deepEqual(counted.map((one) => one.split(" ")[2]), ["no_token", "scope_missing", "scope_held"]);
});
