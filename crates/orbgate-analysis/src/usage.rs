//! Finds which of the scopes in tokens are used.

use std::collections::{BTreeMap, HashMap, HashSet};

use orbgate::sorted::{map_of, set_of};
use orbgate::{Decision, Engine, Reason, Request, Requirement, Scopes, Token, TokenKind, is_earned};

/// Counts, over the calls of a log, how often each scope was granted and how often it was used.
///
/// ```
/// use orbgate::{Engine, TokenKind};
/// use orbgate_analysis::ScopeUsage;
///
/// let mut usage = ScopeUsage::new(Engine::external());
/// usage.count("GET", "/api/v1/external/account", TokenKind::User, "read:account read:keys", 10);
/// let unused: Vec<_> = usage.scopes().into_iter().filter(|scope| scope.used == 0).collect();
/// assert_eq!((unused[0].scope.as_slice(), unused[0].granted), (&b"read:keys"[..], 10));
/// ```
#[derive(Clone, Debug)]
pub struct ScopeUsage<'e> {
    engine: &'e Engine,
    /// How many calls had each scope string. A log has few distinct strings.
    granted: HashMap<Box<[u8]>, u64>,
    /// How many calls used each scope, and how many of them needed it.
    used: HashMap<&'e str, (u64, u64)>,
}

/// How often a scope was granted and used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct ScopeUse {
    /// The scope, as it appears in the tokens.
    pub scope: Vec<u8>,
    /// The number of calls with a token of a known kind that has it.
    pub granted: u64,
    /// The number of these calls that were allowed because of it (`scope_held`): it is in an alternative of the route that
    /// the token had whole. Without the scopes whose number is 0, all of them together, every call is decided as it was.
    pub used: u64,
    /// The number of these calls that would have been denied without it: it is in all alternatives that the token had
    /// whole. Any one scope whose number is 0 can be spared, but perhaps not two.
    pub needed: u64,
    /// Whether the policy defines this scope.
    pub in_policy: bool,
}

impl<'e> ScopeUsage<'e> {
    /// A counter that starts at zero.
    #[must_use]
    pub fn new(engine: &'e Engine) -> Self {
        Self { engine, granted: HashMap::new(), used: HashMap::new() }
    }

    /// Counts a call that was made `times` times with a token of this kind and these scopes, separated by spaces. A
    /// token of unknown kind isn't counted: every call with it is denied, so its scopes grant nothing.
    pub fn count(
        &mut self,
        method: impl AsRef<[u8]>,
        target: impl AsRef<[u8]>,
        kind: TokenKind,
        scopes: impl AsRef<[u8]>,
        times: u64,
    ) {
        if kind == TokenKind::Unknown {
            return;
        }
        let text = scopes.as_ref();
        let decision = self.engine.decide(&Request {
            method: method.as_ref(),
            target: target.as_ref(),
            token: Some(Token { kind, scopes: Scopes::Text(text) }),
            allow_bonus_orbs_use: false,
        });
        self.count_decision(&decision, text, times);
    }

    /// Counts a decision by this engine that was made `times` times for a token of a known kind with these scopes.
    pub fn count_decision(&mut self, decision: &Decision<'e>, scopes: &[u8], times: u64) {
        match self.granted.get_mut(scopes) {
            Some(granted) => *granted = granted.saturating_add(times),
            None => drop(self.granted.insert(scopes.into(), times)),
        }
        for (scope, is_needed) in used(decision, scopes) {
            let (used, needed) = self.used.entry(scope).or_default();
            *used = used.saturating_add(times);
            *needed = needed.saturating_add(if is_needed { times } else { 0 });
        }
    }

    /// All scopes that some token had, in byte order, without those that [must be earned](orbgate::is_earned): a client requests
    /// none of them.
    #[must_use]
    pub fn scopes(&self) -> Vec<ScopeUse> {
        let mut granted: BTreeMap<&[u8], u64> = BTreeMap::new();
        for (text, times) in &self.granted {
            for piece in set_of(text.split(|byte| *byte == b' ').filter(|piece| !piece.is_empty() && !is_earned(piece)))
            {
                let granted = granted.entry(piece).or_default();
                *granted = granted.saturating_add(*times);
            }
        }
        let scopes = granted.into_iter();
        scopes.map(|(scope, granted)| self.scope(scope, granted)).collect()
    }

    fn scope(&self, scope: &[u8], granted: u64) -> ScopeUse {
        let known = self.engine.find_scope(scope);
        let counted = known.and_then(|known| self.used.get(known.name()));
        let (used, needed) = counted.copied().unwrap_or_default();
        ScopeUse { scope: scope.to_vec(), granted, used, needed, in_policy: known.is_some() }
    }
}

/// The scopes because of which a decision allows a call of a token with these scopes, each with whether the call needs it:
/// those of the alternatives that the token has whole. A scope of all of these is needed.
pub(crate) fn used<'e>(decision: &Decision<'e>, scopes: &[u8]) -> BTreeMap<&'e str, bool> {
    let Some(scope) = decision.scope().filter(|_| decision.reason() == Reason::ScopeHeld) else {
        return BTreeMap::new();
    };
    match decision.requirement() {
        Some(requirement) => used_scopes(requirement, scopes),
        None => map_of([(scope.name(), true)]),
    }
}

/// The scopes because of which a token with these scopes meets a requirement, as [`ScopeUse`] counts them: each with whether
/// the token needs it. Empty if the token has no alternative whole.
#[must_use]
pub fn used_scopes<'e>(requirement: Requirement<'e>, scopes: &[u8]) -> BTreeMap<&'e str, bool> {
    let held: HashSet<_> = scopes.split(|byte| *byte == b' ').collect();
    let alternatives = requirement.alternatives().map(|scopes| scopes.map(|scope| scope.name()));
    let whole = alternatives.filter(|scopes| scopes.clone().all(|scope| held.contains(scope.as_bytes())));
    let mut counts: BTreeMap<_, usize> = BTreeMap::new();
    for scope in whole.clone().flatten() {
        let count = counts.entry(scope).or_default();
        *count = count.saturating_add(1);
    }
    let all = whole.count();
    map_of(counts.into_iter().map(|(scope, count)| (scope, count == all)))
}
