"use strict";
// The gate program of Node: a server of one framework, whose service says what it saw. The driver of policy/cases/gate starts it;
// by hand: cargo xtask gate node express --listen 127.0.0.1:8080 --policy policy/external.yaml --tokens tokens.yaml
const readline = require("node:readline");
const { parseArgs } = require("node:util");
const { Engine } = require("orbgate");
const { Gate, Ledger, findAllowed } = require("orbgate/gate");
const servers = require("./servers.js");

/** What is counted, by name and labels. @type {Record<string, Record<string, number>>} */
const counts = { orbgate_decisions_total: {}, orbgate_tokens_refused_total: {}, orbgate_misrouted_total: {}, orbgate_policy_loads_total: {} };

/**
 * @param {string} name
 * @param {Readonly<Record<string, string>>} labels
 */
function count(name, labels) {
  const of = counts[name] ??= {};
  const label = Object.values(labels).join(" ");
  of[label] = (of[label] ?? 0) + 1;
}

/** @param {string} line */
const say = (line) => process.stdout.write(`${line}\n`);

/**
 * What the service says of a request.
 * @param {string} method
 * @param {string} target
 * @param {object} request
 * @param {object} [more]
 */
function saw(method, target, request, more = {}) {
  const { decision, token } = findAllowed(request) ?? {};
  const text = JSON.stringify({
    method, target, route: decision?.route ?? null, scope: decision?.scope ?? null, kind: token?.kind ?? null,
    consumes: decision?.charge?.consumes ?? null, ...more,
  });
  say(text);
  return text;
}

/**
 * @param {Gate} gate
 * @param {string} policy
 */
function obey(gate, policy) {
  readline.createInterface({ input: process.stdin }).on("line", (command) => {
    if (command === "reload") {
      try {
        gate.reload(policy);
        say("reloaded");
      } catch {
        say("kept");
      }
    } else {
      const misrouted = Object.values(counts.orbgate_misrouted_total ?? {}).reduce((sum, one) => sum + one, 0);
      say(`counted ${JSON.stringify({ ...counts, orbgate_misrouted_total: misrouted })}`);
    }
  });
}

/**
 * The order in which Express must meet them: it takes the first route that fits, and a policy the most literal one.
 * @param {string} one
 * @param {string} other
 */
const literalsFirst = (one, other) => (one.replaceAll("{", "\uffff") < other.replaceAll("{", "\uffff") ? -1 : 1);

/**
 * A template in the words of routers: parameters by number, because a policy's names may have any character.
 * @param {string} template
 */
const asRouters = (template) => template.split("/").map((segment, at) => (segment.startsWith("{") ? `:p${at}` : segment)).join("/");

async function main() {
  const { values, positionals: [framework = "http"] } = parseArgs({
    allowPositionals: true,
    options: { listen: { type: "string" }, policy: { type: "string" }, tokens: { type: "string" }, public: { type: "string", multiple: true }, challenge: { type: "string" }, watch: { type: "string" },
      ungated: { type: "boolean" }, debug: { type: "boolean" }, "refuse-wider": { type: "boolean" }, "charge-sessions": { type: "boolean" }, "sdk-json": { type: "boolean" },
      ...Object.fromEntries(["ledger", "ledger-secret", "ledger-db", "on-cancelled", "on-broken", "ceiling", "on-tool-error", "on-input-required", "mcp", "mcp-origin", "sdk", "work"].map((name) => [name, { type: /** @type {const} */ ("string") }])),
      ...Object.fromEntries(["amount", "bonus"].map((name) => [name, { type: /** @type {const} */ ("string"), multiple: true }])),
    },
  });
  /** @type {any} */
  const { ledger, "ledger-secret": secretFile, "on-cancelled": onCancelled, "on-broken": onBroken, ceiling, "on-tool-error": onToolError, "on-input-required": onInputRequired, mcp, amount = [], bonus = [], debug, "refuse-wider": refuseWider, "charge-sessions": chargeSessions, "mcp-origin": origin, sdk, work, watch } = values;
  const of = (/** @type {string[]} */ routes, /** @type {any} */ value) => Object.fromEntries(routes.map((route) => [route, value]));
  const charging = ledger === undefined ? {} : {
    ledger: new Ledger({ url: ledger, secretFile, onCancelled, onBroken, onToolError, onInputRequired, ...ceiling && { ceiling: Number(ceiling) } }), ...mcp && { mcp: { path: mcp, chargeSessions, origins: origin ? [origin] : [] } }, bonusFromBody: of(bonus, 1000),
    amounts: of(amount, (/** @type {any} */ headers) => Number(headers["x-orbs"])),
  };
  const { listen = "127.0.0.1:0", policy = "", tokens = "", public: open = [], challenge = "minimal", ungated } = values;
  const as = (/** @type {string} */ level) => (/** @type {string} */ text) => console.error(`${level}: ${text}`);
  const log = { info: as("info"), warn: as("warning"), error: as("error") };
  const audit = (/** @type {string} */ line) => say(`audited ${line}`);
  const gate = Gate.fromFiles(policy, tokens, { count, log, public: open, audit, debug, refuseWider, challenge: /** @type {any} */ (challenge), ...charging });
  if (watch) {
    gate.watch(policy, { intervalMs: Number(watch) });
  }
  const declared = mcp ? [mcp] : Engine.fromFile(policy).routes.map(({ template }) => template);
  const templates = [...declared, ...open.map((route) => route.split(" ")[1] ?? "")].sort(literalsFirst).map(asRouters);
  const [host = "", port = "0"] = listen.split(":");
  const serve = /** @type {Record<string, import("./servers.js").Serve>} */ (servers)[framework];
  if (serve === undefined) {
    throw new Error(`what is \`${framework}\`?`);
  }
  const tools = Engine.fromFile(policy).routes.flatMap(({ template }) => template.split("/tools/call/").slice(1));
  const handler = sdk && require("./sdk.js").sdk(sdk, tools, work, values["sdk-json"] === true);
  const at = await serve({ handler, gate: ungated ? null : gate, templates: [...new Set(templates)], saw, host, port: Number(port) });
  say(`listening ${host}:${at}`);
  obey(gate, policy);
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 2;
});
