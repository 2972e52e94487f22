//! Proves a property, or finds the requests that refute it.
//!
//! The rule that decides a path depends only on the templates that the path matches. Of all paths that match a template
//! and a pattern, the most general path matches the fewest other templates, so the template decides some of these paths
//! only if it decides that one. An allow depends on the rule, the kind and the alternatives of the rule. So one decision
//! for each template, kind and alternative is a proof.

use core::fmt;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use orbgate::sorted::{set_of, sort_by_key};
use orbgate::{Engine, Orbs, Request, Route, Scopes, Token, TokenKind};

use super::callers::Callers;
use super::calls::{Calls, Pattern};
use super::statement::{Claim, Property};
use crate::diff::{Asked, Caller, Rule};
use crate::near::unknown;
use crate::questions::{callable_rows, route_of};
use crate::templates::{Spelling, Template, Templates, fit_together, shape};

/// The result of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proof<'e> {
    /// The number of rules that the calls reach: routes, and scopes without a route.
    pub rules: usize,
    /// A request for each rule that violates the property, in the order of the policy file. For
    /// [`Apart`](Claim::Apart), two requests for each caller.
    pub witnesses: Vec<Witness<'e>>,
    /// Why the property holds trivially, for example because the callers may call nothing at all. It is probably not
    /// what its writer meant.
    pub warning: Option<Cow<'static, str>>,
}

impl Proof<'_> {
    /// Whether the property holds for all requests.
    #[must_use]
    pub const fn holds(&self) -> bool {
        self.witnesses.is_empty()
    }
}

/// A caller, and its allowed requests that violate the property.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Witness<'e> {
    /// The caller, with only the scopes that it needs.
    pub caller: Caller,
    /// The requests, each with the rule that allows it: one request, or the two that should be
    /// apart.
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
        let requests: Vec<_> = requests.map(|(asked, rule)| Allowed { asked, rule }).collect();
        let mut json = serializer.serialize_struct("Witness", 2)?;
        json.serialize_field("caller", &self.caller)?;
        json.serialize_field("requests", &requests)?;
        json.end()
    }
}

/// A request for each rule that some calls reach.
type Reached<'e> = Vec<(Asked, Rule<'e>)>;

impl Property {
    /// Searches for requests that violate the property. If there are none, the property holds for all requests: paths
    /// of any length and spelling, and tokens with any other scopes. For each of the calls, time is linear in the
    /// number of routes.
    ///
    /// # Errors
    ///
    /// Fails if the property doesn't apply to this policy: it names a scope that the policy doesn't define, calls that
    /// no route decides, or no calls. Only [`Only`](Claim::Only) may list no calls, which means that nothing is
    /// allowed.
    pub fn prove<'e>(&self, engine: &'e Engine) -> Result<Proof<'e>, String> {
        self.callers.check(engine)?;
        let search = Search::new(engine, self);
        let (mut proof, little) = match &self.claim {
            Claim::Never(calls) => (search.proof(search.named(calls)?, |_| true), None),
            Claim::OrbsAtMost(most, calls) => {
                let reached = search.named(calls)?;
                let is_idle = !search.may_call_any(&reached);
                let proof = search.proof(reached, |rule| match rule.orbs() {
                    Some(Orbs::Free) => false,
                    Some(Orbs::Amount(amount)) => amount > *most,
                    Some(Orbs::Unstated) | None => true,
                });
                (proof, is_idle.then_some(NONE_OF_THESE))
            }
            Claim::Only(calls) => {
                search.reached_by(calls)?;
                let mut others = search.all();
                others.retain(|(_, rule)| !calls.iter().any(|calls| has_all(calls, rule)));
                let little = others.is_empty().then_some(EVERYTHING);
                (search.proof(others, |_| true), little)
            }
            Claim::Apart([one, other]) => {
                let both = [search.reached(one)?, search.reached(other)?];
                let is_idle = both.iter().any(|reached| !search.may_call_any(reached));
                let [one, other] = both;
                let little = is_idle.then_some(NONE_OF_ONE_KIND);
                (search.apart(one, other), little)
            }
        };
        if proof.holds() {
            // `only` without calls states that nothing is allowed, so this isn't trivial.
            let is_meant = matches!(&self.claim, Claim::Only(calls) if calls.is_empty());
            let is_idle = !is_meant && !search.may_call_any(&search.all());
            let little = is_idle.then_some(NOTHING).or(little).map(Cow::Borrowed);
            proof.warning = little.or_else(|| search.beside(&self.claim).map(Cow::Owned));
        }
        Ok(proof)
    }
}

/// For these callers, every property holds that allows something.
const NOTHING: &str = "these callers may call nothing at all, so it says little";

/// The property doesn't restrict these calls' orbs.
const NONE_OF_THESE: &str = "these callers may make none of these calls, so it says nothing about orbs";

/// No call can be added to these.
const EVERYTHING: &str = "these calls are all that the policy has, so nothing can be against it";

/// These calls needn't be kept apart.
const NONE_OF_ONE_KIND: &str =
    "these callers may make no call of one of the two kinds, so there is nothing to keep apart";

struct Search<'e, 'p> {
    engine: &'e Engine,
    callers: &'p Callers,
    templates: Templates<'e>,
    /// Paths contain a value that is a literal neither of the policy nor of the calls.
    spelling: Spelling<'e>,
}

impl<'e, 'p> Search<'e, 'p> {
    fn new(engine: &'e Engine, Property { claim, callers }: &'p Property) -> Self {
        let templates = Templates::of(engine);
        let calls = match claim {
            Claim::Never(calls) | Claim::Only(calls) | Claim::OrbsAtMost(_, calls) => calls.as_slice(),
            Claim::Apart(calls) => calls,
        };
        let named = calls.iter().flat_map(Calls::literals);
        Self { engine, callers, spelling: Spelling::apart_from(&templates, named), templates }
    }

    /// The warning about routes near a named template. Their paths also match it, so a reader might think that the
    /// property includes them. If [`Only`](Claim::Only) holds, no such route is allowed.
    fn beside(&self, claim: &Claim) -> Option<String> {
        let calls = match claim {
            Claim::Never(calls) | Claim::OrbsAtMost(_, calls) => calls.as_slice(),
            Claim::Apart(calls) => calls,
            Claim::Only(_) => return None,
        };
        let mut pairs = calls.iter().flat_map(|one| {
            let beside = self.beside_template(one).into_iter();
            beside.map(move |route| (one, route))
        });
        let (one, route) = pairs.find(|(_, route)| {
            let rule = Rule::of_route(*route);
            !calls.iter().any(|calls| has_all(calls, &rule))
        })?;
        Some(format!(
            "`{one}` means only that route, and `{}` decides other paths of the same form: to mean both, write `*` in place of `{{…}}`",
            route.as_str()
        ))
    }

    /// The routes of other templates that decide paths which also match the template of these
    /// calls.
    fn beside_template(&self, calls: &Calls) -> Vec<Route<'e>> {
        let Pattern::Paths { method, paths } = &calls.pattern else {
            return Vec::new();
        };
        let is_beside = |template: &&Template<'e>| {
            let own = paths.form_like(template.shape());
            let own = own.filter(|_| paths.is_template);
            own.is_some_and(|own| own != template.shape() && fit_together(&own, template.shape()))
        };
        let routes = self.templates.list().filter(is_beside).flat_map(|template| {
            let target = self.spelling.of(template.shape());
            let wanted = |own: &&&str| method.as_ref().is_none_or(|method| method == **own);
            let methods = template.methods().iter().filter(wanted);
            methods.filter_map(move |method| route_of(self.engine, method, &target).ok())
        });
        routes.collect()
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
                        // A more specific template might decide it.
                        if let Ok(route) = route_of(self.engine, method, &target)
                            && seen.insert(route.index())
                        {
                            let (method, target) = ((*method).to_owned(), target.clone());
                            reached.push((Asked::Call { method, target }, Rule::of_route(route)));
                        }
                    }
                }
                sort_by_key(&mut reached, |(_, rule): &(_, Rule<'_>)| rule.location());
                reached
            }
        };
        let is_template = matches!(&calls.pattern, Pattern::Paths { paths, .. } if paths.is_template);
        match (reached.is_empty(), is_template) {
            (false, _) => Ok(reached),
            (true, false) => Err(format!("no route of the policy decides `{calls}`")),
            (true, true) => Err(format!(
                "the policy has no route `{calls}`; with `*` in place of `{{…}}`, all paths of this form are meant"
            )),
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
            None => (Asked::Scope(row.scope.name().to_owned()), Rule::of_scope(row.scope)),
        });
        rows.collect()
    }

    /// A request for each rule that decides one of these calls.
    fn reached_by(&self, calls: &[Calls]) -> Result<Reached<'e>, String> {
        let (mut seen, mut reached) = (HashSet::new(), Vec::new());
        for calls in calls {
            let own = self.reached(calls)?;
            let key = |rule: &Rule<'_>| (rule.route.map(|route| route.index()), rule.scope.index());
            reached.extend(own.into_iter().filter(|(_, rule)| seen.insert(key(rule))));
        }
        Ok(reached)
    }

    /// The same, but fails if there aren't any.
    fn named(&self, calls: &[Calls]) -> Result<Reached<'e>, String> {
        match calls {
            [] => Err("it names no calls".to_owned()),
            calls => self.reached_by(calls),
        }
    }

    /// Whether one of the callers may make one of these calls.
    fn may_call_any(&self, reached: &Reached<'e>) -> bool {
        reached.iter().any(|(asked, rule)| {
            let mut callers = self.callers.with(rule);
            callers.any(|caller| self.allows(asked, &caller))
        })
    }

    /// The calls through such rules that one of the callers may make.
    fn proof(&self, reached: Reached<'e>, is_wrong: impl Fn(&Rule<'e>) -> bool) -> Proof<'e> {
        let rules = reached.len();
        let wrong = reached.into_iter().filter(|(_, rule)| is_wrong(rule));
        let witnesses = wrong.filter_map(|(asked, rule)| {
            let mut callers = self.callers.with(&rule);
            let caller = callers.find(|caller| self.allows(&asked, caller))?;
            let requests = vec![(asked, rule)];
            Some(Witness { caller, requests })
        });
        Proof { rules, witnesses: witnesses.collect(), warning: None }
    }

    /// The callers that may make calls of both kinds.
    fn apart(&self, one: Reached<'e>, other: Reached<'e>) -> Proof<'e> {
        let rules = one.len().saturating_add(other.len());
        let mut witnesses = Vec::new();
        for kind in self.callers.kinds() {
            let [one, other] = [&one, &other].map(|reached| self.first_by_scopes(reached, kind));
            let sets = set_of(one.keys().chain(other.keys()).map(String::as_str));
            // A token with any scopes may also make a call that needs no scope, or fewer.
            let get = |first: &BTreeMap<String, (Asked, Rule<'e>)>, scopes: &str| {
                let has_all = |fewer: &str| fewer.split(' ').all(|scope| scopes.split(' ').any(|other| other == scope));
                let by_fewer = || first.iter().find(|(fewer, _)| scopes.contains(' ') && has_all(fewer));
                let reached = first.get(scopes).or_else(|| first.get(""));
                reached.or_else(|| Some(by_fewer()?.1)).cloned()
            };
            for scopes in sets {
                if let (Some(one), Some(other)) = (get(&one, scopes), get(&other, scopes)) {
                    let caller = Caller { kind, scopes: scopes.to_owned() };
                    let requests = vec![one, other];
                    witnesses.push(Witness { caller, requests });
                }
            }
        }
        Proof { rules, witnesses, warning: None }
    }

    /// The first request that a token of this kind may make, by the smallest sets of scopes with which it may.
    fn first_by_scopes(&self, reached: &Reached<'e>, kind: TokenKind) -> BTreeMap<String, (Asked, Rule<'e>)> {
        let mut first = BTreeMap::new();
        for (asked, rule) in reached {
            let callers = self.callers.with(rule).filter(|caller| caller.kind == kind);
            for caller in callers.filter(|caller| self.allows(asked, caller)) {
                let needs_none = caller.scopes.is_empty();
                first.entry(caller.scopes).or_insert_with(|| (asked.clone(), *rule));
                if needs_none {
                    break;
                }
            }
        }
        first
    }

    fn allows(&self, asked: &Asked, caller: &Caller) -> bool {
        let token = Some(Token { kind: caller.kind, scopes: Scopes::Text(caller.scopes.as_bytes()) });
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

/// Whether the calls include everything that this rule decides.
fn has_all(calls: &Calls, rule: &Rule<'_>) -> bool {
    match (&calls.pattern, rule.route) {
        (Pattern::All, _) => true,
        (Pattern::Scope(name), None) => rule.scope.name() == name,
        (Pattern::Paths { method, paths }, Some(route)) => {
            method.as_ref().is_none_or(|method| method == route.method()) && paths.have_all_of(&shape(route.template()))
        }
        (Pattern::Scope(_), Some(_)) | (Pattern::Paths { .. }, None) => false,
    }
}
