"use strict";
// A caller leaves a paid call of an MCP endpoint at any moment, and its handler goes on as if nothing had happened: each framework, by seed.
// `ORBGATE_LEAVING` is how many calls each of them gets.
const test = require("node:test");
const assert = require("node:assert/strict");
const http = require("node:http");
const { Engine } = require("orbgate");
const { Gate, Ledger, fastify, hono, listener, middleware } = require("orbgate/gate");
const { issuer } = require("./support/issuer.js");
const { randomOf } = require("./support/random.js");
const { listening, portOf, served } = require("./support/service.js");

/** @typedef {import("node:test").TestContext} Context */

const CALLS = Number(process.env["ORBGATE_LEAVING"] ?? 60);
const POLICY = Engine.fromYaml("orbgate: 1\napis: { a: { base_path: /mcp, scopes: { run: { orbs: 5, routes: [MCP /tools/call/run] } } } }");
const VERSION = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "run" };
const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}';
const RESULT = '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}}';

/**
 * What happens in a call: the pieces that the handler writes, before which of them its caller leaves (after the last, or never), and how long the handler then waits.
 * @param {number} seed
 */
function planOf(seed) {
  const random = randomOf(seed);
  const isEvents = random(2) === 0;
  const text = isEvents ? `event: message\ndata: ${RESULT}\n\n` : RESULT;
  const cuts = Array.from({ length: random(5) }, () => random(text.length + 1)).sort((one, other) => one - other);
  const pieces = [0, ...cuts].map((from, at) => text.slice(from, cuts[at] ?? text.length));
  return { type: isEvents ? "text/event-stream" : "application/json", pieces, leaves: random(pieces.length + 2), waits: random(4), ends: random(3) };
}

/** @typedef {ReturnType<typeof planOf> & { leave: () => void, isOver: () => void }} Plan */

/** @param {Plan} plan @param {number} at @param {Promise<unknown>} hasLeft until the server knows that the caller has left */
async function before(plan, at, hasLeft) {
  if (at === plan.leaves) {
    plan.leave();
    await [() => {}, () => new Promise((resolve) => process.nextTick(resolve)), () => new Promise((resolve) => setImmediate(resolve)), () => hasLeft][plan.waits]?.();
  } else if (plan.waits === 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Answers as a handler that never looks whether its caller is there. @param {any} response of the server @param {Plan} plan */
async function answer(response, plan) {
  response.setHeader("content-type", plan.type);
  response.on("error", () => {});
  const hasLeft = new Promise((resolve) => response.once("close", resolve));
  for (const [at, piece] of plan.pieces.entries()) {
    await before(plan, at, hasLeft);
    if (plan.ends === 0 && at === plan.pieces.length - 1) {
      response.end(piece);
    } else {
      response.write(at % 2 === 0 ? piece : Buffer.from(piece));
    }
  }
  await before(plan, plan.pieces.length, hasLeft);
  response.end();
  response.write("late", () => {});
  response.end("later");
  plan.isOver();
}

/** The servers, by what runs the handler of the call that its header numbers. @type {Record<string, (context: Context, gate: Gate, plan: (number: any) => Plan) => Promise<number>>} */
const FRAMEWORKS = {
  "node:http": (context, gate, plan) => served(context, listener(gate, (request, response) => void answer(response, plan(request.headers["x-number"])))),
  Express: (context, gate, plan) => {
    const app = require("express")().use(middleware(gate));
    app.post("/mcp", (/** @type {any} */ request, /** @type {any} */ response) => answer(response, plan(request.headers["x-number"])));
    return served(context, app);
  },
  Fastify: async (context, gate, plan) => {
    const app = require("fastify")();
    await app.register(fastify(gate));
    app.post("/mcp", (request, reply) => {
      reply.hijack();
      void answer(reply.raw, plan(request.headers["x-number"]));
    });
    await app.listen({ host: "127.0.0.1", port: 0 });
    context.after(() => app.close());
    return portOf(app.server);
  },
  Hono: async (context, gate, plan) => {
    const { Hono, getRequestListener } = /** @type {any} */ (Object.assign({}, ...await Promise.all(["hono", "@hono/node-server"].map((name) => import(name)))));
    const app = new Hono().use(hono(gate));
    app.post("/mcp", (/** @type {any} */ on) => {
      const one = plan(on.req.header("x-number"));
      const hasLeft = new Promise((resolve) => on.req.raw.signal.addEventListener("abort", resolve));
      const body = new ReadableStream({
        start: async (to) => {
          try {
            for (const [at, piece] of one.pieces.entries()) {
              await before(one, at, hasLeft);
              to.enqueue(Buffer.from(piece));
            }
            await before(one, one.pieces.length, hasLeft);
            to.close();
          } catch {
            // The stream is cancelled.
          }
          one.isOver();
        },
      });
      return new Response(body, { headers: { "content-type": one.type } });
    });
    return served(context, getRequestListener(app.fetch));
  },
};

/** A ledger that holds everything, and what it was told. @param {Context} context */
async function ledgerOf(context) {
  const holds = /** @type {Map<string, unknown[]>} */ (new Map());
  const server = http.createServer(async (request, response) => {
    const message = JSON.parse(Buffer.concat(await request.toArray()).toString());
    if (request.url === "/v1/hold") {
      holds.set(message.id, []);
      return response.end('{"hold":"held","state":"pending","at":1}');
    }
    if (request.url === "/v1/settle") {
      message.forEach((/** @type {any} */ { hold, settlement }) => holds.get(hold)?.push(settlement));
    }
    return response.end(JSON.stringify(message.map((/** @type {any} */ { settlement }) => ({ at: 1, state: settlement === "void" ? "voided" : "captured" }))));
  });
  context.after(() => void server.closeAllConnections());
  return { holds, url: `http://127.0.0.1:${await listening(context, server)}` };
}

for (const [name, serve] of Object.entries(FRAMEWORKS)) {
  test(`a caller leaves at any moment, and its call is settled once: ${name}`, async (context) => {
    context.mock.method(console, "error", () => {}); // Hono's server logs streams that were left.
    const { tokens, token } = await issuer(context);
    const { holds, url } = await ledgerOf(context);
    const ledger = new Ledger({ url, secret: "secret-of-a-gate-0123456789", onCancelled: "void", onToolError: "void", onInputRequired: "void", ttlMs: 300_000, timeoutMs: 60_000 }); // A busy machine answers late.
    const logged = /** @type {string[]} */ ([]);
    const log = { info: () => {}, warn: (/** @type {string} */ message) => void logged.push(message), error: (/** @type {string} */ message) => void logged.push(message) };
    const gate = new Gate(POLICY, `${tokens}    account: subject\n`, { mcp: { path: "/mcp", initialScopes: "run" }, log, ledger });
    context.after(() => gate.close());
    const plans = /** @type {Map<string, Plan>} */ (new Map());
    const port = await serve(context, gate, (number) => /** @type {Plan} */ (plans.get(String(number))));
    const headers = { authorization: `Bearer ${token("run")}`, "content-type": "application/json", "content-length": String(CALL.length), ...VERSION };

    /** @param {number} seed */
    const call = async (seed) => {
      const plan = planOf(seed);
      const request = http.request({ port, host: "127.0.0.1", method: "POST", path: "/mcp", agent: false, headers: { ...headers, "x-number": String(seed) } });
      request.on("error", () => {});
      request.on("response", (response) => void response.on("error", () => {}).resume());
      const closed = new Promise((resolve) => request.once("close", resolve));
      const over = new Promise((isOver) => plans.set(String(seed), { ...plan, leave: () => void request.destroy(), isOver: () => isOver(null) }));
      request.end(CALL);
      await Promise.all([over, closed]);
      plans.delete(String(seed));
    };
    const random = randomOf(CALLS);
    for (let done = 0; done < CALLS;) {
      const together = Math.min(1 + random(8), CALLS - done);
      await Promise.all(Array.from({ length: together }, (_, at) => call(done + at)));
      done += together;
    }
    await ledger.flush();
    const settled = [...holds.values()].map((one) => JSON.stringify(one));
    assert.equal(settled.length, CALLS);
    const [captured, voided] = ['[{"capture":5}]', '["void"]'].map((one) => settled.filter((other) => other === one).length);
    assert.equal(Number(captured) + Number(voided), CALLS, settled.find((one) => one !== '["void"]' && one !== '[{"capture":5}]'));
    assert.ok(Number(captured) > 0 && Number(voided) > 0, `${captured} and ${voided}`);
    assert.deepEqual(logged, []);
  });
}
