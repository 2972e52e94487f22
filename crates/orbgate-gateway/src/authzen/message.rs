//! The messages of AuthZEN. What they do not name is ignored, as the specification asks; what they name has its type.

use orbgate_yaml::Object;
use serde::Deserialize;
use serde_json::value::RawValue;

/// An object of which nothing is read.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Unread {}

/// Who would call.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Subject {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) id: String,
    #[serde(default)]
    pub(super) properties: Option<Object<SubjectProperties>>,
}

/// What who asks says of a subject.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct SubjectProperties {
    /// Its bearer token.
    pub(super) token: Option<String>,
    /// Its scopes, separated by spaces.
    pub(super) scopes: Option<String>,
}

/// What it would do.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Action {
    pub(super) name: String,
    #[serde(default, rename = "properties")]
    _properties: Option<Object<Unread>>,
}

/// What it would do it to.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Resource {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) id: String,
    #[serde(default, rename = "properties")]
    _properties: Option<Object<Unread>>,
}

/// A subject or a resource that is searched for. Its id is ignored.
#[derive(Debug, Deserialize)]
pub(super) struct Sought {
    #[serde(rename = "type")]
    pub(super) kind: String,
}

/// One question.
#[derive(Debug, Deserialize)]
pub(super) struct Evaluation {
    pub(super) subject: Object<Subject>,
    pub(super) action: Object<Action>,
    pub(super) resource: Object<Resource>,
    #[serde(default, rename = "context")]
    _context: Option<Object<Unread>>,
}

/// A question with parts that may be said elsewhere.
#[derive(Debug, Deserialize)]
pub(super) struct Parts {
    pub(super) subject: Option<Object<Subject>>,
    pub(super) action: Option<Object<Action>>,
    pub(super) resource: Option<Object<Resource>>,
    #[serde(default, rename = "context")]
    _context: Option<Object<Unread>>,
}

/// Questions together, each as it came: an invalid one is no error of the others. What one leaves out is said here.
#[derive(Debug, Deserialize)]
pub(super) struct Several {
    pub(super) subject: Option<Object<Subject>>,
    pub(super) action: Option<Object<Action>>,
    pub(super) resource: Option<Object<Resource>>,
    #[serde(default, rename = "context")]
    _context: Option<Object<Unread>>,
    #[serde(default)]
    pub(super) evaluations: Option<Vec<Box<RawValue>>>,
    #[serde(default)]
    pub(super) options: Option<Object<Options>>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Options {
    #[serde(default)]
    pub(super) evaluations_semantic: Semantic,
}

/// After which answer the rest is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Semantic {
    #[default]
    ExecuteAll,
    DenyOnFirstDeny,
    PermitOnFirstPermit,
}

impl Semantic {
    pub(super) const fn ends_with(self, decision: bool) -> bool {
        match self {
            Self::ExecuteAll => false,
            Self::DenyOnFirstDeny => !decision,
            Self::PermitOnFirstPermit => decision,
        }
    }
}

/// Who may?
#[derive(Debug, Deserialize)]
pub(super) struct SubjectSearch {
    pub(super) subject: Object<Sought>,
    pub(super) action: Object<Action>,
    pub(super) resource: Object<Resource>,
    #[serde(flatten)]
    _more: SearchOptions,
}

/// To what may it be done?
#[derive(Debug, Deserialize)]
pub(super) struct ResourceSearch {
    pub(super) subject: Object<Subject>,
    pub(super) action: Object<Action>,
    pub(super) resource: Object<Sought>,
    #[serde(flatten)]
    _more: SearchOptions,
}

/// What may be done?
#[derive(Debug, Deserialize)]
pub(super) struct ActionSearch {
    pub(super) subject: Object<Subject>,
    pub(super) resource: Object<Resource>,
    #[serde(flatten)]
    _more: SearchOptions,
}

/// Nothing of it is read: every answer has all results.
#[derive(Debug, Deserialize)]
struct SearchOptions {
    #[serde(rename = "context")]
    _context: Option<Object<Unread>>,
    #[serde(rename = "page")]
    _page: Option<Object<Unread>>,
}

#[cfg(test)]
mod tests {
    use super::{Evaluation, Object};

    #[test]
    fn an_object_is_an_object_and_says_each_thing_once() {
        let read = |text: &str| serde_json::from_str::<Object<Evaluation>>(text).is_ok();
        let (subject, action) = (r#"{"type":"user","id":"a"}"#, r#"{"name":"GET"}"#);
        let resource = r#"{"type":"route","id":"/a","properties":{"more":[1]}}"#;
        let whole = |subject: &str, more: &str| {
            format!(r#"{{"subject":{subject},"action":{action},"resource":{resource}{more}}}"#)
        };
        assert!(read(&whole(subject, "")));
        assert!(read(&whole(subject, r#","context":{},"new":{"x":1}"#)));
        for (subject, more) in [
            (r#"["user","a"]"#, ""),
            (r#"{"type":"user","id":"a","id":"b"}"#, ""),
            (r#"{"type":"user","id":"a","properties":[]}"#, ""),
            (
                r#"{"type":"user","id":"a","properties":{"scopes":["a"]}}"#,
                "",
            ),
            ("null", ""),
            (subject, r#","subject":{"type":"user","id":"b"}"#),
            (subject, r#","context":"x""#),
        ] {
            assert!(!read(&whole(subject, more)), "{subject} {more}");
        }
        assert!(!read(&format!("[{subject},{action},{resource}]")));
    }
}
