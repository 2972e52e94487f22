"use strict";
// Opaque tokens that wait for their turn. What an endpoint is asked, and what comes of its answers, `cargo xtask gate node` tests.
const test = require("node:test");
const assert = require("node:assert/strict");
const { Engine } = require("orbgate");
const { Gate } = require("orbgate/gate");

test("many tokens are asked about in turn", async () => {
  process.env.ORBGATE_TEST_SECRET = "s3cret";
  const tokens = "orbgate_token: 1\nissuers:\n  - issuer: https://id.example.com\n    audience: api\n    kind: user\n"
    + "    opaque: { endpoint: 'http://127.0.0.1:1/introspect', client_id: my-api, client_secret_env: ORBGATE_TEST_SECRET }\n";
  const seen = { asked: 0, now: 0, most: 0 };
  const fetch = async () => {
    seen.asked += 1;
    seen.now += 1;
    seen.most = Math.max(seen.most, seen.now);
    await new Promise((resolve) => setTimeout(resolve, 5));
    seen.now -= 1;
    return Response.json({ active: true, aud: "api", exp: Math.floor(Date.now() / 1000) + 600, sub: "ada", scope: "read:orbs" });
  };
  // A busy machine takes longer than the default.
  const gate = new Gate(Engine.external(), tokens, { log: { info() {}, warn() {}, error() {} }, fetch, keys: { timeoutMs: 60_000 } });
  const answers = await Promise.all(Array.from({ length: 40 }, (_, at) => gate.answer({
    method: "GET", target: "/api/v1/external/orbs", authorization: [`Bearer good-${at}`], upgrade: [], headerNames: [],
  })));
  assert.ok(answers.every(({ isAllow }) => isAllow));
  assert.deepEqual([seen.asked, seen.most <= 32], [40, true]);
  assert.deepEqual(gate.keys.map(({ opaque, keyCount, ageMs }) => [opaque, keyCount, ageMs]), [[true, 0, null]]);
  gate.close();
});
