"use strict";
// What can be observed of a gate: counters, an audit, a log. Labels are codes and templates, never a path, and nothing of a token.
const { NAMES } = require("../names.js");

/**
 * @typedef {import("../../gate.js").Answer} Answer
 * @typedef {import("../../gate.js").GateOptions} Options
 */

class Observer {
  #count;
  #audit;
  #debug;
  /** What was logged once. @type {Set<string>} */
  #logged = new Set();

  /** @param {Options} options */
  constructor({ count, audit, debug, log = console }) {
    this.#debug = debug === true;
    this.#count = count;
    this.#audit = audit;
    this.log = quiet(log);
  }

  get hasAudit() {
    return this.#audit !== undefined;
  }

  /**
   * @param {Answer} answer
   * @param {string | null} route that a misrouted request was allowed by
   * @param {string | null} line for the audit
   */
  answered({ decision, isAllow, refused, misrouted }, route, line) {
    this.counted(NAMES.DECISIONS_TOTAL, {
      [NAMES.LABEL_DECISION]: isAllow ? NAMES.EFFECT_ALLOW : NAMES.EFFECT_DENY, [NAMES.LABEL_REASON]: decision.reason,
      [NAMES.LABEL_ROUTE]: decision.route ?? "",
    });
    if (refused !== null) {
      this.counted(NAMES.TOKENS_REFUSED_TOTAL, { [NAMES.LABEL_REASON]: refused });
    }
    if (misrouted !== null) {
      this.#misrouted(route ?? "", misrouted);
    }
    if (line !== null) {
      attempt(() => this.#audit?.(line), (error) => {
        this.once("audit lines are lost: `audit` failed", error);
        this.counted(NAMES.AUDIT_LOST_TOTAL, {});
      });
    }
  }

  /**
   * Logs why a call is denied, if that is wanted. Without the query, which can have secrets in it, and without the token.
   * @param {InstanceType<typeof import("../engine.js").Engine>} engine
   * @param {Answer} answer
   * @param {import("../../index.js").Text} method
   * @param {import("../../index.js").Text} target
   */
  denied(engine, { isAllow, decision, token, misrouted }, method, target) {
    // The policy allows a misrouted request, so there is nothing to explain.
    if (!this.#debug || isAllow || misrouted !== null) {
      return;
    }
    attempt(() => {
      const string = (/** @type {import("../../index.js").Text} */ text) => (typeof text === "string" ? text : new TextDecoder().decode(text));
      const path = string(target).replace(/\?.*/s, "");
      const invalid = decision.reason === "invalid_token" ? { kind: "unknown", scopes: "" } : undefined;
      const known = token === null ? invalid : { kind: token.kind, scopes: token.scopes };
      const explained = engine.explain({ request: { method: string(method), target: path, token: known } });
      // Otherwise a header or the query, which `explain` doesn't get, is the cause.
      const explanation = explained.reason === decision.reason && explained.detail === decision.detail ? explained : decision;
      const line = JSON.stringify({ method: string(method), path, explanation }, (_, value) => (typeof value === "bigint" ? Number(value) : value));
      this.log.info(`orbgate: denied: ${line}`);
    }, (error) => this.once("denials are not explained", error));
  }

  /**
   * A version of the policy was activated, or why it was not.
   * @param {import("./messages.js").Loaded} reply
   */
  loaded({ status, result, message, warning }) {
    if (result !== "") {
      this.counted(NAMES.POLICY_LOADS_TOTAL, { [NAMES.LABEL_RESULT]: result });
    }
    if (message !== "") {
      this.log[status === 0 ? "info" : "error"](`orbgate: ${message}`);
    }
    if (warning !== "") {
      this.log.warn(`orbgate: ${warning}`);
    }
  }

  /**
   * @param {string} route
   * @param {string} matched
   */
  #misrouted(route, matched) {
    this.counted(NAMES.MISROUTED_TOTAL, { [NAMES.LABEL_ROUTE]: route, [NAMES.LABEL_MATCHED]: matched });
    const taken = matched === "" ? "a handler of another route, method or path would run" : `the router has chosen \`${matched}\``;
    this.once("requests are denied because the router disagrees with the policy", `\`${route}\`: ${taken}`);
  }

  /**
   * @param {string} name
   * @param {Record<string, string>} labels
   */
  counted(name, labels) {
    attempt(() => this.#count?.(name, labels), (error) => this.once("counts are lost: `count` failed", error));
  }

  /**
   * Logs an error once.
   * @param {string} message
   * @param {unknown} why
   */
  once(message, why) {
    if (!this.#logged.has(message)) {
      this.#logged.add(message);
      this.log.error(`orbgate: ${message}: ${reasonOf(why)}`);
    }
  }
}

/**
 * A log that never throws.
 * @param {import("../../gate.js").Log} log
 * @returns {import("../../gate.js").Log}
 */
function quiet(log) {
  const write = (/** @type {"info" | "warn" | "error"} */ level) => (/** @type {string} */ message) => attempt(() => log[level](message), () => {});
  return { info: write("info"), warn: write("warn"), error: write("error") };
}

/**
 * What a hook has thrown, as text: it can be anything, even something that has none.
 * @param {unknown} why
 */
function reasonOf(why) {
  try {
    return String(why instanceof Error ? why.message : why);
  } catch {
    return typeof why;
  }
}

/**
 * Calls a hook. One that is `async` fails later, and would end the process.
 * @param {() => unknown} call
 * @param {(error: unknown) => void} fail
 */
function attempt(call, fail) {
  try {
    const result = /** @type {any} */ (call());
    if (typeof result?.then === "function") {
      Promise.resolve(result).catch(fail);
    }
  } catch (error) {
    fail(error);
  }
}

module.exports = { Observer };
