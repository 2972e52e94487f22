//! The charge of an allowed call.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

/// The orbs that an allowed call consumes: `consumes`, `amount` and `bonus_allowed`.
///
/// `amount` is 0 if the call consumes nothing, and None if the policy states no amount, so that the service that
/// charges must supply it. `bonus_allowed` is true if the call consumes orbs and its request allows bonus orbs.
#[pyclass(frozen, eq, hash, module = "orbgate", from_py_object)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Charge {
    #[pyo3(get)]
    pub(crate) consumes: bool,
    #[pyo3(get)]
    pub(crate) amount: Option<u64>,
    #[pyo3(get)]
    pub(crate) bonus_allowed: bool,
}

#[pymethods]
impl Charge {
    #[classattr]
    #[pyo3(name = "__match_args__")]
    const MATCH_ARGS: (&'static str, &'static str, &'static str) = ("consumes", "amount", "bonus_allowed");

    #[new]
    #[pyo3(signature = (consumes, amount, bonus_allowed=false))]
    const fn new(consumes: bool, amount: Option<u64>, bonus_allowed: bool) -> Self {
        Self { consumes, amount, bonus_allowed }
    }

    /// The charge in the JSON form of all other interfaces.
    #[expect(clippy::wrong_self_convention, reason = "a method of Python borrows its object")]
    pub(crate) fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("consumes", self.consumes)?;
        dict.set_item("amount", self.amount)?;
        dict.set_item("bonus_allowed", self.bonus_allowed)?;
        Ok(dict)
    }

    fn __repr__(&self) -> String {
        let word = |flag| if flag { "True" } else { "False" };
        let amount = self.amount.map_or_else(|| "None".to_owned(), |amount| amount.to_string());
        format!("Charge(consumes={}, amount={amount}, bonus_allowed={})", word(self.consumes), word(self.bonus_allowed))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (bool, Option<u64>, bool)) {
        let charge = slf.get();
        let fields = (charge.consumes, charge.amount, charge.bonus_allowed);
        (slf.get_type(), fields)
    }
}

impl Charge {
    pub(crate) const fn of(charge: orbgate::Charge) -> Self {
        Self::new(charge.consumes, charge.amount, charge.bonus_allowed)
    }
}
