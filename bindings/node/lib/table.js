"use strict";
// What a policy says of its routes and scopes, kept in JavaScript as it is met: so decisions have words for as long as they are
// kept, even after their engine is closed.
const { functions, sizes, ROUTE, Located, text, ascii } = require("./library.js");
const { LOW } = require("./layout.js");
const { OK, check } = require("./errors.js");

/** Where a route or a text is written, for one call. */
const room = new Uint8Array(sizes.Route);
const located = new Located(room);
const roomAddress = () => located.written(0, room.length);
const written = new DataView(room.buffer);
const LITTLE = LOW === 0;
const HALF = 2 ** 32;

/**
 * An integer that a number holds exactly, or else a bigint, which takes longer to make.
 * @param {number} at
 * @param {number} [bytes]
 */
function integer(at, bytes = 8) {
  const [low, high] = [at + 4 * LOW, at + 4 * (1 - LOW)];
  const upper = bytes === 8 ? written.getUint32(high, LITTLE) : 0;
  return upper < 2 ** 21 ? upper * HALF + written.getUint32(bytes === 8 ? low : at, LITTLE) : written.getBigUint64(at, LITTLE);
}

/**
 * The text at an offset, as `ascii` reads it.
 * @param {number} at
 */
const textAt = (at) => ascii(integer(at, sizes.Pointer), Number(integer(at + sizes.Pointer, sizes.Pointer)));

/** @typedef {{ listed: import("../index.js").Route, amount: number | bigint }} Route */
/** @typedef {{ name: string, api: string, amount: number | bigint }} Scope */

class Table {
  /**
   * By number, from 1; then the closed templates that were met.
   * @type {(Route | undefined)[]}
   */
  #routes;
  #routeCount;
  /** @type {(Scope | undefined)[]} */
  #scopes;
  /**
   * By template.
   * @type {Map<string, readonly string[]>}
   */
  #methods = new Map();
  /**
   * The names of apis, by where they are.
   * @type {Map<number | bigint, string>}
   */
  #apis = new Map();

  /** @param {number} engine */
  constructor(engine) {
    const info = /** @type {any} */ ({ struct_size: sizes.EngineInfo });
    check(functions.info(engine, info), "cannot read a policy");
    this.#routeCount = /** @type {number} */ (info.route_count);
    this.#routes = new Array(1 + this.#routeCount);
    this.#scopes = new Array(1 + info.scope_count);
    this.digest = /** @type {string} */ (text(info.digest));
    this.name = text(info.name);
    this.hasEndMarker = info.has_end_marker === 1;
    this.isSealed = info.is_sealed === 1;
  }

  /**
   * Reads the route and the scope of a decision, unless an earlier decision had them.
   * @param {number} engine
   * @param {number} route
   * @param {number} scope
   */
  meet(engine, route, scope) {
    if (route !== 0 && this.#routes[route] === undefined) {
      this.#routes[route] = this.#readRoute(engine, route);
    }
    if (scope !== 0 && this.#scopes[scope] === undefined) {
      this.#scopes[scope] = readScope(engine, scope);
    }
  }

  /**
   * A route that has been met.
   * @param {number} number
   */
  route(number) {
    return this.#routes[number];
  }

  /**
   * A scope that has been met.
   * @param {number} number
   */
  scope(number) {
    return this.#scopes[number];
  }

  /**
   * Every route.
   * @param {number} engine
   */
  routes(engine) {
    return Array.from({ length: this.#routeCount }, (_, at) => {
      this.meet(engine, at + 1, 0);
      return /** @type {Route} */ (this.#routes[at + 1]).listed;
    });
  }

  /**
   * @param {number} engine
   * @param {number} number
   * @returns {Route}
   */
  #readRoute(engine, number) {
    written.setUint32(0, sizes.Route, LITTLE);
    check(functions.route(engine, number, roomAddress()), "cannot read a route");
    const route = textAt(ROUTE.text);
    const isClosed = number > this.#routeCount;
    const id = Object.freeze({
      high: written.getBigUint64(ROUTE.idHigh, LITTLE),
      low: written.getBigUint64(ROUTE.idLow, LITTLE),
    });
    const api = this.#api(integer(ROUTE.api, sizes.Pointer), integer(ROUTE.api + sizes.Pointer, sizes.Pointer));
    const amount = integer(ROUTE.amount);
    const scope = written.getUint32(ROUTE.scopeNumber, LITTLE);
    this.meet(engine, 0, scope);
    const name = this.#scopes[scope]?.name ?? "";
    const space = isClosed ? -1 : route.indexOf(" ");
    const [method, template] = [route.slice(0, Math.max(space, 0)), route.slice(space + 1)];
    const methods = this.#methods.get(template) ?? Object.freeze(textAt(ROUTE.methods).split(", ").filter(Boolean));
    this.#methods.set(template, methods);
    const alternatives = readAlternatives(engine, number);
    const scopes = Object.freeze(alternatives.map((alternative) => Object.freeze(alternative.split(" "))));
    const listed = Object.freeze({ id, route, method, template, scope: name, scopes, api, methods });
    return { listed, amount };
  }

  /**
   * The name of an api, which its routes share.
   * @param {number | bigint} data
   * @param {number | bigint} len
   */
  #api(data, len) {
    const api = this.#apis.get(data) ?? text(/** @type {any} */ ({ data, len: Number(len) })) ?? "";
    this.#apis.set(data, api);
    return api;
  }
}

/**
 * @param {number} engine
 * @param {number} number
 * @returns {Scope}
 */
function readScope(engine, number) {
  const raw = /** @type {any} */ ({ struct_size: sizes.Scope });
  check(functions.scope(engine, number, raw), "cannot read a scope");
  return { name: text(raw.name) ?? "", api: text(raw.api) ?? "", amount: raw.amount };
}

/**
 * What a route needs: alternatives.
 * @param {number} engine
 * @param {number} number
 */
function readAlternatives(engine, number) {
  const texts = [];
  while (functions.routeAlternative(engine, number, texts.length, roomAddress()) === OK) {
    texts.push(textAt(0));
  }
  return texts;
}

module.exports = { Table };
