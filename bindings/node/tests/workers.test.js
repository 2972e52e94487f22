"use strict";
const test = require("node:test");
const assert = require("node:assert/strict");
const { once } = require("node:events");
const { Worker, isMainThread, parentPort, workerData } = require("node:worker_threads");
const { Engine } = require("orbgate");
const { Gate } = require("orbgate/gate");
const { foreign } = require("../lib/library.js");

const CALLS = 20_000;

/** How many calls of every second token are allowed. */
function allowed() {
  const engine = Engine.external();
  /** @type {import("orbgate").Token[]} */
  const tokens = [{ kind: "user", scopes: "read:orbs" }, { kind: "user", scopes: engine.scopeSet("read:keys") }];
  const call = (/** @type {number} */ at) => engine.decide("GET", "/api/v1/external/orbs", tokens[at % 2] ?? null);
  return Array.from({ length: CALLS }, (_, at) => call(at)).filter(({ isAllow }) => isAllow).length;
}

/** A gate with requests that wait for a key that never comes. */
function waiting() {
  const gate = new Gate(Engine.external(), "orbgate_token: 1\nissuers: [{ issuer: https://id.example.com, audience: a, kind: user }]\n", {
    fetch: () => new Promise(() => {}), log: { info() {}, warn() {}, error() {} },
  });
  const part = (/** @type {object} */ value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const token = `${part({ alg: "ES256", kid: "one", typ: "at+jwt" })}.${part({ iss: "https://id.example.com", aud: "a", exp: 9e9 })}.${"A".repeat(86)}`;
  const question = { method: "GET", target: "/api/v1/external/orbs", authorization: [`Bearer ${token}`], upgrade: [], headerNames: [] };
  const answers = [1, 2, 3].map(() => Promise.resolve(gate.answer(question)).catch(() => {}));
  return { gate, answers };
}

if (isMainThread) {
  test("workers each have an engine of their own", async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, async () => (await once(new Worker(__filename), "message"))[0]));
    assert.deepEqual(answers, Array(4).fill(CALLS / 2));
  });

  test("a worker that closes its gate before it is terminated leaves no step open", { skip: process.env["ORBGATE_LIBRARY"]?.endsWith(".wasm") }, async () => {
    const open = foreign.func("orbgate_step_count", "size_t", []);
    const before = open();
    const worker = new Worker(__filename, { workerData: "waiting" });
    assert.deepEqual(await once(worker, "message"), ["waiting"]);
    assert.ok(open() >= before + 3);
    worker.postMessage("close");
    assert.deepEqual(await once(worker, "message"), ["closed"]);
    await worker.terminate();
    assert.equal(open(), before);
  });
} else if (workerData === "waiting") {
  const { gate, answers } = waiting();
  parentPort?.once("message", async () => {
    gate.close();
    await Promise.all(answers);
    parentPort?.postMessage("closed");
  });
  parentPort?.postMessage("waiting");
} else {
  parentPort?.postMessage(allowed());
}
