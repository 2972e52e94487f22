//! Strict JSON, read member by member.
//!
//! Not `serde_json`: a program that uses it can change what it accepts by a feature, an `id` must be echoed byte for byte,
//! and names are compared as no library does.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::fault::McpFault;

/// The most levels of objects and arrays.
const MOST_LEVELS: usize = 64;

/// How the names of an object's members are compared.
#[derive(Clone, Copy)]
pub(super) enum Names {
    /// A name occurs once.
    Exact,
    /// The same, and no decoder can confuse a name with another name of the object or with one of these.
    Protocol(&'static [&'static str]),
}

pub(super) struct Json<'b> {
    text: &'b str,
    at: usize,
    level: usize,
}

impl<'b> Json<'b> {
    pub(super) fn new(body: &'b [u8]) -> Result<Self, McpFault> {
        let text = str::from_utf8(body).map_err(|_| McpFault::Utf8)?;
        Ok(Self { text, at: 0, level: 0 })
    }

    /// The next byte that isn't a space; `None` at the end.
    pub(super) fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.byte() {
            self.step();
        }
        self.byte()
    }

    /// Checks that nothing follows.
    pub(super) fn end(&mut self) -> Result<(), McpFault> {
        if self.peek().is_none() { Ok(()) } else { Err(McpFault::Json) }
    }

    /// Reads an object. `member` reads the value of each member.
    pub(super) fn object(
        &mut self,
        names: Names,
        mut member: impl FnMut(&str, &mut Self) -> Result<(), McpFault>,
    ) -> Result<(), McpFault> {
        let mut seen = BTreeSet::new();
        self.list(b'{', b'}', |json| {
            if json.peek() != Some(b'"') {
                return Err(McpFault::Json);
            }
            let name = json.string()?;
            json.expect(b':')?;
            let compared = match names {
                Names::Exact => name.clone(),
                Names::Protocol(known) => Cow::Owned(distinct(&name, known)?),
            };
            if !seen.insert(compared) {
                return Err(McpFault::Member);
            }
            member(&name, json)
        })
    }

    /// Reads any value, in which only names, grammar and depth count.
    pub(super) fn skip(&mut self) -> Result<(), McpFault> {
        match self.peek() {
            Some(b'{') => self.object(Names::Exact, |_, json| json.skip()),
            Some(b'[') => self.list(b'[', b']', Self::skip),
            Some(b'"') => self.characters(|_| Ok(())),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            _ => self.number(),
        }
    }

    /// Reads any value, and returns its bytes as they came.
    pub(super) fn raw(&mut self) -> Result<&'b str, McpFault> {
        self.peek();
        let start = self.at;
        self.skip()?;
        self.text.get(start..self.at).ok_or(McpFault::Json)
    }

    /// Reads a string, if the value is one, and otherwise any value.
    pub(super) fn string_or_skip(&mut self) -> Result<Option<Cow<'b, str>>, McpFault> {
        match self.peek() {
            Some(b'"') => self.string().map(Some),
            _ => self.skip().map(|()| None),
        }
    }

    /// Reads a list of strings, if the value is one, and otherwise any value.
    pub(super) fn strings_or_skip(&mut self) -> Result<Option<Vec<String>>, McpFault> {
        if self.peek() != Some(b'[') {
            return self.skip().map(|()| None);
        }
        let mut strings = Some(Vec::new());
        self.list(b'[', b']', |json| {
            match (json.string_or_skip()?, &mut strings) {
                (Some(string), Some(strings)) => strings.push(string.into_owned()),
                _ => strings = None,
            }
            Ok(())
        })?;
        Ok(strings)
    }

    /// Reads a string. Half a surrogate pair is an error, because decoders replace, drop or keep it.
    pub(super) fn string(&mut self) -> Result<Cow<'b, str>, McpFault> {
        let start = self.at.saturating_add(1);
        let mut decoded = String::new();
        self.characters(|character| {
            decoded.push(character.ok_or(McpFault::Surrogate)?);
            Ok(())
        })?;
        let raw = self.text.get(start..self.at.saturating_sub(1)).unwrap_or_default();
        Ok(if raw == decoded { Cow::Borrowed(raw) } else { Cow::Owned(decoded) })
    }

    /// Reads what is between two brackets, separated by commas.
    fn list(
        &mut self,
        open: u8,
        close: u8,
        mut item: impl FnMut(&mut Self) -> Result<(), McpFault>,
    ) -> Result<(), McpFault> {
        self.expect(open)?;
        self.level = self.level.saturating_add(1);
        if self.level > MOST_LEVELS {
            return Err(McpFault::Depth);
        }
        if self.peek() == Some(close) {
            self.step();
        } else {
            loop {
                item(self)?;
                match self.peek() {
                    Some(b',') => self.step(),
                    Some(byte) if byte == close => {
                        self.step();
                        break;
                    }
                    _ => return Err(McpFault::Json),
                }
            }
        }
        self.level = self.level.saturating_sub(1);
        Ok(())
    }

    /// Passes each character of a string, decoded; `None` for half a surrogate pair.
    fn characters(&mut self, mut each: impl FnMut(Option<char>) -> Result<(), McpFault>) -> Result<(), McpFault> {
        self.expect(b'"')?;
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let character = rest.chars().next().filter(|it| *it >= ' ').ok_or(McpFault::Json)?;
            self.at = self.at.saturating_add(character.len_utf8());
            match character {
                '"' => return Ok(()),
                '\\' => {
                    let decoded = self.escape()?;
                    each(decoded)?;
                }
                _ => each(Some(character))?,
            }
        }
    }

    fn escape(&mut self) -> Result<Option<char>, McpFault> {
        let byte = self.byte().ok_or(McpFault::Json)?;
        self.step();
        Ok(Some(match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = self.unit()?;
                let rest = self.text.get(self.at..).unwrap_or_default();
                if !(0xd800..0xdc00).contains(&unit) || !rest.starts_with("\\u") {
                    return Ok(char::from_u32(unit.into()));
                }
                let after_first = self.at;
                self.at = self.at.saturating_add(2);
                let second = self.unit()?;
                let pair = char::decode_utf16([unit, second]).next();
                let Some(Ok(character)) = pair else {
                    // The second escape is a character of its own.
                    self.at = after_first;
                    return Ok(None);
                };
                character
            }
            _ => return Err(McpFault::Json),
        }))
    }

    /// Four hexadecimal digits.
    fn unit(&mut self) -> Result<u16, McpFault> {
        let end = self.at.saturating_add(4);
        let digits = self.text.get(self.at..end).unwrap_or_default();
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(McpFault::Json);
        }
        self.at = end;
        u16::from_str_radix(digits, 16).map_err(|_| McpFault::Json)
    }

    fn number(&mut self) -> Result<(), McpFault> {
        self.step_over(|byte| byte == b'-', 1);
        match self.byte() {
            Some(b'0') => self.step(),
            _ => self.digits()?,
        }
        if self.step_over(|byte| byte == b'.', 1) {
            self.digits()?;
        }
        if self.step_over(|byte| matches!(byte, b'e' | b'E'), 1) {
            self.step_over(|byte| matches!(byte, b'+' | b'-'), 1);
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), McpFault> {
        if self.step_over(|byte| byte.is_ascii_digit(), usize::MAX) { Ok(()) } else { Err(McpFault::Json) }
    }

    /// Skips up to this many bytes of a kind, and returns whether there was one.
    fn step_over(&mut self, is: impl Fn(u8) -> bool, most: usize) -> bool {
        let start = self.at;
        while self.at.saturating_sub(start) < most && self.byte().is_some_and(&is) {
            self.step();
        }
        self.at > start
    }

    fn word(&mut self, word: &str) -> Result<(), McpFault> {
        if !self.text.get(self.at..).is_some_and(|rest| rest.starts_with(word)) {
            return Err(McpFault::Json);
        }
        self.at = self.at.saturating_add(word.len());
        Ok(())
    }

    fn expect(&mut self, byte: u8) -> Result<(), McpFault> {
        if self.peek() != Some(byte) {
            return Err(McpFault::Json);
        }
        self.step();
        Ok(())
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    const fn step(&mut self) {
        self.at = self.at.saturating_add(1);
    }
}

/// A name as the most lenient decoder compares it: Go ignores case, with `ſ` as `s` and the Kelvin sign as `k`, and others
/// drop control characters. Fails if that makes it another name of the protocol than it is. Those are ASCII.
fn distinct(name: &str, known: &[&str]) -> Result<String, McpFault> {
    // Decoders in C end a name there, so that any other name can follow.
    if name.contains('\0') {
        return Err(McpFault::Member);
    }
    let folded = folded(name);
    match known.iter().any(|known| *known != name && known.eq_ignore_ascii_case(&folded)) {
        true => Err(McpFault::Member),
        false => Ok(folded),
    }
}

fn folded(name: &str) -> String {
    let kept = name.chars().filter(|character| !character.is_control());
    kept.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::{Json, Names};
    use crate::mcp::fault::McpFault;

    fn skipped(text: &str) -> Result<(), McpFault> {
        let mut json = Json::new(text.as_bytes())?;
        json.skip()?;
        json.end()
    }

    #[test]
    fn the_grammar_is_that_of_rfc_8259() {
        let valid = [
            "{}",
            "[]",
            " [ 1 , -0.5e+3 , 0 , 1E9 ]\r\n\t",
            "\"\\u00e9\\ud83d\\ude00\\/\"",
            "\"é\"",
            "null",
            "true",
            "1e999",
            "\"\\ud800\"",
            "{\"a\":{\"a\":1}}",
            "[[[]]]",
        ];
        for text in valid {
            assert_eq!(skipped(text), Ok(()), "{text}");
        }
        let invalid = [
            "",
            " ",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "{a:1}",
            "{'a':1}",
            "01",
            "+1",
            "1.",
            ".5",
            "1e",
            "-",
            "NaN",
            "Infinity",
            "tru",
            "nulll",
            "\"\n\"",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u+123\"",
            "\"",
            "[1 2]",
            "{\"a\" 1}",
            "{} {}",
            "//\n1",
            "\u{feff}1",
            "1\u{a0}",
            "\u{c}1",
            "[1],",
            "{\"a\"}",
            "0x1",
        ];
        for text in invalid {
            assert_eq!(skipped(text), Err(McpFault::Json), "{text}");
        }
        assert!(matches!(Json::new(b"\"\xff\""), Err(McpFault::Utf8)));
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(skipped(&deep(64)), Ok(()));
        assert_eq!(skipped(&deep(65)), Err(McpFault::Depth));
    }

    #[test]
    fn names_are_compared_decoded() {
        for text in ["{\"a\":1,\"a\":1}", "{\"a\":1,\"\\u0061\":1}", "[{\"b\":{\"a\":1,\"a\":1}}]"] {
            assert_eq!(skipped(text), Err(McpFault::Member), "{text}");
        }
        assert_eq!(skipped("{\"a\":1,\"A\":1}"), Ok(()));
        assert_eq!(skipped("{\"\\ud800\":1}"), Err(McpFault::Surrogate));
        let protocol = |text: &str| {
            let mut json = Json::new(text.as_bytes())?;
            json.object(Names::Protocol(&["params", "task"]), |_, json| json.skip())
        };
        for text in [
            "{\"Params\":1}",
            "{\"param\u{17f}\":1}",
            "{\"tas\u{212a}\":1}",
            "{\"par\\u0000ams\":1}",
            "{\"params\\u0000x\":1}",
            "{\"other\\u0000\":1}",
            "{\"params\u{85}\":1}",
            "{\"x\":1,\"X\":1}",
            "{\"PARAMS\":1,\"params\":1}",
            "{\"straße\":1,\"STRASSE\":1}",
        ] {
            assert_eq!(protocol(text), Err(McpFault::Member), "{text}");
        }
        assert_eq!(protocol("{\"params\":1,\"task\":{\"Task\":1,\"TASK\":2},\"\\u0070\":2}"), Ok(()));
    }
}
