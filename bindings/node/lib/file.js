"use strict";
// A file that is read here and not by the library.
const { readRegular } = require("#system");
const { whole, lengthOf } = require("./text.js");
const { PolicyError } = require("./errors.js");

/**
 * Loads what is in a file, with errors as the library gives them for one that it reads.
 * @template T
 * @param {import("../index.js").Text} file
 * @param {(text: Uint8Array) => T} load
 * @returns {T}
 */
function fromRead(file, load) {
  lengthOf(whole(file)); // Anything but a text throws.
  const path = typeof file === "string" ? file : new TextDecoder().decode(file);
  try {
    return load(readRegular(file, (why, cause) => {
      throw new PolicyError("io", `cannot read \`${path}\`: ${why}`, cause, { line: 0, column: 0, path, diagnostics: [] });
    }));
  } catch (error) {
    if (!(error instanceof PolicyError) || error.diagnostics.length === 0) {
      throw error;
    }
    const message = error.diagnostics.map((diagnostic) => `${path}:${diagnostic.line}:${diagnostic.column}: ${diagnostic.message}`).join("\n");
    throw new PolicyError(error.code, message, undefined, { ...error, path });
  }
}

module.exports = { fromRead };
