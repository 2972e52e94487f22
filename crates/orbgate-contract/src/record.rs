//! The run record.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::known::known;
use crate::message::Message;
use crate::metrics::Metrics;
use crate::present::present;

/// The record of a run (specification §2.2): what the endpoint answers.
///
/// Every listed member is there, null where it has no value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunRecord {
    /// A UUID; kept as the text that it is.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "uuid")))]
    pub run_id: String,
    /// The agent that ran, by id.
    pub agent_id: String,
    /// The agent's name.
    pub agent_name: String,
    /// The session that it ran in, by id.
    pub session_id: String,
    /// The run that caused this one, if any.
    #[serde(default)]
    pub parent_run_id: Option<String>,
    /// Whose run it was.
    pub user_id: String,
    /// What went in.
    pub input: RunInput,
    /// The text of the answer.
    pub content: String,
    /// The type of the answer.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "String", extend("examples" = ["str"]))
    )]
    pub content_type: ContentType,
    /// The messages of the run.
    pub messages: Vec<Message>,
    /// What the run used.
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
    /// What the model's provider says of the run.
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
    /// Members that the specification does not list, kept as they are.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// What went into a run (specification §2.2, `input`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunInput {
    /// The text.
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
    /// Members that the specification does not list, kept as they are.
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

/// What a model's provider says (specification §2.2 and §2.3). Its members are those of one provider, shown
/// and not required.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProviderData {
    /// The provider's id of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What is particular to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "ModelExtra"))]
    pub model_extra: Option<ModelExtra>,
    /// Members that the specification does not list, kept as they are.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// What is particular to a model (specification §2.2): shown, and not required.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelExtra {
    /// Nullable, type not shown. Absent and null are two different things.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub prompt_logprobs: Option<Value>,
    /// Nullable, type not shown. Absent and null are two different things.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub kv_transfer_params: Option<Value>,
    /// Members that the specification does not list, kept as they are.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// Facts about a run (specification §2.2, `metadata`): shown, and not required.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Metadata {
    /// A role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// A version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Members that the specification does not list, kept as they are.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}
