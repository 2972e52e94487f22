//! The digest of a policy: SHA-256 over its canonical form.
//!
//! Everything counts except order, comments and layout. The canonical form is UTF-8; a line feed
//! ends each line:
//!
//! ```text
//! orbgate 1
//! name TEXT
//! target strict                   or: target encoded_params; `strict` where the file has none
//! trailing_slash always           only where the file says so
//! heading TEXT                    one line for each heading
//! api TEXT TEXT ORGANISATION      for each api: name, base path, and `deny`, `allow_without_scope` or `-`
//! closed TEXT                     below its api, for each closed template: the template as written
//! scope TEXT TEXT ORBS            below its api, for each scope: name, permits, and `true`, `false`, a number or `-`
//! sensitive                       below its scope, only where the file marks it
//! route TEXT TEXT ORBS            below its scope, for each route: method, template as written, and its own `orbs` likewise
//! need TEXT                       below its route, for each alternative: scopes, sorted and separated by one space. None
//!                                 for a route that needs only its scope
//! ```
//!
//! `TEXT` is the string's length in bytes, in decimal, then a colon and the bytes, for example `4:deny`. So no string
//! can pass for another, and a line feed in a string is kept. `-` stands for a value that the file doesn't state,
//! unlike `0:`, the empty string. One space separates words on a line. Lines of one kind are sorted by their bytes, together
//! with the lines below them. Where a requirement was written, on a scope or on a route, doesn't count.

use sha2::{Digest as _, Sha256};

use super::model::{Api, Policy, Requirement, RouteRule, ScopeRule};
use crate::tables::sorted::sort;
use crate::tables::terms::{Digest, Orbs, OrganisationRule};

pub(super) fn digest(policy: &Policy) -> Digest {
    let mut form = Form::default();
    let mut head = String::from("orbgate 1\nname ");
    push_optional(&mut head, policy.name.as_deref());
    head.extend(["\ntarget ", policy.target.as_str(), "\n"]);
    if policy.trailing_slash {
        head.push_str("trailing_slash always\n");
    }
    form.add(&head);
    form.add_sorted(&policy.headings, |line, name| push_named(line, "heading", name), |_, _| ());
    form.add_sorted(&policy.apis, push_api, |form, api| {
        form.add_sorted(&api.closed, |line, closed| push_named(line, "closed", &closed.template), |_, _| ());
        form.add_sorted(&api.scopes, push_scope, |form, scope| {
            if scope.is_sensitive {
                form.add("sensitive\n");
            }
            let shared = scope.requirement.as_deref().map(needs);
            form.add_sorted(&scope.routes, push_route, |form, route| match (&route.requirement, &shared) {
                (Some(own), _) if route.states_requirement => form.add(&needs(own)),
                (Some(_), Some(shared)) => form.add(shared),
                _ => {}
            });
        });
    });
    form.hash.update(&form.waiting);
    Digest(form.hash.finalize().into())
}

/// The canonical form, hashed in pieces: routes can share a long requirement, so the whole can be far longer than the
/// file.
#[derive(Default)]
struct Form {
    hash: Sha256,
    waiting: String,
}

impl Form {
    fn add(&mut self, lines: &str) {
        // Hashing one line at a time would take longer.
        const HASHED: usize = 1 << 14;
        self.waiting.push_str(lines);
        if self.waiting.len() >= HASHED {
            self.hash.update(&self.waiting);
            self.waiting.clear();
        }
    }

    /// Adds each entry's line and what is below it, sorted by the lines. Their names are unique, so no two are equal.
    fn add_sorted<T>(&mut self, items: &[T], push: impl Fn(&mut String, &T), below: impl Fn(&mut Self, &T)) {
        // Builds all lines in one string, because there are many.
        let mut lines = String::new();
        let ends = items.iter().map(|item| {
            push(&mut lines, item);
            lines.len()
        });
        let ends: Vec<_> = ends.collect();
        let mut start = 0;
        let sorted = ends.into_iter().zip(items).filter_map(|(end, item)| {
            let line = lines.get(core::mem::replace(&mut start, end)..end)?;
            Some((start_of(line), line, item))
        });
        let mut sorted: Vec<_> = sorted.collect();
        sorted.sort_unstable_by(|(start, line, _), (other_start, other, _)| (start, line).cmp(&(other_start, other)));
        for (_, line, item) in sorted {
            self.add(line);
            below(self, item);
        }
    }
}

/// The bytes after a line's first word, which is the same in all lines, as numbers that sort like strings. Few
/// comparisons need to read the rest.
fn start_of(line: &str) -> [u64; 4] {
    let bytes = line.as_bytes();
    let word = bytes.iter().position(|byte| *byte == b' ');
    let after = bytes.get(word.unwrap_or(0)..).unwrap_or_default();
    let mut start = [0; 32];
    let length = after.len().min(start.len());
    if let (Some(to), Some(from)) = (start.get_mut(..length), after.get(..length)) {
        to.copy_from_slice(from);
    }
    let (words, _) = start.as_chunks();
    let mut words = words.iter().map(|word| u64::from_be_bytes(*word));
    core::array::from_fn(|_| words.next().unwrap_or_default())
}

fn push_named(line: &mut String, kind: &str, name: &str) {
    line.extend([kind, " "]);
    push_text(line, name);
    line.push('\n');
}

fn push_api(line: &mut String, api: &Api) {
    line.push_str("api ");
    push_text(line, &api.name);
    line.push(' ');
    push_optional(line, api.base_path.as_deref());
    let organisation = api.organisation.map_or("-", OrganisationRule::as_str);
    line.extend([" ", organisation, "\n"]);
}

fn push_scope(line: &mut String, scope: &ScopeRule) {
    line.push_str("scope ");
    push_text(line, &scope.name);
    line.push(' ');
    push_optional(line, scope.permits.as_deref());
    push_orbs(line, scope.orbs);
}

fn push_route(line: &mut String, route: &RouteRule) {
    line.push_str("route ");
    push_text(line, route.method());
    line.push(' ');
    push_text(line, route.template());
    push_orbs(line, route.orbs);
}

/// The end of a line.
fn push_orbs(line: &mut String, orbs: Option<Orbs>) {
    line.push(' ');
    match orbs {
        None => line.push('-'),
        Some(Orbs::Free) => line.push_str("false"),
        Some(Orbs::Unstated) => line.push_str("true"),
        Some(Orbs::Amount(amount)) => push_decimal(line, amount),
    }
    line.push('\n');
}

/// The lines of a requirement. The owner isn't marked: its scope's line is above.
fn needs(requirement: &Requirement) -> String {
    let mut lines: Vec<_> = requirement
        .alternatives()
        .map(|alternative| {
            let mut scopes: Vec<_> = alternative.split(' ').collect();
            scopes.sort_unstable();
            let mut line = String::new();
            push_named(&mut line, "need", &scopes.join(" "));
            line
        })
        .collect();
    sort(&mut lines);
    lines.concat()
}

fn push_text(line: &mut String, text: &str) {
    push_decimal(line, u64::try_from(text.len()).unwrap_or(u64::MAX));
    line.push(':');
    line.push_str(text);
}

fn push_optional(line: &mut String, value: Option<&str>) {
    match value {
        None => line.push('-'),
        Some(value) => push_text(line, value),
    }
}

/// `write!` would take as long as the rest of the line.
fn push_decimal(line: &mut String, number: u64) {
    if number > 9 {
        push_decimal(line, number / 10);
    }
    let digit = u8::try_from(number % 10).unwrap_or_default();
    line.push(char::from(b'0'.saturating_add(digit)));
}
