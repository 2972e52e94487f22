// Builds the page, one HTML file: node build.mjs MODULE PAGE, with the WebAssembly module that answers questions.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { build } from "vite";

const MOST_BYTES = 1_400_000;

const [modulePath, pagePath] = process.argv.slice(2);
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const module = readFileSync(modulePath);
const policies = here("../policy/");

/** A script of its own, and its styles. */
async function script(entry) {
  const [{ output }] = [].concat(await build({
    root: here("."),
    configFile: false,
    logLevel: "warn",
    define: {
      "process.env.NODE_ENV": '"production"',
      VERSION: JSON.stringify(JSON.parse(readFileSync(here("package.json"), "utf8")).version),
      MODULE_DIGEST: JSON.stringify(createHash("sha256").update(module).digest("hex")),
      EXAMPLE: JSON.stringify(readFileSync(`${policies}external.yaml`, "utf8")),
    },
    build: {
      write: false,
      target: "es2023",
      cssCodeSplit: false,
      lib: { entry: here(entry), formats: ["iife"], name: "orbgate", fileName: "script" },
    },
  }));
  const code = output.find((part) => part.type === "chunk").code;
  const style = output.find((part) => part.fileName.endsWith(".css"))?.source ?? "";
  return { code, style: String(style) };
}

/** What may not be in a script element: its end, and the start of another one. */
const embedded = (code) => code.replaceAll(/<(?=\/script|!--|script)/gi, "\\x3c").trim();

const worker = embedded((await script("src/worker.ts")).code);
const main = await script("src/main.tsx");
const code = embedded(main.code);
// Styles change nothing that a page says. CodeMirror adds some when it starts, so they have a nonce and no digest.
const nonce = createHash("sha256").update(code).digest("base64url").slice(0, 24);
const security = [
  "default-src 'none'",
  `script-src 'sha256-${createHash("sha256").update(code).digest("base64")}' 'wasm-unsafe-eval'`,
  "worker-src blob:",
  `style-src 'nonce-${nonce}'`,
  "img-src data:",
  "connect-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");
const packed = gzipSync(module, { level: 9 }).toString("base64");
const parts = { SECURITY: security, NONCE: nonce, STYLE: main.style.trim(), MODULE: packed, WORKER: worker, MAIN: code };
const names = new RegExp(`\\b(${Object.keys(parts).join("|")})\\b`, "g");
const page = readFileSync(here("index.html"), "utf8").replaceAll(names, (name) => parts[name]);

if (page.length > MOST_BYTES) {
  throw new Error(`the page has ${page.length} bytes, and at most ${MOST_BYTES} are allowed`);
}
mkdirSync(dirname(pagePath), { recursive: true });
writeFileSync(pagePath, page);
console.log(`${pagePath}: ${page.length} bytes, ${gzipSync(page, { level: 9 }).length} compressed`);
