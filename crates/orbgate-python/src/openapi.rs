//! Converts OpenAPI documents to policies and back, and compares them.

use orbgate::{Orbs, Policy as Parsed};
use orbgate_openapi::{self as openapi, Options};
use pyo3::prelude::*;

use crate::error::{self, guarded};
use crate::text::Text;

// Python gets a dictionary with these names, which are the fields of `orbgate.openapi`.

/// `orbgate.openapi.Imported`.
#[derive(IntoPyObject)]
pub(crate) struct ImportedAnswer {
    policy: String,
    operations: usize,
    with_scopes: usize,
    with_scopes_imported: usize,
    multi_segment: usize,
    left_out: Vec<LeftOutRow>,
    notes: Vec<LeftOutRow>,
}

/// `orbgate.openapi.LeftOut`, and `Note`.
#[derive(IntoPyObject)]
pub(crate) struct LeftOutRow {
    operation: String,
    kind: &'static str,
    message: String,
    line: u32,
    column: u32,
}

/// `orbgate.openapi.Drift`, with locations as line and column.
#[derive(IntoPyObject)]
pub(crate) struct DriftRow {
    kind: &'static str,
    operation: String,
    message: String,
    document: Option<(u32, u32)>,
    policy: Option<(u32, u32)>,
}

/// Settings that a document doesn't contain.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Open {
    schemes: Vec<String>,
    elsewhere: Vec<String>,
    base_path: Option<String>,
    default_scope: Option<String>,
    orbs: Option<GivenOrbs>,
    require_optional: bool,
    all_of_as_any: bool,
}

/// The orbs of a call, in the policy's syntax.
#[derive(FromPyObject)]
enum GivenOrbs {
    Consumes(bool),
    Amount(u64),
}

impl From<Open> for Options {
    fn from(open: Open) -> Self {
        let orbs = open.orbs.map(|orbs| match orbs {
            GivenOrbs::Consumes(true) => Orbs::Unstated,
            GivenOrbs::Consumes(false) | GivenOrbs::Amount(0) => Orbs::Free,
            GivenOrbs::Amount(amount) => Orbs::Amount(amount),
        });
        Self {
            schemes: open.schemes,
            elsewhere: open.elsewhere,
            base_path: open.base_path,
            default_scope: open.default_scope,
            orbs,
            require_optional: open.require_optional,
            all_of_as_any: open.all_of_as_any,
        }
    }
}

/// Converts a document to a policy.
#[pyfunction]
pub(crate) fn openapi_import(py: Python<'_>, document: Text<'_>, open: Open) -> PyResult<ImportedAnswer> {
    guarded(|| {
        let imported = py.detach(|| openapi::import(&document.0, &open.into()));
        let imported = imported.map_err(|diagnostics| error::diagnostics(py, &diagnostics, None))?;
        let left_out = imported.left_out.into_iter().map(|left| LeftOutRow {
            operation: left.operation,
            kind: left.kind.as_str(),
            message: left.message,
            line: left.location.line,
            column: left.location.column,
        });
        let notes = imported.notes.into_iter().map(|note| LeftOutRow {
            operation: note.operation,
            kind: note.kind.as_str(),
            message: note.message,
            line: note.location.line,
            column: note.location.column,
        });
        Ok(ImportedAnswer {
            policy: imported.policy,
            operations: imported.operations,
            with_scopes: imported.with_scopes,
            with_scopes_imported: imported.with_scopes_imported,
            multi_segment: imported.multi_segment,
            left_out: left_out.collect(),
            notes: notes.collect(),
        })
    })
}

/// Converts a policy to a document.
#[pyfunction]
pub(crate) fn openapi_export(py: Python<'_>, policy: Text<'_>, json: bool) -> PyResult<String> {
    guarded(|| {
        let document = openapi::export(&parsed(py, &policy)?);
        Ok(match json {
            true => document.to_json() + "\n",
            false => document.to_yaml(),
        })
    })
}

/// Compares a document with a policy.
#[pyfunction]
pub(crate) fn openapi_check(
    py: Python<'_>,
    document: Text<'_>,
    policy: Text<'_>,
    open: Open,
) -> PyResult<Vec<DriftRow>> {
    guarded(|| {
        let policy = parsed(py, &policy)?;
        let drift = py.detach(|| openapi::check(&document.0, &open.into(), &policy));
        let drift = drift.map_err(|diagnostics| error::diagnostics(py, &diagnostics, None))?;
        let location = |location: orbgate::Location| (location.line, location.column);
        let row = |drift: openapi::Drift| DriftRow {
            kind: drift.kind.as_str(),
            operation: drift.operation,
            message: drift.message,
            document: drift.document.map(location),
            policy: drift.policy.map(location),
        };
        Ok(drift.into_iter().map(row).collect())
    })
}

fn parsed(py: Python<'_>, text: &Text<'_>) -> PyResult<Parsed> {
    Parsed::from_bytes(&text.0).map_err(|error| error::policy(py, &error, None))
}
