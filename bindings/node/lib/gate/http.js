"use strict";
// Requests and responses of Node's servers: `node:http`, Connect, Express, and Fastify above them.
const { subscribe } = require("#system");
const { Allowed, allow } = require("./allowed.js");
const { FAILURE } = require("./answer.js");
const { bodyOf } = require("./body.js");
const { stateOn } = require("./cors.js");
const { gateWithin, takenOf } = require("./express-routes.js");
const { logOf } = require("./gate.js");
const { guardBy, intercept, isGuarded, unguarded } = require("./guard.js");
const { compareMounts } = require("./mounts.js");
const { again, askOnce, charged, settle, settleAtEnd } = require("./passed.js");
const { settleBy } = require("./orbs.js");
const { compareRoutes, isForOptions } = require("./routed.js");
const { anyUnplaced, asGate, place } = require("./seen.js");

/**
 * @typedef {import("../../gate.js").Answer} Answer
 * @typedef {import("../../gate.js").IncomingRequest} Request
 * @typedef {import("../../gate.js").OutgoingResponse} Response
 * @typedef {import("../../gate.js").Question} Question
 * @typedef {InstanceType<typeof import("./gate.js").Gate>} Gate
 */

/** The bytes that came over the wire, which Node reads as latin1. */
const wire = (/** @type {string} */ text) => Buffer.from(text, "latin1");

/** The headers whose values a gate reads. */
const VALUES = ["authorization", "upgrade", "origin", "access-control-request-method", "access-control-request-headers", "dpop"];

/**
 * @param {Request} request
 * @param {string | null} [template] that a router has taken
 * @returns {Question}
 */
function questionOf(request, template) {
  // Requests of a server have `rawHeaders`; those that tests make up might not.
  const { method = "", url = "", originalUrl = url, headers, rawHeaders = Object.entries(headers).flat() } = request;
  const values = VALUES.map(() => /** @type {Buffer[]} */ ([]));
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = [rawHeaders[at], rawHeaders[at + 1]];
    values[VALUES.indexOf(name.toLowerCase())]?.push(wire(value));
  }
  const [authorization = [], upgrade = [], origin, accessControlRequestMethod, accessControlRequestHeaders, dpop] = values;
  const headerNames = namesOf(Object.keys(headers));
  const message = async (/** @type {import("../../gate.js").Room} */ room) => ({ headers: linesOf(rawHeaders), ...await bodyOf(request, room) });
  const certificate = certificateOf(request);
  const question = {
    method, target: wire(originalUrl), authorization, dpop, certificate, upgrade, origin, accessControlRequestMethod, accessControlRequestHeaders, headerNames, message,
  };
  return template === undefined ? question : { ...question, template };
}

/**
 * The certificate with which the client has authenticated its connection.
 * @param {any} request of `node:http` or `node:http2`
 * @returns {Uint8Array | undefined}
 */
function certificateOf({ socket, stream }) {
  const connection = stream?.session?.socket ?? socket;
  return connection?.encrypted === true ? connection.getPeerX509Certificate?.()?.raw : undefined;
}

/**
 * Each header line.
 * @param {readonly string[]} rawHeaders
 */
const linesOf = (rawHeaders) => rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [/** @type {const} */ ([wire(name), wire(rawHeaders[at + 1] ?? "")])] : []));

/** Of the names of headers, in small letters, those that a gate wants. */
const namesOf = (/** @type {string[]} */ names) => names.filter((name) => name.includes("method"));

/**
 * Answers a denial: its status and what HTTP wants with it, and a body at an MCP endpoint. While a gate waits for keys, something else may have answered, such as a
 * time limit of the service.
 * @param {Response} response
 * @param {{ httpStatus: number | null, headers: Readonly<Record<string, string>>, body?: Uint8Array | null }} answer
 */
function refuse(response, { httpStatus, headers, body }) {
  if (response.headersSent === true) {
    return;
  }
  response.writeHead(httpStatus ?? FAILURE.httpStatus, { "content-length": String(body?.length ?? 0), ...headers });
  response.end(...body ? [body] : []);
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
    refuse(response, FAILURE);
  };
  let answer;
  try {
    answer = ask();
  } catch (error) {
    return fail(error);
  }
  return answer instanceof Promise ? void answer.then(settle, fail) : settle(answer);
}

/**
 * Lets a request through, or answers it.
 * @param {Gate} gate
 * @param {Request} request
 * @param {Response} response
 * @param {Question} question
 * @param {() => boolean} isSame whether the request has the method and the path that are decided
 * @param {(answer: Answer) => void} next
 */
function pass(gate, request, response, question, isSame, next) {
  answered(gate, () => askOnce(gate, request, question), response, (answer) => {
    allow(request, new Allowed(question, answer), isSame);
    // Fastify's reply has the server's own.
    const { raw = response } = /** @type {{ raw?: any }} */ (response);
    stateOn(raw, answer.headers);
    const holds = (/** @type {Answer} */ last, /** @type {any} */ held) => {
      allow(request, new Allowed(question, last, held), isSame);
      settleBy(held, raw);
    };
    answered(gate, () => charged(gate, request, { headers: request.headers, hasLeft: () => raw.destroyed === true }, question, answer, holds), response, next);
  });
}

/**
 * Lets a request through to handlers that nothing compares, or answers it.
 * @param {Gate} gate
 * @param {Request} request
 * @param {Response} response
 * @param {() => void} next
 */
function passOn(gate, request, response, next) {
  pass(gate, request, response, questionOf(request), sameAs(request), () => {
    settle(gate, request);
    next();
  });
}

/**
 * Denies a request that the gate has let through: its handler is not one that was decided about.
 * @param {Gate} gate
 * @param {object} request of the server
 * @param {Response} response
 * @param {Question} question
 */
const misroute = (gate, request, response, question) => answered(gate, () => again(gate, request, { ...question, template: null }), response, () => {});

/** What was logged of each server. @type {WeakMap<object, Set<string>>} */
const told = new WeakMap();

/**
 * Logs a message once for each server.
 * @param {Gate} gate
 * @param {object} server
 * @param {"warn" | "error"} level
 * @param {string} message
 */
function tell(gate, server, level, message) {
  const all = told.get(server) ?? new Set();
  if (!all.has(message)) {
    told.set(server, all.add(message));
    logOf(gate)[level](`orbgate: ${message}`);
  }
}

/**
 * Whether the server of a request has listeners that get requests without a gate. Then nothing passes, so that it is noticed.
 * @param {Gate} gate
 * @param {any} request
 * @param {import("../../gate.js").GuardedServer} [server]
 */
function isOpen(gate, request, server = request.socket?.server) {
  if (server === undefined) {
    return false; // Serverless adapters call a handler without a server.
  }
  watch(gate, server);
  if (server.listenerCount("request") > 1) {
    // It might only count or time requests.
    tell(gate, server, "warn", "the server has several listeners for `request`: each gets every request, and the gate sees those of its own");
  }
  const event = unguarded(server, request.stream?.session);
  if (event !== undefined) {
    const advice = event === "stream" ? "handle requests instead of streams" : "call `guard(gate, server)`";
    tell(gate, server, "error", `every request is denied: the server's listeners for \`${event}\` get requests without a gate: ${advice}`);
  }
  return event !== undefined;
}

/**
 * @param {Gate} gate
 * @param {import("../../gate.js").GuardedServer} server
 */
function guard(gate, server) {
  place(gate);
  guardBy(server, (request, response, next) => passOn(gate, request, response, next));
  return server;
}

/** The servers that are known to have a gate, so that what passes it is refused until there is a guard. @type {WeakSet<object>} */
const watched = new WeakSet();

/**
 * @param {Gate} gate
 * @param {import("../../gate.js").GuardedServer} server
 */
function watch(gate, server) {
  place(gate);
  if (!watched.has(server)) {
    watched.add(server);
    intercept(server, (request, response, next) => (isOpen(gate, request, server) ? refuse(response, FAILURE) : next()));
  }
}

/** The servers that might have a gate behind a function. @type {WeakSet<object>} */
const suspected = new WeakSet();

/**
 * Refuses what passes the request handler for as long as this server might be that of a gate that no request has reached.
 * @param {import("../../gate.js").GuardedServer} server
 */
function suspect(server) {
  suspected.add(server);
  intercept(server, (_, response, next) => {
    const gate = watched.has(server) || isGuarded(server) ? undefined : anyUnplaced();
    if (gate === undefined) {
      return next();
    }
    tell(gate, server, "error", "an upgrade is denied: no request has reached Hono's gate yet, and this server might be its own: call `guard(gate, server)`");
    return refuse(response, FAILURE);
  });
}

// A server is known by its connection: before its first request, which might be an upgrade.
subscribe("net.server.socket", (/** @type {any} */ { socket: { server } }) => {
  if (server === undefined || watched.has(server)) {
    return;
  }
  const listeners = server.listeners("request");
  const gate = listeners.map((/** @type {unknown} */ one) => gateWithin(one)).find((/** @type {unknown} */ one) => one !== undefined);
  if (gate !== undefined) {
    watch(gate, server);
  } else if (!suspected.has(server) && anyUnplaced() !== undefined && listeners.some((/** @type {any} */ one) => typeof one.handle !== "function")) {
    // An application of Express or Connect can be looked into; another function might call anything.
    suspect(server);
  }
});

/**
 * @param {Gate} gate
 * @param {(request: any, response: any) => void} next
 */
function listener(gate, next) {
  return asGate(gate, (/** @type {any} */ request, /** @type {any} */ response) => (
    isOpen(gate, request) ? refuse(response, FAILURE) : passOn(gate, request, response, () => next(request, response))
  ));
}

/**
 * The template of the route of Express that a request is in, if it is in one.
 * @param {Request} request
 */
const routeOf = ({ baseUrl = "", url = "", route }) => (
  // What is cut off is text of the path: no colon in it begins a parameter.
  route === undefined || route === null ? undefined : takenOf(baseUrl.replace(/[:*]/g, "\\$&"), route.path, baseUrl + pathOf(url))
);

const pathOf = (/** @type {string} */ url) => url.split("?", 1)[0] ?? "";

/**
 * Whether something has replaced the path that came. What a mounted router of Express cuts off is in `baseUrl`; Connect does not say what it cuts
 * off, so only what is not an end of the path, or all of it, is seen.
 * @param {Request} request
 * @param {string} [baseUrl]
 */
function isRewritten({ url = "", originalUrl = url, baseUrl: cut }, baseUrl = cut) {
  const [seen, came] = [pathOf(url), pathOf(originalUrl)];
  return baseUrl === undefined ? seen !== "/" && !came.endsWith(seen) : baseUrl + seen !== came && !(seen === "/" && baseUrl === came);
}

/**
 * Whether a request has the method and the path that it has now.
 * @param {Request} request
 */
function sameAs(request) {
  const came = (/** @type {Request} */ { url = "", originalUrl = url }) => pathOf(originalUrl);
  const [method, path] = [request.method, came(request)];
  return () => request.method === method && came(request) === path && !isRewritten(request);
}

/**
 * The template that a request was decided by.
 * @param {Answer} answer
 */
const templateOf = ({ decision: { route }, publicTemplate }) => publicTemplate ?? route?.split(" ")[1] ?? "";

/**
 * Compares what Express has handle a request that the gate has let through, from now on: each route, and each mount.
 * @param {Gate} gate
 * @param {Request} request
 * @param {Response} response
 * @param {Question} question
 * @param {Answer} answer
 * @param {() => boolean} isSame
 * @param {Set<string>} agreed what routers have taken where it was the decided one, so that they are compared once
 */
function compare(gate, request, response, question, answer, isSame, agreed) {
  const { decision, publicTemplate, preflight } = answer;
  compareRoutes(request, (goOn) => {
    // A handler that sees another method or path was not decided about.
    const template = isSame() && !(preflight && !isForOptions(request.route)) ? routeOf(request) ?? null : null;
    const pair = `${decision.policy} ${decision.route ?? publicTemplate} ${template}`;
    const taken = () => {
      settle(gate, request);
      agreed.add(pair);
      goOn();
    };
    return agreed.has(pair) ? taken() : answered(gate, () => again(gate, request, { ...question, template }), response, taken);
  });
  compareMounts(request, (covers) => {
    const isDecided = isSame() && covers(templateOf(answer));
    if (!isDecided) {
      misroute(gate, request, response, question);
    }
    return isDecided;
  });
}

/** @param {Gate} gate */
function middleware(gate) {
  /** @type {Set<string>} */
  const agreed = new Set();

  return asGate(gate, (/** @type {any} */ request, /** @type {any} */ response, /** @type {() => void} */ next) => {
    if (isOpen(gate, request)) {
      return refuse(response, FAILURE);
    }
    const question = questionOf(request, isRewritten(request) ? null : routeOf(request));
    const isSame = sameAs(request);
    return pass(gate, request, response, question, isSame, (answer) => {
      if (request.route && answer.preflight && !isForOptions(request.route)) {
        return misroute(gate, request, response, question);
      }
      settleAtEnd(gate, request, response);
      compare(gate, request, response, question, answer, isSame, agreed);
      next();
    });
  });
}

module.exports = { VALUES, certificateOf, compare, guard, isOpen, isRewritten, listener, middleware, misroute, namesOf, pass, questionOf, refuse, sameAs, templateOf };
