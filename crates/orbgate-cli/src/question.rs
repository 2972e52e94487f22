//! The arguments for one decision: method and target, or a scope, and the token.

use std::ffi::{OsStr, OsString};

use clap::{Args, ValueEnum};
use orbgate::{Decision, Engine, Request, Scopes, Token, TokenKind};

/// The arguments of the command; `explain` has the same.
#[derive(Debug, Args)]
#[command(after_help = HELP, override_usage = USAGE)]
pub(crate) struct Question {
    /// Method of the request, in capital letters
    #[arg(required_unless_present = "scope", requires = "target")]
    pub(crate) method: Option<OsString>,

    /// Target of the request: path and query, as on the wire
    #[arg(required_unless_present = "scope")]
    pub(crate) target: Option<OsString>,

    /// Ask by scope instead of by method and target
    #[arg(long, conflicts_with_all = ["method", "target"])]
    pub(crate) scope: Option<OsString>,

    /// Whose token it is
    ///
    /// Without it, the request carries no token.
    #[arg(long, value_name = "KIND")]
    pub(crate) token: Option<Kind>,

    /// Scopes that the token carries, separated by spaces
    #[arg(long, requires = "token")]
    pub(crate) scopes: Option<OsString>,

    /// The request lets the call use bonus orbs
    #[arg(long)]
    pub(crate) allow_bonus_orbs: bool,

    /// Answer as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl Question {
    pub(crate) fn scopes(&self) -> Scopes<'_> {
        given(&self.scopes).into()
    }

    /// A token with these scopes, if there is a token.
    pub(crate) fn token<'s>(&self, scopes: Scopes<'s>) -> Option<Token<'s>> {
        self.token.map(|kind| Token { kind: TokenKind::from(kind), scopes })
    }

    /// The call, unless the decision is by scope.
    pub(crate) fn request<'q>(&'q self, token: Option<Token<'q>>) -> Request<'q> {
        Request {
            method: given(&self.method),
            target: given(&self.target),
            token,
            allow_bonus_orbs_use: self.allow_bonus_orbs,
        }
    }
}

/// Decides with the exact bytes of the command line.
pub(crate) fn decide<'e>(question: &Question, scopes: Scopes<'_>, engine: &'e Engine) -> Decision<'e> {
    let token = question.token(scopes);
    match &question.scope {
        Some(scope) => engine.decide_scope(bytes(scope), token, question.allow_bonus_orbs),
        None => engine.decide(&question.request(token)),
    }
}

const USAGE: &str = "\
orbgate decide [OPTIONS] <METHOD> <TARGET>
       orbgate decide [OPTIONS] --scope <SCOPE>";

const HELP: &str = "\
Examples:
  orbgate decide GET /api/v1/external/orbs --token user --scopes read:orbs
  orbgate decide POST /api/v1/external/voxies/prompt/run \\
      --token organisation --scopes write:voxies --allow-bonus-orbs --json
  orbgate decide --scope read:inference --token user --scopes read:inference
  orbgate decide GET /v1/items --policy policy.yaml

Exit codes:
  0  allowed
  1  denied
  2  could not run: bad usage, bad or unreadable policy";

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Kind {
    /// A user's token
    User,
    /// An organisation's token
    Organisation,
}

impl From<Kind> for TokenKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::User => Self::User,
            Kind::Organisation => Self::Organisation,
        }
    }
}

/// The bytes of an optional argument.
pub(crate) fn given(argument: &Option<OsString>) -> &[u8] {
    argument.as_deref().map_or(&[], bytes)
}

/// The bytes of an argument, even if they aren't UTF-8.
#[cfg(unix)]
pub(crate) fn bytes(argument: &OsStr) -> &[u8] {
    std::os::unix::ffi::OsStrExt::as_bytes(argument)
}

/// The bytes of an argument. An argument that isn't Unicode stays invalid in every method, target
/// and scope.
#[cfg(not(unix))]
pub(crate) fn bytes(argument: &OsStr) -> &[u8] {
    argument.as_encoded_bytes()
}
