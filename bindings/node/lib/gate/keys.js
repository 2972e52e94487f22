"use strict";
// The issuers' keys, and what they say of opaque tokens: fetches what a gate asks for, one task for each attempt, and wakes the requests that wait for it.
const { CODES } = require("../layout.js");
const { OK, check } = require("../errors.js");
const { text } = require("../library.js");
const { lengthOf } = require("../text.js");
const { gates, gateSizes } = require("./abi.js");

/**
 * @typedef {import("../../gate.js").IssuerStatus} IssuerStatus
 * @typedef {import("../../gate.js").FetchKeys} FetchKeys
 */

/** The clock by which keys are fetched, in whole milliseconds: nobody sets it. */
const monotonicMs = () => Math.floor(performance.now());

class Keys {
  #open;
  #fetchKeys;
  #log;
  /** Wake the requests that wait. @type {Set<() => void>} */
  #waiting = new Set();
  /** Why an issuer's last attempt failed, as it was logged. @type {Map<string, string | null>} */
  #logged = new Map();

  /**
   * @param {() => number} open the gate's pointer; throws if it is closed
   * @param {FetchKeys} fetchKeys
   * @param {import("../../gate.js").Log} log
   */
  constructor(open, fetchKeys, log) {
    this.#open = open;
    this.#fetchKeys = fetchKeys;
    this.#log = log;
  }

  /** Fetches what there is to fetch. Each call of the gate may have asked for something. */
  start() {
    for (;;) {
      const fetch = [0];
      check(gates.nextFetch(this.#open(), monotonicMs(), fetch), "cannot ask what to fetch");
      if (fetch[0] === 0) {
        return;
      }
      this.#run(/** @type {number} */ (fetch[0])).catch((error) => {
        if (error.code !== "closed") {
          this.#log.error(`orbgate: cannot take keys: ${error.message}`);
        }
      });
    }
  }

  /**
   * Waits until what a step waits for is over.
   * @param {number} step
   * @param {number} untilMs
   */
  async wait(step, untilMs) {
    for (;;) {
      const over = [0];
      check(gates.isOver(this.#open(), step, monotonicMs(), over), "cannot wait for keys");
      if (over[0] === 1) {
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
    const status = [0];
    check(gates.status(this.#open(), status), "cannot ask for the keys");
    const pointer = /** @type {number} */ (status[0]);
    try {
      const found = [];
      for (let info = issuer(pointer, 0); info !== null; info = issuer(pointer, found.length)) {
        found.push(info);
      }
      return found;
    } finally {
      gates.statusFree(pointer);
    }
  }

  /**
   * One attempt: a document, or discovery and then the keys.
   * @param {number} first
   */
  async #run(first) {
    try {
      for (let fetch = first; fetch !== 0;) {
        fetch = await this.#fetch(fetch);
      }
      this.#say();
      // Another token might have waited for its turn.
      this.start();
    } finally {
      this.wake();
    }
  }

  /**
   * @param {number} fetch
   * @returns {Promise<number>} what to fetch next for the attempt, or 0
   */
  async #fetch(fetch) {
    try {
      const question = fetchOf(fetch);
      const came = await get(this.#fetchKeys, question);
      // Throws if the library has lost the attempt, whose number another may have by now.
      fetchOf(fetch);
      return this.#report(question.attempt, came);
    } finally {
      gates.fetchFree(fetch);
    }
  }

  /**
   * Tells the gate what came.
   * @param {number} attempt
   * @param {Fetched | number} came
   */
  #report(attempt, came) {
    if (typeof came === "number") {
      check(gates.fetchFailed(this.#open(), attempt, came, monotonicMs()), "cannot report a failure");
      return 0;
    }
    const { status, cacheControl, body } = came;
    const next = [0];
    const taken = gates.fetched(
      this.#open(), attempt, status, cacheControl, lengthOf(cacheControl), body, body.length, monotonicMs(), next,
    );
    check(taken, "cannot report what came");
    return /** @type {number} */ (next[0]);
  }

  /** Logs what has changed. */
  #say() {
    for (const { issuer: name, opaque, failure } of this.status()) {
      if (failure !== (this.#logged.get(name) ?? null)) {
        this.#logged.set(name, failure);
        const [what, again] = opaque ? ["opaque tokens", "asked about again"] : ["keys", "fetched again"];
        this.#log.warn(`orbgate: ${what} of ${name}: ${failure ?? again}`);
      }
    }
  }
}

/** @param {number} fetch */
function fetchOf(fetch) {
  const info = { struct_size: gateSizes.FetchInfo };
  check(gates.fetchInfo(fetch, info), "cannot read what to fetch");
  const { attempt, url, timeout_ms: timeoutMs, max_bytes: maxBytes, body, authorization } = /** @type {any} */ (info);
  return { attempt, url: text(url) ?? "", timeoutMs, maxBytes, body: text(body), authorization: text(authorization) };
}

/**
 * @param {number} status
 * @param {number} at
 * @returns {IssuerStatus | null}
 */
function issuer(status, at) {
  const info = { struct_size: gateSizes.IssuerStatus };
  if (gates.issuerStatus(status, at, info) !== OK) {
    return null;
  }
  const { key_count: keyCount, fetched_ms: fetchedMs, issuer: name, failure, warnings, opaque } = /** @type {any} */ (info);
  return Object.freeze({
    issuer: text(name) ?? "", keyCount, ageMs: keyCount === 0 ? null : monotonicMs() - fetchedMs, failure: text(failure),
    warnings: (text(warnings) ?? "").split("\n").filter(Boolean), opaque: opaque === 1,
  });
}

/**
 * What came, or why nothing did.
 * @typedef {{ status: number, cacheControl: string, body: Uint8Array }} Fetched
 */

/**
 * What to fetch. With a body it is a question about a token, for a `POST` with these credentials.
 * @typedef {{ url: string, timeoutMs: number, maxBytes: number, body: string | null, authorization: string | null }} Question
 */

/**
 * Makes one request to an issuer, for a document or about an opaque token: bounded in time and size, without redirects. It never throws.
 * @param {FetchKeys} fetchKeys
 * @param {Question} question
 * @returns {Promise<Fetched | number>} or one of `FETCH_…`
 */
async function get(fetchKeys, question) {
  const signal = AbortSignal.timeout(question.timeoutMs);
  // A function that does not heed the signal is not waited for, either.
  const late = new Promise((_, reject) => signal.addEventListener("abort", reject, { once: true }));
  try {
    return await Promise.race([fetched(fetchKeys, question, signal), /** @type {Promise<never>} */ (late)]);
  } catch {
    return signal.aborted ? CODES.FETCH_TIMEOUT : CODES.FETCH_UNREACHABLE;
  }
}

/**
 * @param {FetchKeys} fetchKeys
 * @param {Question} question
 * @param {AbortSignal} signal
 * @returns {Promise<Fetched | number>}
 */
async function fetched(fetchKeys, { url, maxBytes, body: asked, authorization }, signal) {
  /** @type {Record<string, string>} */
  const headers = { accept: "application/json" };
  /** @type {{ method?: "POST", body?: string }} */
  let post = {};
  if (asked !== null) {
    headers["content-type"] = "application/x-www-form-urlencoded";
    headers.authorization = authorization ?? "";
    post = { method: "POST", body: asked };
  }
  const response = await fetchKeys(url, { redirect: "manual", signal, headers, ...post });
  const body = await read(response.body, maxBytes);
  if (body === null) {
    return CODES.FETCH_TOO_LARGE;
  }
  // A browser hides the status of a redirect.
  return { status: response.status || 302, cacheControl: response.headers.get("cache-control") ?? "", body };
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

module.exports = { Keys, monotonicMs };
