//! Proves a property, or finds the requests that refute it.
//!
//! Which rule decides a path depends only on the templates that it fits. Of all the paths that fit a template and a
//! pattern, the most general one fits the fewest others, so the template decides some of these paths only if it decides
//! that one. An allow depends on the rule, the kind and one scope. So a decision for each template, kind and scope is a proof.

use core::fmt;
use std::collections::{BTreeMap, HashSet};

use orbgate::{Engine, Orbs, Request, Scopes, Token, TokenKind};

use super::calls::Pattern;
use super::{Callers, Calls, Claim, Property};
use crate::diff::{Asked, Caller, Rule};
use crate::questions::{callable_rows, route_of};
use crate::scopes::unknown;
use crate::templates::{Spelling, Templates, fit_together, shape};

/// What a proof has found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proof<'e> {
    /// How many rules of the policy the calls reach: routes, and scopes asked for without one.
    pub rules: usize,
    /// A request for each rule by which the property does not hold, in the order of the policy file; for
    /// [`Apart`](Claim::Apart) two requests for each caller.
    pub witnesses: Vec<Witness<'e>>,
}

impl Proof<'_> {
    /// Whether the property holds for all requests.
    #[must_use]
    pub const fn holds(&self) -> bool {
        self.witnesses.is_empty()
    }
}

/// A caller, and allowed requests of it that the property rules out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Witness<'e> {
    /// The caller, with no more scopes than it needs.
    pub caller: Caller,
    /// What it may ask, with the rule that allows it: one request, or the two that should be apart.
    pub requests: Vec<(Asked, Rule<'e>)>,
}

impl fmt::Display for Witness<'_> {
    /// `user with `read` may call GET /items/1: `GET /items/{id}` for `read`, 0 orbs`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} may call ", self.caller)?;
        for (at, (asked, rule)) in self.requests.iter().enumerate() {
            let and = if at == 0 { "" } else { ", and " };
            write!(f, "{and}{asked}: {rule}")?;
        }
        Ok(())
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Witness<'_> {
    /// `{"caller":{"kind","scopes"},"requests":[{"asked","rule"}]}`
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;

        #[derive(serde::Serialize)]
        struct Allowed<'a> {
            asked: &'a Asked,
            rule: &'a Rule<'a>,
        }
        let requests = self.requests.iter();
        let requests: Vec<_> = requests
            .map(|(asked, rule)| Allowed { asked, rule })
            .collect();
        let mut json = serializer.serialize_struct("Witness", 2)?;
        json.serialize_field("caller", &self.caller)?;
        json.serialize_field("requests", &requests)?;
        json.end()
    }
}

/// A request for each rule that some calls reach.
type Reached<'e> = Vec<(Asked, Rule<'e>)>;

impl Property {
    /// Looks for requests that refute the property. If there are none, it holds for all requests: paths of any length
    /// and spelling, tokens with any other scopes. Takes time linear in the number of routes, for each of the calls.
    ///
    /// # Errors
    ///
    /// The property says nothing about this policy: it names a scope that the policy lacks, or calls that no route decides.
    pub fn prove<'e>(&self, engine: &'e Engine) -> Result<Proof<'e>, String> {
        self.callers.check(engine)?;
        let search = Search::new(engine, self);
        match &self.claim {
            Claim::Never(calls) => search.refuted(calls, |_| true),
            Claim::OrbsAtMost(most, calls) => search.refuted(calls, |rule| match rule.orbs() {
                Some(Orbs::Free) => false,
                Some(Orbs::Amount(amount)) => amount > *most,
                Some(Orbs::Unstated) | None => true,
            }),
            Claim::Only(calls) => {
                search.reached_by(calls)?;
                let all = search.all().into_iter();
                let others =
                    all.filter(|(_, rule)| !calls.iter().any(|calls| has_all(calls, rule)));
                Ok(search.proof(others.collect(), |_| true))
            }
            Claim::Apart([one, other]) => {
                search.apart(search.reached(one)?, search.reached(other)?)
            }
        }
    }
}

struct Search<'e, 'p> {
    engine: &'e Engine,
    callers: &'p Callers,
    templates: Templates<'e>,
    /// The value that it puts into paths is a literal neither of the policy nor of the calls.
    spelling: Spelling<'e>,
}

impl<'e, 'p> Search<'e, 'p> {
    fn new(engine: &'e Engine, Property { claim, callers }: &'p Property) -> Self {
        let templates = Templates::of(engine);
        let calls = match claim {
            Claim::Never(calls) | Claim::Only(calls) | Claim::OrbsAtMost(_, calls) => {
                calls.as_slice()
            }
            Claim::Apart(calls) => calls,
        };
        let named = calls.iter().flat_map(Calls::literals);
        Self {
            engine,
            callers,
            spelling: Spelling::apart_from(&templates, named),
            templates,
        }
    }

    /// A request for each rule that decides some of these calls.
    fn reached(&self, calls: &Calls) -> Result<Reached<'e>, String> {
        let reached = match &calls.pattern {
            Pattern::All => self.all(),
            Pattern::Scope(name) => {
                let scope = self.engine.find_scope(name);
                let scope = scope.ok_or_else(|| unknown(self.engine, name))?;
                vec![(Asked::Scope(name.clone()), Rule::of_scope(scope))]
            }
            Pattern::Paths { method, paths } => {
                let (mut seen, mut reached) = (HashSet::new(), Vec::new());
                for template in self.templates.list() {
                    let Some(own) = paths.like(template.shape()) else {
                        continue;
                    };
                    if !fit_together(&own, template.shape()) {
                        continue;
                    }
                    let target = self.spelling.of_both(&own, template.shape());
                    let wanted = |own: &&&str| method.as_ref().is_none_or(|method| method == **own);
                    for method in template.methods().iter().filter(wanted) {
                        // Another, more specific template may decide it.
                        if let Ok(route) = route_of(self.engine, method, &target)
                            && seen.insert(route.index())
                        {
                            let (method, target) = ((*method).to_owned(), target.clone());
                            reached.push((Asked::Call { method, target }, Rule::of_route(route)));
                        }
                    }
                }
                reached.sort_by_key(|(_, rule)| rule.place());
                reached
            }
        };
        match reached.is_empty() {
            true => Err(format!("no route of the policy decides `{calls}`")),
            false => Ok(reached),
        }
    }

    /// A request for each rule of the policy: its routes, and its scopes without routes.
    fn all(&self) -> Reached<'e> {
        let rows = callable_rows(self.engine).map(|row| match row.route {
            Some(route) => {
                let method = route.method().to_owned();
                let target = self.spelling.of(&shape(route.template()));
                (Asked::Call { method, target }, Rule::of_route(route))
            }
            None => (
                Asked::Scope(row.scope.name().to_owned()),
                Rule::of_scope(row.scope),
            ),
        });
        rows.collect()
    }

    /// A request for each rule that decides one of these.
    fn reached_by(&self, calls: &[Calls]) -> Result<Reached<'e>, String> {
        let (mut seen, mut reached) = (HashSet::new(), Vec::new());
        for calls in calls {
            let own = self.reached(calls)?;
            let key = |rule: &Rule<'_>| (rule.route.map(|route| route.index()), rule.scope.index());
            reached.extend(own.into_iter().filter(|(_, rule)| seen.insert(key(rule))));
        }
        Ok(reached)
    }

    /// The calls by such rules that one of the callers may make.
    fn refuted(
        &self,
        calls: &[Calls],
        is_wrong: impl Fn(&Rule<'e>) -> bool,
    ) -> Result<Proof<'e>, String> {
        Ok(self.proof(self.reached_by(calls)?, is_wrong))
    }

    fn proof(&self, reached: Reached<'e>, is_wrong: impl Fn(&Rule<'e>) -> bool) -> Proof<'e> {
        let rules = reached.len();
        let wrong = reached.into_iter().filter(|(_, rule)| is_wrong(rule));
        let witnesses = wrong.filter_map(|(asked, rule)| {
            let mut callers = self.callers.with(rule.scope.name());
            let caller = callers.find(|caller| self.allows(&asked, caller))?;
            let requests = vec![(asked, rule)];
            Some(Witness { caller, requests })
        });
        Proof {
            rules,
            witnesses: witnesses.collect(),
        }
    }

    /// The callers that may make calls of both.
    fn apart(&self, one: Reached<'e>, other: Reached<'e>) -> Result<Proof<'e>, String> {
        let rules = one.len().saturating_add(other.len());
        let mut witnesses = Vec::new();
        for kind in self.callers.kinds() {
            let [one, other] = [&one, &other].map(|reached| self.first_by_scopes(reached, kind));
            let mut sets: Vec<_> = one.keys().chain(other.keys()).collect();
            sets.sort_unstable();
            sets.dedup();
            // What needs no scope, a token with any may do, too.
            let get = |first: &BTreeMap<String, (Asked, Rule<'e>)>, scopes: &str| {
                first.get(scopes).or_else(|| first.get("")).cloned()
            };
            for scopes in sets {
                if let (Some(one), Some(other)) = (get(&one, scopes), get(&other, scopes)) {
                    let scopes = scopes.clone();
                    let caller = Caller { kind, scopes };
                    let requests = vec![one, other];
                    witnesses.push(Witness { caller, requests });
                }
            }
        }
        Ok(Proof { rules, witnesses })
    }

    /// The first request that a token of this kind may make, by the fewest scopes that it needs for it.
    fn first_by_scopes(
        &self,
        reached: &Reached<'e>,
        kind: TokenKind,
    ) -> BTreeMap<String, (Asked, Rule<'e>)> {
        let mut first = BTreeMap::new();
        for (asked, rule) in reached {
            let callers = self.callers.with(rule.scope.name());
            let mut callers = callers.filter(|caller| caller.kind == kind);
            if let Some(caller) = callers.find(|caller| self.allows(asked, caller)) {
                first
                    .entry(caller.scopes)
                    .or_insert_with(|| (asked.clone(), *rule));
            }
        }
        first
    }

    fn allows(&self, asked: &Asked, caller: &Caller) -> bool {
        let token = Some(Token {
            kind: caller.kind,
            scopes: Scopes::Text(caller.scopes.as_bytes()),
        });
        let decision = match asked {
            Asked::Scope(name) => self.engine.decide_scope(name, token, false),
            Asked::Call { method, target } => self.engine.decide(&Request {
                method: method.as_bytes(),
                target: target.as_bytes(),
                token,
                allow_bonus_orbs_use: false,
            }),
        };
        decision.is_allow()
    }
}

/// Whether everything that this rule decides is among the calls.
fn has_all(calls: &Calls, rule: &Rule<'_>) -> bool {
    match (&calls.pattern, rule.route) {
        (Pattern::All, _) => true,
        (Pattern::Scope(name), None) => rule.scope.name() == name,
        (Pattern::Paths { method, paths }, Some(route)) => {
            method
                .as_ref()
                .is_none_or(|method| method == route.method())
                && paths.have_all_of(&shape(route.template()))
        }
        (Pattern::Scope(_), Some(_)) | (Pattern::Paths { .. }, None) => false,
    }
}
