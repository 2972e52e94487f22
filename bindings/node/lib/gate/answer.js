"use strict";
// What comes of a question, in the words of this package.
const { CODES } = require("../layout.js");
const { decisionOf } = require("../engine.js");

/**
 * @typedef {import("../../gate.js").Answer} Answer
 * @typedef {import("../../gate.js").VerifiedToken} VerifiedToken
 */

/** The engine that has given an answer. @type {WeakMap<Answer, InstanceType<typeof import("../engine.js").Engine>>} */
const engines = new WeakMap();

const engineOf = (/** @type {Answer} */ answer) => /** @type {InstanceType<typeof import("../engine.js").Engine>} */ (engines.get(answer));

/** Of every denial, because caches may keep a 404 or 405, and some keep a 403. */
const NO_STORE = Object.freeze({ "cache-control": "no-store" });

/** The answer if the gate has none of its own, because something failed. */
const FAILURE = Object.freeze({ httpStatus: CODES.DEFAULT_HTTP_STATUS, headers: NO_STORE });

/**
 * @param {InstanceType<typeof import("../engine.js").Engine>} engine that has answered
 * @param {import("./messages.js").Answer} from
 * @returns {Answer}
 */
function answerOf(engine, from) {
  const decision = decisionOf(engine, from.packed);
  // Only an allow of both halves lets a request through.
  const isAllow = decision.isAllow && from.httpStatus === 0;
  const headers = /** @type {Record<string, string>} */ (isAllow ? {} : { ...NO_STORE });
  if (from.wwwAuthenticate !== null) {
    headers["www-authenticate"] = from.wwwAuthenticate;
  }
  if (from.allow !== null) {
    headers.allow = from.allow;
  }
  for (const { name, value } of from.headers) {
    headers[name] = value;
  }
  if (from.retryAfter > 0) {
    headers["retry-after"] = String(from.retryAfter);
  }
  const answer = Object.freeze({
    isAllow, decision, headers, body: from.body, token: tokenOf(from.token), httpStatus: isAllow ? null : from.httpStatus || CODES.DEFAULT_HTTP_STATUS,
    // cargo xtask codes: answer values
    preflight: from.preflight, refused: from.refused || null, misrouted: from.misrouted, publicTemplate: from.publicTemplate || null,
    // end of answer values
  });
  engines.set(answer, engine);
  return answer;
}

/**
 * @param {import("./messages.js").Token | null} from
 * @returns {VerifiedToken | null}
 */
function tokenOf(from) {
  return from === null ? null : Object.freeze({
    // cargo xtask codes: token values
    kind: kindOf(from.kind), scopes: from.scopes, issuer: from.issuer, subject: from.subject || null, client: from.client || null, actor: from.actor || null, id: from.id || null, fingerprint: from.fingerprint, expiresMs: from.expiresMs,
    // end of token values
  });
}

/** @type {Map<number, import("../../index.js").TokenKind>} */
const KINDS = new Map([[CODES.TOKEN_KIND_USER, "user"], [CODES.TOKEN_KIND_ORGANISATION, "organisation"]]);

const kindOf = (/** @type {number} */ kind) => KINDS.get(kind) ?? "unknown";

module.exports = { FAILURE, answerOf, engineOf };
