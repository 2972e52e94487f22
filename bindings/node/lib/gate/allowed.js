"use strict";
// What a service is told of a request that its gate let through.
const { engineOf } = require("./answer.js");
const { stated } = require("./cors.js");
const { allowsBonusOrbs } = require("./orbs.js");

/**
 * @typedef {import("../../gate.js").Answer} Answer
 * @typedef {import("../../gate.js").Question} Question
 */

/**
 * By its request; what is not there was not allowed. And whether the request still has the method and the path that were decided.
 * @type {WeakMap<object, { what: Allowed, isSame: () => boolean }>}
 */
const known = new WeakMap();

class Allowed {
  #engine;
  #question;
  #headers;
  #held;

  /**
   * @param {Question} question
   * @param {Answer} answer
   * @param {InstanceType<typeof import("./orbs.js").Held> | null} [held]
   */
  constructor(question, answer, held = null) {
    this.#engine = engineOf(answer);
    this.#headers = answer.headers;
    this.#question = question;
    this.#held = held;
    this.decision = /** @type {import("../../index.js").Allow} */ (answer.decision);
    this.token = answer.token;
    this.holdId = held?.name ?? null;
    Object.freeze(this);
  }

  /** @param {number} amount */
  stateOrbs(amount) {
    this.#held?.state(amount);
    return this.#held !== null;
  }

  /** @param {Response} response */
  respond(response) {
    return stated(response, this.#headers);
  }

  /** @param {unknown} [body] */
  charge(body = "") {
    const { method, target } = this.#question;
    return this.token === null || !allowsBonusOrbs(body) ? this.decision.charge : this.#engine.decide(method, target, this.token, { allowBonusOrbs: true }).charge;
  }
}

/** @param {object} request */
function entryOf(request) {
  // Requests of Fastify and of Hono's context have the server's own.
  const { raw = request } = /** @type {{ raw?: object }} */ (request);
  return known.get(raw);
}

/**
 * @param {object} request
 * @returns {Allowed | undefined}
 */
function findAllowed(request) {
  const entry = entryOf(request);
  return entry?.isSame() ? entry.what : undefined;
}

/**
 * @param {object} request
 * @returns {Allowed}
 */
function allowed(request) {
  const entry = entryOf(request);
  if (entry === undefined) {
    throw new Error("no gate has allowed this request: put the gate before this handler");
  }
  if (!entry.isSame()) {
    throw new Error("the gate has allowed another request than this: something inside the gate has changed the method or the path");
  }
  return entry.what;
}

/**
 * @param {object} request
 * @param {Allowed} what
 * @param {() => boolean} isSame
 */
const allow = (request, what, isSame) => known.set(request, { what, isSame });

module.exports = { Allowed, allowed, findAllowed, allow };
