"use strict";
// Which of the handlers of Hono answer a request, at which templates, and whether a gate sees it before.
const { isGate } = require("./seen.js");

/** @typedef {{ method: string, path: string, handler: Function & { __COMPOSED_HANDLER?: Function } }} Route */

/** The handler itself: a mounted application with an `onError` of its own wraps it. @type {(handler: Route["handler"]) => Function} */
const unwrapped = (handler) => (handler.__COMPOSED_HANDLER === undefined ? handler : unwrapped(handler.__COMPOSED_HANDLER));

/** Whether a handler answers, as one without `next` does. If it goes on by another way, `hono` denies what would run. */
const answers = (/** @type {Route} */ { handler }) => unwrapped(handler).length < 2;

/** Whether a handler is that of `mount`. @type {WeakMap<Function, boolean>} */
const mounts = new WeakMap();

/**
 * Whether a handler is that of `mount`, which takes `next` and has another service handle the request. Only its text tells, also once minified: it
 * calls that service with a request and a list.
 * @param {Route} route
 */
function isMount({ handler }) {
  const itself = unwrapped(handler);
  const known = mounts.get(itself) ?? /\.req\.raw\)[^;{}]*,\s*\.\.\./.test(Function.prototype.toString.call(itself));
  mounts.set(itself, known);
  return known;
}

/** Whether it may, although it takes `next`: it is for one method or for paths of one form. Hono does not tell `all` from `use`. */
const mayAnswer = (/** @type {Route} */ route) => route.method !== "ALL" || !route.path.includes("*") || isMount(route);

/** Those of the routes that can answer. */
const answering = (/** @type {Route[]} */ routes) => routes.filter((route) => !isGate(unwrapped(route.handler)) && (answers(route) || mayAnswer(route)));

/**
 * The templates of the handlers that may answer a request, up to the first that must; `null` for one of another method, because
 * middleware has replaced the one that came. None: nothing says who answers. Whether all of them are only for `OPTIONS`, how many routes
 * may run, and where those are mounted that may go on.
 * @param {Route[]} routes that fit, in their order
 * @param {string} method
 */
function taken(routes, method) {
  const end = routes.findIndex(answers);
  const running = end < 0 ? routes : routes.slice(0, end + 1);
  const all = answering(running);
  const mounts = running.filter((route) => !all.includes(route) && !isGate(unwrapped(route.handler))).map(({ path }) => path.replace(/\/?\*$/, ""));
  // Hono has the routes of `GET` answer `HEAD`.
  const methods = ["ALL", method, method === "HEAD" ? "GET" : method];
  const templates = new Set(all.map((route) => (methods.includes(route.method) ? templateOf(route.path) : null)));
  return { templates: templates.size === 0 ? [null] : [...templates], isForOptions: all.every((route) => route.method === "OPTIONS"), count: running.length, mounts };
}

/**
 * A template of Hono, `/users/:id{[0-9]+}`, as Express 4 would have it: a colon within a segment is a literal.
 * @param {string} path
 */
function templateOf(path) {
  const parts = path.split(/(\/:[^/{}]+\{(?:[^{}]|\{[^{}]*\})*\})/);
  const literal = (/** @type {string} */ part) => part.split("/").map((segment) => segment.replace(/(?<=.)[:*]/g, "\\$&")).join("/");
  return parts.map((part, at) => (at % 2 === 0 ? literal(part) : part.replace(/\{(.*)\}$/, (_, pattern) => `(${pattern.replaceAll("/", "\\x2f")})`))).join("");
}

/** The routes of an application of Hono. @type {(routes: Route[]) => import("../../gate.js").ServedRoute[]} */
const routesOfHono = (routes) => answering(routes).map((route) => {
  const { method, path } = route;
  const at = routes.indexOf(route);
  const gated = routes.slice(0, at).some((other) => isGate(unwrapped(other.handler)) && ["ALL", method].includes(other.method) && covers(other.path, path));
  return { method, template: templateOf(path), gated };
});

/**
 * Whether every path of one pattern is also one of another.
 * @param {string} outer
 * @param {string} inner
 */
function covers(outer, inner) {
  const [wide, narrow] = [outer.split("/"), inner.split("/")];
  const isRest = wide.at(-1) === "*";
  const fits = (/** @type {string} */ segment, /** @type {number} */ at) => segment === narrow[at] || /^:[^{]*$/.test(segment) || (segment === "*" && at < narrow.length);
  const start = isRest ? wide.slice(0, -1) : wide;
  return (isRest ? narrow.length >= start.length : narrow.length === start.length) && start.every(fits);
}

module.exports = { taken, routesOfHono };
