"use strict";
// Carries messages to gates of the WebAssembly module.
const { CODES } = require("./layout.js");
const { ROOM, held, start, run, roomAt, reserve, placed, addressOf, release } = require("./wasm-memory.js");

/** @typedef {InstanceType<typeof import("./gate/wire.js").Writer>} Writer */
/** A step, which is lost with its instance. @typedef {{ of: object, address: number }} Step */

/** In the room: where the library writes a pointer, or a pointer and a length. A question comes after it. */
const OUT = 16;

/** As the one of `koffi-carrier.js`. A question is written into the module's memory, and its answer is read there. */
class Carrier {
  #newStep;
  #takeGate;
  #freeStep;
  #handleOf;
  /** What the library has made. @type {any} */
  made = null;
  bytes = held.bytes;
  view = held.memory;
  from = 0;
  to = 0;

  /** @param {(name: string, result: string, parameters: string[]) => any} func @param {(address: number, again: () => number) => number} handleOf */
  constructor(func, handleOf) {
    this.#newStep = func("orbgate_step_new", "int32_t", ["uint32_t"]);
    this.#takeGate = func("orbgate_step_gate", "int32_t", ["uint32_t", "uint32_t"]);
    this.#freeStep = func("orbgate_step_free", "void", ["uint32_t"]);
    this.#handleOf = handleOf;
  }

  newStep() {
    start();
    const status = this.#newStep(roomAt());
    this.made = { of: held.library, address: held.memory.getUint32(roomAt(), true) };
    return status;
  }

  /** @param {Step} step @param {Uint8Array} question that makes the gate again in another instance */
  takeGate(step, question) {
    const status = this.#takeGate(step.address, roomAt());
    if (status === CODES.STATUS_OK) {
      this.made = this.#handleOf(held.memory.getUint32(roomAt(), true), () => this.#again(question));
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
      this.#freeStep(address);
    }
  }

  /** @param {Writer} writer */
  begin(writer) {
    start();
    writer.begin(held.bytes, held.memory, roomAt() + OUT, roomAt() + ROOM);
  }

  /** @param {number} gate @param {number} engine @param {Step} step @param {Writer} writer */
  send(gate, engine, step, writer) {
    return writer.isLong ? this.sendLong(gate, engine, step, writer.message) : this.#sent(gate, engine, step, writer.base, writer.at - writer.base);
  }

  /** @param {number} gate @param {number} engine @param {Step} step @param {Uint8Array} message */
  sendLong(gate, engine, step, message) {
    start();
    reserve(OUT);
    try {
      return this.#sent(gate, engine, step, placed(message), message.length);
    } finally {
      release();
    }
  }

  /** @param {number} gate @param {number} engine @param {Step} step @param {number} at @param {number} length */
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
    const isMade = this.sendLong(0, 0, step, question) === CODES.STATUS_OK && this.#takeGate(step.address, roomAt()) === CODES.STATUS_OK;
    const address = isMade ? held.memory.getUint32(roomAt(), true) : 0;
    this.freeStep(step);
    return address;
  }
}

module.exports = { Carrier };
