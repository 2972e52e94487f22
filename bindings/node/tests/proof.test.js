"use strict";
// Tokens that are bound to the client's certificate, over real connections. Proofs in headers: `cargo xtask gate node --group proof`.
const test = require("node:test");
const assert = require("node:assert/strict");
const { X509Certificate, createHash, generateKeyPairSync, randomUUID, sign } = require("node:crypto");
const { once } = require("node:events");
const fs = require("node:fs");
const http2 = require("node:http2");
const https = require("node:https");
const os = require("node:os");
const path = require("node:path");
const { spawnSync } = require("node:child_process");
const { Engine } = require("orbgate");
const { Gate, hono, listener } = require("orbgate/gate");
const { startIssuer } = require("orbgate/testing");

const QUIET = { info() {}, warn() {}, error() {} };
const PATH = "/api/v1/external/orbs";

/** A key and a certificate of its own. */
function certificate(/** @type {string} */ folder, /** @type {string} */ name) {
  const [keyFile, certFile] = ["key", "crt"].map((end) => path.join(folder, `${name}.${end}`));
  const files = ["-keyout", keyFile, "-out", certFile].map(String);
  const made = spawnSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj", `/CN=${name}`, ...files]);
  assert.equal(made.status, 0, String(made.stderr));
  return { key: fs.readFileSync(String(keyFile)), cert: fs.readFileSync(String(certFile)) };
}

/** What a token that is bound to it has. */
const x5t = (/** @type {Buffer} */ cert) => createHash("sha256").update(new X509Certificate(cert).raw).digest("base64url");

test("a token that is bound to a certificate needs the connection's", async (context) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "orbgate-"));
  context.after(() => fs.rmSync(folder, { recursive: true }));
  const [server, own, other] = ["server", "own", "other"].map((name) => certificate(folder, name));
  assert.ok(server && own && other);
  const issuer = await startIssuer();
  context.after(() => issuer.close());
  const tokens = JSON.parse(issuer.tokens);
  tokens.issuers[0].proof = "mtls";
  const gate = new Gate(Engine.external(), JSON.stringify(tokens), { log: QUIET });
  context.after(() => gate.close());
  const authorization = issuer.bearer("user", "read:orbs", { cnf: { "x5t#S256": x5t(own.cert) } });
  const handler = listener(gate, (_, response) => response.end("served"));
  const options = { ...server, requestCert: true, rejectUnauthorized: false };
  const servers = [https.createServer(options, handler), http2.createSecureServer(options, handler)];
  const ports = await Promise.all(servers.map(async (one) => {
    one.listen(0, "127.0.0.1");
    context.after(() => one.close());
    await once(one, "listening");
    return /** @type {import("node:net").AddressInfo} */ (one.address()).port;
  }));
  const headers = { authorization, "client-cert": `:${new X509Certificate(own.cert).raw.toString("base64")}:` };

  /** @type {((client: object) => Promise<number>)[]} */
  const calls = [
    async (client) => {
      const request = https.get({ port: ports[0], path: PATH, headers, rejectUnauthorized: false, agent: false, ...client });
      const [response] = await once(request, "response");
      response.resume();
      return response.statusCode;
    },
    async (client) => {
      const session = http2.connect(`https://127.0.0.1:${ports[1]}`, { rejectUnauthorized: false, ...client });
      const request = session.request({ ":path": PATH, ...headers });
      const [response] = await once(request, "response");
      // A body that nobody reads would keep the session, and with it this process.
      request.resume();
      session.close();
      return response[":status"];
    },
  ];
  for (const call of calls) {
    assert.equal(await call(own), 200);
    assert.equal(await call(other), 401);
    assert.equal(await call({}), 401);
  }
});

const encoded = (/** @type {object} */ value) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A key that tokens can be bound to, and its proofs for GET of the path. */
function holder() {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { crv, kty, x, y } = publicKey.export({ format: "jwk" });
  const jkt = createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest("base64url");
  const proof = (/** @type {string} */ token) => {
    const ath = createHash("sha256").update(token).digest("base64url");
    const claims = { htm: "GET", htu: `https://api.example.com${PATH}`, iat: Math.floor(Date.now() / 1000), jti: randomUUID(), ath };
    const message = `${encoded({ typ: "dpop+jwt", alg: "ES256", jwk: { crv, kty, x, y } })}.${encoded(claims)}`;
    return `${message}.${sign("sha256", Buffer.from(message), { key: privateKey, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
  };
  return { jkt, proof };
}

test("requests that a service makes of one do not share their proofs", async (context) => {
  const issuer = await startIssuer();
  context.after(() => issuer.close());
  const tokens = JSON.parse(issuer.tokens);
  tokens.issuers[0].proof = "dpop";
  tokens.public_urls = ["https://api.example.com"];
  const gate = new Gate(Engine.external(), JSON.stringify(tokens), { log: QUIET });
  context.after(() => gate.close());
  const [owner, thief] = [holder(), holder()];
  const [its, own] = [owner, thief].map(({ jkt }) => issuer.bearer("user", "read:orbs", { cnf: { jkt } }).slice("Bearer ".length));
  assert.ok(owner && thief && its && own);
  const { Hono } = await import(/** @type {string} */ ("hono"));
  const app = new Hono().use(hono(gate)).get(PATH, (/** @type {any} */ c) => c.text("served"));
  const call = async (/** @type {string} */ token, /** @type {string} */ dpop, /** @type {object} */ incoming) => {
    const response = await app.request(PATH, { headers: { authorization: `DPoP ${token}`, dpop } }, { incoming });
    return response.status;
  };
  const proof = owner.proof(its);
  assert.equal(await call(its, proof, { socket: {} }), 200);
  assert.equal(await call(its, proof, { socket: {} }), 401);
  const batch = { socket: {} };
  assert.equal(await call(own, thief.proof(own), batch), 200);
  assert.equal(await call(its, proof, batch), 401);
  assert.equal(await call(own, thief.proof(own), batch), 200);
});
