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
    return [...list, ...patterns(engine, served), ...served.filter(({ gated }) => gated === false).map(ungated)];
  } finally {
    gates.differencesFree(pointer);
  }
}

/**
 * Of several routes of one method and shape, those with a pattern in a parameter, such as `/:name(export)`: a gate compares no patterns, so
 * each passes for the policy's route.
 * @param {InstanceType<typeof import("../engine.js").Engine>} engine
 * @param {ServedRoute[]} served
 * @returns {import("../../gate.js").RouteDifference[]}
 */
function patterns(engine, served) {
  const shapeOf = (/** @type {ServedRoute} */ { method, template }) => `${method.toUpperCase()} ${template.replace(/\/(:[^/]*|\{[^/}]*\})/g, "/:")}`;
  const declared = new Map(engine.routes.map(({ method, template }) => [shapeOf({ method, template }), `${method} ${template}`]));
  const patterned = served.filter((route) => /\/:\w+\(/.test(route.template) && declared.has(shapeOf(route)));
  const hides = (/** @type {ServedRoute} */ one) => served.some((other) => other.template !== one.template && shapeOf(other) === shapeOf(one));
  return patterned.filter(hides).map((one) => Object.freeze({
    kind: "undeclared", route: `${one.method.toUpperCase()} ${one.template}`, decidedAs: declared.get(shapeOf(one)) ?? null,
  }));
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
