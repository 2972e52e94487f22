"use strict";
// Middleware for Hono. Its router finds every handler of a request before the first runs, so the one that will answer is known here.
const { taken } = require("./hono-routes.js");
const { charges } = require("./gate.js");
const { asGate, expect } = require("./seen.js");
const { misrouted, refused } = require("./web.js");

/** Hono sends the response of such an error. */
class Misrouted extends Error {
  /** @param {() => any} getResponse */
  constructor(getResponse) {
    super("a handler continued to a route that the gate has not compared");
    this.getResponse = getResponse;
  }
}

/**
 * Lets no handler run after the one that was to answer. A function that takes `next` by `arguments` or `...` looks as if it took none.
 * @param {any} request of Hono, which has the index of the route that is about to run
 * @param {number} last
 * @param {() => any} deny
 */
function stopAfter(request, last, deny) {
  let { routeIndex } = request;
  Object.defineProperty(request, "routeIndex", {
    configurable: true,
    enumerable: true,
    get: () => routeIndex,
    set: (index) => {
      if (index > last) {
        throw new Misrouted(deny);
      }
      routeIndex = index;
    },
  });
}

/**
 * @param {InstanceType<typeof import("./gate.js").Gate>} gate
 * @param {import("../../gate.js").HonoOptions} [options]
 */
function hono(gate, { compare = true } = {}) {
  if (charges(gate, { decision: { isAllow: true, charge: { consumes: true } } })) {
    throw new TypeError("calls of Hono can't be charged yet: its server ends an answer whose stream has failed as if it were complete");
  }
  expect(gate);
  return asGate(gate, async (/** @type {any} */ context, /** @type {() => Promise<void>} */ next) => {
    const { raw, matchedRoutes, routeIndex } = context.req;
    const { templates, isForOptions, count, mounts } = taken(matchedRoutes.slice(routeIndex + 1), raw.method);
    // Node's server is known by the request that it has made this one of.
    const incoming = context.env?.incoming;
    const response = await refused(gate, raw, compare ? { templates, isForOptions, mounts } : { templates: [undefined], isForOptions, mounts: [] }, incoming);
    if (response === undefined && compare) {
      stopAfter(context.req, routeIndex + count, () => misrouted(gate, raw, incoming));
    }
    return response ?? next();
  });
}

module.exports = { hono };
