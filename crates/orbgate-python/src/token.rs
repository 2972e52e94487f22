//! Tokens.

use orbgate::{Scopes, TokenKind};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple, PyType};

use crate::terms;
use crate::text::{Text, joined};

/// A verified bearer token: its kind, and its scopes.
///
/// `kind` is "user" or "organisation". Any other string is an unknown kind, which every decision denies; the string is
/// kept so that you can read it. `scopes` is a string of scopes separated by spaces, as in the token's `scope` claim,
/// or an iterable of scopes. A scope that contains a space matches nothing.
///
/// >>> Token("user", "read:account write:voxies")
/// Token('user', ['read:account', 'write:voxies'])
#[pyclass(frozen, eq, hash, module = "orbgate")]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Token {
    kind: TokenKind,
    /// The given kind, even if it is unknown.
    word: Box<str>,
    scopes: Box<[Box<[u8]>]>,
    /// The string that the engine searches: the scopes that can match, separated by spaces.
    text: Box<[u8]>,
}

#[pymethods]
impl Token {
    #[classattr]
    #[pyo3(name = "__match_args__")]
    const MATCH_ARGS: (&'static str, &'static str) = ("kind", "scopes");

    #[new]
    pub(crate) fn new(kind: &str, scopes: &Bound<'_, PyAny>) -> PyResult<Self> {
        let word = kind.into();
        let kind = TokenKind::from_name(kind);
        if let Ok(Text(text)) = scopes.extract() {
            let pieces = text.split(|byte| *byte == b' ');
            let scopes = pieces.filter(|piece| !piece.is_empty()).map(Box::from);
            return Ok(Self { kind, word, scopes: scopes.collect(), text: text.into() });
        }
        let one_by_one = scopes
            .try_iter()
            .map_err(|_error| PyTypeError::new_err("scopes are one str, separated by spaces, or several"))?;
        let scope = |scope: PyResult<Bound<'_, PyAny>>| -> PyResult<Box<[u8]>> {
            let scope = scope?;
            let Text(scope) = scope.extract()?;
            Ok(scope.into())
        };
        let scopes: Box<[_]> = one_by_one.map(scope).collect::<PyResult<_>>()?;
        let text = joined(scopes.iter().map(AsRef::as_ref));
        Ok(Self { kind, word, scopes, text: text.into() })
    }

    /// The kind of token.
    #[getter]
    fn kind(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        terms::kind_member(py, self.kind)
    }

    /// The scopes of the token.
    #[getter]
    fn scopes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let scopes = self.scopes.iter();
        PyTuple::new(py, scopes.map(|scope| String::from_utf8_lossy(scope)))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let scope = |scope| PyString::new(py, &String::from_utf8_lossy(scope)).repr();
        let scopes = self.scopes.iter();
        let scopes: Vec<_> = scopes.map(|one| Ok(scope(one)?.to_string())).collect::<PyResult<_>>()?;
        let kind = PyString::new(py, &self.word).repr()?;
        Ok(format!("Token({kind}, [{}])", scopes.join(", ")))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        let token = slf.get();
        let scopes = token.scopes.iter();
        // Bytes, so that nothing is lost.
        let scopes: Vec<_> = scopes.map(|scope| PyBytes::new(slf.py(), scope)).collect();
        let arguments = (&*token.word, scopes);
        Ok((slf.get_type(), arguments.into_pyobject(slf.py())?))
    }
}

impl Token {
    /// The kind, and the scopes that can match, separated by spaces.
    pub(crate) fn parts(&self) -> (&'static str, &[u8]) {
        (self.kind.as_str(), &self.text)
    }

    /// The token in the form that the engine takes.
    pub(crate) fn lend(&self) -> orbgate::Token<'_> {
        orbgate::Token { kind: self.kind, scopes: Scopes::Text(&self.text) }
    }
}
