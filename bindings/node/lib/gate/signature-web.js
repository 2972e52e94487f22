"use strict";
// Used instead of `signature.js` where there is no Node: WebCrypto, which answers later.

/** @type {Record<string, string>} */
const CURVES = { ES256: "P-256", ES384: "P-384", ES512: "P-521" };

/**
 * The names that WebCrypto has for an algorithm: of its key, and of a check.
 * @param {string} algorithm as in `RS256`
 * @returns {[any, any] | null}
 */
function namesOf(algorithm) {
  const hash = `SHA-${algorithm.slice(2)}`;
  switch (algorithm.slice(0, 2)) {
    case "RS":
      return [{ name: "RSASSA-PKCS1-v1_5", hash }, "RSASSA-PKCS1-v1_5"];
    case "PS":
      return [{ name: "RSA-PSS", hash }, { name: "RSA-PSS", saltLength: Number(algorithm.slice(2)) / 8 }];
    case "ES":
      return [{ name: "ECDSA", namedCurve: CURVES[algorithm] }, { name: "ECDSA", hash }];
    case "Ed":
      return [{ name: "Ed25519" }, "Ed25519"];
    default:
      return null;
  }
}

/** More keys than all issuers of a service have. */
const MOST = 256;

/**
 * The keys that were imported, by algorithm and text.
 * @type {Map<string, Promise<any>>}
 */
const imported = new Map();

/**
 * @param {string} algorithm
 * @param {string} jwk
 * @param {any} name
 */
function keyOf(algorithm, jwk, name) {
  const id = `${algorithm} ${jwk}`;
  const known = imported.get(id);
  if (known !== undefined) {
    return known;
  }
  const key = crypto.subtle.importKey("jwk", JSON.parse(jwk), name, false, ["verify"]);
  if (imported.size >= MOST) {
    imported.clear();
  }
  imported.set(id, key);
  return key;
}

/**
 * @param {string} algorithm
 * @param {string} jwk
 * @param {Uint8Array} message
 * @param {Uint8Array} signature
 * @returns {Promise<boolean>}
 */
async function checkSignature(algorithm, jwk, message, signature) {
  const names = namesOf(algorithm);
  try {
    return names !== null && await crypto.subtle.verify(names[1], await keyOf(algorithm, jwk, names[0]), signature, message);
  } catch {
    return false; // A key that cannot be imported.
  }
}

module.exports = { checkSignature };
