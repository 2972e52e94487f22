//! Explains a decision step by step.

use orbgate::{Grant, MissingStep, Request, Scopes};
use orbgate_analysis::{self as analysis, Explanation};
use pyo3::prelude::*;

use crate::charge::Charge;
use crate::decision::Decision;
use crate::error::guarded;
use crate::policy::Policy;
use crate::text::Text;
use crate::token::Token;

// Python gets a dictionary with these names, which are the fields of `orbgate._answers`.

/// `orbgate.Explanation`.
#[derive(IntoPyObject)]
pub(crate) struct Explained {
    decision: Decision,
    missing_step: Option<&'static str>,
    orbs_if_allowed: Option<Charge>,
    in_order: Option<usize>,
    /// Number, detail and state.
    rules: Vec<(u8, &'static str, &'static str)>,
    near: Vec<NearRow>,
}

/// `orbgate.NearMiss`.
#[derive(IntoPyObject)]
pub(crate) struct NearRow {
    route: String,
    line: u32,
    column: u32,
    why: String,
    meant: Option<String>,
}

/// Explains a call.
#[pyfunction]
pub(crate) fn explain(
    policy: &Bound<'_, Policy>,
    method: Text<'_>,
    target: Text<'_>,
    token: Option<&Bound<'_, Token>>,
    declared: Option<Text<'_>>,
    requested: Option<Text<'_>>,
    allow_bonus_orbs_use: bool,
) -> PyResult<Explained> {
    guarded(|| {
        let request = Request {
            method: &method.0,
            target: &target.0,
            token: token.map(|token| token.get().lend()),
            allow_bonus_orbs_use,
        };
        let grant = grant(declared.as_ref(), requested.as_ref());
        let explained = analysis::explain(policy.get().engine(), &request, &grant);
        Ok(Explained::new(policy, &explained))
    })
}

/// Explains a decision by scope, without a route.
#[pyfunction]
pub(crate) fn explain_scope(
    policy: &Bound<'_, Policy>,
    scope: Text<'_>,
    token: Option<&Bound<'_, Token>>,
    declared: Option<Text<'_>>,
    requested: Option<Text<'_>>,
    allow_bonus_orbs_use: bool,
) -> PyResult<Explained> {
    guarded(|| {
        let (engine, token) = (policy.get().engine(), token.map(|token| token.get().lend()));
        let grant = grant(declared.as_ref(), requested.as_ref());
        let explained = analysis::explain_scope(engine, &scope.0, token, allow_bonus_orbs_use, &grant);
        Ok(Explained::new(policy, &explained))
    })
}

fn grant<'t>(declared: Option<&'t Text<'_>>, requested: Option<&'t Text<'_>>) -> Grant<'t> {
    let scopes = |text: Option<&'t Text<'_>>| text.map(|text| Scopes::from(&*text.0));
    Grant { declared: scopes(declared), requested: scopes(requested) }
}

impl Explained {
    fn new(policy: &Bound<'_, Policy>, explained: &Explanation<'_>) -> Self {
        let rule = |rule: &analysis::TargetRule| {
            let detail = rule.detail;
            (detail.rule(), detail.as_str(), rule.state.as_str())
        };
        let near = |miss: &analysis::NearMiss<'_>| NearRow {
            route: miss.route.as_str().to_owned(),
            line: miss.route.location().line,
            column: miss.route.location().column,
            why: miss.why.to_string(),
            meant: miss.meant.clone(),
        };
        Self {
            decision: Decision::of(policy.py(), &policy.get().names, &explained.decision),
            missing_step: explained.missing_step.map(MissingStep::as_str),
            orbs_if_allowed: explained.orbs_if_allowed.map(Charge::of),
            in_order: explained.in_order,
            rules: explained.rules.iter().map(rule).collect(),
            near: explained.near.iter().map(near).collect(),
        }
    }
}
