//! The usage of a run or of one of its messages.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

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
