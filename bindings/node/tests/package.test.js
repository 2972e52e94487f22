"use strict";
const test = require("node:test");
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { execFileSync } = require("node:child_process");

const root = path.join(__dirname, "..");
const readme = fs.readFileSync(path.join(root, "README.md"), "utf8");

test("import and require give the same", async () => {
  for (const name of ["orbgate", "orbgate/gate", "orbgate/testing"]) {
    // Node finds the names in the CommonJS module's text. Newer ones add the module itself by two names.
    const { default: all, "module.exports": _, ...imported } = await import(name);
    assert.equal(all, require(name));
    assert.deepEqual(imported, { ...all });
  }
});

test("what the README's table of servers names can be imported and required", () => {
  const rows = readme.split("\n").filter((line) => /^\|.*\(gate/.test(line));
  const names = new Set(rows.flatMap((row) => [...row.matchAll(/\b(\w+)\(gate\b/g)].map(([, name]) => name)));
  assert.deepEqual([...names], ["middleware", "fastify", "listener", "guard", "hono", "refusal"]);
  for (const name of [...names, "Gate", "allowed", "findAllowed", "routesOf"]) {
    for (const [type, text] of [["module", `import { ${name} } from "orbgate/gate";`], ["commonjs", `const { ${name} } = require("orbgate/gate");`]]) {
      execFileSync(process.execPath, [`--input-type=${type}`, "-e", `${text} if (typeof ${name} !== "function") throw new Error()`], { cwd: __dirname, stdio: "pipe" });
    }
  }
});

test("the examples of the README run", () => {
  // Others are pieces, or the service of the guide, which is tested with the frameworks.
  const examples = [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code ?? "").filter((code) => code.startsWith("import assert"));
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
  const expected = ["README.md", "gate.d.ts", "gate.js", "index.d.ts", "index.js", "orbgate.wasm", "orbgate_questions.wasm", "package.json", "questions.d.ts", "testing.d.ts", "testing.js", "wasm.d.mts", "wasm.mjs", ...lib];
  assert.deepEqual(files.filter((/** @type {string} */ file) => !file.startsWith("LICENSE-")).sort(), expected.sort());
});
