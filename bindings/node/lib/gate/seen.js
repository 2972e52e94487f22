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

/**
 * Gates whose server has a function of the framework in between, as Hono's has: only a request tells which server it is. The references are weak,
 * because a gate that is never asked must not stay for ever.
 * @type {Set<WeakRef<InstanceType<typeof import("./gate.js").Gate>>>}
 */
const unplaced = new Set();

/** @param {InstanceType<typeof import("./gate.js").Gate>} gate */
const expect = (gate) => void unplaced.add(new WeakRef(gate));

/**
 * Its server is known.
 * @param {InstanceType<typeof import("./gate.js").Gate>} gate
 */
function place(gate) {
  for (const one of unplaced) {
    if ([gate, undefined].includes(one.deref())) {
      unplaced.delete(one);
    }
  }
}

/** A gate whose server is not known yet, if there is one. */
const anyUnplaced = () => [...unplaced].map((one) => one.deref()).find((gate) => gate !== undefined);

module.exports = { anyUnplaced, asGate, expect, gateOf, isGate, place };
