//! The groups of exchanges.

mod cases;
mod charging;
mod exchanges;
mod framing;
mod keys;
mod mcp_orbs;
mod mcp_pages;
mod mcp_sequences;
mod measured;
mod opaque;
mod orbs;
mod outside;
mod proof;
mod provider;
mod reload;
mod servers;

use core::fmt;

use anyhow::Result;
use clap::ValueEnum;

use crate::exchange::program::Program;
use crate::exchange::suite::Suite;

/// What is put to a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Group {
    /// The decision cases with a target: every route, every hostile target, the rule of inference
    Cases,
    /// The files of policy/cases/gate
    Exchanges,
    /// What the log states of charging, at the start and after a reload
    Charging,
    /// Where a request begins and ends: policy/cases/gate/framing.tsv
    Framing,
    /// Keys that rotate, forged ones, and issuers that are down, slow, huge, or lie
    Keys,
    /// Opaque tokens, and introspection endpoints that fail
    Opaque,
    /// Orbs that calls hold in a ledger service
    Orbs,
    /// Orbs that calls at an MCP endpoint hold, and what its responses have for pages
    McpOrbs,
    /// Everything that a caller chooses, before the MCP servers of the official SDKs
    McpSequences,
    /// Keys through a proxy, and from a file
    Outside,
    /// Tokens that are bound to a key, and what proves that their sender has it
    Proof,
    /// A policy that is replaced under load
    Reload,
    /// What the server does before the gate sees a request: policy/cases/gate/servers.tsv
    Servers,
    /// Tokens of a real OpenID provider
    Provider,
}

impl Group {
    pub(crate) fn run(self, suite: &Suite, home: &str) -> Result<()> {
        match self {
            Self::Cases => cases::run(suite),
            Self::Exchanges => exchanges::run(suite),
            Self::Charging => charging::run(suite),
            Self::Framing => framing::run(suite),
            Self::Keys => keys::run(suite),
            Self::Opaque => opaque::run(suite),
            Self::Orbs => orbs::run(suite),
            Self::McpOrbs => mcp_orbs::run(suite),
            Self::McpSequences => mcp_sequences::run(suite),
            Self::Outside => outside::run(suite),
            Self::Proof => proof::run(suite),
            Self::Reload => reload::run(suite),
            Self::Servers => servers::run(suite),
            Self::Provider => provider::run(suite, home),
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value();
        f.pad(value.as_ref().map_or("", |value| value.get_name()))
    }
}

/// Sends every group to a program, and prints the failures under this name. Returns the number of
/// exchanges.
///
/// # Errors
///
/// Fails if an exchange failed, or if the program can't be driven.
pub fn run(name: &str, program: Program, groups: &[Group], home: &str) -> Result<usize> {
    let suite = Suite::new(program)?;
    for group in groups {
        suite.group(name, group, || group.run(&suite, home))?;
    }
    suite.result(name)
}
