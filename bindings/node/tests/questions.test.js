"use strict";
// Each answer is the command's: the rows of policy/cases/questions.jsonl.
const test = require("node:test");
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");

const { Engine, OrbgateError, PolicyError } = require("orbgate");
const { read } = require("../lib/questions.js");

const cases = path.join(__dirname, "../../../policy/cases");
const rows = fs.readFileSync(path.join(cases, "questions.jsonl"), "utf8").trimEnd().split("\n");

test("questions are answered as by the command", () => {
  const covered = new Set();
  for (const line of rows) {
    const { question, engine: name, arguments: given, answer } = JSON.parse(line);
    const engine = /** @type {any} */ (name ? Engine.fromFile(path.join(cases, "policies", `${name}.yaml`)) : Engine.external());
    const expected = read(line.slice(line.indexOf(',"answer":') + 10, -1));
    assert.deepEqual(engine.ask(question, given), expected, line);
    const typed = engine[question](given);
    assert.deepEqual(typed, expected, line);
    // The order of the fields is the command's, too.
    const json = JSON.stringify(typed, (_, value) => (typeof value === "bigint" ? Number(value) : value));
    assert.equal(json, JSON.stringify(answer));
    covered.add(question);
    engine.close();
  }
  assert.equal(covered.size, 9);
});

test("an amount that a number cannot hold is exact", () => {
  const engine = Engine.fromFile(path.join(cases, "policies", "amounts.yaml"));
  const [most] = engine.reach({ token: { kind: "user", scopes: "most" } }).allowed;
  assert.equal(most?.orbs?.amount, 9223372036854775807n);
});

test("a question that cannot be answered is an error", () => {
  const engine = Engine.external();
  assert.throws(() => engine.ask("why", {}), (error) => error instanceof OrbgateError && error.code === "not_found");
  assert.throws(() => engine.ask("reach", {}), { code: "invalid_argument", message: /`token`/ });
  assert.throws(() => engine.ask("reach", /** @type {any} */ (undefined)), { code: "invalid_argument" });
  assert.throws(
    () => engine.diff({ policy: "orbgate: 2\n" }),
    (error) => error instanceof PolicyError && error.code === "invalid_policy" && error.line === 1 && error.diagnostics.length > 0,
  );
  engine.close();
  assert.throws(() => engine.table(), { code: "closed" });
});
