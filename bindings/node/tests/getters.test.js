"use strict";
// Values whose getters change things while they are read.
const test = require("node:test");
const assert = require("node:assert/strict");
const { Column, Engine, Tokens } = require("orbgate");

const ORBS = "/api/v1/external/orbs";
/** @type {{ kind: "user", scopes: string }} */
const token = { kind: "user", scopes: "read:orbs" };

/**
 * The token, whose scopes or kind run something when they are read.
 * @param {"kind" | "scopes"} name
 * @param {() => void} run
 */
const running = (name, run) => ({ ...token, get [name]() { run(); return token[name]; } });

test("a getter that closes the engine gives `closed`", () => {
  /** @type {((engine: Engine, close: () => void) => unknown)[]} */
  const asks = (/** @type {const} */ (["kind", "scopes"])).flatMap((name) => [
    (engine, close) => engine.decide("GET", ORBS, running(name, close)),
    (engine, close) => engine.decideScope("read:orbs", running(name, close)),
    (engine, close) => engine.decideRoute(engine.routes[0].id, running(name, close)),
    (engine, close) => engine.decideBatch({ methods: ["GET"], targets: [ORBS], token: running(name, close) }),
    (engine, close) => engine.decideBatch({ methods: ["GET"], targets: [ORBS], tokens: [running(name, close)] }),
  ]);
  asks.push((engine, close) => engine.decide("GET", ORBS, token, { get allowBonusOrbs() { close(); return true; } }));
  asks.push((engine, close) => engine.decideBatch({ methods: ["GET"], get targets() { close(); return [ORBS]; } }));
  asks.push((engine, close) => engine.scopeSet(Object.defineProperty(["a"], "0", { get() { close(); return "a"; } })));
  for (const ask of asks) {
    const engine = Engine.external();
    assert.throws(() => ask(engine, () => engine.close()), { code: "closed" }, String(ask));
  }
});

test("a batch that a getter decides leaves both batches right", () => {
  const engine = Engine.external();
  /** @type {any} */
  let inner = null;
  for (const name of /** @type {const} */ (["kind", "scopes"])) {
    const nesting = running(name, () => {
      inner = engine.decideBatch({ methods: ["PUT", "GET", "GET"], targets: ["/", ORBS, ""], tokens: [token, null, token] });
    });
    for (const ask of [{ token: nesting }, { tokens: [nesting, token] }]) {
      const outer = engine.decideBatch({ methods: ["GET", "GET"], targets: [ORBS, "/nowhere"], ...ask });
      assert.deepEqual([...outer].map(({ reason }) => reason), ["scope_held", "no_route"]);
      assert.deepEqual([...inner].map(({ reason }) => reason), ["no_route", "no_token", "malformed_request"]);
    }
  }
});

test("columns that lose their memory while a token is read are refused", () => {
  const engine = Engine.external();
  const methods = new Column(Buffer.from("GETGET"), Uint32Array.of(0, 3, 6));
  const losing = running("scopes", () => structuredClone(methods.offsets, { transfer: [/** @type {ArrayBuffer} */ (methods.offsets.buffer)] }));
  assert.throws(() => engine.decideBatch({ methods, targets: ["/", "/"], token: losing }), RangeError);
});

test("an array's own idea of its length counts for nothing", () => {
  const engine = Engine.external();
  const long = Object.defineProperty(Buffer.from(ORBS), "byteLength", { value: 2 ** 20 });
  assert.equal(engine.decide("GET", long, token).isAllow, true);
  const offsets = Object.defineProperty(Uint32Array.of(0, 3), "length", { value: 2 ** 20 });
  const methods = new Column(Object.defineProperty(Buffer.from("GET"), "length", { value: 2 ** 20 }), offsets);
  assert.equal(methods.length, 1);
  assert.equal(engine.decideBatch({ methods, targets: [ORBS], token }).isAllow(0), true);
});

test("memory that other threads can change is refused", () => {
  const engine = Engine.external();
  const shared = (/** @type {number} */ bytes) => new SharedArrayBuffer(bytes);
  const message = /over a SharedArrayBuffer/;
  const [bytes, offsets] = [Buffer.from("GET"), Uint32Array.of(0, 3)];
  for (const make of [
    () => new Column(new Uint8Array(shared(3)), offsets),
    () => new Column(bytes, new Uint32Array(shared(8))),
    () => new Column(bytes, new Int32Array(shared(8))),
    () => engine.decide("GET", new Uint8Array(shared(3)), token),
    () => engine.decide("GET", ORBS, { kind: "user", scopes: new Uint8Array(shared(3)) }),
    () => engine.decideBatch({ methods: ["GET"], targets: [ORBS], token: { kind: "user", scopes: new Uint8Array(shared(3)) } }),
    () => engine.scopeSet([new Uint8Array(shared(3))]),
    () => Tokens.from([{ kind: "user", scopes: new Uint8Array(shared(3)) }]),
  ]) {
    assert.throws(make, { name: "TypeError", message }, String(make));
  }
});
