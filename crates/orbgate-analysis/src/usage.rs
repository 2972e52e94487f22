//! Finds which of the scopes in tokens are used.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use orbgate::{Decision, Engine, Reason, Request, Scopes, Token, TokenKind};

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
    used: HashMap<&'e str, u64>,
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
    /// the token had whole.
    pub used: u64,
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
        for scope in used(decision, scopes) {
            let used = self.used.entry(scope).or_default();
            *used = used.saturating_add(times);
        }
    }

    /// All scopes that some token had, in byte order.
    #[must_use]
    pub fn scopes(&self) -> Vec<ScopeUse> {
        let mut granted: BTreeMap<&[u8], u64> = BTreeMap::new();
        for (text, times) in &self.granted {
            let mut pieces: Vec<_> = text.split(|byte| *byte == b' ').collect();
            pieces.sort_unstable();
            pieces.dedup();
            for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
                let granted = granted.entry(piece).or_default();
                *granted = granted.saturating_add(*times);
            }
        }
        let scopes = granted.into_iter();
        scopes.map(|(scope, granted)| self.scope(scope, granted)).collect()
    }

    fn scope(&self, scope: &[u8], granted: u64) -> ScopeUse {
        let found = self.engine.find_scope(scope);
        let used = found.and_then(|found| self.used.get(found.name()));
        ScopeUse { scope: scope.to_vec(), granted, used: used.copied().unwrap_or_default(), in_policy: found.is_some() }
    }
}

/// The scopes because of which a decision allows a call of a token with these scopes: those of the alternatives that the
/// token has whole.
pub(crate) fn used<'e>(decision: &Decision<'e>, scopes: &[u8]) -> BTreeSet<&'e str> {
    let Some(scope) = decision.scope().filter(|_| decision.reason() == Reason::ScopeHeld) else {
        return BTreeSet::new();
    };
    let Some(requirement) = decision.requirement() else {
        return BTreeSet::from([scope.name()]);
    };
    let held: HashSet<_> = scopes.split(|byte| *byte == b' ').collect();
    let alternatives = requirement.alternatives().map(|scopes| scopes.map(|scope| scope.name()));
    let whole = alternatives.filter(|scopes| scopes.clone().all(|scope| held.contains(scope.as_bytes())));
    whole.flatten().collect()
}
