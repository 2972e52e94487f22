"use strict";
// The names of what gates count and say. Made by `cargo xtask codes`; not to be edited.

const NAMES = Object.freeze({
  EFFECT_DENY: "deny",
  EFFECT_ALLOW: "allow",
  DECISIONS_TOTAL: "orbgate_decisions_total",
  TOKENS_REFUSED_TOTAL: "orbgate_tokens_refused_total",
  MISROUTED_TOTAL: "orbgate_misrouted_total",
  POLICY_LOADS_TOTAL: "orbgate_policy_loads_total",
  AUDIT_LOST_TOTAL: "orbgate_audit_lost_total",
  HOLDS_TOTAL: "orbgate_holds_total",
  SETTLEMENTS_TOTAL: "orbgate_settlements_total",
  OVER_CEILING_TOTAL: "orbgate_over_ceiling_total",
  LABEL_DECISION: "decision",
  LABEL_REASON: "reason",
  LABEL_ROUTE: "route",
  LABEL_MATCHED: "matched",
  LABEL_RESULT: "result",
});

module.exports = { NAMES };
