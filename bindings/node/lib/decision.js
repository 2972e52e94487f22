"use strict";
const { functions, text } = require("./native.js");

const ALLOW = 2;
const CHARGE_STATED = 1;
const CHARGE_CONSUMES = 2;
const CHARGE_AMOUNT_STATED = 4;
const CHARGE_BONUS_ALLOWED = 8;
const METHOD_NOT_DECLARED = "method_not_declared";

const HALF = 2 ** 32;

/** @typedef {InstanceType<typeof import("./table.js").Table>} Table */

/** The fields of a packed decision, as the C header draws them: those of its lower half, and those of its upper half. */
const effectOf = (/** @type {number} */ low) => low & 3;
const chargeOf = (/** @type {number} */ low) => low >>> 2 & 15;
const detailOf = (/** @type {number} */ low) => low >>> 6 & 255;
const routeOf = (/** @type {number} */ low) => low >>> 14;
const scopeOf = (/** @type {number} */ high) => high & 0xffff;
/** With effect 0 it is the status. */
const reasonOf = (/** @type {number} */ high) => high >>> 16 & 31;

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

  /**
   * @param {Table} table
   * @param {number} packed whose route and scope the table has met
   */
  constructor(table, packed) {
    const { low, high } = halves(packed);
    const [route, scope] = [table.route(routeOf(low)), table.scope(scopeOf(high))];
    const reason = reasonName(reasonOf(high));
    const undeclared = reason === METHOD_NOT_DECLARED;
    this.isAllow = effectOf(low) === ALLOW;
    this.decision = this.isAllow ? "allow" : "deny";
    this.status = this.isAllow ? null : functions.reasonStatus(reasonOf(high));
    this.reason = reason;
    this.detail = detailOf(low) === 0 ? null : detailName(detailOf(low));
    this.api = scope?.api ?? route?.listed.api ?? null;
    this.route = (undeclared ? route?.listed.template : route?.listed.route) ?? null;
    this.scope = scope?.name ?? null;
    this.orbs = orbs(chargeOf(low), (route ?? scope)?.amount ?? 0);
    this.policy = table.digest;
    this.#methods = undeclared ? route?.listed.methods ?? null : null;
    Object.freeze(this);
  }

  // Not among the words: the JSON of every interface does not have it.
  get declaredMethods() {
    return this.#methods;
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
  return (charge & CHARGE_STATED) === 0 ? null : Object.freeze({
    consumes: (charge & CHARGE_CONSUMES) !== 0,
    amount: (charge & CHARGE_AMOUNT_STATED) === 0 ? null : BigInt(amount),
    bonusAllowed: (charge & CHARGE_BONUS_ALLOWED) !== 0,
  });
}

/** @param {bigint | null} amount */
function jsonAmount(amount) {
  const number = Number(amount);
  return amount === null ? null : Number.isSafeInteger(number) ? number : String(amount);
}

module.exports = { Decision, ALLOW, HALF, halves, effectOf, routeOf, scopeOf, reasonOf };
