//! The questions of `orbgate_analysis`, with results as plain data. `orbgate._answers` gives them their
//! types.

use std::collections::BTreeMap;

use orbgate::{Allow, Decision as Answer, Orbs, Route, Scope, TokenKind};
use orbgate_analysis::{self as analysis, Demand, Need, ScopeUsage, TableRow};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::bulk::kind_of;
use crate::column::{Layout, Requests};
use crate::decision::Decision;
use crate::error::guarded;
use crate::names::{scopes_of, tuples};
use crate::outcome::ROWS_AT_ONCE;
use crate::policy::Policy;
use crate::table::{Columns, Values, each_part};
use crate::terms;
use crate::text::Text;
use crate::token::Token;

// Python gets a dictionary with these names, which are the fields of `orbgate._answers`.

/// `orbgate.Route`.
#[derive(IntoPyObject)]
pub(crate) struct RouteRow<'e> {
    method: &'e str,
    template: &'e str,
    scope: &'e str,
    scopes: Bound<'e, PyTuple>,
    api: &'e str,
    consumes: bool,
    amount: Option<u64>,
    line: u32,
    column: u32,
}

/// `orbgate.Scope`.
#[derive(IntoPyObject)]
pub(crate) struct ScopeRow<'py> {
    scope: &'py str,
    api: &'py str,
    consumes: Option<bool>,
    amount: Option<u64>,
    organisation: Option<&'static str>,
    permits: Option<&'py str>,
    routes: Bound<'py, PyTuple>,
    line: u32,
    column: u32,
}

/// `orbgate.TableRow`.
#[derive(IntoPyObject)]
pub(crate) struct ListedRow<'e> {
    api: &'e str,
    scope: &'e str,
    scopes: Bound<'e, PyTuple>,
    permits: Option<&'e str>,
    organisation: Option<&'static str>,
    method: Option<&'e str>,
    template: Option<&'e str>,
    consumes: Option<bool>,
    amount: Option<u64>,
}

/// `orbgate.Reach`.
#[derive(IntoPyObject)]
pub(crate) struct ReachRow<'e> {
    route: Option<&'e str>,
    scope: &'e str,
    scopes: Bound<'e, PyTuple>,
    api: &'e str,
    reason: Py<PyAny>,
    consumes: Option<bool>,
    amount: Option<u64>,
}

/// `orbgate.ScopeUse`.
#[derive(IntoPyObject)]
pub(crate) struct UseRow {
    scope: String,
    granted: u64,
    used: u64,
    needed: u64,
    in_policy: bool,
}

/// A required scope, the position of its evidence, and the number of its calls.
type NeedRow<'e> = (&'e str, usize, usize);

/// The scopes, those that the token must earn, whether there is no smaller set, and what no scope allows.
type LeastRows<'e> = (Vec<NeedRow<'e>>, Vec<NeedRow<'e>>, bool, Vec<RefusalRow>);

/// The position of a denied call, its denial, and the number of such calls.
type RefusalRow = (usize, Decision, usize);

/// All scopes, in the order of the policy file.
#[pyfunction]
pub(crate) fn scopes<'a>(policy: &'a Bound<'a, Policy>) -> PyResult<Vec<ScopeRow<'a>>> {
    guarded(|| {
        let scopes = policy.get().engine().scope_table();
        scopes.map(|scope| scope_row(policy.py(), scope)).collect()
    })
}

/// All routes, or those of a scope, in the order of the policy file. None if there is no such scope.
#[pyfunction]
pub(crate) fn routes<'a>(
    policy: &'a Bound<'_, Policy>,
    scope: Option<Text<'_>>,
) -> PyResult<Option<Vec<RouteRow<'a>>>> {
    guarded(|| {
        let (py, engine) = (policy.py(), policy.get().engine());
        let Some(Text(name)) = scope else {
            let routes = analysis::table_rows(engine).filter_map(|row| row.route);
            return Ok(Some(routes.map(|route| route_row(py, route)).collect::<PyResult<_>>()?));
        };
        let scope = engine.find_scope(name);
        scope.map(|scope| scope.routes().map(|route| route_row(py, route)).collect()).transpose()
    })
}

/// The whole table, in the order of the policy file.
#[pyfunction]
pub(crate) fn table_rows<'a>(policy: &'a Bound<'_, Policy>) -> PyResult<Vec<ListedRow<'a>>> {
    guarded(|| {
        let table_rows = analysis::table_rows(policy.get().engine());
        table_rows.map(|row| listed_row(policy.py(), row)).collect()
    })
}

/// The route for a method and target, or the denial and the methods that the path declares.
#[pyfunction]
pub(crate) fn route_of<'a>(
    policy: &'a Bound<'_, Policy>,
    method: Text<'_>,
    target: Text<'_>,
) -> PyResult<(Option<RouteRow<'a>>, Option<Decision>, Vec<&'a str>)> {
    guarded(|| {
        let names = &policy.get().names;
        Ok(match analysis::route_of(policy.get().engine(), method.0, target.0) {
            Ok(route) => (Some(route_row(policy.py(), route)?), None, Vec::new()),
            Err(denial) => {
                let answer = Decision::of(policy.py(), names, &denial);
                (None, Some(answer), declared(&denial))
            }
        })
    })
}

/// Everything that a token can call.
#[pyfunction]
pub(crate) fn reach<'a>(policy: &'a Bound<'_, Policy>, token: &Bound<'_, Token>) -> PyResult<Vec<ReachRow<'a>>> {
    guarded(|| {
        let reach = analysis::reach(policy.get().engine(), token.get().lend());
        reach.map(|allow| reach_row(policy.py(), allow)).collect()
    })
}

/// The least set of scopes for calls, each a method and a target: each scope with the position of its
/// evidence and the number of its calls, the scopes that the token must earn as well, whether there is no smaller set, and
/// the calls that no scope allows.
#[pyfunction]
pub(crate) fn least_scopes<'a>(
    policy: &'a Bound<'_, Policy>,
    kind: &str,
    calls: Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)>,
) -> PyResult<LeastRows<'a>> {
    guarded(|| {
        let texts = calls.iter().map(|(method, target)| {
            let (Text(method), Text(target)) = (method.extract()?, target.extract()?);
            Ok((method, target))
        });
        let texts: Vec<_> = texts.collect::<PyResult<_>>()?;
        let kind = TokenKind::from_name(kind);
        let least = analysis::least_scopes(policy.get().engine(), kind, texts);
        let row = |need: &Need<'a>| (need.scope.name(), need.evidence, need.calls);
        let refusals = least.refusals.into_iter().map(|refusal| {
            let denial = Answer::Deny(refusal.deny);
            let denial = Decision::of(policy.py(), &policy.get().names, &denial);
            (refusal.call, denial, refusal.calls)
        });
        let [needs, earned] = [&least.needs, &least.earned].map(|needs| needs.iter().map(row).collect());
        Ok((needs, earned, least.is_smallest, refusals.collect()))
    })
}

/// How often the scopes of a log's tokens were granted and used. A call consists of method, target,
/// kind, scopes and the number of times it was made.
#[pyfunction]
pub(crate) fn scope_usage(policy: &Bound<'_, Policy>, calls: &Bound<'_, PyAny>) -> PyResult<Vec<UseRow>> {
    guarded(|| {
        let mut usage = ScopeUsage::new(policy.get().engine());
        for call in calls.try_iter()? {
            policy.py().check_signals()?;
            let (method, target, kind, scopes, times): Call<'_> = call?.extract()?;
            let (Text(method), Text(target)) = (method.extract()?, target.extract()?);
            let kind: &str = kind.extract()?;
            if let Ok(Text(scopes)) = scopes.extract() {
                usage.count(method, target, TokenKind::from_name(kind), scopes, times);
                continue;
            }
            let token = Token::new(kind, &scopes)?;
            let scopes = token.parts().1;
            usage.count(method, target, TokenKind::from_name(kind), scopes, times);
        }
        Ok(usage_rows(&usage))
    })
}

/// The scopes because of which a token with these scopes may call a route, those of them that it needs, and those of the
/// owner's alternative that it lacks. Each separated by spaces; None if there is no such route.
#[pyfunction]
pub(crate) fn scopes_on_route(
    policy: &Bound<'_, Policy>,
    route: &str,
    scopes: &[u8],
) -> PyResult<Option<(String, String, String)>> {
    guarded(|| {
        let engine = policy.get().engine();
        let (method, template) = route.split_once(' ').unwrap_or_default();
        Ok(engine.find_route(method, template).map(|route| {
            let requirement = route.requirement();
            let used = analysis::used_scopes(requirement, scopes);
            let needed: Vec<_> = used.iter().filter(|(_, is_needed)| **is_needed).map(|(scope, _)| *scope).collect();
            let owners = analysis::alternatives(&requirement, scopes).into_iter().next();
            let lacking = owners.map(|owners| owners.lacking.join(" ")).unwrap_or_default();
            (used.keys().copied().collect::<Vec<_>>().join(" "), needed.join(" "), lacking)
        }))
    })
}

/// The same for a table in which each row is a single call: for each string in the column `by`, in order, or for
/// all rows.
#[pyfunction]
pub(crate) fn scope_usage_of_table(
    policy: &Bound<'_, Policy>,
    data: &Bound<'_, PyAny>,
    columns: Columns,
    values: Values,
    by: Option<String>,
) -> PyResult<Vec<(By, Vec<UseRow>)>> {
    guarded(|| {
        let engine = policy.get().engine();
        let mut usages: BTreeMap<Option<Vec<u8>>, ScopeUsage<'_>> = BTreeMap::new();
        if by.is_none() {
            usages.insert(None, ScopeUsage::new(engine));
        }
        let layout = Layout { by, ..Layout::new(columns, values) };
        each_row(data, &layout, |call| {
            let usage = entry(&mut usages, call.by, || ScopeUsage::new(engine));
            // A call without a token has no scopes.
            if let Some(kind) = call.kind {
                usage.count(call.method, call.target, kind, call.scopes, 1);
            }
        })?;
        let rows = usages.iter();
        Ok(rows.map(|(by, usage)| (text(by.as_deref()), usage_rows(usage))).collect())
    })
}

/// The least set of scopes for the calls in a table, for each string in the column `by` or for all rows: the required
/// scopes, each with its evidence and the number of its calls, and the denied calls.
#[pyfunction]
pub(crate) fn least_scopes_of_table<'a>(
    policy: &'a Bound<'_, Policy>,
    data: &Bound<'_, PyAny>,
    columns: Columns,
    values: Values,
    by: Option<String>,
) -> PyResult<Vec<LeastRow<'a>>> {
    guarded(|| {
        let engine = policy.get().engine();
        let mut all: BTreeMap<Option<Vec<u8>>, Least<'_>> = BTreeMap::new();
        if by.is_none() {
            all.insert(None, Least::default());
        }
        let layout = Layout { by, ..Layout::new(columns, values) };
        each_row(data, &layout, |call| {
            let (demand, calls) = entry(&mut all, call.by, Least::default);
            // Only calls that can be evidence are kept.
            if demand.add(engine, call.kind, calls.len(), call.method, call.target) {
                calls.push((call.method.to_vec(), call.target.to_vec()));
            }
        })?;
        let names = &policy.get().names;
        let rows = all.into_iter().map(|(by, (demand, calls))| {
            let least = demand.least();
            let shown = |at: usize| {
                let call = calls.get(at).map(|(method, target)| (Some(&**method), Some(&**target)));
                let (method, target) = call.unwrap_or_default();
                (lossy(method), lossy(target))
            };
            let row = |need: &Need<'a>| {
                let (method, target) = shown(need.evidence);
                (need.scope.name(), method, target, need.calls)
            };
            let [needs, earned] = [&least.needs, &least.earned].map(|needs| needs.iter().map(row).collect());
            let refusals = least.refusals.iter().map(|refusal| {
                let (method, target) = shown(refusal.call);
                let denial = Decision::of(policy.py(), names, &Answer::Deny(refusal.deny));
                (method, target, denial, refusal.calls)
            });
            (text(by.as_deref()), needs, earned, least.is_smallest, refusals.collect())
        });
        Ok(rows.collect())
    })
}

/// The string by which a row is grouped; None if it has none, or if rows aren't grouped.
type By = Option<String>;

/// What some rows need, and the calls that can be evidence.
type Least<'e> = (Demand<'e>, Vec<(Vec<u8>, Vec<u8>)>);

/// The string that the rows share; each scope with its evidence's method and target and the number of its calls; whether
/// there is no smaller set; and the groups of calls with the same denial, each with its first call and its size.
type LeastRow<'e> = (By, NeedsOfRow<'e>, NeedsOfRow<'e>, bool, Vec<(String, String, Decision, usize)>);

type NeedsOfRow<'e> = Vec<(&'e str, String, String, usize)>;

/// A row of a table.
struct Row<'r> {
    by: Option<&'r [u8]>,
    method: &'r [u8],
    target: &'r [u8],
    kind: Option<TokenKind>,
    scopes: &'r [u8],
}

/// Reads the rows of a table one by one, without the interpreter's lock.
fn each_row(data: &Bound<'_, PyAny>, layout: &Layout, mut take: impl FnMut(Row<'_>) + Send) -> PyResult<()> {
    let py = data.py();
    each_part(data, layout, |requests| {
        let mut rows = 0..requests.rows;
        while !rows.is_empty() {
            let some = rows.by_ref().take(ROWS_AT_ONCE);
            py.detach(|| some.for_each(|row| take(Row::new(requests, row))));
            py.check_signals()?;
        }
        Ok(())
    })
}

impl<'r> Row<'r> {
    fn new(requests: &'r Requests, row: usize) -> Self {
        Self {
            by: requests.by.as_ref().and_then(|by| by.get(row)),
            method: requests.method.get(row).unwrap_or_default(),
            target: requests.target.get(row).unwrap_or_default(),
            kind: requests.kind.get(row).map(kind_of),
            scopes: requests.scopes.get(row).unwrap_or_default(),
        }
    }
}

/// The counts for a string so far.
fn entry<'m, T>(all: &'m mut BTreeMap<Option<Vec<u8>>, T>, by: Option<&[u8]>, new: impl FnOnce() -> T) -> &'m mut T {
    all.entry(by.map(<[u8]>::to_vec)).or_insert_with(new)
}

fn text(by: Option<&[u8]>) -> By {
    by.map(|by| lossy(Some(by)))
}

fn lossy(text: Option<&[u8]>) -> String {
    String::from_utf8_lossy(text.unwrap_or_default()).into_owned()
}

/// A call in a log, still as Python objects.
type Call<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, u64);

/// The tokens that may make a call: their positions, each with its decision.
#[pyfunction]
pub(crate) fn who_may(
    policy: &Bound<'_, Policy>,
    method: Text<'_>,
    target: Text<'_>,
    tokens: Vec<Bound<'_, Token>>,
) -> PyResult<Vec<(usize, Decision)>> {
    guarded(|| {
        let tokens = tokens.iter().map(|token| token.get().lend());
        let allowed = analysis::who_may(policy.get().engine(), method.0, target.0, tokens);
        let rows = allowed.into_iter().map(|(at, allow)| {
            let answer = Answer::Allow(allow);
            (at, Decision::of(policy.py(), &policy.get().names, &answer))
        });
        Ok(rows.collect())
    })
}

/// `orbgate.ScopeUse` of every scope.
fn usage_rows(usage: &ScopeUsage<'_>) -> Vec<UseRow> {
    let rows = usage.scopes().into_iter().map(|scope| UseRow {
        scope: String::from_utf8_lossy(&scope.scope).into_owned(),
        granted: scope.granted,
        used: scope.used,
        needed: scope.needed,
        in_policy: scope.in_policy,
    });
    rows.collect()
}

/// The methods that the path of a denial declares.
fn declared<'e>(denial: &Answer<'e>) -> Vec<&'e str> {
    denial.route().map_or_else(Vec::new, |route| route.methods().collect())
}

/// The alternatives of a route, or the one scope that is asked for.
fn needed<'e>(py: Python<'e>, route: Option<Route<'e>>, scope: &str) -> PyResult<Bound<'e, PyTuple>> {
    let scopes = route.map_or_else(|| vec![vec![scope.to_owned()]], |route| scopes_of(route.requirement()));
    tuples(py, &scopes)
}

fn reach_row<'e>(py: Python<'e>, allow: Allow<'e>) -> PyResult<ReachRow<'e>> {
    let (scope, charge) = (allow.scope().map_or("", |scope| scope.name()), allow.charge());
    Ok(ReachRow {
        route: allow.route().map(|route| route.as_str()),
        scope,
        scopes: needed(py, allow.route(), scope)?,
        api: Answer::Allow(allow).api().unwrap_or_default(),
        reason: terms::reason_member(py, allow.reason())?,
        consumes: charge.map(|charge| charge.consumes),
        amount: charge.and_then(|charge| charge.amount),
    })
}

fn route_row<'e>(py: Python<'e>, route: Route<'e>) -> PyResult<RouteRow<'e>> {
    let (scope, location) = (route.scope(), route.location());
    let (consumes, amount) = orbs(route.orbs());
    Ok(RouteRow {
        method: route.method(),
        template: route.template(),
        scope: scope.name(),
        scopes: needed(py, Some(route), scope.name())?,
        api: route.api(),
        consumes,
        amount,
        line: location.line,
        column: location.column,
    })
}

fn listed_row<'e>(py: Python<'e>, TableRow { scope, api, route }: TableRow<'e>) -> PyResult<ListedRow<'e>> {
    let own = route.map(|route| route.orbs());
    let orbs = own.or_else(|| scope.orbs()).map(orbs);
    Ok(ListedRow {
        api,
        scope: scope.name(),
        scopes: needed(py, route, scope.name())?,
        permits: scope.permits(),
        organisation: scope.organisation().map(|rule| rule.as_str()),
        method: route.map(|route| route.method()),
        template: route.map(|route| route.template()),
        consumes: orbs.map(|(consumes, _)| consumes),
        amount: orbs.and_then(|(_, amount)| amount),
    })
}

fn scope_row<'py>(py: Python<'py>, scope: Scope<'py>) -> PyResult<ScopeRow<'py>> {
    let (orbs, location) = (scope.orbs().map(orbs), scope.location());
    let routes: Vec<_> = scope.routes().map(|route| route.as_str()).collect();
    Ok(ScopeRow {
        scope: scope.name(),
        api: scope.api(),
        consumes: orbs.map(|(consumes, _)| consumes),
        amount: orbs.and_then(|(_, amount)| amount),
        organisation: scope.organisation().map(|rule| rule.as_str()),
        permits: scope.permits(),
        routes: PyTuple::new(py, routes)?,
        line: location.line,
        column: location.column,
    })
}

/// Orbs in the form of a charge: whether orbs are consumed, and how many.
const fn orbs(orbs: Orbs) -> (bool, Option<u64>) {
    match orbs {
        Orbs::Free => (false, Some(0)),
        Orbs::Unstated => (true, None),
        Orbs::Amount(amount) => (true, Some(amount)),
    }
}
