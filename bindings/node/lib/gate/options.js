"use strict";
// The options of a gate, as the library takes them.
const { CODES } = require("../layout.js");
const { whole, lengthOf } = require("../text.js");
const { gateSizes } = require("./abi.js");

/** @type {Record<string, number>} */
const CHALLENGES = { minimal: CODES.CHALLENGE_MINIMAL, full: CODES.CHALLENGE_FULL, none: CODES.CHALLENGE_NONE };

const KEYS = {
  ttlMs: "ttl_ms", ttlMinMs: "ttl_min_ms", ttlMaxMs: "ttl_max_ms", aheadPercent: "ahead_percent", maxStaleMs: "max_stale_ms",
  cooldownMs: "cooldown_ms", burst: "burst", retryMs: "retry_ms", timeoutMs: "timeout_ms",
};

const OTHERS = ["challenge", "realm", "resourceMetadata", "flat403", "ignoreMethodOverride", "keys", "fetch", "count", "audit", "log"];

/**
 * Refuses a name that there is not: an option that is misspelt would be off.
 * @param {object} given
 * @param {readonly string[]} names
 */
function known(given, names) {
  const other = Object.keys(given).find((name) => !names.includes(name));
  if (other !== undefined) {
    throw new TypeError(`a gate has no option \`${other}\``);
  }
}

/** @param {import("../../index.js").Text} value */
const given = (value) => ({ data: whole(value), len: lengthOf(value) });

/** @param {import("../../gate.js").GateOptions} options */
function optionsOf(options) {
  const { challenge = "minimal", realm = "", resourceMetadata = "", keys = {} } = options;
  known(options, OTHERS);
  known(keys, Object.keys(KEYS));
  const number = CHALLENGES[challenge];
  if (number === undefined) {
    throw new TypeError(`a challenge is ${Object.keys(CHALLENGES).join(", ")}, not \`${challenge}\``);
  }
  const times = Object.entries(KEYS).map(([name, field]) => [field, keys[/** @type {keyof typeof KEYS} */ (name)] ?? 0]);
  const flags = (options.flat403 === true ? CODES.GATE_FLAT_403 : 0)
    | (options.ignoreMethodOverride === true ? CODES.GATE_IGNORE_METHOD_OVERRIDE : 0)
    | (keys.maxStaleMs === 0 ? CODES.GATE_NO_STALE_KEYS : 0);
  return {
    struct_size: gateSizes.Options, flags, challenge: number, templates: CODES.TEMPLATES_COLONS, realm: given(realm),
    resource_metadata: given(resourceMetadata), ...Object.fromEntries(times), reserved: 0,
  };
}

module.exports = { optionsOf, given };
