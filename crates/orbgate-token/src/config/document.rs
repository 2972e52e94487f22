//! The configuration file as plain data: what both YAML readings must agree on. Nothing here is validated beyond its shape.
//! The README's table of keys is made of it.

use core::fmt;
use core::num::NonZeroU64;

use orbgate_yaml::{
    Content, Location, Node, Owner, Shape, Spanned, Value, Values, Version, document, other_reading, quoted,
};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

document! {
    /// The issuers whose tokens are accepted.
    pub(super) struct Document {
        /// The version of the format.
        pub(super) orbgate_token: Version,
        /// The issuers. A token of any other issuer is refused.
        pub(super) issuers: Spanned<Vec<IssuerDocument>>,
        /// The longest token that is read, in bytes, opaque or not; 16384 if absent, 65536 at most.
        pub(super) max_token_bytes: Option<Spanned<NonZeroU64>>,
        /// The base URLs of the service as its clients see them, for DPoP proofs: `https`, with a path only if a proxy strips it, and without a final `/`. Required once an issuer has `proof` with `dpop`.
        pub(super) public_urls: Option<Spanned<Vec<Spanned<String>>>>,
        /// How many checked signatures a cache of keys remembers for a minute; 0 if absent, 1000000 at most.
        pub(super) remember_signatures: Option<Spanned<u64>>,
    }

    /// One issuer; see `Issuer` for what each key means.
    pub(crate) struct IssuerDocument ("this issuer") {
        /// The exact `iss` of its tokens. With `{tenant}` in it, one for each of the `tenants`.
        pub(super) issuer: Spanned<String>,
        /// The tenants whose tokens count: each takes the place of `{tenant}` in `issuer`, `jwks_uri` and `jwks_file`.
        pub(super) tenants: Option<Spanned<Vec<Spanned<String>>>>,
        /// Must be in `aud`; of several, one of them.
        pub(super) audience: Spanned<Names>,
        /// The claim with the audience; `aud` if absent.
        pub(super) audience_claim: Option<Spanned<String>>,
        /// How to tell a user's token from an organisation's; one of the two words if all its tokens are of one kind.
        pub(super) kind: Spanned<KindDocument>,
        /// The URL of its keys; found by OIDC discovery if absent.
        pub(super) jwks_uri: Option<Spanned<String>>,
        /// The regular file with its public keys as a JWK set, by its absolute path, instead of `jwks_uri`; read again on reload.
        pub(super) jwks_file: Option<Spanned<String>>,
        /// The accepted signature algorithms, only those with public keys; `RS256` if absent.
        pub(super) algorithms: Option<Spanned<Vec<Spanned<String>>>>,
        /// Values of `typ` that are accepted as well as `at+jwt`; `""` is a token without `typ`.
        pub(super) extra_types: Option<Vec<Spanned<String>>>,
        /// Where a token has its scopes.
        pub(super) scopes: Option<Spanned<ScopesDocument>>,
        /// Where an organisation's token has its scopes, if not in the claim of a user's token.
        pub(super) organisation_scopes: Option<Spanned<ScopesDocument>>,
        /// The claim that names the client; `client_id` if absent.
        pub(super) client_claim: Option<Spanned<String>>,
        /// Whose orbs a call consumes: `subject` (`sub`), `client` (see `client_claim`) or a mapping. Without it, calls that consume orbs are denied by gates with a ledger.
        pub(super) account: Option<Spanned<AccountDocument>>,
        /// Claims that are required in addition to `iss`, `aud` and `exp`: the name of a claim that must be there, or a test as in `kind`.
        pub(super) require: Option<Spanned<Vec<Required>>>,
        /// The scopes that its tokens earn: for each name, which begins with `earned:`, `always`, a test as in `kind`, or a list of tests that must all hold. At most 64.
        pub(super) derive: Option<Spanned<Derivations>>,
        /// How far clocks may differ; 60 if absent, 300 at most.
        pub(super) skew_seconds: Option<Spanned<u64>>,
        /// The longest time from `iat` to `exp`; no limit if absent.
        pub(super) max_lifetime_seconds: Option<Spanned<u64>>,
        /// `true` treats a token that is bound to a key (`cnf`) as a plain one, so that a thief can use it.
        pub(super) allow_unverified_cnf: Option<Spanned<bool>>,
        /// What must prove that the sender of a token holds the key that the token is bound to (`cnf`): `dpop` (RFC 9449), `mtls` (RFC 8705) or a list of both, of which each token needs at least one; or a mapping. Without it, bound tokens are refused.
        pub(super) proof: Option<Spanned<ProofDocument>>,
        /// The signature algorithms of DPoP proofs; `ES256`, `PS256`, `EdDSA` and `Ed25519` if absent.
        pub(super) proof_algorithms: Option<Spanned<Vec<Spanned<String>>>>,
        /// The smallest accepted exponent of an RSA key, an odd number; 65537 if absent.
        pub(super) rsa_exponent_min: Option<Spanned<u64>>,
        /// Its introspection endpoint (RFC 7662), which is asked about each token instead of checking a signature.
        pub(super) opaque: Option<Spanned<OpaqueDocument>>,
    }

    /// Where to ask about opaque tokens, and as which client.
    pub(super) struct OpaqueDocument ("`opaque`") {
        /// The URL of the introspection endpoint.
        pub(super) endpoint: Spanned<String>,
        /// The client of this API at the issuer.
        pub(super) client_id: Spanned<String>,
        /// The regular file with the client's secret, by its absolute path; this key or the next one is required.
        pub(super) client_secret_file: Option<Spanned<String>>,
        /// The environment variable with the client's secret.
        pub(super) client_secret_env: Option<Spanned<String>>,
        /// What the issuer's opaque tokens begin with; one issuer may go without, and gets the rest.
        pub(super) prefix: Option<Spanned<String>>,
        /// How long an answer is used at most, and so how long a revoked token may be accepted; 60 if absent, otherwise 1 to 3600.
        pub(super) max_cache_seconds: Option<Spanned<u64>>,
    }

    /// Whether tokens must be bound.
    pub(super) struct ProofWhen {
        /// `dpop`, `mtls` or a list: each token must be bound by one of them or several. The same as without the mapping; excludes the next key.
        pub(super) required: Option<Spanned<ProofMethods>>,
        /// `dpop`, `mtls` or a list: a token that isn't bound is accepted as a plain one, which a thief can use.
        pub(super) when_bound: Option<Spanned<ProofMethods>>,
    }

    pub(super) enum ProofName {
        Dpop: "dpop",
        Mtls: "mtls",
    }

    /// The account for each kind, or one claim for both.
    pub(super) struct Accounts {
        /// The claim that names the account, for tokens of both kinds; excludes the next two keys.
        pub(super) claim: Option<Spanned<String>>,
        /// The account of a user's token.
        pub(super) user: Option<Spanned<AccountOfKind>>,
        /// The account of an organisation's token.
        pub(super) organisation: Option<Spanned<AccountOfKind>>,
    }

    pub(super) struct AccountClaimDocument {
        /// The claim that names the account.
        pub(super) claim: Spanned<String>,
    }

    pub(super) enum AccountName {
        Subject: "subject",
        Client: "client",
    }

    pub(super) struct KindClaims {
        /// Tests of claims. A token for which all of them hold is a user's.
        pub(super) user: Option<Spanned<Vec<Spanned<TestDocument>>>>,
        /// The same for an organisation's token.
        pub(super) organisation: Option<Spanned<Vec<Spanned<TestDocument>>>>,
    }

    /// One test of a claim: `claim` and exactly one of the other keys; or only `proof`.
    pub(super) struct TestDocument ("this test") {
        /// The claim to test, or a list of the names that lead to a value inside one; with exactly one of the next eight keys.
        pub(super) claim: Option<Spanned<Names>>,
        /// The claim must be this string, boolean or whole number, of the same type.
        pub(super) equals: Option<Spanned<ValueDocument>>,
        /// The claim must be one of these strings, booleans or whole numbers.
        pub(super) one_of: Option<Spanned<Vec<Spanned<ValueDocument>>>>,
        /// The claim must be a list with this string in it, or be this string.
        pub(super) contains: Option<Spanned<String>>,
        /// The claim must be a string with this word between spaces.
        pub(super) contains_word: Option<Spanned<String>>,
        /// The claim must be a date that isn't older than this plus `skew_seconds`, nor more than `skew_seconds` in the future. Not in `kind`.
        pub(super) within_seconds: Option<Spanned<NonZeroU64>>,
        /// Whether the claim must be there, or must not.
        pub(super) present: Option<Spanned<bool>>,
        /// The claim must equal this other claim.
        pub(super) equals_claim: Option<Spanned<Names>>,
        /// The claim must differ from this other claim.
        pub(super) differs_from_claim: Option<Spanned<Names>>,
        /// Instead of `claim`, only in `derive`: `dpop` or `mtls`, which must have proved the token. The issuer's `proof` must name it.
        pub(super) proof: Option<Spanned<ProofName>>,
    }

    /// Where a token has its scopes.
    pub(super) struct ScopesDocument {
        /// The claim with the scopes, or a list of the names that lead to a value inside one, such as `[realm_access, roles]`; `scope` if absent.
        pub(super) claim: Option<Names>,
        /// One text with spaces, or a list; `string` if absent.
        pub(super) format: Option<FormatDocument>,
        /// A token that also has scopes in the other usual claim, `scope` or `scp`, is refused, or that claim is ignored; `deny` if absent. So is an organisation's token that also has the claim of a user's.
        pub(super) conflict: Option<ConflictDocument>,
    }

    /// The kinds of token.
    pub(super) enum KindName {
        User: "user",
        Organisation: "organisation",
    }

    pub(super) enum FormatDocument {
        String: "string",
        Array: "array",
    }

    pub(super) enum ConflictDocument {
        Deny: "deny",
        Ignore: "ignore",
    }
}

/// Whose orbs the calls with an issuer's tokens consume.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum AccountDocument {
    Named(AccountName),
    Mapping(Accounts),
}

impl Value for AccountDocument {
    const SHAPE: Shape = Shape::Either(&[AccountName::SHAPE, Accounts::SHAPE]);

    fn read(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Self {
        match account_name(node) {
            Some(Some(name)) => Self::Named(name),
            Some(None) => {
                values.wrong(node, "`account` must be `subject`, `client` or a mapping");
                Self::stand_in(node.location)
            }
            None => Self::Mapping(Accounts::read(node, owner, values)),
        }
    }

    fn stand_in(_: Location) -> Self {
        Self::Named(AccountName::Subject)
    }

    /// The first claim without a name: one that is missing or of a wrong type, which is already reported, reads as an empty
    /// string.
    fn wrong_part(&self) -> Option<Location> {
        let Self::Mapping(Accounts { claim, user, organisation }) = self else {
            return None;
        };
        let of_kinds = [user, organisation].into_iter().flatten().filter_map(|account| match &account.value {
            AccountOfKind::Named(_) => None,
            AccountOfKind::Claim(AccountClaimDocument { claim }) => Some(claim),
        });
        let mut claims = claim.iter().chain(of_kinds);
        claims.find(|claim| claim.value.is_empty()).map(|claim| claim.location)
    }
}

/// What proves an issuer's tokens.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum ProofDocument {
    Required(ProofMethods),
    When(ProofWhen),
}

impl Value for ProofDocument {
    const SHAPE: Shape = Shape::Either(&[ProofMethods::SHAPE, ProofWhen::SHAPE]);

    fn read(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Self {
        match &node.kind {
            Content::Mapping(_) => Self::When(ProofWhen::read(node, owner, values)),
            _ => Self::Required(ProofMethods::read(node, owner, values)),
        }
    }

    fn stand_in(location: Location) -> Self {
        Self::Required(ProofMethods::stand_in(location))
    }
}

/// One method, or several.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum ProofMethods {
    One(ProofName),
    Several(Vec<Spanned<ProofName>>),
}

impl Value for ProofMethods {
    const SHAPE: Shape = Shape::Either(&[ProofName::SHAPE, Vec::<Spanned<ProofName>>::SHAPE]);

    fn read(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Self {
        match &node.kind {
            Content::Sequence(_) => Self::Several(Vec::read(node, owner, values)),
            _ => Self::One(ProofName::read(node, owner, values)),
        }
    }

    fn stand_in(location: Location) -> Self {
        Self::One(ProofName::stand_in(location))
    }
}

/// The same for tokens of one kind.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum AccountOfKind {
    Named(AccountName),
    Claim(AccountClaimDocument),
}

impl Value for AccountOfKind {
    const SHAPE: Shape = Shape::Either(&[AccountName::SHAPE, AccountClaimDocument::SHAPE]);

    fn read(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Self {
        match account_name(node) {
            Some(Some(name)) => Self::Named(name),
            Some(None) => {
                let must = format!("{} must be `subject`, `client` or `{{ claim: NAME }}`", owner.what);
                values.wrong(node, &must);
                Self::stand_in(node.location)
            }
            None => Self::Claim(AccountClaimDocument::read(node, owner, values)),
        }
    }

    fn stand_in(_: Location) -> Self {
        Self::Named(AccountName::Subject)
    }
}

/// The word of a plain value, if it is one of the two; `None` for a mapping.
fn account_name(node: &Node<'_>) -> Option<Option<AccountName>> {
    let Content::Scalar(scalar) = &node.kind else {
        return None;
    };
    let named = AccountName::NAMED.iter().find(|(name, _)| *name == scalar.text);
    Some(named.map(|(_, name)| *name))
}

/// One string, or several.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum Names {
    One(String),
    Several(Vec<Spanned<String>>),
}

impl Value for Names {
    const SHAPE: Shape = Shape::Either(&[String::SHAPE, Vec::<Spanned<String>>::SHAPE]);

    fn read(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Self {
        match &node.kind {
            Content::Sequence(_) => Self::Several(Vec::read(node, owner, values)),
            _ => Self::One(String::read(node, owner, values)),
        }
    }

    fn stand_in(location: Location) -> Self {
        Self::One(String::stand_in(location))
    }

    /// The first empty item of a list: an item of a wrong type, which is already reported, reads as an empty string.
    fn wrong_part(&self) -> Option<Location> {
        match self {
            Self::One(_) => None,
            Self::Several(several) => several.iter().find(|one| one.value.is_empty()).map(|one| one.location),
        }
    }
}

/// A claim that must be there, or a test that must hold.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum Required {
    Claim(Spanned<String>),
    Test(Box<Spanned<TestDocument>>),
}

impl Value for Required {
    const SHAPE: Shape = Shape::Either(&[String::SHAPE, TestDocument::SHAPE]);

    fn read(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Self {
        match &node.kind {
            Content::Mapping(_) => Self::Test(Box::new(Spanned::read(node, owner, values))),
            _ => Self::Claim(Spanned::read(node, owner, values)),
        }
    }

    fn stand_in(location: Location) -> Self {
        Self::Claim(Spanned::stand_in(location))
    }
}

/// A value that a claim can have.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum ValueDocument {
    Bool(bool),
    Number(i64),
    Text(String),
}

impl Value for ValueDocument {
    const SHAPE: Shape = Shape::Value("plain value");

    fn read(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Self {
        match &node.kind {
            Content::Scalar(scalar) if scalar.plain => match (&*scalar.text, whole(&scalar.text)) {
                ("true", _) => Self::Bool(true),
                ("false", _) => Self::Bool(false),
                (_, Some(number)) => Self::Number(number),
                (text, None) => match other_reading(text) {
                    Some(reading) if !text.is_empty() => {
                        values.wrong_at(node.location, other_value(owner.what, text, reading));
                        Self::stand_in(node.location)
                    }
                    Some(_) => Self::wrong(node, owner, values),
                    None => Self::Text(text.to_owned()),
                },
            },
            Content::Scalar(scalar) => Self::Text(scalar.text.clone().into_owned()),
            _ => Self::wrong(node, owner, values),
        }
    }

    fn stand_in(location: Location) -> Self {
        Self::Text(String::stand_in(location))
    }
}

impl ValueDocument {
    fn wrong(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Self {
        values.wrong(node, &format!("{} {A_VALUE}", owner.what));
        Self::stand_in(node.location)
    }
}

const A_VALUE: &str = "must be a string, a boolean or a whole number";

/// The error for a plain scalar that readers of YAML read in several ways, and each value that it can mean.
fn other_value(what: &str, text: &str, reading: &str) -> String {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_of = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    let number = || {
        // A leading zero is an octal number to some readers.
        let rest = digits.strip_prefix('0').unwrap_or_default();
        let number = text.parse::<f64>().ok().filter(|_| !rest.starts_with(|c: char| c.is_ascii_digit()))?;
        (number.fract() == 0.0 && number.abs() < END_OF_EXACT).then(|| format!("{:.0}", number + 0.0))
    };
    let meant = match reading {
        "a boolean" if is_of(&["true", "yes", "y", "on"]) => Some("true".to_owned()),
        "a boolean" => Some("false".to_owned()),
        _ => number(),
    };
    let quoted_text = format!("`'{text}'`");
    let (range, way_out) = match meant {
        Some(meant) => (String::new(), format!("`{meant}` or {quoted_text}")),
        None if digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0') => {
            (format!(" from {} to {}", i64::MIN, i64::MAX), quoted_text)
        }
        None => (String::new(), quoted_text),
    };
    format!("{what} {A_VALUE}{range}, and {} can be read as {reading}: write {way_out}", quoted(text))
}

/// The first number above which floating-point numbers aren't exact.
const END_OF_EXACT: f64 = 9_007_199_254_740_992.0;

/// A plain whole number, in the one way in which every reader of YAML reads it.
fn whole(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_plain = text == "0" || digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    text.parse().ok().filter(|_| is_plain)
}

/// The names of `derive`, in the order of the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Derivations(pub(super) Vec<(Spanned<String>, Derivation)>);

/// What earns one of them.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum Derivation {
    Always(Always),
    Test(Box<Spanned<TestDocument>>),
    Tests(Spanned<Vec<Spanned<TestDocument>>>),
}

document! {
    pub(super) enum Always {
        Always: "always",
    }
}

impl Value for Derivations {
    const SHAPE: Shape = Shape::Named(&Derivation::SHAPE);

    fn read(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Self {
        let entries = values.mapping(node, owner.what).iter().map(|entry| {
            let name = values.key(entry, "a derived scope");
            let what = &quoted(&name.value);
            let location = entry.value.location;
            (name, Derivation::read(&entry.value, &Owner { what, location }, values))
        });
        Self(entries.collect())
    }

    fn stand_in(_: Location) -> Self {
        Self(Vec::new())
    }
}

impl<'de> Deserialize<'de> for Derivations {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ReadDerivations)
    }
}

struct ReadDerivations;

impl<'de> Visitor<'de> for ReadDerivations {
    type Value = Derivations;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Derivations, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Derivations(entries))
    }
}

impl Value for Derivation {
    const SHAPE: Shape =
        Shape::Either(&[Always::SHAPE, Shape::Either(&[TestDocument::SHAPE, Vec::<Spanned<TestDocument>>::SHAPE])]);

    fn read(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Self {
        match &node.kind {
            Content::Mapping(_) => Self::Test(Box::new(Spanned::read(node, owner, values))),
            Content::Sequence(_) => Self::Tests(Spanned::read(node, owner, values)),
            Content::Scalar(scalar) if Always::NAMED.iter().any(|(word, _)| *word == scalar.text) => {
                Self::Always(Always::Always)
            }
            _ => {
                let must = format!("{} must be `always`, a test or a list of tests", owner.what);
                values.wrong(node, &must);
                Self::stand_in(node.location)
            }
        }
    }

    fn stand_in(_: Location) -> Self {
        Self::Always(Always::Always)
    }
}

/// How to tell an organisation's token from a user's.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum KindDocument {
    Always(KindName),
    Claims(KindClaims),
}

impl Value for KindDocument {
    const SHAPE: Shape = Shape::Either(&[KindName::SHAPE, KindClaims::SHAPE]);

    fn read(node: &Node<'_>, owner: &Owner<'_>, values: &mut Values<'_>) -> Self {
        let Content::Scalar(scalar) = &node.kind else {
            return Self::Claims(KindClaims::read(node, owner, values));
        };
        let named = KindName::NAMED.iter().find(|(name, _)| *name == scalar.text);
        match named {
            Some((_, kind)) => Self::Always(*kind),
            None => {
                let must = "`kind` must be `user`, `organisation` or a mapping with these keys";
                values.wrong(node, must);
                Self::stand_in(node.location)
            }
        }
    }

    fn stand_in(location: Location) -> Self {
        Self::Claims(KindClaims::stand_in(location))
    }
}
