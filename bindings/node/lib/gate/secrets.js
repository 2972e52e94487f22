"use strict";
// The secrets of the clients that ask about opaque tokens. The shared library reads them itself; WebAssembly can't.
const { readSecret } = require("#system");
const { CODES } = require("../layout.js");
const { OK, PolicyError } = require("../errors.js");
const { hasFiles, text } = require("../library.js");
const { whole, lengthOf } = require("../text.js");
const { gates, gateSizes } = require("./abi.js");

/**
 * As a gate's options have them.
 * @param {number} verifier
 */
function secretsOf(verifier) {
  const secrets = [];
  const failures = [];
  for (let source = hasFiles ? null : sourceOf(verifier, 0); source !== null; source = sourceOf(verifier, secrets.length)) {
    /** @type {import("../../index.js").Text} */
    let secret = "";
    try {
      secret = readSecret(source.isFile, source.name);
    } catch (error) {
      const named = `\`client_secret_${source.isFile ? "file" : "env"}\` ${source.name}`;
      failures.push(`${named}: ${error instanceof Error ? error.message : error}`);
    }
    secrets.push({ data: whole(secret), len: lengthOf(secret) });
  }
  if (failures.length > 0) {
    throw new PolicyError("invalid_configuration", failures.join("\n"), undefined, { line: 0, column: 0, path: null, diagnostics: [] });
  }
  return { secrets, secret_count: secrets.length };
}

/**
 * @param {number} verifier
 * @param {number} at
 */
function sourceOf(verifier, at) {
  const info = { struct_size: gateSizes.SecretSource };
  if (gates.verifierSecret(verifier, at, info) !== OK) {
    return null;
  }
  const { kind, name } = /** @type {any} */ (info);
  return { isFile: kind === CODES.SECRET_FILE, name: text(name) ?? "" };
}

module.exports = { secretsOf };
