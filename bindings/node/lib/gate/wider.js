"use strict";
// Whether a new version of a policy allows more than the active one.
const { readRegular, fileURLToPath } = require("#system");
const { OrbgateError } = require("../errors.js");

/** @typedef {InstanceType<typeof import("../engine.js").Engine>} Engine */

/**
 * Throws if it does, and if they can't be compared.
 * @param {Engine} active
 * @param {Engine} next
 * @param {import("../../index.js").Text | URL} file of the next one
 */
function checkWider(active, next, file) {
  if (active.digest === next.digest) {
    return;
  }
  const path = file instanceof URL ? fileURLToPath(file) : file;
  const policy = new TextDecoder().decode(readRegular(path, (why) => {
    throw new OrbgateError("io", `cannot read \`${path}\`: ${why}`);
  }));
  const changes = active.diff({ policy });
  if (changes.new !== next.digest) {
    throw new OrbgateError("unfinished", `${path}: the policy file is still being written`);
  }
  if (changes.widens) {
    throw new OrbgateError("wider", `${path}: the policy allows more than the former: ${changes.fails.join(", ")}`);
  }
}

module.exports = { checkWider };
