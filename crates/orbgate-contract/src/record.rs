//! The run record.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Number, Value};

/// An enum of the values that the specification shows, and `Other` for any other value, which is
/// accepted and kept.
macro_rules! known {
    ($(#[$doc:meta])* $name:ident { $($(#[$mark:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
        #[serde(from = "String")]
        pub enum $name {
            $(
                #[doc = concat!("`", $text, "`")]
                $(#[$mark])*
                $variant,
            )+
            /// A value that the specification doesn't show, kept unchanged.
            Other(String),
        }

        impl $name {
            /// The value as a string.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)+
                    Self::Other(text) => text,
                }
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                match text.as_str() {
                    $($text => Self::$variant,)+
                    _ => Self::Other(text),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

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

/// The metrics of a run or of one of its messages (specification §2.4).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Metrics {
    /// Input tokens.
    pub input_tokens: i64,
    /// Output tokens.
    pub output_tokens: i64,
    /// The sum of the two.
    pub total_tokens: i64,
    /// Nullable, type not shown.
    #[serde(default)]
    pub cost: Value,
    /// Audio input tokens.
    pub audio_input_tokens: i64,
    /// Audio output tokens.
    pub audio_output_tokens: i64,
    /// All audio tokens.
    pub audio_total_tokens: i64,
    /// Tokens read from a cache.
    pub cache_read_tokens: i64,
    /// Tokens written to a cache.
    pub cache_write_tokens: i64,
    /// Reasoning tokens.
    pub reasoning_tokens: i64,
    /// The timer of the run; null on a message.
    #[serde(default)]
    pub timer: Option<Timer>,
    /// A number or null; unit not stated.
    #[serde(default)]
    pub time_to_first_token: Option<Number>,
    /// A number or null, equal to the timer's `elapsed_time`.
    #[serde(default)]
    pub duration: Option<Number>,
    /// Nullable, type not shown.
    #[serde(default)]
    pub provider_metrics: Value,
    /// Nullable, type not shown.
    #[serde(default)]
    pub additional_metrics: Value,
    /// Members that the specification doesn't list, kept unchanged.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// The start, end and duration of a run (specification §2.4); units are not stated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Timer {
    /// When the run began.
    pub start_time: Number,
    /// When the run ended.
    pub end_time: Number,
    /// How long it took.
    pub elapsed_time: Number,
    /// Members that the specification doesn't list, kept unchanged.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// Reads an optional nullable member that is present, for which "absent" and "null" differ: even `null` becomes a `Some`
/// value. `Default` handles absent members.
pub(crate) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
