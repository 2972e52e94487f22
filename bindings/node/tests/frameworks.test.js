"use strict";
// What the frameworks know of a request: the template that they took, and what the gate knows.
const test = require("node:test");
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { once } = require("node:events");
const { execFileSync, spawn } = require("node:child_process");
const { Engine } = require("orbgate");
const { allowed, fastify, findAllowed, hono, listener, middleware, refusal, routesOf } = require("orbgate/gate");
const { issuer, ask } = require("./support/issuer.js");
const { gated, listening, portOf, served } = require("./support/service.js");

const express5 = require("express");
// @ts-expect-error: it has no types
const methodOverride = /** @type {(getter: string) => import("express").RequestHandler} */ (require("method-override"));
// @ts-expect-error: its types are those of 5
const express4 = /** @type {typeof express5} */ (require("express4"));

const ROOT = path.join(__dirname, "..");
const RUN = "/api/v1/external/voxies/prompt/run";

const BONUS = '{"allowBonusOrbsUse": true}';
const NO_BONUS = ["{}", '{"allowBonusOrbsUse": "true"}', '{"allowBonusOrbsUse": 1}', '{"__proto__": {"allowBonusOrbsUse": true}}', "[true]"];

test("a body counts that a framework has parsed, or left as it came", async (context) => {
  const { gate, bearer } = await gated(context);
  const told = (/** @type {{ body?: any }} */ request) => String(allowed(request).charge(request.body)?.bonusAllowed);
  const app = require("fastify")({ onProtoPoisoning: "ignore" });
  await app.register(fastify(gate, { check: false }));
  app.post(RUN, async (/** @type {any} */ request) => told(request));
  await app.listen({ host: "127.0.0.1", port: 0 });
  const expresses = [express4, express5].flatMap((express) => [express.json({ strict: false }), express.raw({ type: "*/*" }), express.text({ type: "*/*" })].map((parse) => (
    express().use(middleware(gate), parse).post(RUN, (request, response) => void response.send(told(request)))
  )));
  const ports = [portOf(app.server), ...await Promise.all(expresses.map((one) => served(context, one)))];
  context.after(() => app.close());
  const headers = { ...bearer("write:voxies"), "content-type": "application/json" };
  for (const port of ports) {
    const bodyOf = async (/** @type {string | undefined} */ body) => (await fetch(`http://127.0.0.1:${port}${RUN}`, { method: "POST", headers, body })).text();
    assert.equal(await bodyOf(BONUS), "true");
    for (const body of [...NO_BONUS, "1", "true", "null"]) {
      assert.equal(await bodyOf(body), "false", body);
    }
  }
});

test("of a parsed body, only an own member that is exactly `true` counts", async (context) => {
  const { gate, bearer } = await gated(context);
  const request = new Request(`http://a${RUN}`, { method: "POST", headers: bearer("write:voxies") });
  assert.equal(await refusal(gate, request), undefined);
  const charged = (/** @type {any} */ body) => allowed(request).charge(body)?.bonusAllowed;
  class Body {
    allowBonusOrbsUse = true;
  }
  for (const body of [{ allowBonusOrbsUse: true }, Object.assign(Object.create(null), { allowBonusOrbsUse: true }), new Body(), BONUS, Buffer.from(BONUS)]) {
    assert.equal(charged(body), true);
  }
  const values = [1, "true", {}, [true], new Boolean(true)].map((allowBonusOrbsUse) => ({ allowBonusOrbsUse }));
  for (const body of [...values, Object.create({ allowBonusOrbsUse: true }), [], null, undefined, 0, true, ...NO_BONUS, Buffer.from("{}")]) {
    assert.equal(charged(body), false);
  }
  for (const body of [new ArrayBuffer(1), new Uint16Array(1), Symbol("a"), () => {}, 1n]) {
    assert.throws(() => charged(body), TypeError);
  }
});

for (const [name, express] of /** @type {const} */ ([["Express 4", express4], ["Express 5", express5]])) {
  test(`${name}: a mounted router is decided by the whole target`, async (context) => {
    const { gate, bearer } = await gated(context);
    const router = express.Router().get("/orbs", (request, response) => void response.json([request.url, allowed(request).decision.scope]));
    // `url` is `/orbs` within it, which the policy does not have.
    const port = await served(context, express().use("/api/v1/external", middleware(gate), router));
    const { status, body } = await ask(port, "GET", "/api/v1/external/orbs", bearer("read:orbs"));
    assert.deepEqual([status, JSON.parse(body)], [200, ["/orbs", "read:orbs"]]);
    assert.equal((await ask(port, "GET", "/api/v1/external/nowhere", bearer("read:orbs"))).status, 404);
  });

  test(`${name}: a gate that is mounted twice decides twice and counts once`, async (context) => {
    const { gate, counted, bearer } = await gated(context);
    const app = express().use(middleware(gate)).use("/api/v1", middleware(gate));
    app.get("/api/v1/external/orbs", middleware(gate), (_, response) => void response.send("reached"));
    const port = await served(context, app);
    for (const [scope, status] of /** @type {const} */ ([["read:orbs", 200], ["read:keys", 403]])) {
      assert.equal((await ask(port, "GET", "/api/v1/external/orbs", bearer(scope))).status, status);
    }
    assert.deepEqual(counted.map((one) => one.split(" ")[1]), ["allow", "deny"]);
  });

  test(`${name}: a route that is not the decided one is not reached`, async (context) => {
    const { gate, counted, bearer } = await gated(context);
    let reached = 0;
    const app = express().use(middleware(gate));
    // Express takes the first that fits, and the policy the literal one.
    app.post("/api/v1/external/voxies/:voxieId/run", (_, response) => void response.json({ reached: reached += 1 }));
    app.post(RUN, (_, response) => void response.json({ reached: reached += 1 }));
    app.get(/orbs/, (_, response) => void response.json({ reached: reached += 1 }));
    const port = await served(context, app);
    for (const [method, target, scope] of /** @type {const} */ ([["POST", RUN, "write:voxies"], ["POST", RUN, "write:voxies"], ["GET", "/api/v1/external/orbs", "read:orbs"]])) {
      const { status, body } = await ask(port, method, target, bearer(scope));
      assert.deepEqual([status, body], [404, ""]);
    }
    assert.equal(reached, 0);
    assert.deepEqual(counted.filter((one) => one.includes("misrouted")), [
      `orbgate_misrouted_total POST ${RUN} /api/v1/external/voxies/{voxieId}/run`,
      `orbgate_misrouted_total POST ${RUN} /api/v1/external/voxies/{voxieId}/run`,
      "orbgate_misrouted_total GET /api/v1/external/orbs ",
    ]);
    for (let round = 1; round <= 3; round++) {
      const { status, body } = await ask(port, "POST", "/api/v1/external/voxies/7/run", bearer("write:voxies"));
      assert.deepEqual([status, body], [200, `{"reached":${round}}`]);
    }
    // That route is remembered for what it was decided for, and for nothing else.
    assert.equal((await ask(port, "POST", RUN, bearer("write:voxies"))).status, 404);
    // The handler that compares does not make a route answer other methods, and each call is counted once.
    assert.equal((await ask(port, "PUT", "/api/v1/external/voxies/7/run", bearer("write:voxies"))).status, 405);
    assert.equal(counted.filter((one) => one.includes("allow scope_held POST /api/v1/external/voxies/{voxieId}/run")).length, 3);
  });

  test(`${name}: at a route, the route is compared at once`, async (context) => {
    const { gate, bearer } = await gated(context);
    const app = express();
    app.get("/api/v1/external/orbs", middleware(gate), (_, response) => void response.send("orbs"));
    app.get("/api/v1/:all/account", middleware(gate), (_, response) => void response.send("all"));
    const port = await served(context, app);
    assert.equal((await ask(port, "GET", "/api/v1/external/orbs", bearer("read:orbs"))).body, "orbs");
    assert.equal((await ask(port, "GET", "/api/v1/external/account", bearer("read:account"))).status, 404);
  });

  test(`${name}: middleware inside the gate cannot have another route handle a request`, async (context) => {
    const { gate, counted, bearer } = await gated(context);
    const reached = /** @type {string[]} */ ([]);
    const handler = (/** @type {string} */ text) => (/** @type {any} */ request, /** @type {any} */ response) => {
      reached.push(text);
      response.send(allowed(request).decision.route);
    };
    const app = express().use(middleware(gate)).use(methodOverride("_method"));
    app.use((request, _, next) => {
      request.url = request.url.replace(/\.csv$/, "/export").replace(/me$/, "7");
      next();
    });
    const keys = "/api/v1/external/keys/:keyId";
    app.post("/api/v1/external/keys", handler("post keys")).get(keys, handler("get key")).delete(keys, handler("delete key"));
    app.get(`${keys}/export`, handler("export"));
    const engine = Engine.fromYaml(`orbgate: 1
apis: { a: { base_path: /api/v1/external, scopes: {
  read: { orbs: false, routes: ['GET /keys/{id}', 'GET /keys/{id}/export'] },
  write: { orbs: false, routes: ['DELETE /keys/{id}', 'POST /keys/{id}', 'POST /keys', 'POST /rows/{id}'] } } } }`);
    gate.policy.store(engine);
    app.post("/api/v1/external/rows/:id", methodOverride("_verb"), handler("post row"));
    app.post(keys, handler("post key"));
    const port = await served(context, app);
    const statusOf = async (/** @type {string} */ method, /** @type {string} */ path, /** @type {string} */ scope) => (
      (await ask(port, method, `/api/v1/external/keys${path}`, bearer(scope))).status
    );
    // The same path and route are allowed for one method, and remembered.
    for (let round = 1; round <= 2; round++) {
      assert.equal(await statusOf("POST", "/7", "write"), 200);
      assert.equal(await statusOf("POST", "/7?_method=DELETE", "write"), 404);
      assert.equal(await statusOf("POST", "/7?_method=GET", "read write"), 404);
      assert.equal(await statusOf("GET", "/7", "read"), 200);
      assert.equal(await statusOf("GET", "/7.csv", "read"), 404);
      assert.equal(await statusOf("POST", "/me", "write"), 404);
      assert.equal(await statusOf("GET", "/7/export", "read"), 200);
    }
    assert.deepEqual(reached, ["post key", "get key", "export", "post key", "get key", "export"]);
    assert.equal(counted.filter((one) => one.startsWith("orbgate_misrouted_total")).length, 8);
    // A handler of the route itself changes the method, and the next one sees it.
    const row = async (/** @type {string} */ query) => (await ask(port, "POST", `/api/v1/external/rows/7${query}`, bearer("write"))).status;
    assert.deepEqual([await row("?_verb=DELETE"), await row(""), await row("?_verb=GET")], [404, 200, 404]);
    assert.deepEqual(reached.slice(6), ["post row"]);
  });

  test(`${name}: a method that was overridden before the gate is decided`, async (context) => {
    const { gate, bearer } = await gated(context, Engine.fromYaml(`orbgate: 1
apis: { a: { base_path: /keys, scopes: { read: { orbs: false, routes: ['POST /{id}'] }, write: { orbs: false, routes: ['DELETE /{id}'] } } } }`));
    const handler = (/** @type {any} */ request, /** @type {any} */ response) => void response.send(`${request.method} ${allowed(request).decision.route}`);
    const app = express().use(methodOverride("_method")).use(middleware(gate)).post("/keys/:id", handler).delete("/keys/:id", handler);
    const port = await served(context, app);
    const answerOf = async (/** @type {string} */ scope) => (await ask(port, "POST", "/keys/7?_method=DELETE", bearer(scope)));
    assert.equal((await answerOf("read")).status, 403);
    assert.equal((await answerOf("write")).body, "DELETE DELETE /keys/{id}");
  });

  test(`${name}: a handler without a route gets no rewritten path from before its gate`, async (context) => {
    const { gate, bearer } = await gated(context);
    const app = express();
    app.use((request, _, next) => {
      request.url = request.url.replace("/account", "/orbs");
      next();
    });
    app.use("/api/v1/external/orbs", middleware(gate), (request, response) => void response.send(request.method + request.baseUrl + request.url));
    const port = await served(context, app);
    const all = bearer("read:orbs read:account");
    // The root of a mount is `/` there.
    for (const target of ["/api/v1/external/orbs", "/api/v1/external/orbs?x=1"]) {
      assert.equal((await ask(port, "GET", target, all)).status, 200);
    }
    assert.equal((await ask(port, "GET", "/api/v1/external/account", all)).status, 404);
  });

  test(`${name}: of a route with several paths, the first that fits is compared`, async (context) => {
    const { gate, bearer } = await gated(context);
    const app = express().use(middleware(gate));
    app.get(["/api/v1/external/orbs", "/api/v1/external/account"], (request, response) => void response.send(allowed(request).decision.scope));
    app.post(["/api/v1/external/voxies/:voxieId/run", RUN], (_, response) => void response.send("run"));
    app.get(["/api/v1/external/keys", /keys$/], (_, response) => void response.send("keys"));
    app.get([/models/, "/api/v1/external/models"], (_, response) => void response.send("models"));
    const port = await served(context, app);
    const all = bearer("read:orbs read:account read:keys write:voxies read:models");
    const statusOf = async (/** @type {string} */ method, /** @type {string} */ path) => (await ask(port, method, `/api/v1/external/${path}`, all)).status;
    assert.deepEqual(await Promise.all(["orbs", "account", "keys"].map((path) => statusOf("GET", path))), [200, 200, 200]);
    assert.equal(await statusOf("POST", "voxies/7/run"), 200);
    assert.equal(await statusOf("POST", "voxies/prompt/run"), 404);
    assert.equal(await statusOf("GET", "models"), 404);
    const ungated = gate.checkRoutes(routesOf(app)).filter(({ kind }) => kind !== "unserved");
    assert.deepEqual(ungated.map(({ route }) => route), ["GET /{*}", "GET /{*}"]);
  });

  test(`${name}: a route that the gate does not see is reported, and its handler fails`, async (context) => {
    const { gate, bearer } = await gated(context);
    const handler = (/** @type {any} */ request, /** @type {any} */ response) => void response.send(allowed(request).token?.subject);
    const below = express.Router().get("/keys", handler).get("/account", middleware(gate), handler);
    const after = express.Router().get("/orbs", handler);
    const sub = express().get("/usage", handler);
    const own = express.Router().use("/in", middleware(gate)).get("/in/x", handler).get("/out", handler);
    own.route("/both").get(middleware(gate), handler).post(handler);
    const app = express();
    app.use("/early/own", own).use(express.Router().use("/only", middleware(gate)));
    app.get("/early", handler).get("/own", middleware(gate), handler).get("/late", handler, middleware(gate));
    app.use("/early/router", below);
    app.use("/api", middleware(gate)).get("/api/:any", handler).get("/:any/else", handler).get("/else", handler);
    app.use("/api/v1/external", after).use("/api/sub", sub);
    const routes = () => [...routesOf(own, "/early/own"), ...routesOf(below, "/early/router"), ...routesOf(after, "/api/v1/external"), ...routesOf(sub, "/api/sub"), ...routesOf(app)];
    const ungated = () => gate.checkRoutes(routes()).filter(({ kind }) => kind === "ungated").map(({ route }) => route);
    const expected = ["GET /early/own/out", "POST /early/own/both", "GET /early/router/keys", "GET /early", "GET /late", "GET /:any/else", "GET /else"];
    assert.deepEqual(ungated(), expected);
    assert.deepEqual(ungated(), expected);
    const whole = express().use(express.Router().use(middleware(gate))).get("/any", handler).use(after);
    assert.deepEqual(gate.checkRoutes(routesOf(whole)).filter(({ kind }) => kind === "ungated"), []);
    assert.equal(gate.checkRoutes(routesOf(express().get("/any", handler).use(middleware(gate)))).filter(({ kind }) => kind === "ungated").length, 1);

    app.use((/** @type {any} */ error, /** @type {any} */ _request, /** @type {any} */ response, /** @type {any} */ _next) => void response.status(500).send(error.message));
    const port = await served(context, app);
    const { status, body } = await ask(port, "GET", "/early");
    assert.equal(status, 500);
    assert.match(body, /^no gate /);
    assert.equal((await ask(port, "GET", "/api/v1/external/orbs", bearer("read:orbs"))).body, "ada");
  });

  test(`${name}: its routes are compared with the policy`, async (context) => {
    const { gate } = await gated(context);
    const below = express.Router().get("/orbs", () => {}).post("/voxies/:id/export", () => {});
    const app = express().use(middleware(gate)).get("/api/v1/external/account", () => {}).use("/api/v1/external", below);
    const differences = gate.checkRoutes([...routesOf(app), ...routesOf(below, "/api/v1/external")]);
    assert.deepEqual(differences.filter(({ kind }) => kind === "undeclared").map(({ route, decidedAs }) => [route, decidedAs]), [
      ["POST /api/v1/external/voxies/{id}/export", null],
    ]);
    const unserved = differences.filter(({ kind }) => kind === "unserved").map(({ route }) => route);
    assert.ok(unserved.includes(`POST ${RUN}`) && !unserved.includes("GET /api/v1/external/orbs"));
  });
}

test("Fastify takes the decided route, or the call is denied", async (context) => {
  const { gate, counted, bearer } = await gated(context);
  const app = require("fastify").fastify();
  context.after(() => app.close());
  await app.register(fastify(gate, { check: false }));
  app.get("/api/v1/external/orbs", async (request) => allowed(request).token?.subject);
  app.get("/api/v1/:all/account", async () => "reached");
  app.setNotFoundHandler(async () => "reached");
  const answers = await Promise.all(["orbs", "account", "keys"].map(async (name) => {
    const { statusCode, body } = await app.inject({ url: `/api/v1/external/${name}`, headers: bearer("read:orbs read:account read:keys") });
    return [statusCode, body];
  }));
  assert.deepEqual(answers, [[200, "ada"], [404, ""], [404, ""]]);
  assert.equal(counted.filter((one) => one.startsWith("orbgate_misrouted_total")).length, 2);
});

test("a service of Fastify does not start with a route that its policy lacks", async (context) => {
  const { gate } = await gated(context);
  const app = require("fastify").fastify();
  context.after(() => app.close());
  app.register(async (api) => {
    await api.register(fastify(gate));
    api.get("/api/v1/external/orbs", async () => "orbs");
    api.post("/api/v1/external/voxies/:id/export", async () => "export");
  });
  app.get("/healthz", async () => "outside of the gate");
  await assert.rejects(async () => app.ready(), / lacks .*: POST \/api\/v1\/external\/voxies\/\{id\}\/export$/);
});

test("a hook or a rewritten URL of Fastify cannot have another route handle a request", async (context) => {
  const { gate, counted, bearer } = await gated(context);
  const app = require("fastify").fastify({ rewriteUrl: ({ url = "" }) => url.replace(/account$/, "orbs").replace(/me$/, "7") });
  context.after(() => app.close());
  app.addHook("onRequest", async ({ raw, headers }) => void (raw.method = String(headers["x-method"] ?? raw.method)));
  app.register(fastify(gate, { check: false }));
  app.get("/api/v1/external/orbs", async (request) => allowed(request).decision.route);
  app.post("/api/v1/external/orbs", async () => "reached");
  app.get("/api/v1/external/voxies/:id", async () => "reached");
  const all = bearer("read:orbs read:account read:voxies");
  const statusOf = async (/** @type {"GET" | "POST"} */ method, /** @type {string} */ name, headers = {}) => (
    (await app.inject({ method, url: `/api/v1/external/${name}`, headers: { ...all, ...headers } })).statusCode
  );
  assert.equal(await statusOf("GET", "orbs"), 200);
  assert.equal(await statusOf("GET", "voxies/7?x=me"), 200);
  assert.equal(await statusOf("GET", "account"), 404);
  assert.equal(await statusOf("GET", "voxies/me"), 404);
  assert.equal(await statusOf("POST", "orbs", { "x-method": "GET" }), 404);
  assert.equal(counted.filter((one) => one.startsWith("orbgate_misrouted_total")).length, 3);
});

test("a route of Fastify that the gate does not see is reported, and its handler fails", async (context) => {
  const { gate, logged, bearer } = await gated(context);
  const make = require("fastify").fastify;
  const orbs = async (/** @type {any} */ request) => allowed(request).token?.subject;
  const early = make();
  context.after(() => early.close());
  early.register(async (api) => void api.get("/api/v1/external/orbs", orbs));
  early.register(fastify(gate));
  await assert.rejects(async () => early.ready(), / before it: GET \/api\/v1\/external\/orbs$/);

  const lacking = make();
  context.after(() => lacking.close());
  lacking.register(fastify(gate));
  lacking.get("/nowhere", orbs); // Added before the plugin is loaded, which is later.
  await assert.rejects(async () => lacking.ready(), / lacks .*: GET \/nowhere$/);

  const app = make();
  context.after(() => app.close());
  app.register(fastify(gate));
  app.get("/api/v1/external/orbs", orbs);
  const outer = make();
  context.after(() => outer.close());
  outer.register(async (api) => {
    await api.register(fastify(gate));
    api.get("/api/v1/external/orbs", orbs);
  });
  outer.get("/healthz", orbs);
  for (const one of [app, outer]) {
    assert.equal((await one.inject({ url: "/api/v1/external/orbs", headers: bearer("read:orbs") })).body, "ada");
    assert.equal((await one.inject({ url: "/api/v1/external/orbs" })).statusCode, 401);
  }
  assert.equal((await outer.inject({ url: "/healthz" })).statusCode, 500);
  assert.deepEqual(logged.map((line) => line.endsWith(" GET /healthz")), [true]);
});

test("an application of Fastify that was made before the package was loaded has unknown routes", async () => {
  const program = `const app = require("fastify").fastify();
    const { Gate, fastify } = require("orbgate/gate");
    const { Engine } = require("orbgate");
    app.register(fastify(new Gate(Engine.external(), "orbgate_token: 1\\nissuers: [{ issuer: 'https://a.example', audience: b, kind: user }]\\n")));
    app.ready().then(() => console.log("started"), ({ message }) => console.log(message));`;
  const output = execFileSync(process.execPath, ["-e", program], { cwd: __dirname, encoding: "utf8" });
  assert.match(output, /before `orbgate\/gate` /);
});

test("middleware of Hono cannot have another route handle a request", async (context) => {
  const { gate, counted, bearer } = await gated(context);
  const names = ["hono", "hono/method-override", "@hono/node-server"];
  const [{ Hono }, { methodOverride: override }, { createAdaptorServer }] = await Promise.all(names.map((/** @type {any} */ name) => import(name)));
  const orbs = "/api/v1/external/orbs";
  const answer = (/** @type {any} */ c) => c.text(`${c.req.method} ${allowed(c.req).decision.route}`);
  const as = (/** @type {string} */ method) => async (/** @type {any} */ c, /** @type {() => Promise<void>} */ next) => {
    c.req.raw = new Request(c.req.url, { method, headers: c.req.raw.headers });
    await next();
  };
  const answerOf = async (/** @type {any} */ app, /** @type {string} */ method, headers = {}) => {
    const response = await app.request(orbs, { method, headers: { ...bearer("read:orbs"), ...headers } });
    return [response.status, response.status === 200 ? await response.text() : ""];
  };
  // It is decided as a `GET`, and its handler is that of a `POST`.
  const before = new Hono().use(as("GET")).use(hono(gate)).post(orbs, answer);
  assert.deepEqual(await answerOf(before, "POST"), [404, ""]);
  assert.equal(counted.filter((one) => one.startsWith("orbgate_misrouted_total")).length, 1);
  // What has let one request through knows nothing of another.
  const inside = new Hono().use(hono(gate)).use(as("DELETE")).get(orbs, answer);
  assert.deepEqual(await answerOf(inside, "GET"), [500, ""]);
  // Hono's own has the application handle another request, which is decided anew; one without the gate has handlers that fail.
  const engine = Engine.fromYaml("orbgate: 1\napis: { a: { base_path: /api/v1/external, scopes: { 'read:orbs': { orbs: false, routes: [POST /orbs] }, other: { orbs: false, routes: [DELETE /orbs] } } } }");
  gate.policy.store(engine);
  const app = new Hono().use(hono(gate));
  app.use(override({ app, query: "_method" })).post(orbs, answer).delete(orbs, answer);
  const port = await listening(context, createAdaptorServer(app));
  const posted = async (/** @type {string} */ scope) => {
    const { status, body } = await ask(port, "POST", `${orbs}?_method=DELETE`, bearer(scope));
    return [status, body];
  };
  assert.deepEqual(await posted("read:orbs"), [403, ""]);
  const already = counted.length;
  assert.deepEqual(await posted("read:orbs other"), [200, `DELETE DELETE ${orbs}`]);
  assert.deepEqual(counted.slice(already).map((one) => one.split(" ")[3]), ["POST", "DELETE"]);
  const plain = new Hono().post(orbs, answer).delete(orbs, answer);
  const other = new Hono().use(hono(gate)).use(override({ app: plain, query: "_method" })).route("/", plain);
  const response = await other.request(`${orbs}?_method=DELETE`, { method: "POST", headers: bearer("read:orbs") });
  assert.equal(response.status, 500);
});

test("a route of Hono that the gate does not see is reported, and its handler fails", async (context) => {
  const { gate, bearer } = await gated(context);
  const { Hono } = await import(/** @type {string} */ ("hono"));
  const answer = (/** @type {any} */ c) => c.text(allowed(c.req).token?.subject);
  const ungated = (/** @type {any} */ app) => gate.checkRoutes(routesOf(app)).filter(({ kind }) => kind === "ungated").map(({ route }) => route);
  const own = new Hono().use(hono(gate)).get("/keys", answer).onError((/** @type {any} */ _, /** @type {any} */ c) => c.text("error", 500));
  const app = new Hono().get("/early", answer).get("/own", hono(gate), answer).use("/api/*", hono(gate));
  app.get("/api/v1/external/orbs", answer).get("/api", answer).get("/:any/else", answer).get("/else", answer).route("/sub", own).route("/bare", new Hono().get("/x", answer));
  assert.deepEqual(ungated(app), ["GET /early", "GET /:any/else", "GET /else", "GET /bare/x"]);
  assert.deepEqual(ungated(new Hono().use(hono(gate)).get("/any/:x", answer)), []);
  assert.deepEqual(ungated(new Hono().use("/:a/x", hono(gate)).get("/any/x", answer).get("/any/y", answer).get("/any", answer)), ["GET /any/y", "GET /any"]);
  assert.deepEqual(ungated(new Hono().use("/:a{[0-9]+}", hono(gate)).get("/any", answer)), ["GET /any"]);
  assert.deepEqual(ungated(new Hono().get("/any", answer).use(hono(gate))), ["GET /any"]);
  assert.deepEqual(ungated(new Hono().use("/any", hono(gate)).get("/any/more", answer)), ["GET /any/more"]);
  assert.deepEqual(ungated(new Hono().get("/any", hono(gate), answer).post("/any", answer)), ["POST /any"]);
  assert.equal((await app.request("/early")).status, 500);
  assert.equal(await (await app.request("/api/v1/external/orbs", { headers: bearer("read:orbs") })).text(), "ada");
});

test("Hono takes the decided route, or the call is denied", async (context) => {
  const { gate, counted, bearer } = await gated(context);
  const { Hono } = await import(/** @type {string} */ ("hono"));
  /** @typedef {(...all: any[]) => any} Handler */
  const answer = (/** @type {string} */ text) => /** @type {Handler} */ ((c) => c.text(text));
  const withNext = /** @type {Handler} */ (async (c, next) => (c.req.query("go") === "on" ? next() : c.text("with next")));
  const orbs = "/api/v1/external/orbs";
  const below = new Hono().get("/orbs", answer("below"));
  const own = new Hono().get("/orbs", answer("own")).onError((/** @type {any} */ _, /** @type {any} */ c) => c.text("error", 500));
  const apps = /** @type {[string, (app: any) => unknown, number, string][]} */ ([
    ["the route", (app) => app.get(orbs, answer("it")), 200, "it"],
    ["with a parameter's pattern", (app) => app.get("/:a{[a-z]{3}}/v1/external/orbs", answer("it")), 404, ""],
    ["after middleware", (app) => app.use("*", withNext).get(orbs, answer("it")), 200, "with next"],
    ["with middleware at the route", (app) => app.get(orbs, withNext, answer("it")), 200, "with next"],
    ["in an application below", (app) => app.route("/api/v1/external", below), 200, "below"],
    ["in one with its own errors", (app) => app.route("/api/v1/external", own), 200, "own"],
    ["the less literal first", (app) => app.get("/api/v1/external/:any", answer("other")).get(orbs, answer("it")), 404, ""],
    ["the same, with next", (app) => app.get("/api/v1/external/:any", withNext).get(orbs, answer("it")), 404, ""],
    ["the more literal first", (app) => app.get(orbs, answer("it")).get("/api/v1/external/:any", answer("other")), 200, "it"],
    ["a wildcard", (app) => app.all("/api/*", answer("all")), 404, ""],
    ["a mounted service", (app) => app.mount("/api", () => new Response("mounted")), 404, ""],
    ["no route", (app) => app.notFound(answer("none")), 404, ""],
  ]);
  for (const [name, add, status, body] of apps) {
    const app = new Hono().use(hono(gate));
    add(app);
    const before = counted.length;
    const response = await app.request(orbs, { headers: bearer("read:orbs") });
    assert.deepEqual([name, response.status, await response.text()], [name, status, body]);
    const misrouted = counted.slice(before).filter((one) => one.startsWith("orbgate_misrouted_total GET /api/v1/external/orbs "));
    assert.equal(misrouted.length, status === 404 ? 1 : 0, name);
    assert.equal((await app.request(orbs)).status, 401, name);
    assert.equal((await app.request(orbs, { method: "HEAD", headers: bearer("read:orbs") })).status, 405, name);
  }
  const before = counted.length;
  await new Hono().use(hono(gate)).use(hono(gate)).get(orbs, answer("it")).request(orbs, { headers: bearer("read:orbs") });
  assert.equal(counted.length, before + 1);
  const app = new Hono().use(hono(gate)).get(orbs, withNext, answer("it")).post("/api/v1/external/voxies/:id{[0-9]+}/export", answer("export"));
  const undeclared = gate.checkRoutes(routesOf(app)).filter(({ kind }) => kind === "undeclared");
  assert.deepEqual(undeclared.map(({ route }) => route), ["POST /api/v1/external/voxies/{id}/export"]);
});

test("every literal of a policy is a route in every framework that can have it", async (context) => {
  const marks = "-._~!$&'()*+,=:@";
  const routes = [...marks].map((mark) => `'GET /x/a${mark.replace("'", "''")}b'`);
  const engine = Engine.fromYaml(`orbgate: 1\napis: { a: { base_path: /x, scopes: { read: { orbs: false, routes: [${routes.join(", ").replaceAll("/x/", "/")}] } } } }`);
  const { gate, bearer } = await gated(context, engine);
  const { Hono } = await import(/** @type {string} */ ("hono"));
  const asExpress = (/** @type {string} */ literal) => `/a\\${literal}b`;
  /** @typedef {(literal: string) => Promise<(target: string) => Promise<number>>} Served */
  const ofExpress = (/** @type {typeof express5} */ express) => /** @type {Served} */ (async (literal) => {
    const router = express.Router({ caseSensitive: true, strict: true }).get(asExpress(literal), (_, response) => void response.send("reached"));
    const port = await served(context, express().use(middleware(gate)).use("/x", router));
    return async (target) => (await ask(port, "GET", target, bearer("read"))).status;
  });
  const frameworks = /** @type {[string, Served, string][]} */ ([
    ["Express 4", ofExpress(express4), ""],
    ["Express 5", ofExpress(express5), ""],
    ["Fastify", async (literal) => {
      const app = require("fastify").fastify();
      context.after(() => app.close());
      await app.register(fastify(gate));
      app.get(`/x/a${literal.replace(":", "::")}b`, async () => "reached");
      return async (target) => (await app.inject({ url: target, headers: bearer("read") })).statusCode;
    }, "*"],
    ["Hono", async (literal) => {
      const app = new Hono().use(hono(gate)).get(`/x/a${literal}b`, (/** @type {any} */ c) => c.text("reached"));
      return async (target) => (await app.request(target, { headers: bearer("read") })).status;
    }, ""],
  ]);
  for (const [name, service, without] of frameworks) {
    for (const mark of [...marks].filter((one) => !without.includes(one))) {
      const status = await (await service(mark))(`/x/a${mark}b`);
      assert.deepEqual([name, mark, status], [name, mark, 200]);
    }
  }
});

test("a request of the Fetch API gets a response, or goes on", async (context) => {
  const { gate, bearer } = await gated(context);
  const answerOf = async (/** @type {string} */ url, /** @type {RequestInit} */ init) => {
    const request = new Request(url, init);
    const response = await refusal(gate, request);
    return [response?.status, response && await response.text(), response?.headers.get("content-type") ?? null, findAllowed(request)?.decision.scope];
  };
  assert.deepEqual(await answerOf("https://api.example.com/api/v1/external/orbs?x=1", { headers: bearer("read:orbs") }), [undefined, undefined, null, "read:orbs"]);
  assert.deepEqual(await answerOf("https://api.example.com/api/v1/external/orbs", {}), [401, "", null, undefined]);
  assert.deepEqual(await answerOf("https://api.example.com/api/v1/external/orbs", { method: "PUT", headers: bearer("read:orbs") }), [405, "", null, undefined]);
  assert.deepEqual(await answerOf("https://api.example.com/api/v1/external/orbs#x", { headers: bearer("read:orbs") }), [400, "", null, undefined]);
  const broken = { method: "GET", url: "https://a/api/v1/external/orbs", headers: { get: () => assert.fail(), keys: () => [] } };
  assert.equal((await refusal(gate, broken))?.status, 403);
});

test("what fails in the gate is a denial", async (context) => {
  const { gate, bearer } = await gated(context);
  const port = await served(context, listener(gate, () => assert.fail("reached")));
  gate.close();
  const { status, body } = await ask(port, "GET", "/api/v1/external/orbs", bearer("read:orbs"));
  assert.deepEqual([status, body], [403, ""]);
});

test("a health check and CORS work in both versions of Express", async (context) => {
  const { gate, bearer } = await gated(context, Engine.external(), { public: ["GET /healthz"], corsPreflight: "pass" });
  // @ts-expect-error: its types are those of 5
  for (const express of [require("express4"), require("express")]) {
    const app = express().use(middleware(gate)).use(require("cors")({ origin: "https://app.example.com" }));
    app.get("/healthz", (/** @type {any} */ request, /** @type {any} */ response) => response.send(`fine ${allowed(request).token}`));
    app.get("/api/v1/external/orbs", (/** @type {any} */ _, /** @type {any} */ response) => response.send("orbs"));
    app.post("/healthz", () => assert.fail("reached"));
    const port = await served(context, app);
    assert.equal((await ask(port, "GET", "/healthz", { authorization: "Bearer nonsense" })).body, "fine null");
    assert.equal((await ask(port, "POST", "/healthz")).status, 401);
    const origin = "https://app.example.com";
    const preflight = async (/** @type {string} */ method, path = "/api/v1/external/orbs") => {
      const { status, headers } = await ask(port, "OPTIONS", path, { origin, "access-control-request-method": method });
      return [status, headers["access-control-allow-origin"]];
    };
    assert.deepEqual(await preflight("GET"), [204, origin]);
    assert.deepEqual(await preflight("GET", "/healthz"), [204, origin]);
    assert.deepEqual(await preflight("DELETE"), [401, undefined]);
    assert.deepEqual(await preflight("GET", "/nowhere"), [401, undefined]);
    const orbs = await ask(port, "GET", "/api/v1/external/orbs", { ...bearer("read:orbs"), origin });
    assert.deepEqual([orbs.body, orbs.headers["access-control-allow-origin"]], ["orbs", origin]);
  }
});

test("the guide's service answers as the guide says", async (context) => {
  const readme = fs.readFileSync(path.join(ROOT, "README.md"), "utf8");
  const guide = readme.slice(readme.indexOf("## Protect a service in ten lines"));
  const [, program = ""] = /^```js\n(.*?)^```$/ms.exec(guide) ?? [];
  const [, shown = ""] = /^```console\n(.*?)^```$/ms.exec(guide) ?? [];
  assert.ok(program.split("\n").filter(Boolean).length <= 10, program);
  const folder = fs.mkdtempSync(path.join(__dirname, "guide-"));
  context.after(() => fs.rmSync(folder, { recursive: true }));
  const trial = spawn(process.execPath, [path.join(ROOT, "testing.js"), "0"], { stdio: ["ignore", "inherit", "pipe"] });
  context.after(() => void trial.kill());
  const [url = ""] = /http:[^/]*\/\/[^/]*/.exec(String((await once(trial.stderr, "data"))[0])) ?? [];
  const fetched = async (/** @type {string} */ of) => (await fetch(url + of)).text();
  const tokens = await fetched("/tokens.yaml");
  const call = async (/** @type {string} */ scope) => ask(port, "GET", target.pathname, { authorization: `Bearer ${await fetched(`/token?scope=${scope}`)}` });
  const [, policy = ""] = /^```yaml\n(.*?)^```$/ms.exec(guide) ?? [];
  fs.writeFileSync(path.join(folder, "tokens.yaml"), tokens);
  fs.writeFileSync(path.join(folder, "policy.yaml"), policy);
  const started = async (/** @type {string} */ program) => {
    // On a free port, which it prints.
    const anywhere = program.replace("app.listen(8080,", "const server = app.listen(0,").replace("{ port: 8080 }", "{ port: 0 }")
      .replace('"listening"', program.includes("fastify") ? "app.server.address().port" : "server.address().port");
    fs.writeFileSync(path.join(folder, "service.mjs"), anywhere);
    const service = spawn(process.execPath, ["service.mjs"], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
    context.after(() => void service.kill());
    let said = "";
    while (!/^\d+$/m.test(said)) {
      said += (await once(service.stdout, "data"))[0]; // The gate states first how it charges.
    }
    return Number(/^\d+$/m.exec(said)?.[0]);
  };
  let port = await started(program);

  const [, line = "", status = "", ...headers] = /^\$ curl -i (\S+)\nHTTP\/1.1 (\d+) .*\n((?:.|\n)*)$/.exec(shown) ?? [];
  const target = new URL(line);
  const denied = await ask(port, "GET", target.pathname);
  assert.equal(String(denied.status), status);
  for (const header of headers.join("").trim().split("\n")) {
    const [name = "", value] = header.split(": ");
    assert.equal(denied.headers[name.toLowerCase()], value);
  }
  const calls = async () => [await call("read:other"), await call("read:orbs")].map((one) => [one.status, one.body]);
  assert.deepEqual(await calls(), [[403, ""], [200, "hello subject"]]);
  assert.equal((await fetch(`${url}/other`)).status, 404);

  const [, fastify = ""] = /^```js\n([^`]*from "fastify";.*?)^```$/ms.exec(guide) ?? [];
  port = await started(fastify);
  assert.deepEqual(await calls(), [[403, ""], [200, "hello subject"]]);

  const [, recipe = ""] = /^```js\n(import cors .*?)^```$/ms.exec(guide) ?? [];
  port = await started(recipe);
  assert.deepEqual(await calls(), [[403, ""], [200, "hello subject"]]);
  assert.equal((await ask(port, "GET", "/healthz")).body, "fine");
  const browser = { origin: "https://app.example.com", "access-control-request-method": "GET" };
  const preflight = await ask(port, "OPTIONS", target.pathname, browser);
  assert.deepEqual([preflight.status, preflight.headers["access-control-allow-origin"]], [204, browser.origin]);
  assert.equal((await ask(port, "OPTIONS", "/nowhere", browser)).status, 401);
});
