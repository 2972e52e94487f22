"use strict";
// The library as WebAssembly. `cargo xtask test node` runs every other test over it as well.
const test = require("node:test");
const assert = require("node:assert/strict");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { execFileSync } = require("node:child_process");
const { build } = require("esbuild");

const { Engine, Tokens } = require("orbgate");
const { keyPair, signed } = require("./support/issuer.js");

const root = path.join(__dirname, "..");
const isWasm = process.env.ORBGATE_LIBRARY?.endsWith(".wasm");
// What doesn't depend on the library that is tested, and takes long.
const once = { skip: process.env.ORBGATE_LIBRARY !== undefined && !isWasm };

const TARGET = "/api/v1/external/orbs";
/** @type {import("orbgate").Token} */
const token = { kind: "user", scopes: "read:orbs" };

/**
 * What a program prints, without a library named. It comes on standard input, because it can be longer than an argument.
 * @param {string} program
 * @param {string[]} words
 */
function printed(program, ...words) {
  const { ORBGATE_LIBRARY, ...env } = process.env;
  return execFileSync(process.execPath, [...words, "-"], { env, input: program, encoding: "utf8", cwd: __dirname });
}

/**
 * What a bundled program prints where there is nothing of Node.
 * @param {string} program
 * @param {object} more that is global
 */
async function inBrowser(program, more) {
  const built = await build({
    entryPoints: [path.join(__dirname, "browser", program)], bundle: true, minify: true, write: false, platform: "browser", format: "esm",
  });
  const page = `import { readFileSync } from "node:fs";
    Object.assign(globalThis, ${JSON.stringify(more)});
    globalThis.given = readFileSync(${JSON.stringify(path.join(root, "orbgate.wasm"))});
    void new Response(new Request("http://127.0.0.1").body); // Node makes these with its own.
    for (const name of ["Buffer", "process"]) { delete globalThis[name]; }
    await import("data:text/javascript;base64,${Buffer.from(built.outputFiles[0]?.contents ?? "").toString("base64")}");`;
  return printed(page, "--input-type=module");
}

test("where shared libraries cannot be loaded, the module answers", () => {
  const program = `console.log(require("orbgate").Engine.external().decide("GET", "${TARGET}", ${JSON.stringify(token)}).scope)`;
  assert.equal(printed(program, "--no-addons"), "read:orbs\n");
});

test("a module that is loaded answers", () => {
  const program = `import { load } from "orbgate/wasm"; const { Engine } = await load();
    console.log(Engine.external().decide("GET", "${TARGET}", ${JSON.stringify(token)}).scope)`;
  assert.equal(printed(program, "--input-type=module"), "read:orbs\n");
});

test("a bundler's program for browsers has nothing of Node", once, async () => {
  assert.match(await inBrowser("program.mjs", {}), /^scope_held\nmalformed_request\n.*`policy\.yaml`.* Engine\.fromYaml\(…\)\n$/);
});

test("a gate works where there is nothing of Node, with WebCrypto", once, async () => {
  const { publicKey, privateKey } = keyPair("ES256");
  const keys = { keys: [{ ...publicKey.export({ format: "jwk" }), kid: "one", alg: "ES256" }] };
  const part = (/** @type {object} */ value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { iss: "https://id.example.com", aud: "https://api.example.com", sub: "ada", client_id: "app", exp: 4e9, scope: "read:orbs" };
  const text = `${part({ alg: "ES256", typ: "at+jwt", kid: "one" })}.${part(claims)}`;
  const token = `${text}.${signed("ES256", text, privateKey).toString("base64url")}`;
  assert.equal(await inBrowser("gate.mjs", { keys, token }), "undefined ada\n401\n401\n404\n");
});

test("a library of another ABI is refused with both numbers", (context) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "orbgate-"));
  context.after(() => fs.rmSync(folder, { recursive: true }));
  const file = path.join(folder, "other.wasm");
  // A function that ends with its number: i32.const 0x10000, end. Patched, it is 0x20001.
  const module = fs.readFileSync(path.join(root, "orbgate.wasm"), "latin1").split("\x41\x80\x80\x04\x0b");
  assert.equal(module.length, 2);
  fs.writeFileSync(file, module.join("\x41\x81\x80\x08\x0b"), "latin1");
  const load = "try { require('orbgate') } catch (error) { console.log(error.message) }";
  const env = { ...process.env, ORBGATE_LIBRARY: file };
  const output = execFileSync(process.execPath, ["-e", load], { env, encoding: "utf8", cwd: __dirname });
  assert.match(output, new RegExp(`\`${file}\` .* 2\\.1, .* 1\\.0\\n$`));
});

test("a trap is an error, and the next call has another instance", { skip: !isWasm }, () => {
  const { functions } = require("../lib/library.js");
  const { CODES } = require("../lib/layout.js");
  const engine = Engine.external();
  const policy = "orbgate: 1\napis: {a: {base_path: /a, scopes: {s: {orbs: false, routes: [GET /]}}}}\n";
  const bytes = Buffer.from(policy);
  const other = Engine.fromYaml(bytes);
  bytes.fill(0); // What makes it again is not what a caller can change.
  const scopes = engine.scopeSet(["read:orbs", "write:voxies"]);
  const tokens = Tokens.from([{ kind: "user", scopes }]);
  const address = [0];
  functions.external(address);
  const closed = Engine.external();
  const orphan = closed.scopeSet("read:orbs");
  closed.close();
  for (let round = 0; round < 3; round++) {
    // A struct after the end of the memory.
    assert.equal(functions.route(/** @type {number} */ (address[0]), 1, 0xfffffff0), CODES.STATUS_PANIC);
    assert.equal(other.decide("GET", "/a", { kind: "user", scopes: "s" }).scope, "s");
    assert.equal(engine.decide("GET", TARGET, token).scope, "read:orbs");
    assert.equal(engine.decide("GET", TARGET, { kind: "user", scopes }).scope, "read:orbs");
    assert.equal(engine.decideBatch({ methods: ["GET"], targets: [TARGET], tokens }).at(0).scope, "read:orbs");
    assert.throws(() => closed.name, { code: "closed" });
    // A set whose engine was closed before cannot be made again, and gives no answer.
    assert.throws(() => engine.decide("GET", TARGET, { kind: "user", scopes: orphan }), /lost/);
  }
});

test("a batch larger than the room is decided, and memory is given back", { skip: !isWasm }, () => {
  const engine = Engine.external();
  const rows = 20_000;
  const batch = { methods: Array(rows).fill("GET"), targets: Array(rows).fill(TARGET), token };
  for (let round = 0; round < 50; round++) {
    const decisions = engine.decideBatch(batch);
    assert.deepEqual([decisions.isAllow(0), decisions.isAllow(rows - 1)], [true, true]);
  }
  const long = `/${"x".repeat(200_000)}`;
  assert.equal(engine.decide("GET", long, token).isAllow, false);
});
