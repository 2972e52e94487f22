//! Decisions in the forms in which callers receive them.

use orbgate::{Decision, Engine, Reason, Token};

use crate::decision::OrbgateDecision;
use crate::flags::Flags;

/// A form in which a caller receives a decision.
pub(crate) trait Form: Copy + Default {
    fn of(decision: &OrbgateDecision, flags: Flags) -> Self;

    /// The prepared decisions, in this form.
    fn held(answers: &Answers) -> &[Self];
}

impl Form for OrbgateDecision {
    #[inline(always)]
    fn of(decision: &OrbgateDecision, _flags: Flags) -> Self {
        *decision
    }

    #[inline(always)]
    fn held(answers: &Answers) -> &[Self] {
        &answers.decisions
    }
}

/// The packed form.
impl Form for u64 {
    #[inline(always)]
    fn of(decision: &OrbgateDecision, flags: Flags) -> Self {
        match flags.pack_about {
            true => decision.pack_with_about(),
            false => decision.pack(),
        }
    }

    #[inline(always)]
    fn held(answers: &Answers) -> &[Self] {
        &answers.packed
    }
}

/// Prepared decisions of an engine, one per route, for a token that has what the route needs and a request that doesn't
/// allow bonus orbs. Most calls have one of these, and copying it is faster than building it.
#[derive(Debug)]
pub(crate) struct Answers {
    /// The policy's value in every decision.
    policy: u64,
    decisions: Box<[OrbgateDecision]>,
    packed: Box<[u64]>,
}

impl Answers {
    pub(crate) fn new(engine: &Engine, policy: u64) -> Self {
        let routes = (0..).map_while(|index| engine.route(index));
        let decisions = routes.map(|route| {
            let scopes = route.requirement().of_owner().to_string();
            OrbgateDecision::new(policy, &engine.decide_route(route.id(), Some(Token::user(&scopes)), false))
        });
        let decisions: Box<[_]> = decisions.collect();
        let packed = decisions.iter().map(OrbgateDecision::pack).collect();
        Self { policy, decisions, packed }
    }

    /// This engine's decision on a request with these flags, in the caller's form.
    #[inline(always)]
    pub(crate) fn of<T: Form>(&self, decision: &Decision<'_>, flags: Flags) -> T {
        if decision.is_allow()
            && decision.reason() == Reason::ScopeHeld
            && !flags.allow_bonus_orbs
            && let Some(route) = decision.route_index()
            && let Ok(index) = usize::try_from(route)
            && let Some(answer) = T::held(self).get(index)
        {
            return *answer;
        }
        // Copied, so that the decision needn't be in memory.
        let copy = *decision;
        self.put_together(&copy, flags)
    }

    /// The form of any decision. Kept out of line so that the common path stays small.
    #[inline(never)]
    fn put_together<T: Form>(&self, decision: &Decision<'_>, flags: Flags) -> T {
        T::of(&OrbgateDecision::new(self.policy, decision), flags)
    }
}
