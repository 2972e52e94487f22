"use strict";
const test = require("node:test");
const assert = require("node:assert/strict");
const { Engine, Handle, ScopeSet, OrbgateError, version } = require("orbgate");

const RUN = "/api/v1/external/voxies/prompt/run";
const engine = Engine.external();
const user = { kind: "user", scopes: "read:voxies write:voxies" };

const SHOP = `orbgate: 1
name: shop
apis:
  shop:
    base_path: /v1
    scopes:
      read:orders: {orbs: false, routes: ['GET /orders', 'GET /orders/{id}']}
      write:orders:
        orbs: true
        routes: ['POST /orders', {route: POST /orders/express, orbs: 9223372036854775807}]
`;

test("an allow says which scope, and what it consumes", () => {
  const decision = engine.decide("POST", RUN, user, { allowBonusOrbs: true });
  assert.deepEqual({ ...decision }, {
    isAllow: true, decision: "allow", status: null, reason: "scope_held", detail: null, api: "external", route: `POST ${RUN}`,
    scope: "write:voxies", orbs: { consumes: true, amount: null, bonusAllowed: true }, policy: engine.digest,
  });
  assert.equal(engine.decide("POST", RUN, user).orbs?.bonusAllowed, false);
});

test("a denial says why, with its status", () => {
  const cases = /** @type {const} */ ([
    ["POST", RUN, { kind: "user", scopes: "read:voxies" }, 403, "scope_missing", null],
    ["POST", RUN, null, 401, "no_token", null],
    ["POST", RUN, { kind: "robot", scopes: "write:voxies" }, 401, "invalid_token", null],
    ["POST", RUN, { kind: "__proto__", scopes: "write:voxies" }, 401, "invalid_token", null],
    ["GET", "/nowhere", user, 404, "no_route", null],
    ["PUT", "/api/v1/external/account", user, 405, "method_not_declared", null],
    ["GET", "/api//v1", user, 400, "malformed_request", "empty_segment"],
    ["", "", user, 400, "malformed_request", "method"],
  ]);
  for (const [method, target, token, status, reason, detail] of cases) {
    const decision = engine.decide(method, target, token);
    assert.deepEqual([decision.isAllow, decision.status, decision.reason, decision.detail], [false, status, reason, detail]);
    assert.equal(decision.orbs, null);
  }
});

test("bytes arrive as they are, NUL and all", () => {
  assert.equal(engine.decide("GET\0", RUN, user).detail, "method");
  assert.equal(engine.decide(Buffer.from("POST"), Buffer.from(RUN), user), engine.decide("POST", RUN, user));
  assert.equal(engine.decide("POST", Buffer.from([0x2f, 0xff]), user).detail, "byte");
  assert.equal(engine.decide("POST", Buffer.from(`x${RUN}`).subarray(1), user).isAllow, true, "a part of a buffer");
  for (const text of ["\ud800", "/\udfff", `/${"\ud83d".repeat(5000)}`, "/é", "/\u{1f600}"]) {
    assert.equal(engine.decide("GET", text, user).reason, "malformed_request");
  }
});

test("scopes as text, bytes, set and list are the same", () => {
  const [text, list] = [engine.scopeSet("a read:voxies write:voxies"), engine.scopeSet(["write:voxies", Buffer.from("x")])];
  for (const scopes of [user.scopes, Buffer.from(user.scopes), text, list]) {
    assert.equal(engine.decide("POST", RUN, { kind: "user", scopes }).isAllow, true);
  }
  const spaced = engine.scopeSet(["read:voxies write:voxies"]);
  assert.equal(engine.decide("POST", RUN, { kind: "user", scopes: spaced }).reason, "scope_missing", "one scope with a space");
  const other = Engine.fromYaml(SHOP).scopeSet("write:orders read:orders");
  assert.equal(engine.decide("POST", RUN, { kind: "user", scopes: other }).reason, "scope_missing", "of another policy");
});

test("a scope is asked without a route", () => {
  assert.equal(engine.decideScope("read:inference", { kind: "user", scopes: "read:inference" }).isAllow, true);
  const organisation = { kind: "organisation", scopes: "read:inference" };
  assert.equal(engine.decideScope("read:inference", organisation).reason, "user_token_required");
  assert.equal(engine.decideScope("no:such", user).reason, "no_route");
});

test("a route is found once and asked by its id", () => {
  const route = engine.findRoute("POST", RUN);
  assert.ok(route !== null);
  assert.equal(engine.decideRoute(route, user), engine.decide("POST", RUN, user));
  assert.equal(engine.findRoute("POST", "/nowhere"), null);
  const other = Engine.fromYaml(SHOP);
  assert.equal(other.decideRoute(route, user).reason, "no_route", "an id of another policy");
  for (const wrong of [-1, 1.5, NaN, 2 ** 60, "1"]) {
    // @ts-expect-error: no route id
    assert.throws(() => engine.decideRoute(wrong, user), TypeError);
  }
});

test("every route of the policy can be asked for", () => {
  assert.equal(engine.routes.length, 37);
  for (const { id, method, template, route, scope, methods } of engine.routes) {
    assert.equal(route, `${method} ${template}`);
    assert.ok(methods.includes(method));
    assert.equal(engine.findRoute(method, template), id);
    assert.equal(engine.decideRoute(id, { kind: "user", scopes: scope }).isAllow, true);
  }
});

test("a decision is a frozen value with the JSON of every interface", () => {
  const decision = engine.decide("POST", RUN, user);
  assert.ok(Object.isFrozen(decision) && Object.isFrozen(decision.orbs));
  assert.equal(JSON.stringify(decision), `{"decision":"allow","status":null,"reason":"scope_held","detail":null,`
    + `"api":"external","route":"POST ${RUN}","scope":"write:voxies",`
    + `"orbs":{"consumes":true,"amount":null,"bonus_allowed":false},"policy":"${engine.digest}"}`);
});

test("no amount is rounded", () => {
  const decision = Engine.fromYaml(SHOP).decide("POST", "/v1/orders/express", { kind: "user", scopes: "write:orders" });
  assert.equal(decision.orbs?.amount, 9223372036854775807n);
  assert.equal(JSON.parse(JSON.stringify(decision)).orbs.amount, "9223372036854775807");
});

test("an engine knows its policy", () => {
  assert.match(engine.digest, /^sha256:[0-9a-f]{64}$/);
  assert.equal(Engine.fromYaml(SHOP).name, "shop");
  assert.equal(JSON.parse(engine.tableJson()).policy, engine.digest);
  assert.match(version, /^\d+\.\d+\.\d+$/);
});

test("what is closed throws, and closing twice is fine", () => {
  const closed = Engine.external();
  const scopes = closed.scopeSet("read:orbs");
  const asked = () => closed.decide("GET", "/api/v1/external/orbs", { kind: "user", scopes });
  const decision = asked();
  scopes.close();
  scopes[Symbol.dispose]();
  assert.throws(asked, { name: "OrbgateError", code: "closed", message: "the scope set is closed" });
  closed.close();
  closed[Symbol.dispose]();
  for (const ask of [
    () => closed.decide("GET", RUN, user), () => closed.decideScope("a", user), () => closed.digest, () => closed.routes,
    () => closed.scopeSet("a"), () => closed.tableJson(), () => closed.findRoute("GET", RUN),
    () => closed.decideBatch({ methods: ["GET"], targets: [RUN] }),
  ]) {
    assert.throws(ask, (error) => error instanceof OrbgateError && error.code === "closed");
  }
  assert.equal(decision.isAllow, true, "a decision outlives its engine");
});

test("an argument of another type is refused before anything is asked", () => {
  const wrong = /** @type {any[]} */ ([null, undefined, 1, {}, [], Symbol("x"), new Uint16Array(2)]);
  for (const value of wrong) {
    assert.throws(() => engine.decide(value, RUN, user), TypeError);
    assert.throws(() => engine.decide("GET", value, user), TypeError);
    assert.throws(() => engine.decideScope(value, user), TypeError);
    assert.throws(() => Engine.fromYaml(value), TypeError);
  }
  // @ts-expect-error: scopes are missing
  assert.throws(() => engine.decide("GET", RUN, { kind: "user" }), TypeError);
  for (const Class of [Engine, ScopeSet]) {
    // @ts-expect-error: the constructor is private
    assert.throws(() => new Class(1, 2), TypeError);
  }
  // @ts-expect-error: no engine
  assert.throws(() => new Handle({}), TypeError);
});

test("a handle swaps its engine whole", () => {
  const handle = new Handle(engine);
  const shop = Engine.fromYaml(SHOP);
  const token = { kind: "user", scopes: "read:orders" };
  assert.equal(handle.decide("GET", "/v1/orders", token).reason, "no_route");
  assert.equal(handle.store(shop), engine);
  const decision = handle.decide("GET", "/v1/orders", token);
  assert.deepEqual([decision.isAllow, decision.policy], [true, shop.digest]);
  assert.equal(handle.engine, shop);
});

test("engines that nobody holds are freed", async () => {
  const before = process.memoryUsage.rss();
  for (let round = 0; round < 300; round++) {
    const one = Engine.fromYaml(SHOP);
    one.scopeSet("read:orders");
    one.decide("GET", "/v1/orders", user);
    one.close();
  }
  assert.ok(process.memoryUsage.rss() - before < 64 * 2 ** 20);
});
