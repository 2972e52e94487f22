"use strict";
// The issuers' keys, and what they say of opaque tokens: fetches what a gate asks for, one task for each attempt, and wakes the requests that wait for it.
const { CODES } = require("../layout.js");
const { MESSAGES } = require("./messages.js");

/**
 * @typedef {import("../../gate.js").IssuerStatus} IssuerStatus
 * @typedef {import("../../gate.js").FetchKeys} FetchKeys
 * @typedef {import("./steps.js").Replied} Replied
 * @typedef {Replied & import("./messages.js").Call} Call
 * @typedef {InstanceType<typeof import("./steps.js").Steps>} Steps
 */

/** The clock by which keys are fetched, in whole milliseconds: nobody sets it. */
const monotonicMs = () => Math.floor(performance.now());

/** The method that logs each level. @type {Record<string, "info" | "warn" | "error">} */
const LOG = { info: "info", warning: "warn", error: "error" };

/**
 * Logs what the library says.
 * @param {import("../../gate.js").Log} log
 * @param {{ notices: string, levels: string }} done
 */
function tell(log, { notices, levels }) {
  const methods = levels.split("\n").map((level) => LOG[level]);
  for (const [at, notice] of notices.split("\n").filter(Boolean).entries()) {
    log[methods[at] ?? "error"](`orbgate: ${notice}`);
  }
}

class Keys {
  #steps;
  #fetchKeys;
  #log;
  /** Wake the requests that wait. @type {Set<() => void>} */
  #waiting = new Set();

  /**
   * @param {Steps} steps
   * @param {FetchKeys} fetchKeys
   * @param {import("../../gate.js").Log} log
   */
  constructor(steps, fetchKeys, log) {
    this.#steps = steps;
    this.#fetchKeys = fetchKeys;
    this.#log = log;
  }

  /** Makes the calls that there are to make, after an answer that there may be some. */
  start() {
    for (;;) {
      const reply = this.#steps.ask(null, { number: MESSAGES.NEXT_CALL, monotonicMs: monotonicMs() });
      if (reply.number !== MESSAGES.CALL) {
        tell(this.#log, this.#steps.answered(MESSAGES.DONE, reply));
        return;
      }
      this.#run(reply).catch((error) => {
        if (error.code !== "closed") {
          this.#log.error(`orbgate: cannot take keys: ${error.message}`);
        }
      });
    }
  }

  /**
   * Waits until what a step waits for is over.
   * @param {unknown} step
   * @param {number} untilMs
   */
  async wait(step, untilMs) {
    for (;;) {
      const reply = this.#steps.ask(null, { number: MESSAGES.IS_OVER, monotonicMs: monotonicMs() }, step);
      if (this.#steps.answered(MESSAGES.OVER, reply).isOver) {
        return;
      }
      await new Promise((/** @type {(_: void) => void} */ resolve) => {
        const wake = () => {
          clearTimeout(timer);
          this.#waiting.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, Math.max(1, untilMs - monotonicMs()));
        this.#waiting.add(wake);
      });
    }
  }

  /** Has every request that waits look again. */
  wake() {
    for (const wake of this.#waiting) {
      wake();
    }
  }

  /** @returns {IssuerStatus[]} */
  status() {
    const now = monotonicMs();
    return this.#steps.answered(MESSAGES.KEY_STATUS, this.#steps.ask(null, { number: MESSAGES.STATUS })).issuers.map((from) => Object.freeze({
      // cargo xtask codes: issuer values
    issuer: from.issuer, keyCount: from.keyCount, failure: from.failure || null, opaque: from.opaque,
      // end of issuer values
      ageMs: from.keyCount === 0 ? null : now - from.fetchedMs, warnings: from.warnings.split("\n").filter(Boolean),
    }));
  }

  /**
   * One attempt: a document, or discovery and then the keys.
   * @param {Call} first
   */
  async #run(first) {
    try {
      /** @type {Replied} */
      let reply = first;
      while (reply.number === MESSAGES.CALL) {
        reply = this.#report(reply, await get(this.#fetchKeys, reply, this.#log));
      }
      this.#steps.answered(MESSAGES.DONE, reply);
      // Another token might have waited for its turn.
      this.start();
    } finally {
      this.wake();
    }
  }

  /**
   * Tells the gate what came. The step throws if the library has lost the attempt, whose number another may have by now.
   * @param {Call} call
   * @param {Came | number} came
   */
  #report({ attempt, step }, came) {
    const result = typeof came === "number" ? { failure: came } : came;
    return this.#steps.ask(null, { number: MESSAGES.CALLED, attempt, ...result, monotonicMs: monotonicMs() }, step);
  }
}

/** What came. @typedef {{ status: number, headers: import("./messages.js").Header[], body: Uint8Array }} Came */

/**
 * Makes a call to an issuer, for a document or about an opaque token: bounded in time and size, without redirects. It never throws.
 * @param {FetchKeys} fetchKeys
 * @param {import("./messages.js").Call} call
 * @param {import("../../gate.js").Log} log
 * @returns {Promise<Came | number>} or one of `FETCH_…`
 */
async function get(fetchKeys, call, log) {
  const signal = AbortSignal.timeout(call.timeoutMs);
  // A function that does not heed the signal is not waited for, either.
  const late = new Promise((_, reject) => signal.addEventListener("abort", reject, { once: true }));
  try {
    return await Promise.race([fetched(fetchKeys, call, signal), /** @type {Promise<never>} */ (late)]);
  } catch (error) {
    // An error of a question could quote its secret or its token.
    if (call.body === null && !signal.aborted) {
      const { message, cause } = /** @type {Error} */ (Object(error));
      log.warn(`orbgate: ${call.url} cannot be fetched: ${/** @type {{ message?: string }} */ (cause)?.message || message}`);
    }
    return signal.aborted ? CODES.FETCH_TIMEOUT : CODES.FETCH_UNREACHABLE;
  }
}

/**
 * @param {FetchKeys} fetchKeys
 * @param {import("./messages.js").Call} call
 * @param {AbortSignal} signal
 * @returns {Promise<Came | number>}
 */
async function fetched(fetchKeys, { method, url, headers: lines, body: sent, maxBytes }, signal) {
  const headers = Object.fromEntries(lines.map(({ name, value }) => [name.toLowerCase(), value]));
  const more = sent === null ? {} : { body: new TextDecoder().decode(sent) };
  const response = await fetchKeys(url, { redirect: "manual", signal, headers, method, ...more });
  const body = await read(response.body, maxBytes);
  if (body === null) {
    return CODES.FETCH_TOO_LARGE;
  }
  const value = response.headers.get("cache-control");
  // A browser hides the status of a redirect.
  return { status: response.status || 302, headers: value === null ? [] : [{ name: "cache-control", value }], body };
}

/**
 * @param {ReadableStream<Uint8Array> | null} stream
 * @param {number} maxBytes
 * @returns {Promise<Uint8Array | null>} none if there is more
 */
async function read(stream, maxBytes) {
  const chunks = [];
  let length = 0;
  if (stream !== null) {
    const reader = stream.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      chunks.push(next.value);
      length += next.value.length;
      if (length > maxBytes) {
        await reader.cancel();
        return null;
      }
    }
  }
  const body = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}

module.exports = { Keys, monotonicMs, read, tell };
