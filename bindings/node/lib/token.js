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

/**
 * The scopes as text; `null` where they are interned.
 * @param {Token} token
 * @returns {import("../index.js").Text | null}
 */
function scopesOf(token) {
  return token === null || token === undefined || token.scopes instanceof ScopeSet ? null : /** @type {any} */ (token.scopes);
}

/** @param {import("../index.js").Text | null} scopes */
const lengthOfScopes = (scopes) => (scopes === null ? 0 : lengthOf(scopes));

/** @param {Token} token */
function setOf(token) {
  return token !== null && token !== undefined && token.scopes instanceof ScopeSet ? pointerOf(token.scopes) : 0;
}

/** @param {boolean | undefined} allowed */
const flagsOf = (allowed) => (allowed === true ? ALLOW_BONUS_ORBS : 0);

module.exports = { kindOf, scopesOf, lengthOfScopes, setOf, flagsOf };
