//! Document → issuers: what the plain data means.

use core::time::Duration;
use std::collections::HashMap;

use orbgate::TokenKind;
use orbgate_yaml::{Faults, Place, Spanned, quoted};

use super::document::{
    ConflictDocument, Document, FormatDocument, IssuerDocument, KindDocument, ScopesDocument,
    TestDocument,
};
use crate::algorithm::Algorithm;
use crate::check::{self, Key};
use crate::issuer::Issuer;
use crate::jwk::KeyRules;
use crate::kind::{ClaimTest, KindRules};
use crate::scope::{Conflict, ScopeClaim, ScopeFormat};
use crate::verifier::{MOST_REMEMBERED, Verifier};

/// The verifier that a document describes, and every fault in it.
pub(super) fn verifier(document: &Document, faults: &mut Faults) -> Verifier {
    let issuers = issuers(document, faults);
    let mut verifier = Verifier::of(issuers);
    if let Some(said) = &document.remember_signatures {
        let most = usize::try_from(said.value).unwrap_or(usize::MAX);
        if most > MOST_REMEMBERED {
            let message =
                format!("`remember_signatures` is over {MOST_REMEMBERED}, which is the limit");
            faults.push(said.place, message);
        }
        verifier = verifier.remember_signatures(most);
    }
    verifier
}

fn issuers(document: &Document, faults: &mut Faults) -> Vec<Issuer> {
    let Some(documents) = &document.issuers else {
        return Vec::new();
    };
    let issuers = documents.iter().map(|document| issuer(document, faults));
    let issuers: Vec<Issuer> = issuers.collect();
    let lacks = |key: &Key| {
        let document = documents.get(key.issuer);
        document.is_some_and(|document| document.lacks(key.name))
    };
    let documents = documents.iter().enumerate();
    let places: HashMap<Key, Place> = documents
        .flat_map(|(index, document)| {
            let keys = document.places().into_iter();
            keys.filter_map(move |(name, place)| {
                Some((
                    Key {
                        issuer: index,
                        name,
                    },
                    place?,
                ))
            })
        })
        .collect();
    for fault in check::faults(&issuers) {
        if lacks(&fault.key) {
            continue; // its absence is the fault
        }
        let place = places.get(&fault.key).copied();
        let place = place.unwrap_or(Place { line: 1, column: 1 });
        if !faults.stand_at(place) {
            faults.push(place, fault.message);
        }
    }
    issuers
}

impl IssuerDocument {
    /// Whether a required key is missing: then what is judged is a stand-in.
    fn lacks(&self, key: &str) -> bool {
        match key {
            "issuer" => self.issuer.is_none(),
            "audience" => self.audience.is_none(),
            "kind" => self.kind.is_none(),
            _ => false,
        }
    }

    /// Where each key is, for the faults that are found in the issuer itself.
    fn places(&self) -> [(&'static str, Option<Place>); 11] {
        [
            ("issuer", self.issuer.as_ref().map(|key| key.place)),
            ("audience", self.audience.as_ref().map(|key| key.place)),
            ("kind", self.kind.as_ref().map(|key| key.place)),
            ("jwks_uri", self.jwks_uri.as_ref().map(|key| key.place)),
            ("algorithms", self.algorithms.as_ref().map(|key| key.place)),
            ("scopes", self.scopes.as_ref().map(|key| key.place)),
            (
                "client_claim",
                self.client_claim.as_ref().map(|key| key.place),
            ),
            ("require", self.require.as_ref().map(|key| key.place)),
            (
                "skew_seconds",
                self.skew_seconds.as_ref().map(|key| key.place),
            ),
            (
                "max_lifetime_seconds",
                self.max_lifetime_seconds.as_ref().map(|key| key.place),
            ),
            (
                "rsa_exponent_min",
                self.rsa_exponent_min.as_ref().map(|key| key.place),
            ),
        ]
    }
}

fn issuer(document: &IssuerDocument, faults: &mut Faults) -> Issuer {
    let (name, audience) = (document.issuer.as_ref(), document.audience.as_ref());
    let kind = document.kind.as_ref().map(|rules| kind(&rules.value));
    let mut issuer = Issuer::new(
        name.map_or("https://missing.invalid", |name| &name.value),
        audience.map_or("missing", |audience| &audience.value),
        kind.unwrap_or(KindRules::Always(TokenKind::User)),
    );
    if let Some(url) = &document.jwks_uri {
        issuer = issuer.jwks_uri(&url.value);
    }
    if let Some(names) = &document.algorithms {
        let algorithms = algorithms(&names.value, faults);
        // Unknown ones are reported already, so an empty list is not a second fault.
        if !algorithms.is_empty() || names.value.is_empty() {
            issuer = issuer.algorithms(algorithms);
        }
    }
    if let Some(types) = &document.extra_types {
        issuer = issuer.extra_types(types.iter().map(|text| &text.value));
    }
    if let Some(scopes) = &document.scopes {
        issuer = issuer.scopes(scope_claim(&scopes.value));
    }
    if let Some(claim) = &document.client_claim {
        issuer = issuer.client_claim(&claim.value);
    }
    if let Some(claims) = &document.require {
        issuer = issuer.require(claims.value.iter().map(|claim| &claim.value));
    }
    if let Some(seconds) = &document.skew_seconds {
        issuer = issuer.skew(Duration::from_secs(seconds.value));
    }
    if let Some(seconds) = &document.max_lifetime_seconds {
        issuer = issuer.max_lifetime(Duration::from_secs(seconds.value));
    }
    if document
        .allow_unverified_cnf
        .as_ref()
        .is_some_and(|allow| allow.value)
    {
        issuer = issuer.allow_unverified_cnf();
    }
    if let Some(min) = &document.rsa_exponent_min {
        issuer = issuer.key_rules(KeyRules {
            rsa_exponent_min: min.value,
        });
    }
    issuer
}

/// The algorithms of these names; unknown names are faults.
fn algorithms(names: &[Spanned<String>], faults: &mut Faults) -> Vec<Algorithm> {
    let mut algorithms = Vec::new();
    for name in names {
        match Algorithm::from_name(&name.value) {
            Some(algorithm) => algorithms.push(algorithm),
            None if faults.stand_at(name.place) => {}
            None => faults.push(name.place, unknown_algorithm(&name.value)),
        }
    }
    algorithms
}

fn scope_claim(document: &ScopesDocument) -> ScopeClaim {
    let usual = ScopeClaim::default();
    ScopeClaim {
        claim: document.claim.clone().unwrap_or(usual.claim),
        format: match document.format {
            Some(FormatDocument::Array) => ScopeFormat::Array,
            Some(FormatDocument::String) | None => ScopeFormat::String,
        },
        conflict: match document.conflict {
            Some(ConflictDocument::Ignore) => Conflict::Ignore,
            Some(ConflictDocument::Deny) | None => Conflict::Deny,
        },
    }
}

fn kind(document: &KindDocument) -> KindRules {
    match document {
        KindDocument::Always(name) => KindRules::Always(TokenKind::from_name(name)),
        KindDocument::Claims(claims) => {
            let tests = |tests: &Option<Vec<TestDocument>>| {
                tests.iter().flatten().filter_map(test).collect()
            };
            KindRules::Claims {
                user: tests(&claims.user),
                organisation: tests(&claims.organisation),
            }
        }
    }
}

fn test(document: &TestDocument) -> Option<ClaimTest> {
    let claim = document.claim.as_str();
    if let Some(text) = &document.equals {
        return Some(ClaimTest::equals(claim, text));
    }
    if let Some(texts) = &document.one_of {
        return Some(ClaimTest::one_of(claim, texts));
    }
    if let Some(other) = &document.equals_claim {
        return Some(ClaimTest::equals_claim(claim, other));
    }
    if let Some(other) = &document.differs_from_claim {
        return Some(ClaimTest::differs_from_claim(claim, other));
    }
    match document.present? {
        true => Some(ClaimTest::present(claim)),
        false => Some(ClaimTest::absent(claim)),
    }
}

fn unknown_algorithm(name: &str) -> String {
    let known: Vec<_> = Algorithm::ALL
        .iter()
        .map(|algorithm| format!("`{}`", algorithm.as_str()))
        .collect();
    format!(
        "unknown algorithm {} (known: {})",
        quoted(name),
        known.join(", ")
    )
}
