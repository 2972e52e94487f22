//! The results of questions as JSON: `orbgate QUESTION --json` prints the same.

use std::collections::HashMap;

use orbgate::policy::Diagnostic;
use orbgate::sorted::sort_by_key;
use orbgate::{Allow, Decision, Detail, Digest, Engine, Location, Orbs, Policy, Reason, Requirement, TokenKind};
use serde::Serialize;

use crate::{Change, Cost, Demand, Diff, Finding, Level, Levels, Need, Refusal, ScopeUsage, ScopeUse, lint};

/// The maximum length of a call in a result, in characters.
pub const MOST_SHOWN: usize = 300;

/// The least set of scopes for some calls: add each call, then take [`Needs::answer`].
#[derive(Debug)]
pub struct Needs<'e> {
    engine: &'e Engine,
    kind: TokenKind,
    calls: u64,
    demand: Demand<'e>,
    /// The calls that can be evidence.
    firsts: Vec<First>,
}

/// The least set of scopes for some calls.
#[derive(Debug, Serialize)]
pub struct NeedsAnswer<'e> {
    policy: Digest,
    kind: &'static str,
    /// The number of calls that were added.
    pub calls: u64,
    /// The scopes, in the order of the calls that first need them.
    pub scopes: Vec<&'e str>,
    /// Whether no smaller set is enough.
    pub is_smallest: bool,
    /// The same scopes, each with the calls that need it.
    pub needs: Vec<Needed<'e>>,
    /// The scopes that the token must earn as well, each with its calls. No client requests them.
    pub earned: Vec<Needed<'e>>,
    /// The calls that no scope allows.
    pub refusals: Vec<Refused<'e>>,
}

/// A scope that calls need.
#[derive(Debug, Serialize)]
pub struct Needed<'e> {
    /// Its name.
    pub scope: &'e str,
    /// The number of calls that need it.
    pub calls: u64,
    /// The first of these calls.
    pub first: First,
}

/// Calls that no scope allows, for the same reason.
#[derive(Debug, Serialize)]
pub struct Refused<'e> {
    /// The reason of their denial.
    pub reason: Reason,
    /// The detail of the reason, if it has one.
    pub detail: Option<Detail>,
    /// The route that decides the calls, if there is one.
    pub route: Option<&'e str>,
    /// The number of calls.
    pub calls: u64,
    /// The first of these calls.
    pub first: First,
}

/// One of many calls.
#[derive(Clone, Debug, Default, Serialize)]
pub struct First {
    /// Its position, from 1: a line, or an argument.
    pub at: u64,
    /// The call, shortened if it is long.
    pub call: String,
}

impl<'e> Needs<'e> {
    /// An empty set, for tokens of this kind.
    #[must_use]
    pub fn new(engine: &'e Engine, kind: TokenKind) -> Self {
        Self { engine, kind, calls: 0, demand: Demand::default(), firsts: Vec::new() }
    }

    /// Adds a call and its position. `shown` is the call for users, shortened if it is long.
    pub fn add(&mut self, at: u64, method: impl AsRef<[u8]>, target: impl AsRef<[u8]>, shown: impl Fn() -> String) {
        let is_first = self.demand.add(self.engine, self.kind, self.firsts.len(), method, target);
        self.count(at, is_first, shown);
    }

    /// The same for a decision by scope.
    pub fn add_scope(&mut self, at: u64, scope: impl AsRef<[u8]>, shown: impl Fn() -> String) {
        let is_first = self.demand.add_scope(self.engine, self.kind, self.firsts.len(), scope);
        self.count(at, is_first, shown);
    }

    fn count(&mut self, at: u64, is_first: bool, shown: impl Fn() -> String) {
        self.calls = self.calls.saturating_add(1);
        if is_first {
            self.firsts.push(First { at, call: shown() });
        }
    }

    /// The least set of scopes for the calls so far.
    #[must_use]
    pub fn answer(&self) -> NeedsAnswer<'e> {
        let least = self.demand.least();
        let first = |at: usize| self.firsts.get(at).cloned().unwrap_or_default();
        let number = |calls: usize| u64::try_from(calls).unwrap_or(u64::MAX);
        let need = |need: &Need<'e>| Needed {
            scope: need.scope.name(),
            calls: number(need.calls),
            first: first(need.evidence),
        };
        let (mut refusals, mut positions) = (Vec::new(), HashMap::new());
        for Refusal { call, deny, calls } in least.refusals {
            let (reason, detail, route) = (deny.reason(), deny.detail(), Decision::Deny(deny).route_name());
            // Denials without a route can be about different ones.
            let position = *positions.entry((reason, detail, route)).or_insert_with(|| {
                refusals.push(Refused { reason, detail, route, calls: 0, first: first(call) });
                refusals.len().saturating_sub(1)
            });
            if let Some(refused) = refusals.get_mut(position) {
                refused.calls = refused.calls.saturating_add(number(calls));
            }
        }
        NeedsAnswer {
            policy: self.engine.digest(),
            kind: self.kind.as_str(),
            calls: self.calls,
            scopes: least.needs.iter().map(|need| need.scope.name()).collect(),
            is_smallest: least.is_smallest,
            needs: least.needs.iter().map(need).collect(),
            earned: least.earned.iter().map(need).collect(),
            refusals,
        }
    }
}

/// Everything that a token can call.
#[derive(Debug, Serialize)]
pub struct Reach<'a> {
    pub(super) policy: Digest,
    pub(super) token: ReachToken<'a>,
    /// Routes, and scopes without routes, in the order of the policy file.
    pub allowed: Vec<Reached<'a>>,
}

#[derive(Debug, Serialize)]
pub(super) struct ReachToken<'a> {
    pub(super) kind: &'static str,
    pub(super) scopes: &'a str,
}

/// A call that a token can make.
#[derive(Debug, Serialize)]
pub struct Reached<'e> {
    /// `None` for a decision by scope without a route.
    pub route: Option<&'e str>,
    /// The scope that owns the route: the one that allows it, unless there are `scopes`.
    pub scope: &'e str,
    /// The alternatives of the route; absent if it needs just the scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Requirement<'e>>,
    /// The orbs that a call consumes.
    pub orbs: Option<Orbs>,
    /// The reason why it is allowed.
    pub reason: Reason,
    /// The rule in the policy file.
    pub location: Location,
}

impl<'a> Reach<'a> {
    /// The reach of a token of this kind with these scopes, separated by spaces.
    #[must_use]
    pub fn new(engine: &'a Engine, kind: TokenKind, scopes: &'a str, carried: &'a [u8]) -> Self {
        let token = orbgate::Token { kind, scopes: carried.into() };
        let allowed = crate::reach(engine, token);
        Self {
            policy: engine.digest(),
            token: ReachToken { kind: kind.as_str(), scopes },
            allowed: allowed.filter_map(|allow| Reached::new(&allow)).collect(),
        }
    }
}

impl<'e> Reached<'e> {
    /// `None` for a call that needs no scope, which no engine allows.
    fn new(allow: &Allow<'e>) -> Option<Self> {
        let (route, scope) = (allow.route(), allow.scope()?);
        Some(Self {
            route: route.map(|route| route.as_str()),
            scope: scope.name(),
            scopes: Decision::Allow(*allow).requirement(),
            orbs: route.map_or_else(|| scope.orbs(), |route| Some(route.orbs())),
            reason: allow.reason(),
            location: route.map_or_else(|| scope.location(), |route| route.location()),
        })
    }
}

/// The tokens that may make a call.
#[derive(Debug, Serialize)]
pub struct Who<'a> {
    /// The policy that made the decisions.
    pub policy: Digest,
    /// The call's method.
    pub method: &'a str,
    /// The call's target.
    pub target: &'a str,
    /// Each token with its decision, in the order of the input.
    pub tokens: Vec<Asker<'a>>,
}

/// A token, and its decision.
#[derive(Debug, Serialize)]
pub struct Asker<'e> {
    /// The name from the input, or `line N` if there isn't one.
    pub name: String,
    /// Its position, from 1.
    pub line: u64,
    /// The decision.
    pub decision: Decision<'e>,
}

/// Which scopes of the tokens were used: [`Unused::count`] each call, then [`Unused::answer`].
#[derive(Debug)]
pub struct Unused<'e> {
    policy: Digest,
    usage: ScopeUsage<'e>,
    last: HashMap<&'e str, LastUse>,
    /// The number of calls that were counted.
    pub calls: u64,
    /// The number of these calls that had no token of a known kind.
    pub without_token: u64,
}

/// The latest use of a scope: by time, or by position if no use has a time that can be read.
#[derive(Clone, Debug, Serialize)]
pub struct LastUse {
    /// Its position, from 1.
    pub line: u64,
    /// The time, as the log writes it.
    pub time: Option<String>,
    #[serde(skip)]
    instant: Option<i64>,
}

/// A scope that some tokens had.
#[derive(Debug, Serialize)]
pub struct Carried {
    /// Its name.
    pub scope: String,
    /// The number of calls whose token had it.
    pub granted: u64,
    /// The number of these calls that it allowed, by itself or with others.
    pub used: u64,
    /// The number of these calls that would have been denied without it.
    pub needed: u64,
    /// Whether the policy defines it.
    pub in_policy: bool,
    /// The last call that it allowed.
    pub last: Option<LastUse>,
}

/// The scopes of the tokens. Those that were never used come first.
#[derive(Debug, Serialize)]
pub struct UnusedAnswer {
    policy: Digest,
    calls: u64,
    without_token: u64,
    /// The names of those that were never used.
    pub unused: Vec<String>,
    /// All of them.
    pub scopes: Vec<Carried>,
}

impl<'e> Unused<'e> {
    /// A counter that starts at zero.
    #[must_use]
    pub fn new(engine: &'e Engine) -> Self {
        Self {
            policy: engine.digest(),
            usage: ScopeUsage::new(engine),
            last: HashMap::new(),
            calls: 0,
            without_token: 0,
        }
    }

    /// Counts a call: its position, its decision together with its token's scopes (separated by spaces), and its time.
    /// Pass no decision if the token's kind isn't known.
    pub fn count(&mut self, line: u64, decided: Option<(Decision<'e>, &[u8])>, time: Option<&[u8]>) {
        self.calls = self.calls.saturating_add(1);
        let Some((decision, scopes)) = decided else {
            self.without_token = self.without_token.saturating_add(1);
            return;
        };
        self.usage.count_decision(&decision, scopes, 1);
        let instant = time.and_then(orbgate_log::instant);
        for scope in crate::usage::used(&decision, scopes).into_keys() {
            // Files of a rotated log can come newest first.
            if self.last.get(scope).is_none_or(|last| last.instant <= instant) {
                let time = time.map(|time| String::from_utf8_lossy(time).into_owned());
                self.last.insert(scope, LastUse { line, time, instant });
            }
        }
    }

    /// The scopes that the tokens had.
    #[must_use]
    pub fn answer(&self) -> UnusedAnswer {
        let row = |scope: ScopeUse| {
            let name = String::from_utf8_lossy(&scope.scope).into_owned();
            Carried {
                granted: scope.granted,
                used: scope.used,
                needed: scope.needed,
                in_policy: scope.in_policy,
                last: self.last.get(name.as_str()).cloned(),
                scope: name,
            }
        };
        let mut scopes: Vec<_> = self.usage.scopes().into_iter().map(row).collect();
        sort_by_key(&mut scopes, |row| row.used > 0);
        let unused = scopes.iter().filter(|row| row.used == 0);
        UnusedAnswer {
            policy: self.policy,
            calls: self.calls,
            without_token: self.without_token,
            unused: unused.map(|row| row.scope.clone()).collect(),
            scopes,
        }
    }
}

/// Two policies and their differences.
#[derive(Debug, Serialize)]
pub struct Compared<'o, 'n> {
    /// The active policy.
    pub old: Digest,
    /// The policy that replaces it.
    pub new: Digest,
    /// The changes. Those that widen access come first.
    #[serde(flatten)]
    pub diff: Diff<'o, 'n>,
}

impl<'o, 'n> Compared<'o, 'n> {
    /// Compares two policies.
    #[must_use]
    pub fn new(old: &'o Engine, new: &'n Engine) -> Self {
        let mut diff = crate::diff(old, new);
        // Changes that widen access are listed first.
        sort_by_key(&mut diff.changes, |change| !change.widens());
        Self { old: old.digest(), new: new.digest(), diff }
    }

    /// The kinds of change, among these, that were found, in words.
    #[must_use]
    pub fn fails(&self, kinds: &[Failing]) -> Vec<String> {
        let diff = &self.diff;
        let lines = kinds.iter().filter_map(|kind| {
            let changes = diff.changes.iter().filter(|change| kind.is(change)).count();
            (changes > 0).then(|| format!("{changes} {}", kind.as_str()))
        });
        let mut lines: Vec<_> = lines.collect();
        // An unlisted change can be of any kind; only whether it widens access is known.
        let may_fail = diff.left_out > 0 && (kinds != Failing::USUAL || diff.widens());
        if lines.is_empty() && may_fail && !kinds.is_empty() {
            lines.push(format!("{} more that are not listed", diff.left_out));
        }
        lines
    }
}

/// A comparison, and the kinds of change for which it fails.
#[derive(Debug, Serialize)]
pub struct DiffAnswer<'a, 'o, 'n> {
    /// The comparison.
    #[serde(flatten)]
    pub compared: &'a Compared<'o, 'n>,
    /// [`Compared::fails`].
    pub fails: &'a [String],
}

orbgate::codes! {
    /// A kind of change that can make a comparison fail.
    pub enum Failing {
        Wider: "wider", "a call is allowed to more callers";
        Narrower: "narrower", "a call is allowed to fewer callers";
        Cheaper: "cheaper", "a call consumes less";
        Costlier: "costlier", "a call consumes more";
        OtherCost: "other-cost", "what a call consumes differs, and an amount is not stated";
        Removed: "removed", "the new policy lacks the route or scope that decided";
    }
}

impl Failing {
    /// The kinds that fail by default.
    pub const USUAL: &'static [Self] = &[Self::Wider, Self::Cheaper, Self::OtherCost];

    /// The kind with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    const fn is(self, change: &Change<'_, '_>) -> bool {
        match self {
            Self::Wider => change.wider.is_some(),
            Self::Narrower => change.narrower.is_some(),
            Self::Cheaper => matches!(change.cost, Some(Cost::Less)),
            Self::Costlier => matches!(change.cost, Some(Cost::More)),
            Self::OtherCost => matches!(change.cost, Some(Cost::Unknown)),
            Self::Removed => change.removed,
        }
    }
}

/// Results for several files.
#[derive(Debug, Serialize)]
pub struct Files<F> {
    /// The files, in the order of the input.
    pub files: Vec<F>,
}

/// Whether a file is a valid policy.
#[derive(Debug, Serialize)]
pub struct Checked<'a> {
    file: &'a str,
    /// `None` if the file has errors, or isn't a policy.
    policy: Option<Digest>,
    diagnostics: &'a [Diagnostic],
    warnings: &'a [Diagnostic],
}

impl<'a> Checked<'a> {
    /// For a file that was read, and its [`warnings`]. Without a policy, for a valid file of another format.
    pub fn new(file: &'a str, policy: Result<Option<&Policy>, &'a [Diagnostic]>, warnings: &'a [Diagnostic]) -> Self {
        let diagnostics = policy.err().unwrap_or_default();
        Self { file, policy: policy.ok().flatten().map(Policy::digest), diagnostics, warnings }
    }
}

/// The findings of [`lint`] that affect which route decides. Lint compiles the policy, so a file without errors can be
/// loaded.
#[must_use]
pub fn warnings(policy: &Policy, text: &str) -> Vec<Diagnostic> {
    let findings = lint(policy, text);
    let list = findings.list.into_iter();
    let list = list.filter(|finding| finding.code.decides() && finding.suppressed.is_none());
    let mut warnings: Vec<_> =
        list.map(|finding| Diagnostic { location: finding.location, message: finding.message }).collect();
    if let (Some(last), true) = (warnings.last(), findings.cut.iter().any(|code| code.decides())) {
        warnings.push(Diagnostic {
            location: last.location,
            message: "there are more warnings than are listed".to_owned(),
        });
    }
    warnings
}

/// A file, and its findings.
#[derive(Debug, Serialize)]
pub struct Linted {
    /// Its name.
    pub file: String,
    /// `None` if the file isn't a valid policy.
    pub policy: Option<Digest>,
    complete: bool,
    /// Its errors. A file with errors has no findings.
    pub diagnostics: Vec<Diagnostic>,
    /// Findings, including suppressed ones.
    pub findings: Vec<Finding>,
    /// The levels for which findings might be missing.
    #[serde(skip)]
    pub cut: Vec<Level>,
}

impl Linted {
    /// Checks a document: a policy, or its errors.
    #[must_use]
    pub fn new(file: String, text: &str, policy: Result<Policy, Vec<Diagnostic>>, levels: &Levels) -> Self {
        let (policy, diagnostics) = match policy {
            Ok(policy) => (Some(policy), Vec::new()),
            Err(diagnostics) => (None, diagnostics),
        };
        let findings = policy.as_ref().map(|policy| lint(policy, text));
        let findings = findings.unwrap_or_default();
        let with_level = |mut finding: Finding| {
            finding.level = levels.of_finding(&finding)?;
            Some(finding)
        };
        let cut: Vec<_> = findings.cut.into_iter().filter_map(|code| levels.of(code)).collect();
        Self {
            file,
            policy: policy.as_ref().map(Policy::digest),
            complete: cut.is_empty(),
            diagnostics,
            findings: findings.list.into_iter().filter_map(with_level).collect(),
            cut,
        }
    }
}
