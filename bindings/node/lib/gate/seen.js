"use strict";
// Which handlers of Express and Hono are gates: what comes before them in a router, they do not see.

/** @type {WeakSet<Function>} */
const gates = new WeakSet();

/**
 * @template {Function} Handler
 * @param {Handler} handler
 */
function asGate(handler) {
  gates.add(handler);
  return handler;
}

/** @param {unknown} handler */
const isGate = (handler) => typeof handler === "function" && gates.has(handler);

module.exports = { asGate, isGate };
