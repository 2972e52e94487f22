package orbgate

import "github.com/orbgate/orbgate/bindings/go/orbgate/questions"

// Made of crates/orbgate-capi/src/tests/questions/shapes.txt by `cargo xtask codes`; not to be edited.

// Check answers which errors and warnings a policy has.
func (e *Engine) Check(arguments questions.CheckArguments) (*questions.Checks, error) {
	return answered[questions.Checks](e, "check", arguments)
}

// Diff answers what another policy would change.
func (e *Engine) Diff(arguments questions.DiffArguments) (*questions.Comparison, error) {
	return answered[questions.Comparison](e, "diff", arguments)
}

// Explain answers why a call is allowed or denied.
func (e *Engine) Explain(arguments questions.ExplainArguments) (*questions.Explanation, error) {
	return answered[questions.Explanation](e, "explain", arguments)
}

// Lint answers what looks wrong in a policy.
func (e *Engine) Lint(arguments questions.LintArguments) (*questions.Lints, error) {
	return answered[questions.Lints](e, "lint", arguments)
}

// Needs answers which scopes a set of calls needs.
func (e *Engine) Needs(arguments questions.NeedsArguments) (*questions.Needs, error) {
	return answered[questions.Needs](e, "needs", arguments)
}

// Reach answers what a token can call.
func (e *Engine) Reach(arguments questions.ReachArguments) (*questions.Reach, error) {
	return answered[questions.Reach](e, "reach", arguments)
}

// Table answers the whole policy.
func (e *Engine) Table() (*questions.Table, error) {
	return answered[questions.Table](e, "table", questions.TableArguments{})
}

// Unused answers which scopes were carried and never used.
func (e *Engine) Unused(arguments questions.UnusedArguments) (*questions.Usage, error) {
	return answered[questions.Usage](e, "unused", arguments)
}

// Who answers which tokens may make a call.
func (e *Engine) Who(arguments questions.WhoArguments) (*questions.Callers, error) {
	return answered[questions.Callers](e, "who", arguments)
}
