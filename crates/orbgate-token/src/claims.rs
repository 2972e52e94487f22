//! The claims of an access token (RFC 7519 §4.1, RFC 9068 §2.2), each checked for its type.

use core::fmt;
use core::time::Duration;
use std::borrow::Cow;

use orbgate::{TokenKind, without_earned};
use serde_json::Value;

use crate::account::{AccountClaim, joined};
use crate::claim_test::{Window, date, window};
use crate::derive::Earned;
use crate::error::TokenError;
use crate::issuer::Issuer;
use crate::json::{JsonError, Member, Object};
use crate::proof::confirmation::Confirmation;

pub(crate) struct Claims<'t>(pub(crate) Object<'t>);

/// The results of reading claims, each reported only when its check is due. They are kept while a program checks the
/// signature.
#[derive(Clone, Debug)]
pub(crate) struct Stated {
    pub(crate) audience: Result<(), TokenError>,
    pub(crate) validity: Result<Validity, TokenError>,
    pub(crate) rest: Result<Rest, TokenError>,
}

/// The times between which a token is valid, since 1970.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Validity {
    pub(crate) expires: Duration,
    not_before: Option<Duration>,
    issued: Option<Duration>,
}

/// The claims that remain, if the audience and the times are valid.
#[derive(Clone)]
pub(crate) struct Rest {
    pub(crate) kind: TokenKind,
    pub(crate) scopes: Box<str>,
    pub(crate) subject: Option<Box<str>>,
    pub(crate) client: Option<Box<str>>,
    pub(crate) actor: Option<Box<str>>,
    pub(crate) id: Option<Box<str>>,
    pub(crate) account: Option<Box<str>>,
    /// The keys that its holder must prove to have.
    pub(crate) confirmation: Confirmation,
    /// When the tests of `require` hold.
    pub(crate) required: Window,
    /// The scopes that the token earns in addition to `scopes`, and when.
    pub(crate) earned: Earned,
}

// Written by hand: who a token is about is not shown.
impl fmt::Debug for Rest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rest").field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl Stated {
    /// The same, unless a rule refuses it at any time.
    pub(crate) fn unless_refused(self) -> Result<Self, TokenError> {
        let Self { audience, validity, rest } = &self;
        let error = audience.err();
        let error = error.or(validity.as_ref().err().copied());
        match error.or(rest.as_ref().err().copied()) {
            Some(error) => Err(error),
            None => Ok(self),
        }
    }

    /// How many bytes its parts of variable size have.
    pub(crate) fn bytes(&self) -> usize {
        self.rest.as_ref().map_or(0, Rest::bytes)
    }
}

impl Rest {
    /// How many bytes its parts of variable size have.
    fn bytes(&self) -> usize {
        let optional = [&self.subject, &self.client, &self.actor, &self.id, &self.account];
        let strings = optional.into_iter().flatten().chain([&self.scopes]);
        strings.map(|string| string.len()).sum::<usize>().saturating_add(self.earned.bytes())
    }
}

impl<'t> Claims<'t> {
    pub(crate) fn parse(payload: &'t [u8]) -> Result<Self, TokenError> {
        Object::parse(payload).map(Self).map_err(|diagnostic| match diagnostic {
            JsonError::NotAnObject => TokenError::BadClaims,
            JsonError::DuplicateMember => TokenError::DuplicateMember,
        })
    }

    pub(crate) fn issuer(&self) -> Result<&str, TokenError> {
        self.0.text("iss").ok_or(TokenError::Issuer)
    }

    pub(crate) fn read(&self, issuer: &Issuer) -> Stated {
        Stated { audience: self.check_audience(issuer), validity: self.validity(), rest: self.rest(issuer) }
    }

    /// Checks that one of the audiences is in `aud`, or in the configured claim: one string, or a list that contains
    /// only strings.
    fn check_audience(&self, issuer: &Issuer) -> Result<(), TokenError> {
        let is_ours = |text: &str| issuer.audiences.iter().any(|audience| audience == text);
        let has_ours = match self.0.get(&issuer.audience_claim) {
            Some(Member::Text(one)) => is_ours(one),
            Some(Member::Other(Value::Array(list))) => {
                list.iter().all(Value::is_string) && list.iter().filter_map(Value::as_str).any(is_ours)
            }
            _ => false,
        };
        has_ours.then_some(()).ok_or(TokenError::Audience)
    }

    fn validity(&self) -> Result<Validity, TokenError> {
        Ok(Validity {
            expires: self.time("exp")?.ok_or(TokenError::BadTime)?,
            not_before: self.time("nbf")?,
            issued: self.time("iat")?,
        })
    }

    fn rest(&self, issuer: &Issuer) -> Result<Rest, TokenError> {
        let required = window(&issuer.require, &self.0).ok_or(TokenError::Claim)?;
        let confirmation = match &issuer.proof {
            Some(rules) => Confirmation::read(&self.0, rules)?,
            None if self.0.get("cnf").is_some() && !issuer.allow_unverified_cnf => return Err(TokenError::Bound),
            None => Confirmation::default(),
        };
        let kind = issuer.kind.kind(&self.0);
        let claimed = issuer.scopes_of(kind).read(&self.0)?;
        // Only `derive` gives the others, whatever the issuer writes.
        let kept = match without_earned(&claimed) {
            Cow::Owned(kept) => Some(kept),
            Cow::Borrowed(_) => None,
        };
        let rest = Rest {
            kind,
            scopes: kept.map_or(claimed, Into::into),
            subject: self.text("sub")?,
            client: self.text(&issuer.client_claim)?,
            actor: self.actor()?,
            id: self.text("jti")?,
            account: None,
            confirmation,
            required,
            earned: Earned::of(&issuer.derive, &self.0),
        };
        Ok(Rest { account: self.account(issuer, &rest), ..rest })
    }

    /// A claim that must be a string if it is present.
    fn text(&self, name: &str) -> Result<Option<Box<str>>, TokenError> {
        match self.0.get(name) {
            None => Ok(None),
            Some(value) => value.text().map(Into::into).map(Some).ok_or(TokenError::Claim),
        }
    }

    /// The party that acts for the subject (RFC 8693 §4.1): the outermost of a chain.
    fn actor(&self) -> Result<Option<Box<str>>, TokenError> {
        match self.0.get("act") {
            None => Ok(None),
            Some(Member::Other(Value::Object(actor))) => match actor.get("sub") {
                None => Ok(None),
                Some(Value::String(text)) => Ok(Some(text.as_str().into())),
                Some(_) => Err(TokenError::Claim),
            },
            Some(_) => Err(TokenError::Claim),
        }
    }

    /// A date that must be valid if it is present.
    fn time(&self, name: &str) -> Result<Option<Duration>, TokenError> {
        match self.0.get(name) {
            None => Ok(None),
            Some(Member::Text(_)) => Err(TokenError::BadTime),
            Some(Member::Other(value)) => date(value).map(Some).ok_or(TokenError::BadTime),
        }
    }

    /// The account of a token whose other claims are these. `None` if the configuration or the token doesn't state it.
    pub(crate) fn account(&self, issuer: &Issuer, rest: &Rest) -> Option<Box<str>> {
        let value = match issuer.accounts.of(rest.kind)? {
            AccountClaim::Subject => rest.subject.as_deref()?,
            AccountClaim::Client => rest.client.as_deref()?,
            AccountClaim::Claim(name) => self.0.get(name).and_then(Member::text)?,
        };
        joined(&issuer.issuer, value)
    }
}

impl Validity {
    /// The time when the token expires, if it is valid now.
    pub(crate) fn check(&self, issuer: &Issuer, now: Duration) -> Result<Duration, TokenError> {
        // RFC 7519 §4.1.4: not accepted on or after that time.
        if now >= self.expires.saturating_add(issuer.skew) {
            return Err(TokenError::Expired);
        }
        let latest = now.saturating_add(issuer.skew);
        if [self.not_before, self.issued].into_iter().flatten().any(|time| time > latest) {
            return Err(TokenError::NotYetValid);
        }
        if let Some(longest) = issuer.max_lifetime {
            let issued = self.issued.ok_or(TokenError::BadTime)?;
            if self.expires.saturating_sub(issued) > longest {
                return Err(TokenError::Lifetime);
            }
        }
        Ok(self.expires)
    }
}
