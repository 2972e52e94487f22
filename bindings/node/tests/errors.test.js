"use strict";
const test = require("node:test");
const assert = require("node:assert/strict");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { execFileSync } = require("node:child_process");
const { pathToFileURL } = require("node:url");
const { Engine, OrbgateError, PolicyError } = require("orbgate");

const BROKEN = "orbgate: 1\ncolour: red\napis: {}\n";

/** @param {() => unknown} load */
function fails(load) {
  try {
    load();
  } catch (error) {
    assert.ok(error instanceof PolicyError && error instanceof OrbgateError && error instanceof Error);
    return error;
  }
  return assert.fail("no error");
}

test("a policy with errors names each with its location", () => {
  const error = fails(() => Engine.fromYaml(BROKEN));
  assert.equal(error.name, "PolicyError");
  assert.equal(error.code, "invalid_policy");
  assert.deepEqual([error.line, error.column, error.path], [error.diagnostics[0]?.line, error.diagnostics[0]?.column, null]);
  assert.ok(error.diagnostics.some(({ line, column }) => line === 2 && column === 1), error.message);
  assert.equal(error.message, error.diagnostics.map(({ line, column, message }) => `${line}:${column}: ${message}`).join("\n"));
});

test("columns count characters", () => {
  const error = fails(() => Engine.fromYaml("orbgate: 1\n\"é\": 1\n{"));
  assert.ok(error.line >= 1 && error.column >= 1, error.message);
});

test("a file is read, and named in its errors", (context) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "orbgate-"));
  context.after(() => fs.rmSync(folder, { recursive: true }));
  const file = path.join(folder, "policy é.yaml");
  fs.writeFileSync(file, BROKEN);
  const error = fails(() => Engine.fromFile(file));
  assert.equal(error.path, file);
  assert.ok(error.message.startsWith(`${file}:2:1: `), error.message);

  fs.writeFileSync(file, "orbgate: 1\napis: {a: {base_path: /a, scopes: {s: {orbs: false, routes: [GET /]}}}}\n");
  const digests = [file, Buffer.from(file), pathToFileURL(file)].map((one) => Engine.fromFile(one).digest);
  assert.equal(new Set(digests).size, 1);
});

test("a file that is not there is an error of its own", () => {
  const error = fails(() => Engine.fromFile("/no/such/policy.yaml"));
  assert.deepEqual([error.code, error.line, error.diagnostics], ["io", 0, []]);
  assert.match(error.message, /no\/such\/policy\.yaml/);
  assert.equal(/** @type {any} */ (error.cause).code, "ENOENT");
  assert.equal(fails(() => Engine.fromYaml(BROKEN)).cause, undefined);
});

test("an engine knows whether its text had an end", () => {
  const text = "orbgate: 1\napis: {}\n";
  const marked = [text, `${text}...\n`].map((yaml) => Engine.fromYaml(yaml).hasEndMarker);
  assert.deepEqual([...marked, Engine.external().hasEndMarker], [false, true, true]);
});

test("only a regular file is read: a pipe would make its reader wait", (context) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "orbgate-"));
  context.after(() => fs.rmSync(folder, { recursive: true }));
  const pipe = path.join(folder, "policy.yaml");
  execFileSync("mkfifo", [pipe]);
  for (const other of [pipe, folder, "/dev/zero"]) {
    const error = fails(() => Engine.fromFile(other));
    assert.deepEqual([error.code, error.path, error.cause], ["io", other, undefined]);
    assert.match(error.message, /: [^:`]*regular file$/);
  }
});

test("the library of the platform's package is taken, and one that does not load is named", { skip: process.platform !== "linux" }, (context) => {
  const folder = path.join(__dirname, "..", "node_modules", "@orbgate", `linux-${process.arch}-gnu`);
  context.after(() => fs.rmSync(path.dirname(folder), { recursive: true }));
  fs.mkdirSync(folder, { recursive: true });
  const file = path.join(folder, "liborbgate.so");
  const load = "try { console.log(require('orbgate').version) } catch (error) { console.log(error.message) }";
  const output = () => {
    const { ORBGATE_LIBRARY, ...env } = process.env;
    return execFileSync(process.execPath, ["-e", load], { env, encoding: "utf8", cwd: __dirname });
  };
  fs.symlinkSync(path.resolve(process.env.ORBGATE_LIBRARY ?? ""), file);
  assert.match(output(), /^\d+\.\d+\.\d+\n$/);
  fs.rmSync(file);
  fs.writeFileSync(file, "no library");
  const message = output();
  assert.ok(message.includes(`\`${file}\` or `) || /^\d/.test(message), message);
});

test("a missing library says what to do", () => {
  const env = { ...process.env, ORBGATE_LIBRARY: "/no/such/liborbgate.so" };
  const load = "try { require('orbgate') } catch (error) { console.log(error.message) }";
  const output = execFileSync(process.execPath, ["-e", load], { env, encoding: "utf8", cwd: __dirname });
  assert.match(output, /`\/no\/such\/liborbgate\.so`.* ORBGATE_LIBRARY /);
});
