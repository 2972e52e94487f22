//! The run request.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::record::present;

/// The body of a run request (specification §2.1), which creates or updates a configuration from a prompt,
/// and runs it.
///
/// An optional member without a value is left out. In lenient mode, it can also be null.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RunRequest {
    /// The prompt, in natural language.
    pub prompt: String,
    /// The id of the session to run in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Whether the response should be streamed; the format of a stream is not shown.
    pub stream: bool,
    /// The state of the session, whose type is not shown: any JSON value, including `null`.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub session_state: Option<Value>,
    /// The ids of attachments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachment_ids: Option<Vec<String>>,
    /// The ids of files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_ids: Option<Vec<String>>,
    /// The ids of folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder_ids: Option<Vec<String>>,
    /// The ids of integrations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integration_ids: Option<Vec<String>>,
    /// Whether the session is temporary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temporary_session: Option<bool>,
    /// Whether bonus orbs may be used. The specification marks it required, but also gives it a default. If
    /// absent, it is false in lenient mode, and a finding of strict validation.
    #[serde(default)]
    pub allow_bonus_orbs_use: bool,
    /// The time zone; its form is not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// Members that the specification doesn't list, kept unchanged.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}
