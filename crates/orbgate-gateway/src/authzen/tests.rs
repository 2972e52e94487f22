//! What a point of decisions answers under load. A message with many tokens doesn't delay other clients' requests.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::fs;
use std::sync::Arc;

use serde_json::json;
use tokio::runtime::Builder;

use super::{Endpoint, Evaluator, answered, overloaded};
use crate::answers::OVERLOADED;
use crate::state::State;

#[test]
fn past_capacity_nothing_looks_like_an_answer() {
    assert_eq!(overloaded().status(), OVERLOADED);
}

#[test]
fn a_message_with_many_tokens_lets_others_be_answered_between_them() {
    const TOKENS: usize = 500;
    let folder = std::env::temp_dir().join(format!("orbgate-authzen-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write("gateway.yaml", "orbgate_gateway: 1\ntokens: tokens.yaml\nlisteners: [{ mode: authzen, listen: unix:/a }]\n");
    write("tokens.yaml", include_str!("../../../../examples/gateway/tokens.yaml"));
    let item = |at| json!({ "subject": { "type": "user", "id": "a", "properties": { "token": format!("t{at}") } } });
    let message = json!({
        "action": { "name": "GET" },
        "resource": { "type": "target", "id": "/api/v1/external/orbs" },
        "evaluations": (0..TOKENS).map(item).collect::<Vec<_>>(),
    });
    // With one worker, another task runs between two tokens.
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let (answers, turns) = runtime.block_on(async {
        let state = State::look(&folder.join("gateway.yaml")).unwrap();
        assert!(!state.is_ready(), "no keys were fetched");
        let turns = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&turns);
        let other = tokio::spawn(async move {
            loop {
                counted.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
            }
        });
        let body = message.to_string();
        let evaluator = Evaluator::new(&state);
        let answers = answered(Endpoint::Evaluations, &evaluator, body.as_bytes()).await;
        other.abort();
        (answers.unwrap(), turns.load(Ordering::Relaxed))
    });
    fs::remove_dir_all(&folder).unwrap();
    let answers = answers["evaluations"].as_array().unwrap().clone();
    assert_eq!(answers.len(), TOKENS);
    assert!(answers.iter().all(|it| it["context"]["reason"] == "invalid_token"), "{answers:?}");
    assert!(turns >= TOKENS, "{turns}");
}
