//! Many decisions in one call.

use super::Engine;
use crate::decide::decision::Decision;
use crate::decide::lookup::{self, Found};
use crate::decide::request::Request;

/// Requests by row number, such as rows of columns, and a receiver for their decisions: see
/// [`Engine::decide_batch`].
///
/// These methods are called for every row: mark them `#[inline(always)]` if speed matters.
pub trait Batch<'r> {
    /// The number of requests. Each row below it is read once, in order.
    fn rows(&self) -> usize;

    /// The target of a row's request. It is read before the rest of the request.
    fn target(&self, row: usize) -> &'r [u8];

    /// The request in a row.
    fn request(&self, row: usize) -> Request<'r>;

    /// Receives the decision for a row.
    fn answer(&mut self, row: usize, decision: Decision<'_>);
}

/// Tables with more templates than this exceed a processor's second-level cache.
const LARGE: usize = 8_192;

/// The number of rows that go through each stage together.
const ROWS: usize = 32;

impl Engine {
    /// Decides many requests, each as [`Engine::decide`] would. Doesn't allocate. On tables of several
    /// thousand routes, a decision costs less than a call of [`Engine::decide`].
    ///
    /// ```
    /// use orbgate::{Batch, Decision, Engine, Request, Token};
    ///
    /// struct Gets<'r>(&'r [&'r str], Vec<bool>);
    ///
    /// impl<'r> Batch<'r> for Gets<'r> {
    ///     fn rows(&self) -> usize {
    ///         self.0.len()
    ///     }
    ///
    ///     fn target(&self, row: usize) -> &'r [u8] {
    ///         self.0[row].as_bytes()
    ///     }
    ///
    ///     fn request(&self, row: usize) -> Request<'r> {
    ///         Request {
    ///             method: b"GET",
    ///             target: self.target(row),
    ///             token: Some(Token::user("read:orbs")),
    ///             allow_bonus_orbs_use: false,
    ///         }
    ///     }
    ///
    ///     fn answer(&mut self, _row: usize, decision: Decision<'_>) {
    ///         self.1.push(decision.is_allow());
    ///     }
    /// }
    ///
    /// let mut gets = Gets(&["/api/v1/external/orbs", "/api/v1/external/account"], Vec::new());
    /// Engine::external().decide_batch(&mut gets);
    /// assert_eq!(gets.1, [true, false]);
    /// ```
    pub fn decide_batch<'r>(&self, batch: &mut impl Batch<'r>) {
        let tables = &self.tables;
        if tables.templates.slots.len() <= LARGE {
            for row in 0..batch.rows() {
                let decision = self.decide(&batch.request(row));
                batch.answer(row, decision);
            }
            return;
        }
        // Works in stages, so that slow loads of templates from memory overlap.
        let mut keys = [None; ROWS];
        let mut all_found = [Found::Unknown; ROWS];
        for start in (0..batch.rows()).step_by(ROWS) {
            let rows = start..batch.rows().min(start.saturating_add(ROWS));
            for (row, key) in rows.clone().zip(&mut keys) {
                *key = (self.key_of)(tables, batch.target(row));
            }
            for (key, found) in keys.iter().zip(&mut all_found).take(rows.len()) {
                *found = lookup::find(tables, *key);
            }
            for (row, found) in rows.zip(all_found) {
                let request = batch.request(row);
                batch.answer(row, tables.decide_found(&request, found));
            }
        }
    }
}
