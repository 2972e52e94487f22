"use strict";
// The routes of a service, against those of its policy.
const { CODES } = require("../layout.js");
const { openOf } = require("../engine.js");
const { OK, check } = require("../errors.js");
const { text } = require("../library.js");
const { gates, gateSizes } = require("./abi.js");
const { routesOfExpress } = require("./express-routes.js");
const { routesOfHono } = require("./hono-routes.js");
const { given } = require("./options.js");

/** @typedef {import("../../gate.js").ServedRoute} ServedRoute */

/**
 * @param {number} gate
 * @param {InstanceType<typeof import("../engine.js").Engine>} engine
 * @param {Iterable<ServedRoute>} routes
 * @returns {import("../../gate.js").RouteDifference[]}
 */
function differences(gate, engine, routes) {
  const served = [...routes];
  const [methods, templates] = [served.map(({ method }) => given(method.toUpperCase())), served.map(({ template }) => given(template))];
  const found = [0];
  const status = gates.checkRoutes(gate, openOf(engine), methods, templates, served.length, found);
  check(status, "cannot compare routes");
  const pointer = /** @type {number} */ (found[0]);
  try {
    const list = [];
    for (let next = pointer === 0 ? null : difference(pointer, 0); next !== null; next = difference(pointer, list.length)) {
      list.push(next);
    }
    return [...list, ...served.filter(({ gated }) => gated === false).map(ungated)];
  } finally {
    gates.differencesFree(pointer);
  }
}

/**
 * @param {ServedRoute} route
 * @returns {import("../../gate.js").RouteDifference}
 */
const ungated = ({ method, template }) => Object.freeze({ kind: "ungated", route: `${method.toUpperCase()} ${template}`, decidedAs: null });

/**
 * @param {number} pointer
 * @param {number} at
 * @returns {import("../../gate.js").RouteDifference | null}
 */
function difference(pointer, at) {
  const info = { struct_size: gateSizes.RouteDifference };
  if (gates.routeDifference(pointer, at, info) !== OK) {
    return null;
  }
  const { kind, route, decided_as: decidedAs } = /** @type {any} */ (info);
  const isUndeclared = kind === CODES.DIFFERENCE_UNDECLARED;
  return Object.freeze({ kind: isUndeclared ? "undeclared" : "unserved", route: text(route) ?? "", decidedAs: text(decidedAs) });
}

/**
 * The routes of an application of Hono; or those that were added to an application or a router of Express itself, not those of routers below it.
 * @param {import("../../gate.js").ExpressRouter} router
 * @param {string} [prefix] where it is mounted
 * @returns {ServedRoute[]}
 */
const routesOf = (router, prefix = "") => (Array.isArray(router.routes) ? routesOfHono(router.routes) : routesOfExpress(router, prefix));

module.exports = { differences, routesOf };
