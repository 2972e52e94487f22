// What the tests share: a browser, the page, links made without it, and the cases.
import { execFileSync } from "node:child_process";
import { after, before } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inflateRawSync } from "node:zlib";

import { chromium } from "playwright-core";

export { CALL, EXTERNAL, callOf, fragment, policies, policyOf, rows } from "../links.mjs";

export const COMMAND = process.env.ORBGATE_COMMAND;
export const PAGE = pathToFileURL(process.env.ORBGATE_PAGE).href;
export const TOKEN_LIKE = /[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/;

let browser;
before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
});
after(() => browser?.close());

/** A page of its own, and what it must not do. */
export async function open({ url = PAGE, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const seen = { violations: [], errors: [], requests: [] };
  await page.exposeFunction("violated", (what) => seen.violations.push(what));
  await page.addInitScript(() => addEventListener("securitypolicyviolation", (event) => violated(`${event.violatedDirective} ${event.blockedURI}`)));
  page.on("console", (message) => /Content.Security.Policy/i.test(message.text()) && seen.violations.push(message.text()));
  page.on("console", (message) => message.type() === "error" && seen.errors.push(message.text()));
  page.on("pageerror", (error) => seen.errors.push(String(error)));
  page.on("request", (request) => seen.requests.push(request.url()));
  await page.goto(url);
  await decided(page);
  return { page, context, seen };
}

/** Waits until what is shown is of what was typed. */
export const decided = (page) => page.waitForSelector(".decision[aria-busy=false]", { timeout: 30_000 });

/** The state in a link. */
export function unpacked(url) {
  const packed = new URL(url).hash.replace(/^#1-/, "");
  return packed === "" ? null : JSON.parse(inflateRawSync(Buffer.from(packed, "base64url")));
}

/** What the page shows, in the words of a row. In the page. */
export function shown() {
  const verdict = document.querySelector(".verdict")?.textContent ?? "";
  const facts = Object.fromEntries(Array.from(document.querySelectorAll(".decision .facts > div"), (fact) => [
    fact.querySelector("dt").textContent, fact.querySelector("dd").textContent,
  ]));
  const [reason, detail = ""] = (facts.Reason ?? "").split(" · ");
  const denied = /Denied with (\d+)/.exec(verdict);
  return {
    decision: denied === null ? "allow" : "deny",
    status: denied?.[1] ?? "",
    reason,
    detail,
    api: facts.Api ?? "",
    route: facts.Route ?? "",
    scope: facts.Scope ?? "",
    charge: facts.Charge,
  };
}

/** A row as the page shows it. */
export function expected(row) {
  const { decision, status, reason, detail, api, route, scope } = row;
  return { decision, status, reason, detail, api, route, scope };
}

/** A charge as the page says it. */
export function charged(row) {
  if (row.orbs === "") {
    return "The policy doesn’t state it";
  }
  const [amount, bonus] = row.orbs.split(" ");
  const text = amount === "free" ? "Free" : amount === "unstated" ? "Orbs, and the policy states no amount"
    : `${BigInt(amount).toLocaleString("en")} ${amount === "1" ? "orb" : "orbs"}`;
  return bonus === undefined ? text : `${text}; bonus orbs may be used`;
}

export const run = (...given) => execFileSync(COMMAND, given, { encoding: "utf8" });

export const path = (url) => fileURLToPath(url);

/** A policy of so many routes. */
export function large(routes) {
  const scopes = Array.from({ length: Math.ceil(routes / 20) }, (_, scope) => {
    const count = Math.min(20, routes - 20 * scope);
    const lines = Array.from({ length: count }, (_, at) => `          - ${at % 2 === 0 ? "GET" : "POST"} /things${scope}/part${at >> 1}/{id}`);
    return [`      read:things${scope}:`, "        permits: reads things", `        orbs: ${scope % 2 === 0 ? "false" : scope + 1}`, "        routes:", ...lines].join("\n");
  });
  return `orbgate: 1\nname: large\napis:\n  large:\n    base_path: /v1\n    scopes:\n${scopes.join("\n")}\n...\n`;
}
