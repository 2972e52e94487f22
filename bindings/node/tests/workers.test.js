"use strict";
const test = require("node:test");
const assert = require("node:assert/strict");
const { once } = require("node:events");
const { Worker, isMainThread, parentPort } = require("node:worker_threads");
const { Engine } = require("orbgate");

const CALLS = 20_000;

/** How many calls of every second token are allowed. */
function allowed() {
  const engine = Engine.external();
  /** @type {import("orbgate").Token[]} */
  const tokens = [{ kind: "user", scopes: "read:orbs" }, { kind: "user", scopes: engine.scopeSet("read:keys") }];
  const call = (/** @type {number} */ at) => engine.decide("GET", "/api/v1/external/orbs", tokens[at % 2] ?? null);
  return Array.from({ length: CALLS }, (_, at) => call(at)).filter(({ isAllow }) => isAllow).length;
}

if (isMainThread) {
  test("workers each have an engine of their own", async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, async () => (await once(new Worker(__filename), "message"))[0]));
    assert.deepEqual(answers, Array(4).fill(CALLS / 2));
  });
} else {
  parentPort?.postMessage(allowed());
}
