//! Decides the rows of a table.

use core::ops::Range;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use ahash::RandomState;
use orbgate::{Engine, Request, ScopeSet, Scopes, Token, TokenKind};

use crate::column::{Requests, index};
use crate::outcome::{OutcomeId, Outcomes};

/// The maximum number of distinct scope strings that are remembered.
const TEXTS: usize = 4_096;

/// Decides the rows of one part of a table.
#[derive(Debug)]
pub(crate) struct Decider<'r> {
    requests: &'r Requests,
    /// The decision for each combination of codes, if all columns have codes and there are few combinations.
    known: Option<Known>,
    /// The interned scopes of each code.
    sets: Vec<ScopeSet>,
    /// The scope strings seen so far, interned. A log contains few distinct strings.
    texts: HashMap<&'r [u8], ScopeSet, RandomState>,
}

/// Decisions by combination of codes; [`Known::NOT_YET`] if the combination hasn't occurred yet.
#[derive(Debug)]
struct Known {
    answers: Vec<OutcomeId>,
    /// The combinations in some rows.
    positions: Vec<u32>,
}

impl<'r> Decider<'r> {
    pub(crate) fn new(engine: &Engine, requests: &'r Requests) -> Self {
        let scopes = &requests.scopes;
        // More sets than rows would be wasted work.
        let codes = scopes.code_count();
        let codes = codes.filter(|count| index(*count) <= requests.rows);
        let texts = (0..codes.unwrap_or_default()).map(|code| scopes.text(code));
        Self {
            requests,
            known: Known::new(requests),
            sets: texts.map(|text| engine.scopes(text.unwrap_or_default())).collect(),
            texts: HashMap::default(),
        }
    }

    /// Appends the decisions for some rows.
    pub(crate) fn decide(&mut self, rows: Range<usize>, outcomes: &mut Outcomes<'_>, answers: &mut Vec<OutcomeId>) {
        let Some(mut known) = self.known.take() else {
            answers.extend(rows.map(|row| self.decide_row(row, outcomes)));
            return;
        };
        known.find_positions(self.requests, &rows);
        for (row, position) in rows.zip(&known.positions) {
            let Some(answer) = known.answers.get_mut(index(*position)) else {
                answers.push(self.decide_row(row, outcomes));
                continue;
            };
            if *answer == Known::NOT_YET {
                *answer = self.decide_row(row, outcomes);
            }
            answers.push(*answer);
        }
        self.known = Some(known);
    }

    /// A row without a method or target is malformed, like one with an empty value. A row without a kind
    /// has no token.
    #[inline]
    fn decide_row(&mut self, row: usize, outcomes: &mut Outcomes<'_>) -> OutcomeId {
        let requests = self.requests;
        let engine = outcomes.engine();
        let token = requests.kind.get(row).map(|kind| Token { kind: kind_of(kind), scopes: self.scopes(row, engine) });
        let decision = engine.decide(&Request {
            method: requests.method.get(row).unwrap_or_default(),
            target: requests.target.get(row).unwrap_or_default(),
            token,
            allow_bonus_orbs_use: requests.bonus.get(row),
        });
        outcomes.id(&decision)
    }

    #[inline]
    fn scopes(&mut self, row: usize, engine: &Engine) -> Scopes<'_> {
        let column = &self.requests.scopes;
        if let Some(set) = self.sets.get(index(column.code(row))) {
            return Scopes::Set(set);
        }
        let text = column.get(row).unwrap_or_default();
        let room = self.texts.len() < TEXTS;
        match self.texts.entry(text) {
            Entry::Occupied(known) => Scopes::Set(known.into_mut()),
            Entry::Vacant(position) if room => Scopes::Set(position.insert(engine.scopes(text))),
            Entry::Vacant(_) => Scopes::Text(text),
        }
    }
}

impl Known {
    const NOT_YET: OutcomeId = OutcomeId::MAX;

    fn new(requests: &Requests) -> Option<Self> {
        let columns = requests.text_columns();
        let counts = columns.iter().map(|column| column.code_count());
        let flags = Some(2_u32);
        let product = |product: u32, count: Option<u32>| product.checked_mul(count?);
        let count = index(counts.chain([flags]).try_fold(1, product)?);
        // Setting up a table with more positions than rows costs more than it saves.
        (count <= requests.rows.max(1 << 12))
            .then(|| Self { answers: vec![Self::NOT_YET; count], positions: Vec::new() })
    }

    /// Finds the combinations in some rows. A combination is a number with one digit for each
    /// column, in the column's base.
    fn find_positions(&mut self, requests: &Requests, rows: &Range<usize>) {
        self.positions.clear();
        self.positions.resize(rows.len(), 0);
        for column in requests.text_columns() {
            column.append(rows.start, &mut self.positions);
        }
        for (position, row) in self.positions.iter_mut().zip(rows.clone()) {
            let flag = u32::from(requests.bonus.get(row));
            *position = position.wrapping_mul(2).wrapping_add(flag);
        }
    }
}

/// The kind with this name; null is an unknown kind.
pub(crate) fn kind_of(kind: &[u8]) -> TokenKind {
    str::from_utf8(kind).map_or(TokenKind::Unknown, TokenKind::from_name)
}
