//! Document → issuers: what the plain data means.

use core::time::Duration;

use orbgate::TokenKind;
use orbgate_yaml::{Diagnostics, Spanned, Value as _, quoted};

use super::document::{
    AccountClaimDocument, AccountDocument, AccountName, AccountOfKind, Accounts, ConflictDocument, Document,
    FormatDocument, IssuerDocument, KindClaims, KindDocument, KindName, Names, OpaqueDocument, Required,
    ScopesDocument, TestDocument,
};
use crate::account::{AccountClaim, AccountClaims};
use crate::algorithm::Algorithm;
use crate::check;
use crate::issuer::Issuer;
use crate::jwk::KeyRules;
use crate::key_name::KeyName;
use crate::kind::{ClaimTest, KindRules};
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
        let name = diagnostic.key.name.map_or("", KeyName::text);
        let location = document.and_then(|document| document.location_of(name));
        diagnostics.push_new(location.unwrap_or(list.location), diagnostic.message);
    }
    issuers
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
            Required::Claim(name) => Some(ClaimTest::present(name)),
            Required::Test(document) => test(document, diagnostics),
        });
        issuer = issuer.require_tests(tests.collect::<Vec<_>>());
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

fn test(document: &Spanned<TestDocument>, diagnostics: &mut Diagnostics) -> Option<ClaimTest> {
    let Spanned { location, value } = document;
    let TestDocument { claim, equals, one_of, present, equals_claim, differs_from_claim } = value;
    let claim = claim.as_str();
    let tests = [
        equals.as_ref().map(|text| ClaimTest::equals(claim, text)),
        one_of.as_ref().map(|texts| ClaimTest::one_of(claim, texts)),
        present.map(|present| match present {
            true => ClaimTest::present(claim),
            false => ClaimTest::absent(claim),
        }),
        equals_claim.as_ref().map(|other| ClaimTest::equals_claim(claim, other)),
        differs_from_claim.as_ref().map(|other| ClaimTest::differs_from_claim(claim, other)),
    ];
    let mut tests = tests.into_iter().flatten();
    let test = tests.next();
    if test.is_none() || tests.next().is_some() {
        let message = "a test needs exactly one of `equals`, `one_of`, `present`, `equals_claim`, `differs_from_claim`";
        diagnostics.push_new(*location, message);
    }
    test
}

fn unknown_algorithm(name: &str) -> String {
    let known = Algorithm::ALL.iter().filter(|algorithm| !algorithm.is_hmac());
    let known: Vec<_> = known.map(|algorithm| format!("`{}`", algorithm.as_str())).collect();
    format!("unknown algorithm {} (known: {})", quoted(name), known.join(", "))
}
