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

use sha2::{Digest as _, Sha256};

use super::model::{Api, Policy, RouteRule, ScopeRule};
use crate::terms::{Digest, Orbs, OrganisationRule};

pub(super) fn digest(policy: &Policy) -> Digest {
    Digest(Sha256::digest(canonical_form(policy)).into())
}

fn canonical_form(policy: &Policy) -> String {
    let target = policy.target.as_str();
    let mut form = format!(
        "orbgate 1\nname {}\ntarget {target}\n",
        optional(policy.name.as_deref())
    );
    form.push_str(&sorted(
        policy
            .headings
            .iter()
            .map(|heading| format!("heading {}\n", text(heading))),
    ));
    form.push_str(&sorted(policy.apis.iter().map(api)));
    form
}

fn api(api: &Api) -> String {
    let organisation = api.organisation.map_or("-", OrganisationRule::as_str);
    let line = format!(
        "api {} {} {organisation}\n",
        text(&api.name),
        optional(api.base_path.as_deref())
    );
    line + &sorted(api.scopes.iter().map(scope))
}

fn scope(scope: &ScopeRule) -> String {
    let orbs = match scope.orbs {
        None => "-".into(),
        Some(Orbs::Free) => "false".into(),
        Some(Orbs::Unstated) => "true".into(),
        Some(Orbs::Amount(amount)) => amount.to_string(),
    };
    let line = format!(
        "scope {} {} {orbs}\n",
        text(&scope.name),
        optional(scope.permits.as_deref())
    );
    line + &sorted(scope.routes.iter().map(route))
}

fn route(route: &RouteRule) -> String {
    let orbs = route
        .orbs
        .map_or_else(|| "-".into(), |amount| amount.to_string());
    format!(
        "route {} {} {orbs}\n",
        text(&route.method),
        text(&route.template)
    )
}

/// Names are unique where blocks are sorted, so sorting whole blocks sorts their first lines.
fn sorted(blocks: impl Iterator<Item = String>) -> String {
    let mut blocks: Vec<String> = blocks.collect();
    blocks.sort_unstable();
    blocks.concat()
}

fn text(text: &str) -> String {
    format!("{}:{text}", text.len())
}

fn optional(value: Option<&str>) -> String {
    value.map_or_else(|| "-".into(), text)
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
