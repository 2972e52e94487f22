"use strict";
// The plugin for Fastify. It knows the template of every request, and every route from the start.
const { pass } = require("./http.js");

/** @typedef {InstanceType<typeof import("./gate.js").Gate>} Gate */

/**
 * @param {Gate} gate
 * @param {import("../../gate.js").FastifyOptions} [options]
 */
function fastify(gate, { check = true, compare = true } = {}) {
  /** @type {import("../../gate.js").ServedRoute[]} */
  const served = [];

  const plugin = (/** @type {any} */ instance, /** @type {object} */ _options, /** @type {() => void} */ done) => {
    instance.addHook("onRoute", (/** @type {any} */ { method, url }) => {
      // Fastify adds HEAD to every GET; the gate denies it where the policy does not declare it.
      const methods = [method].flat().filter((/** @type {string} */ name) => name !== "HEAD");
      served.push(...methods.map((/** @type {string} */ name) => ({ method: name, template: url })));
    });
    instance.addHook("onReady", async () => (check ? refuseUndeclared(gate.checkRoutes(served)) : undefined));
    instance.addHook("onRequest", (/** @type {any} */ request, /** @type {any} */ reply, /** @type {() => void} */ next) => {
      const response = {
        writeHead: (/** @type {number} */ status, /** @type {object} */ headers) => reply.code(status).headers(headers),
        end: () => reply.send(),
      };
      const template = !compare ? undefined : request.is404 ? null : request.routeOptions.url ?? null;
      pass(gate, request.raw, response, template, () => next());
    });
    done();
  };
  // The hooks are for all of the instance that the plugin is registered with.
  return Object.assign(plugin, { [Symbol.for("skip-override")]: true, [Symbol.for("fastify.display-name")]: "orbgate" });
}

/** @param {import("../../gate.js").RouteDifference[]} differences */
function refuseUndeclared(differences) {
  const undeclared = differences.filter(({ kind }) => kind === "undeclared");
  if (undeclared.length > 0) {
    const list = undeclared.map(({ route, decidedAs }) => (decidedAs === null ? route : `${route} (decided as ${decidedAs})`));
    throw new Error(`the policy lacks routes that the service has: ${list.join(", ")}`);
  }
}

module.exports = { fastify };
