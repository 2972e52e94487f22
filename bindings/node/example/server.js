// A server of `node:http` that trusts the headers `X-Token-Kind` and `X-Token-Scopes`, so it must be reached only through what sets them:
// `orbgate/gate` verifies tokens itself. It asks before it answers: a caller without the scope gets a bare 403.
//
//   node example/server.js 8080
//   curl -i -X POST localhost:8080/api/v1/external/voxies/prompt/run -H 'x-token-kind: user' -H 'x-token-scopes: read:voxies'
"use strict";
const http = require("node:http");
const { Engine, Handle, tokenKind } = require("orbgate");

/**
 * The verified token of a request. This one trusts headers of an authenticating proxy in front of it; put your own
 * verification here, and never trust such headers from outside.
 * @param {http.IncomingMessage} request
 * @returns {import("orbgate").Token | null}
 */
function tokenOf({ headers }) {
  const [kind, scopes] = [headers["x-token-kind"], headers["x-token-scopes"]];
  return typeof kind === "string" ? { kind: tokenKind(kind), scopes: String(scopes ?? "") } : null;
}

/**
 * Lets a request through to `next`, with the decision, or refuses it with an empty body.
 * @param {Handle} policy
 * @param {(request: http.IncomingMessage, response: http.ServerResponse, allow: import("orbgate").Allow) => void} next
 * @returns {http.RequestListener}
 */
function authorized(policy, next) {
  return (request, response) => {
    // A mounted router of Express or Connect cuts its prefix off `url` and keeps what came over the wire in `originalUrl`.
    const { originalUrl = request.url ?? "" } = /** @type {{ originalUrl?: string }} */ (request);
    // Node reads a target as latin1: these are the bytes that came over the wire.
    const target = Buffer.from(originalUrl, "latin1");
    const decision = policy.decide(request.method ?? "", target, tokenOf(request));
    if (decision.isAllow) {
      next(request, response, decision);
      return;
    }
    response.writeHead(decision.httpStatus, { "content-length": 0, ...refusal(decision) }).end();
  };
}

/**
 * What a denial says besides its status: a 401 asks for a token (RFC 6750), a 405 lists the methods that there are (RFC 9110).
 * @param {import("orbgate").Deny} denied
 * @returns {Record<string, string>}
 */
function refusal({ reason, declaredMethods }) {
  switch (reason) {
    case "no_token":
      return { "www-authenticate": "Bearer" };
    case "invalid_token":
      return { "www-authenticate": 'Bearer error="invalid_token"' };
    case "method_not_declared":
      return { allow: (declaredMethods ?? []).join(", ") };
    default:
      return {};
  }
}

function server() {
  const policy = new Handle(Engine.external());
  return http.createServer(authorized(policy, (_, response, { scope, charge }) => {
    response.end(`needs ${scope} and consumes ${charge?.consumes ? "orbs" : "nothing"}\n`);
  }));
}

module.exports = { server };

if (require.main === module) {
  server().listen(Number(process.argv[2] ?? 8080), "127.0.0.1");
}
