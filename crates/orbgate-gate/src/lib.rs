#![doc = include_str!("../README.md")]

mod answer;
mod audit;
mod bonus;
mod challenge;
mod credentials;
mod gate;
mod matched;
mod method;
pub mod names;
mod request;
mod routes;
mod rules;
mod step;
mod template;
mod upgrade;

// The public interface is:
pub use crate::answer::{Answer, Denial};
pub use crate::audit::{AuditLine, AuditToken};
pub use crate::bonus::allows_bonus_orbs;
pub use crate::challenge::{Challenge, ChallengeError, FullChallenge};
pub use crate::credentials::Credentials;
pub use crate::gate::Gate;
pub use crate::matched::{Matched, Misrouted, same_template};
pub use crate::request::Request;
pub use crate::routes::{RoutesDiffer, Undeclared, check_routes};
pub use crate::rules::{Decided, Rules};
pub use crate::step::{Checking, Step, Waiting};
pub use crate::template::TemplateStyle;
