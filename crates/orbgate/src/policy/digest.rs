//! The digest of a policy: SHA-256 over its canonical form.
//!
//! Everything but order, comments and layout counts. The canonical form is this text, in UTF-8,
//! each line ended by one line feed:
//!
//! ```text
//! orbgate 1
//! name TEXT
//! target strict                   or: target encoded_params; `strict` where the file has none
//! heading TEXT                    one line for each heading
//! api TEXT TEXT ORGANISATION      for each api: name, base path, and `deny`, `allow_without_scope` or `-`
//! scope TEXT TEXT ORBS            below its api, for each scope: name, permits, and `true`, `false`, a number or `-`
//! route TEXT TEXT ORBS            below its scope, for each route: method, template as written, and a number or `-`
//! ```
//!
//! `TEXT` is the number of bytes of the text in decimal, a colon, and the bytes; so `4:deny`, and no
//! text can pass for another; a line feed in a text stays as it is. `-` stands for what the file does not state, which differs from
//! the empty text `0:`. Words on a line are separated by one space. Headings, apis, scopes and routes
//! are sorted by the bytes of their whole line; the lines below a line move with it.

use core::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use super::model::{Api, Policy, RouteRule, ScopeRule};
use crate::terms::{Digest, Orbs, OrganisationRule};

pub(super) fn digest(policy: &Policy) -> Digest {
    Digest(Sha256::digest(canonical_form(policy)).into())
}

fn canonical_form(policy: &Policy) -> String {
    let mut form = String::from("orbgate 1\nname ");
    push_optional(&mut form, policy.name.as_deref());
    form.extend(["\ntarget ", policy.target.as_str(), "\n"]);
    push_sorted(&mut form, policy.headings.iter().map(|name| heading(name)));
    push_sorted(&mut form, policy.apis.iter().map(api));
    form
}

fn heading(name: &str) -> String {
    let mut line = String::from("heading ");
    push_text(&mut line, name);
    line.push('\n');
    line
}

fn api(api: &Api) -> String {
    let mut block = String::from("api ");
    push_text(&mut block, &api.name);
    block.push(' ');
    push_optional(&mut block, api.base_path.as_deref());
    let organisation = api.organisation.map_or("-", OrganisationRule::as_str);
    block.extend([" ", organisation, "\n"]);
    push_sorted(&mut block, api.scopes.iter().map(scope));
    block
}

fn scope(scope: &ScopeRule) -> String {
    let mut block = String::from("scope ");
    push_text(&mut block, &scope.name);
    block.push(' ');
    push_optional(&mut block, scope.permits.as_deref());
    match scope.orbs {
        None => block.push_str(" -"),
        Some(Orbs::Free) => block.push_str(" false"),
        Some(Orbs::Unstated) => block.push_str(" true"),
        Some(Orbs::Amount(amount)) => push_amount(&mut block, amount),
    }
    block.push('\n');
    push_sorted(&mut block, scope.routes.iter().map(route));
    block
}

fn route(route: &RouteRule) -> String {
    // Room for the words, the two lengths and an amount: one allocation.
    let texts = route.method.len().saturating_add(route.template.len());
    let mut line = String::with_capacity(texts.saturating_add(48));
    line.push_str("route ");
    push_text(&mut line, &route.method);
    line.push(' ');
    push_text(&mut line, &route.template);
    match route.orbs {
        None => line.push_str(" -"),
        Some(amount) => push_amount(&mut line, amount),
    }
    line.push('\n');
    line
}

/// Names are unique where blocks are sorted, so sorting whole blocks sorts their first lines.
fn push_sorted(form: &mut String, blocks: impl Iterator<Item = String>) {
    let mut blocks: Vec<String> = blocks.collect();
    blocks.sort_unstable();
    form.extend(blocks);
}

fn push_text(line: &mut String, text: &str) {
    // Writing to a text never fails.
    let _ = write!(line, "{}:", text.len());
    line.push_str(text);
}

fn push_optional(line: &mut String, value: Option<&str>) {
    match value {
        None => line.push('-'),
        Some(value) => push_text(line, value),
    }
}

fn push_amount(line: &mut String, amount: u64) {
    let _ = write!(line, " {amount}");
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
