//! A token's recipe: what an exchange says of its token, and the text that it becomes.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::signer::{AUDIENCE, Signer};

/// A token, as its difference from the usual one: a user's, of the issuer `main`, for ten minutes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Recipe {
    /// The issuer's name; `main`.
    pub(crate) issuer: Option<String>,
    /// `token_kind`; `user`.
    kind: Option<String>,
    /// `scope`.
    scopes: String,
    /// Members of the header; null leaves one out.
    header: BTreeMap<String, Value>,
    /// Members of the claims; null leaves one out, `now+60` and `now-60` are times.
    claims: BTreeMap<String, Value>,
    /// The header's text instead.
    header_text: Option<String>,
    /// The claims' text instead.
    claims_text: Option<String>,
    /// Signed with a key that the issuer does not have, under the name of the issuer's.
    forged: bool,
    /// Signed with HMAC, and the issuer's public key as the secret.
    hmac: bool,
    /// What is done to the finished text, in this order.
    #[serde(with = "serde_yaml::with::singleton_map_recursive")]
    alter: Vec<Alteration>,
}

/// A change of a token's text.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Alteration {
    /// Adds this text.
    Append(String),
    /// Puts this text instead of the signature.
    Signature(String),
    /// Puts this text instead of the whole token.
    Whole(String),
    /// Repeats the whole token's first letter up to this length.
    Longer(usize),
    /// Turns the letters of the signature around.
    Turn,
}

/// An issuer as a recipe knows it.
pub(crate) struct Identity<'a> {
    /// Its `iss`.
    pub(crate) name: &'a str,
    pub(crate) signer: &'a Signer,
    pub(crate) kid: &'a str,
}

impl Recipe {
    /// A token of this kind with these scopes.
    pub(crate) fn of(kind: &str, scopes: &str) -> Self {
        Self {
            kind: Some(kind.to_owned()),
            scopes: scopes.to_owned(),
            ..Self::default()
        }
    }

    /// The same, with another claim.
    pub(crate) fn claim(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.claims.insert(name.to_owned(), value.into());
        self
    }

    /// The same, with another member of the header.
    pub(crate) fn header(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.header.insert(name.to_owned(), value.into());
        self
    }

    /// The same, of another issuer.
    pub(crate) fn from(mut self, issuer: &str) -> Self {
        self.issuer = Some(issuer.to_owned());
        self
    }

    /// Its kind and its scopes.
    pub(crate) fn named(&self) -> (String, String) {
        (self.kind().to_owned(), self.scopes.clone())
    }

    pub(crate) fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or("user")
    }

    /// The token, at this time.
    pub(crate) fn sign(&self, issuer: &Identity<'_>, now: u64) -> Result<String> {
        let header = json!({"alg": "ES256", "typ": "at+jwt", "kid": issuer.kid});
        let claims = json!({
            "iss": issuer.name, "aud": AUDIENCE, "sub": "user-7", "client_id": "app-1", "jti": "token-1",
            "iat": now - 10, "exp": now + 600, "token_kind": self.kind(), "scope": self.scopes,
        });
        let header = match &self.header_text {
            Some(text) => text.clone(),
            None => changed(header, &self.header, now)?,
        };
        let claims = match &self.claims_text {
            Some(text) => text.replace("ISSUER", issuer.name),
            None => changed(claims, &self.claims, now)?,
        };
        let public = issuer.signer.jwk(issuer.kid).to_string();
        let token = match (self.forged, self.hmac) {
            (true, _) => Signer::p256().token_of(&header, &claims),
            (_, true) => Signer::Secret(public.into_bytes()).token_of(&header, &claims),
            _ => issuer.signer.token_of(&header, &claims),
        };
        Ok(self
            .alter
            .iter()
            .fold(token, |token, alteration| alteration.of(token)))
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
            // The last letter stays: it may not be any.
            Self::Turn => {
                let (turned, last) = signature.split_at(signature.len().saturating_sub(1));
                format!(
                    "{signed}.{}{last}",
                    turned.chars().rev().collect::<String>()
                )
            }
        }
    }
}

/// An object with these members put instead of what it has, as text.
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
