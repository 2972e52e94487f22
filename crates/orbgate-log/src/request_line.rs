//! Parses one line of a replay: a request as JSON, read strictly and without copying its strings.

use core::fmt;
use std::borrow::Cow;

use orbgate::{Decision, Engine, Request, ScopeSet, Scopes, Token, TokenKind};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;

/// A request by route or by scope.
#[derive(Debug)]
pub struct RequestLine<'a> {
    /// The call or scope.
    pub subject: Subject<'a>,
    /// The token, if the request has one.
    pub token: Option<TokenObject<'a>>,
    /// Whether the request allows bonus orbs; absent counts as false.
    pub allow_bonus_orbs_use: bool,
}

/// A call or a scope.
#[derive(Debug)]
pub enum Subject<'a> {
    /// A call: method and target.
    Call {
        /// The method.
        method: Cow<'a, str>,
        /// Path and query.
        target: Cow<'a, str>,
    },
    /// A scope, without a route.
    Scope(Cow<'a, str>),
}

/// A request's token.
#[derive(Debug)]
pub struct TokenObject<'a> {
    /// A user's or an organisation's token.
    pub kind: TokenKind,
    /// The token's scopes.
    pub scopes: ScopeStrings<'a>,
}

/// A token's scopes, in one string or as a list.
#[derive(Debug)]
pub enum ScopeStrings<'a> {
    /// Separated by spaces.
    Separated(Cow<'a, str>),
    /// A list. A scope that contains a space is invalid.
    Each(Vec<Cow<'a, str>>),
}

impl ScopeStrings<'_> {
    /// The scopes that an engine knows.
    pub fn set(&self, engine: &Engine) -> ScopeSet {
        match self {
            Self::Separated(text) => engine.scopes(&**text),
            Self::Each(each) => engine.scope_set(each.iter().map(|scope| scope.as_bytes())),
        }
    }
}

impl TokenObject<'_> {
    /// Its scopes, separated by spaces. A scope that contains a space is invalid. It is left out, because it
    /// must not become two scopes.
    pub fn joined(&self) -> Cow<'_, str> {
        match &self.scopes {
            ScopeStrings::Separated(text) => Cow::Borrowed(text),
            ScopeStrings::Each(each) => {
                let scopes = each.iter().filter(|scope| !scope.contains(' '));
                let scopes: Vec<_> = scopes.map(|scope| &**scope).collect();
                Cow::Owned(scopes.join(" "))
            }
        }
    }
}

impl RequestLine<'_> {
    /// Parses a line. The error contains a message and the position.
    pub fn parse(line: &[u8]) -> Result<RequestLine<'_>, String> {
        let text = str::from_utf8(line).map_err(|error| {
            let valid = line.get(..error.valid_up_to()).unwrap_or_default();
            format!("not UTF-8 at column {}", column_after(valid))
        })?;
        if text.starts_with('\u{feff}') {
            return Err("a byte-order mark at column 1: save the log without it".to_owned());
        }
        if text.trim_ascii().is_empty() {
            return Err(crate::BLANK.to_owned());
        }
        serde_json::from_str(text).map_err(|error| describe(&error, line))
    }

    /// Decides the request.
    pub fn decide<'e>(&self, engine: &'e Engine) -> Decision<'e> {
        let set;
        let token = match &self.token {
            None => None,
            Some(token) => {
                let scopes = match &token.scopes {
                    ScopeStrings::Separated(text) => Scopes::from(&**text),
                    each @ ScopeStrings::Each(_) => {
                        set = each.set(engine);
                        Scopes::Set(&set)
                    }
                };
                Some(Token { kind: token.kind, scopes })
            }
        };
        let allow_bonus_orbs_use = self.allow_bonus_orbs_use;
        match &self.subject {
            Subject::Scope(scope) => engine.decide_scope(scope.as_bytes(), token, allow_bonus_orbs_use),
            Subject::Call { method, target } => engine.decide(&Request {
                method: method.as_bytes(),
                target: target.as_bytes(),
                token,
                allow_bonus_orbs_use,
            }),
        }
    }
}

/// The maximum length of a message about a line, which might quote the line.
const MESSAGE_LIMIT: usize = 300;

/// The error in the JSON parser's words, with its column in characters.
fn describe(error: &serde_json::Error, line: &[u8]) -> String {
    let message = error.to_string();
    // There is only one line, so only the column is useful.
    let location = format!(" at line {} column {}", error.line(), error.column());
    let message = message.strip_suffix(&location).unwrap_or(&message);
    let message = message
        .replace("invalid type: map", "invalid type: object")
        .replace("invalid type: sequence", "invalid type: array");
    let message = match error.classify() {
        Category::Data => message,
        Category::Syntax | Category::Eof | Category::Io => format!("not JSON: {message}"),
    };
    let cut: String = message.chars().take(MESSAGE_LIMIT).collect();
    let dots = if cut.len() < message.len() { "…" } else { "" };
    let before = line.get(..error.column().saturating_sub(1)).unwrap_or(line);
    format!("{cut}{dots} at column {}", column_after(before))
}

/// The column after these bytes, in characters, from 1.
fn column_after(before: &[u8]) -> usize {
    // Continuation bytes of UTF-8 belong to the preceding character.
    before.iter().filter(|byte| **byte & 0xC0 != 0x80).count().saturating_add(1)
}

/// The fields of a request, as far as serde sees: each at most once, of its type, and no other.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestFields<'a> {
    #[serde(borrow, default, deserialize_with = "not_null")]
    method: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "not_null")]
    target: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "not_null")]
    scope: Option<Text<'a>>,
    #[serde(borrow, default)]
    token: Option<TokenObject<'a>>,
    #[serde(default)]
    allow_bonus_orbs_use: bool,
}

impl<'a> RequestFields<'a> {
    fn line(self) -> Result<RequestLine<'a>, &'static str> {
        let subject = match (self.method, self.target, self.scope) {
            (Some(Text(method)), Some(Text(target)), None) => Subject::Call { method, target },
            (None, None, Some(Text(scope))) => Subject::Scope(scope),
            (_, _, Some(_)) => return Err("`scope` comes with `method` or `target`"),
            (None, None, None) => return Err("neither `method` and `target` nor `scope`"),
            (None, _, _) => return Err("missing field `method`"),
            (_, None, _) => return Err("missing field `target`"),
        };
        Ok(RequestLine { subject, token: self.token, allow_bonus_orbs_use: self.allow_bonus_orbs_use })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenFields<'a> {
    #[serde(borrow)]
    kind: Text<'a>,
    #[serde(borrow, default)]
    scopes: ScopeStrings<'a>,
}

impl<'a> TokenFields<'a> {
    fn token(self) -> Result<TokenObject<'a>, &'static str> {
        Ok(TokenObject { kind: TokenKind::from_name(&self.kind.0), scopes: self.scopes })
    }
}

/// A string, borrowed from the line if it has no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

fn not_null<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl<'de: 'a, 'a> Deserialize<'de> for RequestLine<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Object("a request object", RequestFields::line))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for TokenObject<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Object("a token object or null", TokenFields::token))
    }
}

/// What is expected, and what its fields mean. Serde's own reader of a struct accepts an array as well.
struct Object<F, T>(&'static str, fn(F) -> Result<T, &'static str>);

impl<'de, F: Deserialize<'de>, T> Visitor<'de> for Object<F, T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        let fields = F::deserialize(MapAccessDeserializer::new(map))?;
        self.1(fields).map_err(Error::custom)
    }
}

impl Default for ScopeStrings<'_> {
    fn default() -> Self {
        Self::Separated(Cow::Borrowed(""))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for ScopeStrings<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScopesVisitor)
    }
}

struct ScopesVisitor;

impl<'de> Visitor<'de> for ScopesVisitor {
    type Value = ScopeStrings<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or an array of strings")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(ScopeStrings::Separated(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(ScopeStrings::Separated(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut each = Vec::new();
        while let Some(Text(scope)) = seq.next_element()? {
            each.push(scope);
        }
        Ok(ScopeStrings::Each(each))
    }
}

#[cfg(test)]
mod tests {
    use orbgate::Engine;

    use super::RequestLine;
    use crate::expected::Expected;

    /// The reason of a line's decision, and whether bonus orbs may be used; or the line's error.
    fn decided(line: &[u8]) -> Result<(&'static str, bool), String> {
        let line = RequestLine::parse(line)?;
        let decision = line.decide(Engine::external());
        let bonus = decision.charge().is_some_and(|charge| charge.bonus_allowed);
        Ok((decision.reason().as_str(), bonus))
    }

    /// A request for voxies with these fields, and with a token that has these fields.
    fn decision(fields: &str, token: &str) -> Result<(&'static str, bool), String> {
        let line = format!(
            r#"{{"method":"POST","target":"/api/v1/external/voxies"{fields},"token":{{"kind":"user"{token}}}}}"#
        );
        decided(line.as_bytes())
    }

    #[test]
    fn bonus_orbs_are_used_only_where_the_line_says_so() {
        let held = r#","scopes":"write:voxies""#;
        assert_eq!(decision("", held), Ok(("scope_held", false)));
        for (value, bonus) in [("true", true), ("false", false)] {
            let fields = format!(r#","allow_bonus_orbs_use":{value}"#);
            assert_eq!(decision(&fields, held), Ok(("scope_held", bonus)));
        }
    }

    #[test]
    fn a_value_of_another_type_names_the_expected_type() {
        let mut expected = Expected::default();
        for line in [
            "7",
            r#"{"token":7}"#,
            r#"{"method":7}"#,
            r#"{"token":{"scopes":7}}"#,
            r#"{"method":"GET","allow_bonus_orbs_use":null}"#,
        ] {
            expected.add(line, [decided(line.as_bytes()).unwrap_err()]);
        }
        expected.keep(env!("CARGO_MANIFEST_DIR"), "requests: types");
    }

    #[test]
    fn a_field_that_comes_twice_is_an_error() {
        for (fields, token, name) in [
            (r#","method":"GET""#, "", "method"),
            (r#","target":"/""#, "", "target"),
            (r#","token":null"#, "", "token"),
            (r#","allow_bonus_orbs_use":true,"allow_bonus_orbs_use":true"#, "", "allow_bonus_orbs_use"),
            ("", r#","kind":"user""#, "kind"),
            ("", r#","scopes":"","scopes":"write:voxies""#, "scopes"),
        ] {
            let message = decision(fields, token).unwrap_err();
            assert!(message.starts_with(&format!("duplicate field `{name}` at column ")), "{message}");
        }
        let message = decided(br#"{"scope":"a","scope":"read:inference"}"#).unwrap_err();
        assert!(message.starts_with("duplicate field `scope`"), "{message}");
    }

    #[test]
    fn a_text_of_scopes_is_split_and_an_element_is_not() {
        for (scopes, reason) in [
            (r#""read:orbs write:voxies""#, "scope_held"),
            (r#"["read:orbs","write:voxies"]"#, "scope_held"),
            (r#"["read:orbs write:voxies"]"#, "scope_missing"),
            (r#"[" write:voxies"]"#, "scope_missing"),
            ("[]", "scope_missing"),
        ] {
            let result = decision("", &format!(r#","scopes":{scopes}"#));
            assert_eq!(result, Ok((reason, false)), "{scopes}");
        }
    }

    #[test]
    fn columns_count_characters() {
        let message = |line: &[u8]| RequestLine::parse(line).unwrap_err();
        let line = r#"{"scope":"e1" 1}"#;
        let ascii = message(line.as_bytes());
        let mut expected = Expected::default();
        expected.add(line, [&ascii]);
        expected.keep(env!("CARGO_MANIFEST_DIR"), "requests: columns");
        assert_eq!(message("{\"scope\":\"é\u{1d11e}\" 1}".as_bytes()), ascii);
        assert_eq!(message(b"{\"\xc3\xa9 \xff"), "not UTF-8 at column 5");
    }
}
