"use strict";
// New versions of a policy file. The library judges them; files are read here.
const { fileURLToPath, readRegular } = require("#system");
const { Engine } = require("../engine.js");
const { OrbgateError, PolicyError, closed } = require("../errors.js");
const { functions, text } = require("../library.js");
const { lengthOf, whole } = require("../text.js");
const { monotonicMs } = require("./keys.js");
const { MESSAGES } = require("./messages.js");
const { readSecrets } = require("./options.js");

/**
 * @typedef {import("../../index.js").Text} Text
 * @typedef {import("./messages.js").Loaded} Loaded
 * @typedef {import("./messages.js").Reload} Reload
 * @typedef {import("./steps.js").Replied} Replied
 */

/** The longest pause of a timer. */
const MOST_MS = 2 ** 31 - 1;

class Reloads {
  #steps;
  #policy;
  #observer;
  #keys;
  #sources;
  #refuseWider;
  #charging;
  /** Those that are not closed. @type {Set<Watch>} */
  #watches = new Set();

  /**
   * @param {InstanceType<typeof import("./steps.js").Steps>} steps
   * @param {InstanceType<typeof import("../handle.js").Handle>} policy
   * @param {InstanceType<typeof import("./observe.js").Observer>} observer
   * @param {InstanceType<typeof import("./keys.js").Keys>} keys
   * @param {import("./messages.js").SecretSource[]} sources of the secrets, if the library can't read them
   * @param {boolean} refuseWider
   * @param {() => { hasLedger: boolean, amounts: string[], failure: string }} charging reads a ledger's secret again
   */
  constructor(steps, policy, observer, keys, sources, refuseWider, charging) {
    this.#steps = steps;
    this.#policy = policy;
    this.#observer = observer;
    this.#keys = keys;
    this.#sources = sources;
    this.#refuseWider = refuseWider;
    this.#charging = charging;
  }

  /** @param {Text | URL} file */
  reload(file) {
    const { engine, error } = this.look(pathOf(file), { isTold: true });
    if (engine === null) {
      throw error();
    }
    return engine;
  }

  /**
   * @param {Text | URL} file
   * @param {import("../../gate.js").WatchOptions} options
   */
  watch(file, { intervalMs = 2_000, requireSeal = false, ...others } = {}) {
    const [other] = Object.keys(others);
    if (other !== undefined) {
      throw new TypeError(`\`watch\` has no option \`${other}\``);
    }
    if (!Number.isInteger(intervalMs) || intervalMs < 1 || intervalMs > MOST_MS) {
      throw new RangeError(`\`intervalMs\` is from 1 to ${MOST_MS}`);
    }
    const settings = { intervalMs, requireSeal: requireSeal === true };
    const drop = (/** @type {Watch} */ watch, /** @type {unknown} */ step) => {
      this.#watches.delete(watch);
      this.#steps.drop(step);
    };
    const fail = (/** @type {unknown} */ why) => this.#observer.once("the policy file is not followed", why);
    if (this.#steps.isClosed) {
      throw closed("gate");
    }
    const path = pathOf(file);
    const watch = new Watch(intervalMs, (isTold, step) => this.look(path, { ...settings, isTold }, step), drop, fail);
    this.#watches.add(watch);
    if (this.#steps.isClosed) { // by a hook
      watch.close();
    }
    return watch;
  }

  /**
   * Reads the file, and activates what the library takes.
   * @param {string | Uint8Array} file
   * @param {Pick<Reload, "isTold" | "intervalMs" | "requireSeal">} settings
   * @param {unknown} [step] that follows the file; if this throws, it is over
   */
  look(file, settings, step) {
    let current = step;
    try {
      return this.#look(file, settings, step, (next) => {
        current = next;
      });
    } catch (error) {
      this.#steps.drop(current);
      throw error;
    }
  }

  /**
   * @param {string | Uint8Array} file
   * @param {Pick<Reload, "isTold" | "intervalMs" | "requireSeal">} settings
   * @param {unknown} step
   * @param {(next: unknown) => void} follow
   */
  #look(file, settings, step, follow) {
    const path = typeof file === "string" ? file : new TextDecoder().decode(file);
    const read = readFile(file);
    const { secrets, failure } = readSecrets(this.#sources);
    const charging = this.#charging();
    const question = {
      number: MESSAGES.RELOAD, policy: read.policy, failure: read.failure, refuseWider: this.#refuseWider, secrets,
      secretsFailure: failure || charging.failure, hasLedger: charging.hasLedger, amounts: charging.amounts,
      monotonicMs: monotonicMs(), file: path, ...settings,
    };
    const active = this.#policy.load();
    const reply = this.#steps.answered(MESSAGES.LOADED, this.#steps.ask(active, /** @type {Reload} */ (question), step));
    const { step: next } = /** @type {Replied} */ (reply);
    follow(next);
    let engine = null;
    if (reply.isLoaded) {
      engine = Engine.fromYaml(read.policy);
      this.#policy.store(engine);
    }
    this.#observer.loaded(reply);
    this.#keys.start();
    const error = () => errorOf(reply, path, read.cause);
    return { engine, error, step: next, pauseMs: reply.pauseMs };
  }

  close() {
    this.#watches.forEach((watch) => watch.close());
  }
}

class Watch {
  #intervalMs;
  #look;
  #drop;
  #fail;
  /** @type {unknown} */
  #step = undefined;
  /** @type {any} */
  #timer = undefined;
  #isClosed = false;
  #isLooking = false;
  /** A hook has asked for a look, which begins after this one. */
  #isAsked = false;

  /**
   * @param {number} intervalMs
   * @param {(isTold: boolean, step: unknown) => { step?: unknown, pauseMs: number }} look
   * @param {(watch: Watch, step: unknown) => void} drop
   * @param {(why: unknown) => void} fail
   */
  constructor(intervalMs, look, drop, fail) {
    this.#intervalMs = intervalMs;
    this.#look = look;
    this.#drop = drop;
    this.#fail = fail;
    this.#next(false);
  }

  readNow() {
    if (!this.#isClosed) {
      this.#next(true);
    }
  }

  close() {
    clearTimeout(this.#timer);
    this.#drop(this, this.#step);
    [this.#step, this.#isClosed] = [undefined, true];
  }

  [Symbol.dispose]() {
    this.close();
  }

  /** @param {boolean} isTold */
  #next(isTold) {
    if (this.#isLooking) {
      this.#isAsked = true;
      return;
    }
    [this.#isLooking, this.#isAsked] = [true, false];
    clearTimeout(this.#timer);
    const step = this.#step;
    this.#step = undefined; // If this throws, the step is over.
    let pauseMs = this.#intervalMs;
    try {
      ({ step: this.#step, pauseMs } = this.#look(isTold, step));
    } catch (error) {
      this.#fail(error);
    }
    this.#isLooking = false;
    if (this.#isClosed) { // by a hook
      this.close();
      return;
    }
    const isAsked = this.#isAsked;
    this.#timer = setTimeout(() => this.#next(isAsked), isAsked ? 0 : pauseMs);
    this.#timer.unref?.();
  }
}

/** @param {Text | URL} file */
function pathOf(file) {
  const path = file instanceof URL ? fileURLToPath(file) : file;
  lengthOf(whole(path)); // Anything but a text throws.
  return path;
}

/**
 * What is in a file, or why it can't be read.
 * @param {string | Uint8Array} file
 */
function readFile(file) {
  try {
    const policy = readRegular(file, (why, cause) => {
      throw new OrbgateError("io", why, { cause });
    });
    return { policy, failure: "", cause: undefined };
  } catch (error) {
    if (!(error instanceof OrbgateError)) {
      throw error;
    }
    return { policy: new Uint8Array(0), failure: error.message, cause: error.cause };
  }
}

/**
 * Why a version is not active.
 * @param {Loaded} reply
 * @param {string} path
 * @param {unknown} cause of a file that cannot be read
 */
function errorOf({ result, reason, status, diagnostics }, path, cause) {
  const code = OWN.has(result) ? result : text(functions.statusName(status)) ?? `status_${status}`;
  const [{ line, column } = { line: 0, column: 0 }] = diagnostics;
  const frozen = diagnostics.map((one) => Object.freeze(one));
  return new PolicyError(code, reason, cause, { line, column, path, diagnostics: frozen });
}

/** Results that are codes of errors, too. */
const OWN = new Set(["unfinished", "unsealed", "wider"]);

module.exports = { Reloads };
