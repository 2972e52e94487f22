"use strict";
// An issuer for the tests of a service; testing.d.ts documents it. `node node_modules/orbgate/testing.js 9000` is one to try a service with.
const crypto = require("node:crypto");
const http = require("node:http");
const { once } = require("node:events");

const AUDIENCE = "https://service.test";
const KINDS = ["user", "organisation"];

/** @param {unknown} value */
const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** @param {number} [port] */
async function startIssuer(port = 0) {
  const { publicKey, privateKey } = crypto.generateKeyPairSync("ec", { namedCurve: "P-256" });
  const keys = [{ ...publicKey.export({ format: "jwk" }), kid: "test" }];

  const bearer = (/** @type {string} */ kind, /** @type {string} */ scope, claims = {}) => {
    const iat = Math.floor(Date.now() / 1000);
    const usual = { iss: url, aud: AUDIENCE, sub: "subject", client_id: "client", iat, exp: iat + 600, token_kind: kind, scope };
    const text = `${part({ alg: "ES256", typ: "at+jwt", kid: "test" })}.${part({ ...usual, ...claims })}`;
    const signature = crypto.sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" });
    return `Bearer ${text}.${signature.toString("base64url")}`;
  };
  const server = http.createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", url);
    const answers = /** @type {Record<string, () => string>} */ ({
      "/tokens.yaml": () => tokens,
      "/jwks": () => JSON.stringify({ keys }),
      "/token": () => bearer(searchParams.get("kind") ?? "user", searchParams.get("scope") ?? "").slice("Bearer ".length),
    });
    const answer = Object.hasOwn(answers, pathname) ? answers[pathname] : undefined;
    response.writeHead(answer === undefined ? 404 : 200).end(answer?.());
  });
  await once(server.listen(port, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}`;
  const kind = Object.fromEntries(KINDS.map((name) => [name, [{ claim: "token_kind", equals: name }]]));
  // JSON is YAML.
  const tokens = JSON.stringify({
    orbgate_token: 1, issuers: [{ issuer: url, audience: AUDIENCE, jwks_uri: `${url}/jwks`, algorithms: ["ES256"], kind, account: "subject" }],
  });
  const close = () => void server.close().closeAllConnections();
  return { url, tokens, bearer, close };
}

module.exports = { startIssuer };

if (require.main === module) {
  startIssuer(Number(process.argv[2] ?? 9000)).then(({ url }) => {
    console.error(`FOR TESTS ONLY, never in production: ${url}/token?scope=… gives everybody a token; ${url}/tokens.yaml trusts it`);
  });
}
