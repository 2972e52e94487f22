"use strict";
// The routes of an application or a router of Express, and whether a gate sees their requests.
const { VALUE, handlerOf, isEverywhere, stackOf } = require("./mounts.js");
const { gateOf, isGate } = require("./seen.js");

/** @typedef {import("../../gate.js").ServedRoute} ServedRoute */
/** Whether a gate comes before what is added to a router, for a path of the whole application. @typedef {(path: string) => boolean} Covers */

/** Where a router is mounted, by the layer that it is in. @type {WeakMap<object, Map<object, Covers>>} */
const mounts = new WeakMap();

/** Where an application has others mounted, which do not say which layer is theirs. @type {WeakMap<object, Map<object, Covers>>} */
const applications = new WeakMap();

/**
 * The template of a route of Express below a prefix; none if it is a pattern.
 * @param {string} prefix
 * @param {unknown} path
 */
function templateOf(prefix, path) {
  return typeof path !== "string" ? null : path === "/" && prefix !== "" ? prefix : prefix + path;
}

/**
 * The first of the paths of a route that a request can have come by.
 * @param {string} prefix that is text of the path
 * @param {unknown} path or an array of them
 * @param {string} url
 */
function takenOf(prefix, path, url) {
  const [first = null, ...others] = [path].flat(Infinity).map((one) => templateOf(prefix, one));
  const fits = (/** @type {string | null} */ template) => template === null || couldFit(template, url);
  return others.length === 0 ? first : [first, ...others].find(fits) ?? null;
}

/**
 * Whether a path may be one of a template. Express compares without regard to case, and lets a slash at the end pass.
 * @param {string} template
 * @param {string} path
 */
function couldFit(template, path) {
  const [theirs, ours] = [template, path].map((one) => one.toLowerCase().replace(/\/$/, "").split("/"));
  const isPlain = /^(\/(:\w+|([^:*?+!|^$(){}[\]\\]|\\.)*))*$/.test(template);
  const literal = (/** @type {string} */ segment) => segment.replace(/\\(.)/g, "$1");
  return !isPlain || (theirs.length === ours.length && theirs.every((segment, at) => segment.startsWith(":") || literal(segment) === ours[at]));
}

/**
 * @param {any} router
 * @param {string} prefix where it is mounted
 * @returns {ServedRoute[]}
 */
function routesOfExpress(router, prefix) {
  /** @type {((path: string) => boolean)[]} */
  const gates = [];
  const start = sample(prefix).length;
  const outer = () => [...(mounts.get(router) ?? applications.get(router.parent) ?? new Map()).values()];
  return stackOf(router).flatMap((layer) => {
    const before = [...gates];
    /** @type {Covers} */
    const covers = (path) => before.some((gate) => gate(path.slice(start) || "/")) || (outer().length > 0 && outer().every((mount) => mount(path)));
    if (layer.route !== undefined) {
      return routesOfLayer(layer.route, prefix, covers);
    }
    const handler = handlerOf(layer);
    if (isGate(handler) || stackOf(handler).some((inner) => isEverywhere(inner) && isGate(inner.handle))) {
      gates.push((path) => Boolean(layer.match(path)));
    } else {
      const [known, below] = layer.name === "mounted_app" ? [applications, router] : [mounts, handler];
      known.set(below, (known.get(below) ?? new Map()).set(layer, covers));
    }
    return [];
  });
}

/**
 * @param {any} route
 * @param {string} prefix
 * @param {Covers} covers
 * @returns {ServedRoute[]}
 */
function routesOfLayer({ path, methods, stack }, prefix, covers) {
  return Object.keys(methods).flatMap((method) => [path].flat(Infinity).map((one) => {
    const template = templateOf(prefix, one);
    const isGated = stack.slice(0, -1).some((/** @type {any} */ { handle, method: only }) => isGate(handle) && [undefined, method].includes(only));
    return {
      method,
      template: template ?? "/*",
      // Known when the router that this one is mounted in has been read.
      get gated() {
        return isGated || covers(sample(template ?? "/*"));
      },
    };
  }));
}

/**
 * A gate that a handler is or has: an application or a router of Express or Connect, anywhere in it.
 * @param {any} handler
 * @param {Set<unknown>} [known]
 * @returns {ReturnType<typeof gateOf>}
 */
function gateWithin(handler, known = new Set()) {
  if (gateOf(handler) !== undefined || known.has(handler)) {
    return gateOf(handler);
  }
  known.add(handler);
  return stackOf(handler).map((layer) => gateWithin(layer.route?.stack === undefined ? handlerOf(layer) : layer.route, known)).find((gate) => gate !== undefined);
}

/** A path of a template. */
const sample = (/** @type {string} */ template) => template.split("/").map((segment) => segment.replace(/^:.*/, VALUE).replace(/\\(.)/g, "$1")).join("/");

module.exports = { gateWithin, routesOfExpress, takenOf };
