"use strict";
// Which of the handlers of Hono answer a request, and at which templates.

/** @typedef {{ method: string, path: string, handler: Function & { __COMPOSED_HANDLER?: Function } }} Route */

/** The handler itself: a mounted application with an `onError` of its own wraps it. @type {(handler: Route["handler"]) => Function} */
const unwrapped = (handler) => (handler.__COMPOSED_HANDLER === undefined ? handler : unwrapped(handler.__COMPOSED_HANDLER));

/** Whether a handler cannot but answer. Hono, too, tells handlers from middleware by whether they take `next`. */
const answers = (/** @type {Route} */ { handler }) => unwrapped(handler).length < 2;

/** Whether it may: it takes `next`, and is for one method and for paths of one form. */
const mayAnswer = (/** @type {Route} */ { method, path }) => method !== "ALL" && !path.includes("*");

/**
 * The templates of the handlers that may answer a request, up to the first that must. None: nothing says who answers.
 * @param {Route[]} routes that fit, in their order
 */
function taken(routes) {
  const end = routes.findIndex(answers);
  const all = end < 0 ? routes : routes.slice(0, end + 1);
  return new Set(all.filter((route) => answers(route) || mayAnswer(route)).map(({ path }) => templateOf(path)));
}

/**
 * A template of Hono, `/users/:id{[0-9]+}`, as Express would have it: a colon within a segment is a literal.
 * @param {string} path
 */
function templateOf(path) {
  const plain = path.replace(/\/:([^/{}]+)\{(?:[^{}]|\{[^{}]*\})*\}/g, "/:$1");
  return plain.split("/").map((segment) => segment.replace(/(?<=.)[:*]/g, "\\$&")).join("/");
}

/** The routes of an application of Hono. @type {(routes: Route[]) => import("../../gate.js").ServedRoute[]} */
const routesOfHono = (routes) => (
  routes.filter((route) => answers(route) || mayAnswer(route)).map(({ method, path }) => ({ method, template: templateOf(path) }))
);

module.exports = { taken, routesOfHono };
