//! A decision.

use core::hash::{Hash as _, Hasher as _};
use std::hash::DefaultHasher;

use orbgate::{Detail, Effect, Reason};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

use crate::charge::Charge;
use crate::names::{Found, Names, Scopes, tuples};
use crate::terms;

/// The decision on a request: which scope it needs, whether it is allowed, what it consumes, and why.
///
/// Policies make decisions. A denial is a result, not an error. True if the call is allowed, so
/// `if policy.decide(...)` is a check.
#[pyclass(frozen, module = "orbgate")]
#[derive(Debug)]
pub(crate) struct Decision {
    reason: Reason,
    detail: Option<Detail>,
    names: Found,
    /// What an allowed call consumes; None for a denial, and if the policy doesn't state it.
    #[pyo3(get)]
    orbs: Option<Charge>,
    /// The digest of the policy that made the decision: "sha256:" and 64 hexadecimal digits.
    #[pyo3(get)]
    policy: Py<PyString>,
}

/// A name: None or a `str`.
type Name = Option<Py<PyString>>;

#[pymethods]
impl Decision {
    #[classattr]
    #[pyo3(name = "__match_args__")]
    const MATCH_ARGS: (&'static str, &'static str) = ("decision", "reason");

    #[new]
    #[pyo3(signature = (reason, policy, detail=None, api=None, route=None, scope=None, orbs=None, about=None, scopes=None))]
    #[expect(clippy::too_many_arguments, reason = "in Python they are keywords")]
    pub(crate) fn new(
        reason: &str,
        policy: Py<PyString>,
        detail: Option<&str>,
        api: Name,
        route: Name,
        scope: Name,
        orbs: Option<Charge>,
        about: Name,
        scopes: Option<Scopes>,
    ) -> PyResult<Self> {
        let reason = terms::reason_of(reason)?;
        let detail = detail.map(terms::detail_of).transpose()?;
        if detail.is_some() != (reason == Reason::MalformedRequest) {
            let message = "`malformed_request` has a detail, and no other reason has";
            return Err(PyValueError::new_err(message));
        }
        if orbs.is_some() && reason.status().is_some() {
            return Err(PyValueError::new_err("a denial has no charge"));
        }
        Ok(Self { reason, detail, names: Found { api, route, scope, scopes, about }, orbs, policy })
    }

    /// Allow or deny.
    #[getter]
    fn decision(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        terms::effect_member(py, self.is_allow())
    }

    /// The reason.
    #[getter]
    fn reason(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        terms::reason_member(py, self.reason)
    }

    /// The rule that a malformed request breaks.
    #[getter]
    fn detail(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let detail = self.detail;
        detail.map(|detail| terms::detail_member(py, detail)).transpose()
    }

    /// The HTTP status of a denial; None for an allow.
    #[getter]
    const fn status(&self) -> Option<u16> {
        self.reason.status()
    }

    /// Whether the call is allowed.
    #[getter]
    const fn is_allow(&self) -> bool {
        self.reason.status().is_none()
    }

    /// The api of the route or scope, if one was found.
    #[getter]
    fn api(&self, py: Python<'_>) -> Name {
        self.names.api.as_ref().map(|name| name.clone_ref(py))
    }

    /// The route, "METHOD /template"; for `method_not_declared`, only the template.
    #[getter]
    fn route(&self, py: Python<'_>) -> Name {
        self.names.route.as_ref().map(|name| name.clone_ref(py))
    }

    /// The scope that owns the route, or that was asked for: the call needs it, or what `scopes` lists.
    #[getter]
    fn scope(&self, py: Python<'_>) -> Name {
        self.names.scope.as_ref().map(|name| name.clone_ref(py))
    }

    /// The alternatives of a call that needs more or other than `scope`: a token needs all scopes of one of them. The
    /// owner's comes first, and begins with `scope`. None if the call needs just `scope`.
    #[getter]
    fn scopes<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.names.scopes.as_ref().map(|scopes| tuples(py, scopes)).transpose()
    }

    /// The route that the request matches, "METHOD /template", regardless of the token, so that logs show which
    /// routes were called without one. Don't send it to callers. None if no route has the path and the method, and
    /// for a decision by scope.
    #[getter]
    fn about(&self, py: Python<'_>) -> Name {
        self.names.about.as_ref().map(|name| name.clone_ref(py))
    }

    /// The decision in the JSON form of all other interfaces.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("decision", Effect::of(self.is_allow()).as_str())?;
        dict.set_item("status", self.status())?;
        dict.set_item("reason", self.reason.as_str())?;
        dict.set_item("detail", self.detail.map(Detail::as_str))?;
        dict.set_item("api", &self.names.api)?;
        dict.set_item("route", &self.names.route)?;
        dict.set_item("scope", &self.names.scope)?;
        if let Some(scopes) = &self.names.scopes {
            dict.set_item("scopes", scopes)?;
        }
        let orbs = self.orbs.map(|charge| charge.to_dict(py)).transpose()?;
        dict.set_item("orbs", orbs)?;
        dict.set_item("policy", &self.policy)?;
        Ok(dict)
    }

    const fn __bool__(&self) -> bool {
        self.is_allow()
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let Ok(other) = other.cast::<Self>() else {
            return Ok(py.NotImplemented());
        };
        let equal = self.fields(py)? == other.get().fields(py)?;
        Ok(equal.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<u64> {
        let mut hasher = DefaultHasher::new();
        self.fields(py)?.hash(&mut hasher);
        Ok(hasher.finish())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let names = ["reason", "policy", "detail", "api", "route", "scope", "orbs", "about", "scopes"];
        let mut shown = Vec::new();
        for (name, value) in names.into_iter().zip(Self::arguments(slf)?.iter()) {
            if !value.is_none() {
                shown.push(format!("{name}={}", value.repr()?));
            }
        }
        Ok(format!("Decision({})", shown.join(", ")))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let preview = slf.py().import("orbgate._preview")?;
        preview.call_method1("html_decision", (slf,))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        Ok((slf.get_type(), Self::arguments(slf)?))
    }
}

/// The fields that equality and hash compare.
type Fields<'a> = (Reason, Option<Detail>, [Option<&'a str>; 4], Option<&'a Scopes>, Option<Charge>, &'a str);

impl Decision {
    /// An engine's decision.
    pub(crate) fn of(py: Python<'_>, names: &Names, decision: &orbgate::Decision<'_>) -> Self {
        Self {
            reason: decision.reason(),
            detail: decision.detail(),
            names: names.of(py, decision),
            orbs: decision.charge().map(Charge::of),
            policy: names.digest.clone_ref(py),
        }
    }

    /// The template that doesn't declare the request's method, in a decision of the policy with this digest.
    pub(crate) fn undeclared<'a>(&'a self, py: Python<'a>, digest: &str) -> PyResult<Option<&'a str>> {
        let known = self.reason == Reason::MethodNotDeclared && self.policy.to_str(py)? == digest;
        let route = self.names.route.as_ref().filter(|_| known);
        route.map(|route| route.to_str(py)).transpose()
    }

    fn fields<'a>(&'a self, py: Python<'a>) -> PyResult<Fields<'a>> {
        let text = |name: &'a Name| match name {
            Some(name) => name.to_str(py).map(Some),
            None => Ok(None),
        };
        let Found { api, route, scope, scopes, about } = &self.names;
        let names = [text(api)?, text(route)?, text(scope)?, text(about)?];
        Ok((self.reason, self.detail, names, scopes.as_ref(), self.orbs, self.policy.to_str(py)?))
    }

    /// The arguments with which [`Decision::new`] makes an equal decision.
    fn arguments<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let decision = slf.get();
        let arguments = (
            decision.reason.as_str(),
            &decision.policy,
            decision.detail.map(Detail::as_str),
            &decision.names.api,
            &decision.names.route,
            &decision.names.scope,
            decision.orbs,
            &decision.names.about,
            slf.borrow().scopes(slf.py())?,
        );
        arguments.into_pyobject(slf.py())
    }
}
