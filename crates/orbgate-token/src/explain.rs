//! Explains why a token is rejected, for whoever configures its issuer.

use core::time::Duration;
use std::time::SystemTime;

use orbgate::{TokenKind, is_earned};
use orbgate_yaml::quoted;
use serde_json::Value;

use crate::algorithm::Algorithm;
use crate::claim_test::{ClaimTest, Test};
use crate::claims::Claims;
use crate::compact::{Compact, Header};
use crate::error::TokenError;
use crate::issuer::Issuer;
use crate::json::Member;
use crate::keys::{KeySet, Keys};
use crate::kind::KindRules;
use crate::opaque::Opaque;
use crate::proof::presented::Presented;
use crate::proof::replays::Replays;
use crate::proof::unproved::Proving;
use crate::scope::{ClaimPath, Found, ScopeFormat};
use crate::verified::{Fingerprint, VerifiedToken};
use crate::verifier::{Verifier, since_epoch};

/// An explanation of a verifier's result for a token: see [`Verifier::explain`].
///
/// It quotes the token's `typ`, `alg`, `kid`, `iss`, audience and times, and, if the token is accepted, its scopes and
/// kind. Of the claims that tests of the configuration need, it shows only how old dates are. It never shows the token, its
/// signature, its subject or the value of any other claim, so you can paste it into a ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// The first rule that the token breaks; [`UnknownKind`](TokenError::UnknownKind) for a valid token whose kind
    /// isn't known.
    pub refused: Option<TokenError>,
    /// The token's value, the configured value, and how to fix the difference.
    pub hint: Option<String>,
    /// The kind of token, if it is valid.
    pub kind: Option<TokenKind>,
    /// Its scopes, separated by one space, if it is valid; those that it earns come last.
    pub scopes: Option<String>,
    /// The scopes beginning with `earned:` that its issuer wrote into it, if it is valid. They don't count.
    pub dropped: Vec<String>,
    /// The scopes that its issuer can derive and that it doesn't earn, if it is valid, each with the first test that fails.
    pub unearned: Vec<(String, String)>,
    /// Why it names no account, if it is valid and doesn't. A gate with a ledger then denies calls that consume orbs.
    pub no_account: Option<String>,
    /// Whether the signature was checked. Without keys, neither the signature nor the key is checked.
    pub is_signature_checked: bool,
}

impl Verifier {
    /// Explains which rule a token breaks, and how, for the person who configures the issuers. Don't show the
    /// explanation to callers of a service.
    ///
    /// Without keys, everything except the key and the signature is checked.
    #[must_use]
    pub fn explain(&self, token: impl AsRef<[u8]>, keys: Option<&Keys>, now: SystemTime) -> Explanation {
        self.explain_presented(token.as_ref(), &Presented::default(), keys, now, |_, _| None)
    }

    /// The same for what a request presents, with hints about its proof.
    pub(crate) fn explain_presented(
        &self,
        token: &[u8],
        presented: &Presented<'_>,
        keys: Option<&Keys>,
        now: SystemTime,
        hint: impl FnOnce(TokenError, &Issuer) -> Option<String>,
    ) -> Explanation {
        if let Some(opaque) = self.asked(token).and_then(|index| self.opaque(index)) {
            let endpoint = quoted(&opaque.endpoint);
            let hint = format!("only its issuer knows: explain it with the answer of {endpoint}");
            let unanswered = Err(TokenError::Unanswered);
            return Explanation::of(unanswered, |_| Some(hint));
        }
        let judged = match keys {
            Some(keys) => self.judged(token, presented, keys, now),
            None => self.unsigned(token, presented, now),
        };
        let is_signature_checked = keys.is_some() && cfg!(feature = "aws-lc-rs");
        let compact = self.parse(token);
        let claims = compact.as_ref().ok().and_then(|compact| Claims::parse(&compact.payload).ok());
        let issuer = claims.as_ref().and_then(|claims| Some(self.issuer_of(claims).ok()?.1));
        let of_proof = |error| hint(error, issuer?);
        let explanation =
            Explanation::of(judged, |error| of_proof(error).or_else(|| self.hint(error, token, keys, now)));
        let explanation = explanation.with_absences(claims.as_ref(), issuer, now);
        Explanation { is_signature_checked, ..explanation }
    }

    /// The same for a token of an [opaque](Issuer::opaque) issuer, with what its introspection endpoint answers.
    #[must_use]
    pub fn explain_introspected(
        &self,
        token: impl AsRef<[u8]>,
        answer: impl AsRef<[u8]>,
        now: SystemTime,
    ) -> Explanation {
        let (token, answer) = (token.as_ref(), answer.as_ref());
        let of = self.asked(token);
        let judged = self.answered(answer, of).and_then(|(issuer, name, stated)| {
            let now = since_epoch(now)?;
            let unproved = stated.judge(issuer, name, Fingerprint::of(token), now)?;
            unproved.alone(&self.claimed(issuer, token, now))
        });
        let claims = Claims::parse(answer).ok();
        let issuer = claims.as_ref().and_then(|claims| match of {
            Some(index) => Some(self.named(index)?.0),
            None => Some(self.issuer_of(claims).ok()?.1),
        });
        let explanation = Explanation::of(judged, |error| {
            let (claims, issuer) = (claims.as_ref()?, issuer?);
            match error {
                TokenError::Inactive => {
                    let has = shown(claims.0.get("active"));
                    Some(format!("the answer's `active` {has}"))
                }
                TokenError::Issuer => {
                    let has = shown(claims.0.get("iss"));
                    let wants = quoted(&issuer.issuer);
                    Some(format!("the answer's `iss` {has}, and `issuer` is {wants}"))
                }
                TokenError::Type => {
                    let has = shown(claims.0.get("token_type"));
                    Some(format!("the answer's `token_type` {has}, and a plain access token's is `Bearer`"))
                }
                _ => claims_hint(error, claims, issuer, since_epoch(now).ok()?),
            }
        });
        explanation.with_absences(claims.as_ref(), issuer, now)
    }

    /// The issuer that is asked about this token, if one is.
    fn asked(&self, token: &[u8]) -> Option<usize> {
        self.opaque_issuer(token).or_else(|| {
            let compact = self.parse(token).ok()?;
            let opened = self.open(&compact).ok()?;
            opened.issuer.opaque.is_some().then_some(opened.index)
        })
    }

    fn opaque(&self, index: usize) -> Option<&Opaque> {
        self.named(index)?.0.opaque.as_ref()
    }

    /// The same result as that of [`verify`](Self::verify).
    #[cfg(feature = "aws-lc-rs")]
    fn judged(&self, token: &[u8], presented: &Presented<'_>, keys: &Keys, now: SystemTime) -> Judged {
        self.verify_presented(token, presented, keys, &Replays::new(), now)
    }

    /// The same result, except for the signature, which this build can't check.
    #[cfg(not(feature = "aws-lc-rs"))]
    fn judged(&self, token: &[u8], presented: &Presented<'_>, keys: &Keys, now: SystemTime) -> Judged {
        drop(self.check(token, keys, now)?);
        self.unsigned(token, presented, now)
    }

    /// The result without checking the key and the signature.
    fn unsigned(&self, token: &[u8], presented: &Presented<'_>, now: SystemTime) -> Judged {
        let compact = self.parse(token)?;
        let opened = self.open(&compact)?;
        let allowed = &opened.issuer.algorithms;
        let algorithm = compact.header.algorithm.as_ref();
        if !algorithm.is_some_and(|algorithm| allowed.contains(algorithm)) {
            return Err(TokenError::Algorithm);
        }
        let (fingerprint, now) = (Fingerprint::of(token), since_epoch(now)?);
        let unproved = opened.stated().judge(opened.issuer, opened.name, fingerprint, now)?;
        match unproved.prove(presented, &self.claimed(opened.issuer, token, now))? {
            Proving::Done(token) => Ok(token),
            Proving::Signature(by) => {
                #[cfg(feature = "aws-lc-rs")]
                let is_signed = by.proof.is_signed();
                // This build can't check it.
                #[cfg(not(feature = "aws-lc-rs"))]
                let is_signed = true;
                by.finish(is_signed, &Replays::new(), now)
            }
        }
    }

    fn hint(&self, error: TokenError, token: &[u8], keys: Option<&Keys>, now: SystemTime) -> Option<String> {
        let compact = match self.parse(token) {
            Ok(compact) => compact,
            Err(TokenError::TooLong) => {
                let (has, most) = (token.len(), self.longest_token());
                return Some(format!("it has {has} bytes, and `max_token_bytes` is {most}"));
            }
            Err(_) => return form(error, token),
        };
        let Ok(opened) = self.open(&compact) else {
            return self.header(error, &compact);
        };
        let issuer = opened.issuer;
        match error {
            TokenError::Algorithm => {
                let has = compact.header.algorithm.map(|algorithm| algorithm.as_str());
                let has = has.unwrap_or("one that this library doesn't have");
                let wants: Vec<_> = issuer.algorithms.iter().map(|it| it.as_str()).collect();
                let wants = wants.join(", ");
                Some(format!("its `alg` is {has}, and `algorithms` is [{wants}]"))
            }
            TokenError::NoKeys => Some(format!("there are no keys of its issuer, {}", quoted(&issuer.issuer))),
            TokenError::KeyUnknown
            | TokenError::KeyIdMissing
            | TokenError::KeyAmbiguous
            | TokenError::KeyMismatch
            | TokenError::KeyRevoked => Some(key_hint(error, &compact.header, keys?.of(&issuer.issuer)?)),
            TokenError::Signature => Some(match &compact.header.kid {
                Some(kid) => format!(
                    "the token was changed, or the issuer now has another key with its `kid`, {}: are the keys fresh?",
                    quoted(kid)
                ),
                None => "the token was changed, or another key signed it: are the keys fresh?".to_owned(),
            }),
            _ => claims_hint(error, &opened.claims, issuer, since_epoch(now).ok()?),
        }
    }

    /// The hint for a token whose header or issuer is rejected.
    fn header(&self, error: TokenError, compact: &Compact<'_>) -> Option<String> {
        match error {
            TokenError::Type => {
                let has = match &compact.header.typ {
                    Some(typ) => format!("its `typ` is {}", quoted(typ)),
                    None => "it has no `typ`".to_owned(),
                };
                let typ = compact.header.typ.as_deref().unwrap_or_default();
                // The token isn't trusted, and the hint might be copied into a configuration, so only a
                // media type is quoted.
                let is_media_type = |byte: u8| byte.is_ascii_alphanumeric() || b"+-./".contains(&byte);
                if !typ.bytes().all(is_media_type) {
                    return Some(has);
                }
                Some(format!(
                    "{has}. If this issuer's access tokens look like that, write `extra_types: ['{typ}']`; ID tokens often do"
                ))
            }
            TokenError::Issuer => {
                let claims = Claims::parse(&compact.payload).ok()?;
                let known: Vec<_> = self.issuers().map(quoted).collect();
                let has = match claims.0.get("iss") {
                    None => "it has no `iss`".to_owned(),
                    Some(Member::Text(issuer)) => format!("its `iss` is {}", quoted(issuer)),
                    Some(_) => {
                        format!("its `iss` {}, not a string", words(ClaimPath::from("iss").find(&claims.0)))
                    }
                };
                Some(format!("{has}, and the issuers are {}", known.join(", ")))
            }
            _ => None,
        }
    }
}

impl Explanation {
    /// Of a verdict without a signature.
    fn of(judged: Judged, hint: impl FnOnce(TokenError) -> Option<String>) -> Self {
        let refused = match &judged {
            Ok(verified) if verified.kind() == TokenKind::Unknown => Some(TokenError::UnknownKind),
            Ok(_) => None,
            Err(error) => Some(*error),
        };
        let verified = judged.ok();
        let has_account = verified.as_ref().is_none_or(|verified| verified.account().is_some());
        Self {
            refused,
            hint: refused.and_then(hint),
            kind: verified.as_ref().map(VerifiedToken::kind),
            scopes: verified.map(|verified| verified.scopes().to_owned()),
            dropped: Vec::new(),
            unearned: Vec::new(),
            no_account: (!has_account && refused.is_none()).then(String::new),
            is_signature_checked: false,
        }
    }

    /// With hints if the token is accepted and doesn't have the claim with the scopes, or that with the account, and with the
    /// scopes that it doesn't get.
    fn with_absences(mut self, claims: Option<&Claims<'_>>, issuer: Option<&Issuer>, now: SystemTime) -> Self {
        if let (Some(kind), Some(claims), Some(issuer)) = (self.kind, claims, issuer)
            && self.refused.is_none()
        {
            self.no_account = self.no_account.map(|_| match issuer.accounts.of(kind) {
                None => format!("the configuration states no `account` for {}", tokens_of(kind)),
                Some(account) => {
                    let claim = quoted(account.claim(&issuer.client_claim));
                    format!("its {claim}, the claim of `account`, is missing, empty, not a string, or too long")
                }
            });
            let scopes = issuer.scopes_of(kind);
            let claimed = scopes.read(&claims.0).unwrap_or_default();
            self.dropped = claimed.split(' ').filter(|scope| is_earned(scope)).map(str::to_owned).collect();
            self.unearned = since_epoch(now).map_or_else(|_| Vec::new(), |now| unearned(claims, issuer, now));
            let (key, name) = (scopes.key(), &scopes.claim.claim);
            if name.find(&claims.0).is_none() {
                let others = ["scope", "scp", "scopes", "permissions", "roles", "authorities"].into_iter();
                let others = others.filter(|other| claims.0.get(other).is_some()).map(quoted);
                let others = match others.collect::<Vec<_>>() {
                    others if others.is_empty() => String::new(),
                    others => format!("; it has {}", others.join(", ")),
                };
                self.hint = Some(format!("it has no `{name}`, the `claim` of `{key}`, and so no scopes{others}"));
            }
        }
        self
    }
}

/// The scopes that a token doesn't earn now, each with the first test that fails.
fn unearned(claims: &Claims<'_>, issuer: &Issuer, now: Duration) -> Vec<(String, String)> {
    let failed = issuer.derive.iter().filter_map(|derived| {
        let mut tests = derived.tests().unwrap_or_default().iter();
        let test = tests.find(|test| !test.holds(&claims.0, now, issuer.skew))?;
        Some((derived.name().to_owned(), failure(test, "", claims, issuer, now)))
    });
    failed.collect()
}

const fn tokens_of(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::Organisation => "an organisation's tokens",
        _ => "a user's tokens",
    }
}

type Judged = Result<VerifiedToken, TokenError>;

/// Which keys there are instead of the one that the token needs.
fn key_hint(error: TokenError, header: &Header, keys: &KeySet) -> String {
    let alg = header.algorithm.map_or("", |algorithm| algorithm.as_str());
    let names = |algorithms: Vec<Algorithm>| {
        let names: Vec<_> = algorithms.iter().map(|it| it.as_str()).collect();
        names.join(", ")
    };
    let Some(kid) = &header.kid else {
        return match names(keys.algorithms(None)) {
            all if all.split(", ").any(|one| one == alg) => {
                format!("it has no `kid`, and several keys are for its `alg`, {alg}")
            }
            all => format!("it has no `kid`, its `alg` is {alg}, and the keys are for {all}"),
        };
    };
    let left_out: Vec<_> = keys.left_out(kid).map(ToString::to_string).collect();
    let named = match error {
        TokenError::KeyAmbiguous => {
            format!("several keys have its `kid`, {}, and are for its `alg`, {alg}", quoted(kid))
        }
        TokenError::KeyRevoked => format!("its `kid` is {}, which is revoked", quoted(kid)),
        TokenError::KeyMismatch => {
            let are = names(keys.algorithms(Some(kid)));
            format!("its `alg` is {alg}, and the keys with its `kid`, {}, are for {are}", quoted(kid))
        }
        _ if left_out.is_empty() => {
            format!("no key has its `kid`, {}: are the keys fresh, and the issuer's own?", quoted(kid))
        }
        _ => format!("no usable key has its `kid`, {}", quoted(kid)),
    };
    core::iter::once(named).chain(left_out).collect::<Vec<_>>().join("; ")
}

/// The hint for a token that can't be parsed.
fn form(error: TokenError, token: &[u8]) -> Option<String> {
    let dots = memchr::memchr_iter(b'.', token).count();
    let hint = match (error, dots) {
        (TokenError::NotCompact, 0) if token.is_empty() => "it is empty",
        (TokenError::NotCompact, 0) => {
            "it has no dots, so it is an opaque token: if its issuer has an introspection endpoint, write `opaque`"
        }
        (TokenError::NotCompact, 2) if token.ends_with(b".") => {
            "it has no signature: Orbgate accepts only signed tokens"
        }
        (TokenError::NotCompact, 4) => "it has five parts, so it is encrypted: have the issuer send signed tokens",
        (TokenError::NotCompact | TokenError::BadEncoding, _) => {
            "was all of it copied, without spaces, quotes or `Bearer`?"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

fn claims_hint(error: TokenError, claims: &Claims<'_>, issuer: &Issuer, now: Duration) -> Option<String> {
    match error {
        TokenError::Audience => {
            let name = &issuer.audience_claim;
            let wants: Vec<_> = issuer.audiences.iter().map(|one| quoted(one)).collect();
            let has = shown(claims.0.get(name));
            let wants = wants.join(" or ");
            Some(format!("its `{name}` {has}, and `audience` is {wants}"))
        }
        TokenError::BadTime => {
            let names = ["exp", "nbf", "iat"].map(|name| match claims.0.get(name) {
                Some(Member::Text(text)) => format!("`{name}` is {}, a string instead of a number", quoted(text)),
                value => format!("`{name}` {}", shown(value)),
            });
            Some(names.join(", "))
        }
        TokenError::Expired => ago("exp", claims, now),
        TokenError::NotYetValid => {
            let hints = ["nbf", "iat"].map(|name| ago(name, claims, now));
            Some(hints.into_iter().flatten().collect::<Vec<_>>().join("; "))
        }
        TokenError::Lifetime => {
            let most = issuer.max_lifetime?.as_secs();
            Some(format!("`max_lifetime_seconds` is {most}"))
        }
        TokenError::Claim => {
            let failed = issuer.require.iter().find(|test| !test.holds(&claims.0, now, issuer.skew));
            match failed {
                Some(test) => Some(failure(test, " in `require`", claims, issuer, now)),
                None => Some(format!(
                    "`sub`, `jti`, `{}` and the `sub` of `act` must be strings if present",
                    issuer.client_claim
                )),
            }
        }
        TokenError::Scopes => {
            let scopes = issuer.scopes_of(issuer.kind.kind(&claims.0));
            let (key, name) = (scopes.key(), &scopes.claim.claim);
            let value = name.find(&claims.0);
            Some(match (scopes.claim.format, &value) {
                (ScopeFormat::String, Some(Found::Other(Value::Array(_)))) => {
                    format!("its `{name}` is a list: write `{key}: {{ claim: {name}, format: array }}`")
                }
                (ScopeFormat::Array, Some(Found::Text(_))) => {
                    format!("its `{name}` is a string: write `{key}: {{ claim: {name} }}`")
                }
                _ => match scopes.conflict(&claims.0) {
                    Some(other) if value.is_some() => format!(
                        "it has both `{name}` and `{other}`: to ignore `{other}`, write `conflict: ignore` under `{key}`"
                    ),
                    Some(other) => {
                        format!("it has `{other}` and no `{name}`, which is the `claim` of `{key}`")
                    }
                    None => format!("its `{name}` isn't what RFC 6749, section 3.3, says"),
                },
            })
        }
        TokenError::Bound => {
            Some("it has `cnf`: it belongs to whoever holds a key, and a bearer can't prove that".to_owned())
        }
        TokenError::Confirmation => {
            let methods = issuer.proof.iter().flat_map(|rules| &rules.methods);
            let members: Vec<_> = methods.map(|method| quoted(method.member())).collect();
            Some(format!(
                "its `cnf` must have no other member than {}, each a SHA-256 in base64url",
                members.join(" and ")
            ))
        }
        TokenError::Unbound => {
            Some("it has no `cnf`. To accept such a token as a plain one, write `proof: { when_bound: … }`".to_owned())
        }
        TokenError::Scheme => Some(match claims.0.get("cnf") {
            None => "it has no `cnf.jkt`, so it must come as `Bearer`".to_owned(),
            Some(_) => "it has `cnf.jkt`, so it must come as `DPoP`, with a proof in the header `DPoP`".to_owned(),
        }),
        TokenError::UnknownKind => Some(unknown_kind(claims, issuer, now)),
        _ => None,
    }
}

fn unknown_kind(claims: &Claims<'_>, issuer: &Issuer, now: Duration) -> String {
    let KindRules::Claims { user, organisation } = &issuer.kind else {
        return String::new();
    };
    let sides = [("user", user), ("organisation", organisation)].map(|(name, tests)| {
        let failed = tests.iter().find(|test| !test.holds(&claims.0, now, issuer.skew));
        match failed {
            _ if tests.is_empty() => format!("`kind` has no tests for `{name}`"),
            Some(test) => failure(test, &format!(" for `{name}`"), claims, issuer, now),
            None => format!("all tests for `{name}` hold"),
        }
    });
    format!("{}. A service without organisations writes `kind: user`", sides.join("; "))
}

/// Which test fails, and the state of its claim: how old a date is, but no other value.
fn failure(test: &ClaimTest, place: &str, claims: &Claims<'_>, issuer: &Issuer, now: Duration) -> String {
    let skew = issuer.skew.as_secs();
    let has = match (&test.test, test.window(&claims.0)) {
        // The test fails nevertheless, so the time is why.
        (Test::WithinSeconds(seconds), Some(window)) => match now.checked_sub(window.from()) {
            Some(age) => {
                let (age, most) = (age.as_secs(), seconds.saturating_add(skew));
                format!("is {age} s old, and can be {most} s old, with `skew_seconds`")
            }
            None => {
                let ahead = window.from().saturating_sub(now).as_secs();
                format!("is {ahead} s in the future, and can be {skew} s, which is `skew_seconds`")
            }
        },
        _ => words(test.claim.find(&claims.0)).to_owned(),
    };
    format!("the test {} of `{}`{place} fails, and the claim {has}", quoted(&test.test.to_string()), test.claim)
}

/// Whether a claim is present, without its value.
const fn words(found: Option<Found<'_>>) -> &'static str {
    match found {
        None => "is missing",
        Some(Found::Text(_)) => "is a string",
        Some(Found::Other(Value::Array(_))) => "is a list",
        Some(Found::Other(_)) => "is neither a string nor a list",
    }
}

/// A registered claim, with its value.
pub(crate) fn shown(value: Option<&Member<'_>>) -> String {
    match value {
        None => "is missing".to_owned(),
        Some(Member::Text(text)) => format!("is {}", quoted(text)),
        Some(Member::Other(value)) => format!("is {}", quoted(&value.to_string())),
    }
}

/// The difference between a time in the token and now.
fn ago(name: &str, claims: &Claims<'_>, now: Duration) -> Option<String> {
    let Some(Member::Other(value)) = claims.0.get(name) else {
        return None;
    };
    let time = Duration::try_from_secs_f64(value.as_f64()?).ok()?;
    let (seconds, word) = match now.checked_sub(time) {
        Some(since) => (since.as_secs(), "ago"),
        None => (time.saturating_sub(now).as_secs(), "ahead"),
    };
    Some(format!("its `{name}` is {seconds} s {word}"))
}
