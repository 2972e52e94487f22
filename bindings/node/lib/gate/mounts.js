"use strict";
// Handlers that are mounted at a path, as by `app.use("/orders", handler)`. One gets every request below its path, so it runs only for those
// whose whole decided template is below it: at `/orders/secret`, it isn't `/orders/{id}`.
const { isGate } = require("./seen.js");

/** What stands for the value of a parameter. */
const VALUE = "orbgate-value";

/** Whether a mount has every path of a policy's template. @typedef {(template: string) => boolean} Covers */
/** Whether a handler may run that has these paths; otherwise the request has got its answer. @typedef {(covers: Covers) => boolean} MayRun */

/** The handlers that comparing ones stand for. @type {WeakMap<Function, Function>} */
const originals = new WeakMap();

/** The handler of a layer of Express, as it was added. */
const handlerOf = (/** @type {any} */ { handle }) => originals.get(handle) ?? handle;

/**
 * The layers of a router. An application has a router: of Express 4, where `router` is an error, it is `_router`.
 * @param {any} router
 * @returns {any[]}
 */
function stackOf(router) {
  const inner = () => router?._router ?? (router?.lazyrouter === undefined ? router?.router : undefined);
  const stack = router?.stack ?? inner()?.stack;
  return Array.isArray(stack) ? stack : [];
}

/** The comparisons of a request, and where the mount is that it enters. @type {WeakMap<object, { all: MayRun[], from: string }>} */
const entering = new WeakMap();

/**
 * Has each mounted handler of Express compared that gets this request from now on. A router cuts the path off just before it calls one.
 * @param {{ baseUrl?: string }} request
 * @param {MayRun} mayRun
 */
function compareMounts(request, mayRun) {
  const others = entering.get(request);
  if (others !== undefined) {
    others.all.push(mayRun);
    return;
  }
  const state = { all: [mayRun], from: "" };
  entering.set(request, state);
  let { baseUrl } = request;
  Object.defineProperty(request, "baseUrl", {
    configurable: true,
    enumerable: true,
    get: () => baseUrl,
    set(/** @type {string | undefined} */ value) {
      if ((value?.length ?? 0) > (baseUrl?.length ?? 0)) {
        state.from = baseUrl ?? "";
        prepare(this.app);
      }
      baseUrl = value;
    },
  });
}

/**
 * Puts a comparing handler in the place of each in a router, and in the routers below it.
 * @param {any} router
 * @param {Set<unknown>} [known]
 */
function prepare(router, known = new Set()) {
  for (const layer of known.has(router) ? [] : stackOf(router)) {
    const { handle, route } = layer;
    // Handlers of errors have four parameters. Layers of Connect have a route, which is text.
    if (route === undefined && !originals.has(handle) && handle.length < 4 && !isGate(handle)) {
      layer.handle = comparing(layer, handle);
    }
    known.add(router);
    prepare(route === undefined ? handlerOf(layer) : undefined, known);
  }
}

/**
 * @param {any} layer
 * @param {Function} handle
 */
function comparing(layer, handle) {
  /** @this {unknown} @param {any} request @param {any} response @param {any} next */
  function compared(request, response, next) {
    const { all = [], from = "" } = isEverywhere(layer) ? {} : entering.get(request) ?? {};
    const below = (/** @type {string} */ template) => `/${template.split("/").slice(from.split("/").length).join("/")}`;
    if (all.every((mayRun) => mayRun((template) => Boolean(layer.match(below(template).replace(/\{[^/]*\}/g, VALUE)))))) {
      return handle.call(this, request, response, next);
    }
  }
  originals.set(compared, handle);
  // Others look for the layers of a router.
  return Object.setPrototypeOf(compared, handle);
}

/** Whether a layer is for every path. */
const isEverywhere = (/** @type {any} */ { slash, regexp }) => slash === true || regexp?.fast_slash === true;

/**
 * Whether a path as text has every path of a template.
 * @param {unknown} mount
 * @param {string} template of a policy
 */
function covers(mount, template) {
  const segments = (/** @type {string} */ path) => path.toLowerCase().split("/").filter((segment) => segment !== "");
  const inner = segments(template);
  const fits = (/** @type {string} */ segment, /** @type {number} */ at) => segment === inner[at] || (/^(:\w+|\*)$/.test(segment) && at < inner.length);
  return typeof mount === "string" && segments(mount).every(fits);
}

module.exports = { VALUE, compareMounts, covers, handlerOf, isEverywhere, prepare, stackOf };
