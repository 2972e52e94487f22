"use strict";
const { functions, text } = require("./library.js");
const { CODES, DENIALS, effectOf, chargeOf, detailOf, routeOf, scopeOf, reasonOf } = require("./layout.js");
const { NAMES } = require("./names.js");

const METHOD_NOT_DECLARED = "method_not_declared";

const HALF = 2 ** 32;

/** @typedef {InstanceType<typeof import("./table.js").Table>} Table */

/** @param {number} packed */
const halves = (packed) => ({ low: packed % HALF, high: Math.floor(packed / HALF) });

/**
 * Names that live as long as the library, by their numbers.
 * @param {(number: number) => any} ask
 */
function names(ask) {
  /** @type {Map<number, string | null>} */
  const known = new Map();
  return (/** @type {number} */ number) => {
    if (!known.has(number)) {
      known.set(number, text(ask(number)));
    }
    return known.get(number) ?? null;
  };
}

const reasonName = names(functions.reasonName);
const detailName = names(functions.detailName);

/** A decision in the words of every other interface. */
class Decision {
  #methods;
  #about;

  /**
   * @param {Table} table
   * @param {number} packed whose route and scope the table has met
   */
  constructor(table, packed) {
    const { low, high } = halves(packed);
    const [route, scope] = [table.route(routeOf(low)), table.scope(scopeOf(high))];
    const reason = reasonName(reasonOf(high));
    const undeclared = reason === METHOD_NOT_DECLARED;
    this.isAllow = effectOf(low) === CODES.EFFECT_ALLOW;
    this.decision = this.isAllow ? NAMES.EFFECT_ALLOW : NAMES.EFFECT_DENY;
    this.httpStatus = this.isAllow ? null : DENIALS[reasonOf(high)] ?? CODES.DEFAULT_HTTP_STATUS;
    this.reason = reason;
    this.detail = detailOf(low) === 0 ? null : detailName(detailOf(low));
    const named = undeclared || scope !== undefined ? route?.listed : undefined;
    this.api = named?.api ?? scope?.api ?? null;
    this.route = (undeclared ? named?.template : named?.route) ?? null;
    this.scope = scope?.name ?? null;
    const needed = scope && route?.listed.scopes;
    this.scopes = needed && (needed.length > 1 || needed[0].length > 1) ? needed : null;
    this.charge = charge(chargeOf(low), (route ?? scope)?.amount ?? 0);
    this.policy = table.digest;
    this.#methods = undeclared ? route?.listed.methods ?? null : null;
    this.#about = undeclared ? null : route?.listed.route ?? null;
    Object.freeze(this);
  }

  // The JSON has neither methods nor what the request is about.
  get declaredMethods() {
    return this.#methods;
  }

  get about() {
    return this.#about;
  }

  toJSON() {
    const { decision, httpStatus: status, reason, detail, api, route, scope, scopes, charge, policy } = this;
    const orbs = charge && {
      consumes: charge.consumes,
      amount: jsonAmount(charge.amount),
      bonus_allowed: charge.bonusAllowed,
    };
    return { decision, status, reason, detail, api, route, scope, ...(scopes && { scopes }), orbs, policy };
  }
}

/**
 * @param {number} bits
 * @param {number | bigint} amount
 * @returns {import("../index.js").Charge | null}
 */
function charge(bits, amount) {
  return (bits & CODES.CHARGE_STATED) === 0 ? null : Object.freeze({
    consumes: (bits & CODES.CHARGE_CONSUMES) !== 0,
    amount: (bits & CODES.CHARGE_AMOUNT_STATED) === 0 ? null : BigInt(amount),
    bonusAllowed: (bits & CODES.CHARGE_BONUS_ALLOWED) !== 0,
  });
}

/** @param {bigint | null} amount */
function jsonAmount(amount) {
  const number = Number(amount);
  return amount === null ? null : Number.isSafeInteger(number) ? number : String(amount);
}

module.exports = { Decision, HALF, halves };
