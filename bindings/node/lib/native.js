"use strict";
// The C library: its types and functions as bindings/c/include/orbgate.h declares them.
const koffi = require("koffi");
const { isSharedArrayBuffer } = require("node:util").types;

const { CODES } = require("./layout.js");

const [ABI_MAJOR, ABI_MINOR] = [CODES.ABI_VERSION >>> 16, CODES.ABI_VERSION & 0xffff];

/**
 * What the system's loader finds once the library is installed.
 * @type {Partial<Record<NodeJS.Platform, string>>}
 */
const FILES = { win32: "orbgate.dll", darwin: "liborbgate.1.dylib" };

/** The packages of this platform, of which npm installs the one for the C library of this system. */
const PACKAGES = ["gnu", "musl"].map((libc) => `@orbgate/${process.platform}-${process.arch}-${libc}`);

/** The libraries of those packages that are installed. */
function packaged() {
  return PACKAGES.flatMap((name) => {
    try {
      return [require.resolve(`${name}/liborbgate.so`)];
    } catch {
      return [];
    }
  });
}

/** Takes the file that is named; else the first of those of the packages and the system's that loads. */
function open() {
  const named = process.env.ORBGATE_LIBRARY;
  const files = named ? [named] : [...packaged(), FILES[process.platform] || "liborbgate.so.1"];
  const causes = [];
  for (const file of files) {
    try {
      return { library: koffi.load(file), file };
    } catch (cause) {
      causes.push(cause);
    }
  }
  const tried = files.map((file) => `\`${file}\``).join(" or ");
  const missing = named ? "" : `no package ${PACKAGES.join(" or ")} is installed, which npm leaves out with --omit=optional; `;
  const message = `cannot load the orbgate library ${tried}: ${missing}install it with `
    + "`cargo xtask install --prefix /usr/local` (and `ldconfig`), or give its path in the variable ORBGATE_LIBRARY";
  throw new Error(message, { cause: causes.length === 1 ? causes[0] : new AggregateError(causes) });
}

const { library, file } = open();

const abi = library.func("orbgate_abi_version", "uint32_t", [])();
if (abi >>> 16 !== ABI_MAJOR || (abi & 0xffff) < ABI_MINOR) {
  throw new Error(`the orbgate library \`${file}\` has ABI ${abi >>> 16}.${abi & 0xffff}, and this package needs ${ABI_MAJOR}.${ABI_MINOR}`);
}

// Pointers to what the library owns are numbers here: koffi makes them bigints where a double could not hold them.
const POINTER = "uintptr_t";
const BYTES = "const char *";
const SIZE = "size_t";
const STATUS = "int32_t";

const Str = koffi.struct({ data: POINTER, len: SIZE });

/** A text of ours, for the length of a call. */
const GivenStr = koffi.struct({ data: BYTES, len: SIZE });

const Route = koffi.struct({
  struct_size: "uint32_t", number: "uint32_t", id: "uint64_t", text: Str, method: Str, path_template: Str, scope: Str, api: Str,
  amount: "uint64_t", charge: "uint32_t", scope_number: "uint32_t", line: "uint32_t", column: "uint32_t",
});

const Scope = koffi.struct({
  struct_size: "uint32_t", number: "uint32_t", name: Str, api: Str, permits: Str, organisation: Str, amount: "uint64_t",
  charge: "uint32_t", line: "uint32_t", column: "uint32_t", reserved: "uint32_t",
});

const ErrorInfo = koffi.struct({
  struct_size: "uint32_t", code: "int32_t", line: "uint32_t", column: "uint32_t", fault_count: SIZE, message: Str, path: Str,
});

const Fault = koffi.struct({ struct_size: "uint32_t", line: "uint32_t", column: "uint32_t", reserved: "uint32_t", message: Str });

/** @param {string | import("koffi").TypeObject} type */
const out = (type) => koffi.out(koffi.pointer(type));
/** @param {import("koffi").TypeObject} type */
const inout = (type) => koffi.inout(koffi.pointer(type));

/** The token of a packed call: kind, scopes, scopes_len, scope_set, flags. */
const TOKEN = ["uint32_t", BYTES, SIZE, POINTER, "uint32_t"];

/**
 * @param {string} name
 * @param {string | import("koffi").TypeObject} result
 * @param {any[]} parameters
 */
const declare = (name, result, parameters) => library.func(`orbgate_${name}`, result, parameters);

const functions = {
  external: declare("engine_external", STATUS, [out(POINTER)]),
  fromYaml: declare("engine_from_yaml", STATUS, [BYTES, SIZE, out(POINTER), out(POINTER)]),
  fromFile: declare("engine_from_file", STATUS, [BYTES, SIZE, out(POINTER), out(POINTER)]),
  engineFree: declare("engine_free", "void", [POINTER]),
  digestText: declare("engine_digest_text", STATUS, [POINTER, out(Str)]),
  name: declare("engine_name", STATUS, [POINTER, out(Str)]),
  hasEndMarker: declare("engine_has_end_marker", STATUS, [POINTER, out("uint8_t")]),
  tableJson: declare("engine_table_json", STATUS, [POINTER, out(Str)]),
  routeCount: declare("engine_route_count", STATUS, [POINTER, out("uint32_t")]),
  // Read field by field: a policy may have 200,000 of them.
  route: declare("engine_route", STATUS, [POINTER, "uint32_t", POINTER]),
  routeMethod: declare("engine_route_method", STATUS, [POINTER, "uint32_t", SIZE, POINTER]),
  scopeCount: declare("engine_scope_count", STATUS, [POINTER, out("uint32_t")]),
  scope: declare("engine_scope", STATUS, [POINTER, "uint32_t", inout(Scope)]),
  findRoute: declare("engine_find_route", STATUS, [POINTER, BYTES, SIZE, BYTES, SIZE, out("uint64_t")]),

  decide: declare("engine_decide_packed", "uint64_t", [POINTER, BYTES, SIZE, BYTES, SIZE, ...TOKEN]),
  decideScope: declare("engine_decide_scope_packed", "uint64_t", [POINTER, BYTES, SIZE, ...TOKEN]),
  decideRoute: declare("engine_decide_route_packed", "uint64_t", [POINTER, "uint64_t", ...TOKEN]),
  decideBatch: declare("engine_decide_batch_packed", STATUS, [POINTER, POINTER, POINTER, SIZE]),

  scopeSetFromText: declare("scope_set_from_text", STATUS, [POINTER, BYTES, SIZE, out(POINTER)]),
  scopeSetFromList: declare("scope_set_from_list", STATUS, [POINTER, koffi.pointer(GivenStr), SIZE, out(POINTER)]),
  scopeSetFree: declare("scope_set_free", "void", [POINTER]),

  errorInfo: declare("error_info", STATUS, [POINTER, inout(ErrorInfo)]),
  errorFault: declare("error_fault", STATUS, [POINTER, SIZE, inout(Fault)]),
  errorFree: declare("error_free", "void", [POINTER]),
  reasonName: declare("reason_name", Str, ["uint8_t"]),
  reasonStatus: declare("reason_http_status", "uint16_t", ["uint8_t"]),
  detailName: declare("detail_name", Str, ["uint8_t"]),
  statusName: declare("status_name", Str, [STATUS]),
  tokenKindFromName: declare("token_kind_from_name", STATUS, [BYTES, SIZE, out("uint32_t")]),
};

/** Those that stand for a struct of the header as a whole or from its beginning on. */
const structs = { OrbgateStr: Str, OrbgateRoute: Route, OrbgateScope: Scope, OrbgateErrorInfo: ErrorInfo, OrbgateFault: Fault };

const sizes = {
  Pointer: koffi.sizeof("void *"),
  Route: koffi.sizeof(Route),
  Scope: koffi.sizeof(Scope),
  ErrorInfo: koffi.sizeof(ErrorInfo),
  Fault: koffi.sizeof(Fault),
};

/** Where a route has the fields that are read. */
const ROUTE = {
  id: koffi.offsetof(Route, "id"),
  text: koffi.offsetof(Route, "text"),
  amount: koffi.offsetof(Route, "amount"),
  scopeNumber: koffi.offsetof(Route, "scope_number"),
};

/** Where a 64-bit integer has its lower half. */
const LOW = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 0 : 1;

/** Integers as wide as a pointer. */
const Words = sizes.Pointer === 8 ? BigUint64Array : Uint32Array;

/**
 * An integer as `Words` takes it.
 * @param {number | bigint} integer
 * @returns {any}
 */
const word = sizes.Pointer === 8 ? BigInt : Number;

const ZERO = word(0);

/** @typedef {Uint8Array | Uint32Array | Int32Array | BigUint64Array} View */

/**
 * A property as every typed array has it, which an object cannot have otherwise: the library trusts these lengths.
 * @param {string} name
 * @returns {() => any}
 */
const ofView = (name) => /** @type {any} */ (
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), name)?.get
);

const countOf = ofView("length");
const bufferOf = ofView("buffer");

/**
 * Refuses memory that other threads can change while the library reads it.
 * @param {string} name
 * @param {View} view
 */
function refuseShared(name, view) {
  if (isSharedArrayBuffer(bufferOf.call(view))) {
    throw new TypeError(`${name} must not be over a SharedArrayBuffer, which other threads can change: copy it first`);
  }
}

/**
 * Where an array is, asked for once: its memory stays where it is until it is gone, and then the array has no length.
 */
class Located {
  #array;
  #count = -1;
  #address = ZERO;

  /** @param {View} array */
  constructor(array) {
    this.#array = array;
  }

  /** Where its memory is; 0 for none. */
  get address() {
    const count = this.length;
    if (count !== this.#count) {
      this.#count = count;
      this.#address = word(koffi.address(this.#array));
    }
    return this.#address;
  }

  /**
   * Where one of its elements is.
   * @param {number} index
   * @returns {number | bigint}
   */
  after(index) {
    return /** @type {any} */ (this.address) + word(index * this.#array.BYTES_PER_ELEMENT);
  }

  /** How many elements it has. */
  get length() {
    return countOf.call(this.#array);
  }
}

/**
 * A struct of two 32-bit integers, its size and another one, and then fields as wide as a pointer. Written here and not by
 * koffi, which takes microseconds for one with columns in it.
 */
class Struct {
  #head;
  #fields;
  /** The same in halves, written in less time than a bigint. */
  #halves;

  /** @param {number} fields */
  constructor(fields) {
    const buffer = new ArrayBuffer(2 * Uint32Array.BYTES_PER_ELEMENT + fields * sizes.Pointer);
    this.#head = new Uint32Array(buffer, 0, 2);
    this.#head[0] = buffer.byteLength;
    this.#fields = /** @type {any} */ (new Words(buffer, this.#head.byteLength));
    this.#halves = new Uint32Array(buffer, this.#head.byteLength);
    this.address = koffi.address(this.#head);
  }

  /**
   * Writes the integer behind the size.
   * @param {number} second
   */
  begin(second) {
    this.#head[1] = second;
  }

  /**
   * Writes a field.
   * @param {number} at
   * @param {number | bigint} field
   */
  put(at, field) {
    if (typeof field === "number" && field >>> 0 === field && sizes.Pointer === 8) {
      this.#halves[2 * at + LOW] = field;
      this.#halves[2 * at + 1 - LOW] = 0;
    } else {
      this.#fields[at] = word(field);
    }
  }

  /**
   * Writes where an array is, or that there is none. The caller keeps it alive.
   * @param {number} at
   * @param {Located | null} array
   */
  putAddress(at, array) {
    this.#fields[at] = array === null ? ZERO : array.address;
  }

  /**
   * The same, and how many elements it has.
   * @param {number} at
   * @param {Located | null} array
   */
  putArray(at, array) {
    this.putAddress(at, array);
    this.put(at + 1, array === null ? 0 : array.length);
  }
}

/**
 * Copies a text of the library; `null` where there is none.
 * @param {{ data: number | bigint, len: number }} str
 * @returns {string | null}
 */
function text(str) {
  return str.data === 0 ? null : Buffer.from(koffi.decode(str.data, "uint8_t", str.len)).toString("utf8");
}

/**
 * The same in a quarter of the time, for what is ASCII without NUL, as routes are.
 * @param {number | bigint} data
 * @param {number} length
 * @returns {string}
 */
const ascii = (data, length) => koffi.decode(data, "char", length);

/**
 * What a value is, for people.
 * @param {unknown} value
 */
const typeName = (value) => (value === null ? "null" : Array.isArray(value) ? "an array" : typeof value);

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
    return Buffer.byteLength(value);
  }
  if (value instanceof Uint8Array) {
    refuseShared("a text", value);
    return countOf.call(value);
  }
  throw new TypeError(`a text must be a string or a Uint8Array, not ${typeName(value)}`);
}

const version = /** @type {string} */ (text(declare("version", Str, [])()));

module.exports = { functions, structs, sizes, ROUTE, LOW, Struct, Located, text, ascii, typeName, whole, refuseShared, lengthOf, version };
