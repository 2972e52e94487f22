"use strict";
// The form of messages: see docs/messages.md. A field is a number, a length and its bytes.
const { asBytes, countOf, lengthOf, putString, stringAt } = require("../text.js");

/** The bytes before those of a field. */
const HEAD = 8;

/** In the number of a field: a host that doesn't know it must deny. As a signed integer, such a number is negative. */
const CRITICAL = 1 << 31;

const HALF = 2 ** 32;

/** Writes a question into a room, or, if it is longer, into memory of its own. */
class Writer {
  /** @type {Uint8Array} */
  bytes = new Uint8Array(0);
  view = new DataView(this.bytes.buffer);
  /** Where the message begins, and where its next byte comes. */
  base = 0;
  at = 0;
  #end = 0;
  /** Whether it has outgrown the room. */
  isLong = false;

  /**
   * Begins a message.
   * @param {Uint8Array} bytes
   * @param {DataView} view of the same memory
   * @param {number} at where the room begins
   * @param {number} end
   */
  begin(bytes, view, at, end) {
    [this.bytes, this.view, this.base, this.at, this.#end, this.isLong] = [bytes, view, at, at, end, false];
  }

  /** The message. */
  get message() {
    return this.bytes.subarray(this.base, this.at);
  }

  /**
   * Begins a field of fields.
   * @param {number} number
   */
  open(number) {
    this.#head(number, 0, HEAD);
    return this.at - this.base;
  }

  /** @param {number} start as `open` has it */
  close(start) {
    this.view.setUint32(this.base + start - 4, this.at - this.base - start, true);
  }

  /** @param {number} number @param {number} [value] */
  integer(number, value = 0) {
    if (value === 0) {
      return;
    }
    if (!Number.isSafeInteger(value) || value < 0) {
      throw new RangeError(`\`${value}\` is not an integer from 0 to 2^53 - 1`);
    }
    this.#head(number, 8, HEAD + 8);
    this.view.setUint32(this.at, value % HALF, true);
    this.view.setUint32(this.at + 4, Math.floor(value / HALF), true);
    this.at += 8;
  }

  /** @param {number} number @param {boolean} [value] */
  flag(number, value) {
    if (value === true) {
      this.#head(number, 0, HEAD);
    }
  }

  /** @param {number} number @param {import("../../index.js").Text} [value] */
  text(number, value = "") {
    if (value !== "") {
      this.#text(number, value);
    }
  }

  /**
   * A text that isn't the same if it is empty.
   * @param {number} number
   * @param {import("../../index.js").Text} [value]
   */
  optional(number, value) {
    if (value !== undefined) {
      this.#text(number, value);
    }
  }

  /** @param {number} number @param {readonly import("../../index.js").Text[]} [values] */
  texts(number, values = []) {
    for (const value of values) {
      this.#text(number, value);
    }
  }

  /** @template Part @param {number} number @param {readonly Part[] | undefined} values @param {(to: Writer, value: Part) => void} put */
  parts(number, values = [], put) {
    for (const value of values) {
      const start = this.open(number);
      put(this, value);
      this.close(start);
    }
  }

  /** @param {number} number @param {import("../../index.js").Text} value */
  #text(number, value) {
    if (typeof value === "string") {
      this.#head(number, 0, HEAD + 3 * value.length); // No unit of a string has more than three bytes.
      const size = putString(this.bytes, this.at, value);
      this.view.setUint32(this.at - 4, size, true);
      this.at += size;
    } else {
      lengthOf(value); // Anything but a text throws.
      const size = countOf.call(value);
      this.#head(number, size, HEAD + size);
      this.bytes.set(value, this.at);
      this.at += size;
    }
  }

  /** @param {number} number @param {number} size @param {number} most bytes that follow, the head among them */
  #head(number, size, most) {
    if (this.at + most > this.#end) {
      this.#grow(most);
    }
    this.view.setUint32(this.at, number, true);
    this.view.setUint32(this.at + 4, size, true);
    this.at += HEAD;
  }

  /** @param {number} most */
  #grow(most) {
    const { message } = this;
    const bytes = asBytes(new ArrayBuffer(2 * (message.length + most)));
    bytes.set(message);
    this.begin(bytes, new DataView(bytes.buffer), 0, bytes.length);
    [this.at, this.isLong] = [message.length, true];
  }
}

/**
 * How many bytes the field has that begins there; less than 0 if it doesn't end before the end.
 * @param {DataView} view
 * @param {number} at
 * @param {number} end
 */
function sizeAt(view, at, end) {
  if (end - at < HEAD) {
    return -1;
  }
  const size = view.getUint32(at + 4, true);
  return size > end - at - HEAD ? -1 : size;
}

/**
 * Exact up to 2^53.
 * @param {DataView} view
 * @param {number} at
 */
const integerAt = (view, at) => view.getUint32(at, true) + view.getUint32(at + 4, true) * HALF;

/**
 * A copy of bytes.
 * @param {Uint8Array} bytes
 * @param {number} from
 * @param {number} to
 */
const bytesAt = (bytes, from, to) => new Uint8Array(bytes.subarray(from, to));

/** A text that answer after answer has: making it again would take longer than comparing. */
class Kept {
  #text = "";

  /** @param {Uint8Array} bytes @param {number} from @param {number} to */
  at(bytes, from, to) {
    const text = this.#text;
    let is = to - from === text.length;
    for (let at = 0; is && at < text.length; at++) {
      const byte = /** @type {number} */ (bytes[from + at]);
      is = byte === text.charCodeAt(at) && byte < 0x80;
    }
    return is ? text : (this.#text = stringAt(bytes, from, to));
  }
}

module.exports = { CRITICAL, HEAD, Kept, Writer, bytesAt, integerAt, sizeAt, textAt: stringAt };
