//! Finds the least set of scopes for a list of calls.

mod choice;

use std::collections::{BTreeMap, HashMap, HashSet};

use orbgate::sorted::{map_of, sort, sort_by_key};
use orbgate::{Decision, Deny, Detail, Engine, Reason, Request, Scope, Scopes, Token, TokenKind, is_earned};

use self::choice::{Alternatives, choose, forced};
use crate::questions::call;

/// The least set of scopes with which a token of some kind can make a list of calls.
///
/// It is irreducible: if any scope is removed, the call that is its evidence is denied. Scopes that [must be
/// earned](orbgate::is_earned) are apart, because no client requests them: where a call has an alternative without one, it is
/// made by that.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeastScopes<'e> {
    /// The scopes, in the order of the calls that first need them.
    pub needs: Vec<Need<'e>>,
    /// The scopes that the token must earn as well, in the same order.
    pub earned: Vec<Need<'e>>,
    /// Whether no sets of fewer scopes are enough. Of several sets of the same size, this is then the first by its sorted
    /// names. Only routes with alternatives can make it false, if more than 20 of their scopes have to be weighed.
    pub is_smallest: bool,
    /// The calls that no scope allows, grouped by their denials, in the order of the first call of each
    /// group.
    pub refusals: Vec<Refusal<'e>>,
}

/// Calls, and what a token of some kind needs for them. Add each call, then ask for the [least](Self::least) set of scopes.
#[derive(Clone, Debug, Default)]
pub struct Demand<'e> {
    /// By the positions of route and scope in the policy.
    needed: HashMap<(Option<u32>, Option<u16>), Demanded<'e>>,
    refusals: Vec<Refusal<'e>>,
    by_refusal: HashMap<Denial, usize>,
}

/// What makes a denial of one engine equal to another: reason, detail, and the positions of the route, of the route that it
/// is about, and of the scope.
type Denial = (Reason, Option<Detail>, Option<u32>, Option<u32>, Option<u16>);

/// Calls with the same requirement.
#[derive(Clone, Debug)]
struct Demanded<'e> {
    alternatives: Vec<Vec<Scope<'e>>>,
    first: usize,
    calls: usize,
}

/// A required scope, and the evidence for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Need<'e> {
    /// The scope.
    pub scope: Scope<'e>,
    /// The position of the first call that needs it.
    pub evidence: usize,
    /// The number of calls that need it.
    pub calls: usize,
}

/// Calls that no scope allows, all with the same denial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal<'e> {
    /// The position of the first of these calls.
    pub call: usize,
    /// The denial.
    pub deny: Deny<'e>,
    /// The number of calls.
    pub calls: usize,
}

/// Finds the least set of scopes for calls, each a method and a target, made with a token of this kind.
/// Makes one decision per call, and then weighs the alternatives of the routes: at most about a million sets of scopes.
///
/// ```
/// use orbgate::{Engine, TokenKind};
///
/// let calls = [
///     ("GET", "/api/v1/external/voxies"),
///     ("GET", "/api/v1/external/voxies/7"),
///     ("POST", "/api/v1/external/voxies"),
///     ("GET", "/nowhere"),
/// ];
/// let least = orbgate_analysis::least_scopes(Engine::external(), TokenKind::User, calls);
/// let needs: Vec<_> = least.needs.iter().map(|need| (need.scope.name(), need.evidence, need.calls)).collect();
/// assert_eq!(needs, [("read:voxies", 0, 2), ("write:voxies", 2, 1)]);
/// assert_eq!((least.refusals[0].call, least.refusals[0].calls), (3, 1));
/// ```
pub fn least_scopes<M: AsRef<[u8]>, T: AsRef<[u8]>>(
    engine: &Engine,
    kind: TokenKind,
    calls: impl IntoIterator<Item = (M, T)>,
) -> LeastScopes<'_> {
    let mut demand = Demand::default();
    for (at, (method, target)) in calls.into_iter().enumerate() {
        demand.add(engine, kind, at, method, target);
    }
    demand.least()
}

impl<'e> Demand<'e> {
    /// Adds a call whose position is `at`. All calls must use the same engine. A call without a kind has no
    /// token. Returns whether it can be evidence: it is the first call with its requirement, or with its denial.
    pub fn add(
        &mut self,
        engine: &'e Engine,
        kind: impl Into<Option<TokenKind>>,
        at: usize,
        method: impl AsRef<[u8]>,
        target: impl AsRef<[u8]>,
    ) -> bool {
        let token = kind.into().map(without_scopes);
        let request = Request { token, ..call(method.as_ref(), target.as_ref(), Token::user("")) };
        self.add_decision(at, engine.decide(&request))
    }

    /// The same for a decision by scope, without a route.
    pub fn add_scope(
        &mut self,
        engine: &'e Engine,
        kind: impl Into<Option<TokenKind>>,
        at: usize,
        scope: impl AsRef<[u8]>,
    ) -> bool {
        self.add_decision(at, engine.decide_scope(scope, kind.into().map(without_scopes), false))
    }

    /// Adds the decision for a token without scopes. A denial for them names what the call needs.
    fn add_decision(&mut self, at: usize, decision: Decision<'e>) -> bool {
        let deny = match (decision, decision.scope()) {
            (Decision::Allow(_), _) => return false,
            (Decision::Deny(deny), Some(scope)) if deny.reason() == Reason::ScopeMissing => {
                let demanded = || Demanded { alternatives: alternatives(&decision, scope), first: at, calls: 0 };
                let key = (decision.route_index(), decision.scope_index());
                let demanded = self.needed.entry(key).or_insert_with(demanded);
                demanded.calls = demanded.calls.saturating_add(1);
                return demanded.calls == 1;
            }
            (Decision::Deny(deny), _) => deny,
        };
        let about = decision.about().map(|route| route.index());
        let key = (deny.reason(), deny.detail(), decision.row(), about, decision.scope_index());
        let position = *self.by_refusal.entry(key).or_insert(self.refusals.len());
        match self.refusals.get_mut(position) {
            Some(refusal) => refusal.calls = refusal.calls.saturating_add(1),
            None => self.refusals.push(Refusal { call: at, deny, calls: 1 }),
        }
        position.saturating_add(1) == self.refusals.len() && self.refusals.last().is_some_and(|last| last.calls == 1)
    }

    /// The least set of scopes for the calls so far.
    #[must_use]
    pub fn least(&self) -> LeastScopes<'e> {
        let demands = self.needed.values().map(|demanded| (demanded, parts(&demanded.alternatives)));
        let demands: Vec<_> = demands.collect();
        let requests = demands.iter().map(|(demanded, parts)| {
            let requested = parts.iter().map(|part| part.requested.clone());
            (*demanded, requested.collect())
        });
        let (needs, names, is_smallest) = chosen(&requests.collect::<Vec<_>>());
        let earned = demands.iter().map(|(demanded, parts)| {
            let is_met = |part: &&Part<'e>| part.requested.iter().all(|scope| names.contains(scope.name()));
            let earned = parts.iter().filter(is_met).map(|part| part.earned.clone());
            (*demanded, earned.collect())
        });
        let (earned, _, is_also_smallest) = chosen(&earned.collect::<Vec<_>>());
        LeastScopes { needs, earned, is_smallest: is_smallest && is_also_smallest, refusals: self.refusals.clone() }
    }
}

/// An alternative: what a client requests, and what its token earns.
struct Part<'e> {
    requested: Vec<Scope<'e>>,
    earned: Vec<Scope<'e>>,
}

/// The alternatives by which a client gets the call: if some have no scope that must be earned, only these.
fn parts<'e>(alternatives: &[Vec<Scope<'e>>]) -> Vec<Part<'e>> {
    let split = |scopes: &Vec<Scope<'e>>| {
        let (earned, requested) = scopes.iter().partition(|scope| is_earned(scope.name()));
        Part { requested, earned }
    };
    let mut parts: Vec<_> = alternatives.iter().map(split).collect();
    if parts.iter().any(|part| part.earned.is_empty()) {
        parts.retain(|part| part.earned.is_empty());
    }
    parts
}

/// The fewest scopes that have an alternative of each demand whole, with their evidence; their names; and whether there are
/// surely no fewer.
fn chosen<'e>(demands: &[(&Demanded<'e>, Vec<Vec<Scope<'e>>>)]) -> (Vec<Need<'e>>, HashSet<&'e str>, bool) {
    let all = demands.iter().flat_map(|(_, alternatives)| alternatives.iter().flatten());
    let by_name = map_of(all.map(|scope| (scope.name(), *scope)));
    let numbers: HashMap<_, _> = by_name.keys().copied().zip(0_u32..).collect();
    let numbered = |alternatives: &[Vec<Scope<'_>>]| -> Alternatives {
        let sorted = |scopes: &Vec<Scope<'_>>| {
            let mut numbers: Vec<_> = scopes.iter().filter_map(|scope| numbers.get(scope.name()).copied()).collect();
            sort(&mut numbers);
            numbers
        };
        alternatives.iter().map(sorted).collect()
    };
    let choice = choose(demands.iter().map(|(_, alternatives)| numbered(alternatives)));
    let mut needs: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    for (demanded, alternatives) in demands {
        let mut whole = numbered(alternatives);
        whole.retain(|scopes| scopes.iter().all(|scope| choice.scopes.contains(scope)));
        for scope in forced(&whole) {
            let (first, calls) = needs.entry(scope).or_insert((demanded.first, 0));
            *first = demanded.first.min(*first);
            *calls = calls.saturating_add(demanded.calls);
        }
    }
    let need = |(scope, number): (Scope<'e>, _)| {
        let (evidence, calls) = *needs.get(&number)?;
        Some(Need { scope, evidence, calls })
    };
    let mut needs: Vec<_> = by_name.into_values().zip(0_u32..).filter_map(need).collect();
    sort_by_key(&mut needs, |need| need.evidence);
    let names = needs.iter().map(|need| need.scope.name()).collect();
    (needs, names, choice.is_smallest)
}

/// The alternatives of what a call is denied for.
fn alternatives<'e>(decision: &Decision<'e>, scope: Scope<'e>) -> Vec<Vec<Scope<'e>>> {
    match decision.requirement() {
        Some(requirement) => requirement.alternatives().map(Iterator::collect).collect(),
        None => vec![vec![scope]],
    }
}

const fn without_scopes(kind: TokenKind) -> Token<'static> {
    Token { kind, scopes: Scopes::Text(b"") }
}
