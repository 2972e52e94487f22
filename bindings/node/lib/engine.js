"use strict";
const { functions, sizes, text, lengthOf } = require("./native.js");
const { OK, check, closed, failure, policyError } = require("./errors.js");
const { unpack } = require("./decision.js");
const { intern } = require("./scope-set.js");
const { readBatch, decideBatch } = require("./batch.js");
const { kindOf, scopesOf, textOf, lengthOfText, setOf, flagsOf } = require("./token.js");
const { fileURLToPath } = require("node:url");

/**
 * @typedef {import("../index.js").Text} Text
 * @typedef {import("../index.js").Token | null} Token
 * @typedef {import("../index.js").DecideOptions} Options
 */

const freed = new FinalizationRegistry(functions.engineFree);

const EFFECT_BITS = 4;
const STATUS_UNIT = 2 ** 48;

/** Only the functions of this class make one. */
const KEY = Symbol("engine");

// What users give may have getters, and these may close the engine: every value is read before the pointer is.
class Engine {
  #pointer;
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
   */
  constructor(key, pointer) {
    if (key !== KEY) {
      throw new TypeError("an engine is made by Engine.external(), Engine.fromYaml(…) or Engine.fromFile(…)");
    }
    this.#pointer = pointer;
    freed.register(this, pointer, this);
  }

  static external() {
    const made = [0];
    check(functions.external(made), "cannot open the built-in policy");
    return new Engine(KEY, made[0]);
  }

  /** @param {Text} yaml */
  static fromYaml(yaml) {
    return load(functions.fromYaml, yaml);
  }

  /** @param {Text | URL} path */
  static fromFile(path) {
    return load(functions.fromFile, path instanceof URL ? fileURLToPath(path) : path);
  }

  get digest() {
    return /** @type {string} */ (this.#text(functions.digestText));
  }

  get name() {
    return this.#text(functions.name);
  }

  get routes() {
    return (this.#routes ??= Object.freeze(routes(this.#open())));
  }

  /**
   * @param {Text} method
   * @param {Text} target
   * @param {Token} token
   * @param {Options} [options]
   */
  decide(method, target, token, options) {
    const [kind, scopes, flags] = [kindOf(token), scopesOf(token), flagsOf(options?.allowBonusOrbs)];
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
    const [kind, scopes, flags] = [kindOf(token), scopesOf(token), flagsOf(options?.allowBonusOrbs)];
    return this.#decision(functions.decideScope(
      this.#pointer, scope, lengthOf(scope),
      kind, textOf(scopes), lengthOfText(scopes), setOf(scopes), flags,
    ));
  }

  /**
   * @param {number} route
   * @param {Token} token
   * @param {Options} [options]
   */
  decideRoute(route, token, options) {
    if (!Number.isSafeInteger(route) || route < 0) {
      throw new TypeError("a route id comes from engine.findRoute(…) or engine.routes");
    }
    const [kind, scopes, flags] = [kindOf(token), scopesOf(token), flagsOf(options?.allowBonusOrbs)];
    return this.#decision(functions.decideRoute(
      this.#pointer, route,
      kind, textOf(scopes), lengthOfText(scopes), setOf(scopes), flags,
    ));
  }

  /** @param {import("../index.js").Batch} batch */
  decideBatch(batch) {
    const read = readBatch(batch);
    return decideBatch(this.#open(), read, (packed) => this.#decision(packed));
  }

  /**
   * @param {Text} method
   * @param {Text} template
   */
  findRoute(method, template) {
    const id = [0];
    const status = functions.findRoute(this.#open(), method, lengthOf(method), template, lengthOf(template), id);
    if (status !== OK && text(functions.statusName(status)) !== "not_found") {
      throw failure(status, "cannot look for a route");
    }
    return status === OK ? id[0] : null;
  }

  /** @param {Text | readonly Text[]} scopes */
  scopeSet(scopes) {
    const read = typeof scopes === "string" || scopes instanceof Uint8Array ? scopes : Array.from(scopes);
    return intern(this.#open(), read);
  }

  tableJson() {
    return /** @type {string} */ (this.#text(functions.tableJson));
  }

  close() {
    const pointer = this.#pointer;
    if (pointer !== 0) {
      this.#pointer = 0;
      freed.unregister(this);
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
    const engine = this.#open();
    if (packed % EFFECT_BITS === 0) {
      throw failure(Math.floor(packed / STATUS_UNIT), "cannot decide");
    }
    const decision = unpack(engine, packed);
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
 */
function load(read, from) {
  const [made, error] = [[0], [0]];
  const status = read(from, lengthOf(from), made, error);
  if (status !== OK) {
    throw policyError(status, /** @type {number} */ (error[0]));
  }
  return new Engine(KEY, /** @type {number} */ (made[0]));
}

/** @param {number} engine */
function routes(engine) {
  const count = [0];
  check(functions.routeCount(engine, count), "cannot count routes");
  return Array.from({ length: count[0] }, (_, at) => route(engine, at + 1));
}

/**
 * @param {number} engine
 * @param {number} number
 * @returns {import("../index.js").Route}
 */
function route(engine, number) {
  const read = { struct_size: sizes.Route };
  check(functions.route(engine, number, read), "cannot read a route");
  const found = /** @type {any} */ (read);
  const methods = [];
  for (const str = {}; functions.routeMethod(engine, number, methods.length, str) === OK;) {
    methods.push(text(/** @type {any} */ (str)));
  }
  return /** @type {any} */ (Object.freeze({
    id: found.id,
    route: text(found.text),
    method: text(found.method),
    template: text(found.path_template),
    scope: text(found.scope),
    api: text(found.api),
    methods: Object.freeze(methods),
  }));
}

module.exports = { Engine };
