//! Names of headers that some backend doesn't distinguish.

/// Whether some backend reads two names as the same header.
///
/// CGI (RFC 3875, 4.1.18) writes `-` as `_`, and PHP's servers write every byte that is no letter or digit so: to
/// them, `X.HTTP.Method!Override` is `X-HTTP-Method-Override`. So letters and digits are compared without case, and
/// any other byte equals any other.
#[must_use]
pub fn same_header(one: &[u8], other: &[u8]) -> bool {
    let folded = |byte: &u8| if byte.is_ascii_alphanumeric() { byte.to_ascii_lowercase() } else { b'_' };
    one.len() == other.len() && one.iter().map(folded).eq(other.iter().map(folded))
}

/// Headers with which frameworks let a request override its method. Most frameworks allow this only for a `POST`, but
/// some, such as Yii2, for any method.
///
/// Each contains `method`, in any letter case, because drivers pass on only such names.
const METHOD_OVERRIDES: [&[u8]; 3] = [b"x-http-method-override", b"x-http-method", b"x-method-override"];

/// Whether one of these headers overrides the method. The service might follow either method, so the request is
/// ambiguous.
pub(crate) fn is_overridden(header_names: &[&[u8]]) -> bool {
    header_names.iter().any(|name| METHOD_OVERRIDES.iter().any(|known| same_header(known, name)))
}

#[cfg(test)]
mod tests {
    use super::{METHOD_OVERRIDES, is_overridden, same_header};

    #[test]
    fn only_these_names_override_a_method() {
        let table: &[(&[&str], bool)] = &[
            (&[], false),
            (&["content-type", "x-http-methods"], false),
            (&["access-control-request-method"], false),
            (&["xhttpmethod", "x-http--method", "x-http-method-"], false),
            (&["xahttpamethod"], false),
            (&["accept", "X-HTTP-Method-Override"], true),
            (&["X_HTTP_Method"], true),
            (&["x-method_override"], true),
            (&["X_HTTP_METHOD_OVERRIDE"], true),
            (&["X-HTTP_Method-Override"], true),
            (&["X.HTTP.Method.Override"], true),
            (&["x!http~method"], true),
        ];
        for (names, expected) in table {
            let bytes: Vec<_> = names.iter().map(|name| name.as_bytes()).collect();
            assert_eq!(is_overridden(&bytes), *expected, "{names:?}");
        }
    }

    #[test]
    fn a_name_is_the_same_with_every_other_byte_between_its_words() {
        for byte in u8::MIN..=u8::MAX {
            let name = [b"X", &[byte][..], b"Orb"].concat();
            let is_other = !byte.is_ascii_alphanumeric();
            assert_eq!(same_header(b"x-orb", &name), is_other, "{}", name.escape_ascii());
            assert_eq!(same_header(&name, b"x_ORB"), is_other, "{}", name.escape_ascii());
        }
    }

    #[test]
    fn a_driver_may_leave_out_names_without_method() {
        for name in METHOD_OVERRIDES {
            assert!(name.windows(6).any(|six| six == b"method"));
        }
    }
}
