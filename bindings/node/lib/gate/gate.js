"use strict";
const { CODES } = require("../layout.js");
const { fetcher, fileURLToPath } = require("#system");
const { checkSignature } = require("#signature");
const { Engine } = require("../engine.js");
const { Handle } = require("../handle.js");
const { PolicyError, failure } = require("../errors.js");
const { fromRead } = require("../file.js");
const { given } = require("../text.js");
const { kindOf } = require("../token.js");
const { answerOf } = require("./answer.js");
const { Held, readsBonus } = require("./orbs.js");
const { Keys, monotonicMs, tell } = require("./keys.js");
const { MESSAGES } = require("./messages.js");
const { Observer } = require("./observe.js");
const { makeOf, readSecrets, sourcesOf } = require("./options.js");
const { Reloads } = require("./reload.js");
const { differences } = require("./routes.js");
const { Steps } = require("./steps.js");

/**
 * @typedef {import("../../gate.js").Question} Question
 * @typedef {import("../../gate.js").Answer} Answer
 * @typedef {import("../../gate.js").GateOptions} Options
 * @typedef {import("../../index.js").Text} Text
 * @typedef {InstanceType<typeof import("../engine.js").Engine>} OneEngine
 */

/** @typedef {import("./steps.js").Replied} Replied */
/** @typedef {InstanceType<typeof import("./orbs.js").Held>} OneHeld */
/** @typedef {InstanceType<typeof import("./ledger.js").Ledger>} OneLedger */

const freed = new FinalizationRegistry((/** @type {InstanceType<typeof Steps>} */ steps) => steps.close());

/**
 * What only the modules of this package may ask of a gate: an answer that is counted when they say so; and its log.
 * @type {(gate: Gate, question: Question & { repeats?: boolean }, observe: Observe) => Answer | Promise<Answer>}
 */
let askOf;
/** Holds the orbs of a request that the gate has let through: an answer, and what is held unless it denies or consumes nothing.
 * @type {(gate: Gate, question: Question, allowed: Answer, caller: Caller, observe: Observe) => Promise<{ answer: Answer, held?: OneHeld }>} */
let holdOf;
/** Whether a gate charges this allow. @type {(gate: Gate, answer: { decision: { isAllow: boolean, charge?: { consumes: boolean } | null } }) => boolean} */
let charges;
/** @type {(gate: Gate) => import("../../gate.js").Log} */
let logOf;

/** Of a request that may be charged. @typedef {{ headers: any, hasLeft: () => boolean }} Caller */

/** Gets an answer, and the function that counts and audits it. @typedef {(answer: Answer, note: () => void) => void} Observe */
/** @typedef {{ question: Question, observe: Observe, more?: Partial<import("./messages.js").Ask>, step?: unknown }} Pending */

/** Frees the step of an allow that nothing has asked about again. */
const forgotten = new FinalizationRegistry((/** @type {{ steps: InstanceType<typeof Steps>, step: unknown }} */ { steps, step }) => steps.drop(step));

class Gate {
  #policy;
  #steps;
  #keys;
  #observer;
  #reloads;
  #ledger;
  #amounts;
  #bonus;
  /** The bytes of bodies that are held. */
  #held = 0;
  /** What the library keeps of an allow that consumes. @type {WeakMap<object, { steps: InstanceType<typeof Steps>, step: unknown }>} */
  #kept = new WeakMap();

  /**
   * @param {OneEngine | InstanceType<typeof Handle>} policy
   * @param {Text} tokens
   * @param {Options} [options]
   */
  constructor(policy, tokens, options = {}) {
    this.#policy = policy instanceof Handle ? policy : new Handle(policy);
    const make = makeOf(given(tokens), options);
    const sources = sourcesOf(tokens);
    const { secrets, failure: unread } = readSecrets(sources);
    if (unread !== "") {
      throw new PolicyError("invalid_configuration", unread, undefined, { line: 0, column: 0, path: null, diagnostics: [] });
    }
    this.#steps = new Steps({ ...make, secrets });
    freed.register(this, this.#steps, this);
    this.#ledger = /** @type {OneLedger | undefined} */ (/** @type {unknown} */ (options.ledger));
    this.#amounts = new Map(Object.entries(options.amounts ?? {}).map(([route, amount]) => [shapeOf(route), { route, amount }]));
    this.#bonus = new Map(Object.entries(options.bonusFromBody ?? {}).map(([route, limit]) => [shapeOf(route), limit]));
    if (this.#ledger?.chargesMcp === false && options.mcp !== undefined) {
      throw new TypeError("a gate with an MCP endpoint needs a ledger with `onToolError` and `onInputRequired`");
    }
    if (this.#ledger === undefined && (this.#amounts.size > 0 || this.#bonus.size > 0)) {
      throw new TypeError("only a gate with a `ledger` has `amounts` and `bonusFromBody`");
    }
    const charging = this.#check(this.#policy.load());
    this.#observer = new Observer(options);
    tell(this.#observer.log, charging);
    if (this.#ledger !== undefined) {
      this.#ledger.observer = this.#observer;
      this.#ledger.look();
    }
    this.#keys = new Keys(this.#steps, options.fetch ?? fetcher(), this.#observer.log);
    this.#keys.start();
    this.#reloads = new Reloads(this.#steps, this.#policy, this.#observer, this.#keys, sources, options.refuseWider === true, () => this.#charging());
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
    return this.#reloads.reload(file);
  }

  /**
   * @param {Text | URL} file
   * @param {import("../../gate.js").WatchOptions} [options]
   */
  watch(file, options = {}) {
    return this.#reloads.watch(file, options);
  }

  /**
   * @param {Question} question
   * @returns {Answer | Promise<Answer>}
   */
  answer(question) {
    if (this.#ledger !== undefined) {
      throw new Error("a gate with a ledger charges in its middleware, which sees how a handler ends");
    }
    return this.#ask({ question, observe: (_, note) => note() });
  }

  warm() {
    this.#steps.ask(null, { number: MESSAGES.WARM, monotonicMs: monotonicMs() });
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
    this.#steps.ask(null, { number: MESSAGES.REVOKE, issuer: given(issuer), kid: given(kid) });
  }

  /** @param {Text} issuer */
  forget(issuer) {
    this.#steps.ask(null, { number: MESSAGES.FORGET, issuer: given(issuer) });
  }

  /** @param {Iterable<import("../../gate.js").ServedRoute>} routes */
  checkRoutes(routes) {
    return differences(this.#steps, this.#policy.load(), routes);
  }

  /**
   * @param {import("../../gate.js").VerifiedToken} token
   * @param {string} method
   * @param {Iterable<string>} names
   */
  visible(token, method, names) {
    const question = { number: MESSAGES.VISIBLE, kind: kindOf(token), scopes: token.scopes, method: given(method), names: [...names].map(given) };
    return this.#steps.answered(MESSAGES.VISIBLE_NAMES, this.#steps.ask(this.#policy.load(), question)).names.split("\n").filter(Boolean);
  }

  close() {
    if (freed.unregister(this)) {
      this.#reloads.close();
      this.#steps.close();
      this.#keys.wake();
    }
  }

  [Symbol.dispose]() {
    this.close();
  }

  static {
    askOf = (gate, question, observe) => gate.#ask({ question, observe });
    holdOf = (gate, ...all) => gate.#hold(...all);
    charges = (gate, { decision }) => gate.#ledger !== undefined && decision.isAllow && decision.charge?.consumes === true;
    logOf = (gate) => gate.#observer.log;
  }

  /**
   * Throws if a path fits both a public route and a route of the policy, or if calls couldn't be charged. States how the gate charges.
   * @param {OneEngine} engine
   */
  #check(engine) {
    const uncharged = this.#steps.answered(MESSAGES.DONE, this.#steps.ask(engine, { number: MESSAGES.CHECK_ENGINE }));
    if (this.#ledger === undefined) {
      return uncharged;
    }
    return this.#steps.answered(MESSAGES.DONE, this.#steps.ask(engine, { number: MESSAGES.CHECK_AMOUNTS, functions: this.#functions() }));
  }

  /** The routes with a function that states the amount. */
  #functions() {
    return [...this.#amounts.values()].map(({ route }) => route);
  }

  /** What a new version of the policy must fit; a ledger's secret is read again. */
  #charging() {
    let failure = "";
    try {
      this.#ledger?.readSecret();
    } catch (error) {
      failure = String(/** @type {Error} */ (error).message);
    }
    return { hasLedger: this.#ledger !== undefined, amounts: this.#functions(), failure };
  }

  /**
   * The token of the request isn't verified again.
   * @param {Question} question
   * @param {Answer} allowed
   * @param {Caller} caller
   * @param {Observe} observe
   * @returns {Promise<{ answer: Answer, held?: OneHeld }>}
   */
  async #hold(question, allowed, { headers, hasLeft }, observe) {
    const ledger = /** @type {OneLedger} */ (this.#ledger);
    let last = allowed;
    const again = async (/** @type {Partial<import("./messages.js").Ask>} */ more) => {
      const step = this.#stepOf(last);
      last = await this.#ask({ question, observe, more: { ...more, again: true }, step });
      return last;
    };
    try {
      const shape = shapeOf(allowed.decision.route ?? "");
      const limit = this.#bonus.get(shape);
      const flag = limit === undefined ? {} : { allowBonusOrbs: await readsBonus(question, headers, limit), readsBonusOrbs: true };
      const answer = limit === undefined ? allowed : await again(flag);
      if (!answer.isAllow) {
        return { answer };
      }
      const id = crypto.getRandomValues(new Uint8Array(16));
      const charge = { ...flag, charges: true, hold: id, ...this.#amountOf(shape, headers, allowed) };
      /** @type {any} */
      const first = await again(charge);
      if (first.account === undefined) {
        return { answer: first };
      }
      const { isHeld, step: { unpaid, retryAfterMs } } = await ledger.hold(id, first, hasLeft);
      if (!isHeld) {
        return { answer: await again({ ...charge, unpaid, retryAfterMs }) };
      }
      this.#observed(this.#policy.load(), answer, first.audit, { question, observe });
      return { answer, held: new Held(ledger, id, first) };
    } finally {
      this.#steps.drop(this.#stepOf(last));
    }
  }

  /**
   * @param {string} shape
   * @param {any} headers
   * @param {Answer} allowed
   */
  #amountOf(shape, headers, { token }) {
    const known = this.#amounts.get(shape);
    if (known === undefined) {
      return {};
    }
    try {
      const amount = known.amount(headers, token);
      if (!Number.isSafeInteger(amount) || amount < 0) {
        throw new TypeError(`it returned ${amount}`);
      }
      return { hasAmount: true, amount };
    } catch (error) {
      this.#observer.log.error(`orbgate: a call of \`${known.route}\` is denied: its amount cannot be determined: ${error instanceof Error ? error.message : error}`);
      return { amountFailed: true };
    }
  }

  /** @param {Pending} pending */
  #ask(pending) {
    const question = { ...askOfQuestion(pending.question, this.#observer.hasAudit), keeps: this.#ledger !== undefined, ...pending.more };
    const engine = this.#policy.load();
    return this.#take(engine, this.#steps.ask(engine, question, pending.step), pending);
  }

  /**
   * Takes a step, and those that come of it, until there is the answer.
   * @param {OneEngine} engine that has made it
   * @param {Replied} first
   * @param {Pending} pending
   * @returns {Answer | Promise<Answer>}
   */
  #take(engine, first, pending) {
    for (let reply = first;;) {
      this.#call(reply);
      switch (reply.number) {
        case MESSAGES.ANSWER:
          return this.#observed(engine, this.#keep(answerOf(engine, reply), reply.step), reply.audit, pending);
        case MESSAGES.CHARGE: // The library's memory changes.
          return this.#keep(/** @type {any} */ ({ ...reply, account: reply.account.slice(), note: reply.note.slice(), mcpId: reply.mcpId.slice() }), reply.step);
        case MESSAGES.WAIT:
          return this.#waited(reply.step, reply.untilMs, pending);
        case MESSAGES.READ_BODY:
          return this.#body(reply, pending);
        case MESSAGES.CHECK_SIGNATURE: {
          const { algorithm, key, token, signed, signature, step } = reply;
          const isRight = checkSignature(algorithm, key, token.subarray(0, signed), signature);
          if (typeof isRight !== "boolean") {
            return isRight.then((later) => this.#take(engine, this.#checked(engine, step, later), pending));
          }
          reply = this.#checked(engine, step, isRight);
          break;
        }
        default:
          this.#steps.drop(reply.step);
          throw failure(CODES.STATUS_PANIC, "a gate has answered another question");
      }
    }
  }

  /**
   * Keeps the step of an answer that the same request is asked about again.
   * @template {Answer} One
   * @param {One} answer
   * @param {unknown} step
   */
  #keep(answer, step) {
    if (step !== undefined && (!("decision" in answer) || charges(this, answer))) {
      const kept = { steps: this.#steps, step };
      this.#kept.set(answer, kept);
      forgotten.register(answer, kept, answer);
    } else {
      this.#steps.drop(step);
    }
    return answer;
  }

  /** The step of an answer, once. @param {Answer} answer */
  #stepOf(answer) {
    const step = this.#kept.get(answer)?.step;
    this.#kept.delete(answer);
    forgotten.unregister(answer);
    return step;
  }

  /**
   * Makes the calls that a request has asked for.
   * @param {Replied} reply
   */
  #call(reply) {
    try {
      if ("mayCall" in reply && reply.mayCall) {
        this.#keys.start();
      }
    } catch (error) {
      this.#steps.drop(reply.step);
      throw error;
    }
  }

  /**
   * @param {OneEngine} engine
   * @param {Answer} answer
   * @param {string | null} line
   * @param {Pending} pending
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
   * @param {unknown} step
   * @param {boolean} isRight
   */
  #checked(engine, step, isRight) {
    return this.#steps.ask(engine, { number: MESSAGES.CHECKED, isRight, unixMs: Date.now(), monotonicMs: monotonicMs() }, step);
  }

  /**
   * Decides a request by its body.
   * @param {import("./messages.js").ReadBody & { step?: unknown }} reply
   * @param {Pending} pending
   * @returns {Promise<Answer>}
   */
  async #body({ step, mostBytes, mostHeld }, pending) {
    const take = (/** @type {number} */ bytes) => {
      if (this.#held + bytes > mostHeld) {
        return null;
      }
      this.#held += bytes;
      let held = bytes;
      return () => {
        this.#held -= held;
        held = 0;
      };
    };
    let message;
    try {
      message = await pending.question.message?.({ mostBytes, take }) ?? { headers: [], fault: "unreadable" };
    } catch (error) {
      this.#steps.drop(step);
      throw error;
    }
    const { headers, body, fault, release } = message;
    try {
      const engine = this.#policy.load(); // The policy may be another by now.
      const question = /** @type {import("./messages.js").Body} */ ({
        number: MESSAGES.BODY, body, headers: headers.map(([name, value]) => ({ name, value })), unixMs: Date.now(),
        tooLarge: fault === "tooLarge", busy: fault === "busy", unreadable: fault === "unreadable" || (fault === undefined && body === undefined),
      });
      return await this.#take(engine, this.#steps.ask(engine, question, step), pending);
    } finally {
      release?.();
    }
  }

  /**
   * @param {unknown} step
   * @param {number} untilMs
   * @param {Pending} pending
   * @returns {Promise<Answer>}
   */
  async #waited(step, untilMs, pending) {
    await this.#keys.wait(step, untilMs);
    const engine = this.#policy.load(); // The policy may be another by now.
    const resume = /** @type {const} */ ({ number: MESSAGES.RESUME, unixMs: Date.now(), monotonicMs: monotonicMs() });
    return this.#take(engine, this.#steps.ask(engine, resume, step), pending);
  }
}

/**
 * Every value is read here, and not while the question is written: a getter may ask the gate something, too.
 * @param {Question & { repeats?: boolean }} question
 * @param {boolean} withAudit
 * @returns {import("./messages.js").Ask}
 */
function askOfQuestion({ accessControlRequestHeaders = [], dpop = [], certificate = NONE, repeats = false, ...question }, withAudit) {
  const { method, target, authorization, upgrade = [], origin = [], accessControlRequestMethod = [], headerNames, template } = question;
  const matched = template === undefined ? CODES.MATCHED_NOTHING : template === null ? CODES.MATCHED_UNKNOWN : CODES.MATCHED_TEMPLATE;
  return {
    number: MESSAGES.ASK, method, target, authorization: authorization.map(itself), dpop: dpop.map(itself), certificate, repeats, headerNames: headerNames.map(itself),
    upgrade: upgrade.map(itself), origin: origin.map(itself), accessControlRequestMethod: accessControlRequestMethod.map(itself), accessControlRequestHeaders: accessControlRequestHeaders.map(itself), matched,
    pathTemplate: given(template ?? ""), allowBonusOrbs: false, withAudit, holdsThread: false, unixMs: Date.now(), monotonicMs: monotonicMs(),
  };
}

/** No certificate. */
const NONE = new Uint8Array();

/** A route without the names of its parameters. */
const shapeOf = (/** @type {string} */ route) => route.replace(/\{[^/{}]*\}/g, "{}");

const itself = (/** @type {any} */ value) => value;

module.exports = { Gate, askOf, charges, holdOf, logOf };
