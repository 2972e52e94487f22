// Package questions contains the arguments and the answers of the questions that an engine answers about its policy. Each
// answer is the JSON of `orbgate QUESTION --json`.
//
// Made of crates/orbgate-generate/shapes.txt by `cargo xtask codes`; not to be edited.
package questions

// Position: A position in a file.
type Position struct {
	// Counted from 1.
	Line uint64 `json:"line"`
	// In characters, counted from 1.
	Column uint64 `json:"column"`
}

// Orbs: The orbs that a route or scope consumes.
type Orbs struct {
	// Whether it consumes orbs.
	Consumes bool `json:"consumes"`
	// 0 if nothing is consumed, null if the policy states no amount.
	Amount *uint64 `json:"amount"`
}

// OrbCharge: The orbs that an allowed call consumes.
type OrbCharge struct {
	// Whether it consumes orbs.
	Consumes bool `json:"consumes"`
	// 0 if nothing is consumed, null if the policy states no amount.
	Amount *uint64 `json:"amount"`
	// Whether the request allows bonus orbs.
	BonusAllowed bool `json:"bonus_allowed"`
}

// RequestToken: A verified token.
type RequestToken struct {
	// `user` or `organisation`; any other kind is unknown.
	Kind string `json:"kind"`
	// Its scopes, separated by spaces.
	Scopes string `json:"scopes"`
}

// Request: A call, or a scope to decide without a route.
type Request struct {
	// The method of a call.
	Method string `json:"method,omitempty"`
	// The target of a call, as received over the wire.
	Target string `json:"target,omitempty"`
	// The scope to decide, instead of method and target.
	Scope string `json:"scope,omitempty"`
	// Its token. Without a token, the decision is `no_token`.
	Token *RequestToken `json:"token,omitzero"`
	// Whether the request allows bonus orbs.
	AllowBonusOrbsUse bool `json:"allow_bonus_orbs_use,omitempty"`
}

// PolicyDiagnostic: An error or a warning of a policy.
type PolicyDiagnostic struct {
	// Its position in the file.
	Location Position `json:"location"`
	// The problem.
	Message string `json:"message"`
}

// CheckArguments: Arguments of `check`.
type CheckArguments struct {
	// The policy as a YAML document.
	Policy string `json:"policy"`
	// The file's name in the answer. By default `policy.yaml`.
	File string `json:"file,omitempty"`
}

// Checks: Answer of `check`.
type Checks struct {
	// One for each policy.
	Files []CheckedFile `json:"files"`
}

// CheckedFile: The errors and warnings of a file.
type CheckedFile struct {
	// Its name.
	File string `json:"file"`
	// The policy's digest, null if it has errors.
	Policy *string `json:"policy"`
	// Its errors.
	Diagnostics []PolicyDiagnostic `json:"diagnostics"`
	// Its warnings.
	Warnings []PolicyDiagnostic `json:"warnings"`
}

// LintArguments: Arguments of `lint`.
type LintArguments struct {
	// The policy as a YAML document.
	Policy string `json:"policy"`
	// The file's name in the answer. By default `policy.yaml`.
	File string `json:"file,omitempty"`
	// `error`, `warning`, `note` or `off` for each code whose level you change.
	Levels map[string]string `json:"levels,omitempty"`
}

// Lints: Answer of `lint`.
type Lints struct {
	// One for each policy.
	Files []LintedFile `json:"files"`
}

// LintedFile: The findings in a file.
type LintedFile struct {
	// Its name.
	File string `json:"file"`
	// The policy's digest, null if it has errors.
	Policy *string `json:"policy"`
	// Whether all findings are listed.
	Complete bool `json:"complete"`
	// Its errors. A policy with errors has no findings.
	Diagnostics []PolicyDiagnostic `json:"diagnostics"`
	// Its findings, including suppressed findings.
	Findings []LintFinding `json:"findings"`
}

// LintFinding: A likely mistake in a policy.
type LintFinding struct {
	// Its code, as documented in `docs/lint.md`.
	Code string `json:"code"`
	// `error`, `warning` or `note`.
	Level string `json:"level"`
	// Its position in the file.
	Location Position `json:"location"`
	// The problem.
	Message string `json:"message"`
	// A second position that is part of the problem.
	Other *Position `json:"other"`
	// The reason in the comment that suppresses it.
	Suppressed *string `json:"suppressed"`
}

// DiffArguments: Arguments of `diff`.
type DiffArguments struct {
	// The new policy as a YAML document.
	Policy string `json:"policy"`
	// The kinds of changes that `fails` counts. By default `wider`, `cheaper` and `other-cost`.
	FailOn []string `json:"fail_on,omitzero"`
}

// Comparison: Answer of `diff`.
type Comparison struct {
	// The digest of the engine's policy.
	Old string `json:"old"`
	// The digest of the other policy.
	New string `json:"new"`
	// `equivalent`, `wider`, `narrower` or `incomparable`.
	Verdict *string `json:"verdict"`
	// Whether any call is allowed to more callers, or for fewer orbs.
	Widens bool `json:"widens"`
	// Whether everything was compared. It's true in every answer.
	Complete bool `json:"complete"`
	// The number of changes that aren't listed.
	LeftOut uint64 `json:"left_out"`
	// The changes, widening changes first.
	Changes []PolicyChange `json:"changes"`
	// The number of changes of each kind in `fail_on`, such as `2 wider`. Kinds without changes are left out.
	Fails []string `json:"fails"`
}

// PolicyChange: A call that the two policies decide differently.
type PolicyChange struct {
	// The call, without a token.
	Asked Request `json:"asked"`
	// The rule that decides it in the engine's policy.
	Before *DecidingRule `json:"before"`
	// The rule that decides it in the other policy.
	After *DecidingRule `json:"after"`
	// A call that only the other policy allows.
	Wider *Request `json:"wider"`
	// A call that only the engine's policy allows.
	Narrower *Request `json:"narrower"`
	// `less`, `more`, or `unknown` if an amount is not stated.
	Cost *string `json:"cost"`
	// A call that both policies allow, at a different cost.
	Payer *Request `json:"payer"`
	// Whether the other policy lacks the route or scope that decided it.
	Removed bool `json:"removed"`
}

// DecidingRule: The route or scope that decides a call.
type DecidingRule struct {
	// The route, null for a scope without a route.
	Route *string `json:"route"`
	// The scope that owns the route: it needs just this one, unless there are `scopes`.
	Scope string `json:"scope"`
	// The alternatives of a route that needs more or other than one scope, each a set that is enough. The owner's is first.
	Scopes [][]string `json:"scopes,omitzero"`
	// The orbs that a call consumes, null if the policy doesn't state it.
	Orbs *Orbs `json:"orbs"`
	// `deny` or `allow_without_scope` for organisations' tokens, if the scope applies only to users' tokens.
	Organisation *string `json:"organisation"`
	// The rule's position in the file.
	Location Position `json:"location"`
}

// ExplainArguments: Arguments of `explain`.
type ExplainArguments struct {
	// The call.
	Request Request `json:"request"`
	// `user` or `organisation`: decides with the token of this kind that would be issued for `declared` and `requested`. Needs both, and a request without `token`.
	Issued *string `json:"issued,omitzero"`
	// The scopes that the application declared, if you know them, separated by spaces.
	Declared *string `json:"declared,omitzero"`
	// The scopes that the application requested, if you know them, separated by spaces.
	Requested *string `json:"requested,omitzero"`
}

// PolicyDecision: A decision.
type PolicyDecision struct {
	// `allow` or `deny`.
	Decision string `json:"decision"`
	// The HTTP status of a denial.
	Status *uint64 `json:"status"`
	// The reason, such as `scope_missing`.
	Reason string `json:"reason"`
	// The rule that a malformed request breaks.
	Detail *string `json:"detail"`
	// The api of the route or scope.
	Api *string `json:"api"`
	// The route that decided.
	Route *string `json:"route"`
	// The scope that owns the route: the call needs just this one, unless there are `scopes`.
	Scope *string `json:"scope"`
	// The alternatives of a route that needs more or other than one scope, each a set that is enough. The owner's is first.
	Scopes [][]string `json:"scopes,omitzero"`
	// The orbs that an allowed call consumes.
	Orbs *OrbCharge `json:"orbs"`
	// The policy's digest.
	Policy string `json:"policy"`
}

// Explanation: Answer of `explain`: the decision, and the steps that led to it.
type Explanation struct {
	// `allow` or `deny`.
	Decision string `json:"decision"`
	// The HTTP status of a denial.
	Status *uint64 `json:"status"`
	// The reason, such as `scope_missing`.
	Reason string `json:"reason"`
	// The rule that a malformed request breaks.
	Detail *string `json:"detail"`
	// The api of the route or scope.
	Api *string `json:"api"`
	// The route that decided.
	Route *string `json:"route"`
	// The scope that owns the route: the call needs just this one, unless there are `scopes`.
	Scope *string `json:"scope"`
	// The alternatives of a route that needs more or other than one scope, each a set that is enough. The owner's is first.
	Scopes [][]string `json:"scopes,omitzero"`
	// The orbs that an allowed call consumes.
	Orbs *OrbCharge `json:"orbs"`
	// The policy's digest.
	Policy string `json:"policy"`
	// The step that would give the token the scope, or the first of the alternatives.
	MissingStep *string `json:"missing_step"`
	// The `scopes`, each with what the token lacks.
	Alternatives []TriedAlternative `json:"alternatives,omitempty"`
	// The orbs that a denied call would consume with the scope.
	OrbsIfAllowed *OrbCharge `json:"orbs_if_allowed,omitzero"`
	// The length of a malformed target's valid prefix, in bytes.
	InOrder *uint64 `json:"in_order,omitzero"`
	// The rules for targets, by number. Empty for a scope without a route.
	Rules []CheckedRule `json:"rules,omitempty"`
	// Routes that almost match the call, the nearest first.
	Near []NearRoute `json:"near,omitempty"`
}

// TriedAlternative: An alternative of what a route needs.
type TriedAlternative struct {
	// Its scopes, which are enough together.
	Scopes []string `json:"scopes"`
	// Those of them that the token lacks. Empty if the token has the alternative.
	Lacking []string `json:"lacking"`
}

// CheckedRule: A rule for targets.
type CheckedRule struct {
	// Its name, such as `P10`.
	Rule string `json:"rule"`
	// The detail of a request that breaks it.
	Detail string `json:"detail"`
	// `pass`, `fail` or `not_reached`.
	State string `json:"state"`
}

// NearRoute: A route that almost matches a call.
type NearRoute struct {
	// The route.
	Route string `json:"route"`
	// Its position in the file.
	Location Position `json:"location"`
	// The reason why it doesn't decide the call.
	Why string `json:"why"`
	// A target that the route decides, if the call's target seems to be misspelt.
	Meant *string `json:"meant"`
}

// NeedsArguments: Arguments of `needs`.
type NeedsArguments struct {
	// `user` or `organisation`. By default `user`.
	Token string `json:"token,omitempty"`
	// The calls. Their tokens are ignored.
	Calls []Request `json:"calls"`
}

// Needs: Answer of `needs`: the smallest set of scopes for the calls.
type Needs struct {
	// The policy's digest.
	Policy string `json:"policy"`
	// The kind of token.
	Kind string `json:"kind"`
	// The number of calls.
	Calls uint64 `json:"calls"`
	// The scopes, in the order of the calls that first need them.
	Scopes []string `json:"scopes"`
	// Whether no smaller set is enough. False only if more than 20 scopes of alternatives have to be weighed.
	IsSmallest bool `json:"is_smallest"`
	// The same scopes, each with its calls.
	Needs []NeededScope `json:"needs"`
	// The scopes that the token must earn as well, each with its calls. No client requests them.
	Earned []NeededScope `json:"earned"`
	// Calls that no scope allows.
	Refusals []RefusedCalls `json:"refusals"`
}

// NeededScope: A scope that calls need.
type NeededScope struct {
	// The scope.
	Scope string `json:"scope"`
	// The number of calls that need it.
	Calls uint64 `json:"calls"`
	// The first of them.
	First FirstCall `json:"first"`
}

// RefusedCalls: Calls that no scope allows, all for the same reason.
type RefusedCalls struct {
	// The reason of their denial.
	Reason string `json:"reason"`
	// The rule that they break.
	Detail *string `json:"detail"`
	// The route that decides them.
	Route *string `json:"route"`
	// The number of calls.
	Calls uint64 `json:"calls"`
	// The first of them.
	First FirstCall `json:"first"`
}

// FirstCall: The first of some calls.
type FirstCall struct {
	// Its position among all calls, counted from 1.
	At uint64 `json:"at"`
	// Method and target, shortened.
	Call string `json:"call"`
}

// ReachArguments: Arguments of `reach`.
type ReachArguments struct {
	// The token.
	Token RequestToken `json:"token"`
}

// Reach: Answer of `reach`: everything that a token can call.
type Reach struct {
	// The policy's digest.
	Policy string `json:"policy"`
	// The token.
	Token RequestToken `json:"token"`
	// Routes, and scopes without routes, in the order of the policy file.
	Allowed []ReachedRoute `json:"allowed"`
}

// ReachedRoute: A route or a scope that a token can call.
type ReachedRoute struct {
	// The route, null for a scope without routes.
	Route *string `json:"route"`
	// The scope that owns the route: the one that allows it, unless there are `scopes`.
	Scope string `json:"scope"`
	// The alternatives of a route that needs more or other than one scope, each a set that is enough. The owner's is first.
	Scopes [][]string `json:"scopes,omitzero"`
	// The orbs that a call consumes, null if the policy doesn't state it.
	Orbs *Orbs `json:"orbs"`
	// The reason why it is allowed.
	Reason string `json:"reason"`
	// The rule's position in the file.
	Location Position `json:"location"`
}

// TableArguments: Arguments of `table`. There are none.
type TableArguments struct{}

// Table: Answer of `table`: a whole policy.
type Table struct {
	// Its digest.
	Policy string `json:"policy"`
	// Its name.
	Name *string `json:"name"`
	// The accepted spellings of targets: `strict` or `encoded_params`.
	Target string `json:"target"`
	// Its apis, in the order of the file.
	Apis []TableApi `json:"apis"`
	// Scope groups without routes.
	Headings []string `json:"headings"`
}

// TableApi: An api of a policy.
type TableApi struct {
	// Its name.
	Name string `json:"name"`
	// `user` if its scopes apply only to users' tokens.
	Token *string `json:"token"`
	// `deny` or `allow_without_scope` for organisations' tokens in that case.
	Organisation *string `json:"organisation"`
	// The templates that declare no method.
	Closed []ClosedTemplate `json:"closed,omitempty"`
	// Its scopes.
	Scopes []TableScope `json:"scopes"`
}

// ClosedTemplate: A template that declares no method, so that all its calls are denied.
type ClosedTemplate struct {
	// The path.
	Template string `json:"template"`
	// Its position in the file.
	Location Position `json:"location"`
}

// TableScope: A scope of an api.
type TableScope struct {
	// Its name.
	Scope string `json:"scope"`
	// The action that it permits, in words.
	Permits *string `json:"permits"`
	// The orbs that a call consumes, null if the policy doesn't state it.
	Orbs *Orbs `json:"orbs"`
	// Its position in the file.
	Location Position `json:"location"`
	// Its routes in this api.
	Routes []TableRoute `json:"routes"`
}

// TableRoute: A route of a scope.
type TableRoute struct {
	// Method and template.
	Route string `json:"route"`
	// Its method.
	Method string `json:"method"`
	// Its path.
	Template string `json:"template"`
	// The alternatives of a route that needs more or other than one scope, each a set that is enough. The owner's is first.
	Scopes [][]string `json:"scopes,omitzero"`
	// The orbs that a call consumes.
	Orbs Orbs `json:"orbs"`
	// Its position in the file.
	Location Position `json:"location"`
}

// UnusedArguments: Arguments of `unused`.
type UnusedArguments struct {
	// The calls with their tokens.
	Calls []Request `json:"calls"`
}

// Usage: Answer of `unused`: how often tokens had each scope and used it.
type Usage struct {
	// The policy's digest.
	Policy string `json:"policy"`
	// The number of calls.
	Calls uint64 `json:"calls"`
	// The number of calls without a token of a known kind.
	WithoutToken uint64 `json:"without_token"`
	// The scopes that were never used.
	Unused []string `json:"unused"`
	// All scopes of the tokens, unused scopes first.
	Scopes []ScopeUsage `json:"scopes"`
}

// ScopeUsage: A scope that tokens had.
type ScopeUsage struct {
	// Its name.
	Scope string `json:"scope"`
	// The number of calls whose token had it.
	Granted uint64 `json:"granted"`
	// The number of these calls that it allowed, by itself or with others. Scopes whose number is 0 can be removed together.
	Used uint64 `json:"used"`
	// The number of these calls that would have been denied without it. Of the scopes whose number is 0, any one can be removed.
	Needed uint64 `json:"needed"`
	// Whether the policy defines it.
	InPolicy bool `json:"in_policy"`
	// The last call that it allowed.
	Last *LastUse `json:"last"`
}

// LastUse: The last use of a scope.
type LastUse struct {
	// The call's position, counted from 1.
	Line uint64 `json:"line"`
	// Its time in a log.
	Time *string `json:"time"`
}

// WhoArguments: Arguments of `who`.
type WhoArguments struct {
	// The call's method.
	Method string `json:"method"`
	// The call's target, as a server would receive it over the wire.
	Target string `json:"target"`
	// The tokens.
	Tokens []NamedToken `json:"tokens"`
}

// NamedToken: A token with a name.
type NamedToken struct {
	// The name in the answer. By default its position, such as `line 2`.
	Name string `json:"name,omitempty"`
	// The token, null for a call without one.
	Token *RequestToken `json:"token"`
}

// Callers: Answer of `who`: the decision for each token.
type Callers struct {
	// The policy's digest.
	Policy string `json:"policy"`
	// The call's method.
	Method string `json:"method"`
	// The call's target.
	Target string `json:"target"`
	// One for each token, in order.
	Tokens []CallerDecision `json:"tokens"`
}

// CallerDecision: The decision for a token.
type CallerDecision struct {
	// Its name.
	Name string `json:"name"`
	// Its position, counted from 1.
	Line uint64 `json:"line"`
	// The decision.
	Decision PolicyDecision `json:"decision"`
}
