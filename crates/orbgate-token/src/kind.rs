//! Distinguishes users' tokens from organisations' tokens by what the issuer states, never by what
//! is missing.

use orbgate::TokenKind;

use crate::claim_test::{ClaimTest, window};
use crate::json::Object;

/// How to distinguish an organisation's token from a user's (specification §5.2, §5.6).
///
/// There is no default, because the specification doesn't define how. A token that matches neither
/// rule, or both, is of unknown kind, and every request with it is denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KindRules {
    /// Every token of the issuer is of this kind. This is the strongest evidence, if the issuer
    /// serves only one kind.
    Always(TokenKind),
    /// By claims: a token is a user's if it passes all tests of `user` but not all of
    /// `organisation`, and vice versa. An empty list never matches.
    Claims {
        /// Tests for a user's token.
        user: Vec<ClaimTest>,
        /// Tests for an organisation's token.
        organisation: Vec<ClaimTest>,
    },
}

impl KindRules {
    /// Reads the kind from a claim, if the provider has one for it, such as `token_kind`.
    #[must_use]
    pub fn named_by(claim: &str, user: &str, organisation: &str) -> Self {
        Self::Claims {
            user: vec![ClaimTest::equals(claim, user)],
            organisation: vec![ClaimTest::equals(claim, organisation)],
        }
    }

    /// Whether tokens of this kind can exist.
    pub(crate) const fn has(&self, kind: TokenKind) -> bool {
        match (self, kind) {
            (Self::Always(TokenKind::User), TokenKind::User)
            | (Self::Always(TokenKind::Organisation), TokenKind::Organisation) => true,
            (Self::Always(_), _) | (_, TokenKind::Unknown) => false,
            (Self::Claims { user, .. }, TokenKind::User) => !user.is_empty(),
            (Self::Claims { organisation, .. }, TokenKind::Organisation) => !organisation.is_empty(),
        }
    }

    pub(crate) fn kind(&self, claims: &Object<'_>) -> TokenKind {
        let (user, organisation) = match self {
            Self::Always(kind) => return *kind,
            Self::Claims { user, organisation } => (user, organisation),
        };
        // No test here has a date, so one that holds does so at any time.
        let all = |tests: &[ClaimTest]| !tests.is_empty() && window(tests, claims).is_some();
        match (all(user), all(organisation)) {
            (true, false) => TokenKind::User,
            (false, true) => TokenKind::Organisation,
            _ => TokenKind::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use orbgate::TokenKind::{self, Organisation, Unknown, User};
    use serde_json::json;

    use super::KindRules;
    use crate::claim_test::ClaimTest;
    use crate::json::Object;

    fn check(rules: &KindRules, table: &[(serde_json::Value, TokenKind)]) {
        for (claims, kind) in table {
            let text = claims.to_string();
            let claims = Object::parse(text.as_bytes()).unwrap();
            assert_eq!(rules.kind(&claims), *kind, "{text}");
        }
    }

    #[test]
    fn exactly_one_of_the_two_must_hold() {
        let rules = KindRules::Claims {
            user: vec![ClaimTest::one_of("amr", ["pwd", "otp"]), ClaimTest::absent("gty")],
            organisation: vec![ClaimTest::equals_claim("sub", "client_id")],
        };
        check(
            &rules,
            &[
                (json!({"sub": "u", "client_id": "c", "amr": "otp"}), User),
                (json!({"sub": "u", "client_id": "c", "amr": "otp", "gty": null}), Unknown),
                (json!({"sub": "u", "client_id": "c", "amr": "face"}), Unknown),
                (json!({"sub": "c", "client_id": "c"}), Organisation),
                (json!({"sub": "c", "client_id": "c", "amr": "pwd"}), Unknown),
                (json!({"sub": "u", "client_id": "c"}), Unknown),
                (json!({"client_id": "c"}), Unknown),
                (json!({"sub": ["c"], "client_id": ["c"]}), Unknown),
                (json!({}), Unknown),
            ],
        );
    }

    #[test]
    fn a_claim_may_name_the_kind() {
        let rules = KindRules::named_by("token_kind", "user", "organisation");
        check(
            &rules,
            &[
                (json!({"token_kind": "user"}), User),
                (json!({"token_kind": "organisation"}), Organisation),
                (json!({"token_kind": "User"}), Unknown),
                (json!({"token_kind": ["user"]}), Unknown),
                (json!({"token_kind": null}), Unknown),
                (json!({}), Unknown),
            ],
        );
    }

    #[test]
    fn users_and_clients_may_be_told_apart_by_their_subject() {
        let rules = KindRules::Claims {
            user: vec![ClaimTest::differs_from_claim("sub", "client_id"), ClaimTest::present("auth_time")],
            organisation: vec![ClaimTest::equals_claim("sub", "client_id")],
        };
        check(
            &rules,
            &[
                (json!({"sub": "u", "client_id": "c", "auth_time": 1}), User),
                (json!({"sub": "u", "client_id": "c", "auth_time": null}), Unknown),
                (json!({"sub": "c", "client_id": "c", "auth_time": 1}), Organisation),
                (json!({"sub": "u", "auth_time": 1}), Unknown),
            ],
        );
    }

    #[test]
    fn no_rule_recognises_nothing() {
        let rules = KindRules::Claims { user: vec![], organisation: vec![ClaimTest::present("org")] };
        check(&rules, &[(json!({}), Unknown), (json!({"org": "o"}), Organisation)]);
    }
}
