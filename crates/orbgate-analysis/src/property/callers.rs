//! The callers that a property applies to.

use core::str::FromStr;

use orbgate::{Engine, TokenKind};
use orbgate_yaml::quoted;

use crate::diff::{Caller, Rule};
use crate::near::lacking;

/// The valid first words of the second cell.
const UNKNOWN_KIND: &str = "callers are `user`, `organisation` or `any`, of any scopes, or of these alone, as in `user read:a`, or of none, as in `user \"\"`";

/// Callers with tokens of one kind or both, and with given scopes or any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callers {
    kind: Option<TokenKind>,
    /// Separated by spaces; `None` for any.
    scopes: Option<String>,
}

impl Callers {
    /// Callers whose tokens have this kind, and exactly these scopes, separated by spaces. `None` means any.
    ///
    /// # Errors
    ///
    /// Fails for an unknown kind, whose tokens are always denied.
    pub fn new(kind: Option<TokenKind>, scopes: Option<&str>) -> Result<Self, String> {
        match kind {
            Some(TokenKind::User | TokenKind::Organisation) | None => {
                Ok(Self { kind, scopes: scopes.map(str::to_owned) })
            }
            Some(_) => Err(UNKNOWN_KIND.to_owned()),
        }
    }

    pub(super) fn kinds(&self) -> impl Iterator<Item = TokenKind> + use<> {
        let kinds = [TokenKind::User, TokenKind::Organisation];
        let own = self.kind;
        kinds.into_iter().filter(move |kind| own.is_none_or(|own| own == *kind))
    }

    /// The smallest sets of scopes with which one of these callers might make a call by this rule: none, then each
    /// alternative. A decision depends on no other scope.
    pub(super) fn with(&self, rule: &Rule<'_>) -> impl Iterator<Item = Caller> + use<> {
        let scopes = match &self.scopes {
            Some(scopes) => vec![scopes.clone()],
            None => core::iter::once(String::new()).chain(rule.alternatives()).collect(),
        };
        let callers = move |kind| scopes.clone().into_iter().map(move |scopes| Caller { kind, scopes });
        self.kinds().flat_map(callers)
    }

    /// Fails if a proof would be meaningless, because the policy doesn't define a scope.
    pub(super) fn check(&self, engine: &Engine) -> Result<(), String> {
        match lacking(engine, self.scopes.as_deref().unwrap_or_default()).first() {
            Some(lacking) => Err(lacking.clone()),
            None => Ok(()),
        }
    }
}

/// `user`, `user *`, `organisation read:a read:b`, `any ""`: the kind, followed by scopes as in a case. Without scopes,
/// or with `*`, the callers can have any scopes, because a writer who omits them means all callers of that kind. `""`
/// means no scope at all.
impl FromStr for Callers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, scopes) = text.split_once(' ').unwrap_or((text, "*"));
        let kind = match kind {
            "any" => None,
            "user" => Some(TokenKind::User),
            "organisation" => Some(TokenKind::Organisation),
            _ => return Err(format!("{UNKNOWN_KIND}, not {}", quoted(text))),
        };
        let scopes = match scopes.trim() {
            "*" => None,
            r#""""# => Some(""),
            scopes => Some(scopes),
        };
        Self::new(kind, scopes)
    }
}
