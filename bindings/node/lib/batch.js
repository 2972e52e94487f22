"use strict";
const { functions, Struct, Located } = require("./library.js");
const { encode, typeName, lengthOf } = require("./text.js");
const { OK, check } = require("./errors.js");
const { HALF } = require("./decision.js");
const { CODES, LOW, BATCH, TOKEN, effectOf, routeOf, scopeOf } = require("./layout.js");
const { Column, Tokens, rowsOf, putColumn, putTokens } = require("./column.js");
const { kindOf, scopesOf, textOf, setOf, flagsOf } = require("./token.js");

/** @typedef {import("../index.js").Text} Text */
/** @typedef {import("../index.js").Token | null} Token */

/** The structs of a call, written anew for each. */
const given = new Struct(BATCH.count);
const givenToken = new Struct(TOKEN.count);

/**
 * Keeps alive what the structs point to, until the call ends.
 * @type {unknown}
 */
let held = null;

/** Where decisions are written: pieces of one array, because making one takes longer than many decisions. */
class Room {
  #words;
  #located;
  #taken = 0;

  /** @param {number} rows */
  constructor(rows) {
    this.#words = new Uint32Array(2 * rows);
    this.#located = new Located(this.#words);
  }

  /** @param {number} rows */
  has(rows) {
    return this.#taken + 2 * rows <= this.#words.length;
  }

  /**
   * Takes the next rows, which are there.
   * @param {number} rows
   * @param {(packed: number) => import("../index.js").Decision} decision
   */
  take(rows, decision) {
    const start = this.#taken;
    this.#taken += 2 * rows;
    return new Decisions(KEY, this.#words, start, rows, decision);
  }

  /**
   * Reads what the next rows name, while the engine is there.
   * @param {number} rows
   * @param {number} engine
   * @param {InstanceType<typeof import("./table.js").Table>} table
   */
  meet(rows, engine, table) {
    const words = this.#words;
    for (let at = this.#taken; at < this.#taken + 2 * rows; at += 2) {
      table.meet(engine, routeOf(/** @type {number} */ (words[at + LOW])), scopeOf(/** @type {number} */ (words[at + 1 - LOW])));
    }
  }

  /**
   * Where the next rows are written.
   * @param {number} rows
   */
  addressFor(rows) {
    return this.#located.written(this.#taken, 2 * rows);
  }
}

/** Rows of a room, some for each batch. */
const ROOM = 8192;
let room = new Room(ROOM);

/** Only a room makes decisions. */
const KEY = Symbol("decisions");

class Decisions {
  /**
   * @param {symbol} key
   * @param {Uint32Array} words
   * @param {number} start
   * @param {number} length
   * @param {(packed: number) => import("../index.js").Decision} decision
   */
  constructor(key, words, start, length, decision) {
    if (key !== KEY) {
      throw new TypeError("create decisions with engine.decideBatch(…)");
    }
    // Not `#words`: fields that are declared first and set later take V8 longer to read than a row.
    this._words = words;
    this._start = start;
    this._length = length;
    this._decision = decision;
  }

  get length() {
    return this._length;
  }

  /** @param {number} row */
  isAllow(row) {
    return row >>> 0 === row && row < this._length
      && effectOf(/** @type {number} */ (this._words[this._start + 2 * row + LOW])) === CODES.EFFECT_ALLOW;
  }

  /** @param {number} row */
  at(row) {
    const [words, first] = [this._words, this._start + 2 * row];
    const [low, high] = [words[first + LOW], words[first + 1 - LOW]];
    if (row >>> 0 !== row || row >= this.length || low === undefined || high === undefined) {
      throw new RangeError(`there is no row ${row}: the batch has ${this.length}`);
    }
    return this._decision(high * HALF + low);
  }

  *[Symbol.iterator]() {
    for (let row = 0; row < this.length; row++) {
      yield this.at(row);
    }
  }
}

/**
 * Reads every value of a batch. Getters and iterators of the caller run here, and may do what they like: close an engine, decide
 * a batch of their own, or take the memory of a column away.
 * @param {import("../index.js").Batch} batch
 */
function readBatch(batch) {
  if (typeof batch !== "object" || batch === null) {
    throw new TypeError(`a batch must be an object, not ${typeName(batch)}`);
  }
  const [methods, targets] = [columnOf("methods", batch.methods), columnOf("targets", batch.targets)];
  return { methods, targets, tokens: tokensOf(batch), bonus: bonusColumn(batch.allowBonusOrbs) };
}

/**
 * Decides what has been read. INVARIANT: no code of the caller runs in here, so lengths that are checked stay, the engine stays
 * open, and `given` stays ours.
 * @param {number} engine
 * @param {ReturnType<typeof readBatch>} batch
 * @param {InstanceType<typeof import("./table.js").Table>} table
 * @param {(packed: number) => import("../index.js").Decision} decision
 */
function decideBatch(engine, batch, table, decision) {
  const { methods, targets, tokens, bonus } = batch;
  const rows = rowsOf(methods);
  sameLength("targets", rowsOf(targets), rows);
  if (tokens instanceof Tokens) {
    sameLength("tokens", rowsOf(tokens), rows);
  }
  if (bonus.column !== null) {
    sameLength("allowBonusOrbs", bonus.column.length, rows);
  }
  if (!room.has(rows)) {
    room = new Room(Math.max(ROOM, rows));
  }
  held = batch;
  given.begin(bonus.flags | CODES.PACK_ABOUT);
  given.put(BATCH.len, rows);
  putColumn(methods, given, BATCH.method);
  putColumn(targets, given, BATCH.target);
  putTokensOf(tokens);
  given.putAddress(BATCH.allow_bonus_orbs, bonus.column);
  // Empty arrays have null pointers, which mean: no such column.
  const status = rows === 0 ? OK : functions.decideBatch(engine, given.address, room.addressFor(rows), rows);
  held = null;
  check(status, "cannot decide a batch whose offsets do not fit its data");
  room.meet(rows, engine, table);
  return room.take(rows, decision);
}

/**
 * @param {string} name
 * @param {import("../index.js").Batch["methods"]} column
 */
function columnOf(name, column) {
  if (column instanceof Column) {
    return column;
  }
  if (!Array.isArray(column)) {
    throw new TypeError(`\`${name}\` must be a Column or an array of texts, not ${typeName(column)}`);
  }
  return Column.from(column);
}

/**
 * @param {string} name
 * @param {number} length
 * @param {number} rows
 */
function sameLength(name, length, rows) {
  if (length !== rows) {
    throw new RangeError(`\`${name}\` has ${length} rows, and \`methods\` has ${rows}`);
  }
}

/**
 * The columns of the rows' tokens, or the one token of all rows with the bytes of its scopes.
 * @param {{ token?: Token, tokens?: any }} batch
 */
function tokensOf({ token, tokens }) {
  if (tokens === undefined) {
    const [kind, scopes] = [kindOf(token), scopesOf(token)];
    return { none: token === null || token === undefined, kind, scopes, bytes: bytesOf(textOf(scopes)) };
  }
  if (token !== undefined) {
    throw new TypeError("a batch has one `token`, or `tokens` for its rows, not both");
  }
  if (tokens instanceof Tokens) {
    return tokens;
  }
  if (!Array.isArray(tokens)) {
    throw new TypeError(`\`tokens\` must be Tokens or an array of them, not ${typeName(tokens)}`);
  }
  return Tokens.from(tokens);
}

/** @param {Text | null} text */
function bytesOf(text) {
  if (text === null) {
    return null;
  }
  lengthOf(text); // Anything but a text throws.
  return new Located(typeof text === "string" ? encode(text) : text);
}

/**
 * Writes them into the struct.
 * @param {ReturnType<typeof tokensOf>} tokens
 */
function putTokensOf(tokens) {
  if (tokens instanceof Tokens) {
    given.put(BATCH.token, 0);
    putTokens(tokens, given);
    return;
  }
  const { none, kind, scopes, bytes } = tokens;
  givenToken.begin(kind);
  givenToken.putArray(TOKEN.scopes, bytes);
  givenToken.putHandle(TOKEN.scope_set, setOf(scopes));
  given.put(BATCH.token, none ? 0 : givenToken.address);
  given.put(BATCH.kinds, 0);
  putColumn(null, given, BATCH.scopes);
  given.put(BATCH.scope_sets, 0);
}

/**
 * @param {import("../index.js").Batch["allowBonusOrbs"]} allowed
 */
function bonusColumn(allowed) {
  if (!Array.isArray(allowed)) {
    return { flags: flagsOf(allowed), column: null };
  }
  return { flags: 0, column: new Located(Uint8Array.from(allowed, flagsOf)) };
}

module.exports = { Decisions, readBatch, decideBatch };
