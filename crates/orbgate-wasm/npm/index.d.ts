/** Why a call has no answer. A trap of the module is a `WebAssembly.RuntimeError`, after which its `Orbgate` is good for nothing. */
export class OrbgateError extends Error {
  readonly status: "invalid_argument" | "invalid_policy" | "not_found";
  /** The errors of a policy. */
  readonly diagnostics: readonly Diagnostic[];
}

/** An instance of the module. It takes one call at a time. */
export class Orbgate {
  /** Compile `orbgate_wasm.wasm` with `WebAssembly.compile`. */
  constructor(module: WebAssembly.Module);
  about(): About;
  /** The bytes of its memory, which never shrinks. */
  readonly size: number;
  /** Makes an engine from the text of a policy file. Throws an `OrbgateError` that names every error. */
  load(policy: string): Engine;
}

/** The module's version, and what its codes mean, in words. */
export interface About {
  version: string;
  reasons: Record<string, string>;
  details: Record<string, string>;
  missing_steps: Record<string, string>;
}

/** A compiled policy. Its memory is the module's until `close()`. */
export interface Engine {
  /** The policy's digest, `sha256:…`. */
  readonly policy: string;
  /** Asks a question. Throws an `OrbgateError`. */
  ask<Q extends keyof Questions>(question: Q, ...given: Given<Questions[Q][0]>): Questions[Q][1];
  /** The same in JSON, as `orbgate QUESTION --json` prints it. */
  askJson(question: string, given?: string): string;
  close(): void;
}

type Given<A> = Record<string, never> extends A ? [given?: A] : [given: A];

/** Reads an answer; amounts become `bigint`. */
export function read(json: string): unknown;

/** Each question with its arguments and its answer. */
export interface Questions {
  check: [PolicyText, Files<Checked>];
  diff: [{ policy: string; fail_on?: Failing[] }, Compared];
  explain: [{ request: RequestWithToken; declared?: string; requested?: string }, Explained];
  lint: [PolicyText & { levels?: Record<string, Level | "off"> }, Files<Linted>];
  needs: [{ token?: "user" | "organisation"; calls: Asked[] }, Needs];
  reach: [{ token: Token }, Reach];
  table: [Record<string, never>, Table];
  unused: [{ calls: RequestWithToken[] }, Unused];
  who: [{ method: string; target: string; tokens: { name?: string; token: Token | null }[] }, Who];
}

/** `user` and `organisation`; any other kind is unknown. */
export interface Token {
  kind: string;
  /** One text, separated by spaces, or a list. */
  scopes?: string | string[];
}

export type Asked = { method: string; target: string } | { scope: string };
export type RequestWithToken = Asked & { token?: Token | null; allow_bonus_orbs_use?: boolean };

export interface PolicyText {
  policy: string;
  /** Its name in the answer. */
  file?: string;
}

/** Both count from 1; a column counts characters. */
export interface Location {
  line: number;
  column: number;
}

export interface Diagnostic {
  location: Location;
  message: string;
}

export interface Files<F> {
  files: [F];
}

export interface Checked {
  file: string;
  policy: string | null;
  diagnostics: Diagnostic[];
  warnings: Diagnostic[];
}

export type Level = "error" | "warning" | "note";

export interface Linted {
  file: string;
  policy: string | null;
  complete: boolean;
  diagnostics: Diagnostic[];
  findings: Finding[];
}

export interface Finding extends Diagnostic {
  code: string;
  level: Level;
  other: Location | null;
  suppressed: string | null;
}

/** What a route or a scope consumes. The amount is null where the policy states none. */
export interface Orbs {
  consumes: boolean;
  amount: bigint | null;
}

export interface Charge extends Orbs {
  bonus_allowed: boolean;
}

export interface Decision {
  decision: "allow" | "deny";
  status: number | null;
  reason: string;
  detail: string | null;
  api: string | null;
  route: string | null;
  scope: string | null;
  orbs: Charge | null;
  policy: string;
}

export interface Explained extends Decision {
  missing_step: string | null;
  orbs_if_allowed?: Charge;
  /** How many bytes of a malformed target are in order. */
  in_order?: number;
  rules?: { rule: string; detail: string; state: "pass" | "fail" | "not_reached" }[];
  near?: { route: string; location: Location; why: string; meant: string | null }[];
}

export interface First {
  at: number;
  call: string;
}

export interface Needs {
  policy: string;
  kind: string;
  calls: number;
  scopes: string[];
  needs: { scope: string; calls: number; first: First }[];
  refusals: { reason: string; detail: string | null; route: string | null; calls: number; first: First }[];
}

export interface Reach {
  policy: string;
  token: { kind: string; scopes: string };
  allowed: { route: string | null; scope: string; orbs: Orbs | null; reason: string; location: Location }[];
}

export interface Table {
  policy: string;
  name: string | null;
  target: string;
  apis: Api[];
}

export interface Api {
  name: string;
  token: string | null;
  organisation: string | null;
  scopes: Scope[];
}

export interface Scope {
  scope: string;
  permits: string | null;
  orbs: Orbs | null;
  location: Location;
  routes: { route: string; method: string; template: string; orbs: Orbs | null; location: Location }[];
}

export interface Unused {
  policy: string;
  calls: number;
  without_token: number;
  unused: string[];
  scopes: { scope: string; granted: number; used: number; in_policy: boolean; last: { line: number; time: string | null } | null }[];
}

export interface Who {
  policy: string;
  method: string;
  target: string;
  tokens: { name: string; line: number; decision: Decision }[];
}

export type Failing = "wider" | "narrower" | "cheaper" | "costlier" | "other-cost" | "removed";

export interface Compared {
  old: string;
  new: string;
  verdict: string;
  widens: boolean;
  complete: boolean;
  left_out: number;
  changes: Change[];
  fails: string[];
}

/** The rule that decides a call. */
export interface Rule {
  route: string | null;
  scope: string | null;
  orbs: Orbs | null;
  organisation: string | null;
  location: Location;
}

export interface Change {
  asked: Asked;
  before: Rule | null;
  after: Rule | null;
  /** A call that only the new policy allows. */
  wider: RequestWithToken | null;
  /** A call that only the old policy allows. */
  narrower: RequestWithToken | null;
  cost: "less" | "more" | "unknown" | null;
  /** A call that both allow, and that consumes another amount. */
  payer: RequestWithToken | null;
  removed: boolean;
}
