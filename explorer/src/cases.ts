// Cases as a test file, which `orbgate test` reads.
import type { Explanation } from "./protocol.js";
import type { Call, Case } from "./state.js";

/** The cell that says what a decision is. */
export function expected(decision: Explanation): string {
  const words = [decision.detail ?? decision.reason];
  if (decision.decision === "allow") {
    const { orbs } = decision;
    words.unshift("allow");
    words.push(orbs === null ? "unknown" : !orbs.consumes ? "free" : orbs.amount === null ? "unstated" : String(orbs.amount));
    if (orbs !== null) {
      words.push(orbs.bonus_allowed ? "bonus" : "no_bonus");
    }
  }
  return words.join(" ");
}

/** A test file. Each case is a mapping in JSON's quotes, which holds any text. */
export function file(cases: readonly Case[], policy: string): string {
  const head = ["orbgate_test: 1", `policy: ${JSON.stringify(policy)}`, "cases:"];
  return [...head, ...cases.map(one)].join("\n") + "\n";
}

function one({ call, expected, route }: Case): string {
  const lines = [
    `request: ${JSON.stringify(request(call))}`,
    `token: ${JSON.stringify(token(call))}`,
    `expect: ${expected}`,
    ...(route === null ? [] : [`route: ${JSON.stringify(route)}`]),
  ];
  return `  - ${lines.join("\n    ")}`;
}

/** `METHOD TARGET` or `scope SCOPE`, and whether bonus orbs are allowed. */
export function request(call: Call): string {
  const subject = call.by === "scope" ? `scope ${call.scope}` : `${call.method} ${call.target}`;
  return call.bonus ? `${subject} bonus` : subject;
}

export const token = (call: Call) => [call.kind, ...(call.kind === "none" ? [] : call.scopes)].join(" ");
