//! Loads policies, decides with them, and compares them.

use std::sync::OnceLock;

use orbgate::{Engine, Request};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};

use crate::decision::Decision;
use crate::error::{self, guarded};
use crate::names::Names;
use crate::outcome::Dictionaries;
use crate::text::Text;
use crate::token::Token;

/// The YAML of the built-in policy, which is compiled from this file.
const EXTERNAL: &[u8] = include_bytes!("../../orbgate/policy/external.yaml");

/// The native part of `orbgate.Policy`.
#[pyclass(frozen, subclass, module = "orbgate._native")]
#[derive(Debug)]
pub(crate) struct Policy {
    engine: Engine,
    /// The policy's YAML, kept for pickling; `None` for the built-in policy.
    text: Option<Box<[u8]>>,
    has_end_marker: bool,
    is_sealed: bool,
    /// The scopes that the file marks as sensitive, sorted.
    sensitive: Vec<String>,
    pub(crate) names: Names,
    /// The dictionaries for columns of decisions, built on first use.
    dictionaries: OnceLock<Dictionaries>,
}

#[pymethods]
impl Policy {
    #[new]
    #[pyo3(signature = (text=None, file=None))]
    fn new(py: Python<'_>, text: Option<Text<'_>>, file: Option<&str>) -> PyResult<Self> {
        guarded(|| {
            let (engine, has_end_marker, is_sealed, sensitive) = match &text {
                None => (Engine::external().clone(), true, true, Vec::new()),
                Some(Text(text)) => {
                    let made = py.detach(|| {
                        let policy = orbgate::Policy::from_bytes(text);
                        policy.map(|policy| {
                            let (ends, sealed) = (policy.has_end_marker(), policy.is_sealed());
                            (Engine::new(&policy), ends, sealed, sensitive(&policy))
                        })
                    });
                    made.map_err(|diagnostics| error::policy(py, &diagnostics, file))?
                }
            };
            let names = Names::new(py, &engine);
            Ok(Self {
                engine,
                text: text.map(|Text(text)| text.into()),
                has_end_marker,
                is_sealed,
                sensitive,
                names,
                dictionaries: OnceLock::new(),
            })
        })
    }

    /// Decides a request: which scope it needs, whether the token allows the call, what it consumes,
    /// and why.
    ///
    /// Pass `method` and `target` exactly as received over the wire, neither decoded nor normalised.
    #[pyo3(signature = (method, target, token=None, *, allow_bonus_orbs_use=false))]
    fn decide(
        &self,
        py: Python<'_>,
        method: Text<'_>,
        target: Text<'_>,
        token: Option<&Bound<'_, Token>>,
        allow_bonus_orbs_use: bool,
    ) -> PyResult<Decision> {
        guarded(|| {
            let decision = self.engine().decide(&Request {
                method: &method.0,
                target: &target.0,
                token: token.map(|token| token.get().lend()),
                allow_bonus_orbs_use,
            });
            Ok(Decision::of(py, &self.names, &decision))
        })
    }

    /// Whether a request is allowed, for callers that don't need the reason.
    #[pyo3(signature = (method, target, token=None))]
    fn allowed(&self, method: Text<'_>, target: Text<'_>, token: Option<&Bound<'_, Token>>) -> PyResult<bool> {
        guarded(|| {
            let decision = self.engine().decide(&Request {
                method: &method.0,
                target: &target.0,
                token: token.map(|token| token.get().lend()),
                allow_bonus_orbs_use: false,
            });
            Ok(decision.is_allow())
        })
    }

    /// Decides by scope, without a route, for a service whose routes the policy doesn't list.
    #[pyo3(signature = (scope, token=None, *, allow_bonus_orbs_use=false))]
    fn decide_scope(
        &self,
        py: Python<'_>,
        scope: Text<'_>,
        token: Option<&Bound<'_, Token>>,
        allow_bonus_orbs_use: bool,
    ) -> PyResult<Decision> {
        guarded(|| {
            let token = token.map(|token| token.get().lend());
            let engine = self.engine();
            let decision = engine.decide_scope(&scope.0, token, allow_bonus_orbs_use);
            Ok(Decision::of(py, &self.names, &decision))
        })
    }

    /// The methods that the path of a denial declares, in alphabetical order, for the `Allow` header of a 405.
    ///
    /// None if the reason isn't `method_not_declared`, or if another policy made the decision. Searches all routes.
    fn declared_methods(&self, py: Python<'_>, decision: &Bound<'_, Decision>) -> PyResult<Vec<&str>> {
        guarded(|| {
            let digest = self.names.digest.to_str(py)?;
            let template = decision.get().undeclared(py, digest)?;
            let mut routes = self.engine().routes();
            let route = routes.find(|route| Some(route.template()) == template);
            Ok(route.map_or_else(Vec::new, |route| route.methods().collect()))
        })
    }

    /// The SHA-256 digest of the policy's canonical form, which every decision includes.
    #[getter]
    fn digest(&self, py: Python<'_>) -> Py<PyString> {
        self.names.digest.clone_ref(py)
    }

    /// The scopes that the policy marks with `sensitive: true`, sorted. They change no decision.
    #[getter]
    fn sensitive<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.sensitive)
    }

    /// The policy's name, if it has one.
    #[getter]
    fn name(&self) -> Option<&str> {
        self.engine().name()
    }

    /// Whether the policy file ends in YAML's end marker, the line `...`.
    ///
    /// A file that is still being written, or that was cut short, can be a valid policy with fewer routes. It lacks the
    /// marker, so reject a file without the marker if you reload files that change.
    #[getter]
    const fn has_end_marker(&self) -> bool {
        self.has_end_marker
    }

    /// Whether the end marker has a seal, the digest of everything before it, as `orbgate fmt --seal` writes it.
    ///
    /// A wrong seal is an error, so a sealed policy is exactly what was sealed. It isn't cut short, and it isn't a
    /// mixture of two versions, which overwriting a file in place can leave.
    #[getter]
    const fn is_sealed(&self) -> bool {
        self.is_sealed
    }

    /// The spellings of a target that the policy accepts: "strict" or "encoded_params".
    #[getter]
    const fn target(&self) -> &'static str {
        self.engine().target().as_str()
    }

    /// The scope groups without routes.
    #[getter]
    fn headings(&self) -> Vec<&str> {
        self.engine().headings().collect()
    }

    /// The YAML that the policy was read from; None for the built-in policy.
    #[getter]
    fn _text<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.text.as_deref().map(|text| PyBytes::new(py, text))
    }

    /// The YAML that the policy was read from; for the built-in policy, the project's file.
    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.text.as_deref().unwrap_or(EXTERNAL))
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let Ok(other) = other.cast::<Self>() else {
            return Ok(py.NotImplemented());
        };
        let equal = self.engine().digest() == other.get().engine().digest();
        Ok(equal.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    const fn __hash__(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = *self.engine().digest().as_bytes();
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }
}

impl Policy {
    pub(crate) const fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn dictionaries(&self) -> &Dictionaries {
        self.dictionaries.get_or_init(|| Dictionaries::new(self.engine()))
    }
}

fn sensitive(policy: &orbgate::Policy) -> Vec<String> {
    let scopes = policy.apis().iter().flat_map(|api| api.scopes());
    let marked = scopes.filter(|scope| scope.is_sensitive()).map(|scope| scope.name().to_owned());
    let mut marked: Vec<_> = marked.collect();
    marked.sort_unstable();
    marked.dedup();
    marked
}
