"use strict";
// A shared library of the C ABI, called through koffi, which reads our memory where it is.
const koffi = require("koffi");
const { LOW } = require("./layout.js");
const { countOf } = require("./text.js");

const { struct, sizeof, offsetof, pointer } = koffi;

const POINTER = sizeof("void *");

/**
 * What `abi.js` declares its types and functions to.
 * @param {string} file
 */
function load(file) {
  const library = koffi.load(file);
  return {
    struct, sizeof, offsetof, pointer,
    out: (/** @type {string | import("koffi").TypeObject} */ type) => koffi.out(pointer(type)),
    inout: (/** @type {string | import("koffi").TypeObject} */ type) => koffi.inout(pointer(type)),
    /**
     * @param {string} name
     * @param {string | import("koffi").TypeObject} result
     * @param {any[]} parameters
     */
    func: (name, result, parameters) => library.func(name, result, parameters),
    // What the library owns; WebAssembly needs to know more of it.
    HANDLE: "uintptr_t",
    hasFiles: true,
    /** What carries messages to gates, declared when the first gate is made. */
    carrier: () => new (require("./koffi-carrier.js").Carrier)(library),
  };
}

/** Integers as wide as a pointer. */
const Words = POINTER === 8 ? BigUint64Array : Uint32Array;

/**
 * An integer as `Words` takes it.
 * @param {number | bigint} integer
 * @returns {any}
 */
const word = POINTER === 8 ? BigInt : Number;

const ZERO = word(0);

/**
 * Where an array is, asked for once: its memory stays where it is until it is gone, and then the array has no length.
 */
class Located {
  #array;
  #count = -1;
  #address = ZERO;

  /** @param {import("./text.js").View} array */
  constructor(array) {
    this.#array = array;
  }

  /** Where its memory is; 0 for none. */
  get address() {
    const count = this.length;
    if (count !== this.#count) {
      this.#count = count;
      this.#address = word(koffi.address(this.#array));
    }
    return this.#address;
  }

  /**
   * Where some of its elements are, for the library to write there.
   * @param {number} index
   * @param {number} _count
   * @returns {number | bigint}
   */
  written(index, _count) {
    return /** @type {any} */ (this.address) + word(index * this.#array.BYTES_PER_ELEMENT);
  }

  /** How many elements it has. */
  get length() {
    return countOf.call(this.#array);
  }
}

/** The same of engines and scope sets. */
class Handles extends Located {
  /** @param {readonly number[]} handles */
  constructor(handles) {
    super(POINTER === 8 ? BigUint64Array.from(handles, BigInt) : Uint32Array.from(handles));
  }
}

/**
 * A struct of two 32-bit integers, its size and another one, and then fields as wide as a pointer. Written here and not by
 * koffi, which takes microseconds for one with columns in it.
 */
class Struct {
  #head;
  #fields;
  /** The same in halves, written in less time than a bigint. */
  #halves;

  /** @param {number} fields */
  constructor(fields) {
    const buffer = new ArrayBuffer(2 * Uint32Array.BYTES_PER_ELEMENT + fields * POINTER);
    this.#head = new Uint32Array(buffer, 0, 2);
    this.#head[0] = buffer.byteLength;
    this.#fields = /** @type {any} */ (new Words(buffer, this.#head.byteLength));
    this.#halves = new Uint32Array(buffer, this.#head.byteLength);
    this.address = koffi.address(this.#head);
  }

  /**
   * Writes the integer after the size.
   * @param {number} second
   */
  begin(second) {
    this.#head[1] = second;
  }

  /**
   * Writes a field.
   * @param {number} at
   * @param {number | bigint} field
   */
  put(at, field) {
    if (typeof field === "number" && field >>> 0 === field && POINTER === 8) {
      this.#halves[2 * at + LOW] = field;
      this.#halves[2 * at + 1 - LOW] = 0;
    } else {
      this.#fields[at] = word(field);
    }
  }

  /**
   * Writes an engine or a scope set, 0 for none.
   * @param {number} at
   * @param {number} handle
   */
  putHandle(at, handle) {
    this.put(at, handle);
  }

  /**
   * Writes where an array is, or that there is none. The caller keeps it alive.
   * @param {number} at
   * @param {Located | null} array
   */
  putAddress(at, array) {
    this.#fields[at] = array === null ? ZERO : array.address;
  }

  /**
   * The same, and how many elements it has.
   * @param {number} at
   * @param {Located | null} array
   */
  putArray(at, array) {
    this.putAddress(at, array);
    this.put(at + 1, array === null ? 0 : array.length);
  }
}

/**
 * Copies a text of the library; `null` where there is none.
 * @param {{ data: number | bigint, len: number }} str
 * @returns {string | null}
 */
function text(str) {
  return str.data === 0 ? null : Buffer.from(koffi.decode(str.data, "uint8_t", str.len)).toString("utf8");
}

/**
 * A text in a quarter of the time, for ASCII without NUL, as routes are.
 * @param {number | bigint} data
 * @param {number} length
 * @returns {string}
 */
const ascii = (data, length) => koffi.decode(data, "char", length);

module.exports = { load, Located, Handles, Struct, text, ascii };
