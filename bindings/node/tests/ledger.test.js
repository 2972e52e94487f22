"use strict";
// A gate with a ledger: what only a test in the same process can show. `policy/cases/gate` has the exchanges over a real service.
const test = require("node:test");
const assert = require("node:assert/strict");
const crypto = require("node:crypto");
const fs = require("node:fs");
const http = require("node:http");
const os = require("node:os");
const path = require("node:path");
const { once } = require("node:events");
const { WebSocketServer, WebSocket } = require("ws");

// Counts checks of signatures; with koffi, the library makes them itself.
let verified = 0;
const { verify } = crypto;
crypto.verify = /** @type {typeof verify} */ ((/** @type {any[]} */ ...all) => {
  verified += 1;
  return /** @type {any} */ (verify)(...all);
});
const { Engine } = require("orbgate");
const { Gate, Ledger, allowed, guard, hono, listener } = require("orbgate/gate");
const { ask, issuer } = require("./support/issuer.js");
const { listening, portOf, served } = require("./support/service.js");

/** @typedef {import("node:test").TestContext} Context */

const POLICY = Engine.fromYaml("orbgate: 1\napis: { a: { base_path: '', scopes: { run: { orbs: 10, routes: [GET /run, HEAD /run, POST /run] } } } }");
const SECRET = "secret-of-a-gate-0123456789";

/**
 * A ledger that answers holds as `hold` says, and remembers the others.
 * @param {Context} context
 * @param {string} [socket] instead of a port
 */
async function service(context, socket) {
  const told = { hold: /** @type {object | null} */ ({ hold: "held", state: "pending", at: 1 }), settles: true, settled: /** @type {unknown[]} */ ([]), extended: 0 };
  const server = http.createServer(async (request, response) => {
    const message = JSON.parse(Buffer.concat(await request.toArray()).toString());
    if (request.url === "/v1/hold") {
      return told.hold === null ? request.destroy() : response.end(JSON.stringify(told.hold));
    }
    if (request.url === "/v1/settle" && !told.settles) {
      return request.destroy();
    }
    if (request.url === "/v1/extend") {
      told.extended += message.length;
    } else {
      told.settled.push(...message.map((/** @type {any} */ { settlement }) => settlement));
    }
    return response.end(JSON.stringify(message.map((/** @type {any} */ { settlement }) => ({ at: 1, state: settlement === "void" ? "voided" : "captured" }))));
  });
  context.after(() => void server.closeAllConnections()); // One that was opened again has no request.
  if (socket !== undefined) {
    server.listen(socket);
    await once(server, "listening");
    context.after(() => void server.close());
    return Object.assign(told, { url: `unix:${socket}` });
  }
  return Object.assign(told, { url: `http://127.0.0.1:${await listening(context, server)}` });
}

/**
 * @param {Context} context
 * @param {{ url: string }} of
 * @param {Partial<import("orbgate/gate").LedgerOptions>} [rules]
 * @param {Partial<import("orbgate/gate").GateOptions>} [more]
 */
async function charging(context, { url }, rules = {}, more = {}) {
  const { tokens, token } = await issuer(context);
  const ledger = new Ledger({ url, secret: SECRET, onCancelled: "void", ...rules });
  const counted = /** @type {string[]} */ ([]);
  const count = (/** @type {string} */ name, /** @type {object} */ labels) => void counted.push([name, ...Object.values(labels)].join(" "));
  const logged = /** @type {string[]} */ ([]);
  const log = (/** @type {string} */ message) => void logged.push(message);
  const gate = new Gate(POLICY, `${tokens}    account: subject\n`, { log: { info: log, warn: log, error: log }, count, ledger, ...more });
  context.after(() => gate.close());
  return { gate, ledger, counted, logged, bearer: { authorization: `Bearer ${token("run")}` } };
}

/** @param {() => boolean} isThere */
async function until(isThere) {
  for (const end = Date.now() + 30_000; !isThere(); await new Promise((resolve) => setTimeout(resolve, 5))) {
    assert.ok(Date.now() < end, String(isThere));
  }
}

const answering = (/** @type {http.IncomingMessage} */ _, /** @type {http.ServerResponse} */ response) => void response.end("answer");

test("settings that charge nothing, or that nobody knows, are refused", () => {
  const wrong = [{ onCancelled: undefined }, { onCancelled: "perhaps" }, { onBroken: "perhaps" }, { onToolError: "void" }, { onToolError: "perhaps", onInputRequired: "void" },
    { ceiling: 0 }, { ceiling: 1.5 }, { ceiling: "2" }];
  for (const more of wrong) {
    const options = /** @type {any} */ ({ url: "http://127.0.0.1:1", secret: SECRET, onCancelled: "void", ...more });
    assert.throws(() => new Ledger(options), { name: "TypeError", message: new RegExp(`\`${Object.keys(more)[0]}\``) });
  }
});

test("each URL of the cases is read or refused", () => {
  const rows = fs.readFileSync(path.join(__dirname, "../../../policy/cases/gate/ledgers.tsv"), "utf8").trimEnd().split("\n").slice(1);
  assert.ok(rows.length > 40);
  for (const row of rows) {
    const [url, expected] = row.split("\t");
    const made = () => new Ledger({ url: String(url), secret: SECRET, onCancelled: "void" });
    if (expected === "refused" || expected === "in the clear") {
      assert.throws(made, { message: expected === "refused" ? /the URL of a ledger is/ : /in the clear/ }, url);
    } else {
      made();
    }
  }
});

test("a charged call verifies its token once", async (context) => {
  const { gate, ledger, bearer } = await charging(context, await service(context), {}, { bonusFromBody: { "POST /run": 100 } });
  const port = await served(context, listener(gate, (request, response) => void response.end(String(allowed(request).charge()?.bonusAllowed))));
  assert.equal((await ask(port, "GET", "/run", bearer)).status, 200);
  const first = verified;
  const request = http.request({ port, method: "POST", path: "/run", headers: { ...bearer, "content-length": "26" } });
  request.end('{"allowBonusOrbsUse":true}');
  const [response] = await once(request, "response");
  assert.equal(Buffer.concat(await response.toArray()).toString(), "true", "the handler has the flag that was read");
  assert.equal(verified - first, first, "each call has one check, or none with koffi");
  assert.ok(first === 1 || !process.env["ORBGATE_LIBRARY"]?.endsWith(".wasm"), String(first));
  await ledger.flush();
});

test("a ledger is reached over a Unix socket", async (context) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "orbgate-"));
  context.after(() => fs.rmSync(folder, { recursive: true }));
  const of = await service(context, path.join(folder, "ledger"));
  const { gate, ledger, bearer } = await charging(context, of);
  const port = await served(context, listener(gate, answering));
  assert.equal((await ask(port, "GET", "/run", bearer)).status, 200);
  await ledger.flush();
  assert.deepEqual(of.settled, [{ capture: 10 }]);
});

test("a heartbeat extends the holds of calls that run", async (context) => {
  const of = await service(context);
  const { gate, ledger, bearer } = await charging(context, of, { ttlMs: 6000 });
  const port = await served(context, listener(gate, (_, response) => void until(() => of.extended > 0).then(() => response.end())));
  assert.equal((await ask(port, "GET", "/run", bearer)).status, 200);
  await ledger.flush();
  assert.deepEqual(of.settled, [{ capture: 10 }]);
});

test("a full queue denies, and lost settlements are counted", async (context) => {
  const of = await service(context);
  of.settles = false;
  const { gate, ledger, counted, logged, bearer } = await charging(context, of, { ttlMs: 6000, queue: 1 });
  const port = await served(context, listener(gate, answering));
  assert.equal((await ask(port, "GET", "/run", bearer)).status, 200);
  const full = await ask(port, "GET", "/run", bearer);
  assert.deepEqual([full.status, full.headers["retry-after"], full.body], [503, "1", ""]);
  await ledger.flush();
  const lost = "orbgate_settlements_total lost";
  await until(() => counted.includes(lost));
  assert.equal(counted.filter((one) => one === lost).length, 1);
  assert.ok(logged.some((line) => line.includes("1 settlements are lost")), logged.join("\n"));
  assert.deepEqual(counted.filter((one) => one.startsWith("orbgate_holds_total")), ["orbgate_holds_total held", "orbgate_holds_total unavailable"]);
});

test("flat denials hide an empty account, but not a ledger that is down", async (context) => {
  const of = await service(context);
  const { gate, ledger, bearer } = await charging(context, of, {}, { flat403: true });
  const port = await served(context, listener(gate, answering));
  of.hold = { hold: "denied", reason: "insufficient" };
  assert.equal((await ask(port, "GET", "/run", bearer)).status, 403);
  of.hold = null;
  assert.equal((await ask(port, "GET", "/run", bearer)).status, 503);
  await ledger.flush(); // The hold is voided.
});

test("a WebSocket is charged at its handshake", async (context) => {
  const of = await service(context);
  const { gate, bearer } = await charging(context, of);
  const server = guard(gate, http.createServer(listener(gate, answering)));
  new WebSocketServer({ server: /** @type {http.Server} */ (server), path: "/run" });
  const socket = new WebSocket(`ws://127.0.0.1:${await listening(context, /** @type {http.Server} */ (server))}/run`, { headers: bearer });
  await once(socket, "open");
  await until(() => of.settled.length === 1);
  assert.deepEqual(of.settled, [{ capture: 10 }], "while it is open");
  socket.terminate();
});

test("Hono's answers are charged by their streams", async (context) => {
  const of = await service(context);
  const { gate, ledger, bearer } = await charging(context, of);
  const [{ Hono }, { serve }] = await Promise.all(["hono", "@hono/node-server"].map((/** @type {any} */ name) => import(name)));
  const streams = {
    whole: async (/** @type {any} */ to) => to.close(),
    "fails without an error": async (/** @type {any} */ to) => to.error(undefined),
  };
  const app = new Hono().use(hono(gate)).get("/run", (/** @type {any} */ on) => {
    const told = on.req.header("x-do");
    const start = /** @type {Record<string, any>} */ (streams)[told];
    const pull = async (/** @type {any} */ to) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      await start(to);
    };
    return start === undefined ? on.text(told ?? "answer") : on.body(new ReadableStream({ start: (to) => to.enqueue(Buffer.from("first")), pull }));
  });
  context.mock.method(console, "error", () => {}); // Hono's server logs failed streams.
  const server = await new Promise((resolve) => {
    const started = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, () => resolve(started));
  });
  context.after(() => void server.close());
  const answerOf = (/** @type {string} */ method, /** @type {Record<string, string>} */ headers = {}) => ask(portOf(server), method, "/run", { ...bearer, ...headers });
  const { body, headers } = await answerOf("GET");
  assert.deepEqual([body, headers["content-length"]], ["answer", "6"]);
  assert.equal((await answerOf("HEAD")).status, 200);
  assert.equal((await answerOf("GET", { "x-do": "whole" })).body, "first");
  await answerOf("GET", { "x-do": "fails without an error" }).catch(() => {});
  await ledger.flush();
  assert.deepEqual(of.settled, [{ capture: 10 }, { capture: 10 }, { capture: 10 }, "void"]);
});
