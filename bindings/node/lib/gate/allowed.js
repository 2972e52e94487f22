"use strict";
// What a service is told of a request that its gate let through.
const { CODES } = require("../layout.js");
const { check } = require("../errors.js");
const { lengthOf } = require("../text.js");
const { gates } = require("./abi.js");
const { engineOf } = require("./answer.js");

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

  /**
   * @param {Question} question
   * @param {Answer} answer
   */
  constructor(question, answer) {
    this.#engine = engineOf(answer);
    this.#question = question;
    this.decision = /** @type {import("../../index.js").Allow} */ (answer.decision);
    this.token = answer.token;
    Object.freeze(this);
  }

  /** @param {unknown} [body] */
  charge(body = "") {
    const { method, target } = this.#question;
    return this.token === null || !allowsBonusOrbs(body) ? this.decision.charge : this.#engine.decide(method, target, this.token, { allowBonusOrbs: true }).charge;
  }
}

/**
 * Whether a body allows bonus orbs. Text and bytes are as they came; anything else is what a parser has made of JSON.
 * @param {unknown} body
 */
function allowsBonusOrbs(body) {
  if (body === null || typeof body === "number" || typeof body === "boolean") {
    return false;
  }
  if (typeof body === "object" && !ArrayBuffer.isView(body) && !(body instanceof ArrayBuffer)) {
    return Object.hasOwn(body, BONUS) && /** @type {Record<string, unknown>} */ (body)[BONUS] === true;
  }
  const raw = /** @type {import("../../index.js").Text} */ (body); // Anything but a text throws.
  const allows = [0];
  check(gates.allowsBonusOrbs(raw, lengthOf(raw), allows), "cannot read a body");
  return allows[0] === 1;
}

const BONUS = "allowBonusOrbsUse";

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
