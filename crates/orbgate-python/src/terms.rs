//! Converts codes of the interface to members of Python enumerations.

use orbgate::{Detail, Effect, Reason, TokenKind};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// Where the enumerations are defined.
const MODULE: &str = "orbgate._terms";

/// The code's number, HTTP status and explanation, for members of `orbgate.Reason`.
#[pyfunction]
pub(crate) fn reason(code: &str) -> PyResult<(usize, Option<u16>, &'static str)> {
    let reason = reason_of(code)?;
    let number = position(&Reason::ALL, &reason).saturating_add(1);
    Ok((number, reason.status(), reason.explanation()))
}

/// The code's number and explanation, for members of `orbgate.Detail`.
#[pyfunction]
pub(crate) fn detail(code: &str) -> PyResult<(usize, &'static str)> {
    let detail = detail_of(code)?;
    let number = position(&Detail::ALL, &detail).saturating_add(1);
    Ok((number, detail.explanation()))
}

/// Whether a scope of a policy must be earned: no client can request it.
#[pyfunction]
pub(crate) fn is_earned(scope: &str) -> bool {
    orbgate::is_earned(scope)
}

/// The reason of a code.
pub(crate) fn reason_of(code: &str) -> PyResult<Reason> {
    let reason = Reason::ALL.into_iter().find(|one| one.as_str() == code);
    reason.ok_or_else(|| PyValueError::new_err(format!("no reason is called `{code}`")))
}

/// The detail of a code.
pub(crate) fn detail_of(code: &str) -> PyResult<Detail> {
    let detail = Detail::ALL.into_iter().find(|one| one.as_str() == code);
    detail.ok_or_else(|| PyValueError::new_err(format!("no detail is called `{code}`")))
}

/// The `orbgate.Effect` of a decision.
pub(crate) fn effect_member(py: Python<'_>, is_allow: bool) -> PyResult<Py<PyAny>> {
    static MEMBERS: Members = PyOnceLock::new();
    let at = position(&Effect::ALL, &Effect::of(is_allow));
    member(py, &MEMBERS, "Effect", &Effect::ALL.map(Effect::as_str), at)
}

/// The `orbgate.Reason` for a reason.
pub(crate) fn reason_member(py: Python<'_>, reason: Reason) -> PyResult<Py<PyAny>> {
    static MEMBERS: Members = PyOnceLock::new();
    let at = position(&Reason::ALL, &reason);
    member(py, &MEMBERS, "Reason", &Reason::ALL.map(Reason::as_str), at)
}

/// The `orbgate.Detail` for a detail.
pub(crate) fn detail_member(py: Python<'_>, detail: Detail) -> PyResult<Py<PyAny>> {
    static MEMBERS: Members = PyOnceLock::new();
    let at = position(&Detail::ALL, &detail);
    member(py, &MEMBERS, "Detail", &Detail::ALL.map(Detail::as_str), at)
}

/// The `orbgate.TokenKind` for a kind.
pub(crate) fn kind_member(py: Python<'_>, kind: TokenKind) -> PyResult<Py<PyAny>> {
    static MEMBERS: Members = PyOnceLock::new();
    let all = [TokenKind::Unknown, TokenKind::User, TokenKind::Organisation];
    let at = position(&all, &kind);
    member(py, &MEMBERS, "TokenKind", &all.map(TokenKind::as_str), at)
}

/// An enumeration's members, in the order of their codes.
type Members = PyOnceLock<Vec<Py<PyAny>>>;

fn member(py: Python<'_>, members: &Members, class: &str, codes: &[&str], at: usize) -> PyResult<Py<PyAny>> {
    let members = members.get_or_try_init(py, || {
        let class = py.import(MODULE)?.getattr(class)?.cast_into::<PyType>()?;
        let member = |code: &&str| Ok(class.call1((*code,))?.unbind());
        codes.iter().map(member).collect::<PyResult<Vec<_>>>()
    })?;
    let member = members.get(at).map(|member| member.clone_ref(py));
    member.ok_or_else(|| PyValueError::new_err("no such code"))
}

fn position<T: PartialEq>(all: &[T], one: &T) -> usize {
    all.iter().position(|other| other == one).unwrap_or(all.len())
}
