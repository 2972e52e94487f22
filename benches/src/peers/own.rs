//! Orbgate: the whole decision. Byte checks, route, method, scope and charge.

use std::hint::black_box;

use orbgate::{Batch, Decision, Engine, Reason, Request, Scopes, Token};

use crate::contest::{Add, Answer, Contestant, pass};
use crate::stream::{Ask, Expected};
use crate::table::Table;

pub(super) fn add(table: &'static Table, add: &mut Add<'_>) {
    add("orbgate-set", &|| Box::new(Interned(table)));
    add("orbgate-batch", &|| Box::new(Batches(table)));
    add("orbgate-text", &|| Box::new(Text(table, table.second_engine())));
}

/// Scopes interned once per token.
struct Interned(&'static Table);

/// The same, 256 requests in one go.
struct Batches(&'static Table);

/// Scopes as the token has them. An engine of its own, so that the one before does not leave it a warm cache.
struct Text(&'static Table, &'static Engine);

impl Contestant for Interned {
    fn name(&self) -> String {
        "orbgate-set".to_owned()
    }

    fn answer(&self, ask: &Ask) -> Answer {
        judge(self.0, &self.0.engine.decide(&request(ask, ask.set)))
    }

    fn pass(&self, asks: &[Ask]) -> usize {
        let engine = self.0.engine;
        pass(asks, |ask| decide(engine, &request(ask, ask.set)))
    }
}

impl Contestant for Batches {
    fn name(&self) -> String {
        "orbgate-batch".to_owned()
    }

    fn answer(&self, ask: &Ask) -> Answer {
        let mut answer = None;
        self.0.engine.decide_batch(&mut Rows {
            asks: core::slice::from_ref(ask),
            take: |decision: &Decision<'_>| answer = Some(judge(self.0, decision)),
        });
        answer.expect("an answer for the one request")
    }

    fn pass(&self, asks: &[Ask]) -> usize {
        let mut allowed = 0;
        for asks in asks.chunks(256) {
            let take = |decision: &Decision<'_>| allowed += usize::from(is_allowed(decision));
            self.0.engine.decide_batch(&mut Rows { asks, take });
        }
        allowed
    }
}

/// Requests of a stream as a batch.
struct Rows<'a, F> {
    asks: &'a [Ask],
    take: F,
}

impl<'a, F: FnMut(&Decision<'_>)> Batch<'a> for Rows<'a, F> {
    #[inline(always)]
    fn rows(&self) -> usize {
        self.asks.len()
    }

    #[inline(always)]
    fn target(&self, row: usize) -> &'a [u8] {
        self.asks[row].target.as_bytes()
    }

    #[inline(always)]
    fn request(&self, row: usize) -> Request<'a> {
        let ask = black_box(&self.asks[row]);
        request(ask, ask.set)
    }

    #[inline(always)]
    fn answer(&mut self, _row: usize, decision: Decision<'_>) {
        (self.take)(&decision);
    }
}

impl Contestant for Text {
    fn name(&self) -> String {
        "orbgate-text".to_owned()
    }

    fn answer(&self, ask: &Ask) -> Answer {
        judge(self.0, &self.1.decide(&request(ask, ask.scopes)))
    }

    fn pass(&self, asks: &[Ask]) -> usize {
        let engine = self.1;
        pass(asks, |ask| decide(engine, &request(ask, ask.scopes)))
    }
}

#[inline(always)]
fn request<'a>(ask: &'a Ask, scopes: impl Into<Scopes<'a>>) -> Request<'a> {
    Request {
        method: ask.method.as_bytes(),
        target: ask.target.as_bytes(),
        token: Some(Token::user(scopes)),
        allow_bonus_orbs_use: false,
    }
}

/// Decides, and reads what an enforcement point reads.
#[inline(always)]
fn decide(engine: &Engine, request: &Request<'_>) -> bool {
    is_allowed(&engine.decide(request))
}

/// Reads the verdict, its reason, and the charge.
#[inline(always)]
fn is_allowed(decision: &Decision<'_>) -> bool {
    match decision {
        Decision::Allow(allow) => {
            black_box((allow.reason(), allow.charge()));
            true
        }
        Decision::Deny(deny) => {
            black_box((deny.reason(), deny.detail()));
            false
        }
    }
}

fn judge(table: &Table, decision: &Decision<'_>) -> Answer {
    let reason = match decision.reason() {
        Reason::ScopeHeld => Expected::Allow,
        Reason::ScopeMissing => Expected::ScopeMissing,
        Reason::NoRoute => Expected::NoRoute,
        Reason::MethodNotDeclared => Expected::MethodNotDeclared,
        Reason::MalformedRequest => Expected::Malformed,
        other => panic!("{other:?}"),
    };
    let route = decision.route_name().and_then(|name| table.rows.iter().position(|row| row.name == name));
    Answer::Decided(reason, route)
}
