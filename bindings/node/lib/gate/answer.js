"use strict";
// What comes of a question, in the words of this package.
const { CODES } = require("../layout.js");
const { decisionOf } = require("../engine.js");
const { text } = require("../library.js");

/**
 * @typedef {import("../../gate.js").Answer} Answer
 * @typedef {import("../../gate.js").VerifiedToken} VerifiedToken
 */

/** The engine that has given an answer. @type {WeakMap<Answer, InstanceType<typeof import("../engine.js").Engine>>} */
const engines = new WeakMap();

const engineOf = (/** @type {Answer} */ answer) => /** @type {InstanceType<typeof import("../engine.js").Engine>} */ (engines.get(answer));

/** The answer if the gate has none of its own, because something failed. */
const FAILURE = Object.freeze({ httpStatus: CODES.DEFAULT_HTTP_STATUS, headers: Object.freeze({}) });

/**
 * @param {InstanceType<typeof import("../engine.js").Engine>} engine that has answered
 * @param {any} info
 * @returns {Answer}
 */
function answerOf(engine, info) {
  const decision = decisionOf(engine, info.packed);
  // Only an allow of both halves lets a request through.
  const isAllow = decision.isAllow && info.http_status === 0;
  const headers = /** @type {Record<string, string>} */ ({});
  const [challenge, allow] = [text(info.www_authenticate), text(info.allow)];
  if (challenge !== null) {
    headers["www-authenticate"] = challenge;
  }
  if (allow !== null) {
    headers.allow = allow;
  }
  const answer = Object.freeze({
    isAllow, decision, headers, token: tokenOf(info), refused: text(info.refused), misrouted: text(info.misrouted),
    publicTemplate: text(info.public_template), preflight: info.preflight === 1, httpStatus: isAllow ? null : info.http_status || CODES.DEFAULT_HTTP_STATUS,
  });
  engines.set(answer, engine);
  return answer;
}

/**
 * @param {any} info
 * @returns {VerifiedToken | null}
 */
function tokenOf(info) {
  const kind = KINDS.get(info.token_kind);
  return kind === undefined ? null : Object.freeze({
    kind, scopes: text(info.scopes) ?? "", issuer: text(info.issuer) ?? "", subject: text(info.subject), client: text(info.client),
    actor: text(info.actor), id: text(info.id), fingerprint: text(info.fingerprint) ?? "", expiresMs: Number(info.expires_ms),
  });
}

/** @type {Map<number, import("../../index.js").TokenKind>} */
const KINDS = new Map([[CODES.TOKEN_KIND_USER, "user"], [CODES.TOKEN_KIND_ORGANISATION, "organisation"]]);

module.exports = { FAILURE, answerOf, engineOf };
