//! Checks a policy before you activate it: its changes, its likely mistakes, and its test cases.

use orbgate::{Engine, Policy as Text, TokenKind};
use orbgate_analysis::{self as analysis, Asked, Caller, Change, Coverage, Suite, Verdict};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::decision::Decision;
use crate::error::{self, guarded};
use crate::policy::Policy;
use crate::text::Text as Bytes;

// Python gets a dictionary with these names, which are the fields of `orbgate._answers`.

/// A token, as kind and scopes.
type Holder = Option<(&'static str, String)>;

/// `orbgate.Change`.
#[derive(IntoPyObject)]
pub(crate) struct ChangeRow {
    method: Option<String>,
    target: Option<String>,
    scope: Option<String>,
    labels: Vec<&'static str>,
    before: Option<String>,
    after: Option<String>,
    wider: Holder,
    narrower: Holder,
    payer: Holder,
}

/// `orbgate.Diff`.
#[derive(IntoPyObject)]
pub(crate) struct DiffAnswer {
    verdict: Option<&'static str>,
    widens: bool,
    complete: bool,
    changes: Vec<ChangeRow>,
    left_out: usize,
}

/// `orbgate.Finding`.
#[derive(IntoPyObject)]
pub(crate) struct FindingRow {
    code: &'static str,
    level: &'static str,
    message: String,
    line: u32,
    column: u32,
    suppressed: Option<String>,
}

/// `orbgate.CaseResult`.
#[derive(IntoPyObject)]
pub(crate) struct CaseRow {
    name: String,
    decision: Option<Decision>,
    differences: Vec<String>,
    line: u32,
    column: u32,
}

/// An outcome's name, and how often it was decided.
type NameAndTimes = (String, u64);

/// `orbgate.CoveredRow`, with its outcomes as pairs.
#[derive(IntoPyObject)]
pub(crate) struct CoveredRow {
    name: String,
    line: u32,
    column: u32,
    outcomes: Vec<NameAndTimes>,
}

/// Answers a question in JSON.
#[pyfunction]
pub(crate) fn ask(py: Python<'_>, policy: &Bound<'_, Policy>, question: &str, arguments: &str) -> PyResult<String> {
    let engine = policy.get().engine();
    guarded(|| {
        let answer = py.detach(|| analysis::ask(engine, question, arguments));
        answer.map_err(|error| match error {
            analysis::AskError::Policy(error) => error::policy(py, &error, None),
            other => PyValueError::new_err(other.to_string()),
        })
    })
}

/// The changes from one policy to another.
#[pyfunction]
pub(crate) fn diff(py: Python<'_>, old: &Bound<'_, Policy>, new: &Bound<'_, Policy>) -> PyResult<DiffAnswer> {
    let (old, new) = (old.get().engine(), new.get().engine());
    guarded(|| Ok(py.detach(|| compared(old, new))))
}

fn compared(old: &Engine, new: &Engine) -> DiffAnswer {
    let diff = analysis::diff(old, new);
    DiffAnswer {
        verdict: diff.verdict().map(Verdict::as_str),
        widens: diff.widens(),
        complete: diff.complete,
        changes: diff.changes.iter().map(change).collect(),
        left_out: diff.left_out,
    }
}

fn change(change: &Change<'_, '_>) -> ChangeRow {
    let (method, target, scope) = match &change.asked {
        Asked::Call { method, target } => (Some(method.clone()), Some(target.clone()), None),
        Asked::Scope(scope) => (None, None, Some(scope.clone())),
    };
    let holder = |caller: &Caller| (TokenKind::as_str(caller.kind), caller.scopes.clone());
    ChangeRow {
        method,
        target,
        scope,
        labels: change.labels().collect(),
        before: change.before.map(|rule| rule.to_string()),
        after: change.after.map(|rule| rule.to_string()),
        wider: change.wider.as_ref().map(holder),
        narrower: change.narrower.as_ref().map(holder),
        payer: change.payer.as_ref().map(holder),
    }
}

/// The likely mistakes in a policy, and whether the list is complete.
#[pyfunction]
pub(crate) fn lint(py: Python<'_>, text: Bytes<'_>) -> PyResult<(Vec<FindingRow>, bool)> {
    guarded(|| {
        let policy = Text::from_bytes(&text.0).map_err(|error| error::policy(py, &error, None))?;
        // The policy was parsed from it, so it is valid UTF-8.
        let text = String::from_utf8_lossy(&text.0);
        let findings = py.detach(|| analysis::lint(&policy, &text));
        let row = |finding: analysis::Finding| FindingRow {
            code: finding.code.as_str(),
            level: finding.level.as_str(),
            message: finding.message,
            line: finding.location.line,
            column: finding.location.column,
            suppressed: finding.suppressed,
        };
        let complete = findings.complete && findings.cut.is_empty();
        Ok((findings.list.into_iter().map(row).collect(), complete))
    })
}

/// A formatted policy.
#[pyfunction]
pub(crate) fn lay_out(py: Python<'_>, text: Bytes<'_>) -> PyResult<String> {
    guarded(|| {
        Text::from_bytes(&text.0).map_err(|error| error::policy(py, &error, None))?;
        let text = String::from_utf8_lossy(&text.0);
        analysis::format(&text).map_err(|diagnostics| error::diagnostics(py, &diagnostics, None))
    })
}

/// Runs the cases and properties of a test file with a policy.
#[pyfunction]
pub(crate) fn test(policy: &Bound<'_, Policy>, cases: Bytes<'_>) -> PyResult<Vec<CaseRow>> {
    let py = policy.py();
    guarded(|| {
        let suite = Suite::from_bytes(&cases.0).map_err(|diagnostics| error::diagnostics(py, &diagnostics, None))?;
        let (engine, names) = (policy.get().engine(), &policy.get().names);
        let mut coverage = Coverage::new(engine);
        let tried = suite.run(engine, &mut coverage);
        let row = |tried: &analysis::Tried<'_, '_>| CaseRow {
            name: tried.case.name.clone(),
            decision: Some(Decision::of(py, names, &tried.decision)),
            differences: tried
                .differences
                .iter()
                .map(|it| format!("{}: expected {}, found {}", it.field, it.expected, it.found))
                .collect(),
            line: tried.case.location.line,
            column: tried.case.location.column,
        };
        let proved = suite.prove(engine);
        let properties = proved.iter().map(|proved| CaseRow {
            name: proved.stated.text.clone(),
            decision: None,
            differences: proved.why_not(),
            line: proved.stated.location.line,
            column: proved.stated.location.column,
        });
        Ok(tried.iter().map(row).chain(properties).collect())
    })
}

/// The coverage by these test files' cases: the policy's rows, and the outcomes of the policy as a whole.
#[pyfunction]
pub(crate) fn coverage(
    policy: &Bound<'_, Policy>,
    cases: Vec<Bound<'_, PyAny>>,
) -> PyResult<(Vec<CoveredRow>, Vec<NameAndTimes>)> {
    guarded(|| {
        let mut coverage = Coverage::new(policy.get().engine());
        for cases in &cases {
            let Bytes(cases) = cases.extract()?;
            let suite = Suite::from_bytes(&cases);
            let suite = suite.map_err(|diagnostics| error::diagnostics(policy.py(), &diagnostics, None))?;
            suite.run(policy.get().engine(), &mut coverage);
        }
        let pair = |outcome: &analysis::Outcome| (outcome.to_string(), outcome.times);
        let row = |row: analysis::CoveredRow<'_>| CoveredRow {
            name: row.name().to_owned(),
            line: row.location().line,
            column: row.location().column,
            outcomes: row.outcomes.iter().map(pair).collect(),
        };
        let rows = coverage.rows().map(row).collect();
        Ok((rows, coverage.of_the_policy().map(|it| pair(&it)).collect()))
    })
}
