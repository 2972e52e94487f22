// What a decision takes from Node, in nanoseconds, each the best of some rounds, because noise only adds.
//
//   node bench.js          the routes of the built-in policy, in random order
//   node bench.js FILE FOLDER     the requests of the file, METHOD TAB TARGET TAB SCOPES, all of which must be allowed, and the
//                                 questions of the folder
//
//   empty     a call that does nothing; not over WebAssembly
//   single    one call, scopes interned
//   route     one call by route
//   batch     a decision in batches of 256, columns laid out before
//   filled    the same, from arrays of strings
//   explain, reach              a question
//   explain-read, reach-read    JSON.parse of its answer, which is a part of that
"use strict";
const fs = require("node:fs");
const koffi = require("koffi");
const { Column, Engine, Tokens } = require("orbgate");

const ROUNDS = 400;
const BATCH = 256;
const REQUESTS = 16_384;
const ASKED = 200;

const engine = Engine.external();

/** @type {Map<string, import("orbgate").Token>} */
const tokens = new Map();

/**
 * @param {string} method
 * @param {string} target
 * @param {string} scopes
 */
function request(method, target, scopes) {
  const token = tokens.get(scopes) ?? { kind: "user", scopes: engine.scopeSet(scopes) };
  tokens.set(scopes, token);
  return { method, target, token };
}

/** @typedef {ReturnType<typeof request>} Request */

/** @param {string} file */
function read(file) {
  const lines = fs.readFileSync(file, "utf8").split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const [method = "", target = "", scopes = ""] = line.split("\t");
    return request(method, target, scopes);
  });
}

function routes() {
  let seed = 1;
  return Array.from({ length: REQUESTS }, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    const route = engine.routes[seed % engine.routes.length];
    return request(route?.method ?? "", route?.template.replace(/\{\w+\}/g, String(seed)) ?? "", route?.scope ?? "");
  });
}

/**
 * Times a share of the requests in each round, short enough to fit between two interruptions.
 * @template T
 * @param {string} name
 * @param {T[]} asks
 * @param {number} each how many requests are in one of them
 * @param {(ask: T) => number} allowed how many of these are allowed, which must be all
 */
function time(name, asks, each, allowed) {
  let best = Infinity;
  const share = Math.ceil(1024 / each);
  for (let round = 0; round < ROUNDS; round++) {
    const some = asks.slice((round * share) % asks.length).slice(0, share);
    let count = 0;
    const start = process.hrtime.bigint();
    for (const ask of some) {
      count += allowed(ask);
    }
    const taken = Number(process.hrtime.bigint() - start);
    best = Math.min(best, taken / (some.length * each));
    if (count !== some.length * each) {
      throw new Error(`${name}: ${count} of ${some.length * each} were allowed`);
    }
  }
  console.log(`${name} ${best.toFixed(2)}`);
}

/**
 * Asks a question of the folder, and compares each answer.
 * @param {import("orbgate").Engine} engine
 * @param {string} folder
 * @param {"explain" | "reach"} question
 */
function ask(engine, folder, question) {
  const given = JSON.parse(fs.readFileSync(`${folder}/${question}.json`, "utf8"));
  const expected = fs.readFileSync(`${folder}/${question}.answer.json`, "utf8");
  let [best, bestOfReading] = [Infinity, Infinity];
  for (let times = 0; times < ASKED; times++) {
    const start = process.hrtime.bigint();
    const answer = engine[question](given);
    const between = process.hrtime.bigint();
    JSON.parse(expected);
    bestOfReading = Math.min(bestOfReading, Number(process.hrtime.bigint() - between));
    best = Math.min(best, Number(between - start));
    if (JSON.stringify(answer, (_, value) => (typeof value === "bigint" ? Number(value) : value)) !== expected) {
      throw new Error(`${question}: another answer`);
    }
  }
  console.log(`${question} ${best}\n${question}-read ${bestOfReading}`);
}

/** @param {import("orbgate").Decisions} decisions */
function allowedOf(decisions) {
  let allowed = 0;
  for (let row = 0; row < decisions.length; row++) {
    allowed += decisions.isAllow(row) ? 1 : 0;
  }
  return allowed;
}

/** @param {Request[]} requests */
function batches(requests) {
  const starts = Array.from({ length: Math.floor(requests.length / BATCH) }, (_, at) => at * BATCH);
  return starts.map((start) => {
    const rows = requests.slice(start, start + BATCH);
    const [methods, targets] = [rows.map(({ method }) => method), rows.map(({ target }) => target)];
    const tokens = Tokens.from(rows.map(({ token }) => token));
    return {
      laidOut: { methods: Column.from(methods), targets: Column.from(targets), tokens },
      strings: { methods, targets, tokens },
    };
  });
}

const [file, folder] = process.argv.slice(2);
const requests = file === undefined ? routes() : read(file);
const columns = batches(requests);
const byRoute = engine.routes.map(({ id, scope }) => ({ id, token: request("", "", scope).token }));
const library = process.env.ORBGATE_LIBRARY ?? "liborbgate.so.1";

if (!library.endsWith(".wasm")) {
  const empty = koffi.load(library).func("orbgate_abi_version", "uint32_t", []);
  time("empty", requests, 1, () => (empty() === 0 ? 0 : 1));
}
time("single", requests, 1, ({ method, target, token }) => (engine.decide(method, target, token).isAllow ? 1 : 0));
time("route", byRoute, 1, ({ id, token }) => (engine.decideRoute(id, token).isAllow ? 1 : 0));
time("batch", columns, BATCH, ({ laidOut }) => allowedOf(engine.decideBatch(laidOut)));
time("filled", columns, BATCH, ({ strings }) => allowedOf(engine.decideBatch(strings)));
if (folder !== undefined) {
  const wide = Engine.fromFile(`${folder}/policy.yaml`);
  ask(wide, folder, "explain");
  ask(wide, folder, "reach");
}
