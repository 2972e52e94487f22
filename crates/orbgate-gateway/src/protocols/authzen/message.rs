//! The messages of AuthZEN. Unknown members are ignored, as the specification requires; known members must have the
//! right type.

use orbgate_yaml::Object;
use serde::Deserialize;
use serde_json::value::RawValue;

/// An object whose members are ignored.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Unread {}

/// The subject that would make the call.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Subject {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) id: String,
    #[serde(default)]
    pub(super) properties: Option<Object<SubjectProperties>>,
}

/// The caller's statements about a subject.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct SubjectProperties {
    pub(super) token: Option<String>,
    /// Its scopes, separated by spaces.
    pub(super) scopes: Option<String>,
}

/// The action that the subject would perform.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Action {
    pub(super) name: String,
    #[serde(default, rename = "properties")]
    _properties: Option<Object<Unread>>,
}

/// The resource of the action.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Resource {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) id: String,
    #[serde(default, rename = "properties")]
    _properties: Option<Object<Unread>>,
}

/// The subject or resource of a search. Its id is ignored.
#[derive(Debug, Deserialize)]
pub(super) struct Sought {
    #[serde(rename = "type")]
    pub(super) kind: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Evaluation {
    pub(super) subject: Object<Subject>,
    pub(super) action: Object<Action>,
    pub(super) resource: Object<Resource>,
    #[serde(default, rename = "context")]
    _context: Option<Object<Unread>>,
}

/// An evaluation whose missing parts have defaults elsewhere in the message.
#[derive(Debug, Deserialize)]
pub(super) struct Parts {
    pub(super) subject: Option<Object<Subject>>,
    pub(super) action: Option<Object<Action>>,
    pub(super) resource: Option<Object<Resource>>,
    #[serde(default, rename = "context")]
    _context: Option<Object<Unread>>,
}

/// A batch of evaluations, each kept as received, so that an invalid one doesn't affect the others. The message's
/// defaults fill in missing parts.
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

/// The result after which the remaining evaluations are skipped.
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

/// A search for subjects that may do something.
#[derive(Debug, Deserialize)]
pub(super) struct SubjectSearch {
    pub(super) subject: Object<Sought>,
    pub(super) action: Object<Action>,
    pub(super) resource: Object<Resource>,
    #[serde(flatten)]
    _more: SearchOptions,
}

/// A search for resources on which something may be done.
#[derive(Debug, Deserialize)]
pub(super) struct ResourceSearch {
    pub(super) subject: Object<Subject>,
    pub(super) action: Object<Action>,
    pub(super) resource: Object<Sought>,
    #[serde(flatten)]
    _more: SearchOptions,
}

/// A search for actions that may be performed.
#[derive(Debug, Deserialize)]
pub(super) struct ActionSearch {
    pub(super) subject: Object<Subject>,
    pub(super) resource: Object<Resource>,
    #[serde(flatten)]
    _more: SearchOptions,
}

/// Ignored, because every response contains all results.
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
            (r#"{"type":"user","id":"a","properties":{"scopes":["a"]}}"#, ""),
            ("null", ""),
            (subject, r#","subject":{"type":"user","id":"b"}"#),
            (subject, r#","context":"x""#),
        ] {
            assert!(!read(&whole(subject, more)), "{subject} {more}");
        }
        assert!(!read(&format!("[{subject},{action},{resource}]")));
    }
}
