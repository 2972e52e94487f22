//! Names, texts and amounts, one scope or route at a time.

use core::hash::{BuildHasher, BuildHasherDefault};
use std::collections::hash_map::{DefaultHasher, Entry};
use std::collections::{HashMap, HashSet};

use orbgate::{Engine, Orbs, Place, Policy, Route, Scope};

use super::{Code, Found};

pub(super) fn look(policy: &Policy, engine: &Engine, found: &mut Found) {
    let scopes: Vec<_> = engine.scope_table().collect();
    for scope in &scopes {
        look_at_scope(*scope, found);
    }
    elsewhere(&scopes, found);
    case_or_plural(&scopes, found);
    similar(&scopes, found);
    literals(engine, found);
    for warning in policy.colon_literals() {
        found.push(Code::ColonLiteral, warning.place, None, warning.message);
    }
    if !policy.has_end_marker() {
        let message = "the file does not end in `...`: what is cut short may be a valid policy with fewer routes";
        found.push(Code::NoEndMarker, START, None, message.to_owned());
    }
}

/// The start of the file: for what is wrong with the file as a whole.
const START: Place = Place { line: 1, column: 1 };

fn look_at_scope(scope: Scope<'_>, found: &mut Found) {
    let name = scope.name();
    if scope.routes().next().is_none() {
        let message = format!("scope `{name}` has no route: it can only be asked for by its name");
        found.push(Code::ScopeWithoutRoutes, scope.place(), None, message);
    }
    if scope
        .permits()
        .is_none_or(|permits| permits.trim().is_empty())
    {
        let message = format!(
            "scope `{name}` does not say what it permits: people who grant it see `permits`"
        );
        found.push(Code::NoPermits, scope.place(), None, message);
    }
    for route in scope.routes() {
        if matches!(route.method(), "GET" | "HEAD") && route.orbs() == Orbs::Unstated {
            let message = format!(
                "`{}` only reads, and consumes orbs without a stated amount",
                route.as_str()
            );
            found.push(Code::UnstatedGet, route.place(), None, message);
        }
    }
}

/// Scopes of the resources that are for users' tokens, in apis where any token will do.
fn elsewhere(scopes: &[Scope<'_>], found: &mut Found) {
    let for_users = scopes.iter().filter(|scope| scope.organisation().is_some());
    let mut resources: HashMap<&str, &str> = for_users
        .map(|scope| (resource(scope.name()), scope.api()))
        .collect();
    // The specification's own (§5.6), in whatever api they stand.
    resources.entry("inference").or_insert("inference");
    for scope in scopes.iter().filter(|scope| scope.organisation().is_none()) {
        let name = scope.name();
        // A scope without an action names no resource.
        if !name.contains(':') {
            continue;
        }
        if let Some(api) = resources.get(resource(name)) {
            let message = format!(
                "scope `{name}` counts on every token in api `{}`, and the scopes of api `{api}` only on a user's: \
                 put it there, or give `{}` a `token: user`",
                scope.api(),
                scope.api()
            );
            found.push(Code::InferenceElsewhere, scope.place(), None, message);
        }
    }
}

/// What a scope is about: `files` of `read:files`.
fn resource(scope: &str) -> &str {
    scope
        .rsplit_once(':')
        .map_or(scope, |(_, resource)| resource)
}

/// Scopes whose names differ only in case or plural.
fn case_or_plural(scopes: &[Scope<'_>], found: &mut Found) {
    let mut first: HashMap<String, Scope<'_>> = HashMap::new();
    for scope in scopes {
        match first.entry(alike(scope.name())) {
            Entry::Vacant(entry) => drop(entry.insert(*scope)),
            Entry::Occupied(entry) => {
                let other = entry.get();
                let message = format!(
                    "scopes `{}` (line {}) and `{}` differ only in case or plural",
                    other.name(),
                    other.place().line,
                    scope.name()
                );
                found.push_pair(Code::CaseOrPlural, [other.place(), scope.place()], message);
            }
        }
    }
}

/// The same text for names that differ only in case or plural.
fn alike(name: &str) -> String {
    let words = name.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric());
    words.map(alike_word).collect()
}

fn alike_word(word: &str) -> String {
    let word = word.to_ascii_lowercase();
    let letters = word.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
    let rest = word.get(letters.len()..).unwrap_or_default();
    let singular = match letters.strip_suffix("ies") {
        Some(stem) if stem.len() > 1 => format!("{stem}y"),
        _ => {
            let sibilant = ["ses", "xes", "zes", "ches", "shes"];
            let strip = |plural: &str| letters.strip_suffix(plural);
            let without_es = sibilant.iter().any(|end| letters.ends_with(end));
            let stem = if without_es { strip("es") } else { strip("s") };
            let stem = stem.filter(|stem| stem.len() > 1 && !stem.ends_with('s') || without_es);
            stem.unwrap_or(letters).to_owned()
        }
    };
    singular + rest
}

/// Longer names are not compared: nobody reads them letter by letter.
const LONGEST: usize = 64;
/// In shorter names one letter is much.
const SHORTEST: usize = 5;

/// Scopes whose names differ in one character: changed, left out, added or exchanged with its neighbour.
fn similar(scopes: &[Scope<'_>], found: &mut Found) {
    // Two such names have a text in common if one character of each, or none, is left out, and have the same digits.
    // Of these texts there are 65 for each name, so their hashes are kept alone.
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let mut texts: Vec<(u64, usize)> = Vec::new();
    for (at, scope) in scopes.iter().enumerate() {
        let name = scope.name();
        if !(SHORTEST..=LONGEST).contains(&name.len()) {
            continue;
        }
        let digits = digits(name);
        let hash = |text: &[u8]| (hasher.hash_one((&digits, text)), at);
        texts.extend((0..name.len()).map(|left_out| hash(&without(name, left_out))));
        texts.push(hash(name.as_bytes()));
    }
    texts.sort_unstable();
    texts.dedup();
    let mut seen = HashSet::new();
    for mut alike in texts.chunk_by(|(one, _), (two, _)| one == two) {
        while let [(_, at), others @ ..] = alike {
            alike = others;
            let pairs = others.iter().filter_map(|(_, other)| {
                Some((*at, *other, [scopes.get(*at)?, scopes.get(*other)?]))
            });
            for (at, other_at, [first, second]) in pairs {
                if !is_similar(first.name(), second.name()) || !seen.insert((at, other_at)) {
                    continue;
                }
                if !found.has_room(Code::SimilarScopes) {
                    return;
                }
                let message = format!(
                    "scopes `{}` (line {}) and `{}` differ in one character",
                    first.name(),
                    first.place().line,
                    second.name()
                );
                found.push_pair(
                    Code::SimilarScopes,
                    [first.place(), second.place()],
                    message,
                );
            }
        }
    }
}

/// The name without one of its characters; scopes are ASCII.
fn without(name: &str, left_out: usize) -> Vec<u8> {
    let bytes = name.bytes().enumerate();
    bytes
        .filter_map(|(at, byte)| (at != left_out).then_some(byte))
        .collect()
}

/// The digits of a name. Numbers differ on purpose: `read:v1` and `read:v2`.
fn digits(name: &str) -> Vec<u8> {
    name.bytes().filter(u8::is_ascii_digit).collect()
}

fn is_similar(one: &str, two: &str) -> bool {
    digits(one) == digits(two) && strsim::osa_distance(one, two) == 1 && alike(one) != alike(two)
}

/// Literals at one place of the paths that differ only in plural. In case alone they cannot: that is a fault.
fn literals(engine: &Engine, found: &mut Found) {
    // A tree of the templates: by parent and segment.
    let mut nodes: HashMap<(usize, &str), usize> = HashMap::new();
    let mut first: HashMap<(usize, String), (&str, Place)> = HashMap::new();
    let mut routes: Vec<_> = engine.routes().collect();
    routes.sort_by_key(Route::place);
    for route in routes {
        let mut parent = 0;
        for segment in route.template().split('/').skip(1) {
            let parameter = segment.starts_with('{');
            let key = if parameter { "{}" } else { segment };
            let fresh = nodes.len().saturating_add(1);
            let entry = nodes.entry((parent, key));
            let is_new = matches!(entry, Entry::Vacant(_));
            let node = *entry.or_insert(fresh);
            if is_new && !parameter {
                match first.entry((parent, alike(segment))) {
                    Entry::Vacant(entry) => drop(entry.insert((segment, route.place()))),
                    Entry::Occupied(entry) => {
                        let (other, place) = *entry.get();
                        let message = format!(
                            "literals `{other}` (line {}) and `{segment}` at one place of a path differ only in plural",
                            place.line
                        );
                        found.push_pair(Code::CaseOrPlural, [place, route.place()], message);
                    }
                }
            }
            parent = node;
        }
    }
}
