"use strict";
// The numbers of the C ABI. `tests/layout.test.js` compares the offsets, and the types of `abi.js`, with the library's `layout.tsv`.

/** Constants of the header, without `ORBGATE_`. */
const CODES = Object.freeze({
  // cargo xtask codes: numbers
  ABI_VERSION: 65536,
  STATUS_OK: 0,
  STATUS_INVALID_ARGUMENT: 1,
  STATUS_INVALID_POLICY: 2,
  STATUS_IO: 3,
  STATUS_NOT_FOUND: 4,
  STATUS_PANIC: 5,
  STATUS_INVALID_CONFIGURATION: 6,
  STATUS_TOO_SMALL: 7,
  STATUS_FULL: 8,
  EFFECT_INVALID: 0,
  EFFECT_DENY: 1,
  EFFECT_ALLOW: 2,
  TOKEN_KIND_UNKNOWN: 0,
  TOKEN_KIND_USER: 1,
  TOKEN_KIND_ORGANISATION: 2,
  TOKEN_KIND_NONE: 255,
  ANSWER_JSON: 0,
  ANSWER_FIELDS: 1,
  DEFAULT_HTTP_STATUS: 403,
  MAX_POLICY_BYTES: 8388608,
  CHARGE_STATED: 1,
  CHARGE_CONSUMES: 2,
  CHARGE_AMOUNT_STATED: 4,
  CHARGE_BONUS_ALLOWED: 8,
  ALLOW_BONUS_ORBS: 1,
  PACK_ABOUT: 2,
  FETCH_UNREACHABLE: 1,
  FETCH_TIMEOUT: 2,
  FETCH_TOO_LARGE: 3,
  FETCH_BAD_URL: 4,
  CHALLENGE_MINIMAL: 0,
  CHALLENGE_FULL: 1,
  CHALLENGE_NONE: 2,
  CORS_PREFLIGHT_DENY: 0,
  CORS_PREFLIGHT_PASS: 1,
  TEMPLATES_BRACES: 0,
  TEMPLATES_COLONS: 1,
  TEMPLATES_ANGLES: 2,
  MATCHED_NOTHING: 0,
  MATCHED_TEMPLATE: 1,
  MATCHED_UNKNOWN: 2,
  DIFFERENCE_UNDECLARED: 1,
  DIFFERENCE_UNSERVED: 2,
  SECRET_FILE: 1,
  SECRET_ENV: 2,
  SECRET_KEYS: 3,
  // end of numbers
});

/**
 * The HTTP status of a denial, by the number of its reason.
 * @type {Readonly<Record<number, number | undefined>>}
 */
const DENIALS = Object.freeze({
  // cargo xtask codes: denials
  1: 400, // malformed_request
  2: 401, // no_token
  3: 401, // invalid_token
  4: 404, // no_route
  5: 405, // method_not_declared
  6: 403, // user_token_required
  8: 403, // scope_missing
  11: 402, // insufficient_orbs
  12: 503, // ledger_unavailable
  13: 401, // insufficient_user_authentication
  // end of denials
});

/** Where a 64-bit integer has its lower half. */
const LOW = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 0 : 1;

/** Where an `OrbgateBatch` has its fields after the first two, counted in pointers; and how many there are. */
const BATCH = Object.freeze({
  len: 0, method: 1, target: 4, token: 7, kinds: 8, scopes: 9, scope_sets: 12, allow_bonus_orbs: 13, validity: 14,
  validity_offset: 15, count: 16,
});

/** The same of an `OrbgateToken`. */
const TOKEN = Object.freeze({ scopes: 0, scopes_len: 1, scope_set: 2, count: 3 });

/** The fields of a packed decision, as the C header draws them: those of its lower half, and those of its upper half. */
const effectOf = (/** @type {number} */ low) => low & 3;
const chargeOf = (/** @type {number} */ low) => low >>> 2 & 15;
const detailOf = (/** @type {number} */ low) => low >>> 6 & 255;
/** Or what the request is about, where the route may not be named. */
const routeOf = (/** @type {number} */ low) => low >>> 14;
const scopeOf = (/** @type {number} */ high) => high & 0xffff;
/** With effect 0 it is the status. */
const reasonOf = (/** @type {number} */ high) => high >>> 16 & 31;

module.exports = { CODES, DENIALS, LOW, BATCH, TOKEN, effectOf, chargeOf, detailOf, routeOf, scopeOf, reasonOf };
