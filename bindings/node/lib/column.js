"use strict";
// What a batch is made of: columns of texts and of tokens.
const { BATCH } = require("./layout.js");
const { Located, Handles } = require("./library.js");
const { encode, typeName, refuseShared, lengthOf } = require("./text.js");
const { kindOf, scopesOf, textOf, setOf } = require("./token.js");
const { pointerOf } = require("./scope-set.js");

/** @typedef {import("../index.js").Text} Text */
/** @typedef {InstanceType<typeof import("./library.js").Struct>} Struct */
/** @typedef {import("../index.js").Token | null} Token */

const MOST_BYTES = 2 ** 32;

/**
 * Writes a column into a struct, or that there is none.
 * @type {(column: Column | null, into: Struct, at: number) => void}
 */
let putColumn;

/**
 * How many rows columns or tokens have now; a class that extends theirs cannot change the answer.
 * @type {(column: Column | Tokens) => number}
 */
let rowsOf;

class Column {
  #data;
  #offsets;

  /**
   * @param {Uint8Array} data
   * @param {Uint32Array | Int32Array} offsets
   */
  constructor(data, offsets) {
    if (!(data instanceof Uint8Array) || !(offsets instanceof Uint32Array || offsets instanceof Int32Array)) {
      throw new TypeError("a column is a Uint8Array of bytes and a Uint32Array of offsets");
    }
    if (offsets.length === 0) {
      throw new RangeError("a column has one offset more than rows");
    }
    refuseShared("the data of a column", data);
    refuseShared("the offsets of a column", offsets);
    this.data = data;
    this.offsets = offsets;
    this.#data = new Located(data);
    this.#offsets = new Located(offsets);
    Object.freeze(this);
  }

  static {
    rowsOf = (column) => (#offsets in column ? Math.max(column.#offsets.length - 1, 0) : rowsOfTokens(column));
    putColumn = (column, into, at) => {
      into.putArray(at, column === null ? null : column.#data);
      into.putAddress(at + 2, column === null ? null : column.#offsets);
    };
  }

  /** @param {readonly Text[]} texts */
  static from(texts) {
    if (!Array.isArray(texts)) {
      throw new TypeError(`a column needs an array of strings, not ${typeName(texts)}`);
    }
    const offsets = new Uint32Array(texts.length + 1);
    const data = laidOut(texts, offsets);
    return new Column(data, offsets);
  }

  get length() {
    return rowsOf(this);
  }
}

/**
 * @param {readonly Text[]} texts
 * @param {Uint32Array} offsets
 */
function laidOut(texts, offsets) {
  let end = 0;
  let bytes = false;
  for (let row = 0; row < texts.length; row++) {
    const one = /** @type {Text} */ (texts[row]);
    end += lengthOf(one);
    bytes ||= typeof one !== "string";
    offsets[row + 1] = end;
  }
  if (end >= MOST_BYTES) {
    throw new RangeError("a column has less than 4 GiB");
  }
  // Joined first, texts become bytes at once; but half a surrogate pair at the end of one may meet the other half in the next,
  // and the two have fewer bytes than they have apart.
  const joined = bytes ? null : encode(texts.join(""));
  if (joined?.length === end) {
    return joined;
  }
  const data = new Uint8Array(end);
  for (let row = 0; row < texts.length; row++) {
    const one = /** @type {Text} */ (texts[row]);
    data.set(typeof one === "string" ? encode(one) : one, offsets[row]);
  }
  return data;
}

/**
 * Writes a batch's `tokens` into its struct, where kinds, scopes and scope sets are.
 * @type {(tokens: Tokens, into: Struct) => void}
 */
let putTokens;

/** @type {(tokens: Tokens) => number} */
let rowsOfTokens;

/** Only `Tokens.from` makes them. */
const KEY = Symbol("tokens");

class Tokens {
  #rows;
  #kinds;
  /** @type {Column | null} */
  #scopes = null;
  /** @type {InstanceType<typeof Handles> | null} */
  #pointers = null;
  /**
   * The sets that the pointers lead to; a row without a token has a null pointer.
   * @type {any[]}
   */
  #sets = [];

  /**
   * @param {symbol} key
   * @param {readonly Token[]} tokens
   */
  constructor(key, tokens) {
    if (key !== KEY) {
      throw new TypeError("create tokens with Tokens.from(…)");
    }
    if (!Array.isArray(tokens)) {
      throw new TypeError(`a column of tokens needs an array, not ${typeName(tokens)}`);
    }
    // A copy, and each value read once: a getter may give another the next time.
    const rows = Array.from(tokens);
    const scopes = rows.map(scopesOf);
    this.#rows = rows.length;
    this.#kinds = new Located(Uint8Array.from(rows, kindOf));
    const sets = scopes.filter((one) => setOf(one) !== 0);
    if (sets.length === 0) {
      this.#scopes = Column.from(scopes.map((one) => textOf(one) ?? ""));
    } else if (scopes.some((one) => textOf(one) !== null)) {
      throw new TypeError("`tokens` have their scopes all as text or all as scope sets");
    } else {
      this.#pointers = new Handles(scopes.map(setOf));
      this.#sets = [...new Set(sets)];
    }
  }

  /** @param {readonly Token[]} tokens */
  static from(tokens) {
    return new Tokens(KEY, tokens);
  }

  get length() {
    return this.#rows;
  }

  static {
    rowsOfTokens = (tokens) => tokens.#rows;
    putTokens = (tokens, into) => {
      for (const set of tokens.#sets) {
        pointerOf(set); // One that has been closed meanwhile throws.
      }
      into.putAddress(BATCH.kinds, tokens.#kinds);
      putColumn(tokens.#scopes, into, BATCH.scopes);
      into.putAddress(BATCH.scope_sets, tokens.#pointers);
    };
  }
}

module.exports = { Column, Tokens, rowsOf, putColumn, putTokens };
