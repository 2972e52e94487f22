// Puts every row of policy/cases through the public interface: see policy/cases/README.md.
//
//   node conformance.js CASES    prints every failed case, then `ran N cases`; exits 1 if a case failed
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { Engine } = require("orbgate");

const COLUMNS = "name policy method target by_scope kind scopes bonus decision status reason detail api route scope orbs".split(" ");
const ANSWERS = COLUMNS.slice(8);

/** @typedef {Record<string, string>} Row */
/** @typedef {import("orbgate").Decision} Decision */
/** @typedef {{ location: string, row: Row }} Case */

/**
 * `\xNN` is a byte and `\\` a backslash.
 * @param {string} cell
 */
function unescape(cell) {
  const text = cell.replace(/\\(\\|x([0-9a-fA-F]{2})|)/g, (all, escape, byte) => {
    if (escape === "") {
      throw new Error(`bad escape in \`${cell}\``);
    }
    return byte === undefined ? "\\" : String.fromCharCode(parseInt(byte, 16));
  });
  return Buffer.from(text, "latin1");
}

/** @param {Decision} decision */
function orbs({ charge }) {
  if (charge === null) {
    return "";
  }
  if (!charge.consumes) {
    return charge.amount === 0n && !charge.bonusAllowed ? "free" : "free with an amount";
  }
  return (charge.amount ?? "unstated") + (charge.bonusAllowed ? " bonus" : "");
}

/**
 * @param {Decision} decision
 * @returns {string[]}
 */
function answer(decision) {
  const { decision: effect, httpStatus, reason, detail, api, route, scope } = decision;
  return [effect, httpStatus, reason, detail, api, route, scope, orbs(decision)].map((cell) => String(cell ?? ""));
}

/**
 * A row's token, of any kind: with its scopes as text, and interned.
 * @param {Engine} engine
 * @param {Row} row
 */
function tokens(engine, row) {
  if (row.kind === "") {
    return [null, null];
  }
  const [kind, scopes] = [/** @type {any} */ (row.kind), unescape(row.scopes)];
  return [{ kind, scopes }, { kind, scopes: engine.scopeSet(scopes) }];
}

/**
 * @param {Engine} engine
 * @param {Row} row
 * @param {import("orbgate").Token | null} token
 */
function ask(engine, row, token) {
  const options = { allowBonusOrbs: row.bonus === "yes" };
  return row.by_scope === "" ? engine.decide(unescape(row.method), unescape(row.target), token, options)
    : engine.decideScope(unescape(row.by_scope), token, options);
}

/**
 * The cases of a file.
 * @param {string} file
 * @returns {Case[]}
 */
function read(file) {
  const names = new Set();
  // A character of latin1 is a byte: `unescape` gives the bytes back.
  const lines = fs.readFileSync(file, "latin1").split("\n").map((line, at) => ({ line, location: `${path.basename(file)}:${at + 1}` }));
  const [header, ...rows] = lines.filter(({ line }) => line !== "" && !line.startsWith("#"));
  if (header?.line !== COLUMNS.join("\t")) {
    throw new Error(`${header?.location ?? file}: not the header row`);
  }
  return rows.map(({ line, location }) => {
    const cells = line.split("\t");
    const row = Object.fromEntries(COLUMNS.map((column, at) => [column, cells[at] ?? ""]));
    if (cells.length !== COLUMNS.length || names.has(row.name)) {
      throw new Error(`${location}: not 16 cells, or the name is taken`);
    }
    names.add(row.name);
    return { location, row };
  });
}

/**
 * Says what is wrong with an answer, and whether anything is.
 * @param {string} how
 * @param {Case} one
 * @param {Decision} decision
 */
function differs(how, { location, row }, decision) {
  const wrong = answer(decision).flatMap((cell, at) => {
    const column = /** @type {string} */ (ANSWERS[at]);
    return cell === row[column] ? [] : [`${location}: ${row.name}: ${how}: ${column} is \`${cell}\`, not \`${row[column]}\``];
  });
  wrong.forEach((line) => console.log(line));
  return wrong.length > 0;
}

/**
 * Says whether a decision is about the route that the same request is decided by when its token is some user's.
 * @param {Engine} engine
 * @param {Case} one
 * @param {Decision} decision
 */
function isAboutAnother(engine, { location, row }, decision) {
  const named = row.by_scope === "" ? ask(engine, row, { kind: "user", scopes: "" }) : null;
  const about = named?.scope ? named.route : null;
  if (decision.about !== about) {
    console.log(`${location}: ${row.name}: it is about \`${decision.about}\`, not \`${about}\``);
  }
  return decision.about !== about;
}

/**
 * The cases of one policy that ask by route, in one batch for each way to give the scopes.
 * @param {Engine} engine
 * @param {Case[]} cases
 */
function batches(engine, cases) {
  const asked = cases.filter(({ row }) => row.by_scope === "");
  const each = asked.map(({ row }) => tokens(engine, row));
  return ["batch, scopes as text", "batch, scopes interned"].flatMap((how, way) => {
    const decisions = engine.decideBatch({
      methods: asked.map(({ row }) => unescape(row.method)),
      targets: asked.map(({ row }) => unescape(row.target)),
      tokens: each.map((one) => one[way] ?? null),
      allowBonusOrbs: asked.map(({ row }) => row.bonus === "yes"),
    });
    return asked.map((one, at) => ({ how, one, decision: decisions.at(at) }));
  });
}

/**
 * The engines of a policy; the specification's policy has two: read from its file, and compiled in.
 * @param {string} folder
 * @param {string} policy
 */
function load(folder, policy) {
  return policy === "external" ? [Engine.fromFile(path.join(folder, "..", "external.yaml")), Engine.external()]
    : [Engine.fromFile(path.join(folder, "policies", `${policy}.yaml`))];
}

/** @param {string} folder */
function run(folder) {
  const files = fs.readdirSync(folder).filter((name) => name.endsWith(".tsv")).sort();
  const cases = files.flatMap((name) => read(path.join(folder, name)));
  const engines = [...byPolicy(cases)].flatMap(([policy, some]) => load(folder, policy).map((engine) => ({ engine, some })));
  const failed = new Set();
  let ran = 0;
  for (const { engine, some } of engines) {
    ran += some.length;
    const singles = some.flatMap((one) => tokens(engine, one.row).map((token, way) => (
      { how: way === 0 ? "scopes as text" : "scopes interned", one, decision: ask(engine, one.row, token) }
    )));
    for (const { how, one, decision } of [...singles, ...batches(engine, some)]) {
      if (differs(how, one, decision) || isAboutAnother(engine, one, decision)) {
        failed.add(one.location);
      }
    }
  }
  if (failed.size > 0) {
    console.log(`${failed.size} failed`);
  }
  console.log(`ran ${ran} cases`);
  return failed.size === 0 && ran > 0;
}

/**
 * What Map.groupBy does, which Node 20 lacks.
 * @param {Case[]} cases
 */
function byPolicy(cases) {
  /** @type {Map<string, Case[]>} */
  const groups = new Map();
  for (const one of cases) {
    groups.set(one.row.policy, [...(groups.get(one.row.policy) ?? []), one]);
  }
  return groups;
}

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error("usage: node conformance.js CASES");
  process.exitCode = 2;
} else if (!run(folder)) {
  process.exitCode = 1;
}
