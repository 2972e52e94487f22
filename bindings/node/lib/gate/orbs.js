"use strict";
// The orbs of a call: held before its handler, settled by how its answer ends.

const { check } = require("../errors.js");
const { lengthOf } = require("../text.js");
const { gates } = require("./abi.js");

/** @typedef {InstanceType<typeof import("./ledger.js").Ledger>} Ledger */

/** What a request holds. */
class Held {
  #ledger;
  #id;
  #isOver = false;
  /** @type {number | undefined} */
  #stated;

  /**
   * @param {Ledger} ledger
   * @param {Uint8Array} id
   */
  constructor(ledger, id) {
    this.#ledger = ledger;
    this.#id = id;
  }

  /** @param {number} amount */
  state(amount) {
    if (!Number.isSafeInteger(amount) || amount < 0) {
      throw new TypeError("an amount of orbs is an integer from 0");
    }
    this.#stated = amount;
  }

  /**
   * The handler has ended. Only the first time counts.
   * @param {{ cancelled?: boolean, status?: number, neverRan?: boolean }} outcome
   */
  end({ cancelled = false, status = 0, neverRan = false }) {
    if (!this.#isOver) {
      this.#isOver = true;
      const stated = this.#stated === undefined ? {} : { stated: this.#stated };
      this.#ledger.ended(this.#id, { cancelled, status, neverRan, ...stated });
    }
  }
}

/**
 * Settles by the answer that a handler gives: by its status as soon as it is complete, even if nobody reads it.
 * @param {Held} held
 * @param {any} response of the server
 */
function settleBy(held, response) {
  if (typeof response.once !== "function") {
    held.end({ status: 101 }); // A handshake.
    return;
  }
  if (response.destroyed) {
    held.end({ neverRan: true });
    return;
  }
  let hasBegun = false;
  const { write, end } = response;
  const isOf = (/** @type {any} */ piece) => piece !== undefined && piece !== null && typeof piece !== "function" && piece.length > 0;
  response.write = /** @this {any} @param {any[]} all */ function writing(...all) {
    hasBegun ||= isOf(all[0]);
    return write.apply(this, all);
  };
  response.end = /** @this {any} @param {any[]} all */ function ending(...all) {
    held.end({ status: response.statusCode });
    return end.apply(this, all);
  };
  response.once("close", () => {
    const hasFailed = response.errored !== null && response.errored !== undefined && !hasBegun;
    held.end(hasFailed ? {} : { cancelled: true });
  });
}

/**
 * Whether the body of a request allows bonus orbs: not if its length isn't stated, or is over the limit. The service gets the same bytes.
 * @param {import("../../gate.js").Question} question
 * @param {Readonly<Record<string, any>>} headers
 * @param {number} limit
 */
async function readsBonus({ message }, headers, limit) {
  if (!(Number(headers["content-length"]) > 0)) {
    return false;
  }
  const { body } = await message?.({ mostBytes: limit, take: () => () => {} }) ?? {};
  return body !== undefined && allowsBonusOrbs(body);
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

module.exports = { Held, allowsBonusOrbs, readsBonus, settleBy };
