//! Documents for the property tests: valid ones, made from the specification's tables, and ways to break them.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Any JSON value of small size.
pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        number(),
        text(),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let members = vec(("[a-z_/~\"é]{0,6}", inner.clone()), 0..4);
        prop_oneof![
            vec(inner, 0..4).prop_map(Value::from),
            members.prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

fn text() -> impl Strategy<Value = Value> {
    prop_oneof![any::<String>(), "[ -~]{0,12}"].prop_map(Value::from)
}

fn number() -> impl Strategy<Value = Value> {
    let float = prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO;
    prop_oneof![float.prop_map(|float| json!(float)), integer()]
}

fn integer() -> impl Strategy<Value = Value> {
    any::<i64>().prop_map(Value::from)
}

fn uuid() -> impl Strategy<Value = Value> {
    "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}".prop_map(Value::from)
}

fn flag() -> impl Strategy<Value = Value> {
    any::<bool>().prop_map(Value::from)
}

fn texts() -> impl Strategy<Value = Value> {
    vec(text(), 0..3).prop_map(Value::from)
}

/// Members with values of one kind.
fn each<S: Strategy<Value = Value>>(
    names: &'static str,
    value: fn() -> S,
) -> impl Strategy<Value = Map<String, Value>> {
    let names: Vec<&str> = names.split_whitespace().collect();
    vec(value(), names.len()).prop_map(move |values| {
        let names = names.iter().map(|name| (*name).to_owned());
        names.zip(values).collect()
    })
}

/// Members of which some are there.
fn some(members: impl Strategy<Value = Map<String, Value>>) -> impl Strategy<Value = Map<String, Value>> {
    (members, vec(any::<bool>(), 4)).prop_map(|(members, there)| {
        let members = members.into_iter().zip(there);
        members.filter_map(|(member, there)| there.then_some(member)).collect()
    })
}

/// Members that the specification does not list.
fn unknown() -> impl Strategy<Value = Map<String, Value>> {
    let name = "(x-[a-z~/. ]{0,4}|unknown|Prompt|)";
    vec((name, any_json()), 0..3).prop_map(|members| members.into_iter().collect())
}

fn object(parts: impl IntoIterator<Item = Map<String, Value>>) -> Value {
    parts.into_iter().flatten().collect::<Map<_, _>>().into()
}

/// A run request that strict validation accepts.
pub(crate) fn request() -> impl Strategy<Value = Value> {
    (
        each("prompt", text),
        each("stream allowBonusOrbsUse", flag),
        some(each("sessionId timezone", text)),
        some(each("sessionState", any_json)),
        some(each("attachmentIds fileIds folderIds integrationIds", texts)),
        some(each("temporarySession", flag)),
        unknown(),
    )
        .prop_map(|(a, b, c, d, e, f, g)| object([a, b, c, d, e, f, g]))
}

/// A run record that strict validation accepts.
pub(crate) fn record() -> impl Strategy<Value = Value> {
    let nullable = "images videos audio files response_audio reasoning_content citations session_state \
                    references additional_input reasoning_steps reasoning_messages events requirements \
                    workflow_step_id";
    let texts = "agent_id agent_name session_id user_id content content_type model model_provider status";
    let parts = (vec(message(), 0..3), input(), provider_data(), metadata(), run_metrics(), prop::option::of(text()))
        .prop_map(|(messages, input, provider, metadata, metrics, parent)| {
            let parts = json!({
                "messages": messages, "input": input, "model_provider_data": provider,
                "metadata": metadata, "metrics": metrics, "parent_run_id": parent,
            });
            parts.as_object().cloned().unwrap_or_default()
        });
    (
        each("run_id", uuid),
        each(texts, text),
        each(nullable, any_json),
        each("created_at", integer),
        each("tools", || vec(any_json(), 0..2).prop_map(Value::from)),
        parts,
        unknown(),
    )
        .prop_map(|(a, b, c, d, e, f, g)| object([a, b, c, d, e, f, g]))
}

fn input() -> impl Strategy<Value = Value> {
    let nullable = each("images videos audios files", any_json);
    (each("input_content", text), nullable, unknown()).prop_map(|(a, b, c)| object([a, b, c]))
}

fn provider_data() -> impl Strategy<Value = Value> {
    let extra = (some(each("prompt_logprobs kv_transfer_params", any_json)), unknown())
        .prop_map(|(a, b)| json!({ "model_extra": object([a, b]) }).as_object().cloned().unwrap_or_default());
    (some(each("id", text)), some(extra), unknown()).prop_map(|(a, b, c)| object([a, b, c]))
}

fn metadata() -> impl Strategy<Value = Value> {
    (some(each("role version", text)), unknown()).prop_map(|(a, b)| object([a, b]))
}

fn message() -> impl Strategy<Value = Value> {
    let nullable = "compressed_content name tool_call_id tool_calls audio images videos files audio_output \
                    image_output video_output file_output redacted_reasoning_content citations \
                    reasoning_content tool_name tool_args tool_call_error references";
    let flags = "stop_after_tool_call add_to_agent_memory from_history temporary";
    let role = prop_oneof![Just("user"), Just("system"), Just("assistant"), Just("tool")];
    let parts =
        (role, message_metrics(), prop::option::of(text()), prop::option::of(prop::option::of(provider_data())))
            .prop_map(|(role, metrics, input, provider)| {
                let mut parts = Map::new();
                parts.insert("role".to_owned(), role.into());
                parts.insert("metrics".to_owned(), metrics);
                if let Some(input) = input.filter(|_| role == "user") {
                    parts.insert("input".to_owned(), input);
                }
                if let Some(provider) = provider {
                    parts.insert("provider_data".to_owned(), json!(provider));
                }
                parts
            });
    (
        each("id", uuid),
        each("content", text),
        each(nullable, any_json),
        each(flags, flag),
        each("created_at", integer),
        parts,
        unknown(),
    )
        .prop_map(|(a, b, c, d, e, f, g)| object([a, b, c, d, e, f, g]))
}

/// Metrics without `timer` and `duration`, with the right sum.
fn metrics() -> impl Strategy<Value = Map<String, Value>> {
    let tokens = "audio_input_tokens audio_output_tokens audio_total_tokens cache_read_tokens \
                  cache_write_tokens reasoning_tokens";
    let sum = (any::<i32>(), any::<i32>()).prop_map(|(input, output)| {
        let total = i64::from(input) + i64::from(output);
        let sum = json!({"input_tokens": input, "output_tokens": output, "total_tokens": total});
        sum.as_object().cloned().unwrap_or_default()
    });
    let first = prop::option::of(number()).prop_map(|first| json!(first));
    (each(tokens, integer), each("cost provider_metrics additional_metrics", any_json), sum, first, unknown()).prop_map(
        |(a, b, c, first, d)| {
            let mut metrics: Map<_, _> = [a, b, c, d].into_iter().flatten().collect();
            metrics.insert("time_to_first_token".to_owned(), first);
            metrics
        },
    )
}

fn message_metrics() -> impl Strategy<Value = Value> {
    (metrics(), prop::option::of(number())).prop_map(|(mut metrics, duration)| {
        metrics.insert("timer".to_owned(), Value::Null);
        metrics.insert("duration".to_owned(), json!(duration));
        metrics.into()
    })
}

fn run_metrics() -> impl Strategy<Value = Value> {
    let timer = (each("start_time end_time elapsed_time", number), unknown());
    (metrics(), timer, any::<bool>()).prop_map(|(mut metrics, (timer, unknown), timed)| {
        let duration = timed.then(|| timer.get("elapsed_time").cloned());
        metrics.insert("duration".to_owned(), json!(duration.flatten()));
        metrics.insert("timer".to_owned(), object([timer, unknown]));
        metrics.into()
    })
}

/// The pointers of all values within a value, the value itself first.
pub(crate) fn pointers(value: &Value) -> Vec<String> {
    let mut all = Vec::new();
    collect(value, String::new(), &mut all);
    all
}

fn collect(value: &Value, at: String, all: &mut Vec<String>) {
    all.push(at.clone());
    match value {
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                collect(element, format!("{at}/{index}"), all);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                collect(member, format!("{at}/{name}"), all);
            }
        }
        _ => {}
    }
}
