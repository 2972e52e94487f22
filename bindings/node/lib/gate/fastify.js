"use strict";
// The plugin for Fastify. It knows the template of every request, and every route from the start.
const { subscribe } = require("#system");
const { FAILURE } = require("./answer.js");
const { logOf } = require("./gate.js");
const { isGuarded } = require("./guard.js");
const { guard, isOpen, isRewritten, pass, questionOf, refuse } = require("./http.js");

/** @typedef {InstanceType<typeof import("./gate.js").Gate>} Gate */
/** A route, the instance that it was added to, and whether a gate sees it. @typedef {{ instance: object, options: any, isGated: boolean }} Added */

/** The routes of every application, by its server. A plugin itself sees only those that are added after it. @type {WeakMap<object, Added[]>} */
const applications = new WeakMap();

subscribe("fastify.initialization", (/** @type {any} */ { fastify: application }) => {
  /** @type {Added[]} */
  const routes = [];
  applications.set(application.server, routes);
  application.addHook("onRoute", /** @this {object} */ function onRoute(/** @type {any} */ options) {
    routes.push({ instance: this, options, isGated: false });
  });
});

/**
 * @param {Gate} gate
 * @param {import("../../gate.js").FastifyOptions} [options]
 */
function fastify(gate, { check = true, compare = true } = {}) {
  const plugin = (/** @type {any} */ instance, /** @type {object} */ _options, /** @type {(error?: Error) => void} */ done) => {
    const { server } = instance;
    const routes = applications.get(server);
    if (routes === undefined) {
      return done(new Error("the application was made before `orbgate/gate` was loaded, so its routes are unknown: load it first"));
    }
    // A server that listens at several addresses passes its upgrades to this one.
    if (!isGuarded(server)) {
      guard(gate, server);
    }
    for (const route of routes.filter((one) => one.instance === instance)) {
      route.isGated = true;
    }
    instance.addHook("onRoute", (/** @type {any} */ options) => {
      const route = routes.findLast((one) => one.options === options);
      if (route !== undefined) {
        route.isGated = true;
      }
    });
    instance.addHook("onReady", async () => (check ? refuseDifferent(gate, instance, routes) : undefined));
    instance.addHook("onRequest", (/** @type {any} */ request, /** @type {any} */ reply, /** @type {() => void} */ next) => {
      const { raw, is404, routeOptions } = request;
      const response = {
        writeHead: (/** @type {number} */ status, /** @type {object} */ headers) => reply.code(status).headers(headers),
        end: () => reply.send(),
      };
      if (isOpen(gate, raw, server)) {
        return refuse(response, FAILURE);
      }
      // A hook before this one might have replaced the method that the route was chosen by, and `rewriteUrl` the path.
      const isOther = is404 || ![routeOptions.method].flat().includes(raw.method) || isRewritten(raw, "");
      const template = !compare ? undefined : isOther ? null : routeOptions.url ?? null;
      return pass(gate, raw, response, questionOf(raw, template), () => next());
    });
    return done();
  };
  // The hooks are for all of the instance that the plugin is registered with.
  return Object.assign(plugin, { [Symbol.for("skip-override")]: true, [Symbol.for("fastify.display-name")]: "orbgate" });
}

/**
 * An instance below the gate's has the hooks that there were when it was made; one outside of it has none of the gate's.
 * @param {Gate} gate
 * @param {object} instance that the gate is registered with
 * @param {Added[]} routes of the application
 */
function refuseDifferent(gate, instance, routes) {
  const within = routes.filter((one) => one.instance === instance || Object.prototype.isPrototypeOf.call(instance, one.instance));
  const differences = gate.checkRoutes(within.flatMap(servedOf));
  const problems = /** @type {const} */ ([
    ["undeclared", "the policy lacks routes that the service has"],
    ["ungated", "the gate does not see routes that were added before it"],
  ]).flatMap(([kind, problem]) => {
    const found = differences.filter((one) => one.kind === kind);
    const list = found.map(({ route, decidedAs }) => (decidedAs === null ? route : `${route} (decided as ${decidedAs})`));
    return list.length === 0 ? [] : [`${problem}: ${list.join(", ")}`];
  });
  if (problems.length > 0) {
    throw new Error(problems.join("; "));
  }
  const outside = routes.filter(({ isGated }) => !isGated).flatMap(servedOf);
  if (outside.length > 0) {
    logOf(gate).info(`orbgate: no gate sees ${outside.map(({ method, template }) => `${method} ${template}`).join(", ")}`);
  }
}

/**
 * Fastify adds HEAD to every GET; the gate denies it where the policy does not declare it.
 * @param {Added} route
 * @returns {import("../../gate.js").ServedRoute[]}
 */
const servedOf = ({ options: { method, url }, isGated }) => (
  [method].flat().filter((name) => name !== "HEAD").map((name) => ({ method: name, template: url, gated: isGated }))
);

module.exports = { fastify };
