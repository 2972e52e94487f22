"use strict";
// The library as a WebAssembly module, called as koffi calls a shared one. What we hand over is copied into the module's memory for
// the length of a call.
const { CODES, LOW } = require("./layout.js");
const { countOf, bytesOf } = require("./text.js");
const { ROOM, held, objects, start, run, roomAt, reserve, placed, addressOf, then, answered, release } = require("./wasm-memory.js");
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

/** A step, which is lost with its instance. @typedef {{ of: object, address: number }} Step */

/** In the room: where the library writes a pointer, or a pointer and a length. A question comes after it. */
const OUT = 16;

const newStep = func("orbgate_step_new", "int32_t", ["uint32_t"]);
const takeGate = func("orbgate_step_gate", "int32_t", ["uint32_t", "uint32_t"]);
const freeStep = func("orbgate_step_free", "void", ["uint32_t"]);

/** Carries messages to gates, as the one of `koffi.js`. A question is written into the module's memory, and its answer is read there. */
class Carrier {
  /** What the library has made. @type {any} */
  made = null;
  bytes = held.bytes;
  view = held.memory;
  from = 0;
  to = 0;

  newStep() {
    start();
    const status = newStep(roomAt());
    this.made = { of: held.library, address: held.memory.getUint32(roomAt(), true) };
    return status;
  }

  /**
   * @param {Step} step
   * @param {Uint8Array} question that makes the gate again in another instance
   */
  takeGate(step, question) {
    const status = takeGate(step.address, roomAt());
    if (status === CODES.STATUS_OK) {
      this.made = handleOf(held.memory.getUint32(roomAt(), true), () => this.#again(question));
    }
    return status;
  }

  /** @param {Step} step */
  isLost({ of }) {
    return of !== held.library;
  }

  /** @param {Step} step */
  freeStep({ of, address }) {
    if (of === held.library) {
      freeStep(address);
    }
  }

  /** @param {InstanceType<typeof import("./gate/wire.js").Writer>} writer */
  begin(writer) {
    start();
    writer.begin(held.bytes, held.memory, roomAt() + OUT, roomAt() + ROOM);
  }

  /**
   * @param {number} gate
   * @param {number} engine
   * @param {Step} step
   * @param {InstanceType<typeof import("./gate/wire.js").Writer>} writer
   */
  send(gate, engine, step, writer) {
    return writer.isLong ? this.sendLong(gate, engine, step, writer.message) : this.#sent(gate, engine, step, writer.base, writer.at - writer.base);
  }

  /**
   * @param {number} gate
   * @param {number} engine
   * @param {Step} step
   * @param {Uint8Array} message
   */
  sendLong(gate, engine, step, message) {
    start();
    reserve(OUT);
    try {
      return this.#sent(gate, engine, step, placed(message), message.length);
    } finally {
      release();
    }
  }

  /**
   * @param {number} gate
   * @param {number} engine
   * @param {Step} step
   * @param {number} at
   * @param {number} length
   */
  #sent(gate, engine, step, at, length) {
    if (this.isLost(step)) {
      throw new Error("a request was lost when the library trapped");
    }
    const answer = roomAt();
    const given = [addressOf(gate), addressOf(engine), step.address, at, length, answer];
    let status;
    try {
      status = run("orbgate_gate_call", given);
    } catch {
      return CODES.STATUS_PANIC;
    }
    if (status === CODES.STATUS_OK) {
      [this.bytes, this.view] = [held.bytes, held.memory];
      this.from = this.view.getUint32(answer, true);
      this.to = this.from + this.view.getUint32(answer + 4, true);
    }
    return status;
  }

  /**
   * Makes a gate in a new instance.
   * @param {Uint8Array} question
   * @returns {number} its address, or 0
   */
  #again(question) {
    if (this.newStep() !== CODES.STATUS_OK) {
      return 0;
    }
    const step = this.made;
    const isMade = this.sendLong(0, 0, step, question) === CODES.STATUS_OK && takeGate(step.address, roomAt()) === CODES.STATUS_OK;
    const address = isMade ? held.memory.getUint32(roomAt(), true) : 0;
    this.freeStep(step);
    return address;
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
  return { struct, sizeof, offsetof, pointer, out, inout: out, func, HANDLE, hasFiles: false, carrier: () => new Carrier() };
}

module.exports = { load, Located, Handles, Struct, text, ascii };
