//! Undoes the escapes of web servers' logs, and shows lines in messages.

use std::borrow::Cow;

/// Undoes the escapes in a field. nginx writes `\xHH`; Apache writes `\xhh`, and C's escapes for a quote, a backslash
/// and white space. Any other backslash stands for itself, because some servers escape nothing.
pub(crate) fn unescape(field: &[u8]) -> Cow<'_, [u8]> {
    if !field.contains(&b'\\') {
        return Cow::Borrowed(field);
    }
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        let (byte, after) = escaped(rest).unwrap_or((byte, after));
        bytes.push(byte);
        rest = after;
    }
    Cow::Owned(bytes)
}

/// Undoes the escapes of HAProxy, `#` and two hexadecimal digits.
pub(crate) fn unescape_number(field: &[u8]) -> Cow<'_, [u8]> {
    if !field.contains(&b'#') {
        return Cow::Borrowed(field);
    }
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        let escaped = match rest {
            [b'#', high, low, after @ ..] => hexadecimal(*high, *low).map(|byte| (byte, after)),
            _ => None,
        };
        let (byte, after) = escaped.unwrap_or((byte, after));
        bytes.push(byte);
        rest = after;
    }
    Cow::Owned(bytes)
}

/// The byte of an escape, and the rest of the string.
fn escaped(text: &[u8]) -> Option<(u8, &[u8])> {
    Some(match text {
        [b'\\', b'x', high, low, rest @ ..] => (hexadecimal(*high, *low)?, rest),
        [b'\\', same @ (b'\\' | b'"'), rest @ ..] => (*same, rest),
        [b'\\', b'b', rest @ ..] => (0x08, rest),
        [b'\\', b'n', rest @ ..] => (b'\n', rest),
        [b'\\', b'r', rest @ ..] => (b'\r', rest),
        [b'\\', b't', rest @ ..] => (b'\t', rest),
        [b'\\', b'v', rest @ ..] => (0x0B, rest),
        _ => return None,
    })
}

/// The bytes of a line as a message shows them. A backslash isn't doubled, so that you can search the log for the shown
/// string. An unprintable byte is written as the servers write it.
///
/// ```
/// assert_eq!(orbgate_log::shown(b"\\x16 \x16 \"\t"), r#"\x16 \x16 "\t"#);
/// ```
#[must_use]
pub fn shown(bytes: &[u8]) -> String {
    let shown = bytes.iter().map(|byte| match byte {
        b' '..=b'~' => char::from(*byte).to_string(),
        other => other.escape_ascii().to_string(),
    });
    shown.collect()
}

fn hexadecimal(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let value = digit(high)?.checked_mul(16)?.checked_add(digit(low)?)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::unescape;

    #[test]
    fn only_what_a_server_escapes_is_taken_back() {
        for (written, meant) in [
            (&br"/a\x22b"[..], &b"/a\"b"[..]),
            (br"\xff\xFE", b"\xff\xfe"),
            (br#"say \"hi\" \\ \b\n\r\t\v"#, b"say \"hi\" \\ \x08\n\r\t\x0b"),
            (br"\\x41", br"\x41"),
            // No server writes these.
            (br"\x4", br"\x4"),
            (br"\xg1\q\u0041\", br"\xg1\q\u0041\"),
            (b"%41", b"%41"),
            (b"", b""),
        ] {
            assert_eq!(unescape(written), meant);
        }
    }

    proptest! {
        #[test]
        fn what_nginx_escapes_comes_back(bytes: Vec<u8>) {
            let mut written = Vec::new();
            for byte in &bytes {
                match byte {
                    b'"' | b'\\' | 0..=0x1f | 0x7f.. => written.extend(format!("\\x{byte:02X}").bytes()),
                    plain => written.push(*plain),
                }
            }
            prop_assert_eq!(unescape(&written), bytes);
        }

        #[test]
        fn what_apache_escapes_comes_back(bytes: Vec<u8>) {
            let mut written = Vec::new();
            for byte in &bytes {
                match byte {
                    b'"' | b'\\' => written.extend([b'\\', *byte]),
                    0x08 => written.extend(b"\\b"),
                    b'\n' => written.extend(b"\\n"),
                    b'\r' => written.extend(b"\\r"),
                    b'\t' => written.extend(b"\\t"),
                    0x0b => written.extend(b"\\v"),
                    0..=0x1f | 0x7f.. => written.extend(format!("\\x{byte:02x}").bytes()),
                    plain => written.push(*plain),
                }
            }
            prop_assert_eq!(unescape(&written), bytes);
        }
    }
}
