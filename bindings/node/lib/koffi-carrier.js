"use strict";
// Carries messages to gates of a shared library: without koffi's types, which take longer than a gate.
const koffi = require("koffi");
const { asBytes } = require("./text.js");

const { sizeof } = koffi;

/** @typedef {InstanceType<typeof import("./gate/wire.js").Writer>} Writer */

/** An address as a number, where a double holds it. */
const addressOf = (/** @type {any} */ memory) => plain(koffi.address(memory));

const plain = (/** @type {number | bigint} */ integer) => (/** @type {number} */ (integer <= Number.MAX_SAFE_INTEGER ? Number(integer) : integer));

/** The room for a question, and then for its answer. Anything longer gets room of its own. */
const ROOM = 64 << 10;

/** Uses addresses that were asked for once, and one copy of each answer. */
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
  #out = sizeof("void *") === 8 ? new BigUint64Array(2) : new Uint32Array(2);
  #outAddress = addressOf(this.#out);
  /** The last answer. */
  bytes = this.#bytes;
  view = this.#view;
  from = 0;
  to = 0;

  /** @param {import("koffi").LibraryHandle} library */
  constructor(library) {
    this.#call = library.func("orbgate_gate_call", "int32_t", ["uintptr_t", "uintptr_t", "uintptr_t", "uintptr_t", "size_t", "uintptr_t"]);
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
    return plain(/** @type {any} */ (this.#out[0]));
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
   * @param {Writer} writer
   */
  begin(writer) {
    writer.begin(this.#bytes, this.#view, 0, ROOM);
  }

  /**
   * Sends what was written.
   * @param {number} gate
   * @param {number} engine
   * @param {number} step
   * @param {Writer} writer
   * @returns {number} its status; then there is an answer
   */
  send(gate, engine, step, writer) {
    return writer.isLong ? this.sendLong(gate, engine, step, writer.message) : this.#sent(gate, engine, step, this.#address, writer.at);
  }

  /** @param {number} gate @param {number} engine @param {number} step @param {Uint8Array} message @returns {number} */
  sendLong(gate, engine, step, message) {
    return this.#sent(gate, engine, step, addressOf(message), message.length);
  }

  /** @param {number} gate @param {number} engine @param {number} step @param {number} address @param {number} length @returns {number} */
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

module.exports = { Carrier };
