//! The one call of gates, tested from the inside, including under Miri: what a message asks and answers, and bytes that are
//! no message. Signature checks are only pretended.

mod handles;
mod orbs;

use core::cell::Cell;
use core::ffi::c_char;
use core::ptr::null_mut;

use proptest::prelude::*;

use super::expected::Expected;
use super::{INVALID, OK, SHOP, compiled, external};
use crate::engine::{OrbgateEngine, orbgate_engine_free};
use crate::gate::ask::*;
use crate::gate::options::*;
use crate::gate::request::*;
use crate::status::OrbgateStatus;

const TIME: u64 = 1_800_000_000_000;
const ISSUER: &str = "https://id.example.com";
const TOKENS: &str = include_str!("../../../orbgate-token/testdata/token.yaml");
const TOKEN: &str = include_str!("../../../orbgate-token/testdata/token.jwt");
const CRITICAL: u32 = 1 << 31;
const SMALL: OrbgateStatus = OrbgateStatus::TooSmall;
/// For an answer. Each byte is checked after each question, which would be nearly all that Miri did if there were many.
const ROOM: usize = 1 << 12;

/// A field.
fn put(number: u32, bytes: &[u8]) -> Vec<u8> {
    let len = bytes.len() as u32;
    [&number.to_le_bytes()[..], &len.to_le_bytes(), bytes].concat()
}

fn integer(number: u32, value: u64) -> Vec<u8> {
    put(number, &value.to_le_bytes())
}

fn question(number: u32, fields: &[Vec<u8>]) -> Vec<u8> {
    put(number, &fields.concat())
}

/// An answer's number and its fields.
#[derive(Debug, PartialEq, Eq)]
struct Said(u32, Vec<(u32, Vec<u8>)>);

impl Said {
    fn read(mut bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let mut fields = Vec::new();
        while bytes.len() >= 8 {
            let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
            let (number, end) = (word(0), 8 + word(4) as usize);
            fields.push((number, bytes[8..end].to_vec()));
            bytes = &bytes[end..];
        }
        assert!(bytes.is_empty());
        fields
    }

    fn whole(bytes: &[u8]) -> Self {
        let [(number, fields)] = &Self::read(bytes)[..] else { panic!("an answer is one field") };
        Self(*number, Self::read(fields))
    }

    fn all(&self, number: u32) -> Vec<&[u8]> {
        self.1.iter().filter(|field| field.0 & !CRITICAL == number).map(|field| &*field.1).collect()
    }

    fn bytes(&self, number: u32) -> Option<&[u8]> {
        self.all(number).first().copied()
    }

    fn text(&self, number: u32) -> String {
        String::from_utf8(self.bytes(number).unwrap_or_default().to_vec()).unwrap()
    }

    fn integer(&self, number: u32) -> u64 {
        self.bytes(number).map_or(0, |bytes| u64::from_le_bytes(bytes.try_into().unwrap()))
    }

    fn part(&self, number: u32) -> Self {
        Self(number, Self::read(self.bytes(number).unwrap()))
    }
}

/// The status of a call, and its answer or, in this case, the size that it needs as zeros.
fn asked(
    gate: &mut u64,
    engine: *const OrbgateEngine,
    step: &mut u64,
    message: &[u8],
    room: usize,
) -> (OrbgateStatus, Vec<u8>) {
    // The question and its answer have the same memory.
    let mut memory = message.to_vec();
    memory.resize(room.max(message.len()) + 1, 7);
    let mut len = 77;
    let at = memory.as_mut_ptr().cast::<c_char>();
    let status = unsafe { orbgate_gate_ask(gate, engine, step, at, message.len(), at, room, &mut len) };
    match status {
        OK => {
            assert!(len <= room);
            assert!(memory[len.max(message.len())..].iter().all(|byte| *byte == 7), "nothing is written after it");
            memory.truncate(len);
        }
        SMALL => {
            assert!(len > room && memory.starts_with(message), "nothing is written");
            memory = vec![0; len];
        }
        _ => assert!(len == 77 && memory.starts_with(message), "an output is written only with OK"),
    }
    (status, memory)
}

/// A gate and an engine, with the step of a request, and the one of a call.
struct Host {
    gate: Cell<u64>,
    engine: *mut OrbgateEngine,
    step: Cell<u64>,
    calling: Cell<u64>,
}

impl Host {
    fn without_gate() -> Self {
        Self { gate: Cell::new(0), engine: external(), step: Cell::new(0), calling: Cell::new(0) }
    }

    /// With a gate of these options.
    fn new(options: &[Vec<u8>]) -> Self {
        let host = Self::without_gate();
        let made = host.say(2, &[&[put(1, TOKENS.as_bytes()), put(4, &[])], options].concat());
        assert_eq!((made, host.gate.get() != 0), (Ok(Said(64, Vec::new())), true));
        host
    }

    /// With another engine.
    fn over(mut self, engine: *mut OrbgateEngine) -> Self {
        unsafe { orbgate_engine_free(std::mem::replace(&mut self.engine, engine)) }
        self
    }

    fn say(&self, number: u32, fields: &[Vec<u8>]) -> Result<Said, OrbgateStatus> {
        self.send(&question(number, fields))
    }

    fn send(&self, message: &[u8]) -> Result<Said, OrbgateStatus> {
        match self.call(message) {
            (OK, bytes) => Ok(Said::whole(&bytes)),
            (status, _) => Err(status),
        }
    }

    /// The status and the answer. A question that begins something ends what its step was at, and one that needs no step has its own.
    fn call(&self, message: &[u8]) -> (OrbgateStatus, Vec<u8>) {
        let number = message.first_chunk().map_or(0, |number| u32::from_le_bytes(*number));
        let again = put(27, &[]);
        let (none, made) = (Cell::new(0), Cell::new(0));
        let (of, begins) = match number {
            7 | 8 => (&self.calling, number == 7),
            1 | 2 | 9..=15 | 37 | 44 => (&none, true),
            3 => (&self.step, !message.windows(again.len()).any(|field| field == again)),
            _ => (&self.step, matches!(number, 30 | 38)),
        };
        let (mut gate, mut step) = (if number == 2 { 0 } else { self.gate.get() }, of.get());
        if begins {
            unsafe { orbgate_step_end(&mut step) }
        }
        let answer = asked(&mut gate, self.engine, &mut step, message, ROOM);
        of.set(step);
        if number == 2 {
            // One that the host doesn't take is ended.
            made.set(if self.gate.get() == 0 { self.gate.replace(gate) } else { gate });
        }
        unsafe {
            orbgate_step_end(none.as_ptr());
            orbgate_gate_end(made.as_ptr());
        }
        answer
    }

    fn ask(&self, target: &str, more: &[Vec<u8>]) -> Said {
        let bearer = format!("Bearer {}", TOKEN.trim());
        let fields =
            [put(1, b"GET"), put(2, target.as_bytes()), put(3, bearer.as_bytes()), integer(13, TIME), integer(14, 5)];
        self.say(3, &[&fields, more].concat()).unwrap()
    }

    /// Makes the gate's calls, and returns what it called.
    fn serve(&self) -> Vec<String> {
        let discovery = format!(r#"{{"issuer":"{ISSUER}","jwks_uri":"{ISSUER}/jwks"}}"#);
        let mut urls = Vec::new();
        loop {
            let mut next = self.say(7, &[integer(1, 6)]).unwrap();
            if next.0 == 64 {
                return urls;
            }
            while next.0 == 69 {
                let url = next.text(3);
                let body = match url.ends_with("/jwks") {
                    true => include_str!("../../../orbgate-token/testdata/jwks.json"),
                    false => &discovery,
                };
                urls.push(format!("{} {url}", next.text(2)));
                assert_eq!(next.integer(7), 256 << 10, "the most bytes of a response");
                let attempt = integer(1, next.integer(1));
                let called = [attempt, integer(3, 200), put(5, body.as_bytes()), integer(6, 6)];
                next = self.say(8, &called).unwrap();
            }
            assert_eq!(next, Said(64, Vec::new()));
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        unsafe {
            orbgate_gate_end(self.gate.as_ptr());
            orbgate_step_end(self.step.as_ptr());
            orbgate_step_end(self.calling.as_ptr());
            orbgate_engine_free(self.engine);
        }
    }
}

const ACCOUNT: &str = "/api/v1/external/account";

#[test]
fn one_step_serves_a_request_until_it_is_answered() {
    let host = Host::new(&[]);
    let wait = host.ask(ACCOUNT, &[put(11, &[])]);
    assert_eq!((wait.0, wait.integer(1), wait.bytes(2)), (67, 5005, Some(&b""[..])), "it may call");
    assert_eq!(host.say(6, &[integer(1, 6)]), Ok(Said(70, Vec::new())));
    assert_eq!(
        host.serve(),
        ["GET https://id.example.com/.well-known/openid-configuration", "GET https://id.example.com/jwks"]
    );
    assert_eq!(host.say(6, &[integer(1, 6)]), Ok(Said(70, vec![(CRITICAL | 1, Vec::new())])));
    let check = host.say(4, &[integer(1, TIME), integer(2, 6)]).unwrap();
    assert_eq!((check.0, check.text(1), check.bytes(5).unwrap().len()), (68, "ES256".to_owned(), 64));
    assert!(check.text(2).contains("\"x\":\"iZZVRpXPK-"));
    assert_eq!(check.text(3), TOKEN.trim());
    let (signed, _) = TOKEN.trim().rsplit_once('.').unwrap();
    assert_eq!((check.integer(4), check.bytes(6)), (signed.len() as u64, None));
    let answer = host.say(5, &[put(1, &[]), integer(3, TIME), integer(4, 6)]).unwrap();
    assert_eq!((answer.0, answer.integer(1) & 3, answer.integer(2), answer.text(6)), (66, 2, 0, String::new()));
    let token = answer.part(10);
    assert_eq!((token.integer(1), token.text(2)), (1, "read:account write:voxies".to_owned()));
    assert_eq!((token.text(3), token.text(4), token.text(8).len()), (ISSUER.to_owned(), "user-7".to_owned(), 16));
    assert_eq!(
        (token.text(5), token.text(6), token.text(7)),
        ("app-1".to_owned(), String::new(), "token-1".to_owned())
    );
    assert!(token.integer(9) > TIME && answer.text(9).contains(&token.text(8)));
    // The same step, for another request.
    let denied = host.say(3, &[put(1, b"GET"), put(2, ACCOUNT.as_bytes())]).unwrap();
    assert_eq!((denied.integer(2), denied.text(4), denied.bytes(9)), (401, "Bearer".to_owned(), None));
}

/// The host can hash the token.
#[test]
fn a_hash_names_the_token() {
    let host = Host::new(&[]);
    assert_eq!(host.ask(ACCOUNT, &[]).0, 67);
    assert_eq!(host.serve().len(), 2);
    let fingerprint = |hash: u64| {
        assert_eq!(host.ask(ACCOUNT, &[]).0, 68);
        let answer = host.say(5, &[put(1, &[]), integer(2, hash), integer(3, TIME)]).unwrap();
        answer.part(10).text(8)
    };
    assert_eq!(fingerprint(0x0807_0605_0403_0201), "0102030405060708");
    let own = fingerprint(0);
    assert_ne!(own, "0000000000000000");
    assert_eq!(host.ask(ACCOUNT, &[]).0, 68);
    let refused = host.say(5, &[integer(3, TIME)]).unwrap();
    assert_eq!((refused.integer(2), refused.text(6)), (401, "signature".to_owned()));
}

/// At an MCP endpoint, the host hands over the body when its token is valid.
#[test]
fn a_body_names_the_operation() {
    let engine = || {
        let policy = "orbgate: 1\napis: { shop: { base_path: /mcp, scopes: { read:account: { orbs: false, \
            routes: [MCP /tools/call/a] }, other: { orbs: 1, routes: [MCP /tools/call/b] } } } }\n";
        compiled(policy)
    };
    let options =
        [put(23, b"/mcp"), put(24, b"read:account"), integer(25, 100), put(27, b"https://api.example.com/mcp")];
    let whole = Host::without_gate().say(2, &[&[put(1, TOKENS.as_bytes()), put(4, &[])], &options[..]].concat());
    assert_eq!(whole.unwrap().0, 65, "the resource isn't an audience");
    let host = Host::new(&options[..3]).over(engine());
    assert_eq!(host.say(14, &[]).unwrap().0, 64);
    let request = |more: &[Vec<u8>]| {
        let bearer = format!("Bearer {}", TOKEN.trim());
        let fields = [put(1, b"POST"), put(2, b"/mcp"), put(3, bearer.as_bytes()), integer(13, TIME)];
        host.say(3, &[&fields, more].concat()).unwrap()
    };
    let denied = host.say(3, &[put(1, b"POST"), put(2, b"/mcp")]).unwrap();
    assert_eq!((denied.integer(2), denied.text(4)), (401, "Bearer scope=\"read:account\"".to_owned()));
    assert_eq!(request(&[]).0, 67);
    assert_eq!(host.serve().len(), 2);
    let json = put(3, &[put(1, b"Content-Type"), put(2, b"application/json")].concat());
    let call = |tool: &str| {
        let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{tool}"}}}}"#);
        put(1, body.as_bytes())
    };
    for (fields, status, code) in [
        (vec![call("a"), json.clone()], 0, None),
        (vec![call("b"), json.clone()], 403, None),
        (vec![call("c"), json.clone()], 404, Some(-32602)),
        (vec![call("a")], 400, Some(-32600)),
        (vec![json.clone()], 400, Some(-32700)),
        (vec![json.clone(), put(6, &[])], 400, Some(-32700)),
        (vec![json.clone(), put(2, &[])], 400, Some(-32600)),
        (vec![json.clone(), put(5, &[])], 429, Some(-32000)),
        (vec![call(&"a".repeat(3 << 20)), json.clone()], 400, Some(-32600)),
    ] {
        assert_eq!(request(&[put(11, &[])]).0, 68);
        let read = host.say(5, &[put(1, &[]), integer(3, TIME)]).unwrap();
        assert_eq!((read.0, read.integer(1)), (74, 100));
        let answer = host.say(17, &[&fields[..], &[integer(4, TIME)]].concat()).unwrap();
        assert_eq!((answer.0, answer.integer(2)), (66, status));
        assert_eq!((answer.text(8), answer.bytes(9).is_some()), ("/mcp".to_owned(), true));
        let error = answer.bytes(12).map(|body| serde_json::from_slice::<serde_json::Value>(body).unwrap());
        assert_eq!(error.and_then(|error| error["error"]["code"].as_i64()), code);
        assert_eq!(answer.all(13).len(), usize::from(code.is_some()), "its content type");
        assert_eq!(host.say(17, &fields), Err(INVALID), "a request has one body");
    }
    let visible = |kind: u64| {
        let names = [b"b".as_slice(), b"a", b"a b"].map(|name| put(4, name));
        let fields = [&[integer(1, kind), put(2, b"read:account"), put(3, b"tools/call")], &names[..]].concat();
        host.say(44, &fields).unwrap().text(1)
    };
    assert_eq!([1, 2, 0, 255, 257].map(visible), ["a", "a", "", "", ""]);
    assert!(Host::new(&[]).over(engine()).say(44, &[]).is_err(), "there is no endpoint");
    for options in [
        [put(24, b"a"), put(23, &[])],
        [put(23, b"/{a}"), put(24, &[])],
        [put(23, b"/a"), integer(25, (8 << 20) + 1)],
        [put(23, b"/a"), put(28, b"https://a/")],
        [put(28, b"https://a"), put(28, b"https://b")],
    ] {
        let host = Host::without_gate();
        let made = host.say(2, &[&[put(1, TOKENS.as_bytes()), put(4, &[])], &options[..]].concat());
        assert_ne!(made, Ok(Said(64, Vec::new())));
    }
}

#[test]
fn each_flag_of_a_request_does_its_own() {
    let host = Host::new(&[]);
    let run = |host: &Host, flags: &[u32]| {
        let bearer = format!("Bearer {}", TOKEN.trim());
        let mut fields =
            vec![put(1, b"POST"), put(2, b"/api/v1/external/voxies/prompt/run"), put(3, bearer.as_bytes())];
        fields.extend(flags.iter().map(|flag| put(*flag, &[])));
        host.say(3, &[&fields[..], &[integer(13, TIME)]].concat()).unwrap()
    };
    // Of those that hold a thread, one waits for as long as a call may take. Others have more such places.
    let mut steps = Vec::new();
    for (flags, until) in [(&[12][..], 5000), (&[12], 1000), (&[], 5000), (&[10, 11], 5000)] {
        assert_eq!(run(&host, flags).integer(1), until, "{flags:?}");
        steps.push(host.step.replace(0));
    }
    steps.into_iter().for_each(|mut step| unsafe { orbgate_step_end(&mut step) });
    assert_eq!(host.serve().len(), 2);
    for (flag, bonus, audit) in [(12, 0, false), (11, 0, true), (10, 8, false)] {
        assert_eq!(run(&host, &[flag]).0, 68);
        let answer = host.say(5, &[put(1, &[]), integer(3, TIME)]).unwrap();
        assert_eq!((answer.integer(1) & 3, answer.integer(1) >> 2 & 8, answer.bytes(9).is_some()), (2, bonus, audit));
    }
    for (flags, bonus) in [(&[11][..], "null"), (&[11, 15], "false"), (&[10, 11], "true")] {
        assert_eq!(run(&host, flags).0, 68);
        let audit = host.say(5, &[put(1, &[]), integer(3, TIME)]).unwrap().text(9);
        assert!(audit.contains(&format!("\"bonus_allowed\":{bonus}")), "{flags:?}: {audit}");
    }
}

/// What is wrong with a question, and the question.
fn refused_questions() -> Vec<(&'static str, Vec<u8>)> {
    let lying = |number: u32, len: u32| [number.to_le_bytes(), len.to_le_bytes()].concat();
    vec![
        ("nothing", Vec::new()),
        ("half of a head", vec![3, 0, 0, 0]),
        ("an unknown question", question(18, &[])),
        ("the number 0", question(0, &[])),
        ("an answer", question(66, &[])),
        ("a critical question", question(CRITICAL | 3, &[])),
        ("shorter than it says", lying(3, 8)),
        ("the largest length", lying(3, u32::MAX)),
        ("longer than it says", [question(9, &[]), vec![0]].concat()),
        ("two questions", question(9, &[]).repeat(2)),
        ("an unknown field", question(9, &[integer(2, 1)])),
        ("an unknown field of a question without fields", question(13, &[put(1, &[])])),
        ("a critical field", question(9, &[integer(CRITICAL | 1, 1)])),
        ("the field 0", question(9, &[put(0, &[])])),
        ("the largest number", question(9, &[put(u32::MAX, &[])])),
        ("a field twice", question(9, &[integer(1, 1), integer(1, 1)])),
        ("an integer of 7 bytes", question(9, &[put(1, &[0; 7])])),
        ("an integer of 9 bytes", question(9, &[put(1, &[0; 9])])),
        ("a flag with a byte", question(3, &[put(10, &[1])])),
        ("a text that is no UTF-8", question(3, &[put(9, b"\xff")])),
        ("a length beyond the end", question(9, &[lying(1, 8)])),
        ("half of a field's head", question(9, &[vec![1, 0, 0]])),
        ("a part with half of a head", question(12, &[put(1, &[1, 0, 0])])),
        ("a part with an unknown field", question(12, &[put(1, &put(2, &[]))])),
        ("a part with a field twice", question(12, &[put(1, &put(1, &[]).repeat(2))])),
        ("a part that reaches beyond its end", question(12, &[put(1, &lying(1, 8)), vec![0; 8]])),
        ("an unknown number of a router", question(3, &[integer(8, 3)])),
        ("a number of more than 32 bits", question(3, &[integer(8, 1 << 32)])),
        ("a template without its number", question(3, &[put(9, b"/x")])),
        ("a wait that isn't one", question(4, &[])),
        ("a signature that nobody asked for", question(5, &[])),
        ("the end of no wait", question(6, &[])),
        ("a status of more than 16 bits", question(8, &[integer(3, 1 << 16)])),
        ("an unknown failure", question(8, &[integer(2, 5)])),
        ("a gate's routes in a syntax of their own", question(15, &[integer(2, 1)])),
    ]
}

#[test]
fn questions_are_read_strictly() {
    let host = Host::new(&[]);
    for (what, message) in refused_questions() {
        assert_eq!(host.send(&message), Err(INVALID), "{what}");
    }
    // Each cut of a right question.
    let right = question(3, &[put(1, b"GET"), put(2, b"/"), integer(14, 1)]);
    assert!(host.send(&right).is_ok());
    for len in 0..right.len() {
        assert_eq!(host.send(&right[..len]), Err(INVALID), "{len}");
    }
    let no_gate = Host::without_gate();
    for number in 3..=14 {
        assert_eq!(no_gate.say(number, &[]), Err(INVALID), "{number}");
    }
    let no_engine = Host::new(&[]).over(null_mut());
    for number in [3, 14, 15] {
        assert_eq!(no_engine.say(number, &[]), Err(INVALID), "{number}");
    }
}

#[test]
#[cfg(not(miri))] // two million bytes
fn a_message_has_a_largest_size() {
    let host = Host::new(&[]);
    let of = |len: usize| host.say(3, &[put(1, b"GET"), put(4, &vec![b'x'; len - 27])]);
    assert!(of(2 << 20).is_ok());
    assert_eq!(of((2 << 20) + 1), Err(INVALID));
    // A token configuration that is too long is an error with a message.
    let configured = |len: usize| host.say(2, &[put(1, &vec![b' '; len - 16])]);
    let failed = configured(10 << 20).unwrap();
    assert_eq!(failed.0, 65);
    assert!(failed.text(2).contains("8388608"), "{}", failed.text(2));
    assert_eq!(configured((10 << 20) + 1), Err(INVALID));
}

/// A question that isn't for the step ends its request, and a step outlives its gate.
#[test]
fn a_step_is_at_one_question() {
    let mut host = Host::new(&[]);
    assert_eq!(host.ask(ACCOUNT, &[]).0, 67);
    assert_eq!(host.say(5, &[put(1, &[])]), Err(INVALID), "it waits");
    assert_eq!(host.say(4, &[]), Err(INVALID), "it's over");
    assert_eq!(host.ask(ACCOUNT, &[]).0, 67);
    let engine = std::mem::replace(&mut host.engine, null_mut());
    assert_eq!(host.say(4, &[]), Err(INVALID), "it has no engine");
    host.engine = engine;
    assert_eq!(host.say(4, &[]), Err(INVALID), "it's over");
    assert_eq!(host.ask(ACCOUNT, &[]).0, 67);
    // Questions that need no step leave it.
    assert_eq!(host.say(9, &[]), Ok(Said(64, Vec::new())));
    assert_eq!(host.serve().len(), 3);
    let gate = host.gate.replace(0);
    assert_eq!(host.say(4, &[]), Err(INVALID), "it has no gate");
    host.gate.set(gate);
    assert_eq!(host.ask(ACCOUNT, &[]).0, 68);
    assert_eq!(host.say(16, &[]), Ok(Said(64, Vec::new())));
    assert_eq!(host.say(5, &[put(1, &[])]), Err(INVALID), "it's dropped");
    assert_eq!(host.ask(ACCOUNT, &[]).0, 68);
    unsafe { orbgate_gate_end(host.gate.as_ptr()) }
}

/// The response to a call at an MCP endpoint, piece by piece, with a step of its own.
#[test]
fn a_step_reads_a_response() {
    let host = Host::without_gate();
    let piece = |bytes: &[u8]| host.say(40, &[put(1, bytes)]);
    assert_eq!(piece(b"{"), Err(INVALID), "it reads no response");
    let read = |it: Result<Said, OrbgateStatus>| it.map(|it| (it.0, it.bytes(1).is_some(), it.integer(2)));
    let header = |name: &[u8], value: &[u8]| put(1, &[put(1, name), put(2, value)].concat());
    let (json, coded) = (header(b"content-type", b"application/json"), header(b"Content-Encoding", b"gzip"));
    for (legacy, more) in [(None, 0), (Some(put(2, &[])), 0x10)] {
        let begin = || read(host.say(38, &[vec![put(1, b"7")], Vec::from_iter(legacy.clone())].concat()));
        assert_eq!(begin(), Ok((94, true, 1 + more)));
        assert_eq!(read(host.say(39, std::slice::from_ref(&json))), Ok((94, true, 1 + more)));
        assert_eq!(read(piece(b"{\"id\":7,\"err")), Ok((94, true, 1 + more)));
        assert_eq!(read(piece(b"or\":{}}")), Ok((94, false, 7 + more)));
        assert_eq!(begin(), Ok((94, true, 1 + more)));
        assert_eq!(read(host.say(39, &[json.clone(), coded.clone()])), Ok((94, false, 1 + more)));
        assert_eq!(begin(), Ok((94, true, 1 + more)));
        assert_eq!(read(host.say(39, std::slice::from_ref(&json))), Ok((94, true, 1 + more)));
        assert_eq!(host.say(40, &[put(1, b"{}"), put(2, &[])]), Err(INVALID), "it has no second field");
    }
    assert_eq!(host.say(38, &[put(1, b"\xff")]), Err(INVALID));
    let ledger = |settings: &[u32]| {
        let settings: Vec<_> = settings.iter().map(|number| put(*number, &[])).collect();
        host.say(30, &settings).map(|it| it.0)
    };
    assert_eq!((ledger(&[1]), ledger(&[5, 6, 9]), ledger(&[5, 7, 8])), (Ok(93), Ok(93), Ok(93)));
    // Both flags of a setting: what the handler has stated.
    assert_eq!((ledger(&[1, 5]), ledger(&[1, 6, 7, 8])), (Ok(93), Ok(93)));
    for wrong in [&[][..], &[10, 11], &[1, 6], &[1, 8], &[1, 6, 7], &[6, 8]] {
        assert_eq!(ledger(wrong), Err(INVALID), "{wrong:?}");
    }
    assert_eq!(ledger(&[5, 6, 9]), Ok(93));
    let ended = |response| host.say(34, &[put(1, &[7; 16]), integer(3, 200), integer(8, response)]).map(|it| it.0);
    assert_eq!((ended(0), ended(7), ended(0x17), ended(0x27)), (Ok(93), Ok(93), Ok(93), Ok(93)));
    assert_eq!((ended(8), ended(0x47), ended(0x107)), (Err(INVALID), Err(INVALID), Err(INVALID)));
}

#[test]
fn errors_of_a_configuration_are_an_answer() {
    let host = Host::without_gate();
    for number in [1, 2] {
        let failed = host.say(number, &[put(1, b"orbgate_token: 1\nissuers: []\nunknown: 1\n")]).unwrap();
        assert_eq!((failed.0, failed.integer(1)), (65, 6));
        let places = failed.all(3).into_iter().map(Said::read).map(|fields| Said(3, fields));
        let places: Vec<_> = places.map(|place| (place.integer(1), place.integer(2), place.text(3))).collect();
        assert!(places.iter().any(|place| (place.0, place.1) == (3, 1)), "{places:?}");
        assert!(places.iter().all(|place| failed.text(2).contains(&place.2)));
        let failed = host.say(number, &[put(1, b"\xff")]).unwrap();
        assert!(failed.text(2).starts_with("the token configuration is not UTF-8"), "{}", failed.text(2));
    }
    let make = |more: Vec<u8>| host.say(2, &[put(1, TOKENS.as_bytes()), put(4, &[]), more]);
    assert_eq!(make(put(21, b"get /x")).map(|failed| failed.0), Ok(65));
    for (number, value) in [(7, 3), (8, 3), (9, 2), (12, 1 << 32), (15, 256), (18, 1 << 32)] {
        assert_eq!(make(integer(number, value)), Err(INVALID), "{number}");
    }
    assert_eq!(make(put(10, b"realm")), Err(INVALID), "not of a full challenge");
    assert_eq!(make([put(5, &[]), integer(16, 5)].concat()), Err(INVALID), "never stale, for 5 ms");
    assert_eq!(make(put(22, &[])), Err(INVALID), "a secret too many");
}

/// Each option does its own.
#[test]
fn options_reach_the_gate() {
    let denied = |options: &[Vec<u8>], method: &str, target: &str, more: &[Vec<u8>]| {
        let host = Host::new(options);
        let fields = [put(1, method.as_bytes()), put(2, target.as_bytes())];
        let answer = host.say(3, &[&fields, more].concat()).unwrap();
        (answer.integer(2), answer.bytes(4).map(|_| answer.text(4)))
    };
    let nowhere = "/nowhere";
    let bearer = |text: &str| Some(text.to_owned());
    assert_eq!(denied(&[], "GET", ACCOUNT, &[]), (401, bearer("Bearer")));
    assert_eq!(denied(&[put(2, &[])], "GET", nowhere, &[]).0, 403, "flat");
    assert_eq!(denied(&[integer(7, ORBGATE_CHALLENGE_NONE.into())], "GET", ACCOUNT, &[]), (403, None));
    let full = [integer(7, ORBGATE_CHALLENGE_FULL.into()), put(10, b"orbs"), put(11, b"https://a.example/m")];
    let (_, challenge) = denied(&full, "GET", ACCOUNT, &[]);
    assert!(challenge.unwrap().contains("realm=\"orbs\""));
    assert_eq!(denied(&[put(21, b"GET /healthz")], "GET", "/healthz", &[]), (0, None));
    let overriding = [put(4, b"X-HTTP-Method-Override")];
    assert_eq!(denied(&[], "GET", ACCOUNT, &overriding).0, 400);
    assert_eq!(denied(&[put(3, &[])], "GET", ACCOUNT, &overriding).0, 401);
    assert_eq!(denied(&[], "GET", ACCOUNT, &[put(5, b"h2c")]).0, 400);
    let preflight = [put(6, b"https://a.example"), put(7, b"GET")];
    assert_eq!(denied(&[], "OPTIONS", ACCOUNT, &preflight).0, 401);
    let pass = [integer(9, ORBGATE_CORS_PREFLIGHT_PASS.into())];
    assert_eq!(denied(&pass, "OPTIONS", ACCOUNT, &preflight).0, 0);
    let host = Host::new(&pass);
    let passed = host.say(3, &[&[put(1, b"OPTIONS"), put(2, ACCOUNT.as_bytes())], &preflight[..]].concat()).unwrap();
    assert_eq!((passed.bytes(3), passed.text(8)), (Some(&b""[..]), ACCOUNT.to_owned()));
    let public = Host::new(&[put(21, b"GET /a/{id}"), integer(8, ORBGATE_TEMPLATES_COLONS.into())]);
    let routed = |matched: u32, template: &str| {
        let template = if template.is_empty() { Vec::new() } else { put(9, template.as_bytes()) };
        let answer = public.say(3, &[put(1, b"GET"), put(2, b"/a/1"), integer(8, matched.into()), template]).unwrap();
        (answer.integer(2), answer.bytes(7).map(|_| answer.text(7)))
    };
    assert_eq!(routed(ORBGATE_MATCHED_NOTHING, ""), (0, None));
    assert_eq!(routed(ORBGATE_MATCHED_TEMPLATE, "/a/:x"), (0, None));
    assert_eq!(routed(ORBGATE_MATCHED_TEMPLATE, "/b"), (404, bearer("/b")));
    assert_eq!(routed(ORBGATE_MATCHED_UNKNOWN, ""), (404, bearer("")));
}

#[test]
fn a_host_that_passes_no_proofs_on_gets_no_gate_with_proof() {
    let tokens = "orbgate_token: 1\npublic_urls: [https://api.example.com]\nissuers:\n  - issuer: https://id.example.com\n    \
        audience: https://api.example.com\n    kind: user\n    proof: [dpop, mtls]\n";
    let make = [put(1, tokens.as_bytes()), put(4, &[])];
    let refused = Host::without_gate().say(2, &make).unwrap();
    assert_eq!(refused.0, 65);
    assert!(
        refused.1.iter().any(|(_, text)| String::from_utf8_lossy(text).contains("passes no proofs on")),
        "{refused:?}"
    );
    let host = Host::without_gate();
    assert_eq!(host.say(2, &[&make[..], &[put(30, &[])]].concat()), Ok(Said(64, Vec::new())));
    let ask = |scheme: &str, more: &[Vec<u8>]| {
        let authorization = format!("{scheme} {}", TOKEN.trim());
        let fields = [put(1, b"GET"), put(2, ACCOUNT.as_bytes()), put(3, authorization.as_bytes()), integer(13, TIME)];
        host.say(3, &[&fields, more].concat()).unwrap()
    };
    // Its keys aren't there yet.
    for scheme in ["Bearer", "DPoP"] {
        assert_eq!(ask(scheme, &[put(16, b"a.b.c"), put(17, b"der"), put(18, &[])]).0, 67, "{scheme}");
    }
    let none = host.say(3, &[put(1, b"GET"), put(2, ACCOUNT.as_bytes())]).unwrap();
    assert!(none.text(4).starts_with("Bearer, DPoP algs="), "{none:?}");
}

const OPAQUE: &str = "
orbgate_token: 1
issuers:
  - issuer: https://id.example.com
    audience: https://api.example.com
    kind: user
    opaque: { endpoint: 'https://id.example.com/ask', client_id: my-api, client_secret_env: ORBGATE_NO_SUCH_VARIABLE }
  - issuer: https://login.example.org
    audience: https://api.example.com
    kind: user
    opaque: { endpoint: 'https://login.example.org/ask', client_id: a, client_secret_file: /no/such/file, prefix: ory_ }
";

#[test]
fn secrets_cross_in_the_order_of_their_sources() {
    let host = Host::without_gate();
    let sources = host.say(1, &[put(1, OPAQUE.as_bytes())]).unwrap();
    let listed: Vec<_> = sources.all(1).into_iter().map(|bytes| Said(1, Said::read(bytes))).collect();
    let listed: Vec<_> = listed.iter().map(|source| (source.integer(1), source.text(2))).collect();
    assert_eq!(listed, [(2, "ORBGATE_NO_SUCH_VARIABLE".to_owned()), (1, "/no/such/file".to_owned())]);
    let secret = |text: &str, number: u32| put(number, &put(1, text.as_bytes()));
    let make = |host: &Host, more: &[Vec<u8>]| host.say(2, &[&[put(1, OPAQUE.as_bytes())], more].concat());
    let both = [secret("pass word\n", 22), secret("b", 22)];
    let failed = make(&host, &both).unwrap();
    assert_eq!(failed.0, 65);
    let mut expected = Expected::default();
    expected.add("a host that can't ask", [failed.text(2)]);
    let failed = make(&host, &[put(6, &[]), put(22, &put(1, b"hidden\xff")), secret("b", 22)]).unwrap();
    expected.add("bytes", [failed.text(2)]);
    // Absent: the library reads it.
    let failed = make(&host, &[put(6, &[]), put(22, &[]), secret("b", 22)]).unwrap();
    expected.add("no variable", [failed.text(2)]);
    expected.keep(env!("CARGO_MANIFEST_DIR"), "gate: secrets");
    assert_eq!(make(&host, &[&both[..], &[put(6, &[])]].concat()), Ok(Said(64, Vec::new())));
    let ask = || {
        let request = [put(1, b"GET"), put(2, ACCOUNT.as_bytes()), put(3, b"Bearer a+b"), integer(13, TIME)];
        assert_eq!(host.say(3, &request).unwrap().0, 67);
        let call = host.say(7, &[]).unwrap();
        let headers = call.all(4).into_iter().map(|bytes| Said(4, Said::read(bytes)));
        let headers: Vec<_> = headers.map(|header| format!("{}: {}", header.text(1), header.text(2))).collect();
        let failed = [integer(1, call.integer(1)), integer(2, 1)];
        assert_eq!(host.say(8, &failed), Ok(Said(64, Vec::new())));
        assert_eq!(host.say(4, &[integer(1, TIME)]).unwrap().text(6), "unanswered");
        (call.text(2), call.text(3), headers, call.text(5))
    };
    let expected = |credentials: &str| {
        let type_of = "Content-Type: application/x-www-form-urlencoded".to_owned();
        let headers =
            vec!["Accept: application/json".to_owned(), type_of, format!("Authorization: Basic {credentials}")];
        let body = "token=a%2Bb&token_type_hint=access_token".to_owned();
        ("POST".to_owned(), "https://id.example.com/ask".to_owned(), headers, body)
    };
    assert_eq!(ask(), expected("bXktYXBpOnBhc3MlMjB3b3Jk"));
    assert_eq!(host.say(12, &[secret("other", 1)]), Err(INVALID), "one too few");
    assert_eq!(host.say(12, &[secret("other", 1), put(1, &put(1, b"hid\xff"))]).unwrap().0, 65);
    assert_eq!(host.say(12, &[secret("other", 1), secret("b", 1)]), Ok(Said(64, Vec::new())));
    assert_eq!(ask(), expected("bXktYXBpOm90aGVy"));
    let status = host.say(13, &[]).unwrap();
    let issuer = Said(1, Said::read(status.all(1)[0]));
    assert_eq!((issuer.text(1), issuer.integer(2), issuer.bytes(6)), (ISSUER.to_owned(), 0, Some(&b""[..])));
    assert!(!issuer.text(4).is_empty());
}

#[test]
fn keys_are_listed_revoked_and_forgotten() {
    let host = Host::new(&[]);
    assert_eq!(host.say(9, &[]), Ok(Said(64, Vec::new())));
    assert_eq!(host.serve().len(), 3);
    let keys = || {
        let status = host.say(13, &[]).unwrap();
        let issuer = Said(1, Said::read(status.all(1)[0]));
        assert_eq!((issuer.text(1), issuer.bytes(6)), (ISSUER.to_owned(), None));
        (issuer.integer(2) > 0, issuer.integer(3))
    };
    assert_eq!(keys(), (true, 6));
    for number in [10, 11] {
        assert_eq!(host.say(number, &[put(1, b"\xff")]), Err(OrbgateStatus::NotFound));
    }
    assert_eq!(host.say(10, &[put(1, ISSUER.as_bytes()), put(2, b"no such key")]), Ok(Said(64, Vec::new())));
    assert_eq!(host.say(11, &[put(1, ISSUER.as_bytes())]), Ok(Said(64, Vec::new())));
    assert_eq!(keys(), (false, 0));
}

/// The values of `Cache-Control` in several lines, in any letter case, count together.
#[test]
fn an_issuer_says_how_long_its_keys_are_fresh() {
    // Whether a token starts another call in these seconds: it does after 80 % of the time.
    let due = |headers: &[(&str, &[u8])], seconds: [u64; 2]| {
        let host = Host::new(&[]);
        assert_eq!(host.ask(ACCOUNT, &[]).0, 67);
        let discovery = host.say(7, &[integer(1, 0)]).unwrap();
        let body = format!(r#"{{"issuer":"{ISSUER}","jwks_uri":"{ISSUER}/jwks"}}"#);
        let attempt = discovery.integer(1);
        let next = host.say(8, &[integer(1, attempt), integer(3, 200), put(5, body.as_bytes())]).unwrap();
        let header = |(name, value): &(&str, &[u8])| put(4, &[put(1, name.as_bytes()), put(2, value)].concat());
        let headers = headers.iter().map(header).collect::<Vec<_>>().concat();
        let body = put(5, include_str!("../../../orbgate-token/testdata/jwks.json").as_bytes());
        let called = [integer(1, next.integer(1)), integer(3, 200), body, headers];
        assert_eq!(host.say(8, &called), Ok(Said(64, Vec::new())));
        assert_eq!(host.say(7, &[]), Ok(Said(64, Vec::new())));
        seconds.map(|second| {
            let bearer = format!("Bearer {}", TOKEN.trim());
            let fields = [put(1, b"GET"), put(2, ACCOUNT.as_bytes()), put(3, bearer.as_bytes()), integer(13, TIME)];
            let check = host.say(3, &[&fields[..], &[integer(14, second * 1000)]].concat()).unwrap();
            assert_eq!(check.0, 68);
            check.bytes(6).is_some()
        })
    };
    assert_eq!(due(&[], [479, 480]), [false, true]);
    let other: &[(&str, &[u8])] = &[("x", b"max-age=1000"), ("cache-control", b"max-age=\xff")];
    assert_eq!(due(other, [479, 480]), [false, true]);
    let lines: &[(&str, &[u8])] = &[("cache-CONTROL", b"public"), ("Cache-Control", b"max-age=1000")];
    assert_eq!(due(lines, [799, 800]), [false, true]);
}

#[test]
fn routes_and_engines_are_compared() {
    let engine = compiled(SHOP);
    let host = Host::new(&[put(21, b"GET /healthz")]).over(engine);
    let route =
        |method: &str, template: &str| put(1, &[put(1, method.as_bytes()), put(2, template.as_bytes())].concat());
    let served =
        [route("GET", "/v1/orders"), route("POST", "/v1/orders"), route("PUT", "/v1/orders"), route("GET", "/healthz")];
    let answer = host.say(15, &[&served[..], &[route("GET", "/v1/orders/export")]].concat()).unwrap();
    let parts: Vec<_> = answer.all(1).into_iter().map(|bytes| Said(1, Said::read(bytes))).collect();
    let differences: Vec<_> = parts.iter().map(|one| (one.integer(1), one.text(2), one.text(3))).collect();
    let difference = |kind, route: &str, decided: &str| (kind, route.to_owned(), decided.to_owned());
    assert_eq!(
        differences,
        [difference(1, "GET /v1/orders/export", "GET /v1/orders/{id}"), difference(2, "GET /v1/orders/{id}", ""),]
    );
    assert_eq!(host.say(14, &[]).map(|it| it.0), Ok(64));
    assert_eq!(Host::new(&[put(21, b"GET /v1/orders")]).say(14, &[]).map(|it| it.0), Ok(64));
    let overlapping = Host::new(&[put(21, b"GET /v1/orders/{x}")]).over(compiled(SHOP));
    assert_eq!(overlapping.say(14, &[]).map(|it| it.0), Ok(65));
    let alone = Host::without_gate().over(compiled(SHOP));
    let colons = integer(2, ORBGATE_TEMPLATES_COLONS.into());
    let all = [&served[..3], &[route("GET", "/v1/orders/:id"), colons]].concat();
    assert_eq!(alone.say(15, &all), Ok(Said(73, Vec::new())));
    assert_eq!(alone.say(15, &[integer(2, 3)]), Err(INVALID));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { 400 }, ..ProptestConfig::default() })]

    /// Whatever bytes a host sends, it gets a status or an answer.
    #[test]
    fn any_bytes_are_answered_or_refused(
        number in 0..40_u32,
        fields in prop::collection::vec((0..30_u32, prop::collection::vec(any::<u8>(), 0..12)), 0..6),
        cut in 0..200_usize,
    ) {
        let host = Host::new(&[]);
        let fields: Vec<_> = fields.iter().map(|(number, bytes)| put(*number, bytes)).collect();
        let mut message = question(number, &fields);
        message.truncate(cut);
        prop_assert!(!matches!(host.send(&message), Err(OrbgateStatus::Panic)));
    }
}

/// A version is compared with the active engine; the host gets what to count, to log and to do.
#[test]
fn a_gate_judges_a_version_of_the_policy() {
    const RELOAD: u32 = 24;
    const ROUTES: u32 = 15;
    let policy = |routes: &str| {
        format!(
            "orbgate: 1\napis: {{ a: {{ base_path: '', scopes: {{ s: {{ orbs: false, routes: [{routes}] }} }} }} }}\n...\n"
        )
    };
    let active = compiled(&policy("GET /a"));
    let gate = Host::new(&[put(21, b"GET /docs/{page}")]).over(active);
    let told = |fields: &[Vec<u8>]| {
        let answer = gate.say(RELOAD, fields).unwrap();
        assert_eq!(answer.0, 84);
        let loaded = answer.bytes(1).is_some();
        assert_eq!(loaded, answer.text(2) == "loaded");
        (answer.text(2), answer.text(3), answer.text(4), answer.integer(5), answer.integer(7))
    };
    let status = |status: OrbgateStatus| u64::try_from(status.number()).unwrap();
    let (refused, strict) = (status(OrbgateStatus::InvalidPolicy), put(4, b""));
    let text = |routes: &str| put(1, policy(routes).as_bytes());
    for (fields, result, message, number) in [
        (vec![text("GET /a, GET /b")], "loaded", "a policy is active: sha256:", 0),
        (vec![text("GET /a, GET /b"), strict.clone()], "wider", "1 wider", refused),
        (vec![text("get /a")], "refused", "2:", refused),
        (vec![text("GET /docs/a")], "refused", "same paths", status(OrbgateStatus::InvalidConfiguration)),
        (vec![put(1, b"orbgate: 1\napis: {}\n")], "unfinished", "...", refused),
        (vec![text("GET /a"), put(3, b"")], "unsealed", "sha256", refused),
        (vec![put(2, b"it is gone")], "unreadable", "it is gone", status(OrbgateStatus::Io)),
    ] {
        let (actual, explanation, warning, code, pause) = told(&fields);
        assert!(explanation.contains(message), "{explanation}");
        assert_eq!(warning.contains("1 wider"), result == "loaded", "{warning}");
        assert_eq!((&*actual, code, pause), (result, number, 0), "{explanation}");
    }
    let empty = Host::new(&[]).over(null_mut());
    for (more, result) in [(vec![], "loaded"), (vec![strict.clone()], "wider")] {
        let answer = empty.say(RELOAD, &[vec![text("GET /a")], more].concat()).unwrap();
        assert_eq!(answer.text(2), result, "without an active policy: {}", answer.text(3));
    }
    let long = put(1, format!("#{}\n{}", "#".repeat(3 << 20), policy("GET /a")).as_bytes());
    assert_eq!(told(&[long]).0, "loaded", "a message has room for a policy");
    let route = put(1, &[put(1, b"GET"), put(2, b"/a")].concat());
    gate.say(ROUTES, &[route]).unwrap();
    let warning = told(&[put(1, b"orbgate: 1\napis: {}\n...\n")]).2;
    assert!(
        warning.contains("the policy has no routes") && warning.contains("the policy has no `GET /a`"),
        "{warning}"
    );

    // With an interval, the same step follows the file.
    let now = Cell::new(0);
    let every = |more: &[Vec<u8>]| {
        now.set(now.get() + 2_000);
        let (result, _, _, _, pause) = told(&[more, &[integer(6, 2_000), integer(8, now.get())]].concat());
        (result, pause)
    };
    let wait = (String::new(), 2_000);
    assert_eq!(every(&[text("GET /b")]), wait, "it must rest");
    assert_eq!(every(&[text("GET /c")]), wait, "it is another");
    assert_eq!(every(&[text("GET /c")]), ("loaded".to_owned(), 2_000));
    assert_eq!(every(&[text("GET /c")]), wait);
    assert_eq!(every(&[text("GET /d"), put(7, b"")]), (String::new(), 1_000), "an operator waits");
    assert_eq!(every(&[text("GET /d")]), ("loaded".to_owned(), 2_000));
    assert_eq!(every(&[put(2, b"gone")]), ("unreadable".to_owned(), 2_000));
    assert_eq!(every(&[put(2, b"gone")]), wait, "it was said");
    gate.say(16, &[]).unwrap();
    assert_eq!(every(&[put(2, b"gone")]).0, "unreadable", "another one follows now");
}
