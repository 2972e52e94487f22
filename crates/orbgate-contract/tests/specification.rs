//! The specification's tables, line by line: every member of §2.1 to §2.4, its type and its marks.

use std::collections::BTreeSet;

use orbgate_contract::Contract;
use serde_json::{Value, json};

/// §2.1: name, type, required.
const RUN_REQUEST: &str = "
    prompt             string           required
    sessionId          string
    stream             boolean          required
    sessionState       any
    attachmentIds      array of string
    fileIds            array of string
    folderIds          array of string
    integrationIds     array of string
    temporarySession   boolean
    allowBonusOrbsUse  boolean          required
    timezone           string
";

/// §2.2. `any` is a nullable member of a type that is not shown.
const RUN_RECORD: &str = "
    run_id               uuid                required
    agent_id             string              required
    agent_name           string              required
    session_id           string              required
    parent_run_id        string or null      required
    user_id              string              required
    input                object RunInput     required
    content              string              required
    content_type         string              required
    messages             array of Message    required
    metrics              object Metrics      required
    model                string              required
    model_provider       string              required
    tools                array               required
    images               any                 required
    videos               any                 required
    audio                any                 required
    files                any                 required
    response_audio       any                 required
    reasoning_content    any                 required
    citations            any                 required
    model_provider_data  object ProviderData required
    metadata             object Metadata     required
    session_state        any                 required
    references           any                 required
    additional_input     any                 required
    reasoning_steps      any                 required
    reasoning_messages   any                 required
    created_at           integer             required
    events               any                 required
    status               string              required
    requirements         any                 required
    workflow_step_id     any                 required
";

/// §2.2, `input`.
const RUN_INPUT: &str = "
    input_content  string  required
    images         any     required
    videos         any     required
    audios         any     required
    files          any     required
";

/// §2.2, `model_provider_data`: the keys are shown.
const PROVIDER_DATA: &str = "
    id           string
    model_extra  object ModelExtra
";

/// §2.2, `model_extra`.
const MODEL_EXTRA: &str = "
    prompt_logprobs     any
    kv_transfer_params  any
";

/// §2.2, `metadata`: the keys are shown.
const METADATA: &str = "
    role     string
    version  string
";

/// §2.3.
const MESSAGE: &str = "
    id                          uuid                 required
    role                        string               required
    content                     string               required
    compressed_content          any                  required
    name                        any                  required
    tool_call_id                any                  required
    tool_calls                  any                  required
    audio                       any                  required
    images                      any                  required
    videos                      any                  required
    files                       any                  required
    audio_output                any                  required
    image_output                any                  required
    video_output                any                  required
    file_output                 any                  required
    redacted_reasoning_content  any                  required
    provider_data               ProviderData or null
    citations                   any                  required
    reasoning_content           any                  required
    tool_name                   any                  required
    tool_args                   any                  required
    tool_call_error             any                  required
    stop_after_tool_call        boolean              required
    add_to_agent_memory         boolean              required
    from_history                boolean              required
    metrics                     object Metrics       required
    references                  any                  required
    created_at                  integer              required
    temporary                   boolean              required
    input                       string
";

/// §2.4. That a run has a timer and a message has none is a rule, not a shape.
const METRICS: &str = "
    input_tokens         integer         required
    output_tokens        integer         required
    total_tokens         integer         required
    cost                 any             required
    audio_input_tokens   integer         required
    audio_output_tokens  integer         required
    audio_total_tokens   integer         required
    cache_read_tokens    integer         required
    cache_write_tokens   integer         required
    reasoning_tokens     integer         required
    timer                Timer or null   required
    time_to_first_token  number or null  required
    duration             number or null  required
    provider_metrics     any             required
    additional_metrics   any             required
";

/// §2.4, `timer`.
const TIMER: &str = "
    start_time    number  required
    end_time      number  required
    elapsed_time  number  required
";

/// Every table, by the name of its type.
pub(crate) const TABLES: [(&str, &str); 9] = [
    ("RunRequest", RUN_REQUEST),
    ("RunRecord", RUN_RECORD),
    ("RunInput", RUN_INPUT),
    ("ProviderData", PROVIDER_DATA),
    ("ModelExtra", MODEL_EXTRA),
    ("Metadata", METADATA),
    ("Message", MESSAGE),
    ("Metrics", METRICS),
    ("Timer", TIMER),
];

#[test]
fn every_member_has_its_type_and_its_marks() {
    let record = parsed(Contract::RunRecord);
    for (name, table) in TABLES {
        let schema = match name {
            "RunRequest" => parsed(Contract::RunRequest),
            "RunRecord" => record.clone(),
            _ => record["$defs"][name].clone(),
        };
        assert_eq!(rows(table), described(&schema), "{name}");
        assert_eq!(schema["additionalProperties"], json!(true), "{name}");
    }
    let defined: BTreeSet<_> = record["$defs"].as_object().unwrap().keys().collect();
    assert_eq!(defined.len(), 7, "{defined:?}");
}

#[test]
fn what_the_schemas_say_beyond_shapes_is_understood() {
    // The checks walk along the schemas and know these words; they would ignore any other.
    let known = "$defs $ref $schema additionalProperties anyOf default description examples format items \
                 properties required title type";
    let known: BTreeSet<&str> = known.split(' ').collect();
    for contract in [Contract::RunRequest, Contract::RunRecord] {
        let schema = parsed(contract);
        let definitions = schema.get("$defs").and_then(Value::as_object);
        let objects = definitions.into_iter().flatten().map(|(_, object)| object);
        for object in objects.chain([&schema]) {
            let properties = object["properties"].as_object().unwrap().values();
            for schema in properties.chain([object]) {
                for word in schema.as_object().unwrap().keys() {
                    assert!(known.contains(&**word), "{word}");
                }
            }
        }
    }
}

#[test]
fn bonus_orbs_default_to_false() {
    let request = parsed(Contract::RunRequest);
    assert_eq!(request["properties"]["allowBonusOrbsUse"]["default"], json!(false));
}

fn parsed(contract: Contract) -> Value {
    serde_json::from_str(contract.schema()).unwrap()
}

/// A table's rows, with single spaces.
fn rows(table: &str) -> BTreeSet<String> {
    let rows = table.lines().filter(|row| !row.trim().is_empty());
    rows.map(|row| row.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// A schema as rows.
fn described(schema: &Value) -> BTreeSet<String> {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let properties = schema["properties"].as_object().unwrap();
    let rows = properties.iter().map(|(name, property)| {
        let mark = if required.contains(&json!(name)) { " required" } else { "" };
        format!("{name} {}{mark}", kind(property))
    });
    rows.collect()
}

fn kind(schema: &Value) -> String {
    let reference = |schema: &Value| {
        let name = schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")?;
        Some(name.to_owned())
    };
    if let Some(name) = reference(schema) {
        return format!("object {name}");
    }
    if let Some(branches) = schema.get("anyOf") {
        assert_eq!(branches[1], json!({"type": "null"}));
        return format!("{} or null", reference(&branches[0]).unwrap());
    }
    match schema.get("type") {
        None => "any".to_owned(),
        Some(Value::Array(types)) => {
            let types: Vec<_> = types.iter().map(|name| name.as_str().unwrap()).collect();
            types.join(" or ")
        }
        Some(name) if name == "array" => match &schema["items"] {
            Value::Bool(true) => "array".to_owned(),
            items => format!("array of {}", kind(items).trim_start_matches("object ")),
        },
        Some(name) => match schema.get("format") {
            Some(format) if format == "uuid" => "uuid".to_owned(),
            _ => name.as_str().unwrap().to_owned(),
        },
    }
}
