"use strict";
const { fileURLToPath, unreadable } = require("#system");
const { functions, hasFiles, text } = require("./library.js");
const { whole, lengthOf } = require("./text.js");
const { OK, check, closed, failure, policyError } = require("./errors.js");
const { fromRead } = require("./file.js");
const { answer, forget } = require("./questions.js");
const { Decision, halves } = require("./decision.js");
const { CODES, effectOf, routeOf, scopeOf, reasonOf } = require("./layout.js");
const { Table } = require("./table.js");
const { intern } = require("./scope-set.js");
const { readBatch, decideBatch } = require("./batch.js");
const { kindOf, scopesOf, textOf, lengthOfText, setOf, flagsOfOptions } = require("./token.js");

/**
 * @typedef {import("../index.js").Text} Text
 * @typedef {import("../index.js").Token | null} Token
 * @typedef {import("../index.js").DecideOptions} Options
 */

const freed = new FinalizationRegistry(functions.engineFree);

/** Only the functions of this class make one. */
const KEY = Symbol("engine");

/**
 * What only the modules of this package may ask of an engine: its pointer, and the decision that it has packed.
 * @type {(engine: Engine) => number}
 */
let openOf;
/** @type {(engine: Engine, packed: number) => import("../index.js").Decision} */
let decisionOf;

// What users give may have getters, and these may close the engine: every value is read before the pointer is.
class Engine {
  #pointer;
  /** Its policy for questions, if a module answers them; `null` for the built-in policy. */
  #source;
  #table;
  /**
   * Every decision that was asked for, by its packed form: as many as the policy can give, some for each route.
   * @type {Map<number, import("../index.js").Decision>}
   */
  #decisions = new Map();
  /** @type {readonly import("../index.js").Route[] | null} */
  #routes = null;

  /**
   * @param {symbol} key
   * @param {number} pointer
   * @param {Text | null} source
   */
  constructor(key, pointer, source) {
    if (key !== KEY) {
      throw new TypeError("create an engine with Engine.external(), Engine.fromYaml(…) or Engine.fromFile(…)");
    }
    this.#pointer = pointer;
    this.#source = source;
    freed.register(this, pointer, this);
    this.#table = new Table(pointer);
  }

  static {
    openOf = (engine) => engine.#open();
    decisionOf = (engine, packed) => engine.#decision(packed);
  }

  static external() {
    const made = [0];
    check(functions.external(made), "cannot open the built-in policy");
    return new Engine(KEY, made[0], null);
  }

  /** @param {Text} yaml */
  static fromYaml(yaml) {
    return load(functions.fromYaml, yaml);
  }

  /** @param {Text | URL} path */
  static fromFile(path) {
    const file = path instanceof URL ? fileURLToPath(path) : path;
    return hasFiles ? load(functions.fromFile, file, () => unreadable(file)) : fromRead(file, Engine.fromYaml);
  }

  get digest() {
    this.#open();
    return this.#table.digest;
  }

  get name() {
    this.#open();
    return this.#table.name;
  }

  get hasEndMarker() {
    this.#open();
    return this.#table.hasEndMarker;
  }

  get isSealed() {
    this.#open();
    return this.#table.isSealed;
  }

  get routes() {
    return (this.#routes ??= Object.freeze(this.#table.routes(this.#open())));
  }

  /**
   * @param {Text} method
   * @param {Text} target
   * @param {Token} token
   * @param {Options} [options]
   */
  decide(method, target, token, options) {
    const [kind, scopes, flags] = [kindOf(token), scopesOf(token), flagsOfOptions(options)];
    return this.#decision(functions.decide(
      this.#pointer, method, lengthOf(method), target, lengthOf(target),
      kind, textOf(scopes), lengthOfText(scopes), setOf(scopes), flags,
    ));
  }

  /**
   * @param {Text} scope
   * @param {Token} token
   * @param {Options} [options]
   */
  decideScope(scope, token, options) {
    const [kind, scopes, flags] = [kindOf(token), scopesOf(token), flagsOfOptions(options)];
    return this.#decision(functions.decideScope(
      this.#pointer, whole(scope), lengthOf(scope),
      kind, textOf(scopes), lengthOfText(scopes), setOf(scopes), flags,
    ));
  }

  /**
   * @param {import("../index.js").RouteId} route
   * @param {Token} token
   * @param {Options} [options]
   */
  decideRoute(route, token, options) {
    if (typeof route?.high !== "bigint" || typeof route.low !== "bigint") {
      throw new TypeError("get a route id from engine.findRoute(…) or engine.routes");
    }
    const [kind, scopes, flags] = [kindOf(token), scopesOf(token), flagsOfOptions(options)];
    return this.#decision(functions.decideRoute(
      this.#pointer, route.high, route.low,
      kind, textOf(scopes), lengthOfText(scopes), setOf(scopes), flags,
    ));
  }

  /** @param {import("../index.js").Batch} batch */
  decideBatch(batch) {
    const read = readBatch(batch);
    return decideBatch(this.#open(), read, this.#table, (packed) => this.#decision(packed));
  }

  /**
   * @param {Text} method
   * @param {Text} template
   */
  findRoute(method, template) {
    const id = { high: 0, low: 0 };
    const status = functions.findRoute(
      this.#open(), whole(method), lengthOf(method), whole(template), lengthOf(template), id,
    );
    if (status !== OK && text(functions.statusName(status)) !== "not_found") {
      throw failure(status, "cannot look for a route");
    }
    return status === OK ? Object.freeze({ high: BigInt(id.high), low: BigInt(id.low) }) : null;
  }

  /** @param {Text | readonly Text[]} scopes */
  scopeSet(scopes) {
    const read = Array.isArray(scopes) ? Array.from(scopes, whole) : whole(/** @type {Text} */ (scopes));
    return intern(this.#open(), read);
  }

  /**
   * @param {string} question
   * @param {object} given
   * @returns {any}
   */
  ask(question, given) {
    const json = JSON.stringify(given);
    return answer(this, this.#open(), this.#source, String(question), json === undefined ? "" : json);
  }

  /** @param {import("../questions.js").CheckArguments} given */
  check(given) {
    return this.ask("check", given);
  }

  /** @param {import("../questions.js").DiffArguments} given */
  diff(given) {
    return this.ask("diff", given);
  }

  /** @param {import("../questions.js").ExplainArguments} given */
  explain(given) {
    return this.ask("explain", given);
  }

  /** @param {import("../questions.js").LintArguments} given */
  lint(given) {
    return this.ask("lint", given);
  }

  /** @param {import("../questions.js").NeedsArguments} given */
  needs(given) {
    return this.ask("needs", given);
  }

  /** @param {import("../questions.js").ReachArguments} given */
  reach(given) {
    return this.ask("reach", given);
  }

  /** @param {import("../questions.js").UnusedArguments} given */
  unused(given) {
    return this.ask("unused", given);
  }

  /** @param {import("../questions.js").WhoArguments} given */
  who(given) {
    return this.ask("who", given);
  }

  table() {
    return this.ask("table", {});
  }

  close() {
    const pointer = this.#pointer;
    if (pointer !== 0) {
      this.#pointer = 0;
      freed.unregister(this);
      forget(this);
      functions.engineFree(pointer);
    }
  }

  [Symbol.dispose]() {
    this.close();
  }

  /** The pointer of an engine that is not closed. */
  #open() {
    if (this.#pointer === 0) {
      throw closed("engine");
    }
    return this.#pointer;
  }

  /** @param {number} packed */
  #decision(packed) {
    return this.#decisions.get(packed) ?? this.#remember(packed);
  }

  /** @param {number} packed */
  #remember(packed) {
    const { low, high } = halves(packed);
    if (effectOf(low) === CODES.EFFECT_INVALID) {
      this.#open();
      throw failure(reasonOf(high), "cannot decide");
    }
    // A batch may be read after its engine is closed: the table has all that its rows name.
    if (this.#pointer !== 0) {
      this.#table.meet(this.#pointer, routeOf(low), scopeOf(high));
    }
    const decision = /** @type {any} */ (new Decision(this.#table, packed));
    this.#decisions.set(packed, decision);
    return decision;
  }

  /** @param {(engine: number, out: object) => number} read */
  #text(read) {
    const str = {};
    check(read(this.#open(), str), "cannot read a text");
    return text(/** @type {any} */ (str));
  }
}

/**
 * @param {(text: Text, length: number, engine: number[], error: number[]) => number} read
 * @param {Text} from
 * @param {() => unknown} [cause] of a file that cannot be read
 */
function load(read, from, cause) {
  const [made, error] = [[0], [0]];
  const status = read(whole(from), lengthOf(from), made, error);
  if (status !== OK) {
    throw policyError(status, /** @type {number} */ (error[0]), cause);
  }
  const source = hasFiles ? null : typeof from === "string" ? from : new Uint8Array(from);
  return new Engine(KEY, /** @type {number} */ (made[0]), source);
}

module.exports = { Engine, openOf, decisionOf };
