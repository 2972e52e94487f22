// The page decides every case as its row says, and as the command does.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

import { COMMAND, EXTERNAL, PAGE, callOf, charged, decided, expected, fragment, open, path, policies, policyOf, rows, shown } from "./support.mjs";

test("the page decides all rows of the cases", async () => {
  const all = rows();
  // No field of a page and no argument in JSON can hold bytes that are not UTF-8.
  const some = all.filter((row) => !row.bytes);
  assert.ok(some.length > 2_000 && all.length - some.length <= 10, `${some.length} of ${all.length}`);
  const { page, seen } = await open();
  const failed = [];
  for (const [at, row] of some.entries()) {
    // The kept case says which link is shown.
    const kept = { call: callOf(row), expected: `row ${at}`, route: null };
    const link = fragment({ policy: policyOf(row), call: callOf(row), cases: [kept] });
    await page.evaluate((to) => (location.hash = to), link);
    await page.waitForFunction((mark) => document.querySelector(".cases li span")?.textContent.endsWith(mark)
      && document.querySelector(".decision").getAttribute("aria-busy") === "false", `: row ${at}`, { polling: 5 });
    const { charge, ...actual } = await page.evaluate(shown);
    try {
      assert.deepEqual(actual, expected(row));
      if (row.decision === "allow") {
        assert.equal(charge, charged(row));
      }
    } catch (error) {
      failed.push(`${row.file} ${row.name}: ${error.message}`);
    }
  }
  assert.deepEqual(failed.slice(0, 5), [], `${failed.length} of ${some.length} failed`);
  assert.deepEqual(seen.violations, []);
  assert.deepEqual(seen.errors, []);
  console.log(`ran ${some.length} cases`);
});

test("the command decides them alike", () => {
  const some = rows().filter((row) => !row.bytes);
  for (const policy of new Set(some.map((row) => row.policy))) {
    const own = some.filter((row) => row.policy === policy);
    const lines = own.map((row) => {
      const { by, method, target, scope, kind, scopes, bonus } = callOf(row);
      const subject = by === "scope" ? { scope } : { method, target };
      return JSON.stringify({ ...subject, token: kind === "none" ? null : { kind, scopes }, allow_bonus_orbs_use: bonus });
    });
    const file = path(new URL(policy === "external" ? "external.yaml" : `cases/policies/${policy}.yaml`, policies));
    const { stdout, stderr } = spawnSync(COMMAND, ["replay", "-", "--policy", file], { input: `${lines.join("\n")}\n`, encoding: "utf8", maxBuffer: 1 << 28 });
    const answers = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
    assert.equal(answers.length, own.length, stderr);
    for (const [at, row] of own.entries()) {
      const answer = answers[at].decision?.decision === undefined ? answers[at] : answers[at].decision;
      for (const [key, value] of Object.entries(expected(row))) {
        assert.equal(String(answer[key] ?? ""), value, `${row.file} ${row.name} ${key}`);
      }
    }
  }
});

test("hostile targets are typed in", async () => {
  const hostile = rows("hostile.tsv").filter((row) => !row.bytes && row.by_scope === "" && !/[\r\n]/.test(row.method + row.target));
  assert.ok(hostile.length > 500, String(hostile.length));
  const groups = grouped(hostile);
  const { page, seen } = await open();
  for (const group of groups.values()) {
    const call = callOf(group[0]);
    await page.goto("about:blank");
    await page.goto(PAGE + fragment({ policy: policyOf(group[0]), call: { ...call, method: "", target: "" } }));
    await decided(page);
    const answers = await page.evaluate(typeEach, group.map(({ method, target }) => ({ method, target })));
    for (const [at, row] of group.entries()) {
      const { target, ...actual } = answers[at];
      assert.equal(target, row.target, row.name);
      assert.deepEqual(actual, expected(row), row.name);
    }
  }
  assert.deepEqual(seen.violations, []);
  console.log(`typed ${hostile.length} targets`);
});

const sameToken = (row) => JSON.stringify([row.policy, row.kind, row.scopes, row.bonus]);

/** The rows by policy and token. */
function grouped(list) {
  const groups = new Map();
  for (const row of list) {
    groups.set(sameToken(row), [...(groups.get(sameToken(row)) ?? []), row]);
  }
  return groups;
}

/** Types each call into the fields, and says what is decided. In the page. */
async function typeEach(calls) {
  const pause = () => new Promise((resolve) => setTimeout(resolve));
  const type = (field, value) => {
    field.value = value;
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    return pause();
  };
  const answers = [];
  for (const { method, target } of calls) {
    await type(document.querySelector("#method"), method);
    await type(document.querySelector("#target"), target);
    while (document.querySelector(".decision").getAttribute("aria-busy") !== "false") {
      await pause();
    }
    const facts = Object.fromEntries(Array.from(document.querySelectorAll(".decision .facts > div"), (fact) => [
      fact.querySelector("dt").textContent, fact.querySelector("dd").textContent,
    ]));
    const [reason, detail = ""] = facts.Reason.split(" · ");
    const status = /Denied with (\d+)/.exec(document.querySelector(".verdict").textContent)?.[1] ?? "";
    answers.push({
      target: document.querySelector("#target").value,
      decision: status === "" ? "allow" : "deny",
      status,
      reason,
      detail,
      api: facts.Api ?? "",
      route: facts.Route ?? "",
      scope: facts.Scope ?? "",
    });
  }
  return answers;
}
