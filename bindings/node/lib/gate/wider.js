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
 * @param {(active: Engine) => void} checkPublic throws if more requests are public
 */
function checkWider(active, next, file, checkPublic) {
  if (active.digest === next.digest) {
    return;
  }
  const path = file instanceof URL ? fileURLToPath(file) : file;
  const policy = new TextDecoder().decode(readRegular(path, (why) => {
    throw new OrbgateError("io", `cannot read \`${path}\`: ${why}`);
  }));
  const wider = (/** @type {string} */ why) => new OrbgateError("wider", `${path}: the policy allows more than the former: ${why}`);
  const changes = active.diff({ policy });
  if (changes.new !== next.digest) {
    throw new OrbgateError("unfinished", `${path}: the policy file is still being written`);
  }
  if (changes.widens) {
    throw wider(changes.fails.join(", "));
  }
  try {
    checkPublic(active);
  } catch (error) {
    throw wider(/** @type {Error} */ (error).message);
  }
}

module.exports = { checkWider };
