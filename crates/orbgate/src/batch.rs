//! Many decisions in one go.

use crate::decision::Decision;
use crate::engine::Engine;
use crate::outline::{First, Found, Target};
use crate::request::Request;
#[cfg(all(target_arch = "x86_64", not(any(orbgate_portable, orbgate_narrow))))]
use crate::scan::processor::Processor;
use crate::scan::wide::{BLOCK, Plain, Steps, Wide};
use crate::tables::Outline;

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
    #[inline]
    pub fn decide_batch<'r>(&self, batch: &mut impl Batch<'r>) {
        #[cfg(all(target_arch = "x86_64", not(any(orbgate_portable, orbgate_narrow))))]
        match Processor::here() {
            Processor::Avx512(wide) => return self.decide_batch_apart(wide, batch),
            Processor::Avx2(wide) => return self.decide_batch_apart(wide, batch),
            Processor::Other => {}
        }
        for row in 0..batch.rows() {
            let request = batch.request(row);
            batch.answer(row, self.decide_narrow(&request));
        }
    }

    /// The same as any processor can, but with the steps of those with wide registers: for tests.
    #[doc(hidden)]
    pub fn decide_batch_plain<'r>(&self, batch: &mut impl Batch<'r>) {
        self.decide_batch_apart(Plain, batch);
    }

    /// The same with wide registers, for tables of two depths.
    #[inline(always)]
    fn decide_batch_apart<'r>(&self, wide: impl Wide, batch: &mut impl Batch<'r>) {
        match self.tables.outlines.depth {
            0..=1 => wide.apart(DecideBatch::<_, 1>(self, batch)),
            _ => wide.apart(DecideBatch::<_, 2>(self, batch)),
        }
    }
}

/// So many rows are looked for before the first of them is decided: two short loops, in which the steps of
/// several rows overlap, instead of one long one.
const CHUNK: usize = 32;

/// Many decisions with wide registers. What an outline of at most so many times four segments does not settle is
/// decided alone.
struct DecideBatch<'a, B, const FOURS: usize>(&'a Engine, &'a mut B);

impl<'r, W: Wide, B: Batch<'r>, const FOURS: usize> Steps<W> for DecideBatch<'_, B, FOURS> {
    type Result = ();

    #[inline(always)]
    fn take(self, wide: W) {
        let Self(engine, batch) = self;
        let rows = batch.rows();
        let mut found = [None; CHUNK];
        for start in (0..rows).step_by(CHUNK) {
            for (row, found) in (start..rows).zip(&mut found) {
                *found = look::<W, FOURS>(wide, engine, batch.target(row));
            }
            for (row, found) in (start..rows).zip(&found) {
                let request = batch.request(row);
                match found {
                    Some(outline) => {
                        let found = Found::This(*outline);
                        batch.answer(row, engine.decide_wide(wide, &request, found));
                    }
                    // A copy, so that the other requests need not be in memory.
                    None => batch.answer(row, engine.decide_apart(wide, &{ request })),
                }
            }
        }
    }
}

/// The outline of a short target that is not odd, if a first look finds it.
#[inline(always)]
fn look<'e, W: Wide, const FOURS: usize>(
    wide: W,
    engine: &'e Engine,
    target: &[u8],
) -> Option<&'e Outline> {
    if !(1..BLOCK).contains(&target.len()) {
        return None;
    }
    let target = Target::<W, u64>::of(wide, target);
    if target.is_odd() {
        return None;
    }
    match target.look::<FOURS>(&engine.tables.outlines) {
        First::This(outline) => Some(outline),
        _ => None,
    }
}
