"use strict";
const { functions, Struct, addressOf } = require("./native.js");
const { OK, check } = require("./errors.js");
const { ALLOW } = require("./decision.js");
const { Column, Tokens, FIELDS, putColumn, putTokens } = require("./column.js");
const { kindOf, scopesOf, lengthOfScopes, setOf, flagsOf } = require("./token.js");

/** @typedef {import("../index.js").Text} Text */
/** @typedef {import("../index.js").Token | null} Token */

/** Where a 64-bit integer has its lower half. */
const LOW = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 0 : 1;
const HALF = 2 ** 32;
const EFFECT = 3;

/** The structs of a call, written anew for each. */
const given = new Struct(FIELDS.count);
const givenToken = new Struct(3);

/**
 * What the structs have addresses of, for as long as the call.
 * @type {unknown}
 */
let held = null;

class Decisions {
  #words;
  #decision;

  /**
   * @param {Uint32Array} words
   * @param {(packed: number) => import("../index.js").Decision} decision
   */
  constructor(words, decision) {
    this.#words = words;
    this.#decision = decision;
  }

  get length() {
    return this.#words.length / 2;
  }

  /** @param {number} row */
  isAllow(row) {
    return row >>> 0 === row && ((this.#words[2 * row + LOW] ?? 0) & EFFECT) === ALLOW;
  }

  /** @param {number} row */
  at(row) {
    const low = this.#words[2 * row + LOW];
    const high = this.#words[2 * row + 1 - LOW];
    if (!Number.isInteger(row) || low === undefined || high === undefined) {
      throw new RangeError(`there is no row ${row}: the batch has ${this.length}`);
    }
    return this.#decision(high * HALF + low);
  }

  *[Symbol.iterator]() {
    for (let row = 0; row < this.length; row++) {
      yield this.at(row);
    }
  }
}

/**
 * @param {number} engine
 * @param {import("../index.js").Batch} batch
 * @param {(packed: number) => import("../index.js").Decision} decision
 */
function decideBatch(engine, batch, decision) {
  const [methods, targets] = [columnOf(batch.methods), columnOf(batch.targets)];
  const rows = methods.length;
  sameLength("targets", targets, rows);
  const tokens = tokensOf(batch, rows);
  const bonus = bonusColumn(batch.allowBonusOrbs, rows);
  const memory = Buffer.allocUnsafe(2 * rows * Uint32Array.BYTES_PER_ELEMENT);
  const words = new Uint32Array(memory.buffer, memory.byteOffset, 2 * rows);
  held = [methods, targets, tokens, bonus, words];
  given.begin(bonus.flags);
  given.put(FIELDS.length, rows);
  putColumn(methods, given, FIELDS.methods);
  putColumn(targets, given, FIELDS.targets);
  putTokensOf(tokens);
  given.put(FIELDS.allowBonusOrbs, addressOf(bonus.column));
  // Arrays of nothing have null pointers, which say that there is no such column.
  const status = rows === 0 ? OK : functions.decideBatch(engine, given.address, addressOf(words), rows);
  held = null;
  check(status, "cannot decide a batch whose offsets do not fit its data");
  return new Decisions(words, decision);
}

/** @param {InstanceType<typeof Column> | readonly Text[]} column */
const columnOf = (column) => (column instanceof Column ? column : Column.from(column));

/**
 * @param {string} name
 * @param {{ length: number }} column
 * @param {number} rows
 */
function sameLength(name, column, rows) {
  if (column.length !== rows) {
    throw new RangeError(`\`${name}\` has ${column.length} rows, and \`methods\` has ${rows}`);
  }
}

/**
 * The columns of the rows' tokens, or the one token of all rows with the bytes of its scopes.
 * @param {{ token?: Token, tokens?: any }} batch
 * @param {number} rows
 */
function tokensOf({ token, tokens }, rows) {
  if (tokens === undefined) {
    const scopes = scopesOf(token);
    return { token: token ?? null, scopes: typeof scopes === "string" ? Buffer.from(scopes) : scopes };
  }
  if (token !== undefined) {
    throw new TypeError("a batch has one `token`, or `tokens` for its rows, not both");
  }
  sameLength("tokens", tokens, rows);
  return tokens instanceof Tokens ? tokens : Tokens.from(tokens);
}

/**
 * Writes them into the struct.
 * @param {ReturnType<typeof tokensOf>} tokens
 */
function putTokensOf(tokens) {
  if (tokens instanceof Tokens) {
    given.put(FIELDS.token, 0);
    putTokens(tokens, given);
    return;
  }
  const { token, scopes } = tokens;
  givenToken.begin(kindOf(token));
  givenToken.put(0, addressOf(scopes));
  givenToken.put(1, lengthOfScopes(scopes));
  givenToken.put(2, setOf(token));
  given.put(FIELDS.token, token === null ? 0 : givenToken.address);
  given.put(FIELDS.kinds, 0);
  putColumn(null, given, FIELDS.scopes);
  given.put(FIELDS.scopeSets, 0);
}

/**
 * @param {import("../index.js").Batch["allowBonusOrbs"]} allowed
 * @param {number} rows
 */
function bonusColumn(allowed, rows) {
  if (typeof allowed !== "object") {
    return { flags: flagsOf(allowed), column: null };
  }
  sameLength("allowBonusOrbs", allowed, rows);
  return { flags: 0, column: Uint8Array.from(allowed, flagsOf) };
}

module.exports = { Decisions, decideBatch };
