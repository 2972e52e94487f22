//! The security of an operation: the scopes that it needs, or why no policy can express that.

use std::collections::{BTreeSet, HashSet};

use orbgate::{Location, is_earned};
use orbgate_yaml::{Content as Value, Node, quoted};

use crate::Options;
use crate::node::{Cause, NoteKind, Problem, at, entries, location, malformed, text};
use crate::scheme::{Choice, Flavour, Schemes};

/// What an operation needs: scopes of one scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Needed {
    /// The scheme's number.
    pub(super) scheme: usize,
    /// The scope that owns the route.
    pub(super) scope: String,
    /// The scopes that are needed in addition to the owner, sorted.
    pub(super) and: Vec<String>,
    /// The sets of scopes that are enough instead, sorted.
    pub(super) or: Vec<Vec<String>>,
}

impl Needed {
    const fn one(scheme: usize, scope: String) -> Self {
        Self { scheme, scope, and: Vec::new(), or: Vec::new() }
    }

    /// Whether it is only the owner.
    pub(super) const fn is_one_scope(&self) -> bool {
        self.and.is_empty() && self.or.is_empty()
    }

    /// Whether both have the same alternatives, whichever of them comes first.
    pub(super) fn is_met_with(&self, other: &Self) -> bool {
        let sets = |needed: &Self| -> BTreeSet<BTreeSet<String>> {
            let own = core::iter::once(&needed.scope).chain(&needed.and).cloned().collect();
            core::iter::once(own).chain(needed.or.iter().map(|set| set.iter().cloned().collect())).collect()
        };
        self.scheme == other.scheme && (self == other || sets(self) == sets(other))
    }

    /// The alternatives as a policy has them: scopes separated by one space, the owner first.
    pub(super) fn alternatives(&self) -> impl Iterator<Item = String> {
        let own = core::iter::once(&self.scope).chain(&self.and).map(String::as_str);
        let own = own.collect::<Vec<_>>().join(" ");
        core::iter::once(own).chain(self.or.iter().map(|scopes| scopes.join(" ")))
    }

    /// Every scope that it names, some perhaps several times.
    pub(super) fn scopes(&self) -> impl Iterator<Item = &String> {
        core::iter::once(&self.scope).chain(&self.and).chain(self.or.iter().flatten())
    }
}

/// What an operation needs, and what users should know of that.
pub(super) type Found = Result<(Needed, Vec<Remark>), Problem>;

/// What users should know of an operation that is imported.
#[derive(Clone, Debug)]
pub(super) struct Remark {
    pub(super) kind: NoteKind,
    pub(super) message: String,
    /// Of remarks with the same subject, the first one is shown, with their number.
    pub(super) subject: Option<String>,
}

impl Remark {
    /// A remark about one operation.
    pub(super) const fn new(kind: NoteKind, message: String) -> Self {
        Self { kind, message, subject: None }
    }

    /// A remark that nearly all operations can have.
    fn of_many(kind: NoteKind, message: String) -> Self {
        Self { kind, subject: Some(message.clone()), message }
    }
}

/// One way to be allowed: a list of schemes with scopes, all of which are required.
pub(super) type Way = Vec<(String, Vec<String>)>;

/// The part of a way that the policy checks.
type Rest<'w> = Vec<(&'w str, &'w [String])>;

/// Why no policy can express it.
type Why = (Cause, String);

/// Which schemes count, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'r> {
    pub(super) schemes: &'r Schemes,
    pub(super) choice: &'r Choice,
    pub(super) options: &'r Options,
}

/// Far more alternatives and names than a policy can have. Comparing more of them with each other could take long.
const ALTERNATIVES: usize = 256;
const NAMES: usize = 1_024;

/// The requirements of an operation without `security`, in a document without it.
pub(super) fn default(operation: Location, rules: Rules<'_>) -> Found {
    let (only, default_scope) = (rules.schemes.only(), &rules.options.default_scope);
    if let (Some((scheme, _)), Some(scope)) = (only, default_scope) {
        return Ok((Needed::one(scheme, scope.clone()), Vec::new()));
    }
    let takes_option = default_scope.is_none() && (only.is_some() || rules.schemes.chosen().next().is_none());
    let advice = if takes_option { with_any_token("") } else { String::new() };
    let message = format!("neither the operation nor the document has `security`{advice}");
    Err(Problem::new(Cause::NoSecurity, operation, message))
}

/// The option for operations that name no scope, which messages suggest.
pub(super) const ANY_TOKEN: &str = "--default-scope earned:any-token";

/// What lets calls pass that need no token.
const PUBLIC: &str = "; list it in the gates' setting `public`, unless a route of the policy fits its path";

/// What it means.
pub(super) const ANY_TOKEN_MEANS: &str = "any valid token is enough for an operation without a scope, if `tokens.yaml` has `derive: { earned:any-token: always }`";

/// The option after others, and what it means.
fn with_any_token(options: &str) -> String {
    format!("; with `{options}{ANY_TOKEN}`, {ANY_TOKEN_MEANS}")
}

/// The requirements that `security` states.
pub(super) fn needed(security: &Node<'_>, rules: Rules<'_>) -> Found {
    of_ways(&read(security)?, rules).map_err(|(kind, message)| Problem::new(kind, location(security), message))
}

/// What any of these ways requires.
pub(super) fn of_ways(ways: &[Way], rules: Rules<'_>) -> Result<(Needed, Vec<Remark>), Why> {
    let mut remarks = Vec::new();
    let rests = required(ways, rules, &mut remarks)?;
    let (scheme, alternatives) = of_one_scheme(rests, rules, &mut remarks)?;
    let (scope, alternatives) = without_redundant(alternatives, &mut remarks)?;
    let several = alternatives.iter().find(|scopes| scopes.len() > 1);
    remarks.extend(several.map(all_of));
    let mut needed = Needed::one(scheme, scope);
    for (number, mut scopes) in alternatives.into_iter().enumerate() {
        if number == 0 {
            scopes.remove(&needed.scope);
            needed.and = scopes.into_iter().collect();
        } else {
            needed.or.push(scopes.into_iter().collect());
        }
    }
    needed.or.sort_unstable();
    undeclared(&needed, rules, &mut remarks);
    Ok((needed, remarks))
}

/// Remarks on the scopes that none of the api's schemes declares. A scheme that declares none might have any.
fn undeclared(needed: &Needed, rules: Rules<'_>, remarks: &mut Vec<Remark>) {
    let schemes: Vec<_> = rules.schemes.of_api(needed.scheme).collect();
    if schemes.iter().any(|scheme| scheme.declared.is_empty()) {
        return;
    }
    let is_declared = |scope: &&String| schemes.iter().any(|scheme| scheme.declared.contains(*scope));
    let unknown: BTreeSet<_> = needed.scopes().filter(|scope| !is_declared(scope)).collect();
    let names: Vec<_> = schemes.iter().map(|scheme| scheme.name.clone()).collect();
    let names = match names.as_slice() {
        [one] => format!("scheme {} doesn't declare", quoted(one)),
        several => format!("none of the schemes {} declares", list(several)),
    };
    let unknown = unknown.into_iter().filter(|scope| rules.options.default_scope.as_ref() != Some(scope));
    let remark =
        |scope: &String| Remark::of_many(NoteKind::UndeclaredScope, format!("{names} scope {}", quoted(scope)));
    remarks.extend(unknown.map(remark));
}

/// The remark that several scopes are needed at once.
fn all_of(scopes: &BTreeSet<String>) -> Remark {
    let scopes = list(&scopes.iter().cloned().collect::<Vec<_>>());
    let message =
        format!("all of {scopes} are needed at once; if the document means any of them, use `--all-of-as-any`");
    Remark { kind: NoteKind::AllOf, message, subject: Some(String::new()) }
}

/// Whether some way to be allowed is by scopes.
pub(super) fn names_scopes(security: Option<&Node<'_>>) -> bool {
    let ways = security.and_then(|security| read(security).ok()).unwrap_or_default();
    have_scopes(&ways)
}

/// The requirements of an operation whose `security` leaves out scopes that must be earned; `full` has them, and nothing else.
pub(super) fn has_only_more_earned(security: Option<&Node<'_>>, full: &Node<'_>) -> Result<bool, Problem> {
    let ways = |node: &Node<'_>| read(node).map(|ways| without_earned(&ways));
    let stated = security.map(ways).transpose()?;
    Ok(stated == Some(ways(full)?))
}

/// Ways without scopes that must be earned, each once.
fn without_earned(ways: &[Way]) -> Vec<Way> {
    let mut kept: Vec<Way> = Vec::new();
    for way in ways {
        let ordinary = |scopes: &[String]| scopes.iter().filter(|scope| !is_earned(scope)).cloned().collect();
        let way: Way = way.iter().map(|(scheme, scopes)| (scheme.clone(), ordinary(scopes))).collect();
        if !kept.contains(&way) {
            kept.push(way);
        }
    }
    kept
}

pub(super) fn have_scopes(ways: &[Way]) -> bool {
    ways.iter().flatten().any(|(_, scopes)| !scopes.is_empty())
}

/// The ways to be allowed that count, without schemes that are checked elsewhere: those of the schemes that were asked for,
/// none of them without a token.
fn required<'w>(ways: &'w [Way], rules: Rules<'_>, remarks: &mut Vec<Remark>) -> Result<Vec<Rest<'w>>, Why> {
    if ways.is_empty() {
        return Err((Cause::Open, format!("`security: []`: anyone can call it{PUBLIC}")));
    }
    if ways.iter().any(Vec::is_empty) {
        let is_only = ways.iter().all(Vec::is_empty);
        if is_only || !rules.options.require_optional {
            let advice = if is_only { PUBLIC } else { "; with `--optional require`, the policy requires it" };
            let message = format!("one way to be allowed is `{{}}`: security is optional{advice}");
            return Err((Cause::Optional, message));
        }
        let message = "callers without a token are denied, although one way to be allowed is `{}`";
        remarks.push(Remark::new(NoteKind::RequiredOptional, message.to_owned()));
    }
    let mut rests = Vec::with_capacity(ways.len());
    let mut dropped = BTreeSet::new();
    for way in ways.iter().filter(|way| !way.is_empty()) {
        let rest: Rest<'_> = way.iter().map(|(name, scopes)| (name.as_str(), scopes.as_slice())).collect();
        let names = schemes_of(&rest);
        let (elsewhere, rest): (Rest<'_>, Rest<'_>) = rest.into_iter().partition(|part| rules.is_elsewhere(part));
        if rest.is_empty() {
            dropped.insert(names);
        } else {
            rests.push((rest, elsewhere));
        }
    }
    if let Some(names) = dropped.first().filter(|_| rests.is_empty()) {
        let message = format!("the policy has nothing to check: {names} is checked elsewhere{PUBLIC}");
        return Err((Cause::OtherScheme, message));
    }
    remarks.extend(dropped.into_iter().map(|names| {
        let message = format!("callers with only {names} are denied: the policy has nothing to check");
        Remark::of_many(NoteKind::DroppedAlternative, message)
    }));
    if !rules.choice.token.is_empty() {
        // The policy allows nothing to callers of other schemes.
        let others: BTreeSet<_> = rests.iter().map(|(rest, _)| schemes_of(rest)).collect();
        rests.retain(|(rest, _)| rest.iter().any(|(name, _)| rules.is_token(name)));
        if rests.is_empty() {
            let names: Vec<_> = rules.options.schemes.iter().map(|name| quoted(name)).collect();
            let others: Vec<_> = others.into_iter().take(SHOWN).collect();
            let message = format!("no way to be allowed is by {}, only by {}", names.join(" or "), others.join(" or "));
            return Err((Cause::OtherScheme, message));
        }
    }
    remarks.extend(checked_elsewhere(&rests));
    Ok(rests.into_iter().map(|(rest, _)| rest).collect())
}

/// The remark on the schemes that something in front must check, for some or all ways to be allowed.
fn checked_elsewhere(rests: &[(Rest<'_>, Rest<'_>)]) -> Option<Remark> {
    let of_each: BTreeSet<_> = rests.iter().map(|(_, elsewhere)| schemes_of(elsewhere)).collect();
    let named: Vec<_> = of_each.iter().filter(|names| !names.is_empty()).map(String::as_str).collect();
    let some = if of_each.len() > 1 { ", depending on the alternative" } else { "" };
    let message = format!("something in front must check {}{some}", named.join(" or "));
    (!named.is_empty()).then(|| Remark::of_many(NoteKind::CheckedElsewhere, message))
}

impl Rules<'_> {
    fn is_token(&self, name: &str) -> bool {
        self.schemes.find(name).is_some_and(|(number, _)| self.choice.token.contains(&number))
    }

    /// Whether something in front of the policy checks it. Roles aren't dropped.
    fn is_elsewhere(&self, (name, roles): &(&str, &[String])) -> bool {
        let scheme = self.schemes.find(name).filter(|_| roles.is_empty());
        scheme.is_some_and(|(number, _)| self.choice.elsewhere.contains(&number))
    }
}

/// The alternatives of the first scheme that has scopes. The others are dropped, which only narrows what is allowed.
fn of_one_scheme(
    rests: Vec<Rest<'_>>,
    rules: Rules<'_>,
    remarks: &mut Vec<Remark>,
) -> Result<(usize, Vec<Vec<String>>), Why> {
    let mut kept: Vec<Vec<String>> = Vec::new();
    let mut of = None;
    let mut dropped = Vec::new();
    for rest in rests {
        match scopes_of(&rest, rules) {
            Ok((_, alternatives)) if alternatives.iter().any(Vec::is_empty) => {
                let are = if rest.len() > 1 { "are" } else { "is" };
                let message = format!("{} {are} needed without a scope{}", schemes_of(&rest), with_any_token(""));
                return Err((Cause::NoScope, message));
            }
            Ok((scheme, alternatives)) if of.is_none_or(|of| of == scheme) => {
                of = Some(scheme);
                kept.extend(alternatives);
            }
            Ok(_) => {
                let message = "it isn't the scheme of the first alternative with scopes";
                dropped.push((rest, (Cause::OtherScheme, message.to_owned())));
            }
            Err(why) => dropped.push((rest, why)),
        }
    }
    let Some(scheme) = of else {
        let why = dropped.into_iter().next().map(|(_, why)| why);
        return Err(why.unwrap_or((Cause::Open, String::new())));
    };
    let dropped = dropped.into_iter().map(|(rest, (cause, why))| match cause {
        Cause::SeveralSchemes => format!("callers with {} are denied: {why}", schemes_of(&rest)),
        _ => format!("callers with only {} are denied: {why}", schemes_of(&rest)),
    });
    // Of ways with the same schemes, one is enough.
    let dropped: BTreeSet<_> = dropped.collect();
    remarks.extend(dropped.into_iter().map(|message| Remark::of_many(NoteKind::DroppedAlternative, message)));
    Ok((scheme, kept))
}

/// The number of the scheme that is the api, and the scopes of a way to be allowed, or why a policy can't express it. Several
/// lists only with `--all-of-as-any`.
fn scopes_of(rest: &Rest<'_>, rules: Rules<'_>) -> Result<(usize, Vec<Vec<String>>), Why> {
    if rest.len() > 1 && !rest.iter().all(|(name, _)| rules.is_token(name)) {
        return Err((Cause::SeveralSchemes, format!("all of these schemes are needed: {}", schemes_of(rest))));
    }
    let (mut api, mut lists) = (None, 0_usize);
    let (mut scopes, mut seen) = (Vec::new(), HashSet::new());
    for (name, own) in rest {
        let Some((scheme, declared)) = rules.schemes.find(name) else {
            return Err((Cause::UnknownScheme, format!("scheme {} is not declared", quoted(name))));
        };
        if let Some(why) = rules.without_scopes(scheme, &declared.flavour, own) {
            return Err((Cause::OtherScheme, format!("scheme {} {why}", quoted(name))));
        }
        api = Some(rules.choice.api_of(scheme));
        lists = lists.saturating_add(usize::from(!own.is_empty()));
        scopes.extend(own.iter().filter(|scope| seen.insert(scope.as_str())).cloned());
    }
    if scopes.is_empty() {
        scopes.extend(rules.options.default_scope.clone());
    }
    let alternatives = match rules.options.all_of_as_any && scopes.len() > 1 {
        false => vec![scopes],
        true if lists == 1 => scopes.into_iter().map(|scope| vec![scope]).collect(),
        true => {
            let message = format!(
                "`--all-of-as-any` can't be applied, because several schemes have scopes: {}",
                schemes_of(rest)
            );
            return Err((Cause::SeveralSchemes, message));
        }
    };
    Ok((api.unwrap_or_default(), alternatives))
}

/// The owner, and the alternatives as sets, the owner's first. No set contains another.
fn without_redundant(
    alternatives: Vec<Vec<String>>,
    remarks: &mut Vec<Remark>,
) -> Result<(String, Vec<BTreeSet<String>>), Why> {
    let mut firsts = Vec::new();
    let mut sets: Vec<BTreeSet<String>> = Vec::new();
    let mut seen = BTreeSet::new();
    for scopes in alternatives {
        let owner = scopes.first().cloned().unwrap_or_default();
        let set: BTreeSet<_> = scopes.into_iter().collect();
        if seen.insert(set.clone()) {
            firsts.push(owner);
            sets.push(set);
        }
    }
    if sets.len() > ALTERNATIVES || sets.iter().map(BTreeSet::len).sum::<usize>() > NAMES {
        let message = format!("there are over {ALTERNATIVES} alternatives, or they name over {NAMES} scopes");
        return Err((Cause::Requirement, message));
    }
    let mut owner = None;
    let mut left = Vec::new();
    for (set, first) in sets.iter().zip(firsts) {
        match sets.iter().find(|other| other.len() < set.len() && other.is_subset(set)) {
            Some(enough) => {
                let [set, enough] = [set, enough].map(|set| list(&set.iter().cloned().collect::<Vec<_>>()));
                let message = format!("{set} is a way to be allowed that isn't needed, because {enough} is enough");
                remarks.push(Remark::new(NoteKind::RedundantAlternative, message));
            }
            None => {
                owner.get_or_insert(first);
                left.push(set.clone());
            }
        }
    }
    Ok((owner.unwrap_or_default(), left))
}

impl Rules<'_> {
    /// Why requirements of a scheme are no scopes.
    fn without_scopes(&self, scheme: usize, flavour: &Flavour, scopes: &[String]) -> Option<String> {
        let is_elsewhere = self.choice.elsewhere.contains(&scheme);
        Some(match flavour {
            _ if is_elsewhere => "has roles, which the policy must check, so it can't be checked elsewhere".to_owned(),
            Flavour::Scopes => return None,
            Flavour::Http { .. } if self.choice.token.contains(&scheme) => return None,
            Flavour::Other(flavour) | Flavour::Unknown(flavour) => format!("has no scopes: it is {flavour}"),
            Flavour::Http { is_bearer } => {
                let token = self.choice_with(scheme).filter(|_| *is_bearer && scopes.is_empty());
                let options = token.map(|token| self.schemes.options(&token));
                let advice = options.map(|options| with_any_token(&format!("{options} ")));
                format!("has no scopes: it is of the type `http`{}", advice.unwrap_or_default())
            }
        })
    }

    /// The choice in which a scheme is one token with those that are chosen.
    fn choice_with(&self, scheme: usize) -> Option<Choice> {
        let mut choice = self.choice.clone();
        if choice.token.is_empty() {
            // The scheme of the default scope isn't declared.
            let is_declared = |name: &str, number| self.schemes.find(name).is_some_and(|(found, _)| found == number);
            let only = self.schemes.only().filter(|(number, scheme)| is_declared(&scheme.name, *number));
            choice.token.extend(only.map(|(number, _)| number));
        }
        choice.token.push(scheme);
        (self.schemes.is_decided(self.choice) && self.schemes.is_decided(&choice)).then_some(choice)
    }
}

/// The ways to be allowed that `security` lists.
pub(super) fn read(node: &Node<'_>) -> Result<Vec<Way>, Problem> {
    let Value::Sequence(items) = &node.kind else {
        return Err(malformed(node, "`security` must be a list"));
    };
    items.iter().map(way).collect()
}

fn way(node: &Node<'_>) -> Result<Way, Problem> {
    let Some(schemes) = entries(node) else {
        return Err(malformed(node, "what `security` lists must be mappings"));
    };
    let scheme = |entry: &orbgate_yaml::Entry<'_>| {
        let Value::Sequence(scopes) = &entry.value.kind else {
            let must = "the scopes of a scheme must be a list";
            let mut problem = malformed(&entry.value, must);
            problem.location = at(entry.key_location);
            return Err(problem);
        };
        let scopes = scopes.iter().map(|scope| text(scope, "a scope"));
        let scopes = scopes.collect::<Result<Vec<_>, _>>()?;
        Ok((entry.key.text.clone().into_owned(), scopes))
    };
    schemes.iter().map(scheme).collect()
}

/// The maximum number of list items in a message.
const SHOWN: usize = 4;

fn schemes_of(rest: &Rest<'_>) -> String {
    let schemes: Vec<_> = rest.iter().take(SHOWN).map(|(name, _)| quoted(name)).collect();
    let more = if rest.len() > SHOWN { " and …" } else { "" };
    schemes.join(" and ") + more
}

fn list(scopes: &[String]) -> String {
    let shown: Vec<_> = scopes.iter().take(SHOWN).map(|scope| quoted(scope)).collect();
    let more = if scopes.len() > SHOWN { ", …" } else { "" };
    shown.join(", ") + more
}
