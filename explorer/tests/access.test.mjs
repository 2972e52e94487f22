// axe finds nothing in any state of the page, light and dark, narrow and wide; the keyboard is enough.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";

import { CALL, EXTERNAL, PAGE, decided, fragment, open } from "./support.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const kept = { call: CALL, expected: "no_route", route: null };
const next = EXTERNAL.replace("orbs: false", "orbs: 5").replace("- POST /voxies/prompt/run", "- POST /voxies/prompt/go");

/** Each state, and how it is reached. */
const STATES = {
  first: [{}],
  allowed: [{ call: { ...CALL, method: "POST", target: "/api/v1/external/voxies/prompt/run", scopes: ["write:voxies"] } }, async (page) => {
    await page.fill("#search", "voxies");
    await page.click(".rules summary");
  }],
  malformed: [{ call: { ...CALL, target: "/api/v1/external/a%2Fb" } }],
  "near misses": [{ call: { ...CALL, target: "/api/v1/external/voxie/7", scopes: ["read:voxies"] }, cases: [kept] }],
  "a scope": [{ call: { ...CALL, by: "scope", scope: "read:inference", kind: "organisation" } }],
  errors: [{ policy: EXTERNAL.replace("orbs: false", "orbs: 0") }],
  lint: [{ policy: EXTERNAL.replace("\n...", "") }, async (page) => {
    await page.click(".found summary");
    await page.waitForSelector("button.fix");
  }],
  "a fix in the editor": [{ policy: EXTERNAL.replace("\n...", "") }, async (page) => {
    await page.click(".found summary");
    await page.waitForSelector("button.fix");
    await page.hover("#policy .cm-lint-marker-info");
    await page.waitForSelector(".cm-tooltip .cm-diagnosticAction");
  }],
  compared: [{ other: next, call: { ...CALL, method: "POST", target: "/api/v1/external/voxies/prompt/run", scopes: ["write:voxies"] } }, (page) => page.waitForSelector(".changes")],
  notice: [{ version: "0.0.1" }],
};

for (const colorScheme of ["light", "dark"]) {
  for (const width of [360, 1280, 3840]) {
    test(`axe finds nothing: ${colorScheme}, ${width} wide`, async () => {
      const all = [];
      for (const [name, [state, reach]] of Object.entries(STATES)) {
        const { page, context } = await open({ url: PAGE + fragment(state), colorScheme, viewport: { width, height: 900 } });
        await reach?.(page);
        await decided(page);
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => axe.run({ resultTypes: ["violations"] }));
        const problems = violations.map(({ id, nodes }) => `${name}: ${id}: ${nodes.slice(0, 3).map((node) => node.target.join(" ") + " " + node.any.map((any) => any.message).join(" ")).join(", ")}`);
        all.push(...problems);
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        all.push(...(wider > 0 ? [`${name}: ${wider} pixels stick out`] : []));
        if (process.env.SCREENSHOTS !== undefined) {
          await page.screenshot({ path: `${process.env.SCREENSHOTS}/${colorScheme}-${width}-${name.replaceAll(" ", "-")}.png`, fullPage: true });
        }
        await context.close();
      }
      assert.deepEqual(all, []);
    });
  }
}

test("the keyboard reaches everything", async () => {
  const { page } = await open();
  const reached = new Set();
  for (let presses = 0; presses < 80; presses += 1) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => {
      const { activeElement } = document;
      return activeElement.id || activeElement.textContent.slice(0, 30) || activeElement.tagName;
    }));
  }
  for (const wanted of ["method", "target", "kind", "held", "search", "Copy link", "Keep as a test case", "Compare with a second policy"]) {
    assert.ok(reached.has(wanted), `${wanted} of ${[...reached].join(", ")}`);
  }
  assert.ok([...reached].some((name) => name.startsWith("# yaml-language-server")), "the editor");
});

test("with reduced motion, nothing moves by itself", async () => {
  const { page } = await open({ reducedMotion: "reduce" });
  await page.click("nav >> text=Map");
  assert.ok(await page.evaluate(() => document.getElementById("map").getBoundingClientRect().top < innerHeight));
  assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
});
