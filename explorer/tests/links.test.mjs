// The links that the site has to the explorer open what they promise, and the explorer links back.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { codes, engineOf, example, lint, linked, policiesOf } from "../links.mjs";
import { PAGE, decided, open, shown } from "./support.mjs";

const orbgate = engineOf(fileURLToPath(PAGE));
const about = orbgate.about();
const read = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

/** Opens links by name in one page after another. */
async function each(links, check) {
  const { page, seen } = await open();
  for (const [name, link] of Object.entries(links)) {
    await page.goto("about:blank");
    await page.goto(PAGE + link);
    await decided(page);
    assert.equal(await page.textContent(".notice"), "", name);
    await check(page, name);
  }
  assert.deepEqual([seen.violations, seen.errors], [[], []]);
}

test("each code of lint has an example, and links to its description", async () => {
  const links = lint(orbgate);
  const headings = Array.from(read("docs/lint.md").matchAll(/^### `(\w+)`$/gm), ([, code]) => code);
  assert.deepEqual(Object.keys(links).sort(), headings.sort());
  await each(links, async (page, code) => {
    await page.click(".found summary");
    const link = page.locator(".found a", { hasText: new RegExp(`^${code}$`) }).first();
    assert.equal(await link.getAttribute("href"), `${about.pages.lint}#${code}`);
  });
});

test("each reason and each detail that an engine gives has an example", async () => {
  const links = codes();
  const all = [...Object.keys(about.reasons), ...Object.keys(about.details)];
  const ledger = ["insufficient_orbs", "ledger_unavailable", "insufficient", "bonus_not_allowed", "temporarily_held", "frozen"];
  const gates = ["public_route", "insufficient_user_authentication", "upgrade", "proof", ...ledger];
  assert.deepEqual(Object.keys(links).sort(), all.filter((code) => !gates.includes(code)).sort());
  await each(links, async (page, code) => {
    const { reason, detail } = await page.evaluate(shown);
    assert.ok([reason, detail].includes(code), `${code}: ${reason} ${detail}`);
    const hrefs = await page.locator(".facts a").evaluateAll((links) => links.map((link) => link.href));
    assert.deepEqual(hrefs, [`${about.pages.codes}#reasons`, `${about.pages.codes}#details`].slice(0, detail === "" ? 1 : 2));
  });
});

test("policies of guides open without errors", async () => {
  const guides = ["docs/tutorial/first-policy.md", "docs/tutorial/service.md", "policy/README.md", "bindings/go/README.md"];
  const links = Object.fromEntries(guides.flatMap((path) => policiesOf(read(path)).map((policy, at) => [`${path} ${at}`, example(orbgate, policy)])));
  assert.equal(Object.keys(links).length, guides.length);
  await each(links, async (page, name) => {
    assert.equal((await page.evaluate(shown)).decision, "allow", name);
  });
});

test("the site's pages have the links", () => {
  const page = (path, source) => linked(path, read(source), "../explorer/explorer.html", orbgate);
  const has = (path, source) => page(path, source).match(/\]\(\.\.\/explorer\/explorer\.html(?=[#)])/g)?.length;
  assert.equal(has("docs/lint.md", "docs/lint.md"), Object.keys(lint(orbgate)).length);
  // A code is linked in each table that it begins a row of.
  const named = page("docs/codes.md", "docs/codes.md").matchAll(/^\| \[`(\w+)`\]\(\.\.\/explorer\/explorer\.html#/gm);
  assert.deepEqual([...new Set(Array.from(named, ([, code]) => code))].sort(), Object.keys(codes()).sort());
  assert.equal(has("docs/tutorial/first-policy.md", "docs/tutorial/first-policy.md"), 1);
  assert.equal(has("explorer/index.md", "explorer/README.md"), 1);
});
