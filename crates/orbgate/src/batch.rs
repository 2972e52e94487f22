//! Many decisions in one go.

use crate::decision::Decision;
use crate::engine::Engine;
use crate::request::Request;

/// Requests by number, as columns have them, and where their decisions go: see [`Engine::decide_batch`].
///
/// Deciding is as fast as these methods are: mark them `#[inline(always)]` where that counts.
pub trait Batch<'r> {
    /// How many requests there are. Only these rows are asked for, each in its turn.
    fn rows(&self) -> usize;

    /// The target of a row's request. It is looked at before the rest.
    fn target(&self, row: usize) -> &'r [u8];

    /// A row's request.
    fn request(&self, row: usize) -> Request<'r>;

    /// Takes a row's decision.
    fn answer(&mut self, row: usize, decision: Decision<'_>);
}

impl Engine {
    /// Decides many requests, each as [`Engine::decide`] would. Allocates nothing; a decision costs less than alone.
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
        for row in 0..batch.rows() {
            let request = batch.request(row);
            batch.answer(row, self.decide_request(&request));
        }
    }
}
