"use strict";
// Whatever hooks do while the gate calls them, and whichever memory can't be allocated, no step stays open: by seed. `ORBGATE_LEAKS` is how many.
const test = require("node:test");
const assert = require("node:assert/strict");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { Engine } = require("orbgate");
const { Gate } = require("orbgate/gate");
const { foreign } = require("../lib/library.js");
const { Steps } = require("../lib/gate/steps.js");
const { MESSAGES } = require("../lib/gate/messages.js");
const { randomOf } = require("./support/random.js");

const SEEDS = Number(process.env["ORBGATE_LEAKS"] ?? 100);
const TOKENS = "orbgate_token: 1\nissuers: [{ issuer: https://id.example.com, audience: a, kind: user }]\n";
const VALID = "orbgate: 1\napis: { a: { base_path: /a, scopes: { x: { orbs: false, routes: [GET /b] } } } }\n...\n";
/** Its diagnostics are longer than any room. */
const BROKEN = `orbgate: 1\napis: { a: { base_path: /a, scopes: { ${Array.from({ length: 800 }, (_, at) => `x${at}: { orbs: 7x, routes: [] }`).join(", ")} } } }\n`;
const ROUTES = Array.from({ length: 1_000 }, (_, at) => ({ method: "GET", template: `/no/such/route/${at}/of/the/policy` }));

const open = foreign.func("orbgate_step_count", "size_t", []);

/** Does something while the first few allocations succeed, and the next fail; -1 for none. @param {number} after @param {() => unknown} act */
function withoutMemory(after, act) {
  if (after < 0) {
    return act();
  }
  const { ArrayBuffer } = globalThis;
  let left = after;
  globalThis.ArrayBuffer = /** @type {any} */ (new Proxy(ArrayBuffer, {
    construct: (of, given) => {
      if (left-- <= 0) {
        throw new RangeError("no memory is left");
      }
      return Reflect.construct(of, given);
    },
  }));
  try {
    return act();
  } finally {
    globalThis.ArrayBuffer = ArrayBuffer;
  }
}

const attempt = (/** @type {() => unknown} */ act) => {
  try {
    act();
  } catch {
    // Whatever it throws, nothing stays open.
  }
};

test("no step stays open, whatever a hook does", async (context) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "orbgate-leaks-"));
  context.after(() => fs.rmSync(folder, { recursive: true }));
  const file = path.join(folder, "policy.yaml");
  const before = open();
  let [hooked, failed] = [0, 0];
  for (let seed = 0; seed < SEEDS; seed++) {
    const random = randomOf(seed);
    /** @type {any[]} */
    const watches = [];
    let depth = 0;
    let isClosed = false;
    const watch = () => void watches.push(gate.watch(file, { intervalMs: 600_000 }));
    const write = () => fs.writeFileSync(file, [VALID, BROKEN, `# ${random(9)}\n${VALID}`, ""][random(4)] ?? "");
    const calls = [
      () => {},
      () => watches.forEach((one) => one.readNow()),
      () => watches.forEach((one) => one.close()),
      watch,
      () => gate.reload(file),
      () => gate.checkRoutes(ROUTES),
      () => gate.answer({ method: "GET", target: "/a/b", authorization: [], upgrade: [], headerNames: [] }),
      () => gate.warm(),
      write,
    ];
    const call = () => calls[random(calls.length)]?.();
    const hook = () => {
      hooked++;
      if (depth < 3) {
        depth++;
        try {
          call();
          if (random(12) === 0) {
            isClosed = true;
            gate.close();
          }
        } finally {
          depth--;
        }
      }
      if (random(4) === 0) {
        throw new Error("as a hook can");
      }
    };
    const log = { info: hook, warn: hook, error: hook };
    const gate = new Gate(Engine.fromYaml(VALID), TOKENS, { count: hook, audit: hook, log, fetch: () => Promise.reject(new Error("no network")) });
    write();
    for (let at = 0; at < 6; at++) {
      attempt(() => withoutMemory(random(3) === 0 ? random(3) : -1, () => {
        try {
          return call();
        } catch (error) {
          failed += error instanceof RangeError ? 1 : 0;
          throw error;
        }
      }));
    }
    for (let turns = 0; turns < 50 && open() - before > watches.length; turns++) {
      await new Promise((resolve) => setImmediate(resolve)); // The issuer's answer has a step.
    }
    assert.ok(open() - before <= watches.length, `${seed}: ${open() - before} are open, with ${watches.length} watches`);
    watches.forEach((one) => one.close());
    for (let turns = 0; turns < 50 && open() > before; turns++) {
      await new Promise((resolve) => setImmediate(resolve));
      watches.forEach((one) => one.close()); // A hook may have begun another.
    }
    // Before the gate's own end, which would end them.
    assert.equal(open(), before, `${seed}, ${isClosed ? "closed" : "open"}`);
    gate.close();
    assert.equal(open(), before, String(seed));
  }
  assert.ok(hooked > SEEDS / 4 && failed > SEEDS / 40, `${hooked} hooks, ${failed} failures`);
});

test("a ledger's step that can't begin is ended, and one that has begun is kept", () => {
  const before = open();
  const use = /** @type {const} */ ({ number: MESSAGES.USE_LEDGER, capturesCancelled: false, voidsCancelled: true, capturesToolErrors: false, voidsToolErrors: false, capturesInputRequired: false, voidsInputRequired: false, ttlMs: 0, timeoutMs: 0, queue: 0 });
  assert.throws(() => Steps.keep({ ...use, voidsCancelled: false }), { code: "invalid_argument" });
  assert.equal(open(), before);
  const kept = Steps.keep(use);
  assert.equal(open(), before + 1);
  assert.throws(() => kept.ask({ number: MESSAGES.STATUS }), { code: "invalid_argument" });
  assert.equal(kept.ask({ number: MESSAGES.NEXT_LEDGER_CALL, monotonicMs: 1 }).number, MESSAGES.LEDGER_CALL, "its first message");
  kept.close();
  assert.equal(open(), before);
});
