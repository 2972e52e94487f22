"use strict";
const { CODES } = require("../layout.js");
const { fileURLToPath, readRegular } = require("#system");
const { checkSignature } = require("#signature");
const { Engine, openOf } = require("../engine.js");
const { Handle } = require("../handle.js");
const { OK, OrbgateError, PolicyError, check, closed, policyError } = require("../errors.js");
const { fromRead } = require("../file.js");
const { NAMES } = require("../names.js");
const { text, copy } = require("../library.js");
const { whole, lengthOf } = require("../text.js");
const { gates, gateSizes } = require("./abi.js");
const { answerOf } = require("./answer.js");
const { Keys, monotonicMs } = require("./keys.js");
const { Observer } = require("./observe.js");
const { optionsOf, secretsOf, given } = require("./options.js");
const { differences } = require("./routes.js");

/**
 * @typedef {import("../../gate.js").Question} Question
 * @typedef {import("../../gate.js").Answer} Answer
 * @typedef {import("../../gate.js").GateOptions} Options
 * @typedef {import("../../index.js").Text} Text
 * @typedef {InstanceType<typeof import("../engine.js").Engine>} OneEngine
 */

/** The gate, and the verifier that it is made of again where the library is WebAssembly and has trapped. */
const freed = new FinalizationRegistry((/** @type {number[]} */ [gate = 0, verifier = 0]) => {
  gates.gateFree(gate);
  gates.verifierFree(verifier);
});

/**
 * What only the modules of this package may ask of a gate: an answer that is counted when they say so; and its log.
 * @type {(gate: Gate, question: Question, observe: Observe) => Answer | Promise<Answer>}
 */
let askOf;
/** @type {(gate: Gate) => import("../../gate.js").Log} */
let logOf;

/** Gets an answer, and the function that counts and audits it. @typedef {(answer: Answer, note: () => void) => void} Observe */
/** @typedef {{ question: Question, observe: Observe }} Asked */

class Gate {
  #gate = 0;
  #verifier = 0;
  #policy;
  #keys;
  #observer;
  #refusesWider;

  /**
   * @param {OneEngine | InstanceType<typeof Handle>} policy
   * @param {Text} tokens
   * @param {Options} [options]
   */
  constructor(policy, tokens, options = {}) {
    this.#policy = policy instanceof Handle ? policy : new Handle(policy);
    const read = optionsOf(options);
    this.#verifier = made((out, error) => gates.verifierFromYaml(whole(tokens), lengthOf(tokens), out, error));
    try {
      const all = { ...read, ...secretsOf(this.#verifier) };
      this.#gate = made((out, error) => gates.gateNew(this.#verifier, [all], out, error));
    } catch (error) {
      gates.verifierFree(this.#verifier);
      throw error;
    }
    freed.register(this, [this.#gate, this.#verifier], this);
    this.#check(this.#policy.load());
    this.#observer = new Observer(options);
    this.#refusesWider = options.refuseWider === true;
    this.#keys = new Keys(() => this.#open(), options.fetch ?? fetch, this.#observer.log);
  }

  /**
   * @param {Text | URL} policy
   * @param {Text | URL} tokens
   * @param {Options} [options]
   */
  static fromFiles(policy, tokens, options) {
    const file = tokens instanceof URL ? fileURLToPath(tokens) : tokens;
    const engine = Engine.fromFile(policy);
    return fromRead(file, (yaml) => new this(engine, yaml, options));
  }

  get policy() {
    return this.#policy;
  }

  /** @param {Text | URL} file */
  reload(file) {
    try {
      const engine = Engine.fromFile(file);
      if (!engine.hasEndMarker) {
        const path = String(file);
        throw new PolicyError("unfinished", `${path}: the policy has no end marker, the line \`...\``, undefined, { line: 0, column: 0, path, diagnostics: [] });
      }
      this.#check(engine);
      if (this.#refusesWider) {
        checkWider(this.#policy.load(), engine, file, (active) => {
          made((_, error) => gates.checkWider(this.#open(), openOf(active), openOf(engine), error));
        });
      }
      const { secrets, secret_count: count } = secretsOf(this.#verifier);
      made((_, error) => gates.readSecrets(this.#open(), secrets, count, error));
      this.#policy.store(engine);
      this.#observer.loaded(NAMES.LOAD_LOADED, `a policy is active: ${engine.digest}`);
      return engine;
    } catch (error) {
      const { code = "", message } = /** @type {{ code?: string, message: string }} */ (error);
      this.#observer.loaded(RESULTS[code] ?? NAMES.LOAD_REFUSED, `the previous policy stays active: ${message}`);
      throw error;
    }
  }

  /**
   * @param {Question} question
   * @returns {Answer | Promise<Answer>}
   */
  answer(question) {
    return this.#ask({ question, observe: (_, note) => note() });
  }

  warm() {
    check(gates.warm(this.#open(), monotonicMs()), "cannot fetch keys");
    this.#keys.start();
  }

  get keys() {
    return this.#keys.status();
  }

  /**
   * @param {Text} issuer
   * @param {Text} kid
   */
  revoke(issuer, kid) {
    check(gates.revoke(this.#open(), whole(issuer), lengthOf(issuer), whole(kid), lengthOf(kid)), "cannot revoke a key");
  }

  /** @param {Text} issuer */
  forget(issuer) {
    check(gates.forget(this.#open(), whole(issuer), lengthOf(issuer)), "cannot forget keys");
  }

  /** @param {Iterable<import("../../gate.js").ServedRoute>} routes */
  checkRoutes(routes) {
    return differences(this.#open(), this.#policy.load(), routes);
  }

  close() {
    if (this.#gate !== 0) {
      freed.unregister(this);
      gates.gateFree(this.#gate);
      gates.verifierFree(this.#verifier);
      this.#gate = 0;
      this.#keys.wake();
    }
  }

  [Symbol.dispose]() {
    this.close();
  }

  static {
    askOf = (gate, question, observe) => gate.#ask({ question, observe });
    logOf = (gate) => gate.#observer.log;
  }

  /**
   * Throws if a path fits both a public route and a route of the policy.
   * @param {OneEngine} engine
   */
  #check(engine) {
    made((_, error) => gates.checkEngine(this.#open(), openOf(engine), error));
  }

  #open() {
    if (this.#gate === 0) {
      throw closed("gate");
    }
    return this.#gate;
  }

  /** @param {Asked} asked */
  #ask(asked) {
    const request = requestOf(asked.question, this.#observer.hasAudit);
    const engine = this.#policy.load();
    const step = stepOf((out) => gates.ask(this.#open(), openOf(engine), [request], Date.now(), monotonicMs(), out));
    return this.#take(engine, step, asked);
  }

  /**
   * Takes a step, and those that come of it, until there is the answer.
   * @param {OneEngine} engine that has made it
   * @param {number} first
   * @param {Asked} asked
   * @returns {Answer | Promise<Answer>}
   */
  #take(engine, first, asked) {
    let step = first;
    try {
      for (;;) {
        this.#keys.start(); // The call that gave the step may have asked for keys.
        const info = /** @type {any} */ ({ struct_size: gateSizes.StepInfo });
        check(gates.stepInfo(step, info), "cannot read a step");
        if (info.kind === CODES.STEP_ANSWER) {
          return this.#observed(engine, answerOf(engine, info), text(info.audit), asked);
        }
        const taken = step;
        if (info.kind === CODES.STEP_WAIT) {
          step = 0;
          return this.#waited(taken, info.until_ms, asked);
        }
        const isRight = checkSignature(text(info.algorithm) ?? "", text(info.key) ?? "", copy(info.message), copy(info.signature));
        step = 0;
        if (typeof isRight !== "boolean") {
          return isRight.then((later) => this.#take(engine, this.#checked(engine, taken, later), asked));
        }
        step = this.#checked(engine, taken, isRight);
      }
    } finally {
      if (step !== 0) {
        gates.stepFree(step);
      }
    }
  }

  /**
   * @param {OneEngine} engine
   * @param {Answer} answer
   * @param {string | null} line
   * @param {Asked} asked
   */
  #observed(engine, answer, line, { question: { method, target }, observe }) {
    // A misrouted request was allowed by the route that it is about.
    const route = answer.misrouted === null ? null : engine.decide(method, target, null).about;
    observe(answer, () => {
      this.#observer.answered(answer, route, line);
      this.#observer.denied(engine, answer, method, target);
    });
    return answer;
  }

  /**
   * @param {OneEngine} engine
   * @param {number} step
   * @param {boolean} isRight
   */
  #checked(engine, step, isRight) {
    const [gate, decides] = this.#pointers(engine, step);
    return stepOf((out) => gates.checked(gate, decides, step, isRight ? 1 : 0, Date.now(), monotonicMs(), out));
  }

  /**
   * @param {number} step
   * @param {number} untilMs
   * @param {Asked} asked
   * @returns {Promise<Answer>}
   */
  async #waited(step, untilMs, asked) {
    try {
      await this.#keys.wait(step, untilMs);
    } catch (error) {
      gates.stepFree(step);
      throw error;
    }
    const engine = this.#policy.load(); // The policy may be another by now.
    const [gate, decides] = this.#pointers(engine, step);
    return this.#take(engine, stepOf((out) => gates.resume(gate, decides, step, Date.now(), monotonicMs(), out)), asked);
  }

  /**
   * What a step is taken with; it is freed if that is closed.
   * @param {OneEngine} engine
   * @param {number} step
   * @returns {[number, number]}
   */
  #pointers(engine, step) {
    try {
      return [this.#open(), openOf(engine)];
    } catch (error) {
      gates.stepFree(step);
      throw error;
    }
  }
}

/** @param {(step: number[]) => number} call */
function stepOf(call) {
  const step = [0];
  check(call(step), "cannot ask a gate");
  return /** @type {number} */ (step[0]);
}

/**
 * Throws if a new version of a policy allows more than the active one, and if they can't be compared.
 * @param {OneEngine} active
 * @param {OneEngine} next
 * @param {Text | URL} file of the next one
 * @param {(active: OneEngine) => void} checkPublic throws if more requests are public
 */
function checkWider(active, next, file, checkPublic) {
  if (active.digest === next.digest) {
    return;
  }
  const path = file instanceof URL ? fileURLToPath(file) : file;
  const policy = new TextDecoder().decode(readRegular(path, (why) => {
    throw new OrbgateError("io", `cannot read \`${path}\`: ${why}`);
  }));
  const wider = (/** @type {string} */ why) => new OrbgateError("wider", `${path}: the policy allows more than the active one: ${why}`);
  const changes = active.diff({ policy });
  if (changes.new !== next.digest) {
    throw new OrbgateError("unfinished", `${path}: the policy file is still being written`);
  }
  if (changes.widens) {
    throw wider(changes.fails.join(", "));
  }
  try {
    checkPublic(active);
  } catch (error) {
    throw wider(/** @type {Error} */ (error).message);
  }
}

/** Why a policy was not activated, by the code of its error. @type {Record<string, string>} */
const RESULTS = { io: NAMES.LOAD_UNREADABLE, unfinished: NAMES.LOAD_UNFINISHED, wider: NAMES.LOAD_WIDER };

/**
 * @param {(out: number[], error: number[]) => number} make
 */
function made(make) {
  const [out, error] = [[0], [0]];
  const status = make(out, error);
  if (status !== OK) {
    throw policyError(status, /** @type {number} */ (error[0]), undefined);
  }
  return /** @type {number} */ (out[0]);
}

/**
 * @param {Question} question
 * @param {boolean} hasAudit
 */
function requestOf({ method, target, authorization, upgrade = [], origin = [], accessControlRequestMethod = [], headerNames, template }, hasAudit) {
  const matched = template === undefined ? CODES.MATCHED_NOTHING : template === null ? CODES.MATCHED_UNKNOWN : CODES.MATCHED_TEMPLATE;
  return {
    struct_size: gateSizes.Request, flags: hasAudit ? CODES.WITH_AUDIT : 0, method: bytes(method), target: bytes(target),
    authorization: authorization.map(bytes), authorization_count: authorization.length,
    header_names: headerNames.map(bytes), header_name_count: headerNames.length,
    path_template: given(template ?? ""), matched, reserved: 0, upgrade: upgrade.map(bytes), upgrade_count: upgrade.length,
    origin: origin.map(bytes), origin_count: origin.length, access_control_request_method: accessControlRequestMethod.map(bytes),
    access_control_request_method_count: accessControlRequestMethod.length,
  };
}

/** @param {Text} value */
const bytes = (value) => ({ data: value, len: lengthOf(value) });

module.exports = { Gate, askOf, logOf };
