"use strict";
// The C library: one of the system through koffi, or its build as WebAssembly. Both look alike from here on.
const { declare } = require("./abi.js");
const { CODES } = require("./layout.js");
const { open } = require("#system");

/** @typedef {ReturnType<typeof import("./koffi.js").load>} Foreign */

const { from, file, foreign } = open();

const major = (/** @type {number} */ abi) => abi >>> 16;
const minor = (/** @type {number} */ abi) => abi & 0xffff;

const [needed, abi] = [CODES.ABI_VERSION, foreign.func("orbgate_abi_version", "uint32_t", [])()];
if (major(abi) !== major(needed) || minor(abi) < minor(needed)) {
  throw new Error(`the orbgate library \`${file}\` has ABI ${major(abi)}.${minor(abi)}, and this package needs ${major(needed)}.${minor(needed)}`);
}

/** Whether it can read files itself. */
const { hasFiles } = foreign;

const { Located, Handles, Struct, text, ascii } = from;
const { functions, structs, sizes, ROUTE } = declare(foreign);
const version = /** @type {string} */ (text(functions.version()));

module.exports = { foreign, functions, structs, sizes, ROUTE, hasFiles, Located, Handles, Struct, text, ascii, version };
