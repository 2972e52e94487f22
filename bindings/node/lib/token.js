"use strict";
// A token of this package in the parts that the library takes.
const { functions, lengthOf } = require("./native.js");
const { check } = require("./errors.js");
const { ScopeSet, pointerOf } = require("./scope-set.js");

const NONE = 255;
const ALLOW_BONUS_ORBS = 1;

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
  return token === null || token === undefined ? NONE : KINDS.get(token.kind) ?? kindFromName(String(token.kind));
}

/** @typedef {import("../index.js").Token["scopes"] | null} Scopes */

/**
 * The scopes, read once, because a getter may give others the next time.
 * @param {Token} token
 * @returns {Scopes}
 */
const scopesOf = (token) => (token === null || token === undefined ? null : token.scopes);

/**
 * The scopes as text; `null` where they are interned.
 * @param {Scopes} scopes
 * @returns {import("../index.js").Text | null}
 */
const textOf = (scopes) => (scopes instanceof ScopeSet ? null : /** @type {any} */ (scopes));

/** @param {Scopes} scopes */
const lengthOfText = (scopes) => (scopes === null || scopes instanceof ScopeSet ? 0 : lengthOf(/** @type {any} */ (scopes)));

/** @param {Scopes} scopes */
const setOf = (scopes) => (scopes instanceof ScopeSet ? pointerOf(scopes) : 0);

/** @param {boolean | undefined} allowed */
const flagsOf = (allowed) => (allowed === true ? ALLOW_BONUS_ORBS : 0);

module.exports = { kindOf, scopesOf, textOf, lengthOfText, setOf, flagsOf };
