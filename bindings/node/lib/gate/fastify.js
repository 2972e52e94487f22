"use strict";
// The plugin for Fastify. It knows the template of every request, and every route from the start.
const { subscribe } = require("#system");
const { FAILURE } = require("./answer.js");
const { logOf } = require("./gate.js");
const { isGuarded } = require("./guard.js");
const { compare: compareHandlers, guard, isOpen, isRewritten, misroute, pass, questionOf, refuse, sameAs, templateOf } = require("./http.js");
const { covers, prepare } = require("./mounts.js");
const { settle, settleAtEnd } = require("./passed.js");

/** @typedef {InstanceType<typeof import("./gate.js").Gate>} Gate */
/** A route, the instance that it was added to, and whether a gate sees it. @typedef {{ instance: object, options: any, isGated: boolean }} Added */

/** A handler that is mounted with `use`, and the instance that it was added to. @typedef {{ instance: object, path: string }} Mounted */

/** What was added to an application, by its server. A plugin itself sees only what is added after it. @type {WeakMap<object, { routes: Added[], mounts: Mounted[] }>} */
const applications = new WeakMap();

/** Where the configuration of a route has its options. */
const OPTIONS = Symbol("orbgate");

/**
 * What a gate let through, for the route's handler and those of mounts.
 * @typedef {{ template: string, isSame: () => boolean, settle: () => void, refuse: (response: any) => void }} Passed
 */

/** By the request of the server. @type {WeakMap<object, Passed[]>} */
const passed = new WeakMap();

subscribe("fastify.initialization", (/** @type {any} */ { fastify: application }) => {
  /** @type {Added[]} */
  const routes = [];
  /** @type {Mounted[]} */
  const mounts = [];
  applications.set(application.server, { routes, mounts });
  const { decorate } = application;
  application.decorate = /** @this {object} */ function decorating(/** @type {string} */ name, /** @type {any} */ value, /** @type {any[]} */ ...others) {
    return decorate.call(this, name, name === "use" && typeof value === "function" ? mounting(value, mounts) : value, ...others);
  };
  application.addHook("onRoute", /** @this {object} */ function onRoute(/** @type {any} */ options) {
    routes.push({ instance: this, options, isGated: false });
    options.config = { ...options.config, [OPTIONS]: options };
    options.handler = compared(options.handler);
    if (options.wsHandler !== undefined) {
      options.wsHandler = compared(options.wsHandler);
    }
  });
});

/**
 * A handler that runs only for the method and the path that were decided: a hook can replace them.
 * @template Handler
 * @param {Handler} handler
 * @returns {Handler}
 */
function compared(handler) {
  if (typeof handler !== "function") {
    return handler;
  }
  /** @this {object} @param {any[]} all */
  function comparing(...all) {
    // Handlers of @fastify/websocket get the connection first.
    const [request, reply] = all[0]?.raw === undefined ? [all[1]] : all;
    const gates = passed.get(request?.raw) ?? [];
    const other = gates.find(({ isSame }) => !isSame());
    if (other === undefined) {
      gates.forEach((one) => one.settle());
      return /** @type {any} */ (handler).apply(this, all);
    }
    if (reply === undefined) {
      throw new Error("the gate has allowed another request than this: a hook has changed the method or the path");
    }
    return other.refuse(responseOf(reply));
  }
  return /** @type {any} */ (comparing);
}

/**
 * The `use` of @fastify/middie or @fastify/express, whose handlers run only where the decided template is below their path.
 * @param {Function} use
 * @param {Mounted[]} mounts
 */
function mounting(use, mounts) {
  return /** @this {any} */ function using(/** @type {any[]} */ ...all) {
    const [path, handler] = all.length > 1 ? all : ["/", ...all];
    const paths = [path].flat(Infinity).map((one) => (typeof one === "string" ? `${this.prefix}/${one}` : one));
    if (all.length > 1) {
      mounts.push(...paths.map((one) => ({ instance: this, path: String(one).replace(/\/+/g, "/") })));
    }
    // The application of @fastify/express compares its handlers itself.
    const compared = this.express === undefined ? [[handler].flat(Infinity).map((one) => comparedAt(paths, one))] : all.slice(-1);
    return use.call(this, ...all.slice(0, -1), ...compared);
  };
}

/**
 * @param {unknown[]} paths
 * @param {Function} handler
 */
const comparedAt = (paths, handler) => (/** @type {any} */ request, /** @type {any} */ response, /** @type {Function} */ next) => {
  prepare(handler); // It may be a router of Express.
  const other = (passed.get(request) ?? []).find(({ template }) => !paths.some((path) => covers(path, template)));
  return other === undefined ? handler(request, response, next) : other.refuse(response);
};

/** A reply, as the gate writes it. @param {any} reply */
const responseOf = (reply) => ({
  raw: reply.raw,
  writeHead: (/** @type {number} */ status, /** @type {object} */ headers) => reply.code(status).headers(headers),
  end: (/** @type {Uint8Array[]} */ ...body) => reply.send(...body),
});

/** Whether a route is chosen by more than method and path. */
const isConstrained = (/** @type {any} */ options) => Object.keys(options?.constraints ?? {}).length > 0;

/**
 * @param {Gate} gate
 * @param {import("../../gate.js").FastifyOptions} [options]
 */
function fastify(gate, { check = true, compare = true } = {}) {
  /** @type {Set<string>} */
  const agreed = new Set();
  const plugin = (/** @type {any} */ instance, /** @type {object} */ _options, /** @type {(error?: Error) => void} */ done) => {
    const { server } = instance;
    const { routes, mounts } = applications.get(server) ?? {};
    if (routes === undefined || mounts === undefined) {
      return done(new Error("the application was created before `orbgate/gate` was loaded, so its routes are unknown: load it first"));
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
    // Their hook is before the gate's.
    const open = instance.use === undefined ? [] : mounts;
    instance.addHook("onReady", async () => (check ? refuseDifferent(gate, instance, routes, open) : undefined));
    instance.addHook("onRequest", (/** @type {any} */ request, /** @type {any} */ reply, /** @type {() => void} */ next) => {
      const { raw, is404, routeOptions } = request;
      const response = responseOf(reply);
      if (isOpen(gate, raw, server)) {
        return refuse(response, FAILURE);
      }
      const methods = [routeOptions.method].flat();
      const options = routeOptions.config?.[OPTIONS];
      // A hook before this one might have replaced the method that the route was chosen by, and `rewriteUrl` the path.
      const isOther = isRewritten(raw, "") || (!is404 && (!methods.includes(raw.method) || options === undefined || isConstrained(options)));
      const template = isOther || (compare && is404) ? null : compare ? routeOptions.url ?? null : undefined;
      const question = questionOf(raw, template);
      const { method, url } = raw;
      const isSame = () => raw.method === method && raw.url === url;
      return pass(gate, raw, response, question, isSame, (answer) => {
        if (answer.preflight && !methods.every((one) => one === "OPTIONS")) {
          return misroute(gate, raw, response, question);
        }
        settleAtEnd(gate, raw, reply.raw);
        const refuseOther = (/** @type {any} */ last) => misroute(gate, raw, last, question);
        passed.set(raw, [...passed.get(raw) ?? [], { template: templateOf(answer), isSame, settle: () => settle(gate, raw), refuse: refuseOther }]);
        compareHandlers(gate, raw, reply.raw, question, answer, sameAs(raw), agreed);
        return next();
      });
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
 * @param {Mounted[]} open that the gate does not see
 */
function refuseDifferent(gate, instance, routes, open) {
  const isWithin = (/** @type {{ instance: object }} */ one) => one.instance === instance || Object.prototype.isPrototypeOf.call(instance, one.instance);
  const within = routes.filter(isWithin);
  const differences = gate.checkRoutes(within.flatMap(servedOf));
  const problems = /** @type {const} */ ([
    ["undeclared", "the policy lacks routes that the service has"],
    ["ungated", "the gate does not see routes that were added before it"],
  ]).flatMap(([kind, problem]) => {
    const ofKind = differences.filter((one) => one.kind === kind);
    const list = ofKind.map(({ route, decidedAs }) => (decidedAs === null ? route : `${route} (decided as ${decidedAs})`));
    return list.length === 0 ? [] : [`${problem}: ${list.join(", ")}`];
  });
  const constrained = within.filter(({ options }) => isConstrained(options)).flatMap(servedOf);
  if (constrained.length > 0) {
    problems.push(`routes with constraints cannot be compared with the policy: ${constrained.map(nameOf).join(", ")}`);
  }
  const mounted = open.filter(isWithin).map(({ path }) => path);
  if (mounted.length > 0) {
    problems.push(`the gate does not see handlers of \`use\`, whose plugin was registered before it: ${mounted.join(", ")}`);
  }
  if (problems.length > 0) {
    throw new Error(problems.join("; "));
  }
  const outside = routes.filter(({ isGated }) => !isGated).flatMap(servedOf);
  if (outside.length > 0) {
    logOf(gate).info(`orbgate: no gate sees ${outside.map(nameOf).join(", ")}`);
  }
}

/** @param {import("../../gate.js").ServedRoute} route */
const nameOf = ({ method, template }) => `${method} ${template}`;

/**
 * Fastify adds HEAD to every GET; the gate denies it where the policy does not declare it.
 * @param {Added} route
 * @returns {import("../../gate.js").ServedRoute[]}
 */
const servedOf = ({ options: { method, url }, isGated }) => (
  [method].flat().filter((name) => name !== "HEAD").map((name) => ({ method: name, template: url, gated: isGated }))
);

module.exports = { fastify };
