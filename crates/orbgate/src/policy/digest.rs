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
//! scope TEXT TEXT ORBS            below its api, for each scope: name, permits, and `true`, `false`, a number or `-`
//! route TEXT TEXT ORBS            below its scope, for each route: method, template as written, and a number or `-`
//! ```
//!
//! `TEXT` is the string's length in bytes, in decimal, then a colon and the bytes, for example `4:deny`. So no string
//! can pass for another, and a line feed in a string is kept. `-` stands for a value that the file doesn't state,
//! unlike `0:`, the empty string. One space separates words on a line. Headings, apis, scopes and routes are sorted by
//! the bytes of their whole line, together with the lines below it.

use sha2::{Digest as _, Sha256};

use super::model::{Api, Policy, RouteRule, ScopeRule};
use crate::tables::terms::{Digest, Orbs, OrganisationRule};

pub(super) fn digest(policy: &Policy) -> Digest {
    Digest(Sha256::digest(canonical_form(policy)).into())
}

fn canonical_form(policy: &Policy) -> String {
    let mut form = String::from("orbgate 1\nname ");
    push_optional(&mut form, policy.name.as_deref());
    form.extend(["\ntarget ", policy.target.as_str(), "\n"]);
    if policy.trailing_slash {
        form.push_str("trailing_slash always\n");
    }
    push_sorted(&mut form, &policy.headings, |form, name| push_heading(form, name));
    push_sorted(&mut form, &policy.apis, push_api);
    form
}

fn push_heading(form: &mut String, name: &str) {
    form.push_str("heading ");
    push_text(form, name);
    form.push('\n');
}

fn push_api(form: &mut String, api: &Api) {
    form.push_str("api ");
    push_text(form, &api.name);
    form.push(' ');
    push_optional(form, api.base_path.as_deref());
    let organisation = api.organisation.map_or("-", OrganisationRule::as_str);
    form.extend([" ", organisation, "\n"]);
    push_sorted(form, &api.scopes, push_scope);
}

fn push_scope(form: &mut String, scope: &ScopeRule) {
    form.push_str("scope ");
    push_text(form, &scope.name);
    form.push(' ');
    push_optional(form, scope.permits.as_deref());
    match scope.orbs {
        None => form.push_str(" -"),
        Some(Orbs::Free) => form.push_str(" false"),
        Some(Orbs::Unstated) => form.push_str(" true"),
        Some(Orbs::Amount(amount)) => push_amount(form, amount),
    }
    form.push('\n');
    push_sorted(form, &scope.routes, push_route);
}

fn push_route(form: &mut String, route: &RouteRule) {
    form.push_str("route ");
    push_text(form, route.method());
    form.push(' ');
    push_text(form, route.template());
    match route.orbs {
        None => form.push_str(" -"),
        Some(amount) => push_amount(form, amount),
    }
    form.push('\n');
}

/// Names in sorted blocks are unique, so sorting whole blocks sorts their first lines.
fn push_sorted<T>(form: &mut String, items: &[T], push: impl Fn(&mut String, &T)) {
    // Builds all blocks in one string, because there are many.
    let start = form.len();
    let lengths = items.iter().map(|item| {
        let before = form.len();
        push(form, item);
        form.len().saturating_sub(before)
    });
    let lengths: Vec<_> = lengths.collect();
    let blocks = form.split_off(start);
    let mut rest = blocks.as_str();
    let blocks = lengths.into_iter().map_while(|length| {
        let (block, after) = rest.split_at_checked(length)?;
        rest = after;
        Some((start_of(block), block))
    });
    let mut blocks: Vec<_> = blocks.collect();
    blocks.sort_unstable();
    form.extend(blocks.into_iter().map(|(_, block)| block));
}

/// The bytes after a block's first word, which is the same in all blocks, as numbers that sort like strings. Few
/// comparisons need to read the rest.
fn start_of(block: &str) -> [u64; 4] {
    let bytes = block.as_bytes();
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

fn push_amount(line: &mut String, amount: u64) {
    line.push(' ');
    push_decimal(line, amount);
}

/// `write!` would take as long as the rest of the line.
fn push_decimal(line: &mut String, number: u64) {
    if number > 9 {
        push_decimal(line, number / 10);
    }
    let digit = u8::try_from(number % 10).unwrap_or_default();
    line.push(char::from(b'0'.saturating_add(digit)));
}

#[cfg(test)]
mod tests {
    use super::super::Policy;
    use super::canonical_form;

    #[test]
    fn the_canonical_form_is_the_documented_one() {
        let policy = Policy::from_yaml(
            r#"
orbgate: 1
name: café
headings: [b, "a a"]
apis:
  users:
    token: user
    organisation: deny
    scopes:
      read:user: { permits: "", routes: [] }
  external:
    base_path: ""
    scopes:
      write:keys:
        orbs: true
        routes: [{ route: "POST /keys/{id}", orbs: 5 }, GET /keys]
      read:keys: { orbs: 7, routes: [] }
"#,
        )
        .unwrap();
        let expected = "\
orbgate 1
name 5:café
target strict
heading 1:b
heading 3:a a
api 5:users - deny
scope 9:read:user 0: -
api 8:external 0: -
scope 10:write:keys - true
route 3:GET 5:/keys -
route 4:POST 10:/keys/{id} 5
scope 9:read:keys - 7
";
        assert_eq!(canonical_form(&policy), expected);
    }
}
