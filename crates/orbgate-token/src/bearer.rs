//! The `Authorization` header of a request (RFC 6750 §2.1).

/// The token in a request's `Authorization` header; `None` if the request has no such header, or
/// one with another scheme.
///
/// Pass every value of the header as you received it, one item for each header line. A token in any
/// other location (`?access_token=`, a cookie, a form) is never used.
///
/// ```
/// use orbgate_token::{BearerError, bearer};
///
/// assert_eq!(bearer([b"Bearer abc.def.ghi".as_slice()]), Ok(Some("abc.def.ghi")));
/// assert_eq!(bearer([]), Ok(None));
/// assert_eq!(bearer([b"Bearer a".as_slice(), b"Bearer b"]), Err(BearerError::Repeated));
/// ```
///
/// # Errors
///
/// Returns why the request is invalid (`invalid_request`). Deny it in any case.
pub fn bearer<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Result<Option<&'a str>, BearerError> {
    Ok(token_of(values, &[Scheme::Bearer])?.map(|(_, token)| token))
}

/// The same for a service that also accepts tokens that are bound to a key of their sender: the token, and whether it came as
/// `Bearer` or as `DPoP` (RFC 9449 §7.1).
///
/// ```
/// use orbgate_token::{Scheme, bearer_or_dpop};
///
/// assert_eq!(bearer_or_dpop([b"DPoP abc.def.ghi".as_slice()]), Ok(Some((Scheme::Dpop, "abc.def.ghi"))));
/// assert_eq!(bearer_or_dpop([b"Bearer abc.def.ghi".as_slice()]), Ok(Some((Scheme::Bearer, "abc.def.ghi"))));
/// ```
///
/// # Errors
///
/// As [`bearer`].
pub fn bearer_or_dpop<'a>(
    values: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Option<(Scheme, &'a str)>, BearerError> {
    token_of(values, &[Scheme::Bearer, Scheme::Dpop])
}

/// How `Authorization` presents a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a verifier must handle each")]
pub enum Scheme {
    /// `Bearer` (RFC 6750).
    #[default]
    Bearer,
    /// `DPoP` (RFC 9449).
    Dpop,
}

impl Scheme {
    const fn name(self) -> &'static [u8] {
        match self {
            Self::Bearer => b"bearer",
            Self::Dpop => b"dpop",
        }
    }

    /// What follows the scheme, if the value starts with it, in any letter case.
    fn rest(self, value: &[u8]) -> Option<&[u8]> {
        let (scheme, rest) = value.split_at_checked(self.name().len())?;
        let is_whole = rest.first().is_none_or(|byte| !byte.is_ascii_alphanumeric());
        (is_whole && scheme.eq_ignore_ascii_case(self.name())).then_some(rest)
    }
}

fn token_of<'a>(
    values: impl IntoIterator<Item = &'a [u8]>,
    schemes: &[Scheme],
) -> Result<Option<(Scheme, &'a str)>, BearerError> {
    let mut values = values.into_iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(BearerError::Repeated);
    }
    let of = |value| schemes.iter().find_map(|scheme| Some((*scheme, scheme.rest(value)?)));
    let Some((scheme, rest)) = of(value) else {
        // A proxy might have joined several lines with commas.
        let joined = value.split(|byte| *byte == b',').skip(1).any(|part| of(part.trim_ascii_start()).is_some());
        return if joined { Err(BearerError::Repeated) } else { Ok(None) };
    };
    let token = rest.strip_prefix(b" ");
    let token = token.filter(|token| is_b64token(token));
    let token = token.and_then(|token| core::str::from_utf8(token).ok());
    token.map(|token| Some((scheme, token))).ok_or(BearerError::Malformed)
}

/// `b64token` of RFC 6750 §2.1.
pub(crate) fn is_b64token(token: &[u8]) -> bool {
    let end = token.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last.saturating_add(1));
    let (body, _padding) = token.split_at_checked(end).unwrap_or((&[], &[]));
    let is_of_token =
        |byte: &u8| byte.is_ascii_alphanumeric() | matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/');
    // Reads every byte even after a mismatch, so that the loop can be vectorised.
    !body.is_empty() & body.iter().fold(true, |all, byte| all & is_of_token(byte))
}

/// Why a request's `Authorization` header is rejected, which RFC 6750 §3.1 calls `invalid_request`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum BearerError {
    /// The header occurs several times, or a proxy joined several values into one.
    #[error("the request has more than one `Authorization`")]
    Repeated,
    /// The value isn't the scheme, one space and a token.
    #[error("the request's `Authorization` is not `Bearer`, a space and a token")]
    Malformed,
}

#[cfg(test)]
mod tests {
    use super::{BearerError, Scheme, bearer, bearer_or_dpop};

    #[test]
    fn both_refusals_have_words() {
        for error in [BearerError::Repeated, BearerError::Malformed] {
            assert!(error.to_string().contains("`Authorization`"), "{error:?}");
        }
    }

    #[test]
    fn exactly_one_bearer_token_counts() {
        type Row<'a> = (&'a [&'a [u8]], Result<Option<&'a str>, BearerError>);
        let table: &[Row<'_>] = &[
            (&[b"Bearer abc"], Ok(Some("abc"))),
            (&[b"bearer abc"], Ok(Some("abc"))),
            (&[b"BEARER a-._~+/=="], Ok(Some("a-._~+/=="))),
            (&[], Ok(None)),
            (&[b""], Ok(None)),
            (&[b"Basic dXNlcjpwYXNz"], Ok(None)),
            (&[b"DPoP abc"], Ok(None)),
            (&[b"BearerX abc"], Ok(None)),
            (&[b"Token abc"], Ok(None)),
            (&[b"abc"], Ok(None)),
            (&[b"Digest username=\"a\", realm=\"b\""], Ok(None)),
            (&[b"Bearer a", b"Bearer a"], Err(BearerError::Repeated)),
            (&[b"Basic a", b"Bearer b"], Err(BearerError::Repeated)),
            (&[b"Bearer a", b""], Err(BearerError::Repeated)),
            (&[b"Basic a,Bearer b"], Err(BearerError::Repeated)),
            (&[b"Basic a, bearer b"], Err(BearerError::Repeated)),
            (&[b"Bearer a,Bearer b"], Err(BearerError::Malformed)),
            (&[b"Bearer a, Bearer b"], Err(BearerError::Malformed)),
            (&[b"Bearer a,Basic b"], Err(BearerError::Malformed)),
            (&[b"Bearer"], Err(BearerError::Malformed)),
            (&[b"Bearer "], Err(BearerError::Malformed)),
            (&[b"Bearer  a"], Err(BearerError::Malformed)),
            (&[b"Bearer\ta"], Err(BearerError::Malformed)),
            (&[b"Bearer a "], Err(BearerError::Malformed)),
            (&[b"Bearer a b"], Err(BearerError::Malformed)),
            (&[b" Bearer a"], Ok(None)),
            (&[b"Bearer ="], Err(BearerError::Malformed)),
            (&[b"Bearer a=b"], Err(BearerError::Malformed)),
            (&[b"Bearer \"a\""], Err(BearerError::Malformed)),
            (&[b"Bearer:a"], Err(BearerError::Malformed)),
            (&[b"Bearer a\0"], Err(BearerError::Malformed)),
            (&[b"Bearer \xc3\xa9"], Err(BearerError::Malformed)),
        ];
        for (values, expected) in table {
            let shown: Vec<_> = values.iter().map(|value| value.escape_ascii().to_string()).collect();
            assert_eq!(bearer(values.iter().copied()), *expected, "{shown:?}");
        }
    }

    #[test]
    fn exactly_one_token_of_either_scheme_counts() {
        type Row<'a> = (&'a [&'a [u8]], Result<Option<(Scheme, &'a str)>, BearerError>);
        let table: &[Row<'_>] = &[
            (&[b"Bearer abc"], Ok(Some((Scheme::Bearer, "abc")))),
            (&[b"DPoP abc"], Ok(Some((Scheme::Dpop, "abc")))),
            (&[b"dpop abc"], Ok(Some((Scheme::Dpop, "abc")))),
            (&[], Ok(None)),
            (&[b"Basic dXNlcjpwYXNz"], Ok(None)),
            (&[b"DPoPX abc"], Ok(None)),
            (&[b"DPoP a", b"Bearer a"], Err(BearerError::Repeated)),
            (&[b"DPoP a", b"DPoP a"], Err(BearerError::Repeated)),
            (&[b"Basic a, DPoP b"], Err(BearerError::Repeated)),
            (&[b"DPoP a, Bearer a"], Err(BearerError::Malformed)),
            (&[b"Bearer a,DPoP a"], Err(BearerError::Malformed)),
            (&[b"DPoP"], Err(BearerError::Malformed)),
            (&[b"DPoP  a"], Err(BearerError::Malformed)),
        ];
        for (values, expected) in table {
            let shown: Vec<_> = values.iter().map(|value| value.escape_ascii().to_string()).collect();
            assert_eq!(bearer_or_dpop(values.iter().copied()), *expected, "{shown:?}");
        }
    }
}
