//! Opaque tokens: what a gate asks an introspection endpoint, and what it makes of the answers. Also under Miri.

use core::mem::{offset_of, zeroed};
use core::ptr::{null, null_mut};

use super::expected::Expected;
use super::gate::info;
use super::{INVALID, OK, external, said, sized, text, told};
use crate::engine::{OrbgateEngine, orbgate_engine_free};
use crate::error::OrbgateError;
use crate::gate::fetch::*;
use crate::gate::keys::*;
use crate::gate::object::OrbgateGate;
use crate::gate::options::*;
use crate::gate::question::*;
use crate::gate::request::*;
use crate::gate::secrets::*;
use crate::gate::step::*;
use crate::gate::verifier::*;
use crate::status::OrbgateStatus;
use crate::text::OrbgateStr;

const TIME: u64 = 1_800_000_000_000;
const ORBS: &str = "/api/v1/external/orbs";
const REST: &str = "https://id.example.com/introspect";
const PREFIXED: &str = "https://login.example.org/introspect";

/// Two issuers of opaque tokens, one of them with a prefix.
const TOKENS: &str = "
orbgate_token: 1
issuers:
  - issuer: https://id.example.com
    audience: https://api.example.com
    kind: user
    opaque:
      endpoint: https://id.example.com/introspect
      client_id: my-api
      client_secret_env: ORBGATE_NO_SUCH_VARIABLE
      max_cache_seconds: 30
  - issuer: https://login.example.org
    audience: https://api.example.com
    kind: user
    opaque:
      endpoint: https://login.example.org/introspect
      client_id: a
      client_secret_file: /no/such/file
      prefix: ory_
";

fn verifier() -> *mut OrbgateVerifier {
    let (yaml, len) = text(TOKENS);
    let mut verifier = null_mut();
    let status = unsafe { orbgate_verifier_from_yaml(yaml, len, &mut verifier, null_mut()) };
    assert_eq!(status, OK);
    verifier
}

/// A gate, or the message of the error.
fn new_gate(flags: u32, secrets: &[OrbgateStr]) -> Result<*mut OrbgateGate, (OrbgateStatus, String)> {
    let (verifier, mut gate) = (verifier(), null_mut());
    let mut error: *mut OrbgateError = null_mut();
    unsafe {
        let mut options: OrbgateGateOptions = sized();
        options.flags = flags;
        (options.secrets, options.secret_count) = (secrets.as_ptr(), secrets.len());
        let status = orbgate_gate_new(verifier, &options, &mut gate, &mut error);
        orbgate_verifier_free(verifier);
        if status == OK {
            return Ok(gate);
        }
        Err((status, told(error).1))
    }
}

fn ready() -> *mut OrbgateGate {
    let secrets = [OrbgateStr::new("pass word\n"), OrbgateStr::new("b")];
    new_gate(ORBGATE_GATE_INTROSPECTION, &secrets).unwrap()
}

fn ask(gate: *const OrbgateGate, engine: *const OrbgateEngine, token: &str, at: u64) -> *mut OrbgateStep {
    let bearer = format!("Bearer {token}");
    let authorization = OrbgateStr::new(&bearer);
    let mut step = null_mut();
    unsafe {
        let mut request: OrbgateGateRequest = sized();
        request.method = OrbgateStr::new("GET");
        request.target = OrbgateStr::new(ORBS);
        (request.authorization, request.authorization_count) = (&authorization, 1);
        let status = orbgate_gate_ask(gate, engine, &request, TIME + at, at, &mut step);
        assert_eq!(status, OK);
    }
    step
}

/// Has every endpoint answer this, and returns its URLs with the bodies and the credentials.
fn serve(gate: *const OrbgateGate, at: u64, http_status: u32, answer: &str) -> Vec<[Option<String>; 3]> {
    let mut served = Vec::new();
    loop {
        let mut fetch = null_mut();
        unsafe {
            assert_eq!(orbgate_gate_next_fetch(gate, at, &mut fetch), OK);
            if fetch.is_null() {
                return served;
            }
            let shown = format!("{:?}", *fetch);
            assert!(!shown.contains("token=") && !shown.contains("Basic"), "{shown}");
            let mut info: OrbgateFetchInfo = sized();
            assert_eq!(orbgate_fetch_info(fetch, &mut info), OK);
            let parts = [info.url, info.body, info.authorization];
            served.push(parts.map(|part| (!part.data.is_null()).then(|| said(part))));
            orbgate_fetch_free(fetch);
            let (body, len) = text(answer);
            let (attempt, out) = (info.attempt, &mut fetch);
            let status = orbgate_gate_fetched(gate, attempt, http_status, null(), 0, body, len, at, out);
            assert_eq!((status, *out), (OK, null_mut()));
        }
    }
}

/// The status and the reason of the answer about a token, and how often an endpoint was asked.
fn judge(
    gate: *const OrbgateGate,
    token: &str,
    at: u64,
    http_status: u32,
    answer: &str,
) -> (u32, Option<String>, usize) {
    let engine = external();
    let mut step = ask(gate, engine, token, at);
    let mut asked = 0;
    unsafe {
        while info(step).kind == ORBGATE_STEP_WAIT {
            asked += serve(gate, at, http_status, answer).len();
            let mut over = 0;
            assert_eq!(orbgate_gate_is_over(gate, step, at, &mut over), OK);
            assert_eq!(over, 1);
            let status = orbgate_gate_resume(gate, engine, step, TIME + at, at, &mut step);
            assert_eq!(status, OK);
        }
        let found = info(step);
        assert_eq!(found.kind, ORBGATE_STEP_ANSWER);
        let refused = (!found.refused.data.is_null()).then(|| said(found.refused));
        orbgate_step_free(step);
        orbgate_engine_free(engine);
        (found.http_status, refused, asked)
    }
}

fn active(scope: &str, seconds: u64) -> String {
    let exp = TIME / 1000 + seconds;
    format!(r#"{{"active":true,"aud":"https://api.example.com","exp":{exp},"sub":"user-7","scope":"{scope}"}}"#)
}

const INACTIVE: &str = r#"{"active":false}"#;

fn refused(reason: &str) -> Option<String> {
    Some(reason.to_owned())
}

#[test]
fn a_fetch_has_the_question_and_the_credentials() {
    let (gate, engine) = (ready(), external());
    let steps = [ask(gate, engine, "a+b", 0), ask(gate, engine, "ory_at_1", 0)];
    let said = |text: &str| Some(text.to_owned());
    assert_eq!(
        serve(gate, 0, 200, INACTIVE),
        [
            // my-api:pass%20word and a:b; the token goes to the issuer of its prefix.
            [said(REST), said("token=a%2Bb&token_type_hint=access_token"), said("Basic bXktYXBpOnBhc3MlMjB3b3Jk")],
            [said(PREFIXED), said("token=ory_at_1&token_type_hint=access_token"), said("Basic YTpi")],
        ]
    );
    unsafe {
        steps.into_iter().for_each(|step| orbgate_step_free(step));
        orbgate_gate_free(gate);
        orbgate_engine_free(engine);
    }
}

#[test]
fn answers_decide_for_no_longer_than_they_may() {
    let gate = ready();
    let orbs = active("read:orbs", 600);
    assert_eq!(judge(gate, "good", 0, 200, &orbs), (0, None, 1));
    let nothing = active("read:nothing", 600);
    assert_eq!(judge(gate, "poor", 0, 200, &nothing), (403, None, 1));
    let inactive = refused("inactive");
    assert_eq!(judge(gate, "bad", 0, 200, INACTIVE), (401, inactive.clone(), 1));
    // That a token is refused is known for 5 seconds, and that it's active for `max_cache_seconds`.
    assert_eq!(judge(gate, "bad", 4_999, 200, &orbs), (401, inactive.clone(), 0));
    assert_eq!(judge(gate, "bad", 5_000, 200, &orbs), (0, None, 1));
    assert_eq!(judge(gate, "good", 29_999, 200, INACTIVE), (0, None, 0));
    assert_eq!(judge(gate, "good", 30_000, 200, INACTIVE), (401, inactive.clone(), 1));
    // A token that expires sooner.
    let brief = active("read:orbs", 41);
    assert_eq!(judge(gate, "brief", 40_000, 200, &brief), (0, None, 1));
    // With the leeway for clocks it is asked about each time.
    assert_eq!(judge(gate, "brief", 41_000, 200, INACTIVE), (401, inactive, 1));
    unsafe { orbgate_gate_free(gate) }
}

#[test]
fn an_endpoint_that_fails_denies() {
    let gate = ready();
    let unanswered = refused("unanswered");
    let orbs = active("read:orbs", 600);
    // A failing endpoint, and one that doesn't know the secret.
    assert_eq!(judge(gate, "one", 0, 500, &orbs), (401, unanswered.clone(), 1));
    assert_eq!(judge(gate, "two", 0, 401, &orbs), (401, unanswered.clone(), 1));
    assert_eq!(judge(gate, "three", 0, 200, "[1"), (401, refused("bad_claims"), 1));
    let engine = external();
    let mut status = null_mut();
    unsafe {
        // One that can't be reached: as the host reports it.
        let (mut fetch, mut step) = (null_mut(), ask(gate, engine, "four", 0));
        let mut info: OrbgateFetchInfo = sized();
        assert_eq!(orbgate_gate_next_fetch(gate, 0, &mut fetch), OK);
        assert_eq!(orbgate_fetch_info(fetch, &mut info), OK);
        orbgate_fetch_free(fetch);
        let reason = ORBGATE_FETCH_UNREACHABLE;
        assert_eq!(orbgate_gate_fetch_failed(gate, info.attempt, reason, 0), OK);
        assert_eq!(orbgate_gate_resume(gate, engine, step, TIME, 0, &mut step), OK);
        assert_eq!(refused(&said(self::info(step).refused)), unanswered);
        orbgate_step_free(step);
        orbgate_engine_free(engine);
        // A health check can tell it from an issuer without keys.
        assert_eq!(orbgate_gate_status(gate, &mut status), OK);
        let mut issuer: OrbgateIssuerStatus = sized();
        assert_eq!(orbgate_key_status_issuer(status, 0, &mut issuer), OK);
        assert_eq!((issuer.key_count, issuer.opaque), (0, 1));
        assert!(!issuer.failure.data.is_null());
        orbgate_key_status_free(status);
        orbgate_gate_free(gate);
    }
}

/// A host of an earlier release would send a `GET` without a token.
#[test]
fn a_host_that_cannot_ask_is_told_so() {
    let secrets = [OrbgateStr::new("a"), OrbgateStr::new("b")];
    let (status, message) = new_gate(0, &secrets).unwrap_err();
    assert_eq!(status, OrbgateStatus::InvalidConfiguration);
    let mut expected = Expected::default();
    expected.add("no flag", [message]);
    expected.keep(env!("CARGO_MANIFEST_DIR"), "gate: opaque tokens");
    let (gate, engine) = (ready(), external());
    unsafe {
        let (step, mut fetch) = (ask(gate, engine, "a", 0), null_mut());
        assert_eq!(orbgate_gate_next_fetch(gate, 0, &mut fetch), OK);
        let mut info: OrbgateFetchInfo = zeroed();
        info.struct_size = offset_of!(OrbgateFetchInfo, body) as u32;
        assert_eq!(orbgate_fetch_info(fetch, &mut info), INVALID);
        assert_eq!(info.attempt, 0);
        orbgate_fetch_free(fetch);
        orbgate_step_free(step);
        orbgate_gate_free(gate);
        orbgate_engine_free(engine);
    }
}

#[test]
fn secrets_are_listed_and_their_number_is_checked() {
    let verifier = verifier();
    let listed = |index: usize| unsafe {
        let mut source: OrbgateSecretSource = sized();
        let status = orbgate_verifier_secret(verifier, index, &mut source);
        (status == OK).then(|| (source.kind, said(source.name)))
    };
    assert_eq!(listed(0), Some((ORBGATE_SECRET_ENV, "ORBGATE_NO_SUCH_VARIABLE".to_owned())));
    assert_eq!(listed(1), Some((ORBGATE_SECRET_FILE, "/no/such/file".to_owned())));
    assert_eq!(listed(2), None);
    unsafe { orbgate_verifier_free(verifier) }
    let (status, _) = new_gate(ORBGATE_GATE_INTROSPECTION, &[OrbgateStr::new("secret")]).unwrap_err();
    assert_eq!(status, INVALID);
}

/// The gate reads what it isn't given, and a message has no secret in it.
#[test]
#[cfg(not(miri))] // it reads a file
fn a_secret_that_cannot_be_read_is_named() {
    let flags = ORBGATE_GATE_INTROSPECTION;
    let (status, message) = new_gate(flags, &[]).unwrap_err();
    assert_eq!(status, OrbgateStatus::InvalidConfiguration);
    let lines: Vec<_> = message.lines().collect();
    assert_eq!(lines.len(), 2, "{message}");
    let mut expected = Expected::default();
    expected.add("nothing given", [lines[0]]);
    assert!(lines[1].starts_with("`client_secret_file` /no/such/file: "));
    let given = [OrbgateStr::of_bytes(b"hidden\xff"), OrbgateStr::new("hidden")];
    let (_, message) = new_gate(flags, &given).unwrap_err();
    expected.add("bytes", [message]);
    expected.keep(env!("CARGO_MANIFEST_DIR"), "gate: secrets");
    let (_, message) = new_gate(flags, &[OrbgateStr::NULL, OrbgateStr::new("b")]).unwrap_err();
    assert_eq!(message.lines().count(), 1, "{message}");
}

/// A secret that changes is used for the next question.
#[test]
fn secrets_are_read_again() {
    let (gate, engine) = (ready(), external());
    let orbs = active("read:orbs", 600);
    assert_eq!(judge(gate, "good", 0, 200, &orbs), (0, None, 1));
    let read = |secrets: &[OrbgateStr]| unsafe {
        let mut error: *mut OrbgateError = null_mut();
        let status = orbgate_gate_read_secrets(gate, secrets.as_ptr(), secrets.len(), &mut error);
        let message = (!error.is_null()).then(|| told(error).1);
        (status, message.unwrap_or_default())
    };
    let same = [OrbgateStr::new("pass word"), OrbgateStr::new("b")];
    assert_eq!(read(&same).0, OK);
    assert_eq!(read(&same[..1]).0, INVALID);
    let (status, message) = read(&[OrbgateStr::new("other"), OrbgateStr::of_bytes(b"hid\xff")]);
    assert_eq!(status, OrbgateStatus::InvalidConfiguration);
    let mut expected = Expected::default();
    expected.add("bytes", [message]);
    expected.keep(env!("CARGO_MANIFEST_DIR"), "gate: secrets read again");
    assert_eq!(judge(gate, "good", 0, 200, INACTIVE), (0, None, 0));
    assert_eq!(read(&[OrbgateStr::new("other"), OrbgateStr::new("b")]).0, OK);
    let step = ask(gate, engine, "good", 0);
    // my-api:other
    let credentials = Some("Basic bXktYXBpOm90aGVy".to_owned());
    assert_eq!(serve(gate, 0, 200, INACTIVE)[0][2], credentials);
    unsafe {
        orbgate_step_free(step);
        orbgate_gate_free(gate);
        orbgate_engine_free(engine);
    }
}
