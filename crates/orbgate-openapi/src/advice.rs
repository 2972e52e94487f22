//! Finds the options with which the most operations are imported, for messages.

use core::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use orbgate_yaml::{Entry, Node};

use crate::Options;
use crate::node::{METHODS, entries, get};
use crate::scheme::{Choice, Flavour};
use crate::security::{self, ANY_TOKEN, ANY_TOKEN_MEANS, Rules, Way};

/// The maximum number of schemes and scopes that are read. The rest of a document changes little.
const NAMES: usize = 50_000;
/// The maximum number of schemes that options can add.
const ADDED: usize = 12;

/// What options could change about the schemes of a document. Nothing is computed before the first question.
#[derive(Debug)]
pub(super) struct Advice<'r> {
    root: &'r Node<'r>,
    rules: Rules<'r>,
    best: OnceCell<Best>,
}

/// The options with which the most operations are imported.
#[derive(Debug)]
struct Best {
    choice: Choice,
    /// With a default scope, if some of the operations need one.
    options: Options,
}

impl<'r> Advice<'r> {
    pub(super) const fn new(root: &'r Node<'r>, rules: Rules<'r>) -> Self {
        Self { root, rules, best: OnceCell::new() }
    }

    /// The options for a document with several schemes that have scopes, if none of them is chosen.
    pub(super) fn for_document(&self) -> String {
        let Rules { schemes, choice, .. } = self.rules;
        let mut best = self.best().choice.clone();
        if !schemes.is_decided(&best) {
            // No operation has scopes.
            best.token.extend(schemes.apis(choice).first());
        }
        let meaning = self.meaning(&best).map(|meaning| format!(", where {meaning}")).unwrap_or_default();
        format!("most operations are imported with `{}`{meaning}", self.options(&best))
    }

    /// The options with which an operation is imported, if they are those with which most are.
    pub(super) fn for_operation(&self, security: &Node<'_>) -> Option<String> {
        let ways = security::read(security).ok().filter(|ways| security::have_scopes(ways))?;
        let Best { choice, options } = self.best();
        let rules = Rules { choice, options, ..self.rules };
        if *choice == *self.rules.choice || security::of_ways(&ways, rules).is_err() {
            return None;
        }
        let meaning = self.meaning(choice).map(|meaning| format!(", {meaning}")).unwrap_or_default();
        Some(format!("with `{}`{meaning}", self.options(choice)))
    }

    fn options(&self, choice: &Choice) -> String {
        let default_scope = if self.needs_default_scope() { format!(" {ANY_TOKEN}") } else { String::new() };
        self.rules.schemes.options(choice) + &default_scope
    }

    fn needs_default_scope(&self) -> bool {
        self.best().options.default_scope != self.rules.options.default_scope
    }

    /// What a choice means that isn't made yet.
    fn meaning(&self, choice: &Choice) -> Option<String> {
        let Rules { schemes, choice: given, .. } = self.rules;
        let has_roles = |number: &&usize| {
            let scheme = schemes.all.get(**number);
            scheme.is_some_and(|scheme| matches!(scheme.flavour, Flavour::Http { .. })) && !given.token.contains(number)
        };
        let mut meanings = Vec::new();
        if let [_, _, ..] = *choice.token {
            meanings.push(format!("{} are one token", schemes.shown(&choice.token, " and ")));
        } else if let Some(with_roles) = choice.token.iter().find(has_roles) {
            meanings.push(format!("the roles of {} are scopes", schemes.shown(&[*with_roles], "")));
        }
        if choice.elsewhere != given.elsewhere {
            meanings.push(format!("something in front must check {}", schemes.shown(&choice.elsewhere, " and ")));
        }
        if self.needs_default_scope() {
            meanings.push(ANY_TOKEN_MEANS.to_owned());
        }
        (!meanings.is_empty()).then(|| meanings.join(", and "))
    }

    fn best(&self) -> &Best {
        self.best.get_or_init(|| best(&securities(self.root), self.rules))
    }
}

/// The choice with which the most operations are imported; of those, one with the fewest schemes.
fn best(securities: &BTreeMap<Vec<Way>, usize>, rules: Rules<'_>) -> Best {
    let mut options = rules.options.clone();
    // With it, a further scheme never leaves out an operation.
    options.default_scope.get_or_insert_with(|| "scope".to_owned());
    let imported = |choice: &Choice, options: &Options| -> usize {
        let rules = Rules { choice, options, ..rules };
        let securities = securities.iter().filter(|_| rules.schemes.is_decided(choice));
        securities.filter(|(ways, _)| security::of_ways(ways, rules).is_ok()).map(|(_, count)| count).sum()
    };
    let given = rules.choice;
    let with = |added: &BTreeSet<(bool, usize)>| {
        let mut choice = given.clone();
        for (is_token, scheme) in added {
            let schemes = if *is_token { &mut choice.token } else { &mut choice.elsewhere };
            schemes.push(*scheme);
        }
        choice
    };
    let mut added = candidates(securities, rules);
    let mut count = imported(&with(&added), &options);
    loop {
        let fewer = added.iter().map(|scheme| {
            let fewer: BTreeSet<_> = added.iter().filter(|other| *other != scheme).copied().collect();
            (imported(&with(&fewer), &options), fewer)
        });
        // Of several that aren't needed, the last one goes first.
        let fewer = fewer.max_by_key(|(count, _)| *count);
        let Some((fewer, rest)) = fewer.filter(|(fewer, _)| *fewer >= count) else {
            break;
        };
        (count, added) = (fewer, rest);
    }
    let choice = if count > imported(given, &options) { with(&added) } else { given.clone() };
    if imported(&choice, rules.options) == count {
        options = rules.options.clone();
    }
    Best { choice, options }
}

/// The schemes that options can add.
fn candidates(securities: &BTreeMap<Vec<Way>, usize>, rules: Rules<'_>) -> BTreeSet<(bool, usize)> {
    let given = rules.choice;
    let mut candidates = BTreeSet::new();
    for (name, scopes) in securities.keys().flatten().flatten() {
        let Some((number, scheme)) = rules.schemes.find(name) else {
            continue;
        };
        // A request has one `Authorization` header, so a bearer token is the only token.
        let is_token = match scheme.flavour {
            Flavour::Scopes | Flavour::Http { is_bearer: true } => true,
            Flavour::Http { is_bearer: false } => !scopes.is_empty(),
            Flavour::Other(_) => false,
            Flavour::Unknown(_) => continue,
        };
        let is_given = given.token.contains(&number) || given.elsewhere.contains(&number);
        if !is_given && candidates.len() < ADDED {
            candidates.insert((is_token, number));
        }
    }
    candidates
}

/// What operations require that need scopes: each requirement once, with the number of its operations.
fn securities(root: &Node<'_>) -> BTreeMap<Vec<Way>, usize> {
    let mut securities: BTreeMap<Vec<Way>, usize> = BTreeMap::new();
    let read = |node: &Node<'_>| security::read(node).ok().filter(|ways| security::have_scopes(ways));
    let all = get(root, "security").and_then(read);
    let items = get(root, "paths").and_then(entries).unwrap_or_default();
    let operations = items.iter().flat_map(|item| {
        let keys = entries(&item.value).unwrap_or_default().iter();
        let is_method = |key: &&Entry<'_>| METHODS.iter().any(|(method, _)| *method == key.key.text);
        keys.filter(is_method).map(|key| &key.value)
    });
    let mut names = 0_usize;
    for operation in operations {
        let own = get(operation, "security").map_or_else(|| all.clone(), read);
        let Some(ways) = own else {
            continue;
        };
        let parts = ways.iter().flatten();
        names = names.saturating_add(parts.map(|(_, scopes)| scopes.len().saturating_add(1)).sum());
        if names > NAMES {
            break;
        }
        let count = securities.entry(ways).or_default();
        *count = count.saturating_add(1);
    }
    securities
}
