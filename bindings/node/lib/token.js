"use strict";
// A token of this package in the parts that the library takes.
const { CODES } = require("./layout.js");
const { functions } = require("./library.js");
const { encode, typeName, lengthOf } = require("./text.js");
const { check } = require("./errors.js");
const { ScopeSet, pointerOf } = require("./scope-set.js");

/** @typedef {import("../index.js").Token | null | undefined} Token */

/** @param {string} name */
function kindFromName(name) {
  const kind = [0];
  check(functions.tokenKindFromName(name, lengthOf(name), kind), "cannot read a token kind");
  return kind[0];
}

// A map, which inherits no names.
const KINDS = new Map(["user", "organisation"].map((name) => [name, kindFromName(name)]));

/** @param {Token} token */
function kindOf(token) {
  if (token === null || token === undefined) {
    return CODES.TOKEN_KIND_NONE;
  }
  const kind = /** @type {unknown} */ (token.kind);
  if (typeof kind !== "string") {
    throw new TypeError(`the \`kind\` of a token must be a string, not ${typeName(kind)}`);
  }
  return KINDS.get(kind) ?? kindFromName(kind);
}

/**
 * The kind of a name that comes from outside.
 * @param {string} name
 * @returns {import("../index.js").TokenKind}
 */
function tokenKind(name) {
  lengthOf(name); // Anything but a text throws.
  return name === "user" || name === "organisation" ? name : "unknown";
}

/** @typedef {import("../index.js").Text} Text */
/** What the library takes. @typedef {Text | import("../index.js").ScopeSet | null} Scopes */

/**
 * The scopes, read once, because a getter may give others the next time.
 * @param {Token} token
 * @returns {Scopes}
 */
function scopesOf(token) {
  if (token === null || token === undefined) {
    return null;
  }
  const { scopes } = token;
  if (Array.isArray(scopes)) {
    return joined(Array.from(scopes));
  }
  if (!(scopes instanceof ScopeSet)) {
    lengthOf(/** @type {any} */ (scopes)); // Anything but a text throws, null too.
  }
  return /** @type {Scopes} */ (scopes);
}

const SPACE = 0x20;

/**
 * Scopes in one text. An element with a space in it is no scope: it is left out, because it would be two scopes there.
 * @param {Text[]} scopes
 * @returns {Text}
 */
function joined(scopes) {
  scopes.forEach(lengthOf); // Anything but a text throws.
  if (scopes.every((scope) => typeof scope === "string")) {
    return scopes.filter((scope) => !scope.includes(" ")).join(" ");
  }
  const bytes = scopes.map((scope) => (typeof scope === "string" ? encode(scope) : scope)).filter((scope) => !scope.includes(SPACE));
  return Uint8Array.from(bytes.flatMap((scope) => [...scope, SPACE]));
}

/**
 * The scopes as text; `null` where they are interned.
 * @param {Scopes} scopes
 * @returns {Text | null}
 */
const textOf = (scopes) => (scopes instanceof ScopeSet ? null : /** @type {any} */ (scopes));

/** @param {Scopes} scopes */
const lengthOfText = (scopes) => (scopes === null || scopes instanceof ScopeSet ? 0 : lengthOf(/** @type {any} */ (scopes)));

/** @param {Scopes} scopes */
const setOf = (scopes) => (scopes instanceof ScopeSet ? pointerOf(scopes) : 0);

/** @param {unknown} allowed */
function flagsOf(allowed) {
  if (allowed !== undefined && typeof allowed !== "boolean") {
    throw new TypeError(`\`allowBonusOrbs\` must be a boolean, not ${typeName(allowed)}`);
  }
  return allowed === true ? CODES.ALLOW_BONUS_ORBS : 0;
}

/** @param {import("../index.js").DecideOptions | undefined} options */
function flagsOfOptions(options) {
  if (options !== undefined && (typeof options !== "object" || options === null)) {
    throw new TypeError(`options must be an object, not ${typeName(options)}`);
  }
  return flagsOf(options?.allowBonusOrbs) | CODES.PACK_ABOUT;
}

module.exports = { kindOf, tokenKind, scopesOf, textOf, lengthOfText, setOf, flagsOf, flagsOfOptions };
