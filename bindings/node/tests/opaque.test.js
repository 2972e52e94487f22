"use strict";
// Opaque tokens: what an endpoint is asked, with which secret. What comes of its answers, `cargo xtask gate node` tests.
const test = require("node:test");
const assert = require("node:assert/strict");
const fs = require("node:fs");
const http = require("node:http");
const os = require("node:os");
const path = require("node:path");
const { once } = require("node:events");
const { Engine } = require("orbgate");
const { Gate } = require("orbgate/gate");

const QUIET = { info() {}, warn() {}, error() {} };

/**
 * An introspection endpoint that knows `my-api` with the secret `s3cret`.
 * @param {import("node:test").TestContext} context
 */
async function endpoint(context) {
  const seen = { asked: 0, now: 0, most: 0, moved: 0 };
  const server = http.createServer(async (request, response) => {
    if (request.url !== "/introspect") {
      seen.moved += 1;
    }
    seen.asked += 1;
    seen.now += 1;
    seen.most = Math.max(seen.most, seen.now);
    let body = "";
    for await (const chunk of request) {
      body += chunk;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
    seen.now -= 1;
    const { authorization, "content-type": type } = request.headers;
    const isRight = request.method === "POST" && type === "application/x-www-form-urlencoded"
      && authorization === `Basic ${Buffer.from("my-api:s3cret").toString("base64")}`;
    const token = new URLSearchParams(body).get("token") ?? "";
    const exp = Math.floor(Date.now() / 1000) + 600;
    if (token === "moved") {
      response.writeHead(307, { location: "/elsewhere" }).end();
    } else if (!isRight) {
      response.writeHead(401).end();
    } else if (token.startsWith("good")) {
      response.end(JSON.stringify({ active: true, aud: "api", exp, sub: "ada", scope: "read:orbs" }));
    } else {
      response.end(JSON.stringify({ active: false }));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => server.close());
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const tokens = (/** @type {string} */ secret) => "orbgate_token: 1\nissuers:\n  - issuer: https://id.example.com\n    audience: api\n    kind: user\n"
    + `    opaque: { endpoint: 'http://127.0.0.1:${port}/introspect', client_id: my-api, ${secret} }\n`;
  return { tokens, seen };
}

/**
 * @param {string} token
 * @param {string} [target]
 * @returns {import("orbgate/gate").Question}
 */
const ask = (token, target = "/api/v1/external/orbs") => ({
  method: "GET", target, authorization: [`Bearer ${token}`], upgrade: [], headerNames: [],
});

/** @param {import("node:test").TestContext} context */
function folder(context) {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), "orbgate-"));
  context.after(() => fs.rmSync(made, { recursive: true }));
  return made;
}

test("an endpoint is asked about a token that is no JWT", async (context) => {
  const { tokens, seen } = await endpoint(context);
  const file = path.join(folder(context), "secret");
  fs.writeFileSync(file, "s3cret\n");
  process.env.ORBGATE_TEST_SECRET = "s3cret";
  for (const source of ["client_secret_env: ORBGATE_TEST_SECRET", `client_secret_file: ${file}`]) {
    const said = /** @type {string[]} */ ([]);
    const log = { ...QUIET, warn: (/** @type {string} */ text) => void said.push(text) };
    const gate = new Gate(Engine.external(), tokens(source), { log });
    const status = async (/** @type {import("orbgate/gate").Question} */ question) => {
      const { isAllow, httpStatus, refused } = await gate.answer(question);
      return [isAllow, httpStatus, refused];
    };
    const before = seen.asked;
    assert.deepEqual(await status(ask("good")), [true, null, null]);
    assert.deepEqual(await status(ask("good", "/api/v1/external/account")), [false, 403, null]);
    assert.deepEqual(await status(ask("bad")), [false, 401, "inactive"]);
    assert.equal(seen.asked - before, 2);
    assert.deepEqual(await status(ask("moved")), [false, 401, "unanswered"]);
    assert.equal(seen.moved, 0);
    assert.deepEqual(gate.keys.map(({ opaque, keyCount, ageMs }) => [opaque, keyCount, ageMs]), [[true, 0, null]]);
    assert.match(said.join("\n"), /^orbgate: .* `https:\S+` .* 307, and redirects are not followed$/);
    gate.close();
  }
});

test("many tokens are asked about in turn", async (context) => {
  const { tokens, seen } = await endpoint(context);
  process.env.ORBGATE_TEST_SECRET = "s3cret";
  // A busy machine takes longer than the default.
  const options = { log: QUIET, keys: { timeoutMs: 60_000 } };
  const gate = new Gate(Engine.external(), tokens("client_secret_env: ORBGATE_TEST_SECRET"), options);
  const answers = await Promise.all(Array.from({ length: 40 }, (_, at) => gate.answer(ask(`good-${at}`))));
  assert.ok(answers.every(({ isAllow }) => isAllow));
  assert.deepEqual([seen.asked, seen.most <= 32], [40, true]);
  gate.close();
});

test("a reload reads the secrets again", async (context) => {
  const { tokens } = await endpoint(context);
  const home = folder(context);
  const [secret, policy] = [path.join(home, "secret"), path.join(home, "policy.yaml")];
  fs.copyFileSync(path.join(__dirname, "../../../policy/external.yaml"), policy);
  fs.writeFileSync(secret, "another\n");
  const gate = new Gate(Engine.external(), tokens(`client_secret_file: ${secret}`), { log: QUIET });
  const refused = async (/** @type {string} */ token) => (await gate.answer(ask(token))).refused;
  assert.equal(await refused("good"), "unanswered");
  assert.match(gate.keys[0]?.failure ?? "", / 401$/);
  fs.writeFileSync(secret, "s3cret\n");
  assert.equal(await refused("good-1"), "unanswered");
  gate.reload(policy);
  assert.equal(await refused("good-2"), null);
  // A secret that can't be read changes nothing: neither the policy nor the secrets.
  const before = gate.policy.load();
  fs.writeFileSync(policy, "orbgate: 1\nname: other\napis: {}\n...\n");
  const message = (/** @type {any} */ error) => {
    assert.match(error.message, /^`client_secret_file` \S+secret: /);
    assert.doesNotMatch(error.message, /hidden/);
    return error.code === "invalid_configuration";
  };
  for (const unreadable of ["", "hidden\xff"]) {
    fs.writeFileSync(secret, Buffer.from(unreadable, "latin1"));
    assert.throws(() => gate.reload(policy), message);
    assert.equal(gate.policy.load(), before);
    assert.equal(await refused(`good-${unreadable.length + 3}`), null);
  }
  // The policy is checked before the secrets are read.
  process.env.ORBGATE_TEST_SECRET = "s3cret";
  const strict = new Gate(Engine.fromFile(policy), tokens("client_secret_env: ORBGATE_TEST_SECRET"), { log: QUIET, refuseWider: true });
  process.env.ORBGATE_TEST_SECRET = "";
  assert.throws(() => strict.reload(path.join(__dirname, "../../../policy/external.yaml")), { code: "wider" });
  strict.close();
  fs.rmSync(secret);
  assert.throws(() => gate.reload(policy), message);
  gate.close();
  assert.throws(() => gate.reload(policy), /** @type {any} */ ({ code: "closed" }));
});

test("a secret that can't be read is named, and not shown", async (context) => {
  const { tokens } = await endpoint(context);
  const home = folder(context);
  const [empty, binary] = [path.join(home, "empty"), path.join(home, "binary")];
  fs.writeFileSync(empty, "");
  fs.writeFileSync(binary, Buffer.from("hidden\xff", "latin1"));
  for (const [source, expected] of /** @type {[string, RegExp][]} */ ([
    ["client_secret_env: ORBGATE_NO_SUCH_VARIABLE", /^`client_secret_env` ORBGATE_NO_SUCH_VARIABLE: /],
    [`client_secret_file: ${path.join(home, "nobody")}`, /^`client_secret_file` \S+nobody: /],
    [`client_secret_file: ${empty}`, /^`client_secret_file` \S+: .*empty$/],
    [`client_secret_file: ${binary}`, /^`client_secret_file` \S+: .*UTF-8$/],
  ])) {
    assert.throws(() => new Gate(Engine.external(), tokens(source), { log: QUIET }), (/** @type {any} */ error) => {
      assert.match(error.message, expected);
      assert.doesNotMatch(error.message, /hidden/);
      return error.code === "invalid_configuration";
    });
  }
});
