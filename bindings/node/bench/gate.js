// From the bearer header to the answer, beside jose verifying the same tokens alone: `cargo xtask bench --bindings` runs it, with the library
// that ORBGATE_LIBRARY names.
//
// Each turn prints `ALGORITHM GATE JOSE`, in nanoseconds of processor time a token, of all threads: jose has WebCrypto's check them. jose checks
// signature, issuer, audience and expiry; the gate all of its rules, and then decides. `mcp` is a tool call with a token of ES256, beside the MCP
// SDK's own check of the token with jose.
"use strict";
const crypto = require("node:crypto");
const { Engine } = require("orbgate");
const { Gate, refusal } = require("orbgate/gate");
const { keyPair, signed } = require("../tests/support/issuer.js");

const TURNS = 31;
const CALLS = 200;
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
    const answer = await gate.answer({ method: "GET", target: "/api/v1/external/orbs", authorization: [`Bearer ${token}`], upgrade: [], headerNames: [] });
    return answer.isAllow && answer.token?.subject;
  };
  const byJose = async (/** @type {string} */ token) => (await jwtVerify(token, local, rules)).payload.sub;
  const nanoseconds = async (/** @type {(token: string) => Promise<unknown>} */ verify) => {
    const start = process.cpuUsage();
    for (const token of tokens) {
      if (!(await verify(token))) {
        throw new Error(`${verify.name} refuses a right token`);
      }
    }
    const { user, system } = process.cpuUsage(start);
    return Math.round((user + system) * 1000 / CALLS);
  };
  /** @typedef {(token: string) => Promise<unknown>} Verify @param {string} name @param {Verify} gated @param {Verify} alone */
  const compare = async (name, gated, alone) => {
    for (let turn = 0; turn < TURNS; turn++) {
      const [own, peer] = [await nanoseconds(gated), await nanoseconds(alone)];
      if (turn > 0) { // The first one fetches the keys.
        console.log(name, own, peer);
      }
    }
  };
  await compare(algorithm, byGate, byJose);
  gate.close();
  if (algorithm === "ES256") {
    const policy = "orbgate: 1\napis: { shop: { base_path: /mcp, scopes: { read:orbs: { orbs: false, routes: [MCP /tools/call/list_orders] } } } }\n";
    const shop = new Gate(Engine.fromYaml(policy), configuration, { mcp: { path: "/mcp" }, fetch: async () => new Response(JSON.stringify(keys)) });
    // Its types need those of browsers.
    const { requireBearerAuth } = /** @type {any} */ (require(["@modelcontextprotocol", "server"].join("/")));
    const verifyAccessToken = async (/** @type {string} */ token) => {
      const { exp } = (await jwtVerify(token, local, rules)).payload;
      return { token, clientId: "app", scopes: [], expiresAt: exp };
    };
    const bearer = requireBearerAuth({ verifier: { verifyAccessToken } });
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_orders", arguments: { limit: 10 } } });
    /** @param {(request: any) => Promise<boolean>} passes @returns {Verify} */
    const called = (passes) => async (token) => {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const request = new Request("http://127.0.0.1/mcp", { method: "POST", headers, body });
      return await passes(request) && request.text();
    };
    await compare("mcp", called(async (request) => await refusal(shop, request) === undefined), called(async (request) => !(await bearer(request) instanceof Response)));
    shop.close();
  }
}

measure("RS256").then(() => measure("ES256"));
