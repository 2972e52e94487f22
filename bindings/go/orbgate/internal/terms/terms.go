// Package terms has the names of what gates count and say.
package terms

// The names of what gates count and say. Made by cargo xtask codes; not to be edited.
const (
	EffectDeny         = "deny"
	EffectAllow        = "allow"
	DecisionsTotal     = "orbgate_decisions_total"
	TokensRefusedTotal = "orbgate_tokens_refused_total"
	MisroutedTotal     = "orbgate_misrouted_total"
	PolicyLoadsTotal   = "orbgate_policy_loads_total"
	AuditLostTotal     = "orbgate_audit_lost_total"
	HoldsTotal         = "orbgate_holds_total"
	SettlementsTotal   = "orbgate_settlements_total"
	OverCeilingTotal   = "orbgate_over_ceiling_total"
	LabelDecision      = "decision"
	LabelReason        = "reason"
	LabelRoute         = "route"
	LabelMatched       = "matched"
	LabelResult        = "result"
)
