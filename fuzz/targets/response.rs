//! The response to a call at an MCP endpoint, in any pieces: what it says doesn't depend on them, and what is kept of it has a bound.
#![no_main]

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use orbgate_gate::{McpEnd, McpResponse};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    id: &'a str,
    is_legacy: bool,
    is_stream: bool,
    lengths: Vec<u8>,
    body: &'a [u8],
}

fuzz_target!(|input: Input<'_>| {
    let content_type: &[u8] = if input.is_stream { b"text/event-stream" } else { b"application/json" };
    let begun = || {
        let mut response = McpResponse::new(input.id, input.is_legacy);
        assert!(response.begin(&[(b"content-type", content_type)]));
        response
    };
    let (mut whole, mut pieces) = (begun(), begun());
    let reads = whole.read(input.body);
    let mut rest = input.body;
    let mut lengths = input.lengths.iter().cycle();
    while !rest.is_empty() {
        let length = lengths.next().map_or(1, |length| usize::from(*length).max(1));
        let (piece, after) = rest.split_at(length.min(rest.len()));
        rest = after;
        if !pieces.read(piece) {
            break;
        }
    }
    assert_eq!(whole.end(), pieces.end());
    assert_eq!(McpEnd::of_number(whole.end().number()), Some(whole.end()));
    assert!(!reads || format!("{whole:?}").len() < 16 << 10);
});
