//! The engine, asked through its public interface and read in the reference's terms.

use orbgate::{Alternative, Batch, Decision, Engine, Policy, Request, ScopeSet, Scopes, Token, TokenKind};

use super::model::Model;
use super::reference::{Answer, Ask};

/// An engine of a model.
pub fn engine(model: &Model) -> Engine {
    let yaml = model.to_yaml();
    let policy = Policy::from_yaml(&yaml).unwrap_or_else(|error| panic!("{error}\n{yaml}"));
    Engine::new(&policy)
}

/// The token of a request, its scopes as text or as a set.
pub fn token<'a>(ask: &'a Ask, set: Option<&'a ScopeSet>) -> Option<Token<'a>> {
    let (kind, text) = ask.token.as_ref()?;
    let scopes = set.map_or(Scopes::Text(text), Scopes::Set);
    Some(Token { kind: TokenKind::from_name(kind), scopes })
}

/// The request as the engine takes it.
pub fn request<'a>(ask: &'a Ask, set: Option<&'a ScopeSet>) -> Request<'a> {
    Request { method: &ask.method, target: &ask.target, token: token(ask, set), allow_bonus_orbs_use: ask.bonus }
}

/// Asks the engine, with the scopes as text and as a set: both answers must be one.
pub fn ask_engine<'e>(engine: &'e Engine, ask: &Ask) -> Decision<'e> {
    let set = ask.token.as_ref().map(|(_, text)| engine.scopes(text));
    let with_text = engine.decide(&request(ask, None));
    let with_set = engine.decide(&request(ask, set.as_ref()));
    assert_eq!(with_text, with_set, "text and set differ: {ask:?}");
    with_text
}

/// An engine's answer in the reference's terms.
pub fn answer(decision: &Decision<'_>) -> Answer {
    let charge = decision.charge();
    Answer {
        reason: decision.reason().as_str(),
        detail: decision.detail().map(|detail| detail.as_str()),
        api: decision.api().map(str::to_owned),
        route: decision.route_name().map(str::to_owned),
        about: decision.about().map(|route| route.as_str().to_owned()),
        scope: decision.scope().map(|scope| scope.name().to_owned()),
        scopes: decision.requirement().map(|requirement| {
            let names = |scopes: Alternative<'_>| scopes.map(|scope| scope.name().to_owned()).collect();
            requirement.alternatives().map(names).collect()
        }),
        orbs: charge.map(|charge| (charge.consumes, charge.amount, charge.bonus_allowed)),
    }
}

/// The answers of a batch of this many rows, which are these requests over and over.
pub fn ask_batch(engine: &Engine, asks: &[Ask], rows: usize, interned: bool) -> Vec<Answer> {
    let set = |ask: &Ask| {
        let (_, text) = ask.token.as_ref().filter(|_| interned)?;
        Some(engine.scopes(text))
    };
    let sets: Vec<_> = asks.iter().map(set).collect();
    let mut batch = Rows { asks, sets: &sets, rows, answers: Vec::new() };
    engine.decide_batch(&mut batch);
    batch.answers
}

/// Requests, over and over until there are this many, and their answers.
struct Rows<'a> {
    asks: &'a [Ask],
    sets: &'a [Option<ScopeSet>],
    rows: usize,
    answers: Vec<Answer>,
}

impl<'a> Batch<'a> for Rows<'a> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn target(&self, row: usize) -> &'a [u8] {
        self.request(row).target
    }

    fn request(&self, row: usize) -> Request<'a> {
        let at = row % self.asks.len();
        request(&self.asks[at], self.sets[at].as_ref())
    }

    fn answer(&mut self, row: usize, decision: Decision<'_>) {
        assert_eq!(row, self.answers.len(), "each row once, in its turn");
        self.answers.push(answer(&decision));
    }
}
