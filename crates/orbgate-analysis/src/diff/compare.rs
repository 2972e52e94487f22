//! The comparison of two policies.

use core::ops::ControlFlow;
use std::collections::{HashMap, HashSet};

use orbgate::sorted::set_of;
use orbgate::{Engine, Profile, Scopes, Token, TokenKind};

use super::change::{Asked, Caller, Change, Cost, Rule};
use crate::meetings::meetings_of_two;
use crate::questions::{call, route_of};
use crate::templates::{Shape, Spelling, Template, Templates};

/// The changes for callers between two policies; see [`diff`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diff<'o, 'n> {
    /// All changes, each with a request that shows it: calls first, then scopes.
    ///
    /// A long base path is repeated in every change, so a short file can produce a long list. At most 16 MiB of
    /// changes that widen access are listed, and at most 16 MiB of other changes. [`left_out`](Self::left_out) counts
    /// the rest.
    pub changes: Vec<Change<'o, 'n>>,
    /// The number of changes that were found but aren't listed. The verdict includes them.
    pub left_out: usize,
    /// Whether everything was compared. `false` if too many templates overlap: see [`diff`].
    pub complete: bool,
    /// The effects of all changes that were found, listed or not.
    effects: Effects,
}

/// The combined effects of changes on callers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Effects {
    wider: bool,
    narrower: bool,
    counts: Counts,
}

/// The number of changes that were found, listed or not. A change can be of several kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Changes that [widen](Change::widens) access.
    pub widening: usize,
    /// Changes that [narrow](Change::narrows) access.
    pub narrowing: usize,
    /// Changes that remove a route or scope.
    pub removed: usize,
}

impl Counts {
    fn add(&mut self, change: &Change<'_, '_>) {
        let counts = [
            (&mut self.widening, change.widens()),
            (&mut self.narrowing, change.narrows()),
            (&mut self.removed, change.removed),
        ];
        for (count, is_so) in counts {
            *count = count.saturating_add(usize::from(is_so));
        }
    }
}

/// How access under the new policy compares with the old policy. Costs don't count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Every call is allowed for the same callers.
    Equivalent,
    /// Some call is allowed for more callers, and no call for fewer.
    Wider,
    /// Some call is allowed for fewer callers, and no call for more.
    Narrower,
    /// Some call becomes allowed for some callers, and some call becomes denied for some callers.
    Incomparable,
}

impl Verdict {
    /// The verdict in one word, in lower case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Equivalent => "equivalent",
            Self::Wider => "wider",
            Self::Narrower => "narrower",
            Self::Incomparable => "incomparable",
        }
    }
}

impl Diff<'_, '_> {
    /// How the new policy compares with the old one; `None` if not everything was compared.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        let Effects { wider, narrower, .. } = self.effects;
        self.complete.then_some(match (wider, narrower) {
            (false, false) => Verdict::Equivalent,
            (true, false) => Verdict::Wider,
            (false, true) => Verdict::Narrower,
            (true, true) => Verdict::Incomparable,
        })
    }

    /// Whether a call becomes allowed for a caller that the old policy denies, or might consume less.
    /// Also meaningful if not everything was compared.
    #[must_use]
    pub const fn widens(&self) -> bool {
        !self.complete || self.effects.counts.widening > 0
    }

    /// The number of changes that were found, listed or not. There might be more if not everything was
    /// compared.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.effects.counts
    }
}

/// Finds the changes when `new` replaces `old`.
///
/// Every request is covered. Two requests get the same decisions if their paths match the same templates of both
/// policies, so one request for each pair of overlapping templates is enough. Pairs whose templates exist in both
/// policies are skipped, because the same template wins in both.
///
/// Time is linear in the size of the policies and in the number of methods of each pair of overlapping templates, if
/// one policy lacks one of the two. After a million steps plus 20 for each route, the search ends, and the diff isn't
/// [`complete`](Diff::complete). A step tests one method on one path. Two policies of 500 routes take fewer steps.
///
/// ```
/// use orbgate::Engine;
///
/// let diff = orbgate_analysis::diff(Engine::external(), Engine::external());
/// assert!(diff.changes.is_empty() && !diff.widens());
/// ```
#[must_use]
pub fn diff<'o, 'n>(old: &'o Engine, new: &'n Engine) -> Diff<'o, 'n> {
    let mut search = Search {
        old,
        new,
        removed: HashSet::new(),
        seen: HashSet::new(),
        changes: Vec::new(),
        left_out: 0,
        room: [LISTED_BYTES; 2],
        effects: Effects::default(),
        steps: steps(old, new),
    };
    search.routes();
    search.scopes();
    Diff { complete: search.steps > 0, changes: search.changes, left_out: search.left_out, effects: search.effects }
}

/// The maximum total length of listed changes that widen access, in bytes, and the same for all
/// other changes.
const LISTED_BYTES: usize = 16 << 20;

fn steps(old: &Engine, new: &Engine) -> usize {
    let routes = old.routes().len().saturating_add(new.routes().len());
    routes.saturating_mul(20).saturating_add(1_000_000)
}

struct Search<'o, 'n> {
    old: &'o Engine,
    new: &'n Engine,
    /// The positions of the old policy's routes that the new policy lacks.
    removed: HashSet<u32>,
    /// The pairs of routes that were compared, by their positions in the policies.
    seen: HashSet<(Option<u32>, Option<u32>)>,
    changes: Vec<Change<'o, 'n>>,
    left_out: usize,
    /// The bytes left for changes that don't widen access, and for changes that do.
    room: [usize; 2],
    effects: Effects,
    steps: usize,
}

impl Search<'_, '_> {
    fn routes(&mut self) {
        let (old, new) = (Templates::of(self.old), Templates::of(self.new));
        let spelling = Spelling::new([&old, &new]);
        self.removed = old.routes_lacking_in(&new);
        for template in old.list() {
            if let Some(same) = new.get(template.shape()) {
                self.call(&spelling.of(template.shape()), &[template, same]);
            }
        }
        self.lacking(&old, &new, &spelling);
        self.lacking(&new, &old, &spelling);
        let both = || old.list().chain(new.list());
        if self.old.target() != self.new.target() {
            for template in both() {
                if let Some(target) = spelling.with_escape(template.shape()) {
                    self.call(&target, &[template]);
                }
            }
        }
        // Under `encoded_params`, an escaped literal is rejected in every path of its length (P19). Under
        // `strict`, every escape is rejected.
        if ![self.old.target(), self.new.target()].contains(&Profile::EncodedParams) {
            return;
        }
        let mut with_parameter: HashMap<(usize, usize), Vec<_>> = HashMap::new();
        for template in both() {
            for position in template.parameters() {
                let length = template.shape().len();
                with_parameter.entry((length, position)).or_default().push(template);
            }
        }
        for (length, position, literal) in spelling.escapable(&old, &new) {
            for template in with_parameter.get(&(length, position)).into_iter().flatten() {
                self.steps = self.steps.saturating_sub(1);
                if self.steps == 0 {
                    return;
                }
                let target = spelling.with_value(template.shape(), position, &literal);
                self.call(&target, &[template]);
            }
        }
    }

    /// Compares the decisions on calls that match templates which the other policy lacks.
    fn lacking(&mut self, own: &Templates<'_>, other: &Templates<'_>, spelling: &Spelling<'_>) {
        let lacks = |template: &&Template<'_>| other.get(template.shape()).is_none();
        let lacking: Vec<_> = own.list().filter(lacks).collect();
        for template in &lacking {
            self.call(&spelling.of(template.shape()), &[template]);
        }
        let others: Vec<_> = other.list().collect();
        // If it ends early, no step is left.
        let _ = meetings_of_two(&lacking, &others, |these, those| {
            for template in these.iter().filter_map(|at| lacking.get(*at)) {
                for other in those.iter().filter_map(|at| others.get(*at)) {
                    if self.steps == 0 {
                        return ControlFlow::Break(());
                    }
                    self.overlapping([template, other], spelling);
                }
            }
            ControlFlow::Continue(())
        });
    }

    /// Compares the decisions on calls that match both templates.
    fn overlapping(&mut self, templates: [&Template<'_>; 2], spelling: &Spelling<'_>) {
        let [one, two]: [&Shape<'_>; 2] = templates.map(Template::shape);
        let [first, second] = [spelling.of_both(one, two), spelling.of_both(two, one)];
        self.call(&first, &templates);
        if second != first {
            self.call(&second, &templates);
        }
        // A literal in a different letter case is rejected if a more specific template has it
        // (P21).
        let in_other_case = [spelling.in_other_case(one, two), spelling.in_other_case(two, one)];
        for target in in_other_case.into_iter().flatten() {
            self.call(&target, &templates);
        }
    }

    /// Compares the decisions on a target, for each method that one of these templates declares. Uses a step for
    /// each.
    fn call(&mut self, target: &str, templates: &[&Template<'_>]) {
        for method in templates.iter().flat_map(|template| template.methods()) {
            self.steps = self.steps.saturating_sub(1);
            if self.steps == 0 {
                return;
            }
            let before = route_of(self.old, method, target).ok();
            let after = route_of(self.new, method, target).ok();
            let pair = (before.map(|route| route.index()), after.map(|route| route.index()));
            if pair == (None, None) || !self.seen.insert(pair) {
                continue;
            }
            let asked = Asked::Call { method: (*method).to_owned(), target: target.to_owned() };
            let (before, after) = (before.map(Rule::of_route), after.map(Rule::of_route));
            self.compare(asked, before, after);
        }
    }

    fn scopes(&mut self) {
        let names = self
            .old
            .scope_table()
            .chain(self.new.scope_table().filter(|added| self.old.find_scope(added.name()).is_none()));
        for name in names.map(|scope| scope.name().to_owned()).collect::<Vec<_>>() {
            let before = self.old.find_scope(&name).map(Rule::of_scope);
            let after = self.new.find_scope(&name).map(Rule::of_scope);
            self.compare(Asked::Scope(name), before, after);
        }
    }
}

impl<'o, 'n> Search<'o, 'n> {
    /// Stores a change, if there is one. A decision depends only on the kind of the token and on whether it has all scopes
    /// of an alternative. If one policy allows a token that the other denies, it allows exactly the alternative, and the other
    /// denies that as well. So it is enough to test tokens with none or one of the alternatives.
    fn compare(&mut self, asked: Asked, before: Option<Rule<'o>>, after: Option<Rule<'n>>) {
        let (mut wider, mut narrower, mut payer) = (None, None, None);
        let needed = [before.map(|rule| rule.alternatives()), after.map(|rule| rule.alternatives())];
        let owned = needed.iter().flatten().filter_map(|alternatives| alternatives.first());
        let both = set_of(owned.flat_map(|scopes| scopes.split(' ')));
        let both = both.into_iter().collect::<Vec<_>>().join(" ");
        let tried: Vec<_> = core::iter::once("").chain(needed.iter().flatten().flatten().map(String::as_str)).collect();
        for kind in [TokenKind::User, TokenKind::Organisation] {
            for scopes in tried.iter().copied() {
                let allowed = self.allowed(&asked, kind, scopes);
                let caller = || Some(Caller { kind, scopes: scopes.to_owned() });
                match allowed {
                    (false, true) if wider.is_none() => wider = caller(),
                    (true, false) if narrower.is_none() => narrower = caller(),
                    _ => {}
                }
            }
            if payer.is_none() && self.allowed(&asked, kind, &both) == (true, true) {
                let scopes = both.clone();
                payer = Some(Caller { kind, scopes });
            }
        }
        let cost = match (before, after, &payer) {
            (Some(before), Some(after), Some(_)) => Cost::between(before.orbs(), after.orbs()),
            _ => None,
        };
        let removed = before.is_some_and(|rule| match rule.route {
            Some(route) => self.removed.contains(&route.index()),
            None => after.is_none(),
        });
        let change =
            Change { asked, before, after, wider, narrower, cost, payer: payer.filter(|_| cost.is_some()), removed };
        if change.is_any() {
            self.keep(change);
        }
    }

    /// Lists a change, if there is room, and counts it.
    fn keep(&mut self, change: Change<'o, 'n>) {
        self.effects.wider |= change.wider.is_some();
        self.effects.narrower |= change.narrower.is_some();
        self.effects.counts.add(&change);
        let [other, widening] = &mut self.room;
        let room = if change.widens() { widening } else { other };
        match room.checked_sub(change.bytes()) {
            Some(left) => {
                *room = left;
                self.changes.push(change);
            }
            None => self.left_out = self.left_out.saturating_add(1),
        }
    }

    /// Whether the old and the new policy allow this for a token.
    fn allowed(&self, asked: &Asked, kind: TokenKind, scopes: &str) -> (bool, bool) {
        let token = Token { kind, scopes: Scopes::Text(scopes.as_bytes()) };
        let allows = |engine: &Engine| {
            match asked {
                Asked::Call { method, target } => engine.decide(&call(method.as_bytes(), target.as_bytes(), token)),
                Asked::Scope(name) => engine.decide_scope(name, Some(token), false),
            }
            .is_allow()
        };
        (allows(self.old), allows(self.new))
    }
}
