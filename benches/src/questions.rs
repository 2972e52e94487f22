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
            arguments: format!(r#"{{"request":{{"method":"GET","target":"{denied}","token":{token}}}}}"#),
        },
        Asked { question: "reach", arguments: format!(r#"{{"token":{token}}}"#) },
    ]
}

/// The answers as types, as each language has them.
#[cfg(feature = "questions")]
pub mod typed {
    use serde::{Deserialize, Serialize};

    #[derive(Debug, Deserialize, Serialize)]
    pub struct Reach {
        policy: String,
        token: RequestToken,
        allowed: Vec<ReachedRoute>,
    }

    #[derive(Debug, Deserialize, Serialize)]
    struct RequestToken {
        kind: String,
        scopes: String,
    }

    #[derive(Debug, Deserialize, Serialize)]
    struct ReachedRoute {
        route: Option<String>,
        scope: String,
        orbs: Option<Orbs>,
        reason: String,
        location: Position,
    }

    #[derive(Debug, Deserialize, Serialize)]
    struct Orbs {
        consumes: bool,
        amount: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        bonus_allowed: Option<bool>,
    }

    #[derive(Debug, Deserialize, Serialize)]
    struct Position {
        line: u64,
        column: u64,
    }

    #[derive(Debug, Deserialize, Serialize)]
    pub struct Explanation {
        decision: String,
        status: Option<u64>,
        reason: String,
        detail: Option<String>,
        api: Option<String>,
        route: Option<String>,
        scope: Option<String>,
        orbs: Option<Orbs>,
        policy: String,
        missing_step: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        orbs_if_allowed: Option<Orbs>,
        #[serde(skip_serializing_if = "Option::is_none")]
        in_order: Option<u64>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rules: Vec<CheckedRule>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        near: Vec<NearRoute>,
    }

    #[derive(Debug, Deserialize, Serialize)]
    struct CheckedRule {
        rule: String,
        detail: String,
        state: String,
    }

    #[derive(Debug, Deserialize, Serialize)]
    struct NearRoute {
        route: String,
        location: Position,
        why: String,
        meant: Option<String>,
    }
}
