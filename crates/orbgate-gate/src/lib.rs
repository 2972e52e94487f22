#![doc = include_str!("../README.md")]

mod answer;
mod audit;
mod challenge;
mod credentials;
mod gate;
mod header;
mod lacking;
mod mcp;
mod metadata;
pub mod names;
mod orbs;
mod order;
mod public;
mod reload;
mod request;
mod routes;
mod rules;
mod step;
mod template;

// The public interface is:
pub use crate::answer::{Answer, Denial, Misrouted};
pub use crate::audit::{AuditLine, AuditToken, audit_json};
pub use crate::challenge::{Challenge, ChallengeError, FullChallenge};
pub use crate::credentials::{Credentials, Verified};
pub use crate::gate::Gate;
pub use crate::header::same_header;
pub use crate::mcp::{Legacy, Mcp, McpCall, McpEnd, McpError, McpFault, McpRequest, McpResponse};
pub use crate::metadata::Metadata;
pub use crate::orbs::{
    Amount, ChargedBy, Charging, GateCharges, HandlerOutcome, HoldAnswer, HoldCommand, HoldId, HoldStep, Holds,
    LedgerCall, LedgerReply, McpOrbs, NoAccount, NoAmount, OnCancelled, OrbRules, Output, RemoteHolds, SettleAnswer,
    SettledCounts, Settlement, Statement, Uncharged, Unpaid,
};
pub use crate::order::Opened;
pub use crate::public::{PublicRoutes, PublicRoutesError};
pub use crate::reload::read::{FileRead, Reloaded};
pub use crate::reload::{Changes, Compare, Current, Ending, Follower, LoadError, LoadRules, Look, Version};
pub use crate::request::{Matched, Request, allows_bonus_orbs, same_template};
pub use crate::routes::{RoutesDiffer, Undeclared, check_routes};
pub use crate::rules::{CorsPreflight, Rules};
pub use crate::step::{Checking, Step, Waiting};
pub use crate::template::TemplateStyle;
