//! Proves properties of all requests. `orbgate._answers` gives the results their types.

use std::borrow::Cow;

use orbgate::TokenKind;
use orbgate_analysis::{Asked, Callers, Calls, Claim, Proof, Property, Rule, Suite, Witness};
use pyo3::prelude::*;

use crate::error::{self, guarded};
use crate::policy::Policy;
use crate::text::Text;

// Python gets a dictionary with these names, which are the fields of `orbgate._answers`.

/// `orbgate.Allowed`.
#[derive(IntoPyObject)]
pub(crate) struct AllowedRow {
    method: Option<String>,
    target: Option<String>,
    scope: Option<String>,
    rule: String,
    line: u32,
    column: u32,
}

/// `orbgate.Witness`.
#[derive(IntoPyObject)]
pub(crate) struct WitnessRow {
    kind: &'static str,
    scopes: String,
    requests: Vec<AllowedRow>,
    text: String,
}

/// `orbgate.PropertyResult`.
#[derive(IntoPyObject)]
pub(crate) struct PropertyRow {
    text: String,
    rules: Option<usize>,
    witnesses: Vec<WitnessRow>,
    error: Option<String>,
    warning: Option<String>,
    line: u32,
    column: u32,
}

/// The requests that violate a property, why it doesn't apply, and why it holds trivially.
#[pyfunction]
pub(crate) fn prove(
    policy: &Bound<'_, Policy>,
    claim: &str,
    most: u64,
    kind: Option<&str>,
    scopes: Option<&str>,
    calls: Vec<String>,
) -> PyResult<(Vec<WitnessRow>, Option<String>, Option<String>)> {
    let engine = policy.get().engine();
    guarded(|| {
        let proved = policy.py().detach(|| {
            let calls = calls.iter().map(|calls| calls.parse::<Calls>());
            let calls: Vec<_> = calls.collect::<Result<_, _>>()?;
            let claim = match (claim, <[Calls; 2]>::try_from(calls)) {
                ("apart", Ok(both)) => Claim::Apart(both),
                (_, calls) => {
                    let calls = calls.map_or_else(|calls| calls, Vec::from);
                    match claim {
                        "never" => Claim::Never(calls),
                        "only" => Claim::Only(calls),
                        _ => Claim::OrbsAtMost(most, calls),
                    }
                }
            };
            let callers = Callers::new(kind.map(TokenKind::from_name), scopes)?;
            let proof = Property::new(claim, callers).prove(engine)?;
            Ok((witnesses(&proof), proof.warning.map(Cow::into_owned)))
        });
        Ok(match proved {
            Ok((witnesses, warning)) => (witnesses, None, warning),
            Err(message) => (Vec::new(), Some(message), None),
        })
    })
}

/// Proves or refutes the properties in a test file.
#[pyfunction]
pub(crate) fn properties(policy: &Bound<'_, Policy>, cases: Text<'_>) -> PyResult<Vec<PropertyRow>> {
    let py = policy.py();
    guarded(|| {
        let suite = Suite::from_bytes(&cases.0);
        let suite = suite.map_err(|diagnostics| error::diagnostics(py, &diagnostics, None))?;
        let proved = suite.prove(policy.get().engine());
        let rows = proved.iter().map(|proved| {
            let proof = proved.proof.as_ref();
            PropertyRow {
                text: proved.stated.text.clone(),
                rules: proof.ok().map(|proof| proof.rules),
                witnesses: proof.map_or_else(|_| Vec::new(), witnesses),
                error: proof.err().cloned(),
                warning: proved.warning().map(str::to_owned),
                line: proved.stated.location.line,
                column: proved.stated.location.column,
            }
        });
        Ok(rows.collect())
    })
}

fn witnesses(proof: &Proof<'_>) -> Vec<WitnessRow> {
    let row = |witness: &Witness<'_>| WitnessRow {
        kind: witness.caller.kind.as_str(),
        scopes: witness.caller.scopes.clone(),
        requests: witness.requests.iter().map(allowed).collect(),
        text: witness.to_string(),
    };
    proof.witnesses.iter().map(row).collect()
}

fn allowed((question, rule): &(Asked, Rule<'_>)) -> AllowedRow {
    let (method, target, scope) = match question.clone() {
        Asked::Call { method, target } => (Some(method), Some(target), None),
        Asked::Scope(scope) => (None, None, Some(scope)),
    };
    AllowedRow {
        method,
        target,
        scope,
        rule: rule.to_string(),
        line: rule.location().line,
        column: rule.location().column,
    }
}
