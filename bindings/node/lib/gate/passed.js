"use strict";
// What gates have let through of a request. It is counted and audited once, when its handler is known: a comparison may still deny it.
const { askOf, charges, holdOf } = require("./gate.js");

/**
 * @typedef {import("../../gate.js").Answer} Answer
 * @typedef {import("../../gate.js").Question} Question
 * @typedef {InstanceType<typeof import("./gate.js").Gate>} Gate
 * @typedef {typeof import("./orbs.js").Held} Held
 */

/** What was asked, and what counts and audits the answer. @typedef {{ name: string, note: () => void }} Passed */

/** By the request of the server. @type {WeakMap<object, Map<Gate, Passed>>} */
const passed = new WeakMap();

/** @param {import("../../index.js").Text} text */
const latin1 = (text) => (typeof text === "string" ? text : Buffer.from(text).toString("latin1"));

/** A service can make several requests of one, each with its own credentials. @param {Question} question */
const nameOf = ({ method, target, authorization, dpop = [] }) =>
  [method, target, ...authorization, "", ...dpop].map(latin1).join("\n");

/**
 * Asks a gate about a request, and notes a denial. An allow waits for `settle`, and one that the gate has given before is not noted again.
 * @param {Gate} gate
 * @param {object} request of the server
 * @param {Question} question
 */
function askOnce(gate, request, question) {
  const name = nameOf(question);
  return passed.get(request)?.get(gate)?.name === name ? again(gate, request, question) : askOf(gate, question, ({ isAllow }, note) => {
    if (!isAllow) {
      return note();
    }
    settle(gate, request); // What was let through with another method or target.
    passed.set(request, (passed.get(request) ?? new Map()).set(gate, { name, note }));
  });
}

/**
 * Asks once more about a request that the gate has let through. A denial takes the place of the allow.
 * @param {Gate} gate
 * @param {object} request of the server
 * @param {Question} question
 */
const again = (gate, request, question) => askOf(gate, { ...question, repeats: true }, ({ isAllow }, note) => {
  if (!isAllow) {
    takeNote(gate, request);
    note();
  }
});

/**
 * Holds the orbs of a request that the gate has let through, if it consumes any. The last answer takes the place of the allow.
 * @param {Gate} gate
 * @param {object} request of the server
 * @param {import("./gate.js").Caller} caller
 * @param {Question} question
 * @param {Answer} allowed
 * @param {(answer: Answer, held: InstanceType<Held>) => void} holds
 * @returns {Answer | Promise<Answer>}
 */
function charged(gate, request, caller, question, allowed, holds) {
  if (!charges(gate, allowed) || allowed.preflight || charging.has(request)) {
    return allowed;
  }
  charging.add(request);
  const observe = (/** @type {Answer} */ { isAllow }, /** @type {() => void} */ note) => {
    takeNote(gate, request);
    if (isAllow) {
      passed.get(request)?.set(gate, { name: nameOf(question), note });
    } else {
      note();
    }
  };
  return holdOf(gate, question, allowed, caller, observe).then(({ answer, held }) => {
    if (held !== undefined) {
      holds(answer, held);
    }
    return answer;
  });
}

/** The requests whose orbs are held, so that no gate holds them twice. @type {WeakSet<object>} */
const charging = new WeakSet();

/**
 * Notes what the gate has let through.
 * @param {Gate} gate
 * @param {object} request of the server
 */
const settle = (gate, request) => takeNote(gate, request)();

/**
 * @param {Gate} gate
 * @param {object} request
 */
function takeNote(gate, request) {
  const known = passed.get(request)?.get(gate);
  const note = known?.note ?? (() => {});
  if (known !== undefined) {
    known.note = () => {};
  }
  return note;
}

/**
 * Notes it at the latest when the response is over, if what answers is compared by nothing.
 * @param {Gate} gate
 * @param {object} request of the server
 * @param {any} response
 */
function settleAtEnd(gate, request, response) {
  // It may be over before the gate has its answer.
  const { writableEnded, destroyed, stream } = response;
  if (typeof response.once !== "function" || writableEnded || destroyed || stream?.destroyed) {
    return settle(gate, request);
  }
  for (const event of ["finish", "close"]) {
    response.once(event, () => settle(gate, request));
  }
}

module.exports = { again, charged, askOnce, settle, settleAtEnd };
