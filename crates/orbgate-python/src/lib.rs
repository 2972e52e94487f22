//! The native module of the Python package `orbgate`: a thin layer over the engine's public
//! interface.

mod answer;
mod bulk;
mod capsule;
mod charge;
mod column;
mod decision;
mod error;
mod explain;
mod gate;
mod issuer;
mod lines;
mod names;
mod objects;
mod openapi;
mod orbs;
mod outcome;
mod parallel;
mod policy;
mod property;
mod questions;
mod routes;
mod rows;
mod table;
mod terms;
mod text;
mod token;
mod versions;

use pyo3::prelude::*;

/// The native part of `orbgate`. Its names are not public: import them from `orbgate`.
#[pymodule]
mod _native {
    /// The package's version.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// The maximum size of a policy file in bytes.
    #[pymodule_export]
    const MAX_POLICY_BYTES: u64 = orbgate::Policy::MAX_BYTES;

    #[pymodule_export]
    use super::answer::{Answer, BearerToken};
    #[pymodule_export]
    use super::charge::Charge;
    #[pymodule_export]
    use super::decision::Decision;
    #[pymodule_export]
    use super::error::break_down;
    #[pymodule_export]
    use super::explain::{explain, explain_scope};
    #[pymodule_export]
    use super::gate::{Fetch, Follower, Gate, Post, Reading, Waiting};
    #[pymodule_export]
    use super::issuer::TestIssuer;
    #[pymodule_export]
    use super::property::{properties, prove};
    #[pymodule_export]
    #[pymodule_export]
    use super::questions::{
        least_scopes, least_scopes_of_table, reach, route_of, routes, scope_usage, scope_usage_of_table, scopes,
        scopes_on_route, table_rows, who_may,
    };
    /// The most bytes to which a compressed log is decompressed.
    #[pymodule_export]
    const DECOMPRESSED_LIMIT: u64 = orbgate_log::DECOMPRESSED_LIMIT;

    /// The maximum length of a line in a log, in bytes.
    #[pymodule_export]
    const LINE_LIMIT: usize = orbgate_log::LINE_LIMIT;

    /// The maximum number of lines of a quoted value.
    #[pymodule_export]
    const MOST_LINES: usize = orbgate_log::MOST_LINES;

    /// The strings that count as true and as false in a column.
    #[pymodule_export]
    const TRUE: [&str; 3] = super::column::TRUE;
    #[pymodule_export]
    const FALSE: [&str; 4] = super::column::FALSE;

    #[pymodule_export]
    use super::lines::{AccessLog, read_delimited, read_requests};
    #[pymodule_export]
    use super::objects::{Columns, objects, skeleton};
    #[pymodule_export]
    use super::openapi::{openapi_check, openapi_export, openapi_import};
    #[pymodule_export]
    use super::orbs::{Call, Hold, Orbs, ledger_address, ledger_secret};
    /// The maximum length of a ledger service's answer, in bytes.
    #[pymodule_export]
    const LEDGER_REPLY_LIMIT: usize = super::orbs::MOST_BYTES;
    #[pymodule_export]
    use super::policy::Policy;
    #[pymodule_export]
    use super::routes::{PublicRoutes, allows_bonus_orbs, check_routes};
    #[pymodule_export]
    use super::rows::{DecisionTable, table_of};
    #[pymodule_export]
    use super::table::decide_table;
    #[pymodule_export]
    use super::terms::{detail, is_earned, reason};
    #[pymodule_export]
    use super::token::Token;
    #[pymodule_export]
    use super::versions::{ask, coverage, diff, lay_out, lint, test};
}
