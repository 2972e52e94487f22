//! Routes that need no token, such as a health check.

use std::collections::BTreeSet;

use orbgate::{Decision, Engine, Policy, Profile, Reason, Route};

use crate::request::is_parameter;

/// Routes that need no token, such as `GET /healthz`. Each is a method and a template, written as in a policy, with the
/// whole path.
///
/// A gate allows their requests before it reads a token. The policy's rules for paths also apply to them. Under
/// `trailing_slash: always`, requests must end in a slash, although the templates are written without it. `HEAD` is a
/// separate method. No path may match both a public route and a route of the policy, even with different methods:
/// [check](PublicRoutes::check) each policy before you pass it to a gate.
#[derive(Clone, Debug)]
pub struct PublicRoutes {
    routes: Vec<String>,
    /// One engine for each way in which a policy can spell paths.
    engines: Vec<Engine>,
}

/// The spellings: which escapes a target can contain, and whether paths end in a slash.
const SPELLINGS: [(Profile, &str); 4] = [
    (Profile::Strict, "never"),
    (Profile::Strict, "always"),
    (Profile::EncodedParams, "never"),
    (Profile::EncodedParams, "always"),
];

impl PublicRoutes {
    /// Compiles the routes.
    ///
    /// # Errors
    ///
    /// Returns every route that isn't valid in a policy, and every route that is listed twice.
    pub fn new<S: Into<String>>(routes: impl IntoIterator<Item = S>) -> Result<Self, PublicRoutesError> {
        let routes: Vec<_> = routes.into_iter().map(Into::into).collect();
        let engines = SPELLINGS.map(|(profile, slash)| compile(&routes, profile, slash));
        Ok(Self { engines: engines.into_iter().collect::<Result<_, _>>()?, routes })
    }

    /// The routes as a gate with this policy spells them: each path ends in a slash if the policy's paths do.
    pub(crate) fn routes(&self, policy: &Engine) -> impl Iterator<Item = Route<'_>> {
        self.like(policy).into_iter().flat_map(Engine::routes)
    }

    /// The engine that accepts the same spellings as a policy.
    fn like(&self, policy: &Engine) -> Option<&Engine> {
        let spelling = |engine: &Engine| (engine.target(), engine.trailing_slash());
        let mut engines = self.engines.iter();
        engines.find(|engine| spelling(engine) == spelling(policy))
    }

    /// Checks that no path matches both a public route and a route of this policy.
    ///
    /// # Errors
    ///
    /// Returns every pair of templates that overlap.
    pub fn check(&self, engine: &Engine) -> Result<(), PublicRoutesError> {
        let pairs = self.routes(engine).flat_map(|ours| engine.routes().map(move |theirs| (ours, theirs)));
        let pairs = pairs.map(|(ours, theirs)| (ours.template(), theirs.template()));
        let overlapping: BTreeSet<_> = pairs.filter(|(one, two)| overlap(one, two)).collect();
        let lines = overlapping
            .iter()
            .take(MOST_LINES)
            .map(|(one, two)| format!("public route `{one}`: the policy's `{two}` fits the same paths"));
        let lines: Vec<_> = lines.collect();
        match lines.is_empty() {
            true => Ok(()),
            false => Err(PublicRoutesError { lines }),
        }
    }

    /// Checks that each request that is public under a new policy is also public under the active one. Another
    /// `trailing_slash` or `target` changes which paths match the same routes.
    ///
    /// # Errors
    ///
    /// Returns every route whose requests are spelled in a way that the active policy denies.
    pub fn check_wider(&self, active: &Engine, new: &Engine) -> Result<(), PublicRoutesError> {
        let escapes = (active.target(), new.target()) == (Profile::Strict, Profile::EncodedParams);
        let pairs = self.routes(active).zip(self.routes(new));
        let wider = pairs.filter(|(before, after)| {
            let has_parameter = after.template().split('/').any(is_parameter);
            before.template() != after.template() || (escapes && has_parameter)
        });
        let lines = wider.map(|(_, after)| {
            format!(
                "public route `{}`: it allows other paths than before, because the policy's `target` or `trailing_slash` has changed",
                after.as_str()
            )
        });
        let lines: Vec<_> = lines.take(MOST_LINES).collect();
        match lines.is_empty() {
            true => Ok(()),
            false => Err(PublicRoutesError { lines }),
        }
    }

    /// The routes, as given.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.routes.iter().map(String::as_str)
    }

    /// The allow that a gate with this policy returns for a request that needs no token.
    #[must_use]
    pub fn decide<'e>(&self, engine: &'e Engine, method: &[u8], target: &[u8]) -> Option<Decision<'e>> {
        let tokenless = engine.decide(&orbgate::Request { method, target, token: None, allow_bonus_orbs_use: false });
        let is_public = lacks(&tokenless) && self.template(engine, method, target).is_some();
        is_public.then(|| engine.allow_public())
    }

    /// The template that a request matches, spelled as a gate with this policy spells it, even if a route of the policy
    /// also matches.
    #[must_use]
    pub fn template(&self, policy: &Engine, method: &[u8], target: &[u8]) -> Option<&str> {
        let engine = self.like(policy)?;
        let decision = engine.decide(&orbgate::Request { method, target, token: None, allow_bonus_orbs_use: false });
        Some(decision.about()?.template())
    }
}

/// Whether the policy has no route for a request, according to its decision without a token. A route of the policy is
/// never public, even if the two overlap.
pub(crate) fn lacks(tokenless: &Decision<'_>) -> bool {
    tokenless.reason() == Reason::NoToken && tokenless.about().is_none()
}

/// Two lists of the same routes are equal.
impl PartialEq for PublicRoutes {
    fn eq(&self, other: &Self) -> bool {
        self.routes == other.routes
    }
}

impl Eq for PublicRoutes {}

const MOST_LINES: usize = 100;

/// An engine with only these routes. Line `n` of the document is the `n`th route of the list.
fn compile(routes: &[String], profile: Profile, slash: &str) -> Result<Engine, PublicRoutesError> {
    let quoted = routes.iter().map(|route| serde_json::json!(route).to_string());
    let list = quoted.collect::<Vec<_>>().join("\n,");
    let target = profile.as_str();
    let text = format!(
        r#"{{"orbgate":1,"target":"{target}","trailing_slash":"{slash}","apis":{{"public":{{"base_path":"","scopes":{{"public":{{"orbs":false,"routes":[{list}]}}}}}}}}}}"#
    );
    let policy = Policy::from_yaml(&text).map_err(|error| {
        let lines = error.diagnostics().iter().map(|diagnostic| {
            let at = usize::try_from(diagnostic.location.line).ok();
            let route = at.and_then(|at| routes.get(at.checked_sub(1)?));
            let route = route.map_or("", String::as_str);
            format!("public route `{route}`: {}", diagnostic.message)
        });
        PublicRoutesError { lines: lines.collect() }
    })?;
    Ok(Engine::new(&policy))
}

/// Whether one path matches both templates. Literals that differ only in letter case count as equal, because a path
/// that matches one of them is rejected by the other.
fn overlap(one: &str, two: &str) -> bool {
    let (mut one, mut two) = (one.split('/'), two.split('/'));
    loop {
        match (one.next(), two.next()) {
            (None, None) => return true,
            (Some(one), Some(two)) if one.eq_ignore_ascii_case(two) => {}
            (Some(one), Some(two)) if is_parameter(one) && !two.is_empty() => {}
            (Some(one), Some(two)) if is_parameter(two) && !one.is_empty() => {}
            _ => return false,
        }
    }
}

/// Public routes that are invalid or that overlap a policy's routes, one line for each.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", lines.join("\n"))]
pub struct PublicRoutesError {
    lines: Vec<String>,
}

impl PublicRoutesError {
    /// One line for each route, or for each pair of templates that overlap.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        &self.lines
    }
}

orbgate_yaml::debug_as_display!(PublicRoutesError);
