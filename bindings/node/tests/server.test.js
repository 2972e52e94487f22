"use strict";
const test = require("node:test");
const assert = require("node:assert/strict");
const http = require("node:http");
const { once } = require("node:events");
const { server } = require("../example/server.js");

/**
 * @param {number} port
 * @param {string} method
 * @param {string} path
 * @param {Record<string, string>} headers
 */
async function ask(port, method, path, headers) {
  const request = http.request({ port, method, path, headers, host: "127.0.0.1" }).end();
  const [response] = await once(request, "response");
  const chunks = await response.toArray();
  return { status: response.statusCode, body: Buffer.concat(chunks).toString(), headers: response.headers };
}

test("the example answers over HTTP", async (context) => {
  const listening = server().listen(0, "127.0.0.1");
  context.after(() => listening.close());
  await once(listening, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (listening.address());
  const run = "/api/v1/external/voxies/prompt/run";
  const user = (/** @type {string} */ scopes) => ({ "x-token-kind": "user", "x-token-scopes": scopes });

  const allowed = await ask(port, "POST", run, user("read:voxies write:voxies"));
  assert.deepEqual([allowed.status, allowed.body], [200, "needs write:voxies and consumes orbs\n"]);

  const missing = await ask(port, "POST", run, user("read:voxies"));
  assert.deepEqual([missing.status, missing.body, missing.headers["content-length"]], [403, "", "0"]);
  assert.equal(missing.headers["content-type"], undefined);

  for (const [method, path, headers, status] of /** @type {const} */ ([
    ["POST", run, {}, 401],
    ["GET", "/nowhere", user("read:voxies"), 404],
    ["GET", "/api/v1/external/../keys", user("read:keys"), 400],
    ["GET", "//api/v1/external/keys", user("read:keys"), 400],
  ])) {
    const denied = await ask(port, method, path, headers);
    assert.deepEqual([denied.status, denied.body], [status, ""], path);
  }
  const challenges = await Promise.all([{}, { "x-token-kind": "robot" }, user("")].map(async (headers) => (
    (await ask(port, "POST", run, /** @type {Record<string, string>} */ (headers))).headers["www-authenticate"]
  )));
  assert.deepEqual(challenges, ["Bearer", 'Bearer error="invalid_token"', undefined]);
  const undeclared = await ask(port, "DELETE", "/api/v1/external/account", user("read:account"));
  assert.deepEqual([undeclared.status, undeclared.headers.allow], [405, "GET"]);
});
