"use strict";
// The options of a gate, as the library takes them.
const { readSecret } = require("#system");
const { CODES } = require("../layout.js");
const { OK, PolicyError } = require("../errors.js");
const { hasFiles, text } = require("../library.js");
const { whole, lengthOf } = require("../text.js");
const { gates, gateSizes } = require("./abi.js");

/** @type {Record<string, number>} */
const CHALLENGES = { minimal: CODES.CHALLENGE_MINIMAL, full: CODES.CHALLENGE_FULL, none: CODES.CHALLENGE_NONE };

const KEYS = {
  ttlMs: "ttl_ms", ttlMinMs: "ttl_min_ms", ttlMaxMs: "ttl_max_ms", aheadPercent: "ahead_percent", maxStaleMs: "max_stale_ms",
  cooldownMs: "cooldown_ms", burst: "burst", retryMs: "retry_ms", timeoutMs: "timeout_ms",
};

const OTHERS = ["challenge", "realm", "resourceMetadata", "flat403", "ignoreMethodOverride", "keys", "fetch", "count", "audit", "log", "public", "corsPreflight", "refuseWider", "debug"];

/** @type {Record<string, number>} */
const CORS_PREFLIGHTS = { deny: CODES.CORS_PREFLIGHT_DENY, pass: CODES.CORS_PREFLIGHT_PASS };

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

/**
 * Refuses a hook that cannot be called: what it is to get would be lost.
 * @param {Readonly<Record<string, unknown>>} given
 * @param {readonly string[]} names
 */
function callable(given, names) {
  const other = names.find((name) => given[name] !== undefined && typeof given[name] !== "function");
  if (other !== undefined) {
    throw new TypeError(`a gate's \`${other}\` is a function`);
  }
}

/**
 * @param {Record<string, number>} codes
 * @param {string} name
 * @param {string} about
 */
function codeOf(codes, name, about) {
  if (!Object.hasOwn(codes, name)) {
    throw new TypeError(`${about} ${Object.keys(codes).join(", ")}, not \`${name}\``);
  }
  return codes[name];
}

/** @param {import("../../index.js").Text} value */
const given = (value) => ({ data: whole(value), len: lengthOf(value) });

/**
 * All but the secrets.
 * @param {import("../../gate.js").GateOptions} options
 */
function optionsOf(options) {
  const { challenge = "minimal", realm = "", resourceMetadata = "", keys = {}, public: routes = [], corsPreflight = "deny" } = options;
  known(options, OTHERS);
  known(keys, Object.keys(KEYS));
  callable(/** @type {Record<string, unknown>} */ (options), ["count", "audit", "fetch"]);
  const number = codeOf(CHALLENGES, challenge, "a challenge is");
  const preflight = codeOf(CORS_PREFLIGHTS, corsPreflight, "`corsPreflight` is");
  const times = Object.entries(KEYS).map(([name, field]) => [field, keys[/** @type {keyof typeof KEYS} */ (name)] ?? 0]);
  const flags = CODES.GATE_INTROSPECTION | (options.flat403 === true ? CODES.GATE_FLAT_403 : 0)
    | (options.ignoreMethodOverride === true ? CODES.GATE_IGNORE_METHOD_OVERRIDE : 0)
    | (keys.maxStaleMs === 0 ? CODES.GATE_NO_STALE_KEYS : 0);
  return {
    struct_size: gateSizes.Options, flags, challenge: number, templates: CODES.TEMPLATES_COLONS, realm: given(realm),
    resource_metadata: given(resourceMetadata), ...Object.fromEntries(times), reserved: 0,
    public_routes: routes.map(given), public_route_count: routes.length, cors_preflight: preflight, reserved2: 0,
  };
}

/**
 * The secrets of the clients that ask about opaque tokens, and files with keys, as a gate's options have them. The shared library reads them itself; WebAssembly
 * can't.
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
      failures.push(`\`${source.key}\` ${source.name}: ${error instanceof Error ? error.message : error}`);
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
  const isFile = kind !== CODES.SECRET_ENV;
  const key = kind === CODES.SECRET_KEYS ? "jwks_file" : `client_secret_${isFile ? "file" : "env"}`;
  return { isFile, key, name: text(name) ?? "" };
}

module.exports = { optionsOf, secretsOf, given };
