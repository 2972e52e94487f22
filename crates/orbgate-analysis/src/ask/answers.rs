//! The answers, as JSON has them: `orbgate QUESTION --json` prints the same.

use std::collections::HashMap;

use orbgate::policy::Diagnostic;
use orbgate::{
    Allow, Decision, Deny, Detail, Digest, Engine, Location, Orbs, Policy, Reason, Scope, TokenKind,
};
use serde::Serialize;

use crate::{Change, Code, Cost, Diff, Finding, Level, ScopeUsage, ScopeUse, lint};

/// Characters of a call that an answer quotes.
pub const MOST_SHOWN: usize = 300;

/// The least scopes for a set of calls: [`Needs::add`] each of them, then serialize.
#[derive(Debug, Serialize)]
pub struct Needs<'e> {
    policy: Digest,
    kind: &'static str,
    /// How many calls were added.
    pub calls: u64,
    /// The scopes, in the order of the calls that need them first.
    pub scopes: Vec<&'e str>,
    /// The same, each with the calls that need it.
    pub needs: Vec<Needed<'e>>,
    /// What no scope could allow.
    pub refusals: Vec<Refused<'e>>,
    #[serde(skip)]
    by_scope: HashMap<&'e str, usize>,
    #[serde(skip)]
    by_refusal: HashMap<(Reason, Option<Detail>, Option<&'e str>), usize>,
}

/// A scope that calls need.
#[derive(Debug, Serialize)]
pub struct Needed<'e> {
    /// Its name.
    pub scope: &'e str,
    /// How many calls need it.
    pub calls: u64,
    /// The first of them.
    pub first: First,
}

/// Calls that no scope could allow, for one reason.
#[derive(Debug, Serialize)]
pub struct Refused<'e> {
    /// The reason of their denial.
    pub reason: Reason,
    /// What it names in addition.
    pub detail: Option<Detail>,
    /// The route that decides, if one does.
    pub route: Option<&'e str>,
    /// How many calls there are.
    pub calls: u64,
    /// The first of them.
    pub first: First,
}

/// A call among many.
#[derive(Debug, Serialize)]
pub struct First {
    /// Its position, from 1: a line, or an argument.
    pub at: u64,
    /// The call, shortened.
    pub call: String,
}

impl<'e> Needs<'e> {
    /// None yet, for tokens of this kind.
    #[must_use]
    pub fn new(engine: &'e Engine, kind: TokenKind) -> Self {
        Self {
            policy: engine.digest(),
            kind: kind.as_str(),
            calls: 0,
            scopes: Vec::new(),
            needs: Vec::new(),
            refusals: Vec::new(),
            by_scope: HashMap::new(),
            by_refusal: HashMap::new(),
        }
    }

    /// Adds a call: its position, and what [`scope_needed`](crate::scope_needed) answers.
    pub fn add(
        &mut self,
        at: u64,
        needed: Result<Option<Scope<'e>>, Deny<'e>>,
        call: impl FnOnce() -> String,
    ) {
        self.calls = self.calls.saturating_add(1);
        let first = || First { at, call: call() };
        let calls = match needed {
            // Everybody may.
            Ok(None) => return,
            Ok(Some(scope)) => {
                let position = *self.by_scope.entry(scope.name()).or_insert_with(|| {
                    self.scopes.push(scope.name());
                    self.needs.push(Needed {
                        scope: scope.name(),
                        calls: 0,
                        first: first(),
                    });
                    self.needs.len().saturating_sub(1)
                });
                self.needs.get_mut(position).map(|needed| &mut needed.calls)
            }
            Err(deny) => {
                let (reason, detail) = (deny.reason(), deny.detail());
                let route = Decision::Deny(deny).route_name();
                let refusal = (reason, detail, route);
                let position = *self.by_refusal.entry(refusal).or_insert_with(|| {
                    self.refusals.push(Refused {
                        reason,
                        detail,
                        route,
                        calls: 0,
                        first: first(),
                    });
                    self.refusals.len().saturating_sub(1)
                });
                let refused = self.refusals.get_mut(position);
                refused.map(|refused| &mut refused.calls)
            }
        };
        if let Some(calls) = calls {
            *calls = calls.saturating_add(1);
        }
    }
}

/// Everything that a token may call.
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

/// What a token may call.
#[derive(Debug, Serialize)]
pub struct Reached<'e> {
    /// `None` where a scope is asked for without a route.
    pub route: Option<&'e str>,
    /// The scope that allows it.
    pub scope: &'e str,
    /// What a call consumes.
    pub orbs: Option<Orbs>,
    /// Why it is allowed.
    pub reason: Reason,
    /// The rule in the policy file.
    pub location: Location,
}

impl<'a> Reach<'a> {
    /// The reach of a token of this kind with these scopes, separated by spaces.
    #[must_use]
    pub fn new(engine: &'a Engine, kind: TokenKind, scopes: &'a str, carried: &'a [u8]) -> Self {
        let token = orbgate::Token {
            kind,
            scopes: carried.into(),
        };
        let allowed = crate::reach(engine, token);
        Self {
            policy: engine.digest(),
            token: ReachToken {
                kind: kind.as_str(),
                scopes,
            },
            allowed: allowed.filter_map(|allow| Reached::new(&allow)).collect(),
        }
    }
}

impl<'e> Reached<'e> {
    /// `None` for what needs no scope, which no engine allows.
    fn new(allow: &Allow<'e>) -> Option<Self> {
        let (route, scope) = (allow.route(), allow.scope()?);
        Some(Self {
            route: route.map(|route| route.as_str()),
            scope: scope.name(),
            orbs: route.map_or_else(|| scope.orbs(), |route| Some(route.orbs())),
            reason: allow.reason(),
            location: route.map_or_else(|| scope.location(), |route| route.location()),
        })
    }
}

/// Which tokens may make a call.
#[derive(Debug, Serialize)]
pub struct Who<'a> {
    /// The policy that decided.
    pub policy: Digest,
    /// The call's method.
    pub method: &'a str,
    /// The call's target.
    pub target: &'a str,
    /// Each token with its decision, in the order in which they came.
    pub tokens: Vec<Asker<'a>>,
}

/// A token, and what it gets.
#[derive(Debug, Serialize)]
pub struct Asker<'e> {
    /// `line N` where the caller gives none.
    pub name: String,
    /// Its position, from 1.
    pub line: u64,
    /// What it gets.
    pub decision: Decision<'e>,
}

/// Which of the carried scopes were used: [`Unused::count`] each call, then [`Unused::answer`].
#[derive(Debug)]
pub struct Unused<'e> {
    policy: Digest,
    usage: ScopeUsage<'e>,
    last: HashMap<&'e str, LastUse>,
    /// How many calls were counted.
    pub calls: u64,
    /// How many of them had no token of a known kind.
    pub without_token: u64,
}

/// The last use of a scope.
#[derive(Clone, Debug, Serialize)]
pub struct LastUse {
    /// Its position, from 1.
    pub line: u64,
    /// As the log writes it.
    pub time: Option<String>,
}

/// A scope that tokens carried.
#[derive(Debug, Serialize)]
pub struct Carried {
    /// Its name.
    pub scope: String,
    /// How many calls carried it.
    pub granted: u64,
    /// How many of them it allowed.
    pub used: u64,
    /// Whether the policy has it.
    pub in_policy: bool,
    /// The last call that it allowed.
    pub last: Option<LastUse>,
}

/// Carried scopes, those first that were never used.
#[derive(Debug, Serialize)]
pub struct UnusedAnswer {
    policy: Digest,
    calls: u64,
    without_token: u64,
    /// Names of those that were never used.
    pub unused: Vec<String>,
    /// All of them.
    pub scopes: Vec<Carried>,
}

impl<'e> Unused<'e> {
    /// Starts to count at zero.
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

    /// Counts a call: its position, its decision with the scopes that its token carried, separated by spaces, and its time. Without
    /// a token of a known kind there is no decision.
    pub fn count(
        &mut self,
        line: u64,
        decided: Option<(Decision<'e>, &[u8])>,
        time: impl FnOnce() -> Option<String>,
    ) {
        self.calls = self.calls.saturating_add(1);
        let Some((decision, scopes)) = decided else {
            self.without_token = self.without_token.saturating_add(1);
            return;
        };
        self.usage.count_decision(&decision, scopes, 1);
        let held = decision.reason() == Reason::ScopeHeld;
        if let Some(scope) = decision.scope().filter(|_| held) {
            let last = LastUse { line, time: time() };
            self.last.insert(scope.name(), last);
        }
    }

    /// The scopes that were carried.
    #[must_use]
    pub fn answer(&self) -> UnusedAnswer {
        let row = |scope: ScopeUse| {
            let name = String::from_utf8_lossy(&scope.scope).into_owned();
            Carried {
                granted: scope.granted,
                used: scope.used,
                in_policy: scope.in_policy,
                last: self.last.get(name.as_str()).cloned(),
                scope: name,
            }
        };
        let mut scopes: Vec<_> = self.usage.scopes().into_iter().map(row).collect();
        scopes.sort_by_key(|row| row.used > 0);
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

/// Two policies and what is between them.
#[derive(Debug, Serialize)]
pub struct Compared<'o, 'n> {
    /// The policy in force.
    pub old: Digest,
    /// The one that is to take its place.
    pub new: Digest,
    /// The changes, those that open something first.
    #[serde(flatten)]
    pub diff: Diff<'o, 'n>,
}

impl<'o, 'n> Compared<'o, 'n> {
    /// Compares them.
    #[must_use]
    pub fn new(old: &'o Engine, new: &'n Engine) -> Self {
        let mut diff = crate::diff(old, new);
        // What opens something is read first.
        diff.changes.sort_by_key(|change| !change.widens());
        Self {
            old: old.digest(),
            new: new.digest(),
            diff,
        }
    }

    /// For which of these kinds there are changes, in words.
    #[must_use]
    pub fn fails(&self, kinds: &[Failing]) -> Vec<String> {
        let diff = &self.diff;
        let found = kinds.iter().filter_map(|kind| {
            let changes = diff.changes.iter().filter(|change| kind.is(change)).count();
            (changes > 0).then(|| format!("{changes} {}", kind.as_str()))
        });
        let mut found: Vec<_> = found.collect();
        // What is left out may be of any kind; only whether it widens is known.
        let may_fail = diff.left_out > 0 && (kinds != Failing::USUAL || diff.widens());
        if found.is_empty() && may_fail && !kinds.is_empty() {
            found.push(format!("{} more that are not listed", diff.left_out));
        }
        found
    }
}

/// A comparison, and for what it fails.
#[derive(Debug, Serialize)]
pub struct DiffAnswer<'a, 'o, 'n> {
    /// The comparison.
    #[serde(flatten)]
    pub compared: &'a Compared<'o, 'n>,
    /// [`Compared::fails`].
    pub fails: &'a [String],
}

orbgate::codes! {
    /// A kind of change that may be a finding.
    pub enum Failing {
        Wider: "wider", "a call is allowed to more callers";
        Narrower: "narrower", "a call is allowed to fewer callers";
        Cheaper: "cheaper", "a call consumes less";
        Costlier: "costlier", "a call consumes more";
        OtherCost: "other-cost", "what a call consumes differs, and an amount is not stated";
        Removed: "removed", "the route or the scope that decided is gone";
    }
}

impl Failing {
    /// Those that fail unless others are named.
    pub const USUAL: &'static [Self] = &[Self::Wider, Self::Cheaper, Self::OtherCost];

    /// The kind of this name.
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

/// Answers about files.
#[derive(Debug, Serialize)]
pub struct Files<F> {
    /// In the order in which they were given.
    pub files: Vec<F>,
}

/// Whether a file is a policy.
#[derive(Debug, Serialize)]
pub struct Checked<'a> {
    file: &'a str,
    /// `None` where the file has errors.
    policy: Option<Digest>,
    diagnostics: &'a [Diagnostic],
    warnings: &'a [Diagnostic],
}

impl<'a> Checked<'a> {
    /// Of a file that was read; its [`warnings`].
    pub fn new(
        file: &'a str,
        policy: Result<&Policy, &'a [Diagnostic]>,
        warnings: &'a [Diagnostic],
    ) -> Self {
        Self {
            file,
            policy: policy.ok().map(Policy::digest),
            diagnostics: policy.err().unwrap_or_default(),
            warnings,
        }
    }
}

/// What [`lint`] finds that changes which route decides. Lint compiles the policy, so a file that passes can be loaded.
#[must_use]
pub fn warnings(policy: &Policy, text: &str) -> Vec<Diagnostic> {
    let found = lint(policy, text);
    let is_warning = |code: &Code| matches!(code, Code::Overlap | Code::ColonLiteral);
    let list = found.list.into_iter();
    let list = list.filter(|finding| is_warning(&finding.code) && finding.suppressed.is_none());
    let mut warnings: Vec<_> = list
        .map(|finding| Diagnostic {
            location: finding.location,
            message: finding.message,
        })
        .collect();
    if let (Some(last), true) = (warnings.last(), found.cut.iter().any(is_warning)) {
        warnings.push(Diagnostic {
            location: last.location,
            message: "there are more warnings than are listed".to_owned(),
        });
    }
    warnings
}

/// A file, and what was found in it.
#[derive(Debug, Serialize)]
pub struct Linted {
    /// Its name.
    pub file: String,
    /// `None` where the file is not a valid policy.
    pub policy: Option<Digest>,
    complete: bool,
    /// Its errors, of which it then has no findings.
    pub diagnostics: Vec<Diagnostic>,
    /// Findings, suppressed ones among them.
    pub findings: Vec<Finding>,
    /// The levels of which findings may be missing.
    #[serde(skip)]
    pub cut: Vec<Level>,
}

impl Linted {
    /// Looks at a document: a policy, or its errors. `level` says which level a code has, or none if it is off.
    pub fn new(
        file: String,
        text: &str,
        policy: Result<Policy, Vec<Diagnostic>>,
        level: impl Fn(Code) -> Option<Level>,
    ) -> Self {
        let (policy, diagnostics) = match policy {
            Ok(policy) => (Some(policy), Vec::new()),
            Err(diagnostics) => (None, diagnostics),
        };
        let found = policy.as_ref().map(|policy| lint(policy, text));
        let found = found.unwrap_or_default();
        let with_level = |mut finding: Finding| {
            finding.level = level(finding.code)?;
            Some(finding)
        };
        let cut: Vec<_> = found.cut.into_iter().filter_map(&level).collect();
        Self {
            file,
            policy: policy.as_ref().map(Policy::digest),
            complete: cut.is_empty(),
            diagnostics,
            findings: found.list.into_iter().filter_map(with_level).collect(),
            cut,
        }
    }
}
