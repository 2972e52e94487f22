// Links to the explorer that open an example: of a code of lint, of a reason or a detail, or of a policy in a guide. `node links.mjs PAGE
// FOLDER` adds them to the site's pages in a folder, where the explorer is explorer/explorer.html.
import { readFileSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateRawSync, gunzipSync } from "node:zlib";

import { Orbgate } from "../crates/orbgate-wasm/npm/index.js";

export const policies = new URL("../policy/", import.meta.url);
export const text = (path) => readFileSync(new URL(path, policies), "utf8");
export const EXTERNAL = text("external.yaml");
export const VERSION = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")).version;

export const CALL = { by: "call", method: "GET", target: "/", scope: "", kind: "user", scopes: [], bonus: false };

/** The fragment of a link to a state, as the page writes it. */
export function fragment(state) {
  const json = JSON.stringify({ version: VERSION, policy: EXTERNAL, other: null, call: CALL, cases: [], ...state });
  return `#1-${deflateRawSync(json, { level: 9 }).toString("base64url")}`;
}

/** The rows of the cases, unescaped; `bytes` means that a cell of it is not UTF-8. */
export function rows(file = null) {
  const cases = new URL("cases/", policies);
  return readdirSync(cases).filter((name) => name.endsWith(".tsv") && (file === null || name === file)).flatMap((name) => {
    const lines = readFileSync(new URL(name, cases), "utf8").split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    const header = lines[0].split("\t");
    return lines.slice(1).map((line) => {
      const row = Object.fromEntries(line.split("\t").map((cell, at) => [header[at], cell]));
      row.file = name;
      row.bytes = false;
      for (const key of ["method", "target", "by_scope", "scopes"]) {
        const bytes = unescaped(row[key]);
        row[key] = bytes.toString("utf8");
        row.bytes ||= !Buffer.from(row[key]).equals(bytes);
      }
      return row;
    });
  });
}

function unescaped(cell) {
  const parts = cell.split(/(\\x[0-9A-Fa-f]{2}|\\\\)/);
  return Buffer.concat(parts.map((part) => {
    const isByte = /^\\x/.test(part);
    return isByte ? Buffer.from(part.slice(2), "hex") : Buffer.from(part === "\\\\" ? "\\" : part);
  }));
}

export const policyOf = (row) => (row.policy === "external" ? EXTERNAL : text(`cases/policies/${row.policy}.yaml`));

export const callOf = (row) => ({
  by: row.by_scope === "" ? "call" : "scope",
  method: row.method,
  target: row.target,
  scope: row.by_scope,
  kind: row.kind === "" ? "none" : ["user", "organisation"].includes(row.kind) ? row.kind : "unknown",
  scopes: row.kind === "" ? [] : row.scopes.split(" ").filter((scope) => scope !== ""),
  bonus: row.bonus === "yes",
});

/** The engine in a page. */
export function engineOf(page) {
  const [, packed] = /id="module">([^<]+)</.exec(readFileSync(page, "utf8"));
  return new Orbgate(new WebAssembly.Module(gunzipSync(Buffer.from(packed, "base64"))));
}

/** Shorter targets show little. */
const SHORTEST = 8;

/** Links by reason and by detail: the case in reasons.tsv, or else one with a short target. Only gates give the other codes. */
export function codes() {
  const typed = rows().filter((row) => !row.bytes && /^[ -~]*$/.test(row.method + row.target) && (row.by_scope !== "" || row.method !== ""));
  const size = ({ file, by_scope: scope, target }) => (file === "reasons.tsv" ? 0 : scope === "" && target.length >= SHORTEST ? target.length : Infinity);
  const links = {};
  for (const row of typed.sort((one, two) => size(one) - size(two))) {
    for (const code of [row.reason, row.detail].filter((name) => name !== "" && links[name] === undefined)) {
      links[code] = fragment({ policy: policyOf(row), call: callOf(row) });
    }
  }
  return links;
}

/** Links by code of lint: its first policy in policy/lint.md. */
export function lint(orbgate) {
  const sections = text("lint.md").matchAll(/^## (\w+)\n\n```yaml\n([^]*?)```\n/gm);
  return Object.fromEntries(Array.from(sections, ([, code, policy]) => [code, example(orbgate, policy)]));
}

/** A link to a policy with a call: one that a finding names, or else one of the first route. */
export function example(orbgate, policy) {
  const engine = orbgate.load(policy);
  const scopes = engine.ask("table").apis.flatMap((api) => api.scopes);
  const findings = engine.ask("lint", { policy }).files[0].findings;
  engine.close();
  const named = findings.map(({ message }) => /`([A-Z]+ \/[^`{]*)`/.exec(message)?.[1]).find((call) => call !== undefined);
  const route = named ?? scopes.flatMap((scope) => scope.routes)[0]?.route.replaceAll(/\{[^}]*\}/g, "1");
  const held = [...new Set(scopes.map((scope) => scope.scope))];
  const call = route === undefined ? { by: "scope", scope: held[0] ?? "" } : { method: route.split(" ")[0], target: route.split(" ")[1] };
  return fragment({ policy, call: { ...CALL, ...call, scopes: held } });
}

/** The policies in a page: blocks of YAML with the key of the format. */
const POLICY = /^```yaml\n((?:(?!```).*\n)*?orbgate: 1(?:(?!```).*\n)*)```\n/gm;
export const policiesOf = (page) => Array.from(page.matchAll(POLICY), ([, policy]) => policy);

/** A page of the site with its links; `explorer` is the explorer's address for it. */
export function linked(path, page, explorer, orbgate) {
  const open = (link, words) => `[${words}](${explorer}${link})`;
  switch (path) {
    case "explorer/index.md":
      return page.replace("\n\n", `\n\n${open("", "Open the explorer")}\n\n`);
    case "docs/lint.md": {
      const links = lint(orbgate);
      return page.replaceAll(/^### `(\w+)`\n/gm, (heading, code) => `${heading}\n${open(links[code], "Open an example in the explorer")}\n`);
    }
    case "docs/codes.md": {
      const links = codes();
      return page.replaceAll(/^\| `(\w+)`/gm, (cell, code) => (links[code] === undefined ? cell : `| ${open(links[code], `\`${code}\``)}`));
    }
    default:
      return page.replaceAll(POLICY, (block, policy) => `${block}\n${open(example(orbgate, policy), "Open this policy in the explorer")}\n`);
  }
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [page, folder] = process.argv.slice(2);
  const orbgate = engineOf(page);
  for (const path of readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".md"))) {
    const before = readFileSync(join(folder, path), "utf8");
    const after = linked(path, before, relative(dirname(path), "explorer/explorer.html"), orbgate);
    if (after !== before) {
      writeFileSync(join(folder, path), after);
    }
  }
}
