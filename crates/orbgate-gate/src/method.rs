//! Headers that say what method a `POST` is.

/// Headers with which frameworks let a `POST` be another method.
const METHOD_OVERRIDES: [&[u8]; 3] = [
    b"x-http-method-override",
    b"x-http-method",
    b"x-method-override",
];

/// The method to decide on; empty where a `POST` names another one in a header.
///
/// The service may follow either of the two, so an engine gets an invalid method, which it denies (P1).
pub(crate) fn unless_overridden<N: AsRef<[u8]>>(
    method: &[u8],
    header_names: impl IntoIterator<Item = N>,
) -> &[u8] {
    let overridden = || {
        header_names
            .into_iter()
            .any(|name| overrides(name.as_ref()))
    };
    if method == b"POST" && overridden() {
        b""
    } else {
        method
    }
}

/// Whether a header of this name overrides methods.
fn overrides(name: &[u8]) -> bool {
    // Many servers read `X_HTTP_METHOD` and `X-HTTP-Method` alike (CGI, WSGI).
    let same = |known: &[u8]| {
        let mut bytes = known.iter().zip(name);
        known.len() == name.len()
            && bytes.all(|(known, byte)| {
                *known == byte.to_ascii_lowercase() || (*known == b'-' && *byte == b'_')
            })
    };
    METHOD_OVERRIDES.into_iter().any(same)
}

#[cfg(test)]
mod tests {
    use super::unless_overridden;

    #[test]
    fn a_post_with_a_second_method_has_none() {
        let table: &[(&[u8], &[&str], &[u8])] = &[
            (b"POST", &[], b"POST"),
            (b"POST", &["content-type", "x-http-methods"], b"POST"),
            (b"POST", &["accept", "X-HTTP-Method-Override"], b""),
            (b"POST", &["X_HTTP_Method"], b""),
            (b"POST", &["x-method_override"], b""),
            (b"GET", &["x-http-method"], b"GET"),
            (b"post", &["x-http-method"], b"post"),
        ];
        for (method, names, expected) in table {
            assert_eq!(unless_overridden(method, *names), *expected, "{names:?}");
        }
    }
}
