"use strict";
const test = require("node:test");
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { execFileSync } = require("node:child_process");
const required = require("orbgate");

const root = path.join(__dirname, "..");

test("import and require give the same classes", async () => {
  const imported = await import("orbgate");
  assert.deepEqual(Object.keys(imported).sort(), Object.keys(required).sort());
  assert.equal(imported.Engine, required.Engine);
});

test("the examples of the README run", () => {
  const readme = fs.readFileSync(path.join(root, "README.md"), "utf8");
  // The service of the guide is tested with the frameworks.
  const examples = [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code ?? "").filter((code) => !code.includes("express"));
  assert.ok(examples.length >= 4, String(examples.length));
  for (const example of examples) {
    execFileSync(process.execPath, ["--input-type=module", "-e", example], { cwd: __dirname });
  }
});

test("the lock file names no registry", () => {
  const lock = fs.readFileSync(path.join(root, "package-lock.json"), "utf8");
  assert.doesNotMatch(lock, /"resolved"|registry/);
});

/** @param {string} folder */
const filesIn = (folder) => fs.readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile()).map((entry) => path.relative(root, path.join(entry.path, entry.name)));

test("an archive has what users need and nothing else", () => {
  const packed = execFileSync("npm", ["pack", "--dry-run", "--json"], { cwd: root, encoding: "utf8", shell: process.platform === "win32" });
  const files = JSON.parse(packed)[0].files.map((/** @type {{ path: string }} */ { path }) => path);
  const lib = filesIn("lib");
  const expected = ["README.md", "gate.d.mts", "gate.d.ts", "gate.js", "gate.mjs", "index.d.mts", "index.d.ts", "index.js", "index.mjs", "orbgate.wasm", "package.json", "wasm.d.mts", "wasm.mjs", ...lib];
  assert.deepEqual(files.filter((/** @type {string} */ file) => !file.startsWith("LICENSE-")).sort(), expected.sort());
});
