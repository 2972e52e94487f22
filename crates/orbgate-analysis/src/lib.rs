#![doc = include_str!("../README.md")]

#[cfg(feature = "ask")]
pub mod ask;
mod beside;
mod diff;
mod explain;
mod format;
mod least;
mod lint;
mod meetings;
mod near;
mod property;
mod questions;
mod rules;
mod shadow;
pub mod shown;
mod suite;
mod templates;
mod text;
mod usage;

// The public interface is:
#[cfg(feature = "ask")]
pub use crate::ask::{AskError, Form, QUESTIONS, ask, ask_in};
pub use crate::beside::{Beside, routes_beside};
pub use crate::diff::{Asked, Caller, Change, Cost, Counts, Diff, Rule, Summary, Verdict, diff};
pub use crate::explain::{Explanation, TriedAlternative, alternatives, explain, explain_route, explain_scope};
pub use crate::format::{format, format_and_seal, is_sealed};
pub use crate::least::{Demand, LeastScopes, Need, Refusal, least_scopes};
pub use crate::lint::{Code, Finding, Findings, Fix, Level, Levels, fixes, lint};
pub use crate::near::{Miss, NearMiss, near_misses, near_scope};
pub use crate::property::{Callers, Calls, Claim, Proof, Property, Witness};
pub use crate::questions::{TableRow, callable_rows, reach, route_of, table_rows, who_may};
pub use crate::rules::{RuleState, TargetRule, in_order, target_rules};
pub use crate::shadow::{Disagreeing, Disagreement, Shadowed, shadow};
pub use crate::suite::{
    Case, Coverage, CoveredRow, Difference, Expected, ExpectedOrbs, Outcome, Proved, Stated, Suite, Tried,
};
pub use crate::text::Text;
pub use crate::usage::{ScopeUsage, ScopeUse, used_scopes};
