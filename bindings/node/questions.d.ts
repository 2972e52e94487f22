/**
 * The arguments and the answers of the questions that an engine answers about its policy. Each answer is the JSON of
 * `orbgate QUESTION --json`.
 *
 * Made of crates/orbgate-generate/shapes.txt by `cargo xtask codes`; not to be edited.
 */

/** A position in a file. */
export interface Position {
  /** Counted from 1. */
  readonly line: number;
  /** In characters, counted from 1. */
  readonly column: number;
}

/** The orbs that a route or scope consumes. */
export interface Orbs {
  /** Whether it consumes orbs. */
  readonly consumes: boolean;
  /** 0 if nothing is consumed, null if the policy states no amount. */
  readonly amount: bigint | null;
}

/** The orbs that an allowed call consumes. */
export interface OrbCharge {
  /** Whether it consumes orbs. */
  readonly consumes: boolean;
  /** 0 if nothing is consumed, null if the policy states no amount. */
  readonly amount: bigint | null;
  /** Whether the request allows bonus orbs. */
  readonly bonus_allowed: boolean;
}

/** A verified token. */
export interface RequestToken {
  /** `user` or `organisation`; any other kind is unknown. */
  readonly kind: string;
  /** Its scopes, separated by spaces. */
  readonly scopes: string;
}

/** A call, or a scope to decide without a route. */
export interface Request {
  /** The method of a call. */
  readonly method?: string;
  /** The target of a call, as received over the wire. */
  readonly target?: string;
  /** The scope to decide, instead of method and target. */
  readonly scope?: string;
  /** Its token. Without a token, the decision is `no_token`. */
  readonly token?: RequestToken;
  /** Whether the request allows bonus orbs. */
  readonly allow_bonus_orbs_use?: boolean;
}

/** An error or a warning of a policy. */
export interface PolicyDiagnostic {
  /** Its position in the file. */
  readonly location: Position;
  /** The problem. */
  readonly message: string;
}

/** Arguments of `check`. */
export interface CheckArguments {
  /** The policy as a YAML document. */
  readonly policy: string;
  /** The file's name in the answer. By default `policy.yaml`. */
  readonly file?: string;
}

/** Answer of `check`. */
export interface Checks {
  /** One for each policy. */
  readonly files: readonly CheckedFile[];
}

/** The errors and warnings of a file. */
export interface CheckedFile {
  /** Its name. */
  readonly file: string;
  /** The policy's digest, null if it has errors. */
  readonly policy: string | null;
  /** Its errors. */
  readonly diagnostics: readonly PolicyDiagnostic[];
  /** Its warnings. */
  readonly warnings: readonly PolicyDiagnostic[];
}

/** Arguments of `lint`. */
export interface LintArguments {
  /** The policy as a YAML document. */
  readonly policy: string;
  /** The file's name in the answer. By default `policy.yaml`. */
  readonly file?: string;
  /** `error`, `warning`, `note` or `off` for each code whose level you change. */
  readonly levels?: Readonly<Record<string, string>>;
}

/** Answer of `lint`. */
export interface Lints {
  /** One for each policy. */
  readonly files: readonly LintedFile[];
}

/** The findings in a file. */
export interface LintedFile {
  /** Its name. */
  readonly file: string;
  /** The policy's digest, null if it has errors. */
  readonly policy: string | null;
  /** Whether all findings are listed. */
  readonly complete: boolean;
  /** Its errors. A policy with errors has no findings. */
  readonly diagnostics: readonly PolicyDiagnostic[];
  /** Its findings, including suppressed findings. */
  readonly findings: readonly LintFinding[];
}

/** A likely mistake in a policy. */
export interface LintFinding {
  /** Its code, as documented in `docs/lint.md`. */
  readonly code: string;
  /** `error`, `warning` or `note`. */
  readonly level: string;
  /** Its position in the file. */
  readonly location: Position;
  /** The problem. */
  readonly message: string;
  /** A second position that is part of the problem. */
  readonly other: Position | null;
  /** The reason in the comment that suppresses it. */
  readonly suppressed: string | null;
}

/** Arguments of `diff`. */
export interface DiffArguments {
  /** The new policy as a YAML document. */
  readonly policy: string;
  /** The kinds of changes that `fails` counts. By default `wider`, `cheaper` and `other-cost`. */
  readonly fail_on?: readonly string[];
}

/** Answer of `diff`. */
export interface Comparison {
  /** The digest of the engine's policy. */
  readonly old: string;
  /** The digest of the other policy. */
  readonly new: string;
  /** `equivalent`, `wider`, `narrower` or `incomparable`. */
  readonly verdict: string | null;
  /** Whether any call is allowed to more callers, or for fewer orbs. */
  readonly widens: boolean;
  /** Whether everything was compared. It's true in every answer. */
  readonly complete: boolean;
  /** The number of changes that aren't listed. */
  readonly left_out: number;
  /** The changes, widening changes first. */
  readonly changes: readonly PolicyChange[];
  /** The number of changes of each kind in `fail_on`, such as `2 wider`. Kinds without changes are left out. */
  readonly fails: readonly string[];
}

/** A call that the two policies decide differently. */
export interface PolicyChange {
  /** The call, without a token. */
  readonly asked: Request;
  /** The rule that decides it in the engine's policy. */
  readonly before: DecidingRule | null;
  /** The rule that decides it in the other policy. */
  readonly after: DecidingRule | null;
  /** A call that only the other policy allows. */
  readonly wider: Request | null;
  /** A call that only the engine's policy allows. */
  readonly narrower: Request | null;
  /** `less`, `more`, or `unknown` if an amount is not stated. */
  readonly cost: string | null;
  /** A call that both policies allow, at a different cost. */
  readonly payer: Request | null;
  /** Whether the other policy lacks the route or scope that decided it. */
  readonly removed: boolean;
}

/** The route or scope that decides a call. */
export interface DecidingRule {
  /** The route, null for a scope without a route. */
  readonly route: string | null;
  /** The scope that owns the route: it needs just this one, unless there are `scopes`. */
  readonly scope: string;
  /** The alternatives of a route that needs more or other than one scope, each a set that is enough. The owner's is first. */
  readonly scopes?: readonly (readonly string[])[];
  /** The orbs that a call consumes, null if the policy doesn't state it. */
  readonly orbs: Orbs | null;
  /** `deny` or `allow_without_scope` for organisations' tokens, if the scope applies only to users' tokens. */
  readonly organisation: string | null;
  /** The rule's position in the file. */
  readonly location: Position;
}

/** Arguments of `explain`. */
export interface ExplainArguments {
  /** The call. */
  readonly request: Request;
  /** `user` or `organisation`: decides with the token of this kind that would be issued for `declared` and `requested`. Needs both, and a request without `token`. */
  readonly issued?: string;
  /** The scopes that the application declared, if you know them, separated by spaces. */
  readonly declared?: string;
  /** The scopes that the application requested, if you know them, separated by spaces. */
  readonly requested?: string;
}

/** A decision. */
export interface PolicyDecision {
  /** `allow` or `deny`. */
  readonly decision: string;
  /** The HTTP status of a denial. */
  readonly status: number | null;
  /** The reason, such as `scope_missing`. */
  readonly reason: string;
  /** The rule that a malformed request breaks. */
  readonly detail: string | null;
  /** The api of the route or scope. */
  readonly api: string | null;
  /** The route that decided. */
  readonly route: string | null;
  /** The scope that owns the route: the call needs just this one, unless there are `scopes`. */
  readonly scope: string | null;
  /** The alternatives of a route that needs more or other than one scope, each a set that is enough. The owner's is first. */
  readonly scopes?: readonly (readonly string[])[];
  /** The orbs that an allowed call consumes. */
  readonly orbs: OrbCharge | null;
  /** The policy's digest. */
  readonly policy: string;
}

/** Answer of `explain`: the decision, and the steps that led to it. */
export interface Explanation {
  /** `allow` or `deny`. */
  readonly decision: string;
  /** The HTTP status of a denial. */
  readonly status: number | null;
  /** The reason, such as `scope_missing`. */
  readonly reason: string;
  /** The rule that a malformed request breaks. */
  readonly detail: string | null;
  /** The api of the route or scope. */
  readonly api: string | null;
  /** The route that decided. */
  readonly route: string | null;
  /** The scope that owns the route: the call needs just this one, unless there are `scopes`. */
  readonly scope: string | null;
  /** The alternatives of a route that needs more or other than one scope, each a set that is enough. The owner's is first. */
  readonly scopes?: readonly (readonly string[])[];
  /** The orbs that an allowed call consumes. */
  readonly orbs: OrbCharge | null;
  /** The policy's digest. */
  readonly policy: string;
  /** The step that would give the token the scope, or the first of the alternatives. */
  readonly missing_step: string | null;
  /** The `scopes`, each with what the token lacks. */
  readonly alternatives?: readonly TriedAlternative[];
  /** The orbs that a denied call would consume with the scope. */
  readonly orbs_if_allowed?: OrbCharge;
  /** The length of a malformed target's valid prefix, in bytes. */
  readonly in_order?: number;
  /** The rules for targets, by number. Empty for a scope without a route. */
  readonly rules?: readonly CheckedRule[];
  /** Routes that almost match the call, the nearest first. */
  readonly near?: readonly NearRoute[];
}

/** An alternative of what a route needs. */
export interface TriedAlternative {
  /** Its scopes, which are enough together. */
  readonly scopes: readonly string[];
  /** Those of them that the token lacks. Empty if the token has the alternative. */
  readonly lacking: readonly string[];
}

/** A rule for targets. */
export interface CheckedRule {
  /** Its name, such as `P10`. */
  readonly rule: string;
  /** The detail of a request that breaks it. */
  readonly detail: string;
  /** `pass`, `fail` or `not_reached`. */
  readonly state: string;
}

/** A route that almost matches a call. */
export interface NearRoute {
  /** The route. */
  readonly route: string;
  /** Its position in the file. */
  readonly location: Position;
  /** The reason why it doesn't decide the call. */
  readonly why: string;
  /** A target that the route decides, if the call's target seems to be misspelt. */
  readonly meant: string | null;
}

/** Arguments of `needs`. */
export interface NeedsArguments {
  /** `user` or `organisation`. By default `user`. */
  readonly token?: string;
  /** The calls. Their tokens are ignored. */
  readonly calls: readonly Request[];
}

/** Answer of `needs`: the smallest set of scopes for the calls. */
export interface Needs {
  /** The policy's digest. */
  readonly policy: string;
  /** The kind of token. */
  readonly kind: string;
  /** The number of calls. */
  readonly calls: number;
  /** The scopes, in the order of the calls that first need them. */
  readonly scopes: readonly string[];
  /** Whether no smaller set is enough. False only if more than 20 scopes of alternatives have to be weighed. */
  readonly is_smallest: boolean;
  /** The same scopes, each with its calls. */
  readonly needs: readonly NeededScope[];
  /** The scopes that the token must earn as well, each with its calls. No client requests them. */
  readonly earned: readonly NeededScope[];
  /** Calls that no scope allows. */
  readonly refusals: readonly RefusedCalls[];
}

/** A scope that calls need. */
export interface NeededScope {
  /** The scope. */
  readonly scope: string;
  /** The number of calls that need it. */
  readonly calls: number;
  /** The first of them. */
  readonly first: FirstCall;
}

/** Calls that no scope allows, all for the same reason. */
export interface RefusedCalls {
  /** The reason of their denial. */
  readonly reason: string;
  /** The rule that they break. */
  readonly detail: string | null;
  /** The route that decides them. */
  readonly route: string | null;
  /** The number of calls. */
  readonly calls: number;
  /** The first of them. */
  readonly first: FirstCall;
}

/** The first of some calls. */
export interface FirstCall {
  /** Its position among all calls, counted from 1. */
  readonly at: number;
  /** Method and target, shortened. */
  readonly call: string;
}

/** Arguments of `reach`. */
export interface ReachArguments {
  /** The token. */
  readonly token: RequestToken;
}

/** Answer of `reach`: everything that a token can call. */
export interface Reach {
  /** The policy's digest. */
  readonly policy: string;
  /** The token. */
  readonly token: RequestToken;
  /** Routes, and scopes without routes, in the order of the policy file. */
  readonly allowed: readonly ReachedRoute[];
}

/** A route or a scope that a token can call. */
export interface ReachedRoute {
  /** The route, null for a scope without routes. */
  readonly route: string | null;
  /** The scope that owns the route: the one that allows it, unless there are `scopes`. */
  readonly scope: string;
  /** The alternatives of a route that needs more or other than one scope, each a set that is enough. The owner's is first. */
  readonly scopes?: readonly (readonly string[])[];
  /** The orbs that a call consumes, null if the policy doesn't state it. */
  readonly orbs: Orbs | null;
  /** The reason why it is allowed. */
  readonly reason: string;
  /** The rule's position in the file. */
  readonly location: Position;
}

/** Arguments of `table`. There are none. */
export interface TableArguments {
}

/** Answer of `table`: a whole policy. */
export interface Table {
  /** Its digest. */
  readonly policy: string;
  /** Its name. */
  readonly name: string | null;
  /** The accepted spellings of targets: `strict` or `encoded_params`. */
  readonly target: string;
  /** Its apis, in the order of the file. */
  readonly apis: readonly TableApi[];
  /** Scope groups without routes. */
  readonly headings: readonly string[];
}

/** An api of a policy. */
export interface TableApi {
  /** Its name. */
  readonly name: string;
  /** `user` if its scopes apply only to users' tokens. */
  readonly token: string | null;
  /** `deny` or `allow_without_scope` for organisations' tokens in that case. */
  readonly organisation: string | null;
  /** The templates that declare no method. */
  readonly closed?: readonly ClosedTemplate[];
  /** Its scopes. */
  readonly scopes: readonly TableScope[];
}

/** A template that declares no method, so that all its calls are denied. */
export interface ClosedTemplate {
  /** The path. */
  readonly template: string;
  /** Its position in the file. */
  readonly location: Position;
}

/** A scope of an api. */
export interface TableScope {
  /** Its name. */
  readonly scope: string;
  /** The action that it permits, in words. */
  readonly permits: string | null;
  /** The orbs that a call consumes, null if the policy doesn't state it. */
  readonly orbs: Orbs | null;
  /** Its position in the file. */
  readonly location: Position;
  /** Its routes in this api. */
  readonly routes: readonly TableRoute[];
}

/** A route of a scope. */
export interface TableRoute {
  /** Method and template. */
  readonly route: string;
  /** Its method. */
  readonly method: string;
  /** Its path. */
  readonly template: string;
  /** The alternatives of a route that needs more or other than one scope, each a set that is enough. The owner's is first. */
  readonly scopes?: readonly (readonly string[])[];
  /** The orbs that a call consumes. */
  readonly orbs: Orbs;
  /** Its position in the file. */
  readonly location: Position;
}

/** Arguments of `unused`. */
export interface UnusedArguments {
  /** The calls with their tokens. */
  readonly calls: readonly Request[];
}

/** Answer of `unused`: how often tokens had each scope and used it. */
export interface Usage {
  /** The policy's digest. */
  readonly policy: string;
  /** The number of calls. */
  readonly calls: number;
  /** The number of calls without a token of a known kind. */
  readonly without_token: number;
  /** The scopes that were never used. */
  readonly unused: readonly string[];
  /** All scopes of the tokens, unused scopes first. */
  readonly scopes: readonly ScopeUsage[];
}

/** A scope that tokens had. */
export interface ScopeUsage {
  /** Its name. */
  readonly scope: string;
  /** The number of calls whose token had it. */
  readonly granted: number;
  /** The number of these calls that it allowed, by itself or with others. Scopes whose number is 0 can be removed together. */
  readonly used: number;
  /** The number of these calls that would have been denied without it. Of the scopes whose number is 0, any one can be removed. */
  readonly needed: number;
  /** Whether the policy defines it. */
  readonly in_policy: boolean;
  /** The last call that it allowed. */
  readonly last: LastUse | null;
}

/** The last use of a scope. */
export interface LastUse {
  /** The call's position, counted from 1. */
  readonly line: number;
  /** Its time in a log. */
  readonly time: string | null;
}

/** Arguments of `who`. */
export interface WhoArguments {
  /** The call's method. */
  readonly method: string;
  /** The call's target, as a server would receive it over the wire. */
  readonly target: string;
  /** The tokens. */
  readonly tokens: readonly NamedToken[];
}

/** A token with a name. */
export interface NamedToken {
  /** The name in the answer. By default its position, such as `line 2`. */
  readonly name?: string;
  /** The token, null for a call without one. */
  readonly token: RequestToken | null;
}

/** Answer of `who`: the decision for each token. */
export interface Callers {
  /** The policy's digest. */
  readonly policy: string;
  /** The call's method. */
  readonly method: string;
  /** The call's target. */
  readonly target: string;
  /** One for each token, in order. */
  readonly tokens: readonly CallerDecision[];
}

/** The decision for a token. */
export interface CallerDecision {
  /** Its name. */
  readonly name: string;
  /** Its position, counted from 1. */
  readonly line: number;
  /** The decision. */
  readonly decision: PolicyDecision;
}

/** Each question with its arguments and its answer. */
export interface Questions {
  readonly check: readonly [CheckArguments, Checks];
  readonly diff: readonly [DiffArguments, Comparison];
  readonly explain: readonly [ExplainArguments, Explanation];
  readonly lint: readonly [LintArguments, Lints];
  readonly needs: readonly [NeedsArguments, Needs];
  readonly reach: readonly [ReachArguments, Reach];
  readonly table: readonly [TableArguments, Table];
  readonly unused: readonly [UnusedArguments, Usage];
  readonly who: readonly [WhoArguments, Callers];
}
