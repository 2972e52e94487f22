/// <reference lib="esnext.disposable" />

/**
 * A text as it came over the wire: a string is taken as UTF-8, bytes are taken as they are. Bytes in a `SharedArrayBuffer`
 * are a `TypeError`: another thread could change them while they are read. Half of a surrogate pair makes a method or target malformed
 * and a scope none; anywhere else it is a `TypeError`.
 */
export type Text = string | Uint8Array;

/** The kind of a name that comes from outside, as of a claim: `user` and `organisation`, any other is `unknown`. */
export function tokenKind(name: string): TokenKind;

/** A *verified* bearer token. `null` is not a token, denied as `no_token`. */
export interface Token {
  readonly kind: TokenKind;
  /**
   * As the token has them: one text separated by spaces, or a list whose elements are one scope each, as from a JSON array. Never join
   * a list yourself: an element with a space in it is no scope, and would become two. Interned, they are faster.
   */
  readonly scopes: Text | readonly Text[] | ScopeSet;
}

export interface DecideOptions {
  /** The request says `allowBonusOrbsUse: true`. Without it: false. */
  readonly allowBonusOrbs?: boolean;
}

// cargo xtask codes: codes
/** Whose token it is: an unknown kind is denied as `invalid_token`. */
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
  | "scope_missing";

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
  | "upgrade";

/** The HTTP status of a denial. */
export type DenyStatus = 400 | 401 | 403 | 404 | 405;
// end of codes

/** Frozen codes: a release may add one, and never renames one. */
export type Reason = AllowReason | DenyReason;

/** What an allowed call consumes. */
export interface Charge {
  readonly consumes: boolean;
  /** `0n` where nothing is consumed; `null` where the policy states no amount, so the service must supply it. */
  readonly amount: bigint | null;
  /** The call consumes orbs, and its request allows bonus orbs. */
  readonly bonusAllowed: boolean;
}

interface Answer {
  /** The api of the route; asked by scope, that of the scope, the first by name of several. */
  readonly api: string | null;
  /** `METHOD /template`; for `method_not_declared` the template alone. */
  readonly route: string | null;
  /**
   * The route that the request is about, `METHOD /template`, even without a valid token: so it says which routes were called without
   * one. For logs, not for answers. `null` if no route has the path and the method, and if a scope was asked for. Not in the JSON.
   */
  readonly about: string | null;
  /** The scope that the call needs. */
  readonly scope: string | null;
  /** The digest of the policy that decided, `sha256:…`. */
  readonly policy: string;
  /** The JSON of every other interface. An amount that a double cannot hold becomes a string. */
  toJSON(): Record<string, unknown>;
}

/** The call may be made. */
export interface Allow extends Answer {
  readonly isAllow: true;
  readonly decision: "allow";
  readonly httpStatus: null;
  readonly reason: AllowReason;
  readonly detail: null;
  /** `null` where the policy states no orb column. */
  readonly charge: Charge | null;
  readonly declaredMethods: null;
}

/** The call must be refused. */
export interface Deny extends Answer {
  readonly isAllow: false;
  readonly decision: "deny";
  /** The HTTP status to answer with. */
  readonly httpStatus: DenyStatus;
  readonly reason: DenyReason;
  /** Which rule a malformed request breaks. */
  readonly detail: Detail | null;
  readonly charge: null;
  /** The methods that the path declares, for the `Allow` header of a 405; `null` with every other reason. Not in the JSON. */
  readonly declaredMethods: readonly string[] | null;
}

/** A frozen value. Equal decisions of an engine are one object, so `===` compares them. */
export type Decision = Allow | Deny;

/** Names a route of a policy: the same in every process, and never taken for a route of another policy. */
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
  /** The path template, the api's base path included. */
  readonly template: string;
  readonly scope: string;
  readonly api: string;
  /** The methods that the template declares, in alphabetical order: for the `Allow` header of a 405. */
  readonly methods: readonly string[];
}

/** A `URL` of the scheme `file`. */
export interface FileUrl {
  readonly href: string;
  readonly protocol: string;
}

/**
 * A compiled, immutable policy. Its memory is freed by `close()`, at the end of a `using` block, or when the object
 * is collected. A closed engine throws. Nothing is collected when a worker ends: close what you open in it before.
 */
export class Engine implements Disposable {
  private constructor();
  /** The policy that is compiled into the library: the table of the specification. */
  static external(): Engine;
  /** Compiles the text of a policy file. Throws a `PolicyError` that names every error. */
  static fromYaml(yaml: Text): Engine;
  /** Compiles a policy file; blocks while it is read. Throws a `PolicyError` that names every error. */
  static fromFile(path: Text | FileUrl): Engine;

  /** The policy's digest, `sha256:…`. */
  readonly digest: string;
  /** The policy's name. */
  readonly name: string | null;
  /**
   * Whether the policy's text ends in YAML's end marker, the line `...`. A file that is still being written, or that was
   * cut short, may be a valid policy with fewer routes. It lacks the marker: refuse it where you reload files that change.
   */
  readonly hasEndMarker: boolean;
  /**
   * Whether that marker carries a seal, the digest of everything before it, as `orbgate fmt --seal` writes it. A text with a
   * wrong seal is no policy, so a sealed one is the text that was sealed: neither cut short, nor a mixture of two versions.
   */
  readonly isSealed: boolean;
  /** Every route of the policy. Made when it is first asked for. */
  readonly routes: readonly Route[];

  /** Give method and target as they came over the wire, neither decoded nor normalised: `request.url` of `node:http`. */
  decide(method: Text, target: Text, token: Token | null, options?: DecideOptions): Decision;
  /** Decides by scope, for a service whose routes the policy does not list. */
  decideScope(scope: Text, token: Token | null, options?: DecideOptions): Decision;
  /** Decides by route, for a server whose router has found it: no text is looked at. Another policy's id is denied. */
  decideRoute(route: RouteId, token: Token | null, options?: DecideOptions): Decision;
  /** Decides every row in one call. Throws before the first row where a column is not valid. */
  decideBatch(batch: Batch): Decisions;

  /** The id of a route, by its method and template as in `GET`, `/api/v1/external/voxies/{voxieId}`. For a server's start. */
  findRoute(method: Text, template: Text): RouteId | null;
  /** Interns a token's scopes: one text separated by spaces, or a list whose elements are one scope each. */
  scopeSet(scopes: Text | readonly Text[]): ScopeSet;
  /** The whole table, as `orbgate table --format json` prints it. */
  tableJson(): string;

  close(): void;
  [Symbol.dispose](): void;
}

/**
 * A token's scopes as a set of bits, made by `Engine.scopeSet`. With an engine of another policy it holds nothing, so
 * that decisions deny.
 */
export class ScopeSet implements Disposable {
  private constructor();
  close(): void;
  [Symbol.dispose](): void;
}

/** Holds an engine, for hot reload. A decision comes from exactly one engine, which its `policy` names. */
export class Handle {
  constructor(engine: Engine);
  /** The engine that the handle holds now, for several questions to one policy. */
  load(): Engine;
  /** Puts another engine into the handle and returns the one it held, which the caller may close. */
  store(engine: Engine): Engine;
  /** `Engine.decide` with the engine that the handle holds now. */
  decide(method: Text, target: Text, token: Token | null, options?: DecideOptions): Decision;
}

/**
 * A column of texts as Arrow lays out utf8: row `i` is the bytes `offsets[i]` to `offsets[i + 1]` of `data`. Neither may be
 * in a `SharedArrayBuffer`, whose offsets another thread could change between their check and their use: a `TypeError`.
 */
export class Column {
  constructor(data: Uint8Array, offsets: Uint32Array | Int32Array);
  /** Lays out texts; worth doing once where a column is asked about several times. */
  static from(texts: readonly Text[]): Column;
  readonly data: Uint8Array;
  readonly offsets: Uint32Array | Int32Array;
  readonly length: number;
}

/** A column of tokens, laid out: the scopes of all as text, or of all interned. Worth keeping for several batches. */
export class Tokens {
  private constructor();
  static from(tokens: readonly (Token | null)[]): Tokens;
  readonly length: number;
}

/** Requests by columns, each with a row for each request. */
export interface Batch {
  readonly methods: Column | readonly Text[];
  readonly targets: Column | readonly Text[];
  /** One token for all rows. Without `token` and `tokens` no row has one. */
  readonly token?: Token | null;
  /** Each row's token: the scopes of all as text, or of all interned. */
  readonly tokens?: Tokens | readonly (Token | null)[];
  /** For all rows, or for each. */
  readonly allowBonusOrbs?: boolean | readonly boolean[];
}

/** The decisions of a batch, in the order of its rows. */
export class Decisions implements Iterable<Decision> {
  private constructor();
  readonly length: number;
  /** Whether a row's call may be made; costs no more than a comparison. False after the last row. */
  isAllow(row: number): boolean;
  /** The decision of a row. Throws a `RangeError` where there is none. */
  at(row: number): Decision;
  [Symbol.iterator](): Iterator<Decision>;
}

/** A call failed. A denial is never an error. */
export class OrbgateError extends Error {
  /** As in `invalid_argument`; `closed` where the object has been closed. */
  readonly code: "invalid_argument" | "invalid_policy" | "io" | "not_found" | "panic" | "closed" | (string & {});
}

/** One thing wrong with a policy. */
export interface Diagnostic {
  /** From 1. */
  readonly line: number;
  /** In characters, from 1. */
  readonly column: number;
  /** Lower case, no final period, without the location. */
  readonly message: string;
}

/** A policy that cannot be used, or a file that cannot be read, whose `cause` is Node's own error. `message` has a line `[path:]line:column: …` for each error. */
export class PolicyError extends OrbgateError {
  /** Location of the first error; 0 if the error has none. */
  readonly line: number;
  readonly column: number;
  /** The file, as it was given. */
  readonly path: string | null;
  /** Every error, in the order of the file. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The version of the library, as in `0.1.0`. */
export const version: string;
