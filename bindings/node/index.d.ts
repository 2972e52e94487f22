/// <reference lib="esnext.disposable" />
import type * as questions from "./questions.js";

export type { questions };

/**
 * Text as received over the wire: a string is encoded as UTF-8, and bytes are used unchanged. Bytes in a
 * `SharedArrayBuffer` throw a `TypeError`, because another thread could change them while they are read. An unpaired
 * surrogate makes a method or target malformed and a scope unknown; anywhere else it throws a `TypeError`.
 */
export type Text = string | Uint8Array;

/** The kind with this name, for example of a claim: `user`, `organisation`, or `unknown` for any other name. */
export function tokenKind(name: string): TokenKind;

/** A *verified* bearer token. A request without a token has `null`, and is denied as `no_token`. */
export interface Token {
  readonly kind: TokenKind;
  /**
   * The scopes as they are in the token: one string separated by spaces, or a list with one scope per element, for
   * example from a JSON array. Never join a list yourself: an element that contains a space is not a scope, but joined
   * it would become two. An interned set is faster.
   */
  readonly scopes: Text | readonly Text[] | ScopeSet;
}

export interface DecideOptions {
  /** Whether the request contains `allowBonusOrbsUse: true`. The default is false. */
  readonly allowBonusOrbs?: boolean;
}

// cargo xtask codes: codes
/** The kind of token: an unknown kind is denied as `invalid_token`. */
export type TokenKind =
  | "unknown"
  | "user"
  | "organisation";

/** Why a call is allowed. */
export type AllowReason =
  | "scope_not_applicable"
  | "scope_held"
  | "public_route";

/** Why a call is denied. */
export type DenyReason =
  | "malformed_request"
  | "no_token"
  | "invalid_token"
  | "no_route"
  | "method_not_declared"
  | "user_token_required"
  | "scope_missing"
  | "insufficient_orbs"
  | "ledger_unavailable"
  | "insufficient_user_authentication";

/** Which rule a `malformed_request` breaks. */
export type Detail =
  | "method"
  | "length"
  | "byte"
  | "fragment"
  | "form"
  | "backslash"
  | "matrix_param"
  | "path_char"
  | "percent"
  | "bad_escape"
  | "encoded_control"
  | "encoded_delimiter"
  | "encoded_unreserved"
  | "non_ascii"
  | "whitespace"
  | "empty_segment"
  | "dot_segment"
  | "non_canonical_literal"
  | "ambiguous_case"
  | "upgrade"
  | "insufficient"
  | "bonus_not_allowed"
  | "temporarily_held"
  | "frozen"
  | "proof";

/** The HTTP status of a denial. */
export type DenyStatus = 400 | 401 | 402 | 403 | 404 | 405 | 503;
// end of codes

/** Frozen codes: a release may add codes, but never renames one. */
export type Reason = AllowReason | DenyReason;

/** What an allowed call consumes. */
export interface Charge {
  readonly consumes: boolean;
  /** `0n` if the call consumes nothing; `null` if the policy states no amount, so that the service must supply it. */
  readonly amount: bigint | null;
  /** The call consumes orbs, and its request allows bonus orbs. */
  readonly bonusAllowed: boolean;
}

interface Answer {
  /** The API of the route. A decision by scope has the API of the scope; if several declare it, the first by name. */
  readonly api: string | null;
  /** `METHOD /template`; only the template for `method_not_declared`. */
  readonly route: string | null;
  /**
   * The route that the request matches, `METHOD /template`, even without a valid token: it shows which routes were
   * called without one. For logs, not for responses. `null` if no route has the path and the method, and for a decision
   * by scope. Not part of the JSON.
   */
  readonly about: string | null;
  /** The scope that owns the route, or that was asked for. The call needs it, or what `scopes` lists. */
  readonly scope: string | null;
  /**
   * The alternatives of a call that needs more or other than `scope`: a token needs all scopes of one of them. The owner's
   * comes first, and begins with `scope`. `null` if the call needs just `scope`; the JSON then lacks it.
   */
  readonly scopes: readonly (readonly string[])[] | null;
  /** The digest of the policy that decided, `sha256:…`. */
  readonly policy: string;
  /** The same JSON as in every other interface. An amount that a double cannot represent becomes a string. */
  toJSON(): Record<string, unknown>;
}

/** The call is allowed. */
export interface Allow extends Answer {
  readonly isAllow: true;
  readonly decision: "allow";
  readonly httpStatus: null;
  readonly reason: AllowReason;
  readonly detail: null;
  /** `null` if the policy doesn't state it. */
  readonly charge: Charge | null;
  readonly declaredMethods: null;
}

/** The call is denied. */
export interface Deny extends Answer {
  readonly isAllow: false;
  readonly decision: "deny";
  /** The HTTP status of the response. */
  readonly httpStatus: DenyStatus;
  readonly reason: DenyReason;
  /** Which rule a malformed request breaks. */
  readonly detail: Detail | null;
  readonly charge: null;
  /** The methods that the path declares, for the `Allow` header of a 405; `null` for every other reason. Not part of the JSON. */
  readonly declaredMethods: readonly string[] | null;
}

/** An immutable value. Equal decisions of an engine are the same object, so you can compare them with `===`. */
export type Decision = Allow | Deny;

/** Identifies a route of a policy. It is the same in every process, and never accepted as a route of another policy. */
export interface RouteId {
  readonly high: bigint;
  readonly low: bigint;
}

/** A route of an engine. */
export interface Route {
  readonly id: RouteId;
  /** `METHOD /template`. */
  readonly route: string;
  readonly method: string;
  /** The path template, including the base path of the API. */
  readonly template: string;
  /** The scope that owns it. */
  readonly scope: string;
  /**
   * The alternatives that a call needs: all scopes of one of them. The owner's comes first, and begins with `scope`; most
   * routes need only `scope`.
   */
  readonly scopes: readonly (readonly string[])[];
  readonly api: string;
  /** The methods that the template declares, in alphabetical order, for the `Allow` header of a 405. */
  readonly methods: readonly string[];
}

/** A `URL` with the scheme `file`. */
export interface FileUrl {
  readonly href: string;
  readonly protocol: string;
}

/**
 * A compiled, immutable policy. `close()`, the end of a `using` block, or garbage collection frees its memory. A
 * closed engine throws. The end of a worker frees nothing, so close the worker's engines before it ends.
 */
export class Engine implements Disposable {
  private constructor();
  /** The policy that is compiled into the library: the table of the specification. */
  static external(): Engine;
  /** Compiles a policy from YAML. Throws a `PolicyError` that lists every error. */
  static fromYaml(yaml: Text): Engine;
  /** Compiles a policy file; blocks while it reads the file. Throws a `PolicyError` that lists every error. */
  static fromFile(path: Text | FileUrl): Engine;

  /** The policy's digest, `sha256:…`. */
  readonly digest: string;
  /** The policy's name. */
  readonly name: string | null;
  /**
   * Whether the policy ends with YAML's end marker, the line `...`. A file that is still being written, or was
   * truncated, may be a valid policy with fewer routes, but lacks the marker: reject it if you reload files that
   * change.
   */
  readonly hasEndMarker: boolean;
  /**
   * Whether the end marker carries a seal, the digest of everything before it, as written by `orbgate fmt --seal`. A
   * policy with a wrong seal is invalid, so a sealed policy is exactly the text that was sealed: neither truncated nor
   * a mixture of two versions.
   */
  readonly isSealed: boolean;
  /** Every route of the policy. Created on first access. */
  readonly routes: readonly Route[];

  /** Decides a request. Pass method and target as received, neither decoded nor normalised: in `node:http`, the target is `request.url`. */
  decide(method: Text, target: Text, token: Token | null, options?: DecideOptions): Decision;
  /** Decides by scope, for a service whose routes are not in the policy. */
  decideScope(scope: Text, token: Token | null, options?: DecideOptions): Decision;
  /** Decides by route, for a server whose router has already found it: nothing is parsed. An id of another policy is denied. */
  decideRoute(route: RouteId, token: Token | null, options?: DecideOptions): Decision;
  /** Decides every row in one call. Throws before the first row if a column is invalid. */
  decideBatch(batch: Batch): Decisions;

  /**
   * The id of a route, by its method and template, for example `GET` and `/api/v1/external/voxies/{voxieId}`. Call it when the
   * server starts.
   */
  findRoute(method: Text, template: Text): RouteId | null;
  /** Interns the scopes of a token: one string separated by spaces, or a list with one scope per element. */
  scopeSet(scopes: Text | readonly Text[]): ScopeSet;

  /**
   * Answers a question about the policy: `check`, `diff`, `explain`, `lint`, `needs`, `reach`, `table`, `unused` or `who`. The answer is
   * the JSON of `orbgate QUESTION --json`, with amounts as `bigint`. Each question also has a method with types.
   */
  ask(question: string, given: object): unknown;
  // cargo xtask codes: questions
  /** Reports the errors and warnings of a policy. Throws an `OrbgateError` for invalid arguments. */
  check(given: questions.CheckArguments): questions.Checks;
  /** Lists the changes for callers if another policy replaces this one. Throws an `OrbgateError` for invalid arguments. */
  diff(given: questions.DiffArguments): questions.Comparison;
  /** Explains why a call is allowed or denied. Throws an `OrbgateError` for invalid arguments. */
  explain(given: questions.ExplainArguments): questions.Explanation;
  /** Finds likely mistakes in a policy. Throws an `OrbgateError` for invalid arguments. */
  lint(given: questions.LintArguments): questions.Lints;
  /** Finds the smallest set of scopes for a list of calls. Throws an `OrbgateError` for invalid arguments. */
  needs(given: questions.NeedsArguments): questions.Needs;
  /** Lists everything that a token can call. Throws an `OrbgateError` for invalid arguments. */
  reach(given: questions.ReachArguments): questions.Reach;
  /** Returns the whole policy. Throws an `OrbgateError` for invalid arguments. */
  table(): questions.Table;
  /** Counts how often tokens had each scope and used it. Throws an `OrbgateError` for invalid arguments. */
  unused(given: questions.UnusedArguments): questions.Usage;
  /** Decides which tokens may make a call. Throws an `OrbgateError` for invalid arguments. */
  who(given: questions.WhoArguments): questions.Callers;
  // end of questions

  close(): void;
  [Symbol.dispose](): void;
}

/**
 * A token's scopes as a bit set, created by `Engine.scopeSet`. An engine of another policy treats it as empty, and
 * denies.
 */
export class ScopeSet implements Disposable {
  private constructor();
  close(): void;
  [Symbol.dispose](): void;
}

/** Holds an engine that you can replace at run time. Each decision comes from exactly one engine; its `policy` identifies it. */
export class Handle {
  constructor(engine: Engine);
  /** The current engine, for several questions to the same policy. */
  load(): Engine;
  /** Replaces the engine, and returns the previous one, which the caller may close. */
  store(engine: Engine): Engine;
  /** `Engine.decide` with the current engine. */
  decide(method: Text, target: Text, token: Token | null, options?: DecideOptions): Decision;
}

/**
 * A column of strings in Arrow's utf8 layout: row `i` is the bytes `offsets[i]` to `offsets[i + 1]` of `data`. Neither
 * array may be in a `SharedArrayBuffer`, because another thread could change offsets between check and use: that throws
 * a `TypeError`.
 */
export class Column {
  constructor(data: Uint8Array, offsets: Uint32Array | Int32Array);
  /** Builds a column. Keep it if you use the same strings several times. */
  static from(texts: readonly Text[]): Column;
  readonly data: Uint8Array;
  readonly offsets: Uint32Array | Int32Array;
  readonly length: number;
}

/** A column of tokens. Either all have their scopes as strings, or all have interned sets. Keep it if you use it for several batches. */
export class Tokens {
  private constructor();
  static from(tokens: readonly (Token | null)[]): Tokens;
  readonly length: number;
}

/** Requests as columns, each with one row per request. */
export interface Batch {
  readonly methods: Column | readonly Text[];
  readonly targets: Column | readonly Text[];
  /** One token for all rows. If both `token` and `tokens` are missing, no row has a token. */
  readonly token?: Token | null;
  /** The token of each row. Either all have their scopes as strings, or all have interned sets. */
  readonly tokens?: Tokens | readonly (Token | null)[];
  /** One value for all rows, or one per row. */
  readonly allowBonusOrbs?: boolean | readonly boolean[];
}

/** The decisions of a batch, in the order of its rows. */
export class Decisions implements Iterable<Decision> {
  private constructor();
  readonly length: number;
  /** Whether the call of a row is allowed: a single comparison. False for a row that doesn't exist. */
  isAllow(row: number): boolean;
  /** The decision of a row. Throws a `RangeError` if the row doesn't exist. */
  at(row: number): Decision;
  [Symbol.iterator](): Iterator<Decision>;
}

/** A call failed. A denial is never an error. */
export class OrbgateError extends Error {
  /** For example `invalid_argument`; `closed` if the object is closed. */
  readonly code: "invalid_argument" | "invalid_policy" | "io" | "not_found" | "panic" | "closed" | (string & {});
}

/** One error in a policy. */
export interface Diagnostic {
  /** From 1. */
  readonly line: number;
  /** In characters, from 1. */
  readonly column: number;
  /** Lower case, no final period, without the location. */
  readonly message: string;
}

/**
 * A policy that is invalid, or a file that cannot be read, whose `cause` is the error of Node.js. `message` has a line
 * `[path:]line:column: …` for each error.
 */
export class PolicyError extends OrbgateError {
  /** Line of the first error; 0 if the error has none. */
  readonly line: number;
  readonly column: number;
  /** The path as it was passed. */
  readonly path: string | null;
  /** Every error, in the order of the file. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The version of the library, for example `0.1.0`. */
export const version: string;
