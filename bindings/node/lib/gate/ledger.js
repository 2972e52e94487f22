"use strict";
// A ledger service: holds the orbs of calls before their handlers run, and settles them afterwards.
const { fetchOver, readSecret } = require("#system");
const { NAMES } = require("../names.js");
const { monotonicMs, read, tell } = require("./keys.js");
const { MESSAGES } = require("./messages.js");
const { Steps } = require("./steps.js");

/** @typedef {import("./messages.js").Charge} Charge */
/** @typedef {import("./messages.js").HoldStep} HoldStep */

const OPTIONS = ["url", "secret", "secretFile", "onCancelled", "onBroken", "onToolError", "onInputRequired", "ttlMs", "timeoutMs", "queue", "ceiling"];

const COSTS = ["capture", "void", "stated"];
const captures = (/** @type {string | undefined} */ costs) => costs === "capture" || costs === "stated";
const voids = (/** @type {string | undefined} */ costs) => costs === "void" || costs === "stated";

class Ledger {
  #url;
  #file;
  #given;
  /** Where the service is, and its secret. */
  #at;
  #use;
  /** The library's part. */
  #step;
  #isSending = false;
  /** The settlements that wait for the service. */
  #waiting = 0;
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  /** What was counted of the step. */
  #counted = { captured: 0, voided: 0, lost: 0, over: 0 };
  /** Counts and logs; the last gate's, if several share the ledger. @type {{ counted(name: string, labels: Record<string, string>): void, log: import("../../gate.js").Log }} */
  observer = { counted: () => {}, log: console };

  /** @param {import("../../gate.js").LedgerOptions} options */
  constructor(options) {
    const { url, secret, secretFile, onCancelled, onBroken, onToolError, onInputRequired, ttlMs = 0, timeoutMs = 0, queue = 0, ceiling = 1 } = options;
    const other = Object.keys(options).find((name) => !OPTIONS.includes(name));
    if (other !== undefined) {
      throw new TypeError(`a ledger has no option \`${other}\``);
    }
    this.#url = String(url);
    if ((secret === undefined) === (secretFile === undefined)) {
      throw new TypeError("a ledger needs either `secret` or `secretFile`");
    }
    if (!COSTS.includes(onCancelled)) {
      throw new TypeError("`onCancelled` is capture, void or stated; it has no default");
    }
    if (onBroken !== undefined && !COSTS.includes(onBroken)) {
      throw new TypeError("`onBroken` is capture, void or stated");
    }
    if ([onToolError, onInputRequired].some((one) => one !== undefined && !COSTS.includes(one)) || (onToolError === undefined) !== (onInputRequired === undefined)) {
      throw new TypeError("`onToolError` and `onInputRequired` are each capture, void or stated, for gates with an MCP endpoint");
    }
    if (!Number.isSafeInteger(ceiling) || ceiling < 1) {
      throw new TypeError("`ceiling` is an integer from 1");
    }
    this.chargesMcp = onToolError !== undefined;
    this.#file = secretFile;
    this.#given = secret;
    this.#at = this.#read();
    this.#use = { number: MESSAGES.USE_LEDGER, capturesCancelled: captures(onCancelled), voidsCancelled: voids(onCancelled), ttlMs, timeoutMs, queue, ceiling,
      capturesBroken: captures(onBroken), voidsBroken: voids(onBroken),
      capturesToolErrors: captures(onToolError), voidsToolErrors: voids(onToolError),
      capturesInputRequired: captures(onInputRequired), voidsInputRequired: voids(onInputRequired) };
    this.#step = Steps.keep(this.#use);
  }

  readSecret() {
    this.#at = this.#read();
  }

  #read() {
    const secret = this.#file === undefined ? this.#given : readSecret(true, this.#file);
    const text = secret instanceof Uint8Array ? new TextDecoder().decode(secret) : String(secret);
    return /** @type {import("./messages.js").LedgerAt} */ (Steps.ask({ number: MESSAGES.CHECK_LEDGER, url: this.#url, secret: text }));
  }

  /**
   * Holds the orbs of a call.
   * @param {Uint8Array} id
   * @param {Charge} charge
   * @param {() => boolean} hasLeft whether the caller has left
   * @returns {Promise<{ isHeld: boolean, step: HoldStep }>} what isn't held is denied
   */
  async hold(id, { account, amount, bonus, note }, hasLeft) {
    let step = this.#ask({ number: MESSAGES.HOLD, id, account, amount, bonus, note, monotonicMs: monotonicMs() });
    for (;;) {
      if (hasLeft() && !step.mayRun) {
        this.ended(id, { cancelled: false, broken: false, status: 0, neverRan: true, response: 0 });
        return { isHeld: false, step };
      }
      if (step.path !== "") {
        const { status, body } = await this.#post(step);
        step = this.#ask({ number: MESSAGES.HELD, id, status, body, unixMs: Date.now(), monotonicMs: monotonicMs() });
      } else if (step.untilMs !== 0) {
        const pause = Math.max(1, step.untilMs - monotonicMs());
        await new Promise((resolve) => setTimeout(resolve, pause));
        step = this.#ask({ number: MESSAGES.WAITED, id, monotonicMs: monotonicMs() });
      } else {
        this.observer.counted(NAMES.HOLDS_TOTAL, { [NAMES.LABEL_RESULT]: step.result });
        this.#send(); // A denied hold is voided, and a held one has a heartbeat.
        return { isHeld: step.mayRun, step };
      }
    }
  }

  /**
   * The handler of a held call has ended.
   * @param {Uint8Array} id
   * @param {{ cancelled: boolean, broken: boolean, status: number, neverRan: boolean, response: number, stated?: number }} outcome
   */
  ended(id, { stated, ...outcome }) {
    try {
      const { notice } = this.#replyTo({ number: MESSAGES.ENDED, id, ...outcome, isStated: stated !== undefined, stated: stated ?? 0, monotonicMs: monotonicMs() });
      if (notice !== "") {
        this.observer.log.warn(`orbgate: ${notice}`);
      }
    } catch (error) {
      this.observer.log.error(`orbgate: a call is not charged: ${error instanceof Error ? error.message : error}`);
    }
    this.#send();
  }

  /** Sends a first message, so that the log shows a wrong secret at the start. */
  look() {
    this.#send();
  }

  /** Waits until no settlement waits for the service. */
  async flush() {
    while (this.#waiting > 0 || this.#isSending) { // A denied hold is voided, too.
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /**
   * @param {any} question
   * @returns {any}
   */
  #replyTo(question) {
    const reply = this.#step.ask(question);
    if (reply.number === MESSAGES.LEDGERED) {
      this.#waiting = reply.waiting;
    }
    return reply;
  }

  /**
   * @param {any} question
   * @returns {HoldStep}
   */
  #ask(question) {
    const reply = this.#replyTo(question);
    if (reply.number !== MESSAGES.HOLD_STEP) {
      throw new Error("a ledger's step has answered another question");
    }
    return reply;
  }

  /** Sends what there is to send, one message after another. */
  #send() {
    if (!this.#isSending) {
      this.#isSending = true;
      this.#sending().catch((error) => this.observer.log.error(`orbgate: settling orbs failed: ${error.message}`));
    }
  }

  async #sending() {
    clearTimeout(this.#timer);
    try {
      for (;;) {
        const reply = this.#replyTo({ number: MESSAGES.NEXT_LEDGER_CALL, monotonicMs: monotonicMs() });
        if (reply.number !== MESSAGES.LEDGER_CALL) {
          this.#report(reply);
          return;
        }
        const { status, body } = await this.#post(reply);
        this.#replyTo({ number: MESSAGES.LEDGER_CALLED, call: reply.call, status, body, monotonicMs: monotonicMs() });
      }
    } finally {
      this.#isSending = false; // At once, so that nothing that ends now is left for later.
    }
  }

  /** @param {import("./messages.js").Ledgered} now */
  #report(now) {
    for (; this.#counted.over < now.over; this.#counted.over++) {
      this.observer.counted(NAMES.OVER_CEILING_TOTAL, {});
    }
    for (const result of /** @type {const} */ (["captured", "voided", "lost"])) {
      const newly = now[result] - this.#counted[result];
      for (let count = 0; count < newly; count++) {
        this.observer.counted(NAMES.SETTLEMENTS_TOTAL, { [NAMES.LABEL_RESULT]: result });
      }
      if (result === "lost" && newly > 0) {
        this.observer.log.error(`orbgate: ${newly} settlements are lost: the ledger did not take them before their holds expired`);
      }
      this.#counted[result] = now[result];
    }
    if (now.wakes) {
      this.#timer = setTimeout(() => this.#send(), Math.max(1, now.wakeMs - monotonicMs()));
      if (now.waiting === 0) {
        this.#timer.unref(); // A heartbeat keeps no program alive.
      }
    }
  }

  /**
   * @param {{ path: string, body: Uint8Array, timeoutMs: number }} call
   * @returns {Promise<{ status: number, body: Uint8Array }>} the status 0 without an answer
   */
  async #post({ path, body, timeoutMs }) {
    const signal = AbortSignal.timeout(timeoutMs);
    const text = new TextDecoder().decode(body); // The library's memory changes.
    const send = async () => {
      const { base, socket, secret, mostBytes } = this.#at;
      const headers = { "authorization": `Bearer ${secret}`, "content-type": "application/json" };
      const options = { method: "POST", redirect: /** @type {const} */ ("manual"), signal, headers, body: text };
      const response = await (socket === "" ? fetch(base + path, options) : fetchOver(socket, path, options));
      return { status: response.status, body: await read(response.body, mostBytes) ?? new Uint8Array(0) };
    };
    try {
      const { secret } = this.#at;
      let reply = await send();
      if (reply.status === 401 && this.#file !== undefined) {
        this.readSecret();
        reply = this.#at.secret === secret ? reply : await send();
      }
      this.#tell(reply, "");
      return reply;
    } catch (error) {
      const { name, cause } = /** @type {{ name?: string, cause?: { code?: string } }} */ (Object(error));
      const reply = { status: 0, body: new Uint8Array(0) };
      this.#tell(reply, `${cause?.code ?? name}`);
      return reply;
    }
  }

  /**
   * Logs what has changed about the service.
   * @param {{ status: number, body: Uint8Array }} reply
   * @param {string} failure
   */
  #tell(reply, failure) {
    tell(this.observer.log, this.#replyTo({ number: MESSAGES.LEDGER_REPLIED, url: this.#url, ...reply, failure }));
  }
}

module.exports = { Ledger };
