"use strict";
// Middleware for Hono. Its router finds every handler of a request before the first runs, so the one that will answer is known here.
const { taken } = require("./hono-routes.js");
const { findAllowed } = require("./allowed.js");
const { asGate, expect } = require("./seen.js");
const { misrouted, refused } = require("./web.js");

/** @typedef {InstanceType<typeof import("./orbs.js").Held>} Held */

/** Hono sends the response of such an error. */
class Misrouted extends Error {
  /** @param {() => any} getResponse */
  constructor(getResponse) {
    super("a handler continued to a route that the gate has not compared");
    this.getResponse = getResponse;
  }
}

/**
 * Lets no handler run after the one that was to answer. A function that takes `next` by `arguments` or `...` looks as if it took none.
 * @param {any} request of Hono, which has the index of the route that is about to run
 * @param {number} last
 * @param {() => any} deny
 */
function stopAfter(request, last, deny) {
  let { routeIndex } = request;
  Object.defineProperty(request, "routeIndex", {
    configurable: true,
    enumerable: true,
    get: () => routeIndex,
    set: (index) => {
      if (index > last) {
        throw new Misrouted(deny);
      }
      routeIndex = index;
    },
  });
}

/**
 * @param {InstanceType<typeof import("./gate.js").Gate>} gate
 * @param {import("../../gate.js").HonoOptions} [options]
 */
function hono(gate, { compare = true } = {}) {
  expect(gate);
  return asGate(gate, async (/** @type {any} */ context, /** @type {() => Promise<void>} */ next) => {
    const { raw, matchedRoutes, routeIndex } = context.req;
    const { templates, isForOptions, count, mounts } = taken(matchedRoutes.slice(routeIndex + 1), raw.method);
    // Node's server is known by the request that it has made this one of.
    const { incoming, outgoing } = context.env ?? {};
    /** @type {Held | undefined} */
    let held;
    const holds = (/** @type {Held} */ one) => void (held = one);
    const response = await refused(gate, raw, compare ? { templates, isForOptions, mounts } : { templates: [undefined], isForOptions, mounts: [] }, incoming, holds);
    if (response === undefined && compare) {
      stopAfter(context.req, routeIndex + count, () => misrouted(gate, raw, incoming));
    }
    if (response !== undefined) {
      return response;
    }
    await (held === undefined ? next() : settled(context, held, outgoing, next));
    const responded = findAllowed(raw)?.respond(context.res);
    if (responded !== undefined && responded !== context.res) {
      context.res = undefined; // It would keep the headers of the last one.
      context.res = responded;
    }
    return undefined;
  });
}

/**
 * Settles by the answer of the handler. The server ends an answer whose stream has failed as if it were complete, so the stream itself is watched.
 * @param {any} context of Hono
 * @param {Held} held
 * @param {any} outgoing the response of `node:http`
 * @param {() => Promise<void>} next
 */
async function settled(context, held, outgoing, next) {
  outgoing?.once?.("close", () => held.end({ cancelled: true }));
  try {
    await next();
  } catch (error) {
    held.end({});
    throw error;
  }
  const { status, body } = context.res;
  if (status >= 400 || body === null || context.req.raw.method === "HEAD") {
    held.end({ status });
    return;
  }
  held.response?.begin(context.res.headers);
  context.res = new Response(watched(body, held, status), context.res);
  void context.res.body; // So that the server states the length of what is there at once.
}

/**
 * @param {ReadableStream<Uint8Array>} body
 * @param {Held} held
 * @param {number} status
 */
function watched(body, held, status) {
  const reader = body.getReader();
  let hasBegun = false;
  return new ReadableStream({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (done) {
          held.end({ status });
          controller.close();
        } else {
          hasBegun ||= value.length > 0;
          held.response?.read(value);
          controller.enqueue(value);
        }
      } catch (error) {
        held.end(hasBegun ? { broken: true } : {});
        controller.error(error);
      }
    },
    cancel: (reason) => {
      held.end({ cancelled: true });
      return reader.cancel(reason);
    },
  });
}

module.exports = { hono };
