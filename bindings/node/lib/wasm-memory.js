"use strict";
// An instance of the library as a WebAssembly module, and what is put into its memory for a call. A trap drops the instance; the next call
// has another, with the same engines and scope sets.
const { asBytes, bytesOf, encoder, lengthOf } = require("./text.js");

/** The room for what a call hands over; anything larger gets room of its own. */
const ROOM = 64 << 10;

/** No array has more. */
const MOST = 2 ** 31;

/** The module, and its instance's functions and memory: there are no functions before the first call and after a trap. */
const held = {
  code: /** @type {any} */ (null),
  library: /** @type {any} */ (null),
  memory: new DataView(new ArrayBuffer(0)),
  bytes: new Uint8Array(0),
};

/** Where the room is while there is an instance. */
const roomAt = () => room;

/** Where the room is, and how much of it the next call has taken. */
let [room, taken] = [0, 0];

/**
 * Rooms of their own, with their sizes.
 * @type {[number, number][]}
 */
let large = [];

/**
 * What is done after a call: reading what was written.
 * @type {(() => void)[]}
 */
let behind = [];

/**
 * What lives longer than a call. Each has a number of ours, and is made again in another instance, or lost with its own.
 * @type {Map<number, { address: number, again: () => number }>}
 */
const objects = new Map();

/** Makes an instance if there is none. INVARIANT: a call comes here before it has taken room. */
function start() {
  if (held.library !== null) {
    return;
  }
  held.library = new WebAssembly.Instance(held.code).exports;
  room = allocated(ROOM);
  for (const [handle, object] of objects) {
    object.address = object.again();
    if (object.address === 0) { // What is refused or traps again is not tried again.
      objects.delete(handle);
    }
    if (held.library === null) {
      return start();
    }
  }
}

/**
 * Calls a function of the instance, which is lost if that traps.
 * @param {string} name
 * @param {(number | bigint)[]} given
 */
function run(name, given) {
  try {
    return held.library[name](...given);
  } catch (trap) {
    held.library = null;
    throw trap;
  } finally {
    look();
  }
}

/** Looks the memory up, which is another where it has grown. */
function look() {
  if (held.library !== null && held.memory.buffer !== held.library.memory.buffer) {
    held.memory = new DataView(held.library.memory.buffer);
    held.bytes = asBytes(held.library.memory.buffer);
  }
}

/** @param {number} size */
function allocated(size) {
  const at = size < MOST ? run("orbgate_wasm_alloc", [size]) >>> 0 : 0;
  if (at === 0) {
    throw new RangeError(`the library cannot allocate ${size} bytes`);
  }
  return at;
}

/**
 * Reserves room in the module's memory until the next call is over.
 * @param {number} size
 */
function reserve(size) {
  start();
  if (taken + size <= ROOM) {
    const at = room + taken;
    taken += Math.ceil(size / 8) * 8;
    return at;
  }
  const at = allocated(size);
  large.push([at, size]);
  return at;
}

/**
 * Does something when the next call has been answered.
 * @param {() => void} read
 */
function then(read) {
  behind.push(read);
}

/** The call was answered. */
function answered() {
  for (const read of behind) {
    read();
  }
}

/** The call is over. */
function release() {
  const given = large;
  [taken, large, behind] = [0, [], []];
  for (const [at, size] of given) {
    if (held.library !== null) {
      run("orbgate_wasm_free", [at, size]);
    }
  }
}

/**
 * Copies an array.
 * @param {import("./text.js").View} array
 */
function placed(array) {
  const own = bytesOf(array);
  const at = reserve(own.length);
  held.bytes.set(own, at);
  return at;
}

/** @param {string | Uint8Array | null} value */
function placedText(value) {
  if (typeof value !== "string") {
    return value === null ? 0 : placed(value);
  }
  // No unit of a string has more than three bytes.
  const most = 3 * value.length <= ROOM ? 3 * value.length : lengthOf(value);
  const at = reserve(most);
  encoder.encodeInto(value, held.bytes.subarray(at, at + most));
  return at;
}

/** @param {number} handle */
function addressOf(handle) {
  start();
  const address = handle === 0 ? 0 : objects.get(handle)?.address;
  if (address === undefined) {
    throw new Error("an object of the library was lost when it trapped");
  }
  return address;
}

module.exports = { ROOM, held, objects, start, run, roomAt, allocated, reserve, placed, placedText, addressOf, then, answered, release };
