//! Document → issuers: what the plain data means.

use core::time::Duration;

use orbgate::TokenKind;
use orbgate_yaml::{Diagnostics, Location, Shape, Spanned, Value as _, quoted};

use super::document::{
    AccountClaimDocument, AccountDocument, AccountName, AccountOfKind, Accounts, ConflictDocument, Derivation,
    Derivations, Document, FormatDocument, IssuerDocument, KindClaims, KindDocument, KindName, Names, OpaqueDocument,
    ProofDocument, ProofMethods, ProofName, ProofWhen, Required, ScopesDocument, TestDocument, ValueDocument,
};
use crate::account::{AccountClaim, AccountClaims};
use crate::algorithm::Algorithm;
use crate::check::{self, Key, KeyDiagnostic, Part, PartOf};
use crate::claim_test::{ClaimTest, ClaimValue, Test};
use crate::derive::Derived;
use crate::issuer::Issuer;
use crate::jwk::KeyRules;
use crate::key_name::KeyName;
use crate::kind::KindRules;
use crate::opaque::{Opaque, SecretSource};
use crate::proof::rules::{ProofMethod, ProofRules};
use crate::scope::{ClaimPath, Conflict, ScopeClaim, ScopeFormat};
use crate::verifier::{MOST_REMEMBERED, MOST_TOKEN_BYTES, Verifier};

/// The verifier that a document describes, and every error in it.
pub(super) fn verifier(document: &Document, diagnostics: &mut Diagnostics) -> Verifier {
    let Document { orbgate_token: _, issuers: list, max_token_bytes, public_urls, remember_signatures } = document;
    let mut verifier = Verifier::of(issuers(list, diagnostics));
    if let Some(urls) = public_urls {
        if urls.value.is_empty() {
            diagnostics
                .push_new(urls.location, "`public_urls` is empty: leave it out, or write a base URL of the service");
        }
        let wrong = urls.value.iter().filter_map(|url| Some((url.location, check::public_url(&url.value).err()?)));
        for (location, message) in wrong {
            diagnostics.push_new(location, message);
        }
        let urls = urls.value.iter().filter_map(|url| check::public_url(&url.value).ok());
        verifier = verifier.with_public_urls(urls.collect());
    } else if verifier.lacks_urls() {
        let with_dpop = list.value.iter().filter_map(|issuer| issuer.proof.as_ref()).find(|proof| {
            let rules = proof_rules(proof, &mut Vec::new());
            rules.has(ProofMethod::Dpop)
        });
        let message = "`public_urls` is missing: write the base URLs of the service, as its clients see them, with which \
                       proofs are compared";
        diagnostics.push_new(with_dpop.map_or(list.location, |proof| proof.location), message);
    }
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
    let found = check::diagnostics(&issuers).into_iter().map(|KeyDiagnostic { key, message }| {
        let location = documents.get(key.issuer).and_then(|document| location(document, key));
        (key.part, location.unwrap_or(list.location), message)
    });
    // What is wrong with a value that can't be read is said already, but several errors can be at one place.
    let is_new = |part: Option<Part>, at: Location| {
        let is_about_it = part.is_some_and(Part::is_of_one_value);
        !is_about_it || !diagnostics.stand_at(at)
    };
    let found: Vec<_> = found.filter(|(part, at, _)| is_new(*part, *at)).collect();
    for (part, at, message) in found {
        match part {
            Some(_) => diagnostics.push(at, message),
            None => diagnostics.push_new(at, message),
        }
    }
    issuers
}

/// Where this key of an issuer is, or the part of it.
fn location(document: &IssuerDocument, key: Key) -> Option<Location> {
    let name = key.name.map_or("", KeyName::text);
    let part = key.part.and_then(|part| part_location(document, name, part));
    part.or_else(|| document.location_of(name))
}

fn part_location(document: &IssuerDocument, name: &str, Part { list, of }: Part) -> Option<Location> {
    let each = |tests: &'_ [Spanned<TestDocument>], at: usize| tests.get(at).map(|test| in_test(test, of));
    let (name, all, test) = match name {
        "kind" => {
            let KindDocument::Claims(KindClaims { user, organisation }) = &document.kind.value else { return None };
            let list = [user, organisation].get(list)?.as_ref()?;
            (list.location, list.location, each(&list.value, of.test()))
        }
        "require" => {
            let list = document.require.as_ref()?;
            let test = list.value.get(of.test()).map(|required| match required {
                Required::Claim(name) => name.location,
                Required::Test(test) => in_test(test, of),
            });
            (list.location, list.location, test)
        }
        "derive" => {
            let (name, derivation) = document.derive.as_ref()?.value.0.get(list)?;
            let (all, test) = match derivation {
                Derivation::Always(_) => (name.location, None),
                Derivation::Test(test) => (test.location, each(core::slice::from_ref(&**test), of.test())),
                Derivation::Tests(tests) => (tests.location, each(&tests.value, of.test())),
            };
            (name.location, all, test)
        }
        _ => return None,
    };
    match of {
        PartOf::Name => Some(name),
        PartOf::All => Some(all),
        PartOf::Test(_) | PartOf::Value(..) => test,
    }
}

impl PartOf {
    /// The index of the test that it is, or is in.
    const fn test(self) -> usize {
        match self {
            Self::Name | Self::All => 0,
            Self::Test(index) | Self::Value(index, ..) => index,
        }
    }
}

fn in_test(test: &Spanned<TestDocument>, of: PartOf) -> Location {
    let PartOf::Value(_, key, item) = of else { return test.location };
    let TestDocument { claim, one_of, equals_claim, differs_from_claim, .. } = &test.value;
    let values = one_of.iter().flat_map(|values| &values.value).map(|value| value.location);
    let of_names = |names: &Spanned<Names>| names.value.location_of_item(item?);
    let item = match key.text() {
        "claim" => claim.as_ref().and_then(of_names),
        "equals_claim" => equals_claim.as_ref().and_then(of_names),
        "differs_from_claim" => differs_from_claim.as_ref().and_then(of_names),
        "one_of" => item.and_then(|item| values.into_iter().nth(item)),
        _ => None,
    };
    item.or_else(|| test.value.location_of(key.text())).unwrap_or(test.location)
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
    /// Where one of several is.
    fn location_of_item(&self, item: usize) -> Option<Location> {
        match self {
            Self::One(_) => None,
            Self::Several(several) => several.get(item).map(|name| name.location),
        }
    }

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
        proof,
        proof_algorithms,
        rsa_exponent_min,
        opaque,
    } = document;
    let kind = kind_rules(kind, diagnostics);
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
        let tests = claims.value.iter().map(|required| match required {
            Required::Claim(name) => ClaimTest::present(name.value.as_str()),
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
    if let Some(proof) = proof {
        let mut wrong = Vec::new();
        let rules = proof_rules(proof, &mut wrong);
        for (location, message) in wrong {
            diagnostics.push_new(location, message);
        }
        issuer = issuer.proof(match proof_algorithms {
            Some(names) => {
                let algorithms = algorithms_of(&names.value, diagnostics);
                match algorithms.is_empty() && !names.value.is_empty() {
                    true => rules,
                    false => rules.algorithms(algorithms),
                }
            }
            None => rules,
        });
    } else if let Some(names) = proof_algorithms {
        diagnostics.push_new(names.location, "`proof_algorithms` does nothing without `proof`");
    }
    if let Some(min) = rsa_exponent_min {
        issuer = issuer.key_rules(KeyRules { rsa_exponent_min: min.value });
    }
    if let Some(document) = opaque {
        issuer = issuer.opaque(opaque_of(document, diagnostics));
    }
    of_tenants(name, tenants.as_ref(), issuer, diagnostics)
}

const fn proof_method(name: &ProofName) -> ProofMethod {
    match name {
        ProofName::Dpop => ProofMethod::Dpop,
        ProofName::Mtls => ProofMethod::Mtls,
    }
}

fn proof_rules(document: &Spanned<ProofDocument>, wrong: &mut Vec<(Location, &'static str)>) -> ProofRules {
    let methods = |methods: &ProofMethods| match methods {
        ProofMethods::One(name) => vec![proof_method(name)],
        ProofMethods::Several(names) => names.iter().map(|name| proof_method(&name.value)).collect(),
    };
    match &document.value {
        ProofDocument::Required(of) => ProofRules::required(methods(of)),
        ProofDocument::When(ProofWhen { required: Some(of), when_bound: None }) => {
            ProofRules::required(methods(&of.value))
        }
        ProofDocument::When(ProofWhen { required: None, when_bound: Some(of) }) => {
            ProofRules::when_bound(methods(&of.value))
        }
        ProofDocument::When(_) => {
            wrong.push((document.location, "`proof` needs exactly one of `required` and `when_bound`"));
            ProofRules::required([ProofMethod::Mtls])
        }
    }
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

fn kind_rules(document: &Spanned<KindDocument>, diagnostics: &mut Diagnostics) -> KindRules {
    let KindClaims { user, organisation } = match &document.value {
        KindDocument::Always(KindName::User) => return KindRules::Always(TokenKind::User),
        KindDocument::Always(KindName::Organisation) => {
            return KindRules::Always(TokenKind::Organisation);
        }
        KindDocument::Claims(claims) => claims,
    };
    // A list with an unknown name isn't a missing list.
    let is_misspelt = user.is_none() && diagnostics.is_with_unknown_key(document.location);
    let mut tests = |tests: &Option<Spanned<Vec<_>>>| match tests {
        Some(tests) if diagnostics.stand_at(tests.location) && tests.value.is_empty() => vec![unread()],
        Some(tests) => tests.value.iter().map(|it| test(it, diagnostics)).collect(),
        None => Vec::new(),
    };
    let (mut user, organisation) = (tests(user), tests(organisation));
    if is_misspelt && organisation.is_empty() {
        user.push(unread());
    }
    KindRules::Claims { user, organisation }
}

/// A test in place of a list that can't be read.
fn unread() -> ClaimTest {
    ClaimTest::new("unread", Test::Faulty(Vec::new()))
}

fn derived(names: &Spanned<Derivations>, diagnostics: &mut Diagnostics) -> Vec<Derived> {
    if names.value.0.is_empty() {
        let message = "`derive` is empty: leave it out, or write a name that begins with `earned:`";
        diagnostics.push_new(names.location, message);
    }
    let derived = names.value.0.iter().map(|(name, derivation)| {
        let tests = match derivation {
            Derivation::Always(_) => return Derived::always(&name.value),
            Derivation::Test(test) => core::slice::from_ref(&**test),
            Derivation::Tests(tests) => &tests.value,
        };
        Derived::new(&name.value, tests.iter().map(|it| test(it, diagnostics)).collect::<Vec<_>>())
    });
    derived.collect()
}

/// A test. If it isn't exactly one, or has a value that can't be read, it is [faulty](Test::Faulty).
fn test(document: &Spanned<TestDocument>, diagnostics: &mut Diagnostics) -> ClaimTest {
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
        proof,
    } = &document.value;
    let path = |names: &Spanned<Names>| ClaimPath::nested(names.value.iter());
    let tests = [
        equals.as_ref().map(|value| (value.location(), Test::Equals((&value.value).into()))),
        one_of.as_ref().map(|values| {
            let unread = values.value.iter().map(|value| value.location).find(|at| diagnostics.stand_at(*at));
            let values = Spanned { location: unread.unwrap_or(values.location), value: &values.value };
            (Some(values.location), Test::OneOf(values.value.iter().map(|value| (&value.value).into()).collect()))
        }),
        contains.as_ref().map(|text| (text.location(), Test::Contains(text.value.clone()))),
        contains_word.as_ref().map(|word| (word.location(), Test::ContainsWord(word.value.clone()))),
        within_seconds.as_ref().map(|seconds| (seconds.location(), Test::WithinSeconds(seconds.value.get()))),
        present.as_ref().map(|present| (present.location(), if present.value { Test::Present } else { Test::Absent })),
        equals_claim.as_ref().map(|other| (other.location(), Test::EqualsClaim(path(other)))),
        differs_from_claim.as_ref().map(|other| (other.location(), Test::DiffersFromClaim(path(other)))),
        proof.as_ref().map(|method| (method.location(), Test::Proof(proof_method(&method.value)))),
    ];
    let (locations, mut tests): (Vec<_>, Vec<_>) = tests.into_iter().flatten().unzip();
    let is_unread = locations.into_iter().flatten().any(|location| diagnostics.stand_at(location));
    // What isn't a mapping, or has an unknown key, has its error.
    let is_told = diagnostics.stand_at(document.location) || diagnostics.is_with_unknown_key(document.location);
    if tests.len() > 1 || tests.is_empty() && !is_told && claim.is_some() {
        let keys = match TestDocument::SHAPE {
            Shape::Mapping(keys) => keys.iter().map(|key| key.name).filter(|key| *key != "claim").map(quoted).collect(),
            _ => Vec::new(),
        };
        diagnostics.push(document.location, format!("a test needs exactly one of {}", keys.join(", ")));
    }
    match (claim, proof) {
        (None, None) if !diagnostics.stand_at(document.location) => {
            diagnostics.lacking(document.location, "claim", "this test is missing the key `claim`".to_owned());
        }
        (Some(claim), Some(_)) => {
            diagnostics.push(claim.location, "`proof` tests the token's sender: leave out `claim`")
        }
        _ => {}
    }
    match (tests.pop(), claim) {
        (Some(Test::Proof(method)), None) if tests.is_empty() && !is_unread => ClaimTest::proof(method),
        (Some(test), Some(claim)) if tests.is_empty() && !is_unread => ClaimTest::new(path(claim), test),
        (last, claim) => {
            let claim = claim.as_ref().map_or_else(|| ClaimPath::from("unread"), path);
            ClaimTest::new(claim, Test::Faulty(tests.into_iter().chain(last).collect()))
        }
    }
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
