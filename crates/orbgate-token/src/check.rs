//! Checks a configuration, whether it was written in YAML or in Rust.

use core::net::Ipv6Addr;
use core::time::Duration;

use orbgate::{EARNED, TokenKind, is_earned};
use orbgate_yaml::quoted;

use crate::account::{AccountClaim, AccountClaims};
use crate::algorithm::Algorithm;
use crate::bearer::is_b64token;
use crate::claim_test::{ClaimTest, ClaimValue, Test, is_word};
use crate::derive::{Derived, LONGEST_PARAMETER, MOST};
use crate::issuer::Issuer;
use crate::jwk::KeyRules;
use crate::key_name::{KeyName, key};
use crate::kind::KindRules;
use crate::opaque::Opaque;
use crate::proof::rules::{ProofMethod, ProofRules};
use crate::proof::url::PublicUrl;
use crate::scope::{ClaimPath, ScopeClaim, is_scope};

#[derive(Debug)]
pub(crate) struct KeyDiagnostic {
    pub(crate) key: Key,
    pub(crate) message: String,
}

/// A location in a configuration: a key of an issuer, or the whole issuer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    /// The issuer's index, from 0.
    pub(crate) issuer: usize,
    /// `None` for the whole issuer.
    pub(crate) name: Option<KeyName>,
    /// The part of the key's value that is meant; `None` for all of it.
    pub(crate) part: Option<Part>,
}

/// A part of a key whose value has lists of tests: `kind` has two lists, `require` has one, and `derive` has one for each name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Part {
    /// The index of the list.
    pub(crate) list: usize,
    pub(crate) of: PartOf,
}

/// A part of a list of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PartOf {
    /// Its name.
    Name,
    /// All of its tests.
    All,
    /// The test with this index.
    Test(usize),
    /// The value of this key of a test, and the index of one of several.
    Value(usize, KeyName, Option<usize>),
}

impl Part {
    /// Whether an error about it is also one about each part of it that has an error.
    pub(crate) const fn is_of_one_value(self) -> bool {
        matches!(self.of, PartOf::Name | PartOf::Value(..))
    }
}

const SKEW: Duration = Duration::from_secs(300);

/// All errors of these issuers.
pub(crate) fn diagnostics(issuers: &[Issuer]) -> Vec<KeyDiagnostic> {
    let mut diagnostics = Diagnostics { list: Vec::new(), issuer: 0 };
    if issuers.is_empty() {
        diagnostics.push(None, "there is no issuer: every token would be refused");
    }
    for (index, issuer) in issuers.iter().enumerate() {
        diagnostics.issuer = index;
        diagnostics.check(issuer);
        let earlier = issuers.iter().take(index);
        if earlier.into_iter().any(|other| other.issuer == issuer.issuer) {
            diagnostics.push(key!("issuer"), "another issuer has the same name");
        }
        if let Some(opaque) = &issuer.opaque {
            diagnostics.opaque(issuer, opaque);
            let mut earlier = issuers.iter().take(index).flat_map(|it| &it.opaque);
            if earlier.any(|other| other.prefix == opaque.prefix) {
                let message = match opaque.prefix {
                    Some(_) => "another issuer's opaque tokens have the same `prefix`",
                    None => "another issuer gets the opaque tokens: one of the two needs a `prefix`",
                };
                diagnostics.push(key!("prefix"), message);
            }
        }
    }
    diagnostics.list
}

/// Why no fetch from this URL can succeed, or none would be safe from tampering; `None` for a usable one.
pub(crate) fn url_error(url: &str) -> Option<&'static str> {
    let is_of_url = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte);
    if !url.bytes().all(is_of_url) {
        return Some("has a character that no URL has: replace any placeholder, such as `{tenantid}`");
    }
    (!is_safe_url(url)).then_some("must start with `https://` and a host, or lead to this very machine")
}

/// Whether a fetch from this URL is safe from tampering: `https`, or a loopback address.
///
/// Our own code, because it recognises only two forms. The crate `url` repairs input that is rejected here, such as
/// backslashes, tabs and unusual spellings of an address. Then the URL that is fetched would differ from the string
/// that was checked.
pub(crate) fn is_safe_url(url: &str) -> bool {
    match url.strip_prefix("https://") {
        Some(rest) => host_of(rest).is_some(),
        None => is_loopback(url),
    }
}

/// Whether this URL is of this very machine. No proxy is used for it.
pub(crate) fn is_loopback(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    matches!(rest.and_then(host_of), Some("localhost" | "127.0.0.1" | "[::1]"))
}

/// A base URL of the service; a message if it can't be one.
pub(crate) fn public_url(url: &str) -> Result<PublicUrl, String> {
    let known = PublicUrl::parse(url).filter(|_| is_safe_url(url));
    known.ok_or_else(|| {
        format!(
            "`public_urls`: {} isn't an absolute URL, `https` or of this machine, without query, fragment and final `/`",
            quoted(url)
        )
    })
}

fn host_of(rest: &str) -> Option<&str> {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port),
        _ => (authority, ""),
    };
    let is_port = port.is_empty() || port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    let is_host = match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']').is_some_and(|address| address.parse::<Ipv6Addr>().is_ok()),
        None => host.strip_suffix('.').unwrap_or(host).split('.').all(is_label),
    };
    (is_port && is_host).then_some(host)
}

/// Whether a host can have this between two dots. Names inside a network also have `_`.
fn is_label(label: &str) -> bool {
    !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

struct Diagnostics {
    list: Vec<KeyDiagnostic>,
    issuer: usize,
}

impl Diagnostics {
    fn push(&mut self, name: impl Into<Option<KeyName>>, message: impl Into<String>) {
        self.push_at(name, None, message);
    }

    fn push_at(&mut self, name: impl Into<Option<KeyName>>, part: impl Into<Option<Part>>, message: impl Into<String>) {
        let key = Key { issuer: self.issuer, name: name.into(), part: part.into() };
        self.list.push(KeyDiagnostic { key, message: message.into() });
    }

    fn check(&mut self, issuer: &Issuer) {
        if issuer.issuer.is_empty() {
            self.push(key!("issuer"), "`issuer` is empty: write the `iss` of its tokens");
        }
        if issuer.audiences.is_empty() || issuer.audiences.iter().any(String::is_empty) {
            let message = "`audience` is empty: write what the tokens' `aud` must have";
            self.push(key!("audience"), message);
        }
        self.claim_name(key!("audience_claim"), &issuer.audience_claim);
        // `{tenant}` has an error of its own.
        if issuer.issuer.replace("{tenant}", "").contains(['{', '}']) {
            let message = "`issuer` has a placeholder: no token's `iss` has braces. Write the tenant, or `{tenant}` and `tenants`";
            self.push(key!("issuer"), message);
        }
        let url = issuer.jwks_uri.as_ref().map(|url| url.replace("{tenant}", ""));
        if let Some(error) = url.as_deref().and_then(url_error) {
            self.push(key!("jwks_uri"), format!("`jwks_uri` {error}"));
        }
        if let Some(file) = &issuer.jwks_file {
            if let Some((key, message)) = file.source.diagnostic() {
                self.push(key, message);
            }
            if issuer.jwks_uri.is_some() {
                self.push(key!("jwks_file"), "`jwks_file` and `jwks_uri` are both there: leave out one of them");
            }
        }
        if issuer.algorithms.is_empty() {
            self.push(key!("algorithms"), "`algorithms` is empty: every token would be refused");
        }
        if issuer.skew > SKEW {
            self.push(key!("skew_seconds"), "`skew_seconds` is over 300, which is the limit");
        }
        if issuer.max_lifetime.is_some_and(|lifetime| lifetime.is_zero()) {
            self.push(key!("max_lifetime_seconds"), "`max_lifetime_seconds` is 0: every token would be refused");
        }
        self.claim_path(key!("scopes"), &issuer.scopes.claim);
        if let Some(scopes) = &issuer.organisation_scopes {
            self.organisation_scopes(issuer, scopes);
        }
        self.claim_name(key!("client_claim"), &issuer.client_claim);
        self.accounts(issuer);
        self.tests(key!("require"), 0, &issuer.require);
        self.derive(&issuer.derive);
        self.proof_tests(issuer);
        // Only a response of an introspection endpoint needs no `iss`.
        let is_in_each = |claim: &str| match claim {
            "iss" => issuer.opaque.is_none(),
            _ => claim == "exp" || claim == issuer.audience_claim,
        };
        let tests = issuer.require.iter().enumerate().filter(|(_, test)| !test.is_positive());
        for (index, _) in tests.filter(|(_, test)| matches!(test.claim.names(), [claim] if is_in_each(claim))) {
            let message = "`require` excludes a claim that each token needs: every token would be refused";
            self.push_at(key!("require"), Part { list: 0, of: PartOf::Test(index) }, message);
        }
        if let Some(rules) = &issuer.proof {
            self.proof(issuer, rules);
        }
        let exponent = issuer.key_rules.rsa_exponent_min;
        if exponent.is_multiple_of(2) || !(3..=u64::from(u32::MAX)).contains(&exponent) {
            self.push(key!("rsa_exponent_min"), "`rsa_exponent_min` must be an odd number from 3 to 4294967295");
        }
        self.kind(&issuer.kind);
    }

    fn organisation_scopes(&mut self, issuer: &Issuer, scopes: &ScopeClaim) {
        let name = key!("organisation_scopes");
        let key = name.text();
        self.claim_path(name, &scopes.claim);
        if scopes.claim == issuer.scopes.claim {
            let claim = &scopes.claim;
            let message = format!("`{key}` and `scopes` name the same claim, `{claim}`: leave out `{key}`");
            self.push(name, message);
        }
        let has_both = match &issuer.kind {
            KindRules::Always(_) => false,
            KindRules::Claims { user, organisation } => !user.is_empty() && !organisation.is_empty(),
        };
        if !has_both {
            let message = format!(
                "`{key}` needs a `kind` with tests for `user` and for `organisation`: use `scopes` for tokens of one kind"
            );
            self.push(name, message);
        }
    }

    fn proof(&mut self, issuer: &Issuer, rules: &ProofRules) {
        if rules.methods.is_empty() {
            self.push(key!("proof"), "`proof` names no method: leave it out to refuse bound tokens");
        }
        let mut methods = rules.methods.iter().enumerate();
        if methods.any(|(index, method)| rules.methods.iter().take(index).any(|earlier| earlier == method)) {
            self.push(key!("proof"), "`proof` names a method twice");
        }
        if rules.algorithms.is_empty() {
            self.push(key!("proof_algorithms"), "`proof_algorithms` is empty: every proof would be refused");
        }
        if rules.algorithms.iter().any(|algorithm| algorithm.is_hmac()) {
            self.push(
                key!("proof_algorithms"),
                "`proof_algorithms` has one that needs a secret: a proof brings its public key",
            );
        }
        if !rules.has(ProofMethod::Dpop) && !rules.is_usual() {
            self.push(key!("proof_algorithms"), "`proof_algorithms` does nothing without `dpop` in `proof`");
        }
        if issuer.allow_unverified_cnf {
            let message =
                "`allow_unverified_cnf` accepts bound tokens without the `proof` that is required: leave it out";
            self.push(key!("allow_unverified_cnf"), message);
        }
    }

    fn accounts(&mut self, issuer: &Issuer) {
        let AccountClaims { user, organisation } = &issuer.accounts;
        let mut accounts: Vec<_> = [user, organisation].into_iter().flatten().collect();
        // One claim for both kinds is one error.
        accounts.dedup();
        for account in accounts {
            if let AccountClaim::Claim(claim) = account {
                self.claim_name(key!("account"), claim);
            }
        }
        // One account for both kinds is also right for an issuer of one kind.
        let is_for_both = user == organisation;
        for (name, account, kind) in
            [("user", user, TokenKind::User), ("organisation", organisation, TokenKind::Organisation)]
        {
            if account.is_some() && !is_for_both && !issuer.kind.has(kind) {
                let message = format!("`account` has `{name}`, but no token of the issuer is of this `kind`");
                self.push(key!("account"), message);
            }
        }
    }

    fn opaque(&mut self, issuer: &Issuer, opaque: &Opaque) {
        if let Some(error) = url_error(&opaque.endpoint) {
            self.push(key!("endpoint"), format!("`endpoint` {error}"));
        }
        if opaque.client.is_empty() {
            self.push(key!("client_id"), "`client_id` is empty");
        }
        if let Some((key, message)) = opaque.source.diagnostic() {
            self.push(key, message);
        }
        if opaque.prefix.as_ref().is_some_and(String::is_empty) {
            let message = "`prefix` is empty: leave it out for the issuer that gets the rest";
            self.push(key!("prefix"), message);
        } else if opaque.prefix.as_ref().is_some_and(|prefix| !is_b64token(prefix.as_bytes())) {
            let message =
                "`prefix` has a character that no token has: write letters, digits, `-`, `.`, `_`, `~`, `+`, `/`";
            self.push(key!("prefix"), message);
        }
        let longest = Duration::from_secs(3600);
        if opaque.max_cache.is_zero() || opaque.max_cache > longest {
            let message = "`max_cache_seconds` is not 1 to 3600";
            self.push(key!("max_cache_seconds"), message);
        }
        let useless = [
            (key!("jwks_uri"), issuer.jwks_uri.is_some()),
            (key!("jwks_file"), issuer.jwks_file.is_some()),
            (key!("algorithms"), issuer.algorithms != [Algorithm::Rs256]),
            (key!("extra_types"), !issuer.extra_types.is_empty()),
            (key!("rsa_exponent_min"), issuer.key_rules != KeyRules::default()),
        ];
        for (key, _) in useless.into_iter().filter(|(_, is_there)| *is_there) {
            let message = format!("`{}` does nothing with `opaque`: no signature is checked", key.text());
            self.push(key, message);
        }
    }

    fn kind(&mut self, kind: &KindRules) {
        let (user, organisation) = match kind {
            KindRules::Always(TokenKind::Unknown) => {
                return self.push(key!("kind"), "`kind` is unknown: every request would be denied");
            }
            KindRules::Always(_) => return,
            KindRules::Claims { user, organisation } => (user, organisation),
        };
        if user.is_empty() && organisation.is_empty() {
            let message = "`kind` recognises no token: write a test for `user` or for `organisation`";
            self.push(key!("kind"), message);
        }
        if !user.is_empty() && user == organisation && user.iter().all(ClaimTest::is_right) {
            let message = "`user` and `organisation` have the same tests: no token is of one kind";
            self.push_at(key!("kind"), Part { list: 1, of: PartOf::All }, message);
        }
        for (list, (name, tests)) in [("user", user), ("organisation", organisation)].into_iter().enumerate() {
            self.positive(key!("kind"), list, name, tests);
            self.tests(key!("kind"), list, tests);
            for (index, _) in tests.iter().enumerate().filter(|(_, test)| test.is_dated()) {
                let part = Part { list, of: PartOf::Test(index) };
                let message = "`within_seconds` can't tell kinds apart, because a token would change its kind: use it in \
                               `require` or `derive`";
                self.push_at(key!("kind"), part, message);
            }
        }
    }

    fn derive(&mut self, derived: &[Derived]) {
        let name = key!("derive");
        if derived.len() > MOST {
            let part = Part { list: MOST, of: PartOf::All };
            self.push_at(name, part, format!("`derive` has more than {MOST} names, which is the limit"));
        }
        for (list, scope) in derived.iter().enumerate() {
            let part = Part { list, of: PartOf::Name };
            let shown = quoted(scope.name());
            if !is_earned(scope.name()) {
                let message =
                    format!("{shown} doesn't begin with `{EARNED}`: only such a name can't come from an issuer");
                self.push_at(name, part, message);
            }
            let is_right = scope.name().len() <= LONGEST_NAME && is_scope(scope.name());
            if scope.name() == EARNED || !is_right && !scope.name().is_empty() {
                let message = format!(
                    "{shown} can't be a scope: write visible ASCII characters except `\"` and `\\` after `{EARNED}`, and at \
                     most {LONGEST_NAME} characters"
                );
                self.push_at(name, part, message);
            }
            if derived.iter().take(list).any(|earlier| earlier.name() == scope.name()) {
                self.push_at(name, part, format!("`derive` has {shown} twice"));
            }
            let Some(tests) = scope.tests() else {
                continue;
            };
            if tests.is_empty() {
                let message = format!("{shown} has no tests: for every token, write `always`");
                self.push_at(name, Part { list, of: PartOf::All }, message);
            }
            self.positive(name, list, scope.name(), tests);
            self.tests(name, list, tests);
            self.acr_values(list, tests);
        }
    }

    /// A test of a proof must be of what the issuer's `proof` requires, or nothing would have been proved.
    fn proof_tests(&mut self, issuer: &Issuer) {
        let has = |method| issuer.proof.as_ref().is_some_and(|rules| rules.has(method));
        let kinds = match &issuer.kind {
            KindRules::Always(_) => [&[][..], &[]],
            KindRules::Claims { user, organisation } => [user.as_slice(), organisation],
        };
        let kinds = kinds.into_iter().enumerate().map(|(list, tests)| (key!("kind"), list, tests));
        let derived = issuer.derive.iter().enumerate();
        let derived = derived.map(|(list, scope)| (key!("derive"), list, scope.tests().unwrap_or_default()));
        let require = (key!("require"), 0, issuer.require.as_slice());
        for (key, list, tests) in kinds.chain([require]).chain(derived) {
            for (index, test) in tests.iter().enumerate() {
                let methods = test.written().iter().filter_map(|test| match test {
                    Test::Proof(method) => Some(method),
                    _ => None,
                });
                for &method in methods {
                    let name = method.as_str();
                    let message = match key == key!("derive") {
                        false => {
                            "`proof` is a test for `derive`: to require it of each token, write `proof` in the issuer"
                                .to_owned()
                        }
                        true if has(method) => continue,
                        true => format!("nothing proves `{name}`: name it in the issuer's `proof`"),
                    };
                    let part = Part { list, of: PartOf::Value(index, key!("proof"), None) };
                    self.push_at(key, part, message);
                }
            }
        }
    }

    /// The values of `acr` that a challenge can quote (RFC 9470, section 3).
    fn acr_values(&mut self, list: usize, tests: &[ClaimTest]) {
        let texts = |test: &Test| {
            let texts = test.values().unwrap_or_default().iter().enumerate().map(|(item, value)| match value {
                ClaimValue::Text(text) => Some((item, text.clone())),
                _ => None,
            });
            texts.flatten().collect::<Vec<_>>()
        };
        let of_acr =
            tests.iter().enumerate().filter(|(_, test)| matches!(test.claim.names(), [claim] if claim == "acr"));
        for (index, test) in of_acr.flat_map(|(index, test)| test.written().iter().map(move |test| (index, test))) {
            let key = if matches!(test, Test::OneOf(_)) { key!("one_of") } else { key!("equals") };
            let texts = texts(test);
            for (item, text) in texts.iter().filter(|(_, text)| !is_scope(text)) {
                let message = format!(
                    "an `acr` of {} can't be in a challenge: it must have visible ASCII characters except `\"` and `\\`",
                    quoted(text)
                );
                let part = Part { list, of: PartOf::Value(index, key, Some(*item)) };
                self.push_at(key!("derive"), part, message);
            }
            // Those that a challenge names are never more than those of one test.
            let bytes = texts.iter().map(|(_, text)| text.len().saturating_add(1)).sum::<usize>().saturating_sub(1);
            if bytes > LONGEST_PARAMETER {
                let message = format!(
                    "the values of `acr` have {bytes} bytes with the spaces between them, and a challenge has room for \
                     {LONGEST_PARAMETER}: proxies refuse a response with longer headers"
                );
                let part = Part { list, of: PartOf::Value(index, key, None) };
                self.push_at(key!("derive"), part, message);
            }
        }
    }

    /// Absent claims prove nothing.
    fn positive(&mut self, key: KeyName, list: usize, name: &str, tests: &[ClaimTest]) {
        if !tests.is_empty() && !tests.iter().any(ClaimTest::is_positive) {
            let message = format!("`{name}` rests on nothing but absent claims: add a test for a claim that is there");
            self.push_at(key, Part { list, of: PartOf::All }, message);
        }
    }

    fn tests(&mut self, key: KeyName, list: usize, tests: &[ClaimTest]) {
        for (index, test) in tests.iter().enumerate() {
            let value = |key: KeyName, item: Option<usize>| Part { list, of: PartOf::Value(index, key, item) };
            self.path(key, |item| Some(value(key!("claim"), item)), &test.claim);
            if tests.iter().take(index).any(|earlier| test.excludes(earlier)) {
                let message = format!("the tests of `{}` contradict each other: no token passes them", test.claim);
                self.push_at(key, Part { list, of: PartOf::Test(index) }, message);
            }
            for written in test.written() {
                let (at, message) = match written {
                    Test::OneOf(values) if values.is_empty() => {
                        (key!("one_of"), "`one_of` is empty: the test never holds")
                    }
                    Test::ContainsWord(word) if !is_word(word) => (
                        key!("contains_word"),
                        "`contains_word` must be one word, without a space: the test never holds",
                    ),
                    Test::WithinSeconds(0) => {
                        (key!("within_seconds"), "`within_seconds` is 0: write the greatest age that is accepted")
                    }
                    Test::EqualsClaim(other) | Test::DiffersFromClaim(other) => {
                        let is_equals = matches!(written, Test::EqualsClaim(_));
                        let at = if is_equals { key!("equals_claim") } else { key!("differs_from_claim") };
                        self.path(key, |item| Some(value(at, item)), other);
                        if *other != test.claim || !other.is_named() {
                            continue;
                        }
                        (at, "a claim is compared with itself")
                    }
                    _ => continue,
                };
                self.push_at(key, value(at, None), message);
            }
        }
    }

    fn claim_path(&mut self, key: KeyName, claim: &ClaimPath) {
        self.path(key, |_| None, claim);
    }

    fn path(&mut self, key: KeyName, part: impl Fn(Option<usize>) -> Option<Part>, claim: &ClaimPath) {
        if claim.names().is_empty() {
            self.push_at(key, part(None), EMPTY_CLAIM);
        }
        for (item, _) in claim.names().iter().enumerate().filter(|(_, name)| name.is_empty()) {
            self.push_at(key, part(Some(item)), EMPTY_CLAIM);
        }
    }

    fn claim_name(&mut self, key: KeyName, claim: &str) {
        if claim.is_empty() {
            self.push(key, EMPTY_CLAIM);
        }
    }
}

const EMPTY_CLAIM: &str = "the name of a claim is empty";

/// The longest name of a derived scope, in bytes.
const LONGEST_NAME: usize = 256;
