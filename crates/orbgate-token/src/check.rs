//! Checks a configuration, whether it was written in YAML or in Rust.

use core::net::Ipv6Addr;
use core::time::Duration;

use orbgate::{EARNED, TokenKind, is_earned};
use orbgate_yaml::quoted;

use crate::account::{AccountClaim, AccountClaims};
use crate::algorithm::Algorithm;
use crate::bearer::is_b64token;
use crate::claim_test::{ClaimTest, ClaimValue, Test};
use crate::derive::{Derived, MOST};
use crate::issuer::Issuer;
use crate::jwk::KeyRules;
use crate::key_name::{KeyName, key};
use crate::kind::KindRules;
use crate::opaque::Opaque;
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

/// A part of a key whose value has tests: one of its lists, by its index, or one test in it. `kind` has two lists, `require` has
/// one, and `derive` has one for each name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Part {
    pub(crate) list: usize,
    pub(crate) test: Option<usize>,
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

    fn push_at(&mut self, name: impl Into<Option<KeyName>>, part: Option<Part>, message: impl Into<String>) {
        let key = Key { issuer: self.issuer, name: name.into(), part };
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
        // Only a response of an introspection endpoint needs no `iss`.
        let is_in_each = |claim: &str| match claim {
            "iss" => issuer.opaque.is_none(),
            _ => claim == "exp" || claim == issuer.audience_claim,
        };
        let mut absent = issuer.require.iter().filter(|test| !test.is_positive());
        if absent.any(|test| matches!(test.claim.names(), [claim] if is_in_each(claim))) {
            self.push(
                key!("require"),
                "`require` excludes a claim that each token needs: every token would be refused",
            );
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
        if !user.is_empty() && user == organisation {
            let message = "`user` and `organisation` have the same tests: no token is of one kind";
            self.push(key!("kind"), message);
        }
        for (list, (name, tests)) in [("user", user), ("organisation", organisation)].into_iter().enumerate() {
            self.positive(key!("kind"), None, name, tests);
            self.tests(key!("kind"), list, tests);
            for (index, _) in tests.iter().enumerate().filter(|(_, test)| test.is_dated()) {
                let part = Some(Part { list, test: Some(index) });
                let message = "`within_seconds` can't tell kinds apart, because a token would change its kind: use it in \
                               `require` or `derive`";
                self.push_at(key!("kind"), part, message);
            }
        }
    }

    fn derive(&mut self, derived: &[Derived]) {
        let name = key!("derive");
        if derived.len() > MOST {
            let part = Some(Part { list: MOST, test: None });
            self.push_at(name, part, format!("`derive` has more than {MOST} names, which is the limit"));
        }
        for (list, scope) in derived.iter().enumerate() {
            let part = Some(Part { list, test: None });
            let shown = quoted(scope.name());
            if !is_earned(scope.name()) {
                let message =
                    format!("{shown} doesn't begin with `{EARNED}`: only such a name can't come from an issuer");
                self.push_at(name, part, message);
            } else if scope.name() == EARNED || scope.name().len() > LONGEST_NAME || !is_scope(scope.name()) {
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
                self.push_at(name, part, message);
            }
            self.positive(name, part, scope.name(), tests);
            self.tests(name, list, tests);
            self.acr_values(list, tests);
        }
    }

    /// The values of `acr` that a challenge can quote (RFC 9470, section 3).
    fn acr_values(&mut self, list: usize, tests: &[ClaimTest]) {
        for (index, test) in tests.iter().enumerate() {
            let values = match test.claim.names() {
                [claim] if claim == "acr" => test.values().unwrap_or_default(),
                _ => continue,
            };
            let wrong = values.iter().find_map(|value| match value {
                ClaimValue::Text(text) => (!is_scope(text)).then_some(text),
                _ => None,
            });
            if let Some(wrong) = wrong {
                let message = format!(
                    "an `acr` of {} can't be in a challenge: it must have visible ASCII characters except `\"` and `\\`",
                    quoted(wrong)
                );
                self.push_at(key!("derive"), Some(Part { list, test: Some(index) }), message);
            }
        }
    }

    /// Absent claims prove nothing.
    fn positive(&mut self, key: KeyName, part: Option<Part>, name: &str, tests: &[ClaimTest]) {
        if !tests.is_empty() && !tests.iter().any(ClaimTest::is_positive) {
            let message = format!("`{name}` rests on nothing but absent claims: add a test for a claim that is there");
            self.push_at(key, part, message);
        }
    }

    fn tests(&mut self, key: KeyName, list: usize, tests: &[ClaimTest]) {
        for (index, test) in tests.iter().enumerate() {
            let part = Some(Part { list, test: Some(index) });
            self.path(key, part, &test.claim);
            if tests.iter().take(index).any(|earlier| test.excludes(earlier)) {
                let message = format!("the tests of `{}` contradict each other: no token passes them", test.claim);
                self.push_at(key, part, message);
            }
            match &test.test {
                Test::OneOf(values) if values.is_empty() => {
                    self.push_at(key, part, "`one_of` is empty: the test never holds");
                }
                Test::ContainsWord(word) if word.is_empty() || word.contains(' ') => {
                    self.push_at(key, part, "`contains_word` must be one word, without a space: the test never holds");
                }
                Test::WithinSeconds(0) => {
                    self.push_at(key, part, "`within_seconds` is 0: write the greatest age that is accepted");
                }
                Test::EqualsClaim(other) | Test::DiffersFromClaim(other) if *other == test.claim => {
                    self.push_at(key, part, "a claim is compared with itself");
                }
                Test::EqualsClaim(other) | Test::DiffersFromClaim(other) => self.path(key, part, other),
                _ => {}
            }
        }
    }

    fn claim_path(&mut self, key: KeyName, claim: &ClaimPath) {
        self.path(key, None, claim);
    }

    fn path(&mut self, key: KeyName, part: Option<Part>, claim: &ClaimPath) {
        if claim.names().is_empty() || claim.names().iter().any(String::is_empty) {
            self.push_at(key, part, EMPTY_CLAIM);
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
