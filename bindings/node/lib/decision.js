"use strict";
const { functions, text } = require("./library.js");
const { CODES, effectOf, chargeOf, detailOf, routeOf, scopeOf, reasonOf } = require("./layout.js");

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
    this.decision = this.isAllow ? "allow" : "deny";
    this.status = this.isAllow ? null : functions.reasonStatus(reasonOf(high)) || CODES.DEFAULT_HTTP_STATUS;
    this.reason = reason;
    this.detail = detailOf(low) === 0 ? null : detailName(detailOf(low));
    const named = undeclared || scope !== undefined ? route?.listed : undefined;
    this.api = scope?.api ?? named?.api ?? null;
    this.route = (undeclared ? named?.template : named?.route) ?? null;
    this.scope = scope?.name ?? null;
    this.orbs = orbs(chargeOf(low), (route ?? scope)?.amount ?? 0);
    this.policy = table.digest;
    this.#methods = undeclared ? route?.listed.methods ?? null : null;
    this.#about = undeclared ? null : route?.listed.route ?? null;
    Object.freeze(this);
  }

  // Names of this interface: the JSON of every interface has `status` and `orbs`, and neither methods nor what it is about.
  get httpStatus() {
    return this.status;
  }

  get charge() {
    return this.orbs;
  }

  get declaredMethods() {
    return this.#methods;
  }

  get about() {
    return this.#about;
  }

  toJSON() {
    return { ...this, isAllow: undefined, orbs: this.orbs && {
      consumes: this.orbs.consumes,
      amount: jsonAmount(this.orbs.amount),
      bonus_allowed: this.orbs.bonusAllowed,
    } };
  }
}

/**
 * @param {number} charge
 * @param {number | bigint} amount
 * @returns {import("../index.js").Orbs | null}
 */
function orbs(charge, amount) {
  return (charge & CODES.CHARGE_STATED) === 0 ? null : Object.freeze({
    consumes: (charge & CODES.CHARGE_CONSUMES) !== 0,
    amount: (charge & CODES.CHARGE_AMOUNT_STATED) === 0 ? null : BigInt(amount),
    bonusAllowed: (charge & CODES.CHARGE_BONUS_ALLOWED) !== 0,
  });
}

/** @param {bigint | null} amount */
function jsonAmount(amount) {
  const number = Number(amount);
  return amount === null ? null : Number.isSafeInteger(number) ? number : String(amount);
}

module.exports = { Decision, HALF, halves };
