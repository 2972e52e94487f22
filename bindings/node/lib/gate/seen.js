"use strict";
// Which handlers of Express, Connect and Hono are gates: what comes before them in a router, they do not see.

/** The gate of each. @type {WeakMap<Function, InstanceType<typeof import("./gate.js").Gate>>} */
const gates = new WeakMap();

/**
 * @template {Function} Handler
 * @param {InstanceType<typeof import("./gate.js").Gate>} gate
 * @param {Handler} handler
 */
function asGate(gate, handler) {
  gates.set(handler, gate);
  return handler;
}

/** @param {unknown} handler */
const gateOf = (handler) => (typeof handler === "function" ? gates.get(handler) : undefined);

/** @param {unknown} handler */
const isGate = (handler) => gateOf(handler) !== undefined;

module.exports = { asGate, gateOf, isGate };
