"use strict";
// The values that users give, before the library gets them: what they are, and how many bytes they have. It needs nothing of Node.

/** @typedef {Uint8Array | Uint32Array | Int32Array | BigUint64Array} View */

/**
 * A property as its class defines it, even if an object defines it otherwise: the library trusts these lengths.
 * @param {object} prototype
 * @param {string} name
 * @returns {() => any}
 */
const getter = (prototype, name) => /** @type {any} */ (Object.getOwnPropertyDescriptor(prototype, name)?.get);

const OfViews = Object.getPrototypeOf(Uint8Array.prototype);
const bufferOf = getter(OfViews, "buffer");
const offsetOf = getter(OfViews, "byteOffset");
const sizeOf = getter(OfViews, "byteLength");
/** Those of a buffer that is not shared; others throw. */
const bytesOfBuffer = getter(ArrayBuffer.prototype, "byteLength");

/** How many elements an array has. */
const countOf = getter(OfViews, "length");

/**
 * The memory of an array as bytes; none where it has gone.
 * @param {View} view
 */
function bytesOf(view) {
  const size = sizeOf.call(view);
  return size === 0 ? new Uint8Array(0) : new Uint8Array(bufferOf.call(view), offsetOf.call(view), size);
}

const encoder = new TextEncoder();

/**
 * The bytes of a text. Node's own way takes less time.
 * @type {(text: string) => Uint8Array}
 */
const encode = typeof Buffer === "function" ? (text) => Buffer.from(text) : (text) => encoder.encode(text);

/** @type {(text: string) => number} */
const byteLength = typeof Buffer === "function" ? Buffer.byteLength : (text) => encoder.encode(text).length;

/**
 * What a value is, for people.
 * @param {unknown} value
 */
const typeName = (value) => (value === null ? "null" : Array.isArray(value) ? "an array" : typeof value);

/**
 * Refuses memory that other threads can change while the library reads it.
 * @param {string} name
 * @param {View} view
 */
function refuseShared(name, view) {
  const buffer = bufferOf.call(view);
  try {
    bytesOfBuffer.call(buffer);
  } catch {
    throw new TypeError(`${name} must not be over a SharedArrayBuffer, which other threads can change: copy it first`);
  }
}

/**
 * Refuses half of a surrogate pair, which UTF-8 does not have: the library would get another text than was meant. In methods, targets and
 * a token's scopes it is left alone, because they come from outside and are denied for it.
 * @template T
 * @param {T} value
 * @returns {T}
 */
function whole(value) {
  if (typeof value === "string" && /\p{Surrogate}/u.test(value)) {
    throw new TypeError("a text must not have half of a surrogate pair");
  }
  return value;
}

/**
 * How many bytes the library gets for a text. All texts are measured here, so anything else throws.
 * @param {string | Uint8Array} value
 * @returns {number}
 */
function lengthOf(value) {
  if (typeof value === "string") {
    return byteLength(value);
  }
  if (value instanceof Uint8Array) {
    refuseShared("a text", value);
    return countOf.call(value);
  }
  throw new TypeError(`a text must be a string or a Uint8Array, not ${typeName(value)}`);
}

module.exports = { countOf, bytesOf, encoder, encode, typeName, refuseShared, whole, lengthOf };
