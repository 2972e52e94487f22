import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Orbgate, OrbgateError, read } from "./index.js";

const policies = new URL("../../../policy/", import.meta.url);
const text = (path) => readFileSync(new URL(path, policies), "utf8");
// `cargo xtask test node` says which module it has built.
const module = new WebAssembly.Module(readFileSync(process.env.ORBGATE_WASM ?? new URL("./orbgate_wasm.wasm", import.meta.url)));

test("the module imports nothing", () => {
  assert.deepEqual(WebAssembly.Module.imports(module), []);
});

test("its version is the package's", () => {
  const { version } = JSON.parse(readFileSync(new URL("./package.json", import.meta.url), "utf8"));
  assert.equal(new Orbgate(module).about().version, version);
});

const rows = text("cases/questions.jsonl").trimEnd().split("\n").map((row) => JSON.parse(row));

test("questions are answered as by the command", () => {
  const orbgate = new Orbgate(module);
  const external = orbgate.load(text("external.yaml"));
  for (const { question, arguments: given, engine: name, answer } of rows) {
    const engine = name === undefined ? external : orbgate.load(text(`cases/policies/${name}.yaml`));
    assert.deepEqual(JSON.parse(engine.askJson(question, JSON.stringify(given))), answer, question);
    if (engine !== external) {
      engine.close();
    }
  }
  assert.ok(rows.length >= 22);
});

test("what cannot be answered says why", () => {
  const orbgate = new Orbgate(module);
  assert.throws(() => orbgate.load("orbgate: 2\n"), (error) => error instanceof OrbgateError
    && error.status === "invalid_policy" && error.diagnostics[0].location.line === 1);
  const engine = orbgate.load(text("external.yaml"));
  assert.throws(() => engine.ask("why"), { status: "not_found", message: /`why`/ });
  assert.throws(() => engine.ask("reach"), { status: "invalid_argument", message: /`token`/ });
  assert.throws(() => engine.askJson("table", "[".repeat(2_000_000)), { status: "invalid_argument" });
  assert.throws(() => engine.ask("diff", { policy: "\u0000" }), { status: "invalid_policy" });
  engine.close();
  assert.throws(() => engine.ask("table"), { status: "invalid_argument", message: /no engine/ });
});

test("a test file is decided", () => {
  const engine = new Orbgate(module).load("orbgate: 1\napis:\n  a:\n    base_path: ''\n    scopes:\n      r: { orbs: false, routes: [GET /x, GET /y] }\n...\n");
  const { cases, properties, uncovered } = engine.test("orbgate_test: 1\ncases:\n  - { request: GET /x, token: user r, expect: allow }\n  - { request: GET /y, token: none, expect: allow }\nproperties:\n  - never | user r | /y\n  - never | any \"\" | *\n");
  assert.deepEqual(cases.map(({ location, name, wrong }) => [location.line, name, wrong]), [
    [3, "GET /x", []], [4, "GET /y", ["decision: expected allow, found deny"]],
  ]);
  assert.deepEqual(properties.map(({ location, name, wrong, warning }) => [location.line, name, wrong, warning]), [
    [6, "never | user r | /y", ["user with `r` may call GET /y: `GET /y` for `r`, 0 orbs"], null],
    [7, "never | any \"\" | *", [], "these callers may call nothing at all, so it says little"],
  ]);
  assert.deepEqual(uncovered.map(({ location, name }) => [location.line, name]), [[6, "GET /y"]]);
  assert.throws(() => engine.test("orbgate_test: 2\n"), { status: "invalid_policy", message: "the test file has errors" });
  engine.close();
  assert.throws(() => engine.test(""), { status: "invalid_argument", message: /no engine/ });
});

test("a fix removes its finding", () => {
  const orbgate = new Orbgate(module);
  const policy = /^## no_end_marker\n\n```yaml\n([^]*?)```\n/m.exec(text("lint.md"))[1];
  const [fix] = orbgate.fixes(policy);
  assert.equal(fix.finding.code, "no_end_marker");
  const bytes = Buffer.from(policy);
  const fixed = [bytes.subarray(0, fix.span.start), fix.new, bytes.subarray(fix.span.end)].join("");
  assert.deepEqual(orbgate.fixes(fixed), []);
  assert.ok(fixed.endsWith("\n...\n"));
  assert.throws(() => orbgate.fixes("orbgate: 2\n"), { status: "invalid_policy" });
});

test("an amount is exact", () => {
  const most = 2n ** 63n - 1n;
  const policy = text("external.yaml").replace("orbs: true", `orbs: ${most}`);
  const table = new Orbgate(module).load(policy).ask("table");
  const amounts = table.apis.flatMap((api) => api.scopes).map((scope) => scope.orbs?.amount);
  assert.ok(amounts.includes(most));
  assert.ok(amounts.includes(null));
  assert.deepEqual(read(String.raw`{"text":"\"amount\":1","amount":1}`), { text: '"amount":1', amount: 1n });
});

test("engines and answers take no room when they are gone", () => {
  const orbgate = new Orbgate(module);
  const policy = text("external.yaml");
  let pages = 0;
  for (let round = 0; round < 200; round += 1) {
    const engine = orbgate.load(policy);
    engine.ask("table");
    engine.close();
    if (round === 20) {
      pages = orbgate.size;
    }
  }
  assert.equal(orbgate.size, pages);
});
