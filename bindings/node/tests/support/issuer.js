"use strict";
// An issuer on this machine: its keys over HTTP, and its tokens.
const assert = require("node:assert/strict");
const crypto = require("node:crypto");
const http = require("node:http");
const { once } = require("node:events");

/** How a key of each algorithm is made, and how it signs. */
const RSA = { type: "rsa", options: { modulusLength: 2048 }, sign: {} };
const PSS = { ...RSA, sign: { padding: crypto.constants.RSA_PKCS1_PSS_PADDING, saltLength: crypto.constants.RSA_PSS_SALTLEN_DIGEST } };
const ed = { type: "ed25519", options: {}, hash: null, sign: {} };
const ec = (/** @type {string} */ namedCurve) => ({ type: "ec", options: { namedCurve }, sign: { dsaEncoding: "ieee-p1363" } });
const WAYS = {
  RS256: { ...RSA, hash: "sha256" },
  RS384: { ...RSA, hash: "sha384" },
  RS512: { ...RSA, hash: "sha512" },
  PS256: { ...PSS, hash: "sha256" },
  PS384: { ...PSS, hash: "sha384" },
  PS512: { ...PSS, hash: "sha512" },
  ES256: { ...ec("P-256"), hash: "sha256" },
  ES384: { ...ec("P-384"), hash: "sha384" },
  ES512: { ...ec("P-521"), hash: "sha512" },
  EdDSA: ed,
  Ed25519: ed,
};

/** @typedef {keyof typeof WAYS} Algorithm */

const AUDIENCE = "https://api.example.com";

/** @param {unknown} value */
const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A key pair. @param {Algorithm} algorithm */
function keyPair(algorithm) {
  const { type, options } = WAYS[algorithm];
  const made = /** @type {any} */ (crypto.generateKeyPairSync(/** @type {any} */ (type), /** @type {any} */ (options)));
  return /** @type {{ publicKey: crypto.KeyObject, privateKey: crypto.KeyObject }} */ (made);
}

/**
 * @param {Algorithm} algorithm
 * @param {string} text
 * @param {crypto.KeyObject} key
 */
const signed = (algorithm, text, key) => crypto.sign(WAYS[algorithm].hash, Buffer.from(text), /** @type {any} */ ({ key, ...WAYS[algorithm].sign }));

/**
 * @param {import("node:test").TestContext} context
 * @param {Algorithm} [algorithm]
 */
async function issuer(context, algorithm = "ES256") {
  const { publicKey, privateKey } = keyPair(algorithm);
  const jwk = { ...publicKey.export({ format: "jwk" }), kid: "one", alg: algorithm, use: "sig" };
  let fetches = 0;
  const server = http.createServer((_, response) => {
    fetches += 1;
    response.end(JSON.stringify({ keys: [jwk] }));
  }).listen(0, "127.0.0.1");
  context.after(() => void server.close().closeAllConnections());
  await once(server, "listening");
  const name = `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}`;
  const rule = (/** @type {string} */ kind) => `${kind}: [{ claim: token_kind, equals: ${kind} }]`;

  return {
    /** The configuration that trusts it. */
    tokens: `orbgate_token: 1
issuers:
  - issuer: ${name}
    audience: ${AUDIENCE}
    algorithms: [${algorithm}]
    jwks_uri: ${name}/keys
    kind: { ${rule("user")}, ${rule("organisation")} }
`,
    get fetches() {
      return fetches;
    },
    /**
     * @param {string} scope
     * @param {object} [claims]
     */
    token(scope, claims = {}) {
      const now = Math.floor(Date.now() / 1000);
      const body = { iss: name, aud: AUDIENCE, sub: "ada", client_id: "app", exp: now + 600, iat: now, token_kind: "user", scope, ...claims };
      const text = `${part({ alg: algorithm, typ: "at+jwt", kid: "one" })}.${part(body)}`;
      return `${text}.${signed(algorithm, text, privateKey).toString("base64url")}`;
    },
  };
}

/**
 * An HTTP exchange, with every header as it is.
 * @param {number} port
 * @param {string} method
 * @param {string} path
 * @param {Record<string, string | string[]>} [headers]
 */
async function ask(port, method, path, headers = {}) {
  const request = http.request({ port, method, path, headers, host: "127.0.0.1", agent: false }).end();
  const [response] = await once(request, "response");
  const body = Buffer.concat(await response.toArray()).toString();
  if ([401, 403, 404, 405].includes(response.statusCode) && body === "") { // Of a framework, it would have a body.
    assert.equal(response.headers["cache-control"], "no-store");
  }
  return { status: response.statusCode, body, headers: response.headers };
}

module.exports = { issuer, ask, keyPair, signed, WAYS };
