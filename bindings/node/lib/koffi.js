"use strict";
// A shared library of the C ABI, called through koffi, which reads our memory where it is.
const koffi = require("koffi");
const { LOW } = require("./layout.js");
const { asBytes, countOf } = require("./text.js");

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
    carrier: () => new Carrier(library),
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

/** An address as a number, where a double holds it. */
const addressOf = (/** @type {any} */ memory) => plain(koffi.address(memory));

const plain = (/** @type {number | bigint} */ integer) => (/** @type {number} */ (integer <= Number.MAX_SAFE_INTEGER ? Number(integer) : integer));

/** The room for a question, and then for its answer. Anything longer gets room of its own. */
const ROOM = 64 << 10;

const HANDLES = ["uintptr_t", "uintptr_t", "uintptr_t"];

/** Carries messages to gates, without koffi's types: addresses that were asked for once, and one copy of each answer. */
class Carrier {
  #call;
  #copy;
  #step;
  #gate;
  #freeStep;
  #room = new ArrayBuffer(ROOM);
  #bytes = asBytes(this.#room);
  #view = new DataView(this.#room);
  #address = addressOf(this.#room);
  /** What the library writes: a pointer, or a pointer and a length. */
  #out = new Words(2);
  #outAddress = addressOf(this.#out);
  /** The last answer. */
  bytes = this.#bytes;
  view = this.#view;
  from = 0;
  to = 0;

  /** @param {import("koffi").LibraryHandle} library */
  constructor(library) {
    this.#call = library.func("orbgate_gate_call", "int32_t", [...HANDLES, "uintptr_t", "size_t", "uintptr_t"]);
    this.#copy = library.func("orbgate_step_copy", "int32_t", ["uintptr_t", "uintptr_t", "size_t"]);
    this.#step = library.func("orbgate_step_new", "int32_t", ["uintptr_t"]);
    this.#gate = library.func("orbgate_step_gate", "int32_t", ["uintptr_t", "uintptr_t"]);
    this.#freeStep = library.func("orbgate_step_free", "void", ["uintptr_t"]);
  }

  /** @returns {number} its status; then `made` is the step */
  newStep() {
    return this.#step(this.#outAddress);
  }

  /**
   * Takes the gate that a question has made, as `made`.
   * @param {number} step
   * @param {Uint8Array} _question
   * @returns {number} its status
   */
  takeGate(step, _question) {
    return this.#gate(step, this.#outAddress);
  }

  /** What the library has made. */
  get made() {
    return plain(this.#out[0]);
  }

  /** @param {number} _step */
  isLost(_step) {
    return false;
  }

  /** @param {number} step */
  freeStep(step) {
    this.#freeStep(step);
  }

  /**
   * Has a question written into the room.
   * @param {InstanceType<typeof import("./gate/wire.js").Writer>} writer
   */
  begin(writer) {
    writer.begin(this.#bytes, this.#view, 0, ROOM);
  }

  /**
   * Sends what was written.
   * @param {number} gate
   * @param {number} engine
   * @param {number} step
   * @param {InstanceType<typeof import("./gate/wire.js").Writer>} writer
   * @returns {number} its status; then there is an answer
   */
  send(gate, engine, step, writer) {
    return writer.isLong ? this.sendLong(gate, engine, step, writer.message) : this.#sent(gate, engine, step, this.#address, writer.at);
  }

  /**
   * @param {number} gate
   * @param {number} engine
   * @param {number} step
   * @param {Uint8Array} message
   * @returns {number}
   */
  sendLong(gate, engine, step, message) {
    return this.#sent(gate, engine, step, addressOf(message), message.length);
  }

  /**
   * @param {number} gate
   * @param {number} engine
   * @param {number} step
   * @param {number} address
   * @param {number} length
   * @returns {number}
   */
  #sent(gate, engine, step, address, length) {
    const status = this.#call(gate, engine, step, address, length, this.#outAddress);
    if (status !== 0) {
      return status;
    }
    this.to = Number(this.#out[1]);
    const isLong = this.to > ROOM;
    const room = isLong ? new ArrayBuffer(this.to) : this.#room;
    [this.bytes, this.view] = isLong ? [asBytes(room), new DataView(room)] : [this.#bytes, this.#view];
    return this.#copy(step, isLong ? addressOf(room) : this.#address, this.to);
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
