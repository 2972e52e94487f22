//! The questions that a backend asks while it runs: why a call is denied, and what a token can call.

use crate::table::Table;

/// A question, and its arguments as JSON.
pub struct Asked {
    pub question: &'static str,
    pub arguments: String,
}

/// `explain` for a call that nearly fits a route, which it looks for, and `reach` for a token with every scope.
pub fn asked(table: &Table) -> [Asked; 2] {
    let token = format!(r#"{{"kind":"user","scopes":"{}"}}"#, table.scopes.join(" "));
    let template = table.rows[table.rows.len() / 2].template;
    let segments = template.split('/').map(|name| match name.starts_with('{') {
        true => "1",
        false => name,
    });
    let denied = segments.chain(["near", "by"]).collect::<Vec<_>>().join("/");
    [
        Asked {
            question: "explain",
            arguments: format!(
                r#"{{"request":{{"method":"GET","target":"{denied}","token":{token}}}}}"#
            ),
        },
        Asked {
            question: "reach",
            arguments: format!(r#"{{"token":{token}}}"#),
        },
    ]
}
