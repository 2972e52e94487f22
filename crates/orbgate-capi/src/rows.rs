//! Decides rows of columns in one call.

use orbgate::{Batch, Decision, Request};

use crate::answers::Form;
use crate::arguments::Out;
use crate::engine::OrbgateEngine;
use crate::flags::Flags;
use crate::status::OrStatus;

/// Rows whose columns have been checked.
///
/// # Safety
///
/// Methods may only be called for rows below `len`.
pub(crate) trait Rows<'a> {
    fn len(&self) -> usize;

    /// Whether the decision for a row is left out.
    unsafe fn is_null(&self, row: usize) -> bool;

    /// The target of a row, even if the row is null.
    unsafe fn target(&self, row: usize) -> &'a [u8];

    /// The request of a row, even if the row is null.
    unsafe fn request(&self, row: usize) -> Request<'a>;

    /// The flags of a row.
    unsafe fn flags(&self, row: usize) -> Flags;
}

/// Decides rows, and writes each decision in its form. A null row gets all zeros.
///
/// # Safety
///
/// `out` must have room for all rows.
#[inline(always)]
pub(crate) unsafe fn decide_rows<'a, T: Form>(
    engine: &OrbgateEngine,
    rows: impl Rows<'a>,
    out: OrStatus<Out<T>>,
) -> OrStatus {
    if rows.len() == 0 {
        return Ok(());
    }
    let mut batch = Asked { engine, rows, positions: out? };
    engine.engine().decide_batch(&mut batch);
    Ok(())
}

/// Rows, and the output for their decisions.
struct Asked<'e, R, T> {
    engine: &'e OrbgateEngine,
    rows: R,
    positions: Out<T>,
}

// SAFETY, of every block below: the core asks for rows of the batch only.
impl<'a, R: Rows<'a>, T: Form> Batch<'a> for Asked<'_, R, T> {
    #[inline(always)]
    fn rows(&self) -> usize {
        self.rows.len()
    }

    #[inline(always)]
    fn target(&self, row: usize) -> &'a [u8] {
        // SAFETY: see above.
        unsafe { self.rows.target(row) }
    }

    #[inline(always)]
    fn request(&self, row: usize) -> Request<'a> {
        // SAFETY: see above.
        unsafe { self.rows.request(row) }
    }

    #[inline(always)]
    fn answer(&mut self, row: usize, decision: Decision<'_>) {
        // SAFETY: see above; there is room for every row.
        unsafe {
            let written = match self.rows.is_null(row) {
                true => T::default(),
                false => self.engine.answers().of(&decision, self.rows.flags(row)),
            };
            self.positions.at(row).write(written);
        }
    }
}
