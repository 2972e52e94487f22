"use strict";
// What a batch is made of: columns of texts and of tokens.
const { sizes, lengthOf } = require("./native.js");
const { kindOf, scopesOf, setOf } = require("./token.js");
const { pointerOf } = require("./scope-set.js");

/** @typedef {import("../index.js").Text} Text */
/** @typedef {import("../index.js").Token | null} Token */

const NO_TEXTS = { data: null, data_len: 0, offsets: null };
const MOST_BYTES = 2 ** 32;

class Column {
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
    this.data = data;
    this.offsets = offsets;
    Object.freeze(this);
  }

  /** @param {readonly Text[]} texts */
  static from(texts) {
    const offsets = new Uint32Array(texts.length + 1);
    const data = laidOut(texts, offsets);
    return new Column(data, offsets);
  }

  get length() {
    return Math.max(this.offsets.length - 1, 0);
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
  // Joined first, texts become bytes at once.
  return bytes ? Buffer.concat(texts.map((one) => (typeof one === "string" ? Buffer.from(one) : one)), end)
    : Buffer.from(texts.join(""));
}

/**
 * A batch's `tokens` as the library takes them.
 * @type {(tokens: Tokens) => object}
 */
let partsOfTokens;

class Tokens {
  #kinds;
  /** @type {Column | null} */
  #scopes = null;
  /** @type {BigUint64Array | Uint32Array | null} */
  #pointers = null;
  /** Behind the pointers. */
  #sets = new Set();

  /** @param {readonly Token[]} tokens */
  constructor(tokens) {
    this.#kinds = Uint8Array.from(tokens, kindOf);
    const sets = tokens.filter((token) => setOf(token) !== 0);
    if (sets.length === 0) {
      this.#scopes = Column.from(tokens.map((token) => scopesOf(token) ?? ""));
    } else if (tokens.some((token) => scopesOf(token) !== null)) {
      throw new TypeError("`tokens` have their scopes all as text or all as scope sets");
    } else {
      this.#pointers = pointers(tokens);
      this.#sets = new Set(sets.map((token) => token?.scopes));
    }
  }

  /** @param {readonly Token[]} tokens */
  static from(tokens) {
    return new Tokens(tokens);
  }

  get length() {
    return this.#kinds.length;
  }

  static {
    partsOfTokens = (tokens) => {
      // A set that has been closed meanwhile throws.
      tokens.#sets.forEach(pointerOf);
      const scopes = tokens.#scopes === null ? NO_TEXTS : partsOfColumn(tokens.#scopes);
      return { token: null, kinds: tokens.#kinds, scopes, scope_sets: tokens.#pointers };
    };
  }
}

/**
 * The sets of all rows; a row without a token has a null pointer.
 * @param {readonly Token[]} tokens
 */
function pointers(tokens) {
  return sizes.Pointer === 8 ? BigUint64Array.from(tokens, (one) => BigInt(setOf(one))) : Uint32Array.from(tokens, setOf);
}

/** @param {Column} column */
const partsOfColumn = ({ data, offsets }) => ({ data, data_len: data.length, offsets });

module.exports = { Column, Tokens, NO_TEXTS, partsOfColumn, partsOfTokens };
