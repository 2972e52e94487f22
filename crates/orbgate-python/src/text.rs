//! Strings that arrive as `str` or `bytes`.

use std::borrow::Cow;

use pyo3::Borrowed;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// The bytes of a `bytes`, or the UTF-8 bytes of a `str`.
pub(crate) struct Text<'a>(pub(crate) Cow<'a, [u8]>);

impl<'a> FromPyObject<'a, '_> for Text<'a> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, '_, PyAny>) -> PyResult<Self> {
        if let Ok(text) = object.extract::<&'a str>() {
            return Ok(Self(Cow::Borrowed(text.as_bytes())));
        }
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self(Cow::Borrowed(bytes.extract()?)));
        }
        let Ok(text) = object.cast::<PyString>() else {
            let name = object.get_type().name()?;
            let message = format!("expected str or bytes, not {name}");
            return Err(PyTypeError::new_err(message));
        };
        // Half of a surrogate pair has no UTF-8 form. Its replacement isn't ASCII either, so it is
        // rejected like the original, and is part of no scope of a policy.
        let text = text.to_string_lossy().into_owned();
        Ok(Self(Cow::Owned(text.into_bytes())))
    }
}

/// Scopes as the string that the engine searches. A scope that contains a space matches nothing; in the string, it
/// would become two.
pub(crate) fn joined<'a>(scopes: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let whole = scopes.filter(|scope| !scope.contains(&b' '));
    whole.collect::<Vec<_>>().join(&b' ')
}
