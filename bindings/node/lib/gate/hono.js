"use strict";
// Middleware for Hono. Its router finds every handler of a request before the first runs, so the one that will answer is known here.
const { taken } = require("./hono-routes.js");
const { asGate, expect } = require("./seen.js");
const { refused } = require("./web.js");

/**
 * @param {InstanceType<typeof import("./gate.js").Gate>} gate
 * @param {import("../../gate.js").HonoOptions} [options]
 */
function hono(gate, { compare = true } = {}) {
  expect(gate);
  return asGate(gate, async (/** @type {any} */ context, /** @type {() => Promise<void>} */ next) => {
    const { raw, matchedRoutes, routeIndex } = context.req;
    const { templates, isForOptions } = taken(matchedRoutes.slice(routeIndex + 1), raw.method);
    // Node's server is known by the request that it has made this one of.
    return (await refused(gate, raw, { templates: compare ? templates : [undefined], isForOptions }, context.env?.incoming)) ?? next();
  });
}

module.exports = { hono };
