"use strict";
// The routes of a service, against those of its policy.
const { CODES } = require("../layout.js");
const { given } = require("../text.js");
const { routesOfExpress } = require("./express-routes.js");
const { routesOfHono } = require("./hono-routes.js");
const { MESSAGES } = require("./messages.js");

/** @typedef {import("../../gate.js").ServedRoute} ServedRoute */

/**
 * @param {InstanceType<typeof import("./steps.js").Steps>} steps
 * @param {InstanceType<typeof import("../engine.js").Engine>} engine
 * @param {Iterable<ServedRoute>} routes
 * @returns {import("../../gate.js").RouteDifference[]}
 */
function differences(steps, engine, routes) {
  const served = [...routes];
  const listed = served.map(({ method, template }) => ({ method: given(method.toUpperCase()), pathTemplate: given(template) }));
  const reply = steps.ask(engine, { number: MESSAGES.CHECK_ROUTES, routes: listed });
  const reported = steps.answered(MESSAGES.ROUTE_DIFFERENCES, reply).differences.map(difference);
  return [...reported, ...patterns(engine, served), ...served.filter(({ gated }) => gated === false).map(ungated)];
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
 * @param {import("./messages.js").RouteDifference} found
 * @returns {import("../../gate.js").RouteDifference}
 */
const difference = ({ kind, route, decidedAs }) => Object.freeze({
  kind: kind === CODES.DIFFERENCE_UNDECLARED ? "undeclared" : "unserved", route, decidedAs: decidedAs || null,
});

/**
 * The routes of an application of Hono; or those that were added to an application or a router of Express itself, not those of routers below it.
 * @param {import("../../gate.js").ExpressRouter} router
 * @param {string} [prefix] where it is mounted
 * @returns {ServedRoute[]}
 */
const routesOf = (router, prefix = "") => (Array.isArray(router.routes) ? routesOfHono(router.routes) : routesOfExpress(router, prefix));

module.exports = { differences, routesOf };
