//! The run record.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::known::known;
use crate::message::Message;
use crate::metrics::Metrics;
use crate::present::present;

/// The record of a run (specification §2.2), which the endpoint returns.
///
/// Every listed member is present; it is null if it has no value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunRecord {
    /// A UUID, kept as a string.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "uuid")))]
    pub run_id: String,
    /// The id of the agent that ran.
    pub agent_id: String,
    /// The agent's name.
    pub agent_name: String,
    /// The id of the session.
    pub session_id: String,
    /// The id of the run that caused this one, if any.
    #[serde(default)]
    pub parent_run_id: Option<String>,
    /// The user whose run it was.
    pub user_id: String,
    /// The input.
    pub input: RunInput,
    /// The content of the answer.
    pub content: String,
    /// The type of the answer.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "String", extend("examples" = ["str"]))
    )]
    pub content_type: ContentType,
    /// The messages of the run.
    pub messages: Vec<Message>,
    /// The usage of the run.
    pub metrics: Metrics,
    /// Name of the model.
    pub model: String,
    /// Name of the model's provider.
    pub model_provider: String,
    /// Empty when no tool is used; the type of its elements is not shown.
    pub tools: Vec<Value>,
    /// Nullable, type not shown.
    #[serde(default)]
    pub images: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub videos: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub audio: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub files: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub response_audio: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub reasoning_content: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub citations: Value,
    /// Data that the model's provider returned about the run.
    pub model_provider_data: ProviderData,
    /// Facts about the run.
    pub metadata: Metadata,
    /// Nullable, type not shown.
    #[serde(default)]
    pub session_state: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub references: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub additional_input: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub reasoning_steps: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub reasoning_messages: Value,
    /// A timestamp, unit not stated.
    pub created_at: i64,
    /// Nullable, type not shown.
    #[serde(default)]
    pub events: Value,
    /// The state of the run (specification §3).
    #[cfg_attr(
        feature = "schema",
        schemars(with = "String", extend("examples" = ["COMPLETED"]))
    )]
    pub status: Status,
    /// Nullable, type not shown.
    #[serde(default)]
    pub requirements: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub workflow_step_id: Value,
    /// Members that the specification doesn't list, kept unchanged.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// The input of a run (specification §2.2, `input`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunInput {
    /// The input as text.
    pub input_content: String,
    /// Nullable, type not shown.
    #[serde(default)]
    pub images: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub videos: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub audios: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub files: Value,
    /// Members that the specification doesn't list, kept unchanged.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

known! {
    /// The type of a record's content: the value that the specification shows, and any other.
    ContentType {
        #[default]
        Str = "str",
    }
}

known! {
    /// The state of a run: the value that the specification shows, and any other.
    Status {
        #[default]
        Completed = "COMPLETED",
    }
}

/// Data from a model's provider (specification §2.2 and §2.3). The members are those of one provider, as
/// shown in the specification, and not required.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProviderData {
    /// The provider's id of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Data specific to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "ModelExtra"))]
    pub model_extra: Option<ModelExtra>,
    /// Members that the specification doesn't list, kept unchanged.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// Data specific to a model (specification §2.2): shown, but not required.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelExtra {
    /// Nullable, type not shown. Absent and null are two different things.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub prompt_logprobs: Option<Value>,
    /// Nullable, type not shown. Absent and null are two different things.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub kv_transfer_params: Option<Value>,
    /// Members that the specification doesn't list, kept unchanged.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// Facts about a run (specification §2.2, `metadata`): shown, but not required.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Metadata {
    /// A role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// A version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Members that the specification doesn't list, kept unchanged.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}
