//! The package's exceptions, which are Python classes, and the guard that turns panics into
//! exceptions.

use core::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

use orbgate::policy::Diagnostic;
use orbgate::{Location, PolicyError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// Where the exceptions are defined.
const MODULE: &str = "orbgate._errors";

/// Runs a call from Python. A panic would reach Python as a `BaseException`, which
/// `except Exception` doesn't catch, so it becomes `orbgate.InternalError`.
pub(crate) fn guarded<T>(run: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    // Work that a panic leaves unfinished is dropped; nothing mutable outlives a call.
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Err(Python::attach(|py| internal(py, text.unwrap_or("without a message"))))
    })
}

/// `ValueError` with the words of an error.
pub(crate) fn value(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// `orbgate.PolicyError` with every error in order.
pub(crate) fn policy(py: Python<'_>, error: &PolicyError, file: Option<&str>) -> PyErr {
    diagnostics(py, error.diagnostics(), file)
}

/// `orbgate.PolicyError` with these errors.
pub(crate) fn diagnostics(py: Python<'_>, diagnostics: &[Diagnostic], file: Option<&str>) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let diagnostics: Vec<_> = diagnostics
        .iter()
        .map(|diagnostic| {
            let location = diagnostic.location;
            (location.line, location.column, diagnostic.message.as_str())
        })
        .collect();
    raise(py, &CLASS, "PolicyError", (diagnostics, file))
}

/// `orbgate.PolicyError` for a whole file.
pub(crate) fn load(py: Python<'_>, message: &str, file: &str) -> PyErr {
    let location = Location { line: 1, column: 1 };
    diagnostics(py, &[Diagnostic { location, message: message.to_owned() }], Some(file))
}

/// `orbgate.ConfigError` with every error in order.
pub(crate) fn config(py: Python<'_>, error: &orbgate_token::ConfigError, file: Option<&str>) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let diagnostics = error.diagnostics().iter();
    let diagnostics: Vec<_> = diagnostics
        .map(|diagnostic| {
            let location = diagnostic.location.map_or((1, 1), |location| (location.line, location.column));
            (location.0, location.1, diagnostic.message.as_str())
        })
        .collect();
    raise(py, &CLASS, "ConfigError", (diagnostics, file))
}

/// `orbgate.TableError`.
pub(crate) fn table(py: Python<'_>, message: &str) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    raise(py, &CLASS, "TableError", (message,))
}

fn internal(py: Python<'_>, message: &str) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    raise(py, &CLASS, "InternalError", (message,))
}

/// An exception of a class in [`MODULE`]. If raising it fails, the exception that explains why.
fn raise<'py, A>(py: Python<'py>, class: &'static PyOnceLock<Py<PyType>>, name: &str, arguments: A) -> PyErr
where
    A: pyo3::call::PyCallArgs<'py>,
{
    let exception = class.import(py, MODULE, name).and_then(|class| class.call1(arguments));
    exception.map_or_else(|error| error, PyErr::from_value)
}

/// Panics, so that a test can check the resulting exception.
#[pyfunction]
pub(crate) fn break_down(message: String) -> PyResult<()> {
    guarded(|| std::panic::resume_unwind(Box::new(message)))
}
