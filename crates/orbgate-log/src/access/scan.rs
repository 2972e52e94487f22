//! Splits the lines of logs into words, quoted strings and brackets.

use crate::escape::shown;

/// The string before the first space, if it isn't empty, and the rest.
pub(super) fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let space = text.iter().position(|byte| *byte == b' ')?;
    let (word, rest) = text.split_at_checked(space)?;
    (!word.is_empty()).then_some((word, rest.strip_prefix(b" ").unwrap_or(rest)))
}

/// The field at the start of a string, without its quotes or brackets, and the rest after it and its
/// space.
pub(super) fn field(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (field, rest) = match text.split_first()? {
        (b'"', quoted) => up_to(quoted, closing_quote(quoted)?)?,
        (b'[', bracketed) => up_to(bracketed, bracketed.iter().position(|byte| *byte == b']')?)?,
        _ => {
            let space = text.iter().position(|byte| *byte == b' ');
            let (bare, rest) = text.split_at_checked(space.unwrap_or(text.len()))?;
            (!bare.is_empty()).then_some((bare, rest))?
        }
    };
    match rest.split_first() {
        None => Some((field, rest)),
        Some((b' ', rest)) => Some((field, rest)),
        Some(_) => None,
    }
}

/// The string between an opening character and the first closing one, and the rest after it and its space.
pub(super) fn enclosed(text: &[u8], [open, close]: [u8; 2]) -> Option<(&[u8], &[u8])> {
    let inside = text.strip_prefix(&[open])?;
    let (inside, rest) = up_to(inside, inside.iter().position(|byte| *byte == close)?)?;
    match rest.split_first() {
        None => Some((inside, rest)),
        Some((b' ', rest)) => Some((inside, rest)),
        Some(_) => None,
    }
}

/// The string before a position, and the string after the byte there.
pub(super) fn up_to(text: &[u8], at: usize) -> Option<(&[u8], &[u8])> {
    let (before, rest) = text.split_at_checked(at)?;
    Some((before, rest.split_first()?.1))
}

/// The position of the first quote that isn't escaped by a backslash.
pub(super) fn closing_quote(text: &[u8]) -> Option<usize> {
    let mut escaped = false;
    text.iter().position(|byte| {
        let closes = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        closes
    })
}

/// A request line: method, target and version. The version can be missing, as in HTTP/0.9, and is empty then. Spaces in a
/// target are kept, so that the engine rejects them.
pub(super) fn request(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (method, target) = word(text)?;
    let version = target.iter().rposition(|byte| *byte == b' ');
    let version = version.and_then(|space| target.split_at_checked(space));
    match version {
        Some((target, version)) if is_version(version) => Some((method, target, version)),
        _ => Some((method, target, b"")),
    }
}

fn is_version(text: &[u8]) -> bool {
    let number = text.strip_prefix(b" HTTP/").unwrap_or_default();
    matches!(number, [b'0'..=b'9'] | [b'0'..=b'9', b'.', b'0'..=b'9'])
}

/// The path and query of a URL that a server put together from a request's host and target.
pub(super) fn below_host(url: &[u8]) -> &[u8] {
    let Some(scheme) = url.windows(3).position(|three| three == b"://") else {
        return url;
    };
    let after = url.get(scheme.saturating_add(3)..).unwrap_or_default();
    let path = after.iter().position(|byte| matches!(byte, b'/' | b'?'));
    path.and_then(|path| after.get(path..)).unwrap_or_default()
}

/// The name of a client without its port.
pub(super) fn without_port(client: &[u8]) -> &[u8] {
    let Some(colon) = client.iter().rposition(|byte| *byte == b':') else {
        return client;
    };
    match client.split_at_checked(colon) {
        Some((name, [_, port @ ..])) if !port.is_empty() && port.iter().all(u8::is_ascii_digit) => name,
        _ => client,
    }
}

/// A line up to which it has been read. An error names what is missing.
pub(super) struct Cursor<'a>(pub(super) &'a [u8]);

impl<'a> Cursor<'a> {
    /// The next word, if it is like this.
    pub(super) fn word(&mut self, name: &str, is: impl Fn(&[u8]) -> bool) -> Result<&'a [u8], String> {
        let (field, rest) = word(self.0).filter(|(field, _)| is(field)).ok_or_else(|| format!("no {name}"))?;
        self.0 = rest;
        Ok(field)
    }

    /// The string in the brackets or quotes that come next. Inside, none is escaped.
    pub(super) fn enclosed(&mut self, name: &str, brackets: &[u8; 2]) -> Result<&'a [u8], String> {
        let (field, rest) = enclosed(self.0, *brackets).ok_or_else(|| format!("no {name}, or no end of it"))?;
        self.0 = rest;
        Ok(field)
    }

    /// The string in quotes that comes next. Inside, quotes are escaped by backslashes.
    pub(super) fn quoted(&mut self, name: &str) -> Result<&'a [u8], String> {
        let quoted = field(self.0).filter(|_| self.0.starts_with(b"\""));
        let (field, rest) = quoted.ok_or_else(|| format!("no {name} in quotes, or no end of it"))?;
        self.0 = rest;
        Ok(field)
    }
}

pub(super) const fn any(_: &[u8]) -> bool {
    true
}

pub(super) fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// The maximum length of a part of a line in a message, in bytes.
pub(super) const SHOWN: usize = 100;

/// The fields of a string, separated by single spaces.
pub(super) struct Later<'a>(pub(super) &'a [u8]);

impl<'a> Iterator for Later<'a> {
    type Item = Result<&'a [u8], String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let Some((field, rest)) = field(self.0) else {
            let start: Vec<u8> = self.0.iter().take(SHOWN).copied().collect();
            self.0 = &[];
            return Some(Err(format!("no field ends in `{}`", shown(&start))));
        };
        self.0 = rest;
        Some(Ok(field))
    }
}

/// A field that is absent.
pub(super) const ABSENT: &[u8] = b"-";
