"use strict";
const test = require("node:test");
const assert = require("node:assert/strict");
const { Column, Decisions, Engine, OrbgateError, Tokens } = require("orbgate");

const engine = Engine.external();
const methods = ["GET", "POST", "PUT", "GET", ""];
const targets = ["/api/v1/external/orbs", "/api/v1/external/voxies", "/api/v1/external/account", "/é", ""];
/** @type {{ kind: "user", scopes: string }} */
const text = { kind: "user", scopes: "read:orbs write:voxies" };
/** @type {import("orbgate").Token} */
const interned = { kind: "user", scopes: engine.scopeSet(text.scopes) };

/** @param {import("orbgate").Token | null} token */
const singles = (token, allowBonusOrbs = false) => (
  methods.map((method, row) => engine.decide(method, targets[row] ?? "", token, { allowBonusOrbs }))
);

test("a batch decides as single calls do", () => {
  for (const token of [text, interned, null]) {
    for (const allowBonusOrbs of [false, true]) {
      const decisions = engine.decideBatch({ methods, targets, token, allowBonusOrbs });
      assert.equal(decisions.length, methods.length);
      assert.deepEqual([...decisions], singles(token, allowBonusOrbs));
      assert.deepEqual(methods.map((_, row) => decisions.isAllow(row)), singles(token).map(({ isAllow }) => isAllow));
    }
  }
  assert.deepEqual([...engine.decideBatch({ methods, targets })], singles(null));
});

test("half a surrogate pair at the end of a row does not meet the other half in the next", () => {
  const halves = ["/\ud83d", "\ude00", "/api/v1/external/orbs\ud83d", "\ude00/api/v1/external/orbs", "/\u{1f600}"];
  for (const targets of [halves, Column.from(halves)]) {
    const decisions = engine.decideBatch({ methods: halves.map(() => "GET"), targets, token: text });
    assert.deepEqual([...decisions], halves.map((target) => engine.decide("GET", target, text)));
    assert.ok([...decisions].every(({ reason }) => reason === "malformed_request"));
  }
});

test("nor do the halves in the scopes of two tokens", () => {
  const tokens = ["read:orbs \ud83d", "\ude00 read:orbs", "read:orbs\ud83d", "\ude00read:orbs", "read:orbs"].map((scopes) => (
    { ...text, scopes }
  ));
  const requests = { methods: tokens.map(() => "GET"), targets: tokens.map(() => "/api/v1/external/orbs") };
  const decisions = engine.decideBatch({ ...requests, tokens });
  assert.deepEqual([...decisions], tokens.map((token) => engine.decide("GET", "/api/v1/external/orbs", token)));
  assert.deepEqual([...decisions].map(({ isAllow }) => isAllow), [true, true, false, false, true]);
});

test("rows have tokens of their own", () => {
  for (const token of [text, interned]) {
    /** @type {(import("orbgate").Token | null)[]} */
    const tokens = [token, null, { ...token, kind: "organisation" }, { ...token, kind: "unknown" }, token];
    const allowBonusOrbs = [true, false, true, false, true];
    const expected = methods.map((method, row) => (
      engine.decide(method, targets[row] ?? "", tokens[row] ?? null, { allowBonusOrbs: allowBonusOrbs[row] === true })
    ));
    for (const column of [tokens, Tokens.from(tokens)]) {
      assert.deepEqual([...engine.decideBatch({ methods, targets, tokens: column, allowBonusOrbs })], expected);
    }
  }
  const nobody = methods.map(() => null);
  assert.deepEqual([...engine.decideBatch({ methods, targets, tokens: nobody })], singles(null));
});

test("columns are texts, bytes, or laid out before", () => {
  const bytes = targets.map((target, row) => (row % 2 === 0 ? Buffer.from(target) : target));
  const shifted = new Column(Buffer.from("xGETPOST"), Int32Array.of(1, 4, 8));
  for (const column of [bytes, Column.from(targets), Column.from(bytes)]) {
    assert.deepEqual([...engine.decideBatch({ methods, targets: column, token: text })], singles(text));
  }
  assert.equal(shifted.length, 2);
  assert.deepEqual([...engine.decideBatch({ methods: shifted, targets: targets.slice(0, 2), token: text })], singles(text).slice(0, 2));
});

test("a batch of nothing has no decisions", () => {
  const none = engine.decideBatch({ methods: [], targets: [] });
  assert.deepEqual([none.length, [...none], none.isAllow(0)], [0, [], false]);
  assert.equal(engine.decideBatch({ methods: [], targets: [], tokens: [], allowBonusOrbs: [] }).length, 0);
});

test("a row that is not there is no allow", () => {
  const decisions = engine.decideBatch({ methods, targets, token: text });
  for (const row of [-1, 5, 0.5, NaN]) {
    assert.equal(decisions.isAllow(row), false);
    assert.throws(() => decisions.at(row), RangeError);
  }
  assert.ok(decisions instanceof Decisions);
});

test("columns that do not fit are refused whole", () => {
  const refused = (/** @type {any} */ batch) => () => engine.decideBatch({ methods, targets, ...batch });
  assert.throws(refused({ targets: ["/"] }), { name: "RangeError", message: /`targets`.* 1 .*`methods`.* 5/ });
  assert.throws(refused({ tokens: [null] }), RangeError);
  assert.throws(refused({ allowBonusOrbs: [true] }), RangeError);
  assert.throws(refused({ token: text, tokens: methods.map(() => text) }), TypeError);
  assert.throws(refused({ tokens: [text, interned, text, text, text] }), / scope sets/);
  assert.throws(refused({ methods: [1, 2, 3, 4, 5] }), TypeError);
  assert.throws(refused({ token: { kind: "user" } }), TypeError);
  assert.throws(() => new Column(new Uint8Array(1), new Uint32Array(0)), RangeError);
  // @ts-expect-error: offsets are integers of 32 bits
  assert.throws(() => new Column(new Uint8Array(1), [0, 1]), TypeError);
});

test("offsets that lead out of the data are refused by the library", () => {
  for (const offsets of [[0, 9], [3, 0], [-1, 1], [0, 2 ** 31 - 1]]) {
    const column = new Column(Buffer.from("GET"), Int32Array.from(offsets));
    const decide = () => engine.decideBatch({ methods: column, targets: ["/"] });
    assert.throws(decide, (error) => error instanceof OrbgateError && error.code === "invalid_argument", String(offsets));
  }
  const detached = new Column(new Uint8Array(3).fill(0x47), Uint32Array.of(0, 3));
  structuredClone(detached.data.buffer, { transfer: [/** @type {ArrayBuffer} */ (detached.data.buffer)] });
  assert.throws(() => engine.decideBatch({ methods: detached, targets: ["/"] }), OrbgateError, "memory that has gone");
});

test("tokens whose scopes were closed meanwhile throw", () => {
  const scopes = engine.scopeSet("read:orbs");
  const tokens = Tokens.from([{ kind: "user", scopes }]);
  scopes.close();
  assert.throws(() => engine.decideBatch({ methods: ["GET"], targets: ["/"], tokens }), { code: "closed" });
});
