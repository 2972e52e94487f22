"use strict";
const test = require("node:test");
const assert = require("node:assert/strict");
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { Column, Decisions, Engine, Handle, ScopeSet, Tokens, OrbgateError, tokenKind, version } = require("orbgate");

const RUN = "/api/v1/external/voxies/prompt/run";
const engine = Engine.external();
/** @type {{ kind: "user", scopes: string }} */
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
    isAllow: true, decision: "allow", httpStatus: null, reason: "scope_held", detail: null, api: "external", route: `POST ${RUN}`,
    scope: "write:voxies", scopes: null, charge: { consumes: true, amount: null, bonusAllowed: true }, policy: engine.digest,
  });
  assert.equal(engine.decide("POST", RUN, user).charge?.bonusAllowed, false);
});

test("a kind that isn't a token's is denied", () => {
  for (const kind of /** @type {any[]} */ (["robot", "__proto__"])) {
    const decision = engine.decide("POST", RUN, { kind, scopes: "write:voxies" });
    assert.deepEqual([decision.isAllow, decision.httpStatus, decision.reason, decision.charge], [false, 401, "invalid_token", null]);
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

test("an element of a list is one scope, and none if it has a space in it", () => {
  const lists = [["write:voxies"], ["a", "write:voxies"], [Buffer.from("write:voxies"), "a"], ["a b", "write:voxies", ""]];
  for (const scopes of lists) {
    assert.equal(engine.decide("POST", RUN, { kind: "user", scopes }).reason, "scope_held", String(scopes));
  }
  for (const scopes of [[], ["read:voxies write:voxies"], [Buffer.from("a write:voxies")], ["write:", "voxies"], ["write:voxies\ud800"]]) {
    assert.equal(engine.decide("POST", RUN, { kind: "user", scopes }).reason, "scope_missing", String(scopes));
    const batch = engine.decideBatch({ methods: ["POST"], targets: [RUN], tokens: [{ kind: "user", scopes }] });
    assert.equal(batch.at(0).reason, "scope_missing", String(scopes));
  }
  for (const scopes of [[1], [null], [["write:voxies"]]]) {
    assert.throws(() => engine.decide("POST", RUN, { kind: "user", scopes: /** @type {any} */ (scopes) }), TypeError);
  }
});

test("a scope is asked without a route", () => {
  assert.equal(engine.decideScope("read:inference", { kind: "user", scopes: "read:inference" }).isAllow, true);
  /** @type {import("orbgate").Token} */
  const organisation = { kind: "organisation", scopes: "read:inference" };
  assert.equal(engine.decideScope("read:inference", organisation).reason, "user_token_required");
  assert.equal(engine.decideScope("no:such", user).reason, "no_route");
});

test("a route is found once and asked by its id", () => {
  const route = engine.findRoute("POST", RUN);
  assert.ok(route !== null && Object.isFrozen(route));
  assert.equal(engine.decideRoute(route, user), engine.decide("POST", RUN, user));
  assert.equal(engine.findRoute("POST", "/nowhere"), null);
  const other = Engine.fromYaml(SHOP);
  assert.equal(other.decideRoute(route, user).reason, "no_route", "an id of another policy");
  for (const wrong of [1, null, "1", {}, { high: 1, low: 1 }, { high: 1n }]) {
    // @ts-expect-error: no route id
    assert.throws(() => engine.decideRoute(wrong, user), TypeError);
  }
});

test("a denial declares the methods of its path", () => {
  const other = Engine.external();
  const voxie = "/api/v1/external/voxies/7";
  const denials = [other.decide("PUT", voxie, user), ...other.decideBatch({ methods: ["PUT"], targets: [voxie], token: user })];
  other.close();
  for (const denied of denials) {
    assert.deepEqual(denied.declaredMethods, ["DELETE", "GET", "PATCH"]);
    assert.ok(Object.isFrozen(denied.declaredMethods) && !JSON.stringify(denied).includes("PATCH"));
  }
  for (const [method, target] of /** @type {const} */ ([["GET", voxie], ["DELETE", voxie], ["GET", "/nowhere"]])) {
    assert.equal(engine.decide(method, target, user).declaredMethods, null);
  }
});

test("every route of the policy can be asked for", () => {
  assert.equal(engine.routes.length, 37);
  for (const { id, method, template, route, scope, methods } of engine.routes) {
    assert.equal(route, `${method} ${template}`);
    assert.ok(methods.includes(method));
    assert.deepEqual(engine.findRoute(method, template), id);
    assert.equal(engine.decideRoute(id, { kind: "user", scopes: scope }).isAllow, true);
  }
});

test("routes list what they need, and closed templates are none", () => {
  const own = Engine.fromYaml(readFileSync(join(__dirname, "../../../policy/cases/policies/requirements.yaml"), "utf8"));
  for (const { id, scope, scopes } of own.routes) {
    assert.equal(scopes[0]?.[0], scope);
    assert.ok(Object.isFrozen(scopes) && Object.isFrozen(scopes[0]));
    for (const alternative of scopes) {
      const isAllow = (/** @type {string[]} */ held) => own.decideRoute(id, { kind: "user", scopes: held.join(" ") }).isAllow;
      assert.ok(isAllow([...alternative]));
      // A decision lists the alternatives, also in its JSON, unless the call needs just the scope.
      const needed = scopes.length > 1 || alternative.length > 1 ? scopes : null;
      for (const held of [[], alternative]) {
        const decision = own.decideRoute(id, { kind: "user", scopes: held.join(" ") });
        assert.deepEqual(decision.scopes, needed);
        assert.deepEqual(JSON.parse(JSON.stringify(decision)).scopes, needed ?? undefined);
      }
      alternative.forEach((_, lacking) => assert.ok(!isAllow(alternative.filter((_, at) => at !== lacking))));
    }
  }
  assert.deepEqual(own.decide("GET", "/r/orders", user).scopes, [["read:orders"], ["admin"], ["audit:logs", "read:logs"]]);
  const unnamed = [own.decide("GET", "/r/orders", null), own.decideScope("read:orders", user), own.decide("PUT", "/r/orders", user)];
  assert.deepEqual(unnamed.map(({ scopes }) => scopes), [null, null, null]);
  const shut = own.decide("GET", "/r/closed", user);
  assert.deepEqual([shut.httpStatus, shut.api, shut.route, shut.about, shut.declaredMethods], [405, "orders", "/r/closed", null, []]);
  assert.ok(own.routes.every(({ template }) => template !== "/r/closed"));
  own.close();
});

test("a decision is a frozen value with the JSON of every interface", () => {
  const decision = engine.decide("POST", RUN, user);
  assert.ok(Object.isFrozen(decision) && Object.isFrozen(decision.charge));
  assert.equal(JSON.stringify(decision), `{"decision":"allow","status":null,"reason":"scope_held","detail":null,`
    + `"api":"external","route":"POST ${RUN}","scope":"write:voxies",`
    + `"orbs":{"consumes":true,"amount":null,"bonus_allowed":false},"policy":"${engine.digest}"}`);
});

test("no amount is rounded", () => {
  const decision = Engine.fromYaml(SHOP).decide("POST", "/v1/orders/express", { kind: "user", scopes: "write:orders" });
  assert.equal(decision.charge?.amount, 9223372036854775807n);
  assert.equal(JSON.parse(JSON.stringify(decision)).orbs.amount, "9223372036854775807");
});

test("an engine knows its policy", () => {
  assert.match(engine.digest, /^sha256:[0-9a-f]{64}$/);
  assert.equal(Engine.fromYaml(SHOP).name, "shop");
  assert.equal(engine.table().policy, engine.digest);
  assert.match(version, /^\d+\.\d+\.\d+$/);
});

test("what is closed throws, and closing twice is fine", () => {
  const closed = Engine.external();
  const scopes = closed.scopeSet("read:orbs");
  const decide = () => closed.decide("GET", "/api/v1/external/orbs", { kind: "user", scopes });
  const decision = decide();
  const decisions = closed.decideBatch({ methods: ["POST", "GET"], targets: [RUN, "/nowhere"], token: user });
  scopes.close();
  scopes[Symbol.dispose]();
  assert.throws(decide, { name: "OrbgateError", code: "closed", message: /scope set/ });
  closed.close();
  closed[Symbol.dispose]();
  for (const ask of [
    () => closed.decide("GET", RUN, user), () => closed.decideScope("a", user), () => closed.digest, () => closed.routes,
    () => closed.scopeSet("a"), () => closed.table(), () => closed.findRoute("GET", RUN),
    () => closed.decideBatch({ methods: ["GET"], targets: [RUN] }),
  ]) {
    assert.throws(ask, (error) => error instanceof OrbgateError && error.code === "closed");
  }
  assert.equal(decision.isAllow, true, "a decision outlives its engine");
  assert.equal(decisions.isAllow(0), true, "and a batch's");
  assert.deepEqual([...decisions].map(({ reason, scope }) => [reason, scope]), [["scope_held", "write:voxies"], ["no_route", null]]);
});

test("an argument of another type is refused before anything is asked", () => {
  const wrong = /** @type {any[]} */ ([null, undefined, 1, {}, [], Symbol("x"), new Uint16Array(2)]);
  for (const value of wrong) {
    assert.throws(() => engine.decide(value, RUN, user), TypeError);
    assert.throws(() => engine.decide("GET", value, user), TypeError);
    assert.throws(() => engine.decideScope(value, user), TypeError);
    assert.throws(() => Engine.fromYaml(value), TypeError);
  }
  for (const scopes of wrong.filter((one) => !Array.isArray(one))) {
    assert.throws(() => engine.scopeSet(scopes), TypeError);
  }
  for (const Class of [Engine, ScopeSet, Decisions, Tokens]) {
    // @ts-expect-error: the constructor is private
    assert.throws(() => new Class(1, 2), TypeError);
  }
  // @ts-expect-error: no engine
  assert.throws(() => new Handle({}), TypeError);
});

test("a token of another type is refused in every call", () => {
  const wrong = /** @type {any[]} */ ([
    "user", 1, true, {}, [], { scopes: "" }, { kind: "user" }, { kind: ["user"], scopes: user.scopes }, { kind: null, scopes: "" },
    { kind: { toString: () => "user" }, scopes: user.scopes }, { kind: "user", scopes: null }, { kind: "user", scopes: [1] },
  ]);
  const route = /** @type {import("orbgate").RouteId} */ (engine.findRoute("POST", RUN));
  const [methods, targets] = [["POST"], [RUN]];
  for (const token of wrong) {
    for (const ask of [
      () => engine.decide("POST", RUN, token), () => engine.decideScope("write:voxies", token), () => engine.decideRoute(route, token),
      () => engine.decideBatch({ methods, targets, token }), () => engine.decideBatch({ methods, targets, tokens: [token] }),
      () => Tokens.from([token]), () => new Handle(engine).decide("POST", RUN, token),
    ]) {
      assert.throws(ask, TypeError, `${JSON.stringify(token)}: ${ask}`);
    }
  }
});

test("options of another type are refused in every call", () => {
  const route = /** @type {import("orbgate").RouteId} */ (engine.findRoute("POST", RUN));
  const [methods, targets, token] = [["POST"], [RUN], user];
  for (const options of /** @type {any[]} */ ([true, 1, null, "x", { allowBonusOrbs: 1 }, { allowBonusOrbs: "true" }, { allowBonusOrbs: null }])) {
    assert.throws(() => engine.decide("POST", RUN, user, options), TypeError);
    assert.throws(() => engine.decideScope("write:voxies", user, options), TypeError);
    assert.throws(() => engine.decideRoute(route, user, options), TypeError);
  }
  for (const allowBonusOrbs of /** @type {any[]} */ ([1, null, "true", {}, [1], ["x"], [null]])) {
    assert.throws(() => engine.decideBatch({ methods, targets, token, allowBonusOrbs }), TypeError, JSON.stringify(allowBonusOrbs));
  }
});

test("a batch that is none says what is wrong with it", () => {
  const refused = /** @type {[any, RegExp][]} */ ([
    [undefined, /batch .* object, .* undefined$/],
    [null, /batch .* object, .* null$/],
    [{}, /`methods` .* undefined$/],
    [{ methods: [] }, /`targets` .* undefined$/],
    [{ methods: "GET", targets: ["/", "/", "/"] }, /`methods` .* string$/],
    [{ methods: [], targets: [], tokens: 5 }, /`tokens` .* number$/],
    [{ methods: [], targets: [], allowBonusOrbs: 1 }, /`allowBonusOrbs` .* boolean, .* number$/],
  ]);
  for (const [batch, message] of refused) {
    assert.throws(() => engine.decideBatch(batch), { name: "TypeError", message });
  }
  assert.throws(() => Column.from(/** @type {any} */ ("GET")), { message: /column .* string$/ });
  assert.throws(() => Tokens.from(/** @type {any} */ (null)), { message: /tokens .* null$/ });
});

test("half of a surrogate pair is refused where a text is not of a request", () => {
  const message = /surrogate/;
  for (const ask of [
    () => Engine.fromYaml("orbgate: 1\nname: \ud800\napis: {}\n"), () => Engine.fromFile("/\ud800.yaml"),
    () => engine.findRoute("GET", "/\udc00"), () => engine.decideScope("read:orbs\ud800", user),
    () => engine.scopeSet("read:orbs \ud800"), () => engine.scopeSet(["read:orbs", "\ud800"]),
  ]) {
    assert.throws(ask, { name: "TypeError", message }, String(ask));
  }
});

test("a name from outside becomes a kind", () => {
  assert.deepEqual(["user", "organisation", "User", "", "__proto__"].map(tokenKind), ["user", "organisation", "unknown", "unknown", "unknown"]);
  assert.throws(() => tokenKind(/** @type {any} */ (["user"])), TypeError);
});

test("a handle swaps its engine whole", () => {
  const handle = new Handle(engine);
  const shop = Engine.fromYaml(SHOP);
  /** @type {import("orbgate").Token} */
  const token = { kind: "user", scopes: "read:orders" };
  assert.equal(handle.decide("GET", "/v1/orders", token).reason, "no_route");
  assert.equal(handle.store(shop), engine);
  const decision = handle.decide("GET", "/v1/orders", token);
  assert.deepEqual([decision.isAllow, decision.policy], [true, shop.digest]);
  assert.equal(handle.load(), shop);
});

