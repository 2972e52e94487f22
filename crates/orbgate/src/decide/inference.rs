//! The rule of the inference scopes (specification §5.6).

use super::token::TokenKind;
use crate::tables::reason::Reason;
use crate::tables::terms::OrganisationRule;

/// Decides for an api whose scopes apply only to a user's token.
///
/// `held` is true if the token has the scope. In other apis, the kind of a token changes nothing.
/// In this api, the scope counts only on a user's token, and the policy must state what happens to
/// an organisation's token.
#[inline(always)]
pub(crate) const fn decide(kind: TokenKind, organisation: OrganisationRule, held: bool) -> Reason {
    match (kind, organisation) {
        (TokenKind::User, _) if held => Reason::ScopeHeld,
        (TokenKind::User, _) => Reason::ScopeMissing,
        (TokenKind::Organisation, OrganisationRule::Deny) => Reason::UserTokenRequired,
        (TokenKind::Organisation, OrganisationRule::AllowWithoutScope) => Reason::ScopeNotApplicable,
        (TokenKind::Unknown, _) => Reason::InvalidToken,
    }
}
