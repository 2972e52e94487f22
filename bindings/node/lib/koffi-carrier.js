"use strict";
// Carries messages to gates of a shared library: without koffi's types, which take longer than a gate.
const koffi = require("koffi");
const { CODES, LOW } = require("./layout.js");
const { asBytes } = require("./text.js");

const { sizeof } = koffi;

/** @typedef {InstanceType<typeof import("./gate/wire.js").Writer>} Writer */

/** An address as a number, where a double holds it. */
const addressOf = (/** @type {any} */ memory) => plain(koffi.address(memory));

const plain = (/** @type {number | bigint} */ integer) => (/** @type {number} */ (integer <= Number.MAX_SAFE_INTEGER ? Number(integer) : integer));

/** The room for a question, and then for its answer. Anything longer gets room of its own. */
const ROOM = 64 << 10;

/** What the library reads and writes besides: the handles of a gate and a step, and a length. As 32-bit words. */
const [GATE, STEP, LENGTH] = [0, 2, 4];

const HALF = 2 ** 32;

/** Uses addresses that were asked for once. An answer comes into the room of its question. */
class Carrier {
  #ask;
  #endStep;
  #endGate;
  #room = new ArrayBuffer(ROOM);
  #bytes = asBytes(this.#room);
  #view = new DataView(this.#room);
  #address = addressOf(this.#room);
  #words = new Uint32Array(6);
  #at;
  /** The last answer. */
  bytes = this.#bytes;
  view = this.#view;
  from = 0;
  to = 0;

  /** @param {import("koffi").LibraryHandle} library */
  constructor(library) {
    const from = addressOf(this.#words);
    this.#at = [GATE, STEP, LENGTH].map((word) => plain(/** @type {any} */ (BigInt(from) + BigInt(4 * word))));
    this.#ask = library.func("orbgate_gate_ask", "int32_t", ["uintptr_t", "uintptr_t", "uintptr_t", "uintptr_t", "size_t", "uintptr_t", "size_t", "uintptr_t"]);
    this.#endStep = library.func("orbgate_step_end", "void", ["uintptr_t"]);
    this.#endGate = library.func("orbgate_gate_end", "void", ["uintptr_t"]);
  }

  /** The gate that the last question has made. */
  get made() {
    return this.#handle(GATE);
  }

  /** The step for the next question, whatever the status; 0 if it is over. */
  get next() {
    return this.#handle(STEP);
  }

  /** @param {number} _step */
  isLost(_step) {
    return false;
  }

  /** @param {number} step one that is over is fine */
  endStep(step) {
    if (step !== 0) {
      this.#put(STEP, step);
      this.#endStep(this.#at[1]);
    }
  }

  /** @param {number} gate */
  endGate(gate) {
    this.#put(GATE, gate);
    this.#endGate(this.#at[0]);
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
   * @param {number} step 0 for a new one
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

  /**
   * Makes a gate, as `made`.
   * @param {Uint8Array} message
   * @returns {number} its status; then there is an answer
   */
  make(message) {
    return this.sendLong(0, 0, 0, message);
  }

  /** @param {number} gate @param {number} engine @param {number} step @param {number} address @param {number} length @returns {number} */
  #sent(gate, engine, step, address, length) {
    this.#put(GATE, gate);
    this.#put(STEP, step);
    const status = this.#asked(engine, address, length, this.#address, ROOM);
    if (status === CODES.STATUS_TOO_SMALL) {
      let room;
      try {
        room = new ArrayBuffer(this.#length);
      } catch (error) {
        this.#asked(engine, this.#address, 1, this.#address, 0); // No question: the answer is dropped, and a request is over.
        throw error;
      }
      [this.bytes, this.view] = [asBytes(room), new DataView(room)];
      return this.#asked(engine, 0, 0, addressOf(room), room.byteLength);
    }
    [this.bytes, this.view] = [this.#bytes, this.#view];
    return status;
  }

  /** @param {number} engine @param {number} question @param {number} length @param {number} answer @param {number} room @returns {number} */
  #asked(engine, question, length, answer, room) {
    const [gate, step, written] = this.#at;
    const status = this.#ask(gate, engine, step, question, length, answer, room, written);
    this.to = this.#length;
    return status;
  }

  get #length() {
    return /** @type {number} */ (this.#words[sizeof("size_t") === 8 ? LENGTH + LOW : LENGTH]);
  }

  /** @param {number} at */
  #handle(at) {
    const words = /** @type {any} */ (this.#words);
    return words[at + LOW] + words[at + 1 - LOW] * HALF;
  }

  /** @param {number} at @param {number} handle */
  #put(at, handle) {
    this.#words[at + LOW] = handle % HALF;
    this.#words[at + 1 - LOW] = Math.floor(handle / HALF);
  }
}

module.exports = { Carrier };
