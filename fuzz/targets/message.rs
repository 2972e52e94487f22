//! Any messages to a gate, one after the other, with steps that may be over: each is refused or answered, and an answer is a message.
#![no_main]

use core::cell::Cell;
use core::ptr::null_mut;

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use orbgate_capi::engine::{OrbgateEngine, orbgate_engine_external, orbgate_engine_free};
use orbgate_capi::gate::ask::{orbgate_gate_ask, orbgate_gate_end, orbgate_step_end};
use orbgate_capi::status::OrbgateStatus;

/// Which step a question is for, and whether its handle is used again, whatever it became.
#[derive(Arbitrary, Clone, Copy, Debug)]
struct Which {
    step: u8,
    is_stale: bool,
}

#[derive(Arbitrary, Debug)]
enum Question<'a> {
    Bytes(&'a [u8]),
    Fields(u8, Vec<Field<'a>>),
    /// About a path of the policy with a token, so that it comes to keys and signatures.
    Ask { with_token: bool, unix_s: u32, monotonic_ms: u16, more: Vec<Field<'a>> },
    /// Gives the key set or the metadata for the next call.
    Serve { monotonic_ms: u16 },
}

#[derive(Arbitrary, Debug)]
enum Field<'a> {
    Bytes(u8, &'a [u8]),
    Integer(u8, u64),
    Part(u8, Vec<(u8, &'a [u8])>),
    /// With a length that needn't be its own.
    Lying(u32, u32, &'a [u8]),
}

const ISSUER: &str = "https://id.example.com";
const TOKENS: &str = include_str!("../../crates/orbgate-token/testdata/token.yaml");
const TOKEN: &str = include_str!("../../crates/orbgate-token/testdata/token.jwt");
const KEYS: &str = include_str!("../../crates/orbgate-token/testdata/jwks.json");

fn lying(number: u32, len: u32, bytes: &[u8]) -> Vec<u8> {
    [&number.to_le_bytes()[..], &len.to_le_bytes(), bytes].concat()
}

fn put(number: u32, bytes: &[u8]) -> Vec<u8> {
    lying(number, bytes.len() as u32, bytes)
}

fn integer(number: u32, value: u64) -> Vec<u8> {
    put(number, &value.to_le_bytes())
}

impl Field<'_> {
    fn written(&self) -> Vec<u8> {
        match self {
            Self::Bytes(number, bytes) => put((*number).into(), bytes),
            Self::Integer(number, value) => integer((*number).into(), *value),
            Self::Part(number, fields) => {
                let fields: Vec<_> = fields.iter().map(|(number, bytes)| put((*number).into(), bytes)).collect();
                put((*number).into(), &fields.concat())
            }
            Self::Lying(number, len, bytes) => lying(*number, *len, bytes),
        }
    }
}

fn all(fields: &[Field<'_>]) -> Vec<u8> {
    fields.iter().map(Field::written).collect::<Vec<_>>().concat()
}

/// The fields of these bytes, which are right.
fn fields(mut bytes: &[u8]) -> Vec<(u32, &[u8])> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let (number, end) = (word(0), 8 + word(4) as usize);
        fields.push((number, &bytes[8..end]));
        bytes = &bytes[end..];
    }
    fields
}

struct Host {
    gate: u64,
    engine: *mut OrbgateEngine,
    steps: [Cell<u64>; 4],
}

impl Host {
    fn say(&self, which: Which, message: &[u8]) -> Option<Vec<u8>> {
        let place = &self.steps[usize::from(which.step) % 4];
        let (mut gate, mut step, mut len) = (self.gate, place.get(), 0);
        let mut answer = vec![0; 4 << 20];
        // SAFETY: the pointers are alive, and the lengths are those of the slices.
        let status = unsafe {
            let (data, size) = (message.as_ptr().cast(), message.len());
            let to = answer.as_mut_ptr().cast();
            orbgate_gate_ask(&mut gate, self.engine, &mut step, data, size, to, answer.len(), &mut len)
        };
        assert_eq!(gate, self.gate);
        if !which.is_stale {
            place.set(step);
        }
        assert!(status != OrbgateStatus::Panic && status != OrbgateStatus::TooSmall);
        if status != OrbgateStatus::Ok {
            return None;
        }
        answer.truncate(len);
        let [(_, inner)] = fields(&answer)[..] else { panic!("an answer is one field") };
        fields(inner);
        Some(answer)
    }

    fn run(&self, which: Which, question: &Question<'_>) {
        match question {
            Question::Bytes(bytes) => drop(self.say(which, bytes)),
            Question::Fields(number, fields) => drop(self.say(which, &put((*number).into(), &all(fields)))),
            Question::Ask { with_token, unix_s, monotonic_ms, more } => {
                let bearer = format!("Bearer {}", TOKEN.trim());
                let unix_ms = 1_800_000_000_000 + u64::from(*unix_s);
                let mut request = [put(1, b"GET"), put(2, b"/api/v1/external/account"), integer(13, unix_ms)].concat();
                if *with_token {
                    request.extend(put(3, bearer.as_bytes()));
                }
                request.extend(integer(14, (*monotonic_ms).into()));
                request.extend(all(more));
                drop(self.say(which, &put(3, &request)));
            }
            Question::Serve { monotonic_ms } => {
                let now = u64::from(*monotonic_ms);
                let call = self.say(which, &put(7, &integer(1, now))).unwrap_or_default();
                let Some((69, call)) = fields(&call).first().copied() else { return };
                let call = fields(call);
                let (_, attempt) = call[0];
                let is_keys = call.iter().any(|(_, bytes)| bytes.ends_with(b"/jwks") || bytes.ends_with(b"/keys"));
                let body = match is_keys {
                    true => KEYS.to_owned(),
                    false => format!(r#"{{"issuer":"{ISSUER}","jwks_uri":"{ISSUER}/jwks"}}"#),
                };
                let called = [put(1, attempt), integer(3, 200), put(5, body.as_bytes()), integer(6, now)].concat();
                drop(self.say(which, &put(8, &called)));
            }
        }
    }
}

fuzz_target!(|questions: Vec<(Which, Question<'_>)>| {
    let mut host = Host { gate: 0, engine: null_mut(), steps: Default::default() };
    let make = put(2, &[put(1, TOKENS.as_bytes()), put(4, &[])].concat());
    let (mut step, mut len, mut room) = (0, 0, [0; 64]);
    // SAFETY: each pointer is where a pointer goes, and each owner is freed once.
    unsafe {
        assert_eq!(orbgate_engine_external(&mut host.engine), OrbgateStatus::Ok);
        let (data, size, to) = (make.as_ptr().cast(), make.len(), room.as_mut_ptr());
        let made = orbgate_gate_ask(&mut host.gate, null_mut(), &mut step, data, size, to, room.len(), &mut len);
        assert_eq!((made, step), (OrbgateStatus::Ok, 0));
        questions.iter().take(32).for_each(|(which, question)| host.run(*which, question));
        orbgate_gate_end(&mut host.gate);
        host.steps.iter().for_each(|step| orbgate_step_end(step.as_ptr()));
        orbgate_engine_free(host.engine);
    }
});
