// Answers the requests of policy/cases/run.py with the package.
"use strict";
const fs = require("node:fs");
const { Engine } = require("orbgate");

/** @typedef {{ number: number, form: string, decision: import("orbgate").Decision }} Answer */

/** @param {Answer} answer */
function line({ number, form, decision }) {
  const { decision: effect, httpStatus, reason, detail, api, route, scope, charge, about } = decision;
  const orbs = charge && `${charge.consumes} ${charge.amount} ${charge.bonusAllowed}`;
  return [number, form, effect, httpStatus, reason, detail, api, route, scope, orbs, about].map((cell) => cell ?? "").join("\t");
}

/**
 * The answers to rows from a number on, one by one and in a batch, with scopes as text and interned.
 * @param {Engine} engine
 * @param {string[]} lines
 * @param {number} first
 * @returns {Answer[]}
 */
function answers(engine, lines, first) {
  const rows = lines.map((text, at) => {
    const [method, target, byScope, scopes, kind, bonus, verb, template] = /** @type {any} */ (text.split("\t"));
    const [methodBytes, targetBytes, scope, held] = [method, target, byScope, scopes].map((cell) => Buffer.from(cell, "hex"));
    return { number: first + at, method: methodBytes, target: targetBytes, scope, scopes: held, kind, bonus: bonus === "yes", verb, template };
  });
  return ["", " set"].flatMap((way) => {
    /** @param {any} row */
    const token = ({ kind, scopes }) => (kind === "" ? null : { kind, scopes: way === "" ? scopes : engine.scopeSet(scopes) });
    const singles = rows.flatMap((row) => {
      const options = { allowBonusOrbs: row.bonus };
      const decision = row.scope?.length ? engine.decideScope(row.scope, token(row), options)
        : engine.decide(row.method ?? "", row.target ?? "", token(row), options);
      const single = { number: row.number, form: `single${way}`, decision };
      const route = row.verb === "" ? null : engine.findRoute(row.verb, row.template);
      return route === null ? [single] : [single, { ...single, form: `route${way}`, decision: engine.decideRoute(route, token(row), options) }];
    });
    const byPath = rows.filter(({ scope }) => scope?.length === 0);
    const decisions = engine.decideBatch({
      methods: byPath.map(({ method }) => method ?? ""),
      targets: byPath.map(({ target }) => target ?? ""),
      tokens: byPath.map(token),
      allowBonusOrbs: byPath.map(({ bonus }) => bonus),
    });
    return [...singles, ...byPath.map(({ number }, at) => ({ number, form: `batch${way}`, decision: decisions.at(at) }))];
  });
}

const lines = fs.readFileSync(0, "latin1").split("\n");
let number = 0;
for (let at = 0; lines[at]; ) {
  const [count, file] = /** @type {[string, string]} */ (lines[at]?.split("\t"));
  const engine = file === "" ? Engine.external() : Engine.fromFile(file);
  const end = at + 1 + Number(count);
  fs.writeSync(1, answers(engine, lines.slice(at + 1, end), number).map((answer) => `${line(answer)}\n`).join(""));
  number += Number(count);
  at = end;
}
