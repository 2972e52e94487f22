"use strict";
const test = require("node:test");
const assert = require("node:assert/strict");
const { Engine, Handle } = require("orbgate");

const ROUTES = Array.from({ length: 30 }, (_, at) => `GET /route-${at}/{id}`);
const POLICY = `orbgate: 1\napis: {a: {base_path: /a, scopes: {s: {orbs: false, routes: [${ROUTES.map((route) => `"${route}"`)}]}}}}\n`;

/** Policies have some tens of KiB outside JavaScript's memory: all of them would be ten times as much. */
const MOST_GROWN = 32 * 2 ** 20;
const RELOADS = 10_000;

test("memory is flat over 10,000 reloads with close", () => {
  const handle = new Handle(Engine.fromYaml(POLICY));
  let before = 0;
  for (let reload = 0; reload < RELOADS; reload++) {
    const engine = Engine.fromYaml(POLICY);
    const scopes = engine.scopeSet("s");
    assert.equal(engine.decide("GET", "/a/route-7/1", { kind: "user", scopes }).scope, "s");
    scopes.close();
    handle.store(engine).close();
    if (reload === RELOADS / 10) {
      before = process.memoryUsage.rss();
    }
  }
  const grown = process.memoryUsage.rss() - before;
  assert.ok(grown < MOST_GROWN, `grown by ${grown >> 10} KiB`);
});
