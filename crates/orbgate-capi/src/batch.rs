//! Many decisions in one call, over columns as Arrow lays out utf8.

use orbgate::{Decision, Request, Scopes, Token, TokenKind};

use crate::arguments::{Out, Sized32, optional, read_sized, shared, slice};
use crate::columns::{Bitmap, OrbgateColumn, Texts};
use crate::decision::OrbgateDecision;
use crate::engine::OrbgateEngine;
use crate::scope_set::OrbgateScopeSet;
use crate::status::{OrbgateStatus, Outcome, guard};
use crate::token::{OrbgateToken, read_flags, read_kind};

/// Requests by columns. All zeros but for the size is an empty batch.
#[derive(Debug)]
#[repr(C)]
pub struct OrbgateBatch {
    /// Set it to `sizeof(OrbgateBatch)`, or use `orbgate_batch_init()`.
    pub struct_size: u32,
    /// 0 or `ORBGATE_ALLOW_BONUS_ORBS`, for every row; with `allow_bonus_orbs` it must be 0.
    pub flags: u32,
    /// How many rows.
    pub len: usize,
    /// Each row's method.
    pub method: OrbgateColumn,
    /// Each row's target.
    pub target: OrbgateColumn,
    /// One token for every row. Null, and `kinds` null too: no row has a token.
    pub token: *const OrbgateToken,
    /// Each row's `OrbgateTokenKind`; then `token` must be null.
    pub kinds: *const u8,
    /// Each row's scopes as text, separated by spaces: only with `kinds`.
    pub scopes: OrbgateColumn,
    /// Each row's scopes interned, null for none: only with `kinds`, and without `scopes`.
    pub scope_sets: *const *const OrbgateScopeSet,
    /// 1 for each row that allows bonus orbs, 0 for the others. Null: `flags` says it for all.
    pub allow_bonus_orbs: *const u8,
    /// A bitmap as Arrow's, least significant bit first: a row whose bit is 0 is null and gets all zeros for
    /// a decision. Null: no row is null.
    pub validity: *const u8,
    /// The bit of the first row.
    pub validity_offset: usize,
}

// SAFETY: integers and pointers, the u32 first.
unsafe impl Sized32 for OrbgateBatch {
    const FIRST_SIZE: usize = size_of::<Self>();
}

/// Decides every row of a batch, each as `orbgate_engine_decide` would. Everything is checked before the first
/// row is decided: either all of `out` is written or nothing.
///
/// Ownership: `out` has room for `out_len` decisions, at least `batch->len`, and overlaps nothing of the
/// batch. Everything else is only read.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: batch.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_decide_batch(
    engine: *const OrbgateEngine,
    batch: *const OrbgateBatch,
    out: *mut OrbgateDecision,
    out_len: usize,
) -> OrbgateStatus {
    // SAFETY: the caller's, see the preamble.
    unsafe { run(engine, batch, out, out_len, |decision| decision) }
}

/// The same, each decision packed; 0 for a row that is null.
///
/// Ownership: `out` has room for `out_len` integers, at least `batch->len`, and overlaps nothing of the
/// batch. Everything else is only read.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: batch.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_decide_batch_packed(
    engine: *const OrbgateEngine,
    batch: *const OrbgateBatch,
    out: *mut u64,
    out_len: usize,
) -> OrbgateStatus {
    // SAFETY: the caller's, see the preamble.
    unsafe { run(engine, batch, out, out_len, |decision| decision.pack()) }
}

#[inline(always)]
unsafe fn run<T: Default>(
    engine: *const OrbgateEngine,
    batch: *const OrbgateBatch,
    out: *mut T,
    out_len: usize,
    form: impl Fn(OrbgateDecision) -> T,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller's, see the preamble.
        let (engine, batch) = unsafe { (shared(engine)?, Rows::read(batch)?) };
        if out_len < batch.len {
            return Err(OrbgateStatus::InvalidArgument);
        }
        // SAFETY: only rows of the batch are asked for.
        let decide = |row| unsafe { batch.decide(engine, row) };
        // SAFETY: `out` has room for `out_len` decisions, which are enough.
        unsafe { decide_rows(engine, batch.len, Out::new(out), decide, form) }
    })
}

/// Decides rows that have been checked, and writes each decision in its form.
#[inline(always)]
pub(crate) unsafe fn decide_rows<'e, T: Default>(
    engine: &'e OrbgateEngine,
    len: usize,
    out: Outcome<Out<T>>,
    decide: impl Fn(usize) -> Option<Decision<'e>>,
    form: impl Fn(OrbgateDecision) -> T,
) -> Outcome {
    if len == 0 {
        return Ok(());
    }
    // Only the places are checked here: what they hold may never have been written.
    let places = out?;
    for row in 0..len {
        // SAFETY: the caller's array has `len` elements.
        let place = unsafe { places.at(row) };
        // SAFETY: the caller's, see the preamble.
        unsafe {
            match decide(row) {
                Some(decision) => place.write(form(OrbgateDecision::new(engine, &decision))),
                None => place.write(T::default()),
            }
        }
    }
    Ok(())
}

/// A batch that has been checked.
struct Rows<'a> {
    len: usize,
    method: Texts<'a>,
    target: Texts<'a>,
    tokens: Tokens<'a>,
    bonus: Bonus<'a>,
    validity: Option<Bitmap<'a>>,
}

/// Where the tokens of the rows come from. The one of all rows is in parts: a `Token` copied row by row would be
/// copied with its padding, in pieces.
enum Tokens<'a> {
    One(Option<TokenKind>, Scopes<'a>),
    Text(&'a [u8], Texts<'a>),
    Sets(&'a [u8], &'a [*const OrbgateScopeSet]),
}

/// Where the rows' flags come from.
enum Bonus<'a> {
    All(bool),
    Each(&'a [u8]),
}

impl<'a> Rows<'a> {
    unsafe fn read(batch: *const OrbgateBatch) -> Outcome<Self> {
        // SAFETY: the caller's, see the preamble.
        let batch = unsafe { read_sized(batch) }?;
        let len = batch.len;
        // SAFETY: the caller's, see the preamble.
        unsafe {
            Ok(Self {
                len,
                method: Texts::read(&batch.method, len)?,
                target: Texts::read(&batch.target, len)?,
                tokens: Tokens::read(&batch)?,
                bonus: Bonus::read(&batch)?,
                validity: Bitmap::read(batch.validity, batch.validity_offset, len)?,
            })
        }
    }

    /// The decision of a row that the batch has; none where it is null.
    #[inline(always)]
    unsafe fn decide<'e>(&self, engine: &'e OrbgateEngine, row: usize) -> Option<Decision<'e>> {
        if !self.validity.as_ref().is_none_or(|bitmap| bitmap.has(row)) {
            return None;
        }
        // SAFETY: every column has the batch's rows.
        let (method, target, token) = unsafe {
            (
                self.method.of(row),
                self.target.of(row),
                self.tokens.of(row),
            )
        };
        Some(engine.engine().decide(&Request {
            method,
            target,
            token,
            allow_bonus_orbs_use: match self.bonus {
                Bonus::All(bonus) => bonus,
                Bonus::Each(rows) => rows.get(row) == Some(&1),
            },
        }))
    }
}

impl<'a> Tokens<'a> {
    unsafe fn read(batch: &OrbgateBatch) -> Outcome<Self> {
        let text = !batch.scopes.offsets.is_null();
        let sets = !batch.scope_sets.is_null();
        if batch.kinds.is_null() {
            if text || sets {
                return Err(OrbgateStatus::InvalidArgument);
            }
            // SAFETY: the caller's, see the preamble.
            let token = unsafe { OrbgateToken::read(batch.token) }?;
            let scopes = token.map_or(Scopes::Text(&[]), |token| token.scopes);
            return Ok(Self::One(token.map(|token| token.kind), scopes));
        }
        if !batch.token.is_null() || (text && sets) {
            return Err(OrbgateStatus::InvalidArgument);
        }
        let len = batch.len;
        // SAFETY: the caller's, see the preamble.
        let kinds = unsafe { slice(batch.kinds, len) }?;
        for kind in kinds {
            read_kind(u32::from(*kind))?;
        }
        if text {
            // SAFETY: the caller's, see the preamble.
            return Ok(Self::Text(kinds, unsafe {
                Texts::read(&batch.scopes, len)
            }?));
        }
        let sets = match sets {
            // SAFETY: the caller's, see the preamble.
            true => unsafe { slice(batch.scope_sets, len) }?,
            false => &[],
        };
        for set in sets {
            // SAFETY: the caller's, see the preamble.
            unsafe { optional(*set) }?;
        }
        Ok(Self::Sets(kinds, sets))
    }

    /// The token of a row that the batch has.
    #[inline(always)]
    unsafe fn of(&self, row: usize) -> Option<Token<'a>> {
        let (kind, scopes) = match self {
            Self::One(kind, scopes) => (*kind, *scopes),
            // SAFETY: the column has the row.
            Self::Text(kinds, texts) => (kind_of(kinds, row), unsafe { texts.of(row) }.into()),
            Self::Sets(kinds, sets) => {
                let set = sets.get(row).copied().unwrap_or(core::ptr::null());
                // SAFETY: null or checked by `read`; the rest is the caller's.
                let set = unsafe { set.as_ref() };
                let scopes = set.map_or(Scopes::Text(&[]), |set| (&set.set).into());
                (kind_of(kinds, row), scopes)
            }
        };
        kind.map(|kind| Token { kind, scopes })
    }
}

/// The kind of a row's token; none where it has none.
#[inline(always)]
fn kind_of(kinds: &[u8], row: usize) -> Option<TokenKind> {
    read_kind(u32::from(*kinds.get(row)?)).ok()?
}

impl Bonus<'_> {
    unsafe fn read(batch: &OrbgateBatch) -> Outcome<Self> {
        let all = read_flags(batch.flags)?;
        if batch.allow_bonus_orbs.is_null() {
            return Ok(Self::All(all));
        }
        // SAFETY: the caller's, see the preamble.
        let rows = unsafe { slice(batch.allow_bonus_orbs, batch.len) }?;
        if all || rows.iter().any(|row| *row > 1) {
            return Err(OrbgateStatus::InvalidArgument);
        }
        Ok(Self::Each(rows))
    }
}
