"use strict";
// Routes of Express, which are known after its middleware: before each of their handlers, another one compares the request with what was
// decided, because a handler that goes on may have changed it.
const { isGate } = require("./seen.js");

/**
 * How the route that a request reaches is compared. It goes on if that is the decided one.
 * @typedef {(goOn: () => void) => void} Compare
 */

/** By their requests. @type {WeakMap<object, Compare[]>} */
const comparisons = new WeakMap();

/** The routes that have the comparing handler. @type {WeakSet<object>} */
const prepared = new WeakSet();

/**
 * Compares every route that a router takes for this request from now on. A router says so by `request.route`.
 * @param {{ route?: any }} request
 * @param {Compare} compare
 */
function compareRoutes(request, compare) {
  const others = comparisons.get(request);
  if (others !== undefined) {
    others.push(compare);
    return;
  }
  comparisons.set(request, [compare]);
  let taken = request.route;
  Object.defineProperty(request, "route", {
    configurable: true,
    enumerable: true,
    get: () => taken,
    set: (route) => {
      taken = route;
      if (typeof route?.all === "function" && !prepared.has(route)) {
        prepare(route);
      }
    },
  });
}

/**
 * Puts the comparing handler before each other. The list is a new one, so a request that has begun with the old one ends with it.
 * @param {any} route
 */
function prepare(route) {
  prepared.add(route);
  const { stack, methods: { _all } } = route;
  route.all(compared);
  const layer = route.stack.at(-1);
  stack.splice(stack.indexOf(layer), 1);
  route.stack = stack.flatMap((/** @type {any} */ one) => [layer, one]);
  if (_all === undefined) {
    delete route.methods._all; // It answers no other methods than before.
  }
}

/**
 * @param {object} request
 * @param {unknown} _response
 * @param {() => void} next
 */
function compared(request, _response, next) {
  const all = comparisons.get(request) ?? [];
  const goOn = all.reduceRight((/** @type {() => void} */ after, compare) => () => compare(after), next);
  goOn();
}

/**
 * Whether the handlers of a route that answer `OPTIONS` are only for this method. Express 4 has those of `all` once for each method.
 * @param {any} route
 */
function isForOptions({ stack }) {
  const layers = stack.filter((/** @type {any} */ { handle }) => handle !== compared && !isGate(handle));
  const others = layers.filter((/** @type {any} */ { method }) => method !== "options");
  const isOther = (/** @type {any} */ { handle, method }) => method === undefined || layers.some((/** @type {any} */ one) => one.method === "options" && one.handle === handle);
  return !others.some(isOther);
}

module.exports = { compareRoutes, isForOptions };
