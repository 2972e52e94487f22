"use strict";
// A gate of the library, which is asked with messages.
const { CODES } = require("../layout.js");
const { openOf } = require("../engine.js");
const { PolicyError, check, closed, failure } = require("../errors.js");
const { foreign, functions, text } = require("../library.js");
const { gates } = require("./abi.js");
const { MESSAGES, read, write } = require("./messages.js");
const { Writer } = require("./wire.js");

/**
 * @typedef {import("./messages.js").Question} Question
 * @typedef {import("./messages.js").Reply} Reply
 * @typedef {InstanceType<typeof import("../engine.js").Engine>} Engine
 */

/** The library's part of a request that waits, or of a call. @typedef {any} Step */

/** An answer, and the step that the next question about it needs. @typedef {Reply & { step?: Step }} Replied */

const carrier = foreign.carrier();

const writer = new Writer();

/** More are freed: few requests wait at once. */
const MOST_IDLE = 256;

/** After these answers, the library keeps something for a step. @type {Set<number>} */
const KEPT = new Set([MESSAGES.WAIT, MESSAGES.CHECK_SIGNATURE, MESSAGES.OVER, MESSAGES.CALL, MESSAGES.READ_BODY]);

class Steps {
  #gate = 0;
  /** Steps of no request. @type {Step[]} */
  #idle = [];

  /** @param {import("./messages.js").Make} make throws what is wrong with it */
  constructor(make) {
    const message = longMessage(make);
    const step = newStep();
    try {
      check(carrier.sendLong(0, 0, step, message), "cannot make a gate");
      this.answered(MESSAGES.DONE, replied());
      check(carrier.takeGate(step, message), "cannot make a gate");
      this.#gate = carrier.made;
    } finally {
      carrier.freeStep(step);
    }
  }

  /**
   * Asks a question that needs no gate.
   * @param {Question} question
   */
  static ask(question) {
    const step = newStep();
    try {
      check(carrier.sendLong(0, 0, step, longMessage(question)), "cannot ask a gate");
      return replied();
    } finally {
      carrier.freeStep(step);
    }
  }

  /**
   * A step of its own, which needs no gate and stays with its first question. If the library has lost it, so is what it kept, and it begins again.
   * @param {Question} first
   */
  static keep(first) {
    let step = newStep();
    const send = (/** @type {Question} */ question) => {
      check(carrier.sendLong(0, 0, step, longMessage(question)), "cannot ask a ledger");
      return replied();
    };
    return {
      first: send(first),
      close: () => carrier.freeStep(step),
      ask: (/** @type {Question} */ question) => {
        if (carrier.isLost(step)) {
          step = newStep();
          send(first);
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
   * @param {boolean} [keeps] whether the step stays after any answer: end it with `over`
   * @returns {Replied}
   */
  ask(engine, question, step, keeps = false) {
    /** @type {Replied | null} */
    let reply = null;
    let current = step;
    try {
      carrier.begin(writer);
      write(writer, question);
      const [gate, decides] = [this.pointer, engine === null ? 0 : openOf(engine)];
      current ??= this.#spare() ?? newStep();
      check(carrier.send(gate, decides, current, writer), "cannot ask a gate");
      reply = replied();
    } finally {
      if (reply !== null && (keeps || KEPT.has(reply.number) || (reply.number === MESSAGES.LOADED && reply.pauseMs > 0))) {
        reply.step = current;
      } else if (current !== undefined) {
        this.over(current, reply !== null);
      }
    }
    return /** @type {Replied} */ (reply);
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
      carrier.freeStep(step);
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
    gates.gateFree(this.#gate);
    this.#gate = 0;
    this.#idle.splice(0).forEach((step) => carrier.freeStep(step));
  }

  #spare() {
    const step = this.#idle.pop();
    if (step !== undefined && carrier.isLost(step)) {
      this.#idle.length = 0; // All of them went with the instance.
      return undefined;
    }
    return step;
  }

  /** @param {Step} step @param {boolean} isIdle whether the library keeps nothing that another request must not have */
  over(step, isIdle) {
    if (isIdle && this.#gate !== 0 && this.#idle.length < MOST_IDLE) {
      this.#idle.push(step);
    } else {
      carrier.freeStep(step);
    }
  }
}

/** @returns {Step} */
function newStep() {
  check(carrier.newStep(), "cannot ask a gate");
  return carrier.made;
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
