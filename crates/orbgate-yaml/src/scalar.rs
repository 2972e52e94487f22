//! Detects plain scalars that some YAML reader doesn't read as a string.
//!
//! YAML 1.1 and 1.2 disagree, and readers disagree with both. If any of them reads a plain scalar
//! as null, a boolean, a number or a date, the scalar is rejected where a string is expected. In
//! quotes, it is always a string.

/// How some YAML reader interprets this plain scalar, if not as a string.
#[must_use]
pub fn other_reading(plain: &str) -> Option<&'static str> {
    // Everything below starts with one of these characters; anything else is a string.
    let is_letter = |byte: u8| matches!(byte | 0x20, b'n' | b'y' | b't' | b'f' | b'o');
    let is_sign = |byte: u8| matches!(byte, b'+' | b'-' | b'.' | b'~' | b'=');
    let may_start = |byte: u8| byte.is_ascii_digit() || is_letter(byte) || is_sign(byte);
    if !plain.bytes().next().is_none_or(may_start) {
        return None;
    }
    match plain {
        "" | "~" | "null" | "Null" | "NULL" => return Some("null"),
        "y" | "Y" | "yes" | "Yes" | "YES" | "n" | "N" | "no" | "No" | "NO" | "true" | "True" | "TRUE" | "false"
        | "False" | "FALSE" | "on" | "On" | "ON" | "off" | "Off" | "OFF" => {
            return Some("a boolean");
        }
        "=" => return Some("a default value"),
        ".nan" | ".NaN" | ".NAN" => return Some("a number"),
        _ => {}
    }
    let unsigned = plain.strip_prefix(['+', '-']).unwrap_or(plain);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || is_integer(unsigned) || is_float(unsigned) {
        return Some("a number");
    }
    is_date(plain).then_some("a date")
}

/// Decimal, binary, octal (`0o17` and `017`), hexadecimal, or base 60 (`1:30`); `_` is a separator
/// in YAML 1.1.
fn is_integer(text: &str) -> bool {
    let radix = |prefix: [&str; 2], digits: fn(u8) -> bool| {
        prefix
            .into_iter()
            .find_map(|prefix| text.strip_prefix(prefix))
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte == b'_' || digits(byte)))
    };
    radix(["0b", "0B"], |byte| matches!(byte, b'0' | b'1'))
        || radix(["0o", "0O"], |byte| matches!(byte, b'0'..=b'7'))
        || radix(["0x", "0X"], |byte| byte.is_ascii_hexdigit())
        || (starts_with_digit(text) && text.split(':').all(is_digits))
}

/// `1.5`, `.5`, `1.`, `1e3`, `1_0.5`, `1:30.5`, and the single dots that YAML 1.1's expression
/// allows.
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let exponent_fits =
        exponent.is_none_or(|exponent| is_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)));
    let first = mantissa.bytes().next();
    exponent_fits
        && first.is_some_and(|byte| byte == b'.' || byte.is_ascii_digit())
        && mantissa.split(':').all(is_digits_and_dots)
}

/// `2001-12-14`, with or without a time.
fn is_date(text: &str) -> bool {
    let (date, time) =
        text.split_at_checked(text.find(['T', 't', ' ', '\t']).unwrap_or(text.len())).unwrap_or((text, ""));
    let mut parts = date.split('-');
    let fits = |part: Option<&str>, lengths: core::ops::RangeInclusive<usize>| {
        part.is_some_and(|part| lengths.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let is_day = fits(parts.next(), 4..=4) && fits(parts.next(), 1..=2) && fits(parts.next(), 1..=2);
    let time = time.trim_start_matches(['T', 't', ' ', '\t']);
    is_day && parts.next().is_none() && (time.is_empty() || (starts_with_digit(time) && time.contains(':')))
}

fn is_digits_and_dots(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'_' | b'.'))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte == b'_' || byte.is_ascii_digit())
}

fn starts_with_digit(text: &str) -> bool {
    text.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::other_reading;

    #[test]
    fn what_some_reader_takes_for_something_else_is_not_text() {
        let table = [
            ("null", "|~|null|Null|NULL"),
            ("a boolean", "y|Y|yes|NO|No|n|on|Off|true|False|TRUE"),
            (
                "a number",
                "0|7|-7|+7|010|08|0o10|0x1F|0b11|1_0|1:30|190:20:30|1.5|.5|1.|1e3|1E-3|1e+3|-.inf|.Inf|.NaN|.",
            ),
            ("a number", "1_0.5|1:30.5|12345678901234567890123|6.8523015e+5|685_230.15|0o_7"),
            ("a date", "2001-12-14|2001-12-14T21:59:43.10-05:00|2001-12-14 21:59:43.10 -5|2002-1-1 1:00:00"),
            ("a default value", "="),
        ];
        for (reading, texts) in table {
            for text in texts.split('|') {
                assert_eq!(other_reading(text), Some(reading), "{text}");
            }
        }
    }

    #[test]
    fn ordinary_words_are_text() {
        let words = "external|read:account|GET /x|nope|yes sir|nullable|3D|1a|0xyz|v1|e3|1e|-|--|_1|:|1:|a:1|in 2001-12-14|\
                     2001-12|2001-12-14-15|true story|inf|nan|1e3x|é";
        for text in words.split('|') {
            assert_eq!(other_reading(text), None, "{text}");
        }
    }
}
