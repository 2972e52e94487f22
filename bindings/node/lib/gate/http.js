"use strict";
// Requests and responses of Node's servers: `node:http`, Connect, Express, and Fastify above them.
const { Allowed, allow } = require("./allowed.js");
const { FAULT } = require("./answer.js");
const { againOf, logOf } = require("./gate.js");
const { compareRoutes } = require("./routed.js");
const { templateOf } = require("./routes.js");

/**
 * @typedef {import("../../gate.js").Answer} Answer
 * @typedef {import("../../gate.js").IncomingRequest} Request
 * @typedef {import("../../gate.js").OutgoingResponse} Response
 * @typedef {InstanceType<typeof import("./gate.js").Gate>} Gate
 */

/** The bytes that came over the wire, which Node reads as latin1. */
const wire = (/** @type {string} */ text) => Buffer.from(text, "latin1");

/**
 * @param {Request} request
 * @param {string | null} [template] that a router has taken
 * @returns {import("../../gate.js").Question}
 */
function questionOf(request, template) {
  const { method = "", url = "", originalUrl = url, rawHeaders } = request;
  const authorization = rawHeaders.filter((_, at) => at % 2 === 1 && /^authorization$/i.test(rawHeaders[at - 1] ?? "")).map(wire);
  const headerNames = Object.keys(request.headers).filter((name) => name.includes("method"));
  return { method, target: wire(originalUrl), authorization, headerNames, ...template === undefined ? {} : { template } };
}

/**
 * The template of the route of Express that a request is in, if it is in one.
 * @param {Request} request
 */
const routeOf = ({ baseUrl = "", route }) => (
  // What is cut off is text of the path: no colon in it begins a parameter.
  route === undefined || route === null ? undefined : templateOf(baseUrl.replace(/[:*]/g, "\\$&"), route.path)
);

/**
 * Answers a denial: nothing but its status and what HTTP wants with it.
 * @param {Response} response
 * @param {{ httpStatus: number | null, headers: Readonly<Record<string, string>> }} answer
 */
function refuse(response, { httpStatus, headers }) {
  response.writeHead(httpStatus ?? FAULT.httpStatus, { "content-length": "0", ...headers });
  response.end();
}

/**
 * Does one of two things with the answer to a question, at once if it is there. What fails is a denial.
 * @param {Gate} gate
 * @param {() => Answer | Promise<Answer>} ask
 * @param {Response} response
 * @param {(answer: Answer) => void} next
 */
function answered(gate, ask, response, next) {
  const settle = (/** @type {Answer} */ answer) => (answer.isAllow ? next(answer) : refuse(response, answer));
  const fail = (/** @type {unknown} */ error) => {
    logOf(gate).error(`orbgate: a request is denied: ${error instanceof Error ? error.message : error}`);
    refuse(response, FAULT);
  };
  let answer;
  try {
    answer = ask();
  } catch (error) {
    return fail(error);
  }
  return answer instanceof Promise ? void answer.then(settle, fail) : settle(answer);
}

/** Which gates have let a request through: where it comes to one of them again, it is asked about and not counted. @type {WeakMap<object, Set<Gate>>} */
const passed = new WeakMap();

/**
 * Lets a request through, or answers it.
 * @param {Gate} gate
 * @param {Request} request
 * @param {Response} response
 * @param {string | null | undefined} template
 * @param {(answer: Answer) => void} next
 */
function pass(gate, request, response, template, next) {
  const question = questionOf(request, template);
  const gates = passed.get(request) ?? new Set();
  const ask = () => (gates.has(gate) ? againOf(gate, question) : gate.answer(question));
  answered(gate, ask, response, (answer) => {
    passed.set(request, gates.add(gate));
    allow(request, new Allowed(question, answer));
    next(answer);
  });
}

/**
 * @param {Gate} gate
 * @param {(request: any, response: any) => void} next
 */
function listener(gate, next) {
  return (/** @type {any} */ request, /** @type {any} */ response) => pass(gate, request, response, undefined, () => next(request, response));
}

/** @param {Gate} gate */
function middleware(gate) {
  /** What routers have taken where it was the decided one, so that they are compared once. @type {Set<string>} */
  const agreed = new Set();

  return (/** @type {any} */ request, /** @type {any} */ response, /** @type {() => void} */ next) => {
    const taken = routeOf(request);
    pass(gate, request, response, taken, ({ decision }) => {
      if (taken === undefined) {
        compareRoutes(request, (goOn) => {
          const template = routeOf(request) ?? null;
          const pair = `${decision.policy} ${decision.route} ${template}`;
          if (agreed.has(pair)) {
            return goOn();
          }
          return answered(gate, () => againOf(gate, questionOf(request, template)), response, () => {
            agreed.add(pair);
            goOn();
          });
        });
      }
      next();
    });
  };
}

module.exports = { listener, middleware, pass };
