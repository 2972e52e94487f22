"use strict";
// Checks signatures where the library cannot: with Node's OpenSSL.
const { constants, createPublicKey, verify } = require("node:crypto");

const PSS = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
const NUMBERS = { dsaEncoding: /** @type {const} */ ("ieee-p1363") };

/**
 * How to check each algorithm, by the start of its name.
 * @type {Record<string, object>}
 */
const WAYS = { RS: {}, PS: PSS, ES: NUMBERS, Ed: {} };

/** More keys than all issuers of a service have. */
const MOST = 256;

/**
 * The keys that were imported, by their text.
 * @type {Map<string, import("node:crypto").KeyObject>}
 */
const imported = new Map();

/** @param {string} jwk */
function keyOf(jwk) {
  const known = imported.get(jwk);
  if (known !== undefined) {
    return known;
  }
  const key = createPublicKey({ key: JSON.parse(jwk), format: "jwk" });
  if (imported.size >= MOST) {
    imported.clear();
  }
  imported.set(jwk, key);
  return key;
}

/**
 * @param {string} algorithm as in `RS256`
 * @param {string} jwk
 * @param {Uint8Array} message
 * @param {Uint8Array} signature
 * @returns {boolean | Promise<boolean>}
 */
function checkSignature(algorithm, jwk, message, signature) {
  const way = WAYS[algorithm.slice(0, 2)];
  if (way === undefined) {
    return false;
  }
  try {
    const hash = way === WAYS.Ed ? null : `sha${algorithm.slice(2)}`; // Ed25519 has a hash of its own.
    return verify(hash, message, { key: keyOf(jwk), ...way }, signature);
  } catch {
    return false; // A key that cannot be imported.
  }
}

module.exports = { checkSignature };
