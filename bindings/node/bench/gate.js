// From the bearer header to the answer, beside jose verifying the same token alone: microseconds, the best of some rounds taken by turns,
// because noise only adds. jose checks signature, issuer, audience and expiry; the gate all of its rules, and then decides.
//
//   node bench/gate.js     with the library that ORBGATE_LIBRARY names
"use strict";
const crypto = require("node:crypto");
const { Engine } = require("orbgate");
const { Gate } = require("orbgate/gate");
const { keyPair, signed } = require("../tests/support/issuer.js");

const ROUNDS = 20;
const CALLS = 500;
const [ISSUER, AUDIENCE] = ["http://127.0.0.1:1", "https://api.example.com"];

/** @param {"RS256" | "ES256"} algorithm */
async function measure(algorithm) {
  const { jwtVerify, createLocalJWKSet } = await import("jose");
  const { publicKey, privateKey } = keyPair(algorithm);
  const keys = { keys: [{ ...publicKey.export({ format: "jwk" }), kid: "one", alg: algorithm }] };
  const now = Math.floor(Date.now() / 1000);
  const part = (/** @type {object} */ value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const tokens = Array.from({ length: CALLS }, () => {
    const claims = { iss: ISSUER, aud: AUDIENCE, sub: crypto.randomUUID(), client_id: "app", exp: now + 600, scope: "read:orbs" };
    const text = `${part({ alg: algorithm, typ: "at+jwt", kid: "one" })}.${part(claims)}`;
    return `${text}.${signed(algorithm, text, privateKey).toString("base64url")}`;
  });
  const configuration = `orbgate_token: 1
issuers: [{ issuer: "${ISSUER}", audience: "${AUDIENCE}", algorithms: [${algorithm}], jwks_uri: "${ISSUER}/keys", kind: user }]`;
  const gate = new Gate(Engine.external(), configuration, { fetch: async () => new Response(JSON.stringify(keys)) });
  const local = createLocalJWKSet(/** @type {any} */ (keys));
  const rules = { issuer: ISSUER, audience: AUDIENCE, algorithms: [algorithm], requiredClaims: ["exp"], typ: "at+jwt" };

  const byGate = async (/** @type {string} */ token) => {
    const answer = await gate.answer({ method: "GET", target: "/api/v1/external/orbs", authorization: [`Bearer ${token}`], headerNames: [] });
    return answer.isAllow && answer.token?.subject;
  };
  const byJose = async (/** @type {string} */ token) => (await jwtVerify(token, local, rules)).payload.sub;
  const best = { gate: Infinity, jose: Infinity };
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, verify] of /** @type {const} */ ([["gate", byGate], ["jose", byJose]])) {
      const start = performance.now();
      for (const token of tokens) {
        if (!(await verify(token))) {
          throw new Error(`${name} refuses a right token`);
        }
      }
      best[name] = Math.min(best[name], (performance.now() - start) * 1000 / CALLS);
    }
  }
  gate.close();
  console.log(`${algorithm}\tgate ${best.gate.toFixed(1)}\tjose ${best.jose.toFixed(1)}\tratio ${(best.gate / best.jose).toFixed(2)}`);
}

measure("RS256").then(() => measure("ES256"));
