"use strict";
// Carries messages to gates of the WebAssembly module.
const { CODES } = require("./layout.js");
const { asBytes } = require("./text.js");
const { ROOM, held, objects, start, run, roomAt, allocated, reserve, placed, addressOf, release } = require("./wasm-memory.js");

/** @typedef {InstanceType<typeof import("./gate/wire.js").Writer>} Writer */
/** A step, which is lost with its instance; 0 for a new one. @typedef {0 | { of: object, handle: number }} Step */

/** In the room: the handles of a gate and a step, and a length. A question comes after them, and its answer to the same place. */
const [GATE, STEP, LENGTH, OUT] = [0, 8, 16, 24];

const HALF = 2 ** 32;

/** As the one of `koffi-carrier.js`. A question is written into the module's memory, and its answer is read there. */
class Carrier {
  #endStep;
  #endGate;
  #handleOf;
  /** The gate that the last question has made. */
  made = 0;
  /** The step for the next question, whatever the status. @type {Step} */
  next = 0;
  bytes = held.bytes;
  view = held.memory;
  from = 0;
  to = 0;

  /** @param {(name: string, result: string, parameters: string[]) => any} func @param {(address: number, again: () => number) => number} handleOf */
  constructor(func, handleOf) {
    this.#endStep = func("orbgate_step_end", "void", ["uint32_t"]);
    this.#endGate = func("orbgate_gate_end", "void", ["uint32_t"]);
    this.#handleOf = handleOf;
  }

  /** @param {Uint8Array} message that makes the gate again in another instance */
  make(message) {
    const status = this.sendLong(0, 0, 0, message);
    const made = status === CODES.STATUS_OK ? handleAt(GATE) : 0;
    if (made !== 0) {
      this.made = this.#handleOf(made, () => (this.sendLong(0, 0, 0, message) === CODES.STATUS_OK ? handleAt(GATE) : 0));
    }
    return status;
  }

  /** @param {Step} step */
  isLost(step) {
    return step !== 0 && step.of !== held.library;
  }

  /** @param {Step} step one that is over is fine */
  endStep(step) {
    if (step !== 0 && !this.isLost(step)) {
      put(STEP, step.handle);
      this.#endStep(roomAt() + STEP);
    }
  }

  /** @param {number} gate */
  endGate(gate) {
    if (held.library !== null && objects.has(gate)) {
      put(GATE, addressOf(gate));
      this.#endGate(roomAt() + GATE);
    }
    objects.delete(gate);
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
    this.next = step; // Also if there is no room for the message.
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
    this.next = 0;
    if (this.isLost(step)) {
      throw new Error("a request was lost when the library trapped");
    }
    const decides = addressOf(engine);
    put(GATE, addressOf(gate));
    put(STEP, step === 0 ? 0 : step.handle);
    let status = this.#asked(decides, at, length, roomAt() + OUT, ROOM - OUT);
    [this.bytes, this.view, this.from] = [held.bytes, held.memory, roomAt() + OUT];
    if (status === CODES.STATUS_TOO_SMALL) {
      const size = lengthAt();
      let own, room;
      try {
        own = new ArrayBuffer(size);
        room = allocated(size);
      } catch (error) {
        if (held.library !== null) { // No question: the answer is dropped, and a request is over.
          this.#asked(decides, roomAt() + OUT, 1, roomAt() + OUT, 0);
        }
        throw error;
      }
      status = this.#asked(decides, 0, 0, room, size);
      if (status === CODES.STATUS_OK) {
        [this.bytes, this.view, this.from] = [asBytes(own), new DataView(own), 0];
        this.bytes.set(held.bytes.subarray(room, room + size));
      }
      if (held.library !== null) {
        run("orbgate_wasm_free", [room, size]);
      }
    }
    if (status === CODES.STATUS_OK) {
      this.to = this.from + lengthAt();
    }
    return status;
  }

  /** @param {number} engine @param {number} question @param {number} length @param {number} answer @param {number} room */
  #asked(engine, question, length, answer, room) {
    const own = roomAt();
    let status;
    try {
      status = run("orbgate_gate_ask", [own + GATE, engine, own + STEP, question, length, answer, room, own + LENGTH]);
    } catch {
      return CODES.STATUS_PANIC;
    }
    const handle = handleAt(STEP);
    this.next = handle === 0 ? 0 : { of: held.library, handle };
    return status;
  }
}

const lengthAt = () => held.memory.getUint32(roomAt() + LENGTH, true);

/** @param {number} at */
const handleAt = (at) => held.memory.getUint32(roomAt() + at, true) + held.memory.getUint32(roomAt() + at + 4, true) * HALF;

/** @param {number} at @param {number} handle */
function put(at, handle) {
  held.memory.setUint32(roomAt() + at, handle % HALF, true);
  held.memory.setUint32(roomAt() + at + 4, Math.floor(handle / HALF), true);
}

module.exports = { Carrier };
