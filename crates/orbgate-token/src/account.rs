//! The account whose orbs a call consumes: an issuer and what the issuer calls the account.

use core::fmt::{self, Write as _};

use orbgate::TokenKind;

/// Where a token names the account whose orbs its calls consume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccountClaim {
    /// The subject, `sub`.
    Subject,
    /// The client, from the claim for [clients](crate::Issuer::client_claim).
    Client,
    /// This claim, which must be a string.
    Claim(String),
}

/// The account of each kind of token. A kind without one has no account, because any default could charge the wrong one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AccountClaims {
    pub(crate) user: Option<AccountClaim>,
    pub(crate) organisation: Option<AccountClaim>,
}

impl AccountClaim {
    /// The name of its claim, where this one names the client.
    pub(crate) fn claim<'c>(&'c self, client_claim: &'c str) -> &'c str {
        match self {
            Self::Subject => "sub",
            Self::Client => client_claim,
            Self::Claim(name) => name,
        }
    }
}

/// Where an issuer's tokens name their accounts, for each kind of token that it issues. `Display` prints the claims, such as
/// `user \`sub\`, organisation none`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuerAccounts<'v> {
    issuer: &'v str,
    kinds: Vec<(TokenKind, Option<&'v str>)>,
}

impl<'v> IssuerAccounts<'v> {
    pub(crate) const fn new(issuer: &'v str, kinds: Vec<(TokenKind, Option<&'v str>)>) -> Self {
        Self { issuer, kinds }
    }

    /// The issuer.
    #[must_use]
    pub const fn issuer(&self) -> &'v str {
        self.issuer
    }

    /// Whether any of its tokens has an account.
    #[must_use]
    pub fn are_stated(&self) -> bool {
        self.kinds.iter().any(|(_, claim)| claim.is_some())
    }
}

impl fmt::Display for IssuerAccounts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut kinds = self.kinds.iter();
        let first = kinds.next().and_then(|(_, claim)| *claim);
        if self.kinds.iter().all(|(_, claim)| *claim == first) {
            return quoted(f, first);
        }
        for (number, (kind, claim)) in self.kinds.iter().enumerate() {
            write!(f, "{}{} ", if number == 0 { "" } else { ", " }, kind.as_str())?;
            quoted(f, *claim)?;
        }
        Ok(())
    }
}

fn quoted(f: &mut fmt::Formatter<'_>, claim: Option<&str>) -> fmt::Result {
    match claim {
        Some(claim) => write!(f, "`{claim}`"),
        None => f.write_str("none"),
    }
}

/// The most bytes of an account's name, as ledgers take it.
const MOST_BYTES: usize = 512;

impl AccountClaims {
    pub(crate) const fn of(&self, kind: TokenKind) -> Option<&AccountClaim> {
        match kind {
            TokenKind::User => self.user.as_ref(),
            TokenKind::Organisation => self.organisation.as_ref(),
            TokenKind::Unknown => None,
        }
    }
}

/// An issuer and a value as one name, such as `https://id.example.com#alice`. No other issuer or value has the same name:
/// the first `#` ends the issuer, because those of the issuer itself are escaped.
pub(crate) fn joined(issuer: &str, value: &str) -> Option<Box<str>> {
    if value.is_empty() {
        return None;
    }
    let mut name = String::new();
    escape(&mut name, issuer, '#');
    name.push('#');
    escape(&mut name, value, '%');
    (name.len() <= MOST_BYTES).then(|| name.into())
}

/// Escapes `%`, this character and control characters, each byte as in a URL.
fn escape(name: &mut String, text: &str, escaped: char) {
    for character in text.chars() {
        if character == '%' || character == escaped || character.is_control() {
            let mut bytes = [0; 4];
            for byte in character.encode_utf8(&mut bytes).bytes() {
                // Writing to a string can't fail.
                let _ = write!(name, "%{byte:02X}");
            }
        } else {
            name.push(character);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::joined;

    #[test]
    fn every_pair_has_a_name_of_its_own() {
        let texts = ["a", "#", "%", "a#", "#a", "%23", "%2523", "##", "a%", "\u{7}", "%07", "é", " "];
        let pairs = texts.iter().flat_map(|issuer| texts.iter().map(|value| joined(issuer, value).unwrap()));
        assert_eq!(pairs.collect::<BTreeSet<_>>().len(), texts.len() * texts.len());
        assert_eq!(&*joined("https://id.example.com", "alice").unwrap(), "https://id.example.com#alice");
        assert_eq!(&*joined("a#b", "c#d\u{85}").unwrap(), "a%23b#c#d%C2%85");
    }

    #[test]
    fn a_name_has_a_value_and_a_limit() {
        assert_eq!(joined("a", ""), None);
        assert!(joined("a", &"b".repeat(510)).is_some());
        assert_eq!(joined("a", &"b".repeat(511)), None);
    }
}
