"use strict";
const { functions, sizes } = require("./native.js");
const { OK, check } = require("./errors.js");
const { ALLOW } = require("./decision.js");
const { Column, Tokens, NO_TEXTS, partsOfColumn, partsOfTokens } = require("./column.js");
const { kindOf, scopesOf, lengthOfScopes, setOf, flagsOf } = require("./token.js");

/** @typedef {import("../index.js").Text} Text */
/** @typedef {import("../index.js").Token | null} Token */

/** Where a 64-bit integer has its lower half. */
const LOW = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 0 : 1;
const HALF = 2 ** 32;
const EFFECT = 3;

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
    return Number.isInteger(row) && ((this.#words[2 * row + LOW] ?? 0) & EFFECT) === ALLOW;
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
  const words = new Uint32Array(2 * rows);
  const given = {
    struct_size: sizes.Batch,
    len: rows,
    method: partsOfColumn(methods),
    target: partsOfColumn(targets),
    ...tokenColumns(batch, rows),
    ...bonusColumn(batch.allowBonusOrbs, rows),
    validity: null,
    validity_offset: 0,
  };
  // Arrays of nothing have null pointers, which say that there is no such column.
  const status = rows === 0 ? OK : functions.decideBatch(engine, given, words, rows);
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
 * The one token of all rows, or the columns of theirs.
 * @param {{ token?: Token, tokens?: any }} batch
 * @param {number} rows
 */
function tokenColumns({ token, tokens }, rows) {
  if (tokens === undefined) {
    return { token: oneToken(token ?? null), kinds: null, scopes: NO_TEXTS, scope_sets: null };
  }
  if (token !== undefined) {
    throw new TypeError("a batch has one `token`, or `tokens` for its rows, not both");
  }
  sameLength("tokens", tokens, rows);
  return partsOfTokens(tokens instanceof Tokens ? tokens : Tokens.from(tokens));
}

/** @param {Token} token */
function oneToken(token) {
  if (token === null) {
    return null;
  }
  const scopes = scopesOf(token);
  return {
    struct_size: sizes.Token,
    kind: kindOf(token),
    scopes,
    scopes_len: lengthOfScopes(scopes),
    scope_set: setOf(token),
  };
}

/**
 * @param {import("../index.js").Batch["allowBonusOrbs"]} allowed
 * @param {number} rows
 */
function bonusColumn(allowed, rows) {
  if (typeof allowed !== "object") {
    return { flags: flagsOf(allowed), allow_bonus_orbs: null };
  }
  sameLength("allowBonusOrbs", allowed, rows);
  return { flags: 0, allow_bonus_orbs: Uint8Array.from(allowed, flagsOf) };
}

module.exports = { Decisions, decideBatch };
