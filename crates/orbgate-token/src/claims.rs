//! The claims of an access token (RFC 7519 §4.1, RFC 9068 §2.2): each of the type that it must have.

use core::time::Duration;

use serde_json::{Map, Value};

use crate::error::TokenError;
use crate::issuer::Issuer;
use crate::json::{self, JsonFault};

/// A token's claims.
#[derive(Default)]
pub(crate) struct Claims(pub(crate) Map<String, Value>);

/// The first second that no claim may name: below it, floating-point numbers are exact.
const END_OF_TIME: u64 = 1 << 53;

impl Claims {
    pub(crate) fn parse(payload: &[u8]) -> Result<Self, TokenError> {
        json::object(payload)
            .map(Self)
            .map_err(|fault| match fault {
                JsonFault::NotAnObject => TokenError::BadClaims,
                JsonFault::DuplicateMember => TokenError::DuplicateMember,
            })
    }

    pub(crate) fn issuer(&self) -> Result<&str, TokenError> {
        self.0
            .get("iss")
            .and_then(Value::as_str)
            .ok_or(TokenError::Issuer)
    }

    /// Checks that the audience is in `aud`: one string, or a list of strings alone.
    pub(crate) fn check_audience(&self, audience: &str) -> Result<(), TokenError> {
        let found = match self.0.get("aud") {
            Some(Value::String(one)) => one == audience,
            Some(Value::Array(list)) => {
                list.iter().all(Value::is_string) && list.iter().any(|one| one == audience)
            }
            _ => false,
        };
        found.then_some(()).ok_or(TokenError::Audience)
    }

    /// When the token expires, if it is valid at this time.
    pub(crate) fn check_times(
        &self,
        issuer: &Issuer,
        now: Duration,
    ) -> Result<Duration, TokenError> {
        let expires = self.time("exp")?.ok_or(TokenError::BadTime)?;
        let (not_before, issued) = (self.time("nbf")?, self.time("iat")?);
        // RFC 7519 §4.1.4: not on or after that time.
        if now >= expires.saturating_add(issuer.skew) {
            return Err(TokenError::Expired);
        }
        let latest = now.saturating_add(issuer.skew);
        if [not_before, issued]
            .into_iter()
            .flatten()
            .any(|time| time > latest)
        {
            return Err(TokenError::NotYetValid);
        }
        if let Some(longest) = issuer.max_lifetime {
            let issued = issued.ok_or(TokenError::BadTime)?;
            if expires.saturating_sub(issued) > longest {
                return Err(TokenError::Lifetime);
            }
        }
        Ok(expires)
    }

    pub(crate) fn check_required(&self, names: &[String]) -> Result<(), TokenError> {
        let there = |name: &String| self.0.get(name).is_some_and(|value| !value.is_null());
        names
            .iter()
            .all(there)
            .then_some(())
            .ok_or(TokenError::Claim)
    }

    /// A claim that must be text if it is there.
    pub(crate) fn text(&self, name: &str) -> Result<Option<Box<str>>, TokenError> {
        match self.0.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str().into())),
            Some(_) => Err(TokenError::Claim),
        }
    }

    /// Who acts for the subject (RFC 8693 §4.1): the outermost of a chain.
    pub(crate) fn actor(&self) -> Result<Option<Box<str>>, TokenError> {
        match self.0.get("act") {
            None => Ok(None),
            Some(Value::Object(actor)) => match actor.get("sub") {
                None => Ok(None),
                Some(Value::String(text)) => Ok(Some(text.as_str().into())),
                Some(_) => Err(TokenError::Claim),
            },
            Some(_) => Err(TokenError::Claim),
        }
    }

    /// A NumericDate (RFC 7519 §2): a number from 0 to where whole seconds stop being exact.
    fn time(&self, name: &str) -> Result<Option<Duration>, TokenError> {
        let Some(value) = self.0.get(name) else {
            return Ok(None);
        };
        let time = match value.as_u64() {
            Some(seconds) => Some(Duration::from_secs(seconds)),
            None => value
                .as_f64()
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
        };
        time.filter(|time| time.as_secs() < END_OF_TIME)
            .map(Some)
            .ok_or(TokenError::BadTime)
    }
}
