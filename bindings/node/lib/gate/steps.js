"use strict";
// A gate of the library, which is asked with messages.
const { CODES } = require("../layout.js");
const { openOf } = require("../engine.js");
const { PolicyError, check, closed, failure } = require("../errors.js");
const { foreign, functions, text } = require("../library.js");
const { MESSAGES, read, write } = require("./messages.js");
const { Writer } = require("./wire.js");

/**
 * @typedef {import("./messages.js").Question} Question
 * @typedef {import("./messages.js").Reply} Reply
 * @typedef {InstanceType<typeof import("../engine.js").Engine>} Engine
 */

/** The handle of a request that waits, or of a call; 0 for a new one. One that is over is never another's. @typedef {any} Step */

/** An answer, and the step that the next question about it needs. @typedef {Reply & { step?: Step }} Replied */

const carrier = foreign.carrier();

const writer = new Writer();

class Steps {
  #gate = 0;

  /** @param {import("./messages.js").Make} make throws what is wrong with it */
  constructor(make) {
    check(carrier.make(longMessage(make)), "cannot make a gate");
    this.answered(MESSAGES.DONE, replied());
    this.#gate = carrier.made;
  }

  /**
   * Asks a question that needs no gate.
   * @param {Question} question
   */
  static ask(question) {
    check(carrier.sendLong(0, 0, 0, longMessage(question)), "cannot ask a gate");
    return replied();
  }

  /**
   * A step that needs no gate and begins with its first question. If the library has lost it, so is what it kept, and it begins again.
   * @param {Question} first
   */
  static keep(first) {
    /** @type {Step} */
    let step = 0;
    let hasTrapped = false;
    const send = (/** @type {Question} */ question) => {
      const message = longMessage(question);
      let status;
      try {
        status = carrier.sendLong(0, 0, step, message);
      } finally {
        step = carrier.next;
      }
      hasTrapped = step === 0 && status === CODES.STATUS_PANIC;
      check(status, "cannot ask a ledger");
      return replied();
    };
    const begin = () => {
      try {
        return send(first);
      } catch (error) {
        carrier.endStep(step);
        step = 0;
        throw error;
      }
    };
    return {
      first: begin(),
      close: () => carrier.endStep(step),
      ask: (/** @type {Question} */ question) => {
        if (hasTrapped || carrier.isLost(step)) {
          step = 0;
          begin();
        }
        return send(question);
      },
    };
  }

  /**
   * Asks a question. If this throws, the step is over.
   * @param {Engine | null} engine that decides it
   * @param {Question} question
   * @param {Step} [step] of an earlier answer
   * @returns {Replied}
   */
  ask(engine, question, step) {
    let current = step ?? 0;
    try {
      carrier.begin(writer);
      write(writer, question);
      const [gate, decides] = [this.pointer, engine === null ? 0 : openOf(engine)];
      const status = carrier.send(gate, decides, current, writer);
      current = status === CODES.STATUS_OK ? carrier.next : 0; // What is refused is over, or another gate's.
      check(status, "cannot ask a gate");
      const reply = /** @type {Replied} */ (replied());
      if (current !== 0) {
        reply.step = current;
      }
      return reply;
    } catch (error) {
      carrier.endStep(current);
      throw error;
    }
  }

  /**
   * An answer that can only be this one.
   * @template {Reply["number"]} One
   * @param {One} number
   * @param {Replied} reply
   * @returns {Extract<Reply, { number: One }>}
   */
  answered(number, reply) {
    if (reply.number !== number) {
      this.drop(reply.step);
      throw failure(CODES.STATUS_PANIC, "a gate has answered another question");
    }
    return /** @type {any} */ (reply);
  }

  /**
   * Ends a request that isn't answered.
   * @param {Step} [step]
   */
  drop(step) {
    if (step !== undefined) {
      carrier.endStep(step);
    }
  }

  get isClosed() {
    return this.#gate === 0;
  }

  /** Throws if the gate is closed. */
  get pointer() {
    if (this.#gate === 0) {
      throw closed("gate");
    }
    return this.#gate;
  }

  close() {
    carrier.endGate(this.#gate);
    this.#gate = 0;
  }
}

/** @param {Question} question */
function longMessage(question) {
  const bytes = new Uint8Array(0);
  writer.begin(bytes, new DataView(bytes.buffer), 0, 0);
  write(writer, question);
  return writer.message;
}

/**
 * The last answer.
 * @returns {Reply}
 */
function replied() {
  const reply = read(carrier.bytes, carrier.view, carrier.from, carrier.to);
  if (reply === null) {
    throw failure(CODES.STATUS_PANIC, "the library is newer than this package and has an answer that it does not know");
  }
  if (reply.number === MESSAGES.FAILED) {
    const { status, message, diagnostics } = reply;
    const [{ line, column } = { line: 0, column: 0 }] = diagnostics;
    throw new PolicyError(text(functions.statusName(status)) ?? `status_${status}`, message, undefined, { line, column, path: null, diagnostics: diagnostics.map((one) => Object.freeze(one)) });
  }
  return reply;
}

module.exports = { Steps };
