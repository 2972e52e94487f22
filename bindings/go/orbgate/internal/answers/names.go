package answers

// Made of crates/orbgate-generate/shapes.txt by `cargo xtask codes`; not to be edited.

// The name of each field, at its number.
var names = [...]string{
	"", "files", "file", "policy", "diagnostics", "location", "line", "column", "message", "warnings", "old", "new", "verdict", "widens",
	"complete", "left_out", "changes", "asked", "method", "target", "scope", "token", "kind", "scopes", "allow_bonus_orbs_use", "before",
	"route", "orbs", "consumes", "amount", "organisation", "after", "wider", "narrower", "cost", "payer", "removed", "fails", "decision",
	"status", "reason", "detail", "api", "bonus_allowed", "missing_step", "alternatives", "lacking", "orbs_if_allowed", "in_order", "rules",
	"rule", "state", "near", "why", "meant", "findings", "code", "level", "other", "suppressed", "calls", "is_smallest", "needs", "first",
	"at", "call", "refusals", "allowed", "name", "apis", "closed", "template", "permits", "routes", "headings", "without_token", "unused",
	"granted", "used", "needed", "in_policy", "last", "time", "tokens", "earned",
}
