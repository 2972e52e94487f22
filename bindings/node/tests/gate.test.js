"use strict";
// The gate itself: keys, signatures, hooks, reload. What it answers to requests, `cargo xtask gate node` puts to every framework.
const test = require("node:test");
const assert = require("node:assert/strict");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { spawnSync } = require("node:child_process");
const { Engine, Handle, PolicyError } = require("orbgate");
const { Gate } = require("orbgate/gate");
const { startIssuer } = require("orbgate/testing");
const { WAYS, issuer, keyPair, signed } = require("./support/issuer.js");

const QUIET = { info() {}, warn() {}, error() {} };

/**
 * @param {string} [token]
 * @param {object} [more]
 * @returns {import("orbgate/gate").Question}
 */
const orbs = (token, more = {}) => ({
  method: "GET", target: "/api/v1/external/orbs", authorization: token === undefined ? [] : [`Bearer ${token}`], upgrade: [], headerNames: [], ...more,
});

/** The names of `Algorithm` in the library, without the ones that need a secret. */
const NAMES = [...fs.readFileSync(path.join(__dirname, "../../../crates/orbgate-token/src/algorithm.rs"), "utf8").matchAll(/Self::\w+ => "((?!HS)\w+)"/g)];

test("the tests below use every algorithm that the library can send", () => {
  assert.deepEqual(Object.keys(WAYS), NAMES.map(([, name]) => name));
});

for (const algorithm of /** @type {(keyof typeof WAYS)[]} */ (Object.keys(WAYS))) {
  test(`a token with ${algorithm} is verified, and its signature counts`, async (context) => {
    const { tokens, token } = await issuer(context, algorithm);
    const gate = new Gate(Engine.external(), tokens, { log: QUIET });
    const right = token("read:orbs read:keys");
    const answer = await gate.answer(orbs(right));
    assert.deepEqual([answer.isAllow, answer.decision.scope, answer.httpStatus], [true, "read:orbs", null]);
    assert.equal(answer.token?.scopes, "read:orbs read:keys");
    assert.deepEqual([answer.token?.kind, answer.token?.subject, answer.token?.client], ["user", "ada", "app"]);
    const [header, , signature] = right.split(".");
    const forged = await gate.answer(orbs(`${header}.${token("write:keys").split(".")[1]}.${signature}`));
    assert.deepEqual([forged.isAllow, forged.httpStatus, forged.refused, forged.token], [false, 401, "signature", null]);
  });

  test(`Node's cryptography and WebCrypto agree on ${algorithm}`, { skip: algorithm.startsWith("Ed") && process.version.startsWith("v20") }, async () => {
    const { publicKey, privateKey } = keyPair(algorithm);
    const message = Buffer.from("what was signed");
    const signature = signed(algorithm, message.toString(), privateKey);
    const other = signed(algorithm, "another", privateKey);
    const jwk = JSON.stringify(publicKey.export({ format: "jwk" }));
    for (const { checkSignature } of [require("../lib/gate/signature.js"), require("../lib/gate/signature-web.js")]) {
      assert.equal(await checkSignature(algorithm, jwk, message, signature), true);
      assert.equal(await checkSignature(algorithm, jwk, message, other), false);
      assert.equal(await checkSignature(algorithm, "{}", message, signature), false);
      assert.equal(await checkSignature("HS256", jwk, message, signature), false);
    }
  });
}

test("an answer is there at once when the keys are", async (context) => {
  const { tokens, token } = await issuer(context);
  const gate = new Gate(Engine.external(), tokens, { log: QUIET });
  const waiting = [token("read:orbs"), token("read:keys")].map((one) => gate.answer(orbs(one)));
  assert.ok(waiting.every((answer) => answer instanceof Promise));
  assert.deepEqual((await Promise.all(waiting)).map(({ httpStatus }) => httpStatus), [null, 403]);
  assert.ok(!(gate.answer(orbs(token("read:orbs"))) instanceof Promise));
  assert.deepEqual(gate.keys.map(({ keyCount, failure }) => [keyCount, failure]), [[1, null]]);
  gate.revoke(gate.keys[0]?.issuer ?? "", "one");
  assert.equal((await gate.answer(orbs(token("read:orbs")))).refused, "key_revoked");
});

test("a hook or a log that throws changes no answer, at once or later", async (context) => {
  const { tokens, token } = await issuer(context);
  const policy = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "orbgate-")), "policy.yaml");
  context.after(() => fs.rmSync(path.dirname(policy), { recursive: true }));
  fs.writeFileSync(policy, "orbgate: 1\napis: {a: {base_path: /a, scopes: {s: {orbs: true, routes: [GET /]}}}}\n...\n");
  const fail = () => {
    throw new Error("full");
  };
  const failLater = async () => fail();
  for (const hook of [fail, failLater]) {
    const logged = /** @type {string[]} */ ([]);
    const error = (/** @type {string} */ line) => {
      logged.push(line);
      return hook();
    };
    const loud = { info: hook, warn: hook, error };
    const counted = /** @type {string[]} */ ([]);
    const count = (/** @type {string} */ name) => {
      counted.push(name);
      return hook();
    };
    const gate = new Gate(new Handle(Engine.external()), tokens, { log: loud, count, audit: hook });
    for (const [bearer, template, status] of /** @type {const} */ ([[undefined, undefined, 401], ["read:keys", undefined, 403], ["read:orbs", undefined, null], ["read:orbs", "/other", 404]])) {
      const more = template === undefined ? {} : { template };
      assert.equal((await gate.answer(orbs(bearer && token(bearer), more))).httpStatus, status);
    }
    // Issuers that fail are logged.
    const none = new Gate(Engine.external(), tokens, { log: { ...loud, error: hook }, count: hook, fetch: hook });
    assert.equal((await none.answer(orbs(token("read:orbs")))).refused, "no_keys");
    assert.throws(() => gate.reload("/nowhere"), { code: "io" });
    assert.equal(gate.reload(policy), gate.policy.load());
    await new Promise(setImmediate);
    // Each once: the audit, the counter, the router, the reload.
    assert.equal(logged.length, 4);
    for (const subject of ["audit", "counts", "router", "policy stays"]) {
      assert.equal(logged.filter((line) => line.split(":")[1]?.includes(subject)).length, 1, subject);
    }
    assert.equal(counted.filter((name) => name === "orbgate_audit_lost_total").length, 4);
  }
});

test("a hook that throws what has no text changes no answer, and one that is no function is refused", async (context) => {
  const { tokens, token } = await issuer(context);
  const evil = Object.defineProperty(new Error(), "message", { get: () => assert.fail() });
  for (const thrown of [Symbol("full"), Object.create(null), evil, undefined, null]) {
    const fail = () => {
      throw thrown;
    };
    for (const hook of [fail, async () => fail()]) {
      const logged = /** @type {string[]} */ ([]);
      const log = { info: fail, warn: fail, error: (/** @type {string} */ line) => void logged.push(line) };
      const gate = new Gate(Engine.external(), tokens, { log, count: hook, audit: hook });
      assert.equal((await gate.answer(orbs(token("read:orbs")))).httpStatus, null);
      await new Promise(setImmediate);
      assert.equal(logged.length, 2, String(logged));
    }
  }
  for (const name of ["count", "audit", "fetch"]) {
    const options = /** @type {any} */ ({ [name]: null });
    assert.throws(() => new Gate(Engine.external(), tokens, options), new TypeError(`a gate's \`${name}\` is a function`));
  }
});

// What comes of each version, the exchanges of every language show.
test("a policy file is followed until its watch or its gate is closed", async (context) => {
  const { tokens } = await issuer(context);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "orbgate-"));
  context.after(() => fs.rmSync(folder, { recursive: true }));
  const file = path.join(folder, "policy.yaml");
  const policy = (/** @type {string} */ name) => `orbgate: 1\nname: ${name}\napis: {a: {base_path: '', scopes: {s: {orbs: false, routes: [GET /a]}}}}\n...\n`;
  const results = /** @type {(string | undefined)[]} */ ([]);
  const gate = new Gate(Engine.fromYaml(policy("a")), tokens, { log: QUIET, count: (_, { result }) => void results.push(result) });
  const none = (/** @type {any} */ error) => error instanceof PolicyError && error.code === "io" && /** @type {any} */ (error.cause).code === "ENOENT" && error.message.includes("none.yaml: ");
  assert.throws(() => gate.reload(path.join(folder, "none.yaml")), none);
  fs.writeFileSync(file, policy("b"));
  const until = async (/** @type {number} */ count) => {
    while (results.length < count) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return [results.at(-1), gate.policy.load().name];
  };
  const watch = gate.watch(file, { intervalMs: 600_000 });
  watch.readNow();
  assert.deepEqual(await until(2), ["loaded", "b"]);
  watch.close();
  watch.readNow();
  gate.watch(file, { intervalMs: 20, requireSeal: true });
  assert.deepEqual(await until(3), ["unsealed", "b"]);
  assert.throws(() => gate.watch(file, { intervalMs: 0 }), RangeError);
  assert.throws(() => gate.watch(file, /** @type {any} */ ({ interval: 1 })), TypeError);
  gate.close();
  assert.throws(() => gate.watch(file), /** @type {any} */ ({ code: "closed" }));
  fs.writeFileSync(file, policy("d"));
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(results.length, 3);
});

test("an operator who asks again and again delays nothing", async (context) => {
  const { tokens } = await issuer(context);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "orbgate-"));
  context.after(() => fs.rmSync(folder, { recursive: true }));
  const file = path.join(folder, "policy.yaml");
  const policy = (/** @type {string} */ name) => `orbgate: 1\nname: ${name}\napis: {a: {base_path: '', scopes: {s: {orbs: false, routes: [GET /a]}}}}\n`;
  const lines = /** @type {string[]} */ ([]);
  const log = { ...QUIET, info: (/** @type {string} */ line) => void lines.push(line) };
  const gate = new Gate(Engine.fromYaml(policy("a")), tokens, { log });
  context.after(() => gate.close());
  const watch = gate.watch(file, { intervalMs: 600_000 });
  fs.writeFileSync(file, policy("b"));
  const begun = performance.now();
  while (gate.policy.load().name === "a" && performance.now() - begun < 60_000) {
    watch.readNow();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.equal(gate.policy.load().name, "b");
  assert.ok(performance.now() - begun >= 999, "it rests for a second");
  const active = lines.filter((line) => line.includes("a policy is active")).length;
  watch.readNow();
  assert.equal(lines.filter((line) => line.includes("a policy is active")).length, active + 1, "the operator hears which one is active");
});

test("errors of the configuration have their locations", () => {
  const tokens = "orbgate_token: 1\nissuers:\n  - { issuer: nonsense, audience: a, kind: user, colour: red }\n";
  assert.throws(() => new Gate(Engine.external(), tokens), (/** @type {any} */ error) => (
    error.name === "PolicyError" && error.code === "invalid_configuration" && error.line === 3 && error.diagnostics.length >= 1
  ));
  const good = "orbgate_token: 1\nissuers:\n  - { issuer: \"https://id.example.com\", audience: a, kind: user }\n";
  assert.throws(() => new Gate(Engine.external(), good, /** @type {any} */ ({ flat_403: true })), /no option `flat_403`/);
  assert.throws(() => new Gate(Engine.external(), good, { challenge: /** @type {any} */ ("loud") }), /full, none/);
  assert.throws(() => new Gate(Engine.external(), good, { challenge: /** @type {any} */ ("constructor") }), /full, none/);
  assert.throws(() => new Gate(Engine.external(), good, { challenge: "full", realm: 'a"b' }), { code: "invalid_configuration" });
});

test("what callers are told can be more, or less", async (context) => {
  const { tokens, token } = await issuer(context);
  for (const [options, status, challenge] of /** @type {const} */ ([
    [{}, 403, "Bearer"],
    [{ challenge: "full", realm: "orbs" }, 403, 'Bearer realm="orbs", error="insufficient_scope", scope="read:orbs"'],
    [{ challenge: "none" }, 403, undefined],
  ])) {
    const gate = new Gate(Engine.external(), tokens, { log: QUIET, ...options });
    const answer = await gate.answer(orbs(token("read:keys")));
    assert.deepEqual([answer.httpStatus, answer.headers["www-authenticate"], answer.headers["cache-control"]], [status, challenge, "no-store"]);
    assert.deepEqual((await gate.answer(orbs(token("read:orbs")))).headers, {});
  }
  const flat = new Gate(Engine.external(), tokens, { log: QUIET, flat403: true });
  const hidden = await flat.answer(orbs(token("read:orbs"), { target: "/nowhere" }));
  assert.deepEqual([hidden.httpStatus, hidden.headers["cache-control"]], [403, "no-store"]);
});

test("a test issuer's tokens are verified", async (context) => {
  const issuing = await startIssuer();
  context.after(() => issuing.close());
  const gate = new Gate(Engine.external(), issuing.tokens, { log: QUIET });
  const answerOf = async (/** @type {string} */ bearer) => gate.answer({ ...orbs(), authorization: [bearer] });
  const allowed = await answerOf(issuing.bearer("organisation", "read:orbs"));
  assert.deepEqual([allowed.isAllow, allowed.token?.kind, allowed.token?.subject], [true, "organisation", "subject"]);
  assert.equal((await answerOf(issuing.bearer("user", "read:keys"))).httpStatus, 403);
  assert.equal((await answerOf(issuing.bearer("user", "read:orbs", { exp: 1 }))).refused, "expired");
  assert.equal((await answerOf(issuing.bearer("user", "read:orbs", { exp: undefined }))).isAllow, false);
});

test("a public route needs no token, and no route of the policy is one", async (context) => {
  const { tokens, token } = await issuer(context);
  const counted = /** @type {string[]} */ ([]);
  const count = (/** @type {string} */ _, /** @type {object} */ labels) => void counted.push(Object.values(labels).join(" "));
  const options = /** @type {const} */ ({ log: QUIET, count, public: ["GET /healthz", "GET /docs/{page}"], corsPreflight: "pass" });
  const gate = new Gate(new Handle(Engine.external()), tokens, options);
  const answerOf = async (/** @type {object} */ more) => gate.answer({ ...orbs(), target: "/healthz", ...more });
  const open = await answerOf({ authorization: ["Bearer nonsense"] });
  assert.deepEqual([open.isAllow, open.token, open.publicTemplate, open.decision.reason, open.decision.charge], [true, null, "/healthz", "public_route", null]);
  assert.equal((await answerOf({ target: "/docs/a", template: "/docs/:any" })).publicTemplate, "/docs/{page}");
  assert.deepEqual([await answerOf({ template: "/docs/:page" }), await answerOf({ method: "HEAD" })].map(({ httpStatus }) => httpStatus), [404, 401]);
  const preflight = { method: "OPTIONS", target: orbs().target, origin: ["https://a.example"] };
  assert.equal((await answerOf({ ...preflight, accessControlRequestMethod: ["GET"] })).isAllow, true);
  assert.equal((await answerOf({ ...preflight, accessControlRequestMethod: ["DELETE"] })).httpStatus, 401);
  assert.equal((await answerOf({ target: orbs().target, authorization: [`Bearer ${token("read:orbs")}`] })).publicTemplate, null);
  assert.deepEqual(counted.slice(0, 2), ["allow public_route ", "allow public_route "]);
  const routes = [...gate.policy.load().routes, { method: "GET", template: "/healthz" }, { method: "GET", template: "/docs/:a" }];
  assert.deepEqual(gate.checkRoutes(routes.map(({ method, template }) => ({ method, template: template.replace(/\{(\w+)\}/g, ":$1") }))), []);

  const overlaps = { ...options, public: ["GET /api/v1/external/{any}"] };
  assert.throws(() => new Gate(Engine.external(), tokens, overlaps), /same paths/);
  assert.throws(() => new Gate(Engine.external(), tokens, { ...options, public: ["healthz"] }), { code: "invalid_configuration" });
  assert.throws(() => new Gate(Engine.external(), tokens, { ...options, corsPreflight: /** @type {any} */ ("allow") }), /deny, pass/);
  assert.throws(() => new Gate(Engine.external(), tokens, { ...options, corsPreflight: /** @type {any} */ ("toString") }), /deny, pass/);
});

test("without a `log`, only what is as usual is on standard output", () => {
  const program = `
    const { Engine } = require("orbgate");
    const { Gate } = require("orbgate/gate");
    const tokens = "orbgate_token: 1\\nissuers:\\n  - { issuer: https://id.example.com, audience: https://api.example.com, kind: user, account: subject }\\n";
    const fetch = () => new Promise(() => {});
    for (const options of [{}, { log: new console.Console(process.stderr) }]) {
      for (const policy of [Engine.fromYaml("orbgate: 1\\napis: {}\\n"), Engine.external()]) {
        new Gate(policy, tokens, { fetch, ...options }).close();
      }
    }
  `;
  const { stdout, stderr, status } = spawnSync(process.execPath, ["-e", program], { cwd: __dirname, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  const usual = "orbgate: charging: no ledger; routes that consume orbs: 0; account of `https://id.example.com`: `sub`\n";
  assert.equal(stdout, usual);
  const warning = "orbgate: charging: no ledger, so only the handlers can charge; routes that consume orbs: \\d+, such as `[^`]+`; account of `https://id.example.com`: `sub`\n";
  assert.match(stderr, new RegExp(`^${warning}${usual}${warning}$`));
});

test("a closed gate answers nothing, and who waits is not let through", async (context) => {
  const { tokens, token } = await issuer(context);
  const gate = new Gate(Engine.external(), tokens, { log: QUIET, fetch: () => new Promise(() => {}) });
  const waiting = gate.answer(orbs(token("read:orbs")));
  gate.close();
  gate.close();
  assert.throws(() => gate.answer(orbs()), { code: "closed" });
  await assert.rejects(Promise.resolve(waiting), { code: "closed" });
});

test("after a trap the gate has no keys, and fetches them again", { skip: !process.env.ORBGATE_LIBRARY?.endsWith(".wasm") }, async (context) => {
  const { functions } = require("../lib/library.js");
  const from = await issuer(context);
  const logged = /** @type {string[]} */ ([]);
  const gate = new Gate(Engine.external(), from.tokens, { log: { ...QUIET, error: (line) => void logged.push(line) } });
  const trap = () => {
    const made = [0];
    functions.external(made);
    functions.route(/** @type {number} */ (made[0]), 1, 0xfffffff0);
  };
  for (let round = 1; round <= 2; round++) {
    assert.equal((await gate.answer(orbs(from.token("read:orbs")))).isAllow, true);
    assert.equal(from.fetches, round);
    trap();
  }
  const waiting = gate.answer(orbs(from.token("read:orbs")));
  trap(); // What waits, and what is being fetched, is lost with the instance.
  await assert.rejects(Promise.resolve(waiting), /lost/);
  // Another attempt may have its number by now, so its keys could be taken for those of another issuer.
  assert.match(logged.join("\n"), /^orbgate: cannot take keys: .* lost /);
});
