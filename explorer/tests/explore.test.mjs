// `orbgate explore`: the page with a file that it follows, for this machine only.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { COMMAND, EXTERNAL, open, shown } from "./support.mjs";

const folder = mkdtempSync(join(tmpdir(), "explorer-"));
const file = join(folder, "policy.yaml");
const started = [];
after(() => started.forEach((child) => child.kill()));

async function explore(...given) {
  const child = spawn(COMMAND, ["explore", ...given], { stdio: ["ignore", "pipe", "inherit"] });
  started.push(child);
  for await (const chunk of child.stdout) {
    return new URL(String(chunk).trim());
  }
  throw new Error("it has ended");
}

const ask = (url, options = {}) => new Promise((resolve, reject) => {
  const sent = request(url, options, (answer) => {
    answer.resume();
    answer.on("end", () => resolve(answer));
  });
  sent.on("error", reject);
  sent.end();
});

test("the page follows the file, and asks no other server", async () => {
  writeFileSync(file, EXTERNAL);
  const url = await explore(file);
  assert.equal(url.hostname, "127.0.0.1");
  const { page, seen } = await open({ url: url.href });
  assert.equal((await page.evaluate(shown)).decision, "allow");
  writeFileSync(file, EXTERNAL.replace("write:voxies:", "write:voxie:"));
  await page.waitForSelector(".decision.deny[aria-busy=false]", { timeout: 10_000 });
  assert.equal((await page.evaluate(shown)).reason, "scope_missing");
  // What a person has changed is kept until they ask.
  await page.locator("#policy .cm-content").click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("# mine\n");
  writeFileSync(file, EXTERNAL);
  await page.waitForSelector("text=The file has changed on disk", { timeout: 10_000 });
  assert.equal(await page.locator("#policy .cm-line").first().textContent(), "# mine");
  await page.click("text=Load the file from disk");
  await page.waitForSelector(".decision.allow[aria-busy=false]");
  assert.deepEqual(seen.violations, []);
  assert.deepEqual(seen.requests.filter((to) => !to.startsWith("blob:") && !to.startsWith("data:") && !to.startsWith(url.origin)), []);
});

test("what is being typed is kept when the file changes", async () => {
  writeFileSync(file, EXTERNAL);
  const { page } = await open({ url: (await explore(file)).href });
  // The answer with the file comes when the test says so.
  await page.evaluate(() => {
    const original = window.fetch;
    window.fetch = async (...given) => {
      const answer = await original(...given);
      const text = await answer.text();
      if (answer.status === 200) {
        await new Promise((release) => { window.release = release; });
      }
      return { status: answer.status, headers: answer.headers, text: async () => text };
    };
  });
  writeFileSync(file, EXTERNAL.replace("write:voxies:", "write:voxie:"));
  await page.waitForFunction(() => window.release !== undefined);
  await page.locator("#policy .cm-content").click();
  await page.keyboard.press("Control+Home");
  // Before the pause after which the page reads what was typed.
  await page.evaluate(() => {
    document.execCommand("insertText", false, "# mine ");
    window.release();
  });
  await page.waitForSelector("text=The file has changed on disk", { timeout: 10_000 });
  assert.match(await page.locator("#policy .cm-line").first().textContent(), /^# mine /);
});

test("foreign hosts and methods are refused", async () => {
  writeFileSync(file, EXTERNAL);
  const url = await explore(file);
  assert.equal((await ask(url)).statusCode, 200);
  const policy = await ask(new URL("/policy", url));
  assert.equal(policy.statusCode, 200);
  assert.equal(policy.headers["access-control-allow-origin"], undefined);
  assert.equal(policy.headers["cross-origin-resource-policy"], "same-origin");
  for (const host of ["attacker.example", `attacker.example:${url.port}`, "127.0.0.1", `127.0.0.1:${Number(url.port) + 1}`]) {
    assert.equal((await ask(new URL("/policy", url), { headers: { host } })).statusCode, 421, host);
  }
  for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
    assert.equal((await ask(url, { method })).statusCode, 405, method);
  }
  assert.equal((await ask(new URL("/other", url))).statusCode, 404);
});

test("without a file there is an example, and nothing is asked", async () => {
  const url = await explore();
  const { page, seen } = await open({ url: url.href });
  await page.waitForTimeout(1_500);
  assert.deepEqual(seen.requests.filter((to) => !to.startsWith("blob:") && !to.startsWith("data:")), [url.href]);
  assert.equal((await ask(new URL("/policy", url))).statusCode, 404);
});
