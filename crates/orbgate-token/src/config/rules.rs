//! Document → issuers: what the plain data means.

use core::time::Duration;

use orbgate::TokenKind;
use orbgate_yaml::{Diagnostics, Location, Shape, Spanned, Value as _, quoted};

use super::document::{
    AccountClaimDocument, AccountDocument, AccountName, AccountOfKind, Accounts, ConflictDocument, Derivation,
    Derivations, Document, FormatDocument, IssuerDocument, KindClaims, KindDocument, KindName, Names, OpaqueDocument,
    Required, ScopesDocument, TestDocument, ValueDocument,
};
use crate::account::{AccountClaim, AccountClaims};
use crate::algorithm::Algorithm;
use crate::check::{self, Key, Part};
use crate::claim_test::{ClaimTest, ClaimValue};
use crate::derive::Derived;
use crate::issuer::Issuer;
use crate::jwk::KeyRules;
use crate::key_name::KeyName;
use crate::kind::KindRules;
use crate::opaque::{Opaque, SecretSource};
use crate::scope::{ClaimPath, Conflict, ScopeClaim, ScopeFormat};
use crate::verifier::{MOST_REMEMBERED, MOST_TOKEN_BYTES, Verifier};

/// The verifier that a document describes, and every error in it.
pub(super) fn verifier(document: &Document, diagnostics: &mut Diagnostics) -> Verifier {
    let Document { orbgate_token: _, issuers: list, max_token_bytes, remember_signatures } = document;
    let mut verifier = Verifier::of(issuers(list, diagnostics));
    if let Some(setting) = max_token_bytes {
        let most = usize::try_from(setting.value.get()).unwrap_or(usize::MAX);
        if most > MOST_TOKEN_BYTES {
            let message = format!("`max_token_bytes` is over {MOST_TOKEN_BYTES}, which is the limit");
            diagnostics.push(setting.location, message);
        }
        verifier = verifier.max_token_bytes(most);
    }
    if let Some(setting) = remember_signatures {
        let most = usize::try_from(setting.value).unwrap_or(usize::MAX);
        if most > MOST_REMEMBERED {
            let message = format!("`remember_signatures` is over {MOST_REMEMBERED}, which is the limit");
            diagnostics.push(setting.location, message);
        }
        verifier = verifier.remember_signatures(most);
    }
    verifier
}

/// Each name in a `derive`, and where it is.
pub(super) fn derived_scopes(document: &Document) -> Vec<(String, orbgate::Location)> {
    let derives = document.issuers.value.iter().filter_map(|issuer| issuer.derive.as_ref());
    let names = derives.flat_map(|derive| &derive.value.0).map(|(name, _)| {
        let Location { line, column } = name.location;
        (name.value.clone(), orbgate::Location { line, column })
    });
    names.collect()
}

fn issuers(list: &Spanned<Vec<IssuerDocument>>, diagnostics: &mut Diagnostics) -> Vec<Issuer> {
    let mut issuers = Vec::new();
    // Of each issuer, what describes it: one of the list describes as many as it has tenants.
    let mut documents = Vec::new();
    for document in &list.value {
        let described = issuers_of(document, diagnostics);
        documents.extend(core::iter::repeat_n(document, described.len()));
        issuers.extend(described);
    }
    for diagnostic in check::diagnostics(&issuers) {
        let document = documents.get(diagnostic.key.issuer);
        let location = document.and_then(|document| location(document, diagnostic.key));
        diagnostics.push_new(location.unwrap_or(list.location), diagnostic.message);
    }
    issuers
}

/// Where this key of an issuer is, or the part of it.
fn location(document: &IssuerDocument, key: Key) -> Option<Location> {
    let name = key.name.map_or("", KeyName::text);
    let part = key.part.and_then(|part| part_location(document, name, part));
    part.or_else(|| document.location_of(name))
}

fn part_location(document: &IssuerDocument, name: &str, Part { list, test }: Part) -> Option<Location> {
    let of = |tests: &[Spanned<TestDocument>]| {
        let mut locations = tests.iter().filter(|it| claim_test(&it.value).is_some()).map(|test| test.location);
        locations.nth(test?)
    };
    match name {
        "kind" => match &document.kind.value {
            KindDocument::Claims(KindClaims { user, organisation }) => of([user, organisation].get(list)?.as_ref()?),
            KindDocument::Always(_) => None,
        },
        "require" => {
            let mut locations = document.require.as_ref()?.value.iter().filter_map(|required| match required {
                Required::Claim(name) => Some(name.location),
                Required::Test(test) => claim_test(&test.value).map(|_| test.location),
            });
            locations.nth(test?)
        }
        "derive" => {
            let (name, derivation) = document.derive.as_ref()?.value.0.get(list)?;
            let test = match derivation {
                Derivation::Always(_) => None,
                Derivation::Test(test) => of(core::slice::from_ref(test)),
                Derivation::Tests(tests) => of(tests),
            };
            Some(test.unwrap_or(name.location))
        }
        _ => None,
    }
}

/// What stands for a tenant in an issuer and in the URL of its keys.
const TENANT: &str = "{tenant}";

/// The issuer of each tenant, if there are tenants. A token from any other tenant then has an unknown issuer, so it causes no request.
fn of_tenants(
    name: &Spanned<String>,
    tenants: Option<&Spanned<Vec<Spanned<String>>>>,
    issuer: Issuer,
    diagnostics: &mut Diagnostics,
) -> Vec<Issuer> {
    let places = name.value.matches(TENANT).count();
    let Some(tenants) = tenants else {
        if places > 0 {
            let message = "`tenants` is missing: list the tenants that `{tenant}` stands for";
            diagnostics.push_new(name.location, message.to_owned());
        }
        return vec![issuer];
    };
    if places != 1 {
        let message = "`issuer` must have `{tenant}` once, because there are `tenants`";
        diagnostics.push_new(name.location, message.to_owned());
    }
    if tenants.value.is_empty() {
        let message = "`tenants` is empty: every token would be refused";
        diagnostics.push_new(tenants.location, message.to_owned());
        return vec![issuer];
    }
    let is_name = |text: &str| {
        let mut bytes = text.bytes();
        bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'))
    };
    for tenant in &tenants.value {
        if tenant.value.is_empty() || !is_name(&tenant.value) {
            let message = "a tenant consists of letters, digits, `-`, `.` and `_`";
            diagnostics.push_new(tenant.location, message.to_owned());
        }
    }
    let of_tenant = |tenant: &Spanned<String>| issuer.of_tenant(TENANT, &tenant.value);
    tenants.value.iter().map(of_tenant).collect()
}

impl Names {
    fn iter(&self) -> impl Iterator<Item = &str> {
        let (one, several) = match self {
            Self::One(one) => (Some(one), &[][..]),
            Self::Several(several) => (None, &several[..]),
        };
        one.into_iter().chain(several.iter().map(|one| &one.value)).map(String::as_str)
    }
}

/// The issuers that one item of the list describes. Each key is named here, so that a new one without a reader doesn't compile.
fn issuers_of(document: &IssuerDocument, diagnostics: &mut Diagnostics) -> Vec<Issuer> {
    let IssuerDocument {
        issuer: name,
        tenants,
        audience,
        audience_claim,
        kind,
        jwks_uri,
        jwks_file,
        algorithms,
        extra_types,
        scopes,
        organisation_scopes,
        client_claim,
        account,
        require,
        derive,
        skew_seconds,
        max_lifetime_seconds,
        allow_unverified_cnf,
        rsa_exponent_min,
        opaque,
    } = document;
    let kind = kind_rules(&kind.value, diagnostics);
    let mut audiences = audience.value.iter();
    let first = audiences.next().unwrap_or_default();
    let mut issuer = Issuer::new(&name.value, first, kind).or_audiences(audiences);
    if let Some(claim) = audience_claim {
        issuer = issuer.audience_claim(&claim.value);
    }
    if let Some(url) = jwks_uri {
        issuer = issuer.jwks_uri(&url.value);
    }
    if let Some(path) = jwks_file {
        issuer = issuer.jwks_file(&path.value);
    }
    if let Some(names) = algorithms {
        let algorithms = algorithms_of(&names.value, diagnostics);
        // Unknown ones are reported already, so an empty list is not a second error.
        if !algorithms.is_empty() || names.value.is_empty() {
            issuer = issuer.algorithms(algorithms);
        }
    }
    if let Some(types) = extra_types {
        issuer = issuer.extra_types(types.iter().map(|text| &text.value));
    }
    if let Some(scopes) = scopes {
        issuer = issuer.scopes(scope_claim(&scopes.value));
    }
    if let Some(scopes) = organisation_scopes {
        issuer = issuer.organisation_scopes(scope_claim(&scopes.value));
    }
    if let Some(claim) = client_claim {
        issuer = issuer.client_claim(&claim.value);
    }
    if let Some(account) = account {
        issuer.accounts = accounts(account, diagnostics);
    }
    if let Some(claims) = require {
        let tests = claims.value.iter().filter_map(|required| match required {
            Required::Claim(name) => Some(ClaimTest::present(name.value.as_str())),
            Required::Test(document) => test(document, diagnostics),
        });
        issuer = issuer.require_tests(tests.collect::<Vec<_>>());
    }
    if let Some(names) = derive {
        issuer = issuer.derive(derived(names, diagnostics));
    }
    if let Some(seconds) = skew_seconds {
        issuer = issuer.skew(Duration::from_secs(seconds.value));
    }
    if let Some(seconds) = max_lifetime_seconds {
        issuer = issuer.max_lifetime(Duration::from_secs(seconds.value));
    }
    if allow_unverified_cnf.as_ref().is_some_and(|allow| allow.value) {
        issuer = issuer.allow_unverified_cnf();
    }
    if let Some(min) = rsa_exponent_min {
        issuer = issuer.key_rules(KeyRules { rsa_exponent_min: min.value });
    }
    if let Some(document) = opaque {
        issuer = issuer.opaque(opaque_of(document, diagnostics));
    }
    of_tenants(name, tenants.as_ref(), issuer, diagnostics)
}

fn accounts(document: &Spanned<AccountDocument>, diagnostics: &mut Diagnostics) -> AccountClaims {
    let named = |name: &AccountName| match name {
        AccountName::Subject => AccountClaim::Subject,
        AccountName::Client => AccountClaim::Client,
    };
    let both = |claim: AccountClaim| AccountClaims { user: Some(claim.clone()), organisation: Some(claim) };
    let accounts = match &document.value {
        AccountDocument::Named(name) => return both(named(name)),
        AccountDocument::Mapping(accounts) => accounts,
    };
    let of_kind = |account: &Option<Spanned<AccountOfKind>>| match &account.as_ref()?.value {
        AccountOfKind::Named(name) => Some(named(name)),
        AccountOfKind::Claim(AccountClaimDocument { claim }) => Some(AccountClaim::Claim(claim.value.clone())),
    };
    let Accounts { claim, user, organisation } = accounts;
    let (user, organisation) = (of_kind(user), of_kind(organisation));
    match claim {
        Some(claim) if user.is_none() && organisation.is_none() => both(AccountClaim::Claim(claim.value.clone())),
        None if user.is_some() || organisation.is_some() => AccountClaims { user, organisation },
        _ => {
            let message = "`account` needs either `claim`, or `user`, `organisation` or both";
            diagnostics.push_new(document.location, message);
            AccountClaims::default()
        }
    }
}

fn opaque_of(document: &Spanned<OpaqueDocument>, diagnostics: &mut Diagnostics) -> Opaque {
    let Spanned { location, value } = document;
    let OpaqueDocument { endpoint, client_id, client_secret_file, client_secret_env, prefix, max_cache_seconds } =
        value;
    let source = match (client_secret_file, client_secret_env) {
        (Some(file), None) => SecretSource::File(file.value.clone()),
        (None, Some(name)) => SecretSource::Env(name.value.clone()),
        (file, _) => {
            let message = "`opaque` needs exactly one of `client_secret_file` and `client_secret_env`";
            let location = file.as_ref().map_or(*location, |file| file.location);
            diagnostics.push_new(location, message);
            SecretSource::File("/".to_owned())
        }
    };
    let mut opaque = Opaque::new(&endpoint.value, &client_id.value, source);
    if let Some(prefix) = prefix {
        opaque = opaque.prefix(&prefix.value);
    }
    if let Some(seconds) = max_cache_seconds {
        opaque = opaque.max_cache(Duration::from_secs(seconds.value));
    }
    opaque
}

/// The algorithms of these names. Unknown names are errors, and so is HMAC, because no file contains its secret.
fn algorithms_of(names: &[Spanned<String>], diagnostics: &mut Diagnostics) -> Vec<Algorithm> {
    let mut algorithms = Vec::new();
    for name in names {
        match Algorithm::from_name(&name.value) {
            Some(algorithm) if algorithm.is_hmac() => {
                let message = format!(
                    "`{}` needs a secret, which no file contains: use an algorithm with public keys, such as `RS256`, or \
                     write the issuer in Rust",
                    name.value
                );
                diagnostics.push_new(name.location, message);
            }
            Some(algorithm) => algorithms.push(algorithm),
            None => diagnostics.push_new(name.location, unknown_algorithm(&name.value)),
        }
    }
    algorithms
}

fn scope_claim(document: &ScopesDocument) -> ScopeClaim {
    let usual = ScopeClaim::default();
    let ScopesDocument { claim, format, conflict } = document;
    ScopeClaim {
        claim: claim.as_ref().map_or(usual.claim, |claim| ClaimPath::nested(claim.iter())),
        format: match format {
            Some(FormatDocument::Array) => ScopeFormat::Array,
            Some(FormatDocument::String) | None => ScopeFormat::String,
        },
        conflict: match conflict {
            Some(ConflictDocument::Ignore) => Conflict::Ignore,
            Some(ConflictDocument::Deny) | None => Conflict::Deny,
        },
    }
}

fn kind_rules(document: &KindDocument, diagnostics: &mut Diagnostics) -> KindRules {
    let KindClaims { user, organisation } = match document {
        KindDocument::Always(KindName::User) => return KindRules::Always(TokenKind::User),
        KindDocument::Always(KindName::Organisation) => {
            return KindRules::Always(TokenKind::Organisation);
        }
        KindDocument::Claims(claims) => claims,
    };
    let mut tests = |tests: &Option<Vec<_>>| {
        let tests = tests.iter().flatten();
        tests.filter_map(|it| test(it, diagnostics)).collect()
    };
    KindRules::Claims { user: tests(user), organisation: tests(organisation) }
}

fn derived(names: &Spanned<Derivations>, diagnostics: &mut Diagnostics) -> Vec<Derived> {
    if names.value.0.is_empty() {
        let message = "`derive` is empty: leave it out, or write a name that begins with `earned:`";
        diagnostics.push_new(names.location, message);
    }
    let derived = names.value.0.iter().map(|(name, derivation)| {
        let tests = match derivation {
            Derivation::Always(_) => return Derived::always(&name.value),
            Derivation::Test(test) => core::slice::from_ref(test),
            Derivation::Tests(tests) => tests,
        };
        let all: Vec<_> = tests.iter().filter_map(|it| test(it, diagnostics)).collect();
        match all.is_empty() && !tests.is_empty() {
            // Each test of it is an error already.
            true => Derived::always(&name.value),
            false => Derived::new(&name.value, all),
        }
    });
    derived.collect()
}

fn test(document: &Spanned<TestDocument>, diagnostics: &mut Diagnostics) -> Option<ClaimTest> {
    let test = claim_test(&document.value);
    if test.is_none() {
        let keys = match TestDocument::SHAPE {
            Shape::Mapping(keys) => keys.iter().map(|key| key.name).filter(|key| *key != "claim"),
            _ => return None,
        };
        let keys: Vec<_> = keys.map(quoted).collect();
        let keys = keys.join(", ");
        diagnostics.push_new(document.location, format!("a test needs exactly one of {keys}"));
    }
    test
}

/// The test, if exactly one is written.
fn claim_test(document: &TestDocument) -> Option<ClaimTest> {
    let TestDocument {
        claim,
        equals,
        one_of,
        contains,
        contains_word,
        within_seconds,
        present,
        equals_claim,
        differs_from_claim,
    } = document;
    let path = |names: &Names| ClaimPath::nested(names.iter());
    let claim = || path(claim);
    let tests = [
        equals.as_ref().map(|value| ClaimTest::equals(claim(), value)),
        one_of.as_ref().map(|values| ClaimTest::one_of(claim(), values)),
        contains.as_ref().map(|text| ClaimTest::contains(claim(), text)),
        contains_word.as_ref().map(|word| ClaimTest::contains_word(claim(), word)),
        within_seconds.map(|seconds| ClaimTest::within_seconds(claim(), seconds.get())),
        present.map(|present| match present {
            true => ClaimTest::present(claim()),
            false => ClaimTest::absent(claim()),
        }),
        equals_claim.as_ref().map(|other| ClaimTest::equals_claim(claim(), path(other))),
        differs_from_claim.as_ref().map(|other| ClaimTest::differs_from_claim(claim(), path(other))),
    ];
    let mut tests = tests.into_iter().flatten();
    let test = tests.next();
    test.filter(|_| tests.next().is_none())
}

impl From<&ValueDocument> for ClaimValue {
    fn from(value: &ValueDocument) -> Self {
        match value {
            ValueDocument::Bool(value) => Self::Bool(*value),
            ValueDocument::Number(value) => Self::Number(*value),
            ValueDocument::Text(value) => Self::Text(value.clone()),
        }
    }
}

fn unknown_algorithm(name: &str) -> String {
    let known = Algorithm::ALL.iter().filter(|algorithm| !algorithm.is_hmac());
    let known: Vec<_> = known.map(|algorithm| format!("`{}`", algorithm.as_str())).collect();
    format!("unknown algorithm {} (known: {})", quoted(name), known.join(", "))
}
