//! Consistency rules for run records (specification §2.3 and §2.4), which a schema can't express. If a
//! value is missing or has another type, that is already a finding, and the rule is skipped.

use core::cmp::Ordering;

use serde_json::{Number, Value};

/// Checks a record. `find` takes a pointer and a message.
pub(crate) fn record(record: &Value, find: &mut dyn FnMut(String, String)) {
    if let Some(metrics) = record.get("metrics") {
        total(metrics, "/metrics", find);
        timed(metrics, find);
    }
    let messages = record.get("messages").and_then(Value::as_array);
    for (index, message) in messages.into_iter().flatten().enumerate() {
        self::message(message, &format!("/messages/{index}"), find);
    }
}

fn message(message: &Value, at: &str, find: &mut dyn FnMut(String, String)) {
    if let Some(metrics) = message.get("metrics") {
        let at = format!("{at}/metrics");
        total(metrics, &at, find);
        if metrics.get("timer").is_some_and(|timer| !timer.is_null()) {
            find(format!("{at}/timer"), "must be null on a message".to_owned());
        }
    }
    let role = message.get("role").and_then(Value::as_str);
    if let Some(role) = role.filter(|role| *role != "user")
        && message.get("input").is_some()
    {
        let wrong = format!("only on a user's message, and the role of this one is `{role}`");
        find(format!("{at}/input"), wrong);
    }
}

/// `total_tokens` equals `input_tokens` plus `output_tokens`.
fn total(metrics: &Value, at: &str, find: &mut dyn FnMut(String, String)) {
    let tokens = |name| metrics.get(name)?.as_i64().map(i128::from);
    let names = ["input_tokens", "output_tokens", "total_tokens"].map(tokens);
    let [Some(input), Some(output), Some(total)] = names else {
        return;
    };
    // The sum of two 64-bit integers can have 65 bits.
    let sum = input.saturating_add(output);
    if total != sum {
        let wrong = format!("is {total}, but input_tokens + output_tokens is {sum}");
        find(format!("{at}/total_tokens"), wrong);
    }
}

/// A run has a timer, and `duration` equals its `elapsed_time`.
fn timed(metrics: &Value, find: &mut dyn FnMut(String, String)) {
    let Some(timer) = metrics.get("timer") else {
        return;
    };
    if timer.is_null() {
        let wrong = "must be an object on a run record, not null";
        find("/metrics/timer".to_owned(), wrong.to_owned());
    }
    let duration = metrics.get("duration").and_then(Value::as_number);
    let elapsed = timer.get("elapsed_time").and_then(Value::as_number);
    if let (Some(duration), Some(elapsed)) = (duration, elapsed)
        && !equal(duration, elapsed)
    {
        let wrong = format!("is {duration}, but timer.elapsed_time is {elapsed}");
        find("/metrics/duration".to_owned(), wrong);
    }
}

/// Whether two numbers are equal: `2` equals `2.0`.
fn equal(one: &Number, other: &Number) -> bool {
    if one.is_f64() || other.is_f64() {
        let order = one.as_f64().partial_cmp(&other.as_f64());
        return order == Some(Ordering::Equal);
    }
    one == other
}
