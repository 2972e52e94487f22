//! Compares the route that a router chose with the route that was decided.

/// Whether two templates match the same paths. They can differ only in the names of their parameters.
///
/// Parameters are written `{name}`. A wildcard (`{*rest}`) isn't a parameter, because it matches more than a policy's
/// template can.
#[must_use]
pub fn same_template(one: &str, two: &str) -> bool {
    let (mut one, mut two) = (one.split('/'), two.split('/'));
    loop {
        match (one.next(), two.next()) {
            (None, None) => return true,
            (Some(one), Some(two)) if one == two && !one.starts_with("{*") => {}
            (Some(one), Some(two)) if is_parameter(one) && is_parameter(two) => {}
            _ => return false,
        }
    }
}

/// Whether a segment of a template is a parameter.
pub(crate) fn is_parameter(segment: &str) -> bool {
    let name = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    name.is_some_and(|name| !name.starts_with('*') && !name.contains(['{', '}']))
}

/// The route that a router chose before the gate ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a router has routed, or not, or does not say")]
pub enum Matched<'r> {
    /// No router runs before the gate.
    #[default]
    Nothing,
    /// The route with this template, written as in a policy and including any prefix:
    /// `/users/{id}`.
    Template(&'r str),
    /// The router doesn't report a template, for example in a fallback or in a service below a prefix. An
    /// otherwise allowed request is denied.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::same_template;

    #[test]
    fn templates_are_the_same_but_for_the_names_of_parameters() {
        let table = [
            ("/users/{id}", "/users/{id}", true),
            ("/users/{id}", "/users/{user}", true),
            ("/users/{id}", "/users/export", false),
            ("/users/export", "/users/{id}", false),
            ("/users/{id}", "/users/{id}/all", false),
            ("/users/{id}", "/users/{*id}", false),
            ("/users/{*id}", "/users/{*id}", false),
            ("/users/{id}", "/users/{{id}}", false),
            ("/users/{id}", "/users/{a}-{b}", false),
            ("/users/{a}-{b}", "/users/{a}-{c}", false),
            ("/users/{id}", "/users/", false),
            ("/users/{id}", "/users", false),
            ("/", "/", true),
        ];
        for (one, two, same) in table {
            assert_eq!(same_template(one, two), same, "{one} {two}");
        }
    }
}
