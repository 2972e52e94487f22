//! Names and values of a query or a form, as `application/x-www-form-urlencoded`.

use percent_encoding::percent_decode_str;

/// Decoded pairs, in their order.
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    /// `None` if an escape or the encoding is wrong. Pairs without `=` have an empty value.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decoded(name)?, decoded(value)?))
        });
        pairs.collect::<Option<_>>().map(Self)
    }

    pub(super) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.pairs().filter(move |(own, _)| *own == name).map(|(_, value)| value)
    }
}

/// Decodes `+` and escapes.
pub(super) fn decoded(text: &str) -> Option<String> {
    let spaced = text.replace('+', " ");
    let mut rest = spaced.as_bytes().split(|byte| *byte == b'%').skip(1);
    // `percent_decode_str` would keep a wrong escape as it is.
    let are_escapes = rest.all(|piece| piece.get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)));
    are_escapes.then_some(())?;
    percent_decode_str(&spaced).decode_utf8().ok().map(Into::into)
}
