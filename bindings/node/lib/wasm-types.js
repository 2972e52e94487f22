"use strict";
// Types of C in the module's memory, made as koffi makes them: with pointers of 32 bits, and the lower bytes first.
const { held, reserve, placedText, addressOf, then } = require("./wasm-memory.js");

/**
 * A type of C: how many bytes it has, and how a value of it is written and read.
 * @typedef {{ size: number, align: number, write: (at: number, value: any) => void, read: (at: number) => any }} Type
 */

/**
 * A parameter: what the call passes for a value, and what is done after the call.
 * @typedef {{ give: (value: any) => number | bigint }} Parameter
 */

/** A 64-bit integer as koffi has it: a number where that holds it. */
const integer = (/** @type {bigint} */ wide) => (wide <= Number.MAX_SAFE_INTEGER ? Number(wide) : wide);

const uint32 = scalar(4, (at, value) => held.memory.setUint32(at, value, true), (at) => held.memory.getUint32(at, true));

/** @type {Record<string, Type & Parameter>} */
const TYPES = {
  uint8_t: scalar(1, (at, value) => held.memory.setUint8(at, value), (at) => held.memory.getUint8(at)),
  uint16_t: scalar(2, (at, value) => held.memory.setUint16(at, value, true), (at) => held.memory.getUint16(at, true)),
  int32_t: scalar(4, (at, value) => held.memory.setInt32(at, value, true), (at) => held.memory.getInt32(at, true)),
  uint32_t: uint32,
  size_t: uint32,
  uintptr_t: uint32,
  "void *": uint32,
  uint64_t: {
    size: 8, align: 8, give: BigInt,
    write: (at, value) => held.memory.setBigUint64(at, BigInt(value), true),
    read: (at) => integer(held.memory.getBigUint64(at, true)),
  },
  "const char *": { ...uint32, give: placedText, write: pointsTo(placedText) },
};

/**
 * Writes where a value is put. That comes first, because the memory may be another after it.
 * @param {(value: any) => number} put
 * @returns {Type["write"]}
 */
function pointsTo(put) {
  return (at, value) => {
    const where = put(value);
    held.memory.setUint32(at, where, true);
  };
}

/**
 * @param {number} size
 * @param {Type["write"]} write
 * @param {Type["read"]} read
 * @returns {Type & Parameter}
 */
function scalar(size, write, read) {
  return { size, align: size, write, read, give: (value) => value };
}

/** What lives longer than a call, and is made again in another instance: an engine, a scope set, a gate. */
const HANDLE = { ...uint32, give: addressOf };

/**
 * @param {any} type
 * @returns {any}
 */
const typeOf = (type) => (typeof type === "string" ? TYPES[type] : type);

/**
 * A struct as every C compiler lays it out.
 * @param {Record<string, any>} members
 */
function struct(members) {
  /** @type {Record<string, { type: Type, at: number }>} */
  const fields = {};
  let [size, align] = [0, 1];
  for (const [name, member] of Object.entries(members)) {
    const type = typeOf(member);
    const at = Math.ceil(size / type.align) * type.align;
    fields[name] = { type, at };
    [size, align] = [at + type.size, Math.max(align, type.align)];
  }
  const list = Object.entries(fields);

  /**
   * @param {Record<string, any>} value
   * @param {number} start
   */
  function readInto(value, start) {
    for (const [name, { type, at }] of list) {
      value[name] = type.read(start + at);
    }
    return value;
  }

  return {
    size: Math.ceil(size / align) * align,
    align,
    fields,
    /** @type {Type["write"]} */
    write: (start, value) => {
      for (const name in value) {
        fields[name]?.type.write(start + fields[name].at, value[name]);
      }
    },
    /** @type {Type["read"]} */
    read: (start) => readInto({}, start),
    readInto,
  };
}

/**
 * Where a value is written: into the first place of an array, or into an object.
 * @param {any} of
 */
function out(of) {
  const type = typeOf(of);
  return {
    makes: of === HANDLE,
    give: (/** @type {any} */ into) => {
      const at = reserve(type.size);
      held.bytes.fill(0, at, at + type.size);
      if (Array.isArray(into)) {
        then(() => {
          into[0] = type.read(at);
        });
      } else {
        type.write(at, into);
        then(() => type.readInto(into, at));
      }
      return at;
    },
  };
}

/**
 * An array of a type.
 * @param {any} of
 */
function pointer(of) {
  const type = typeOf(of);
  const give = (/** @type {any[]} */ values) => {
    const at = reserve(type.size * values.length);
    values.forEach((value, index) => type.write(at + type.size * index, value));
    return at;
  };
  return { ...uint32, give, write: pointsTo(give) };
}

const sizeof = (/** @type {any} */ type) => typeOf(type).size;

const offsetof = (/** @type {ReturnType<typeof struct>} */ type, /** @type {string} */ field) => type.fields[field]?.at;

module.exports = { HANDLE, integer, typeOf, sizeof, offsetof, struct, out, pointer };
