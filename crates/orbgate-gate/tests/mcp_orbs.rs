//! What the responses to calls at an MCP endpoint cost.

use std::sync::LazyLock;

use orbgate_gate::{HandlerOutcome, McpEnd, McpOrbs, McpResponse, OnCancelled, OrbRules, Settlement};
use proptest::prelude::*;
use serde_json::Value;

const RESPONSES: &str = include_str!("../../../policy/cases/mcp/responses.jsonl");

struct Row {
    name: String,
    costs: String,
    is_legacy: bool,
    is_closed: bool,
    in_session: bool,
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let read = |line| {
        let row: Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| row[name].as_str().unwrap().to_owned();
        let headers = row["headers"].as_array().unwrap().iter();
        let headers = headers.map(|line| line.as_str().unwrap().split_once(": ").unwrap());
        Row {
            name: text("name"),
            costs: text("costs"),
            is_legacy: row["legacy"] == true,
            is_closed: row["closed"] == true,
            in_session: row["session"] == true,
            status: row["status"].as_u64().unwrap().try_into().unwrap(),
            headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            body: text("body"),
        }
    };
    RESPONSES.lines().map(read).collect()
});

impl Row {
    fn begun(&self) -> McpResponse {
        let mut response = McpResponse::new("7", self.is_legacy).in_session(self.in_session);
        let headers = self.headers.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        response.begin(&headers.collect::<Vec<_>>());
        response
    }

    /// What it says if it is sent in these pieces.
    fn read<'b>(&'b self, pieces: impl IntoIterator<Item = &'b [u8]>) -> McpEnd {
        let mut response = self.begun();
        let _ = pieces.into_iter().all(|piece| response.read(piece));
        response.end()
    }

    fn captures(&self, end: McpEnd, rules: &OrbRules) -> bool {
        let outcome = match self.is_closed {
            true => HandlerOutcome::Cancelled,
            false => HandlerOutcome::Status(self.status),
        };
        rules.settlement(outcome, Some(end), 5, None) == Settlement::Capture(5)
    }
}

/// Each combination of the settings that have no default.
fn settings() -> impl Iterator<Item = OrbRules> {
    let each = [OnCancelled::Void, OnCancelled::Capture];
    (0_usize..16).map(move |bits| {
        let [on_cancelled, on_broken, on_tool_error, on_input_required] =
            [bits, bits >> 1, bits >> 2, bits >> 3].map(|bit| each[bit & 1]);
        let mut rules = OrbRules::new(on_cancelled);
        rules.on_broken = Some(on_broken);
        rules.mcp = Some(McpOrbs { on_tool_error, on_input_required });
        rules
    })
}

#[test]
fn the_shared_responses_cost_what_is_written() {
    for row in &*ROWS {
        let end = row.read([row.body.as_bytes()]);
        assert_eq!(McpEnd::of_number(end.number()), Some(end));
        for rules in settings() {
            let mcp = rules.mcp.unwrap();
            let expected = match row.costs.as_str() {
                "captured" => OnCancelled::Capture,
                "voided" => OnCancelled::Void,
                "on_cancelled" => rules.on_cancelled,
                "on_broken" => rules.on_broken.unwrap(),
                "on_tool_error" => mcp.on_tool_error,
                "on_input_required" => mcp.on_input_required,
                other => panic!("{other}"),
            };
            assert_eq!(row.captures(end, &rules), expected == OnCancelled::Capture, "{}: {rules:?}", row.name);
        }
    }
    assert_eq!(ROWS.len(), 58);
}

#[test]
fn one_byte_at_a_time_says_the_same() {
    for row in &*ROWS {
        let whole = row.read([row.body.as_bytes()]);
        assert_eq!(row.read(row.body.as_bytes().chunks(1)), whole, "{}", row.name);
        assert_eq!(row.read(row.body.as_bytes().chunks(1).flat_map(|byte| [byte, b""])), whole, "{}", row.name);
    }
}

#[test]
fn what_happens_to_the_handler_counts_as_well() {
    let end = |is_legacy| McpResponse::new("7", is_legacy).end();
    for rules in settings() {
        let settled = |outcome, end| rules.settlement(outcome, Some(end), 5, Some(2));
        let of = |costs| if costs == OnCancelled::Capture { Settlement::Capture(2) } else { Settlement::Void };
        let (on_cancelled, on_broken) = (of(rules.on_cancelled), of(rules.on_broken.unwrap()));
        // Before the response has begun.
        for (outcome, expected) in [(HandlerOutcome::Cancelled, on_cancelled), (HandlerOutcome::Broken, on_broken)] {
            assert_eq!(settled(outcome, end(false)), expected);
            assert_eq!(settled(outcome, end(true)), Settlement::Capture(2));
        }
        for outcome in [HandlerOutcome::Failed, HandlerOutcome::NotRun, HandlerOutcome::Status(500)] {
            assert_eq!(settled(outcome, end(true)), Settlement::Void);
        }
        // A piece that can't be read.
        let mut lost = McpResponse::new("7", false);
        assert!(lost.begin(&[(b"content-type", b"text/event-stream")]));
        lost.lose();
        assert!(!lost.read(b"data: {}\n\n"));
        assert_eq!(settled(HandlerOutcome::Status(200), lost.end()), Settlement::Capture(2));
        assert_eq!(settled(HandlerOutcome::Cancelled, lost.end()), on_cancelled);
        assert_eq!(settled(HandlerOutcome::Broken, lost.end()), on_broken);
    }
    assert!([0, 8, 0x10, 0x18, 0x20, 0x28, 0x38, 0x41, 0xff].iter().all(|number| McpEnd::of_number(*number).is_none()));
}

/// What a tool states counts up to the ceiling, and a setting can charge no more than it.
#[test]
fn statements_of_tools_have_a_ceiling() {
    for row in ROWS.iter().filter(|row| row.costs != "voided") {
        let end = row.read([row.body.as_bytes()]);
        let outcome = if row.is_closed { HandlerOutcome::Cancelled } else { HandlerOutcome::Status(row.status) };
        let mut rules = OrbRules::new(OnCancelled::Stated);
        let (on_tool_error, on_input_required) = (OnCancelled::Stated, OnCancelled::Stated);
        rules.mcp = Some(McpOrbs { on_tool_error, on_input_required });
        let settled = |stated| rules.settlement(outcome, Some(end), 5, stated);
        assert_eq!((settled(Some(3)), settled(Some(4000))), (Settlement::Capture(3), Settlement::Capture(5)));
        let nothing = if row.costs == "captured" { Settlement::Capture(5) } else { Settlement::Void };
        assert_eq!(settled(None), nothing, "{}", row.name);
    }
}

#[test]
fn ids_are_compared_by_what_they_mean() {
    let long = format!("\"{}\"", "é".repeat(128));
    let too_long = format!("\"{}\"", "a".repeat(257));
    let table = [
        ("\"a\\u0062\"", "\"ab\"", true),
        ("\"ab\"", "\"a\\u0062\"", true),
        ("\"ab\"", "\"AB\"", false),
        ("\"7\"", "7", true),
        ("9007199254740993", "9007199254740992", true),
        ("1e2", "100", true),
        ("-0", "0", true),
        ("7", "70", false),
        ("7", "null", false),
        ("7", "[7]", false),
        ("7", "{\"id\":7}", false),
        ("\"\"", "\"\"", true),
        ("\"\\ud800\"", "\"\u{fffd}\"", false),
        (&*long, &*long, true),
        (&*too_long, &*too_long, false),
    ];
    for (sent, answered, is_same) in table {
        let mut response = McpResponse::new(sent, false);
        assert!(response.begin(&[(b"content-type", b"application/json")]));
        assert!(!response.read(format!("{{\"id\":{answered},\"error\":{{}}}}").as_bytes()));
        let mut rules = OrbRules::new(OnCancelled::Void);
        rules.mcp = Some(McpOrbs { on_tool_error: OnCancelled::Void, on_input_required: OnCancelled::Void });
        let settled = rules.settlement(HandlerOutcome::Status(200), Some(response.end()), 5, None);
        // An error that isn't the call's own doesn't make it free.
        assert_eq!(settled == Settlement::Void, is_same, "{sent} {answered}");
    }
}

/// A long result is read without keeping it: what the reader holds has a bound.
#[test]
fn no_result_is_too_large() {
    let text = "x\\\"".repeat(1 << 18);
    let body = format!("{{\"a\":\"{text}\",\"result\":{{\"text\":\"{text}\",\"isError\":true}},\"id\":7}}");
    let deep = format!("{{\"result\":{{\"a\":{}{}}},\"id\":7}}", "[".repeat(1 << 20), "]".repeat(1 << 20));
    let error = |body: &str| format!("data: {body}\n\n");
    for (content_type, body) in
        [("application/json", &body), ("text/event-stream", &error(&body)), ("application/json", &deep)]
    {
        let mut response = McpResponse::new("7", false);
        response.begin(&[(b"content-type", content_type.as_bytes())]);
        let most = body.as_bytes().chunks(1000).map(|piece| {
            response.read(piece);
            format!("{response:?}").len()
        });
        assert!(most.max().unwrap() < 16_384);
        assert_ne!(response.end(), McpResponse::new("7", false).end());
    }
}

/// Pieces of responses, so that something is found in most of them.
const PARTS: [&str; 24] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\n",
    "\r",
    "data",
    "data: ",
    "event: ",
    "message",
    "\"id\":7",
    "\"result\":",
    "\"isError\":true",
    "\"error\":{}",
    "\"resultType\":\"input_required\"",
    "\"method\":1",
    "{\"id\":7,\"result\":{}}",
    "data: {\"id\":7,\"error\":{}}\n\n",
    "\u{feff}",
    "é",
];

/// A value with the names and marks that count, where they don't.
fn value() -> impl Strategy<Value = Value> {
    let text =
        prop::sample::select(vec!["isError", "id", "input_required", "\"", "\\", "{\"id\":7", "]}", "é\n", "true"]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f32>().prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    let name = prop::sample::select(vec!["isError", "resultType", "id", "result", "error", "method", "a\"", "\\"]);
    leaf.prop_recursive(4, 32, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(name.clone(), inner, 0..5)
                .prop_map(|all| Value::Object(all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())),
        ]
    })
}

/// What a message says, read with another parser.
fn oracle(message: &Value) -> Option<&'static str> {
    let has_error = message.get("error").is_some_and(|error| !error.is_null());
    if message.get("method").is_some() || !has_error && message.get("result").is_none() {
        return None;
    }
    let id = &message["id"];
    let is_same = id.as_f64() == Some(7.0) || id.as_str() == Some("7");
    Some(match &message["result"] {
        _ if !is_same => "other",
        _ if has_error => "error",
        result if result["resultType"] == "input_required" => "input",
        result if result["isError"] == true => "tool",
        _ => "result",
    })
}

fn kind(end: McpEnd) -> Option<&'static str> {
    [None, None, Some("other"), Some("result"), Some("tool"), Some("input"), Some("error")]
        [usize::from(end.number()) - 1]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn another_parser_says_the_same(
        mut message in prop::collection::btree_map("id|result|error|method|jsonrpc", value(), 0..5),
        is_own in any::<bool>(),
        is_pretty in any::<bool>(),
    ) {
        if is_own {
            message.insert("id".to_owned(), Value::from(7));
        }
        let message = Value::Object(message.into_iter().collect());
        let text = if is_pretty { serde_json::to_string_pretty(&message) } else { serde_json::to_string(&message) }.unwrap();
        let expected = oracle(&message);
        let events = text.lines().map(|line| format!("data: {line}\r\n")).collect::<String>() + "\r\n";
        for (content_type, body) in [("application/json", &text), ("text/event-stream", &events)] {
            let mut response = McpResponse::new("7", false);
            response.begin(&[(b"content-type", content_type.as_bytes())]);
            response.read(body.as_bytes());
            prop_assert_eq!(kind(response.end()), expected, "{}", body);
        }
    }

    #[test]
    fn any_splitting_says_the_same(
        parts in prop::collection::vec(0..PARTS.len(), 0..24),
        row in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        is_stream in any::<bool>(),
    ) {
        let row = row.get(&ROWS);
        let mixed: String = parts.into_iter().map(|part| PARTS[part]).collect();
        let at = row.body.char_indices().map(|(at, _)| at).nth(cut.index(row.body.chars().count().max(1))).unwrap_or(0);
        let (before, after) = row.body.split_at(at);
        let content_type = if is_stream { "text/event-stream" } else { "application/json" };
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        for body in [row.body.clone(), mixed.clone(), format!("{before}{mixed}{after}")] {
            let row = Row { body, headers: headers.clone(), name: String::new(), costs: String::new(), ..*row };
            let bytes = row.body.as_bytes();
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces = cuts.windows(2).map(|ends| &bytes[ends[0]..ends[1]]);
            prop_assert_eq!(row.read(pieces), row.read([bytes]), "{:?}", row.body);
        }
    }
}
