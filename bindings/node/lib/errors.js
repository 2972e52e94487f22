"use strict";
const { CODES } = require("./layout.js");
const { functions, sizes, text } = require("./library.js");

const OK = CODES.STATUS_OK;

class OrbgateError extends Error {
  /**
   * @param {string} code
   * @param {string} message
   * @param {ErrorOptions} [options]
   */
  constructor(code, message, options) {
    super(message, options);
    this.name = "OrbgateError";
    this.code = code;
  }
}

class PolicyError extends OrbgateError {
  /**
   * @param {string} code
   * @param {string} message
   * @param {unknown} cause
   * @param {{ line: number, column: number, path: string | null, diagnostics: import("../index.js").Diagnostic[] }} details
   */
  constructor(code, message, cause, details) {
    super(code, message, cause === undefined ? undefined : { cause });
    this.name = "PolicyError";
    this.line = details.line;
    this.column = details.column;
    this.path = details.path;
    this.diagnostics = details.diagnostics;
  }
}

/**
 * A call that failed for what it was given.
 * @param {number} status
 * @param {string} what
 */
function failure(status, what) {
  const code = text(functions.statusName(status)) ?? `status_${status}`;
  return new OrbgateError(code, `${what}: ${code.replace("_", " ")}`);
}

/** @param {string} what */
const closed = (what) => new OrbgateError("closed", `the ${what} is closed`);

/**
 * @param {number} status
 * @param {string} what
 */
function check(status, what) {
  if (status !== OK) {
    throw failure(status, what);
  }
}

/**
 * Takes an error of the library: reads it and frees it.
 * @param {number} status
 * @param {number | bigint} error
 * @param {() => unknown} [cause] of a file that cannot be read
 */
function policyError(status, error, cause) {
  if (error === 0) {
    return failure(status, "cannot load a policy");
  }
  try {
    const info = { struct_size: sizes.ErrorInfo };
    check(functions.errorInfo(error, info), "cannot read an error");
    const { line, column, diagnostic_count, message, path } = /** @type {any} */ (info);
    const diagnostics = Array.from({ length: diagnostic_count }, (_, at) => diagnostic(error, at));
    const code = text(functions.statusName(status)) ?? `status_${status}`;
    return new PolicyError(code, text(message) ?? code, code === "io" ? cause?.() : undefined, { line, column, path: text(path), diagnostics });
  } finally {
    functions.errorFree(error);
  }
}

/**
 * @param {number | bigint} error
 * @param {number} at
 * @returns {import("../index.js").Diagnostic}
 */
function diagnostic(error, at) {
  const raw = { struct_size: sizes.Diagnostic };
  check(functions.errorDiagnostic(error, at, raw), "cannot read an error");
  const { line, column, message } = /** @type {any} */ (raw);
  return Object.freeze({ line, column, message: text(message) ?? "" });
}

module.exports = { OrbgateError, PolicyError, OK, check, closed, failure, policyError };
