package orbgate

import "github.com/orbgate/orbgate/bindings/go/orbgate/questions"

// Made of crates/orbgate-generate/shapes.txt by `cargo xtask codes`; not to be edited.

// Check reports the errors and warnings of a policy.
func (e *Engine) Check(arguments questions.CheckArguments) (*questions.Checks, error) {
	return answered[questions.Checks](e, "check", arguments)
}

// Diff lists the changes for callers if another policy replaces this one.
func (e *Engine) Diff(arguments questions.DiffArguments) (*questions.Comparison, error) {
	return answered[questions.Comparison](e, "diff", arguments)
}

// Explain explains why a call is allowed or denied.
func (e *Engine) Explain(arguments questions.ExplainArguments) (*questions.Explanation, error) {
	return answered[questions.Explanation](e, "explain", arguments)
}

// Lint finds likely mistakes in a policy.
func (e *Engine) Lint(arguments questions.LintArguments) (*questions.Lints, error) {
	return answered[questions.Lints](e, "lint", arguments)
}

// Needs finds the smallest set of scopes for a list of calls.
func (e *Engine) Needs(arguments questions.NeedsArguments) (*questions.Needs, error) {
	return answered[questions.Needs](e, "needs", arguments)
}

// Reach lists everything that a token can call.
func (e *Engine) Reach(arguments questions.ReachArguments) (*questions.Reach, error) {
	return answered[questions.Reach](e, "reach", arguments)
}

// Table returns the whole policy.
func (e *Engine) Table() (*questions.Table, error) {
	return answered[questions.Table](e, "table", questions.TableArguments{})
}

// Unused counts how often tokens had each scope and used it.
func (e *Engine) Unused(arguments questions.UnusedArguments) (*questions.Usage, error) {
	return answered[questions.Usage](e, "unused", arguments)
}

// Who decides which tokens may make a call.
func (e *Engine) Who(arguments questions.WhoArguments) (*questions.Callers, error) {
	return answered[questions.Callers](e, "who", arguments)
}
