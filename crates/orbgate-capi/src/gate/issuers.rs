//! Answers about issuers: fetches of their keys, and their state.

use core::time::Duration;
use std::borrow::Cow;

use orbgate_token::{AttemptId, Fetch, Notice, Post, Response};

use super::asking::{Asking, given};
use super::fetch::failure;
use super::messages::*;
use super::options::number;
use super::request::milliseconds;
use super::verifier::reader;
use super::wire::INVALID;
use crate::error::OrbgateError;
use crate::status::OrStatus;

impl Asking<'_> {
    pub(super) fn next_call(&mut self, &NextCall { monotonic_ms }: &NextCall) -> OrStatus {
        let (gate, now) = (&self.gate()?.gate, Duration::from_millis(monotonic_ms));
        match gate.next_fetch(now) {
            None => {
                let notices = gate.keys().notices(now);
                let lines = |line: fn(&Notice) -> &str| notices.iter().map(line).collect::<Vec<_>>().join("\n");
                let (notices, levels) = (lines(|notice| &notice.text), lines(|notice| notice.level.as_str()));
                Done { notices: &notices, levels: &levels }.write(&mut self.to())
            }
            next => self.call(next),
        }
    }

    fn call(&mut self, next: Option<Fetch>) -> OrStatus {
        let Some(next) = next else {
            return self.done();
        };
        self.calls = Some(next.attempt);
        let mut headers = vec![CallHeader { name: "Accept", value: "application/json" }];
        if let Some(post) = &next.post {
            headers.push(CallHeader { name: "Content-Type", value: Post::CONTENT_TYPE });
            headers.push(CallHeader { name: "Authorization", value: post.authorization() });
        }
        let told = Call {
            attempt: next.attempt.number(),
            method: if next.post.is_some() { "POST" } else { "GET" },
            url: &next.url,
            headers,
            body: next.post.as_ref().map(|post| post.body().as_bytes()),
            timeout_ms: milliseconds(next.timeout),
            max_bytes: u64::try_from(next.max_bytes).unwrap_or(u64::MAX),
        };
        told.write(&mut self.to())
    }

    pub(super) fn called(&mut self, called: &Called<'_>) -> OrStatus {
        let gate = self.gate()?;
        let cache_control = cache_control(&called.headers);
        let result = match number(called.failure)? {
            0 => Ok(Response {
                status: u16::try_from(called.status).map_err(|_| INVALID)?,
                cache_control: cache_control.as_deref(),
                body: called.body,
            }),
            code => Err(failure(code)?),
        };
        let now = Duration::from_millis(called.monotonic_ms);
        let next = gate.gate.fetched(AttemptId::of(called.attempt), result, now);
        self.call(next)
    }

    pub(super) fn warm(&mut self, &Warm { monotonic_ms }: &Warm) -> OrStatus {
        // The first tokens wait for the keys themselves.
        let _ = self.gate()?.gate.warm(Duration::from_millis(monotonic_ms));
        self.done()
    }

    pub(super) fn revoke(&mut self, &Revoke { issuer, kid }: &Revoke<'_>) -> OrStatus {
        let gate = self.gate()?;
        gate.gate.keys().revoke(gate.issuer(issuer)?, kid);
        self.done()
    }

    pub(super) fn forget(&mut self, &Forget { issuer }: &Forget<'_>) -> OrStatus {
        let gate = self.gate()?;
        // Nothing waits for a running attempt, because its result is discarded.
        let _ = gate.gate.keys().forget(gate.issuer(issuer)?);
        self.done()
    }

    pub(super) fn read_secrets(&mut self, ReadSecrets { secrets }: &ReadSecrets<'_>) -> OrStatus {
        let keys = self.gate()?.gate.keys();
        let given = given(secrets);
        match keys.read_secrets(reader(&given, keys.secrets().count())?) {
            Ok(()) => self.done(),
            Err(error) => self.failed(&OrbgateError::tokens(&error)),
        }
    }

    pub(super) fn status(&mut self) -> OrStatus {
        let status = self.gate()?.gate.keys().status();
        let texts = status.iter().map(|of| {
            let warnings: Vec<_> = of.warnings.iter().map(ToString::to_string).collect();
            (of.failure.as_ref().map(ToString::to_string).unwrap_or_default(), warnings.join("\n"))
        });
        let texts = texts.collect::<Vec<_>>();
        let issuers = status.iter().zip(&texts).map(|(of, (failure, warnings))| IssuerStatus {
            issuer: &of.issuer,
            key_count: u64::try_from(of.keys).unwrap_or(u64::MAX),
            fetched_ms: of.fetched.map_or(0, milliseconds),
            failure,
            warnings,
            opaque: of.is_opaque,
        });
        KeyStatus { issuers: issuers.collect() }.write(&mut self.to())
    }
}

/// Every value of `Cache-Control`, joined by commas; a value that isn't a string is ignored.
fn cache_control<'h>(headers: &[Header<'h>]) -> Option<Cow<'h, str>> {
    let of = headers.iter().filter(|header| header.name.eq_ignore_ascii_case(b"cache-control"));
    let mut values = of.filter_map(|header| str::from_utf8(header.value).ok());
    let first = Cow::Borrowed(values.next()?);
    Some(values.fold(first, |all, value| Cow::Owned(format!("{all}, {value}"))))
}
