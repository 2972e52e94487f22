"use strict";
// The messages of gates: answers of any release, and questions of any length.
const test = require("node:test");
const assert = require("node:assert/strict");
const fs = require("node:fs");
const http = require("node:http");
const path = require("node:path");
const { once } = require("node:events");
const { Engine } = require("orbgate");
const { Gate, listener } = require("orbgate/gate");
const { foreign } = require("../lib/library.js");
const { MESSAGES, read } = require("../lib/gate/messages.js");
const { Writer } = require("../lib/gate/wire.js");
const { issuer } = require("./support/issuer.js");

const QUIET = { info() {}, warn() {}, error() {} };

/** @typedef {InstanceType<typeof Writer>} To */

/** @param {Uint8Array} message */
const readAll = (message) => read(message, new DataView(message.buffer, message.byteOffset, message.length), 0, message.length);

/**
 * @param {number} number
 * @param {(to: To) => void} put
 */
function message(number, put) {
  const writer = new Writer();
  writer.begin(Buffer.alloc(0), new DataView(new ArrayBuffer(0)), 0, 0);
  const start = writer.open(number);
  put(writer);
  writer.close(start);
  return Buffer.from(writer.message);
}

test("answers of the library of any release are read or refused", () => {
  const rows = fs.readFileSync(path.join(__dirname, "../../../crates/orbgate-capi/testdata/answers.tsv"), "utf8").split("\n");
  const cases = rows.filter((row) => row !== "" && !row.startsWith("#")).map((row) => row.split("\t"));
  for (const [title, hex = "", number, status] of cases) {
    const reply = readAll(Buffer.from(hex, "hex"));
    const actual = reply === null ? "refused" : String(reply.number);
    const httpStatus = reply?.number === MESSAGES.ANSWER ? reply.httpStatus : 0;
    assert.deepEqual([actual, String(httpStatus)], [number, status], title);
  }
  assert.ok(cases.length > 50);
});

test("what an answer has says nothing about the next one", () => {
  const token = (/** @type {(to: To) => void} */ put) => (/** @type {To} */ to) => {
    const start = to.open(10);
    put(to);
    to.close(start);
  };
  const scopes = (/** @type {To} */ to) => to.text(2, "a b");
  const first = readAll(message(MESSAGES.ANSWER, token((to) => {
    scopes(to);
    to.text(4, "user-7");
  })));
  const second = readAll(message(MESSAGES.ANSWER, token(scopes)));
  const third = readAll(message(MESSAGES.ANSWER, () => {}));
  const tokens = [first, second, third].map((reply) => (reply?.number === MESSAGES.ANSWER ? reply.token : undefined));
  assert.deepEqual(tokens.map((one) => one && [one.scopes, one.subject]), [["a b", "user-7"], ["a b", ""], null]);
});

test("bytes that are no UTF-8 are not taken for a text that was read before", () => {
  const scopes = (/** @type {Uint8Array} */ bytes) => {
    const reply = readAll(message(MESSAGES.ANSWER, (to) => {
      const start = to.open(10);
      to.text(2, bytes);
      to.close(start);
    }));
    return reply?.number === MESSAGES.ANSWER ? reply.token?.scopes : undefined;
  };
  assert.equal(scopes(Buffer.from("é")), "é");
  assert.equal(scopes(Uint8Array.of(0xe9)), "\ufffd");
});

test("integers cross as they are, and others are refused", () => {
  for (const value of [1, 2 ** 31, 2 ** 32, 2 ** 53 - 1]) {
    const reply = readAll(message(MESSAGES.ANSWER, (to) => to.integer(2 ** 31 + 2, value)));
    assert.equal(reply?.number === MESSAGES.ANSWER && reply.httpStatus, value);
  }
  for (const value of [-1, 0.5, NaN, Infinity, 2 ** 53, /** @type {any} */ ("1"), /** @type {any} */ (1n)]) {
    assert.throws(() => message(MESSAGES.WARM, (to) => to.integer(1, value)), RangeError);
  }
});

/** @param {Partial<import("orbgate/gate").Question>} more */
const orbs = (more) => ({ method: "GET", target: "/api/v1/external/orbs", authorization: [], upgrade: [], headerNames: [], ...more });

test("questions and answers that are longer than the room are carried", async (context) => {
  const { tokens, token } = await issuer(context);
  const gate = new Gate(Engine.external(), tokens, { log: QUIET });
  const bearer = [`Bearer ${token("read:orbs")}`];
  await gate.answer(orbs({ authorization: bearer }));
  const names = Array.from({ length: 10_000 }, (_, at) => `x-header-${at}-${"é".repeat(at % 7)}`);
  for (const [headerNames, status] of /** @type {[string[], number | null][]} */ ([[names, null], [[...names, "x-http-method-override"], 400], [names, null], [[], null]])) {
    const answer = await gate.answer(orbs({ method: headerNames.length > 10_000 ? "POST" : "GET", authorization: bearer, headerNames }));
    assert.equal(answer.httpStatus, status, answer.decision.reason);
  }
  // Each end of the room.
  for (let length = (64 << 10) - 200; length < (64 << 10) + 20; length += 3) {
    for (const target of [`/${"x".repeat(length)}`, Buffer.alloc(length, "/x"), `/${"é".repeat(length / 3)}`]) {
      const answer = await gate.answer(orbs({ target, authorization: bearer }));
      assert.equal(answer.isAllow, false);
    }
    assert.equal((await gate.answer(orbs({ authorization: bearer }))).token?.subject, "ada");
  }
  const served = Array.from({ length: 5_000 }, (_, at) => ({ method: "GET", template: `/undeclared/${at}/:id` }));
  const undeclared = gate.checkRoutes(served).filter(({ kind }) => kind === "undeclared");
  assert.deepEqual([undeclared.length, undeclared.at(-1)?.route], [5_000, "GET /undeclared/4999/{id}"]);
  assert.throws(() => gate.answer(orbs({ target: "x".repeat(3 << 20) })), { code: "invalid_argument" });
  assert.equal((await gate.answer(orbs({ authorization: bearer }))).isAllow, true);
});

test("a getter that asks the gate leaves both questions right, and one that closes it gives `closed`", async (context) => {
  const { tokens, token } = await issuer(context);
  const gate = new Gate(Engine.external(), tokens, { log: QUIET });
  const bearer = [`Bearer ${token("read:orbs")}`];
  await gate.answer(orbs({ authorization: bearer }));
  const inner = /** @type {any[]} */ ([]);
  const when = (/** @type {() => void} */ read) => /** @type {string[]} */ (Object.defineProperty(["x-a", "x-b", "x-c"], 1, { get: () => (read(), "x-b") }));
  const asks = when(() => void inner.push(gate.answer(orbs({ target: `/api/v1/external/orbs?${"x".repeat(500)}` }))));
  const outer = await gate.answer(orbs({ authorization: bearer, headerNames: asks }));
  assert.deepEqual([outer.isAllow, outer.token?.subject, inner.length, inner[0].httpStatus], [true, "ada", 1, 401]);
  assert.throws(() => gate.answer(orbs({ headerNames: when(() => gate.close()) })), { code: "closed" });
});

test("a question without its lists is an error, because they could have had something in them", async (context) => {
  const { tokens } = await issuer(context);
  const gate = new Gate(Engine.external(), tokens, { log: QUIET });
  for (const more of [{ headerNames: undefined }, { authorization: undefined }, { authorization: "Bearer a" }, { authorization: [1] }, { method: 1 }, { headerNames: [null] }]) {
    assert.throws(() => gate.answer(orbs(/** @type {any} */ (more))), TypeError, JSON.stringify(more));
  }
});

/**
 * @param {Buffer} answer
 * @param {(to: To) => void} put
 */
function longer(answer, put) {
  const all = Buffer.concat([answer, message(0, put).subarray(8)]);
  all.writeUInt32LE(all.length - 8, 4);
  return all;
}

/** How a later release might answer. @type {[string, (answer: Buffer) => Buffer][]} */
const LATER = [
  ["a critical field", (answer) => longer(answer, (to) => to.close(to.open(2 ** 31 + 30)))],
  ["an allow with a status", (answer) => longer(answer, (to) => to.integer(2 ** 31 + 2, 403))],
  ["a step of another kind", (answer) => {
    answer.writeUInt32LE(96, 0);
    return answer;
  }],
  ["an answer to another question", () => message(MESSAGES.KEY_STATUS, () => {})],
];

for (const [what, change] of LATER) {
  test(`${what} of a later release is a denial`, async (context) => {
    const { tokens, token } = await issuer(context);
    const logged = /** @type {string[]} */ ([]);
    const gate = new Gate(Engine.external(), tokens, { log: { ...QUIET, error: (line) => void logged.push(line) }, public: ["GET /healthz"] });
    await gate.answer(orbs({ authorization: [`Bearer ${token("read:orbs")}`] }));
    const server = http.createServer(listener(gate, (_, /** @type {any} */ response) => response.end("in")));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    context.after(() => server.close());
    const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
    const status = async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).status;
    assert.equal(await status(), 200);
    const carrier = /** @type {any} */ (Object.getPrototypeOf(foreign.carrier()));
    const { send } = carrier;
    context.after(() => Object.assign(carrier, { send }));
    carrier.send = function later(/** @type {any[]} */ ...given) {
      const result = send.apply(this, given);
      const answer = Buffer.from(change(Buffer.from(this.bytes.subarray(this.from, this.to))));
      [this.bytes, this.view, this.from, this.to] = [answer, new DataView(answer.buffer, answer.byteOffset, answer.length), 0, answer.length];
      return result;
    };
    assert.equal(await status(), 403);
    assert.match(logged.join("\n"), what.startsWith("an allow") ? /^$/ : /^orbgate: a request is denied: /);
    carrier.send = send;
    assert.equal(await status(), 200);
  });
}
