"use strict";
// Steps of a gate that are over, ended twice, another gate's or lost: each is refused, and reaches no other request.
const test = require("node:test");
const assert = require("node:assert/strict");
const { Engine } = require("orbgate");
const { Steps } = require("../lib/gate/steps.js");
const { MESSAGES } = require("../lib/gate/messages.js");
const { issuer } = require("./support/issuer.js");

/** @typedef {import("../lib/gate/messages.js").Question} Question */

const TIME = { unixMs: Date.now(), monotonicMs: 5 };

/** @param {string} tokens @returns {InstanceType<typeof Steps>} */
const stepsOf = (tokens) => new Steps(/** @type {any} */ ({ number: MESSAGES.MAKE, tokens, signaturesOutside: true }));

/** A request that waits for keys. @param {InstanceType<typeof Steps>} steps @param {any} engine @param {string} token */
function waiting(steps, engine, token) {
  const ask = /** @type {any} */ ({ number: MESSAGES.ASK, method: "GET", target: "/api/v1/external/account", authorization: [`Bearer ${token}`], headerNames: [], ...TIME });
  const reply = steps.ask(engine, ask);
  assert.equal(reply.number, MESSAGES.WAIT);
  assert.notEqual(reply.step, undefined);
  return reply.step;
}

const looks = (/** @type {InstanceType<typeof Steps>} */ steps, /** @type {any} */ step) => steps.ask(null, /** @type {any} */ ({ number: MESSAGES.IS_OVER, monotonicMs: 6 }), step);

const refused = (/** @type {() => unknown} */ ask) => assert.throws(ask, { code: "invalid_argument" });

test("a step that is over is refused, and reaches no other request", async (context) => {
  const { tokens, token } = await issuer(context);
  const engine = /** @type {any} */ (Engine.external());
  const [one, other] = [stepsOf(tokens), stepsOf(tokens)];
  const first = waiting(one, engine, token("read:account"));
  assert.equal(looks(one, first).number, MESSAGES.OVER);
  one.drop(first);
  one.drop(first);
  const second = waiting(one, engine, token("read:account"));
  refused(() => looks(one, first)); // In the slot of the first.
  one.drop(first);
  assert.equal(looks(one, second).number, MESSAGES.OVER);
  // Another question than the next one ends it.
  refused(() => one.ask(engine, /** @type {any} */ ({ number: MESSAGES.CHECKED, isRight: true, ...TIME }), second));
  refused(() => looks(one, second));
  const third = waiting(one, engine, token("read:account"));
  refused(() => looks(other, third));
  assert.equal(looks(one, third).number, MESSAGES.OVER);
  other.close();
  one.close();
  assert.throws(() => looks(one, third), { code: "closed" });
});

test("a step of its own is refused when it is closed", () => {
  const kept = Steps.keep({ number: MESSAGES.READ_RESPONSE, mcpId: Buffer.from("7"), mcpLegacy: false, mcpSession: false });
  const piece = /** @type {Question} */ ({ number: MESSAGES.RESPONSE_PIECE, piece: Buffer.from("{") });
  assert.equal(kept.ask(piece).number, MESSAGES.RESPONDED);
  kept.close();
  kept.close();
  const next = Steps.keep({ number: MESSAGES.READ_RESPONSE, mcpId: Buffer.from("8"), mcpLegacy: false, mcpSession: false });
  refused(() => kept.ask(piece));
  assert.equal(next.ask(piece).number, MESSAGES.RESPONDED);
  next.close();
});

test("a step of its own begins again after a trap in its question", { skip: !process.env.ORBGATE_LIBRARY?.endsWith(".wasm") }, () => {
  const { functions } = require("../lib/library.js");
  const { CODES } = require("../lib/layout.js");
  const { Carrier } = require("../lib/wasm-carrier.js");
  const kept = Steps.keep(/** @type {any} */ ({ number: MESSAGES.USE_LEDGER, voidsCancelled: true }));
  const next = /** @type {Question} */ ({ number: MESSAGES.NEXT_LEDGER_CALL, monotonicMs: 6 });
  assert.equal(kept.ask(next).number, MESSAGES.LEDGER_CALL, "its first message");
  const { sendLong } = Carrier.prototype;
  // No question traps that is known, so another function does in its place.
  Carrier.prototype.sendLong = function () {
    const made = [0];
    functions.external(made);
    functions.route(/** @type {number} */ (made[0]), 1, 0xfffffff0);
    this.next = 0;
    return CODES.STATUS_PANIC;
  };
  try {
    assert.throws(() => kept.ask(next), { code: "panic" });
  } finally {
    Carrier.prototype.sendLong = sendLong;
  }
  assert.equal(kept.ask(next).number, MESSAGES.LEDGER_CALL, "it begins anew");
  kept.close();
  refused(() => kept.ask(next));
});

test("an answer that is longer than the room is whole", async (context) => {
  const { tokens } = await issuer(context);
  const steps = stepsOf(tokens);
  const engine = /** @type {any} */ (Engine.external());
  const routes = Array.from({ length: 3000 }, (_, at) => ({ method: "GET", pathTemplate: `/no/such/route/${at}/of/the/policy` }));
  const question = /** @type {any} */ ({ number: MESSAGES.CHECK_ROUTES, routes });
  for (let round = 0; round < 3; round++) {
    const { differences } = steps.answered(MESSAGES.ROUTE_DIFFERENCES, steps.ask(engine, question));
    const listed = new Set(differences.map(({ route }) => route));
    assert.ok(routes.every(({ method, pathTemplate }) => listed.has(`${method} ${pathTemplate}`)));
  }
  steps.close();
});
