"use strict";
const { functions, sizes, text } = require("./native.js");
const { check } = require("./errors.js");

const ALLOW = 2;
const CHARGE_STATED = 1;
const CHARGE_CONSUMES = 2;
const CHARGE_AMOUNT_STATED = 4;
const CHARGE_BONUS_ALLOWED = 8;

/** A decision in the words of the library. */
class Decision {
  /**
   * @param {any} decision
   * @param {any} words
   */
  constructor(decision, words) {
    this.isAllow = decision.effect === ALLOW;
    this.decision = text(words.decision);
    this.status = decision.http_status === 0 ? null : decision.http_status;
    this.reason = text(words.reason);
    this.detail = text(words.detail);
    this.api = text(words.api);
    this.route = text(words.route);
    this.scope = text(words.scope);
    this.orbs = orbs(decision);
    this.policy = text(words.policy);
    Object.freeze(this);
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
 * @param {any} decision
 * @returns {import("../index.js").Orbs | null}
 */
function orbs({ charge, amount }) {
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

/**
 * Puts a packed decision into words; one that no engine of this policy has made throws.
 * @param {number} engine
 * @param {number} packed
 * @returns {import("../index.js").Decision}
 */
function unpack(engine, packed) {
  const decision = {};
  check(functions.unpack(engine, packed, decision), "cannot decide");
  const words = { struct_size: sizes.DecisionText };
  check(functions.decisionText(engine, decision, words), "cannot put a decision into words");
  return /** @type {any} */ (new Decision(decision, words));
}

module.exports = { unpack, ALLOW };
