//! A change between two policies, with a request that shows it.

use core::fmt;

use orbgate::{Location, Orbs, Requirement, Route, Scope, TokenKind};

/// A changed decision, with a request that shows it.
///
/// `Display` prints one line: `wider, cheaper: GET /users/1: ... -> ...`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change<'o, 'n> {
    /// The request.
    pub asked: Asked,
    /// The old policy's rule; `None` if it denies all callers.
    pub before: Option<Rule<'o>>,
    /// The new policy's rule; `None` if it denies all callers.
    pub after: Option<Rule<'n>>,
    /// A caller that the old policy denies and the new one allows.
    pub wider: Option<Caller>,
    /// A caller that the old policy allows and the new one denies.
    pub narrower: Option<Caller>,
    /// How the cost of the call changes, for callers that both policies allow.
    pub cost: Option<Cost>,
    /// A caller that both policies allow, at a different cost. `None` if [`cost`](Self::cost) is `None`.
    pub payer: Option<Caller>,
    /// Whether the new policy lacks the route or scope that decided before.
    pub removed: bool,
}

/// A request for both policies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A call.
    Call {
        /// The method.
        method: String,
        /// The request target.
        target: String,
    },
    /// A scope, without a route.
    Scope(String),
}

/// A policy's rule for a call: what a token needs, and orbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule<'e> {
    /// The route; `None` for a decision by scope without a route.
    pub route: Option<Route<'e>>,
    /// The scope: the one that the call needs, unless the rule has a [requirement](Rule::requirement).
    pub scope: Scope<'e>,
}

/// A caller: the parts of a token that a decision can depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The kind of its token.
    pub kind: TokenKind,
    /// The scopes of its token, separated by spaces.
    pub scopes: String,
}

/// The change in a call's cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cost {
    /// Fewer orbs.
    Less,
    /// More orbs.
    More,
    /// At least one policy doesn't state the amount.
    Unknown,
}

impl Cost {
    /// `cheaper`, `costlier`, or `other cost` if one of the amounts isn't stated.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Less => "cheaper",
            Self::More => "costlier",
            Self::Unknown => "other cost",
        }
    }
}

impl<'e> Rule<'e> {
    pub(crate) const fn of_route(route: Route<'e>) -> Self {
        Self { route: Some(route), scope: route.scope() }
    }

    pub(crate) const fn of_scope(scope: Scope<'e>) -> Self {
        Self { route: None, scope }
    }

    /// The smallest sets of scopes that the rule allows on a token to which it applies, each separated by one space.
    pub(crate) fn alternatives(&self) -> Vec<String> {
        match self.route {
            Some(route) => route.requirement().alternatives().map(|scopes| scopes.to_string()).collect(),
            None => vec![self.scope.name().to_owned()],
        }
    }

    /// What the route needs, if that isn't just [`Rule::scope`].
    #[must_use]
    pub fn requirement(&self) -> Option<Requirement<'e>> {
        Some(self.route?.requirement()).filter(|requirement| !requirement.is_one_scope())
    }

    /// The orbs that a call consumes; `None` if the policy doesn't state it.
    #[must_use]
    pub fn orbs(&self) -> Option<Orbs> {
        self.route.map_or_else(|| self.scope.orbs(), |route| Some(route.orbs()))
    }

    /// The location of the route or, without a route, of the scope in its policy file.
    #[must_use]
    pub fn location(&self) -> Location {
        self.route.map_or_else(|| self.scope.location(), |route| route.location())
    }
}

impl Cost {
    pub(super) fn between(before: Option<Orbs>, after: Option<Orbs>) -> Option<Self> {
        use Orbs::{Amount, Free};
        match (before, after) {
            (before, after) if before == after => None,
            // Nothing is less, whatever the other one is.
            (Some(Free), _) => Some(Self::More),
            (_, Some(Free)) => Some(Self::Less),
            (Some(Amount(before)), Some(Amount(after))) if after < before => Some(Self::Less),
            (Some(Amount(_)), Some(Amount(_))) => Some(Self::More),
            _ => Some(Self::Unknown),
        }
    }
}

impl Change<'_, '_> {
    /// Whether the new policy allows this to a caller that the old one denies, or for fewer orbs.
    #[must_use]
    pub const fn widens(&self) -> bool {
        self.wider.is_some() || matches!(self.cost, Some(Cost::Less | Cost::Unknown))
    }

    /// Whether the new policy denies this to a caller that the old one allows, or allows it for more
    /// orbs.
    #[must_use]
    pub const fn narrows(&self) -> bool {
        self.narrower.is_some() || matches!(self.cost, Some(Cost::More | Cost::Unknown))
    }

    /// Labels of the change: `wider`, `narrower`, a cost, `removed`.
    pub fn labels(&self) -> impl Iterator<Item = &'static str> + use<> {
        let words = [
            self.wider.as_ref().map(|_| "wider"),
            self.narrower.as_ref().map(|_| "narrower"),
            self.cost.map(Cost::as_str),
            self.removed.then_some("removed"),
        ];
        words.into_iter().flatten()
    }

    /// The length of its strings when written, in bytes. The request is repeated for each caller.
    pub(super) fn bytes(&self) -> usize {
        let length = match &self.asked {
            Asked::Call { method, target } => method.len().saturating_add(target.len()),
            Asked::Scope(name) => name.len(),
        };
        let callers = [&self.wider, &self.narrower, &self.payer];
        let callers = callers.into_iter().flatten();
        let callers = callers.map(|caller| caller.scopes.len().saturating_add(length));
        let rules = [&self.before, &self.after].into_iter().flatten();
        let rules = rules.map(|rule| {
            let route = rule.route.map_or(0, |route| route.as_str().len());
            let needed = rule.alternatives().iter().map(String::len).fold(0, usize::saturating_add);
            route.saturating_add(needed)
        });
        callers.chain(rules).fold(length, usize::saturating_add)
    }

    pub(super) const fn is_any(&self) -> bool {
        self.widens() || self.narrower.is_some() || self.cost.is_some() || self.removed
    }
}

impl fmt::Display for Change<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.labels().collect();
        write!(f, "{}: {}: ", words.join(", "), self.asked)?;
        rule(self.before.as_ref(), f)?;
        f.write_str(" -> ")?;
        rule(self.after.as_ref(), f)
    }
}

fn rule(rule: Option<&Rule<'_>>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match rule {
        None => f.write_str("denied"),
        Some(rule) => fmt::Display::fmt(rule, f),
    }
}

impl fmt::Display for Rule<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(route) = self.route {
            write!(f, "`{}` for ", route.as_str())?;
        }
        let or = core::iter::once("").chain(core::iter::repeat(" or "));
        for (or, scopes) in or.zip(self.alternatives()) {
            write!(f, "{or}`{scopes}`")?;
        }
        f.write_str(", ")?;
        match self.orbs() {
            Some(Orbs::Free) => f.write_str("0 orbs"),
            Some(Orbs::Amount(1)) => f.write_str("1 orb"),
            Some(Orbs::Amount(amount)) => write!(f, "{amount} orbs"),
            Some(Orbs::Unstated) | None => f.write_str("orbs not stated"),
        }?;
        match self.scope.organisation() {
            None => Ok(()),
            Some(rule) => write!(f, ", organisation: {}", rule.as_str()),
        }
    }
}

impl fmt::Display for Caller {
    /// `user with `read:a read:b``
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind.as_str();
        match self.scopes.as_str() {
            "" => write!(f, "{kind} without a scope"),
            scopes => write!(f, "{kind} with `{scopes}`"),
        }
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call { method, target } => write!(f, "{method} {target}"),
            Self::Scope(name) => write!(f, "scope {name}"),
        }
    }
}
