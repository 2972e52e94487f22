//! The rule of the inference scopes (specification §5.6).

use super::token::TokenKind;
use crate::tables::reason::Reason;
use crate::tables::terms::OrganisationRule;

/// Decides an api whose scopes apply only when a user's token is supplied.
///
/// `held` says whether the token carries the scope. In other apis the token's kind changes nothing.
/// Here the scope counts only on a user's token, and the policy must say what an organisation gets.
#[inline(always)]
pub(crate) const fn decide(kind: TokenKind, organisation: OrganisationRule, held: bool) -> Reason {
    match (kind, organisation) {
        (TokenKind::User, _) if held => Reason::ScopeHeld,
        (TokenKind::User, _) => Reason::ScopeMissing,
        (TokenKind::Organisation, OrganisationRule::Deny) => Reason::UserTokenRequired,
        (TokenKind::Organisation, OrganisationRule::AllowWithoutScope) => {
            Reason::ScopeNotApplicable
        }
        (TokenKind::Unknown, _) => Reason::InvalidToken,
    }
}
