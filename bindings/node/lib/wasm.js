"use strict";
// The library as a WebAssembly module, called as koffi calls a shared one. What we hand over is copied into the module's memory for
// the length of a call.
const { CODES, LOW } = require("./layout.js");
const { countOf, bytesOf } = require("./text.js");
const { held, objects, start, run, reserve, placed, addressOf, then, answered, release } = require("./wasm-memory.js");
const { Carrier } = require("./wasm-carrier.js");
const { HANDLE, integer, typeOf, sizeof, offsetof, struct, out, pointer } = require("./wasm-types.js");

/** @typedef {import("./text.js").View} View */

const decoder = new TextDecoder();

/** The number of the last one of `objects`. */
let handles = 0;

/**
 * What a function of the module gives back, as C has it.
 * @type {Record<string, (answer: any) => any>}
 */
const RESULTS = { uint32_t: (answer) => answer >>> 0, uint64_t: (answer) => integer(BigInt.asUintN(64, answer)) };

/**
 * What a call gives back that traps, as a status or as a packed decision: there is no answer.
 * @type {Record<string, number>}
 */
const TRAPPED = { int32_t: CODES.STATUS_PANIC, uint64_t: CODES.STATUS_PANIC * 2 ** 48, void: 0 };

/**
 * A function of the module.
 * @param {string} name
 * @param {any} result
 * @param {any[]} parameters
 */
function func(name, result, parameters) {
  const gives = parameters.map((parameter) => typeOf(parameter).give);
  const take = RESULTS[result] ?? ((/** @type {any} */ answer) => answer);
  // A struct is written to where the first argument says.
  const into = typeof result === "object" ? result : null;

  const call = (/** @type {any[]} */ ...values) => {
    try {
      start();
      const given = gives.map((give, at) => give(values[at]));
      const at = into === null ? 0 : reserve(into.size);
      const answer = run(name, into === null ? given : [at, ...given]);
      answered();
      return into === null ? take(answer) : into.read(at);
    } catch (error) {
      if (held.library !== null || TRAPPED[result] === undefined) {
        throw error;
      }
      return TRAPPED[result];
    } finally {
      release();
    }
  };

  if (result === "void" && parameters[0] === HANDLE) {
    return (/** @type {number} */ handle) => {
      if (held.library !== null && objects.has(handle)) {
        call(handle);
      }
      objects.delete(handle);
    };
  }
  const made = parameters.findIndex((parameter) => parameter.makes);
  return made >= 0 ? making(call, made) : call;
}

/**
 * A function that makes an engine or a scope set: the same arguments make it again.
 * @param {(...values: any[]) => any} call
 * @param {number} made which argument it is written to
 */
function making(call, made) {
  return (/** @type {any[]} */ ...values) => {
    const kept = copied(values);
    const status = call(...values);
    if (status === CODES.STATUS_OK) {
      values[made][0] = handleOf(values[made][0], () => (succeeds(call, kept) ? kept[made][0] : 0));
    }
    return status;
  };
}

/**
 * A number of ours for what lives longer than a call.
 * @param {number} address
 * @param {() => number} again makes it in another instance, and returns its address there, or 0
 */
function handleOf(address, again) {
  handles += 1;
  objects.set(handles, { address, again });
  return handles;
}

/**
 * @param {(...values: any[]) => any} call
 * @param {any[]} values
 */
function succeeds(call, values) {
  try {
    return call(...values) === CODES.STATUS_OK;
  } catch {
    return false;
  }
}

/**
 * A copy of what a caller may change.
 * @param {any} value
 * @returns {any}
 */
function copied(value) {
  if (value instanceof Uint8Array) {
    return new Uint8Array(value);
  }
  return Array.isArray(value) ? value.map(copied) : value?.data === undefined ? value : { ...value, data: copied(value.data) };
}

/** An array of ours, which is copied for each call. */
class Located {
  #array;

  /** @param {View} array */
  constructor(array) {
    this.#array = array;
  }

  get address() {
    return placed(this.#array);
  }

  /**
   * Where some of its elements are, for the library to write there.
   * @param {number} index
   * @param {number} count
   */
  written(index, count) {
    const width = this.#array.BYTES_PER_ELEMENT;
    const own = bytesOf(this.#array).subarray(index * width, (index + count) * width);
    const at = placed(own);
    then(() => own.set(held.bytes.subarray(at, at + own.length)));
    return at;
  }

  /** How many elements it has. */
  get length() {
    return countOf.call(this.#array);
  }
}

/** Engines or scope sets. */
class Handles {
  #handles;

  /** @param {readonly number[]} handles */
  constructor(handles) {
    this.#handles = handles;
  }

  get address() {
    return placed(Uint32Array.from(this.#handles, addressOf));
  }
}

/** A struct as `koffi.js` has it, copied for each call. */
class Struct {
  #words;

  /** @param {number} fields */
  constructor(fields) {
    this.#words = new Uint32Array(2 + fields);
    this.#words[0] = this.#words.byteLength;
  }

  get address() {
    return placed(this.#words);
  }

  /** @param {number} second */
  begin(second) {
    this.#words[1] = second;
  }

  /**
   * @param {number} at
   * @param {number} field
   */
  put(at, field) {
    this.#words[2 + at] = field;
  }

  /**
   * @param {number} at
   * @param {number} handle
   */
  putHandle(at, handle) {
    this.put(at, addressOf(handle));
  }

  /**
   * @param {number} at
   * @param {{ address: number } | null} array
   */
  putAddress(at, array) {
    this.put(at, array === null ? 0 : array.address);
  }

  /**
   * @param {number} at
   * @param {Located | null} array
   */
  putArray(at, array) {
    this.putAddress(at, array);
    this.put(at + 1, array === null ? 0 : array.length);
  }
}

/** @param {{ data: number, len: number }} str */
const text = ({ data, len }) => (data === 0 ? null : ascii(data, len));

/**
 * @param {number} data
 * @param {number} length
 */
const ascii = (data, length) => decoder.decode(held.bytes.subarray(data, data + length));

/**
 * What `abi.js` declares its types and functions to.
 * @param {WebAssembly.Module} module
 */
function load(module) {
  if (LOW !== 0) {
    throw new Error("the WebAssembly library needs a little-endian processor");
  }
  held.code = module;
  return { struct, sizeof, offsetof, pointer, out, inout: out, func, HANDLE, hasFiles: false, carrier: () => new Carrier(func, handleOf) };
}

module.exports = { load, Located, Handles, Struct, text, ascii };
