//! The messages of a run.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::known::known;
use crate::metrics::Metrics;
use crate::present::present;
use crate::record::ProviderData;

/// A message of a run record (specification §2.3).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Message {
    /// A UUID, kept as a string.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "uuid")))]
    pub id: String,
    /// The author of the message.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "String", extend("examples" = ["system", "user", "assistant"]))
    )]
    pub role: Role,
    /// The text of the message.
    pub content: String,
    /// Nullable, type not shown.
    #[serde(default)]
    pub compressed_content: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub name: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub tool_call_id: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub tool_calls: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub audio: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub images: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub videos: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub files: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub audio_output: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub image_output: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub video_output: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub file_output: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub redacted_reasoning_content: Value,
    /// Present on the assistant's message, an object or null. Absent and null are two different things.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub provider_data: Option<Option<ProviderData>>,
    /// Nullable, type not shown.
    #[serde(default)]
    pub citations: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub reasoning_content: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub tool_name: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub tool_args: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub tool_call_error: Value,
    /// Shown as false.
    pub stop_after_tool_call: bool,
    /// Shown as true.
    pub add_to_agent_memory: bool,
    /// Shown as false.
    pub from_history: bool,
    /// The usage of this message; its `timer` is null.
    pub metrics: Metrics,
    /// Nullable, type not shown.
    #[serde(default)]
    pub references: Value,
    /// A timestamp, unit not stated.
    pub created_at: i64,
    /// Shown as false.
    pub temporary: bool,
    /// The text of the prompt again; present only on the user's message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Members that the specification doesn't list, kept unchanged.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

known! {
    /// The author of a message: the values that the specification shows, and any other.
    Role {
        System = "system",
        #[default]
        User = "user",
        Assistant = "assistant",
    }
}
