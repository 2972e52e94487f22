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

/**
 * Memory as bytes, which the two functions below take.
 * @type {(buffer: ArrayBuffer) => Uint8Array<ArrayBuffer>}
 */
const asBytes = typeof Buffer === "function" ? (buffer) => Buffer.from(buffer) : (buffer) => new Uint8Array(buffer);

/** Up to this length, a text of ASCII is written in less time here than by a call. */
const SHORT = 24;

/**
 * Writes a text, for which there is room, and returns how many bytes it has.
 * @param {Uint8Array} bytes
 * @param {number} at
 * @param {string} text
 */
function putString(bytes, at, text) {
  const { length } = text;
  if (length <= SHORT) {
    let done = 0;
    for (; done < length; done++) {
      const unit = text.charCodeAt(done);
      if (unit >= 0x80) {
        break;
      }
      bytes[at + done] = unit;
    }
    if (done === length) {
      return length;
    }
  }
  return encodeInto(bytes, at, text);
}

/** @type {(bytes: any, at: number, text: string) => number} */
const encodeInto = typeof Buffer === "function"
  ? (bytes, at, text) => bytes.write(text, at)
  : (bytes, at, text) => encoder.encodeInto(text, bytes.subarray(at)).written;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Reads a text.
 * @type {(bytes: any, from: number, to: number) => string}
 */
const stringAt = typeof Buffer === "function"
  ? (bytes, from, to) => bytes.toString("utf8", from, to)
  : (bytes, from, to) => decoder.decode(bytes.subarray(from, to));

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
 * A text that the library gets as it is meant.
 * @param {import("../index.js").Text} value
 */
function given(value) {
  lengthOf(value); // Anything but a text throws.
  return whole(value);
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

module.exports = { asBytes, countOf, bytesOf, encoder, encode, putString, stringAt, typeName, refuseShared, whole, given, lengthOf };
