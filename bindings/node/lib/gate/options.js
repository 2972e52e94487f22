"use strict";
// The options of a gate, as the library takes them.
const { readSecret } = require("#system");
const { CODES } = require("../layout.js");
const { hasFiles } = require("../library.js");
const { given, whole } = require("../text.js");
const { MESSAGES } = require("./messages.js");
const { Steps } = require("./steps.js");

/** @typedef {import("../../index.js").Text} Text */

/** @type {Record<string, number>} */
const CHALLENGES = { minimal: CODES.CHALLENGE_MINIMAL, full: CODES.CHALLENGE_FULL, none: CODES.CHALLENGE_NONE };

const KEYS = ["ttlMs", "ttlMinMs", "ttlMaxMs", "aheadPercent", "maxStaleMs", "cooldownMs", "burst", "retryMs", "timeoutMs"];

const OTHERS = ["challenge", "realm", "resourceMetadata", "flat403", "ignoreMethodOverride", "keys", "fetch", "count", "audit", "log", "public", "corsPreflight", "refuseWider", "debug", "mcp", "resource", "ledger", "amounts", "bonusFromBody"];

const MCP = ["path", "initialScopes", "mostBytes", "denyLegacy", "origins", "chargeSessions"];

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

/**
 * The question that makes a gate, without its secrets.
 * @param {Text} tokens
 * @param {import("../../gate.js").GateOptions} options
 * @returns {import("./messages.js").Make}
 */
function makeOf(tokens, options) {
  const { challenge = "minimal", realm = "", resourceMetadata = "", keys = {}, public: routes = [], corsPreflight = "deny", mcp, resource = "" } = options;
  known(options, OTHERS);
  known(keys, KEYS);
  known(mcp ?? {}, MCP);
  callable(/** @type {Record<string, unknown>} */ (options), ["count", "audit", "fetch"]);
  return {
    ...keys, number: MESSAGES.MAKE, tokens, flat403: options.flat403 === true, ignoreMethodOverride: options.ignoreMethodOverride === true,
    noStaleKeys: keys.maxStaleMs === 0, introspection: true, proofs: true, challenge: codeOf(CHALLENGES, challenge, "a challenge is"),
    templates: CODES.TEMPLATES_COLONS, corsPreflight: codeOf(CORS_PREFLIGHTS, corsPreflight, "`corsPreflight` is"), realm: given(realm),
    resourceMetadata: given(resourceMetadata), publicRoutes: routes.map(given),
    ...mcp === undefined ? {} : { mcp: given(mcp.path), mcpInitialScopes: given(mcp.initialScopes ?? ""), mcpMostBytes: mcp.mostBytes ?? 0, mcpDenyLegacy: mcp.denyLegacy === true, mcpChargeSessions: mcp.chargeSessions === true, mcpOrigins: (mcp.origins ?? []).map(given) },
    metadata: given(resource),
  };
}

/**
 * Where the secrets of a token configuration are, and its files with keys. The shared library reads them itself; WebAssembly can't.
 * @param {Text} tokens
 * @returns {import("./messages.js").SecretSource[]}
 */
function sourcesOf(tokens) {
  const reply = hasFiles ? null : Steps.ask({ number: MESSAGES.SOURCES, tokens });
  return reply?.number === MESSAGES.SECRET_SOURCES ? reply.sources : [];
}

/**
 * The secrets, and why some can't be read: a line for each.
 * @param {import("./messages.js").SecretSource[]} sources
 */
function readSecrets(sources) {
  const secrets = [];
  const failures = [];
  for (const { kind, name } of sources) {
    const isFile = kind !== CODES.SECRET_ENV;
    try {
      secrets.push({ value: whole(readSecret(isFile, name)) });
    } catch (error) {
      const key = kind === CODES.SECRET_KEYS ? "jwks_file" : `client_secret_${isFile ? "file" : "env"}`;
      failures.push(`\`${key}\` ${name}: ${error instanceof Error ? error.message : error}`);
    }
  }
  return { secrets: failures.length > 0 ? [] : secrets, failure: failures.join("\n") };
}

module.exports = { makeOf, readSecrets, sourcesOf };
