//! Describes a token in an exchange, and makes the token from the description.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::signer::{AUDIENCE, Signer};

/// A token, described by its differences from the default: a user's token of the issuer `main`,
/// valid for ten minutes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Recipe {
    /// The issuer's name; by default, `main`.
    pub(crate) issuer: Option<String>,
    /// `token_kind`; by default, `user`.
    kind: Option<String>,
    /// `scope`.
    scopes: String,
    /// The scopes that the token earns, of those that its issuer derives.
    earns: String,
    /// Members of the header. Null removes one.
    header: BTreeMap<String, Value>,
    /// Members of the claims. Null removes one; `now+60` and `now-60` are times.
    claims: BTreeMap<String, Value>,
    /// Replaces the header's JSON.
    header_text: Option<String>,
    /// Replaces the claims' JSON.
    claims_text: Option<String>,
    /// Signed with a key that the issuer doesn't have, under the name of the issuer's key.
    forged: bool,
    /// Signed with HMAC, with the issuer's public key as the secret.
    hmac: bool,
    /// Changes to the finished token, in this order.
    #[serde(with = "serde_yaml::with::singleton_map_recursive")]
    alter: Vec<Alteration>,
}

/// A change to the finished token.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Alteration {
    /// Appends this string.
    Append(String),
    /// Replaces the signature with this string.
    Signature(String),
    /// Replaces the whole token with this string.
    Whole(String),
    /// Repeats the token's first letter up to this length.
    Longer(usize),
    /// Reverses the letters of the signature.
    Turn,
}

/// The issuer's data that a recipe needs.
pub(crate) struct Identity<'a> {
    /// Its `iss`.
    pub(crate) name: &'a str,
    pub(crate) signer: &'a Signer,
    pub(crate) kid: &'a str,
}

impl Recipe {
    /// A token of this kind with these scopes.
    pub(crate) fn of(kind: &str, scopes: &str) -> Self {
        Self { kind: Some(kind.to_owned()), scopes: scopes.to_owned(), ..Self::default() }
    }

    /// Sets another claim.
    pub(crate) fn claim(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.claims.insert(name.to_owned(), value.into());
        self
    }

    /// Sets another member of the header.
    pub(crate) fn header(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.header.insert(name.to_owned(), value.into());
        self
    }

    /// Signs with a key that the issuer doesn't have.
    pub(crate) fn forged(mut self) -> Self {
        self.forged = true;
        self
    }

    /// Sets another issuer.
    pub(crate) fn from(mut self, issuer: &str) -> Self {
        self.issuer = Some(issuer.to_owned());
        self
    }

    /// Its kind and its scopes: those of its claim that an issuer can claim, and those that it earns.
    pub(crate) fn named(&self) -> (String, String) {
        let claimed = self.scopes.split(' ').filter(|scope| !scope.starts_with("earned:"));
        let scopes: Vec<&str> = claimed.chain([self.earns.as_str()]).filter(|scopes| !scopes.is_empty()).collect();
        (self.kind().to_owned(), scopes.join(" "))
    }

    /// The claims of an issuer with this name at this time, as JSON.
    pub(crate) fn claims_at(&self, issuer: &str, now: u64) -> Result<String> {
        match &self.claims_text {
            Some(text) => Ok(text.replace("ISSUER", issuer)),
            None => changed(self.claims_of(issuer, now), &self.claims, now),
        }
    }

    pub(crate) fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or("user")
    }

    /// The claims of the default token, of an issuer with this name.
    pub(crate) fn claims_of(&self, issuer: &str, now: u64) -> Value {
        json!({
            "iss": issuer, "aud": AUDIENCE, "sub": "user-7", "client_id": "app-1", "jti": "token-1",
            "iat": now - 10, "exp": now + 600, "token_kind": self.kind(), "scope": self.scopes,
        })
    }

    /// Signs the token at this time.
    pub(crate) fn sign(&self, issuer: &Identity<'_>, now: u64) -> Result<String> {
        let header = json!({"alg": "ES256", "typ": "at+jwt", "kid": issuer.kid});
        let header = match &self.header_text {
            Some(text) => text.clone(),
            None => changed(header, &self.header, now)?,
        };
        let claims = self.claims_at(issuer.name, now)?;
        let public = issuer.signer.jwk(issuer.kid).to_string();
        let token = match (self.forged, self.hmac) {
            (true, _) => Signer::p256().token_of(&header, &claims),
            (_, true) => Signer::Secret(public.into_bytes()).token_of(&header, &claims),
            _ => issuer.signer.token_of(&header, &claims),
        };
        Ok(self.alter.iter().fold(token, |token, alteration| alteration.of(token)))
    }
}

impl Alteration {
    fn of(&self, token: String) -> String {
        let (signed, signature) = token.rsplit_once('.').unwrap_or((&token, ""));
        match self {
            Self::Append(text) => format!("{token}{text}"),
            Self::Signature(text) => format!("{signed}.{text}"),
            Self::Whole(text) => text.clone(),
            Self::Longer(length) => "a".repeat(*length),
            // The last letter stays, because not every letter is valid there.
            Self::Turn => {
                let (turned, last) = signature.split_at(signature.len().saturating_sub(1));
                format!("{signed}.{}{last}", turned.chars().rev().collect::<String>())
            }
        }
    }
}

/// An object with these members replaced, as JSON.
fn changed(object: Value, changes: &BTreeMap<String, Value>, now: u64) -> Result<String> {
    let Value::Object(mut members) = object else {
        bail!("not an object");
    };
    for (name, value) in changes {
        change(&mut members, name, value, now)?;
    }
    Ok(Value::Object(members).to_string())
}

fn change(members: &mut Map<String, Value>, name: &str, value: &Value, now: u64) -> Result<()> {
    let time = value.as_str().and_then(|text| text.strip_prefix("now"));
    match (value, time) {
        (Value::Null, _) => drop(members.remove(name)),
        (_, Some(offset)) => {
            let offset: i64 = offset.parse().with_context(|| format!("{name}: {value}"))?;
            members.insert(name.to_owned(), (now.cast_signed() + offset).into());
        }
        _ => drop(members.insert(name.to_owned(), value.clone())),
    }
    Ok(())
}
