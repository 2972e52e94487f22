//! Headers that override the method of the request line.

/// Headers with which frameworks let a request override its method. Most frameworks allow this only for a `POST`, but
/// some, such as Yii2, for any method.
const METHOD_OVERRIDES: [&[u8]; 3] = [b"x-http-method-override", b"x-http-method", b"x-method-override"];

/// Whether one of these headers overrides the method. The service might follow either method, so the request is
/// ambiguous.
pub(crate) fn is_overridden<N: AsRef<[u8]>>(header_names: impl IntoIterator<Item = N>) -> bool {
    header_names.into_iter().any(|name| overrides(name.as_ref()))
}

/// Whether a header with this name overrides methods.
fn overrides(name: &[u8]) -> bool {
    // Many servers don't distinguish `X_HTTP_METHOD` from `X-HTTP-Method` (CGI, WSGI).
    let same = |known: &[u8]| {
        let mut bytes = known.iter().zip(name);
        known.len() == name.len()
            && bytes.all(|(known, byte)| *known == byte.to_ascii_lowercase() || (*known == b'-' && *byte == b'_'))
    };
    METHOD_OVERRIDES.into_iter().any(same)
}

#[cfg(test)]
mod tests {
    use super::is_overridden;

    #[test]
    fn only_these_names_override_a_method() {
        let table: &[(&[&str], bool)] = &[
            (&[], false),
            (&["content-type", "x-http-methods"], false),
            (&["access-control-request-method"], false),
            (&["accept", "X-HTTP-Method-Override"], true),
            (&["X_HTTP_Method"], true),
            (&["x-method_override"], true),
        ];
        for (names, expected) in table {
            assert_eq!(is_overridden(*names), *expected, "{names:?}");
        }
    }
}
