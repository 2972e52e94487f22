//! The run request.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::present::present;

/// The body of a run request (specification §2.1): a configuration is created or updated by prompt, and run.
///
/// A member that is not required is left out where it has no value; read leniently, it may be null instead.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RunRequest {
    /// The prompt, in natural language.
    pub prompt: String,
    /// The session to run in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Whether the answer is to be streamed; the format of a stream is not shown.
    pub stream: bool,
    /// The state of the session, whose type is not shown: any JSON value, `null` too.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub session_state: Option<Value>,
    /// Attachments, by id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachment_ids: Option<Vec<String>>,
    /// Files, by id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_ids: Option<Vec<String>>,
    /// Folders, by id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_ids: Option<Vec<String>>,
    /// Integrations, by id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integration_ids: Option<Vec<String>>,
    /// Whether the session is temporary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temporary_session: Option<bool>,
    /// Whether bonus orbs may be used. Required, and yet it has a default: absent is false when read leniently,
    /// and a finding of strict validation.
    #[serde(default)]
    pub allow_bonus_orbs_use: bool,
    /// The time zone; its form is not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// Members that the specification does not list, kept as they are.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}
