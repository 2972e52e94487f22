//! Many decisions in one call, on columns in the layout of Arrow's utf8.

use orbgate::{Request, Scopes, Token, TokenKind};

use crate::answers::Form;
use crate::arguments::{Out, Sized32, are_aligned, first_size, read_sized, shared, slice};
use crate::columns::{Bitmap, OrbgateColumn, Texts};
use crate::decision::OrbgateDecision;
use crate::engine::OrbgateEngine;
use crate::flags::Flags;
use crate::rows::{Rows, decide_rows};
use crate::scope_set::OrbgateScopeSet;
use crate::status::{OrStatus, OrbgateStatus, guard};
use crate::token::{OrbgateToken, read_kind};

/// Requests as columns. All zeros except the size is an empty batch.
#[derive(Debug)]
#[repr(C)]
pub struct OrbgateBatch {
    /// Set it to `sizeof(OrbgateBatch)`, or use `orbgate_batch_init()`.
    pub struct_size: u32,
    /// `ORBGATE_ALLOW_BONUS_ORBS`, unless `allow_bonus_orbs` is set, and `ORBGATE_PACK_ABOUT`, for every row.
    pub flags: u32,
    /// The number of rows.
    pub len: usize,
    /// Each row's method.
    pub method: OrbgateColumn,
    /// Each row's target.
    pub target: OrbgateColumn,
    /// One token for every row. If both this and `kinds` are null, no row has a token.
    pub token: *const OrbgateToken,
    /// Each row's `OrbgateTokenKind`. If set, `token` must be null.
    pub kinds: *const u8,
    /// Each row's scope string, separated by spaces. Only with `kinds`.
    pub scopes: OrbgateColumn,
    /// Each row's interned scopes; null for none. Only with `kinds`, and without `scopes`.
    pub scope_sets: *const *const OrbgateScopeSet,
    /// 1 for each row that allows bonus orbs, 0 for the others. If null, `flags` applies to all
    /// rows.
    pub allow_bonus_orbs: *const u8,
    /// A bitmap as in Arrow. A row whose bit is 0 is null and gets a decision of all zeros. If null, no row is.
    pub validity: *const u8,
    /// The position of the first row's bit.
    pub validity_offset: usize,
}

// SAFETY: integers and pointers, the u32 first.
unsafe impl Sized32 for OrbgateBatch {
    const FIRST_SIZE: usize = first_size(136, 72);
}

/// Decides every row of a batch as `orbgate_engine_decide` would; packed, a null row gets 0. `out` has room for
/// `out_len` decisions, at least `batch->len`, and doesn't overlap the batch. Everything is checked before the first
/// row is decided: either all of `out` is written or nothing, unless the status is `ORBGATE_STATUS_PANIC`.
/// Cost: batch.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_decide_batch(
    engine: *const OrbgateEngine,
    batch: *const OrbgateBatch,
    out: *mut OrbgateDecision,
    out_len: usize,
) -> OrbgateStatus {
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { run(engine, batch, out, out_len) }
}

/// Like `orbgate_engine_decide_batch`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_decide_batch_packed(
    engine: *const OrbgateEngine,
    batch: *const OrbgateBatch,
    out: *mut u64,
    out_len: usize,
) -> OrbgateStatus {
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { run(engine, batch, out, out_len) }
}

#[inline(always)]
unsafe fn run<T: Form>(
    engine: *const OrbgateEngine,
    batch: *const OrbgateBatch,
    out: *mut T,
    out_len: usize,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let (engine, batch) = unsafe { (shared(engine)?, read_sized(batch)?) };
        // SAFETY: the caller guarantees it, see the preamble.
        let (columns, tokens) = unsafe { (Columns::read(&batch)?, Tokens::read(&batch)?) };
        if out_len < batch.len {
            return Err(OrbgateStatus::InvalidArgument);
        }
        let out = Out::array(out, out_len);
        // A separate loop for each kind of tokens, so that rows needn't check the kind.
        // SAFETY: `out` has room for `out_len` decisions, which are enough.
        unsafe {
            match tokens {
                Tokens::One(one) => decide_rows(engine, columns.with(one), out),
                Tokens::Text(texts) => decide_rows(engine, columns.with(texts), out),
                Tokens::Sets(sets) => decide_rows(engine, columns.with(sets), out),
            }
        }
    })
}

/// The columns of a batch that have been checked.
struct Columns<'a, T = ()> {
    len: usize,
    method: Texts<'a>,
    target: Texts<'a>,
    tokens: T,
    flags: Flags,
    bonus: Option<&'a [u8]>,
    validity: Option<Bitmap<'a>>,
}

impl<'a> Columns<'a> {
    /// Everything except the tokens.
    unsafe fn read(batch: &OrbgateBatch) -> OrStatus<Self> {
        let (len, flags) = (batch.len, Flags::read(batch.flags)?);
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe {
            Ok(Self {
                len,
                method: Texts::read(&batch.method, len)?,
                target: Texts::read(&batch.target, len)?,
                tokens: (),
                flags,
                bonus: bonus(batch, flags)?,
                validity: Bitmap::read(batch.validity, batch.validity_offset, len)?,
            })
        }
    }

    const fn with<T>(self, tokens: T) -> Columns<'a, T> {
        let Self { len, method, target, flags, bonus, validity, .. } = self;
        Columns { len, method, target, tokens, flags, bonus, validity }
    }
}

impl<'a, T: TokenColumn<'a>> Rows<'a> for Columns<'a, T> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    unsafe fn is_null(&self, row: usize) -> bool {
        !self.validity.as_ref().is_none_or(|bitmap| bitmap.has(row))
    }

    #[inline(always)]
    unsafe fn target(&self, row: usize) -> &'a [u8] {
        // SAFETY: every column has the batch's rows.
        unsafe { self.target.of(row) }
    }

    #[inline(always)]
    unsafe fn request(&self, row: usize) -> Request<'a> {
        // SAFETY: every column has the batch's rows.
        unsafe {
            Request {
                method: self.method.of(row),
                target: self.target.of(row),
                // A null row can contain anything, including a freed set.
                token: match self.is_null(row) {
                    true => None,
                    false => self.tokens.of(row),
                },
                allow_bonus_orbs_use: self.flags(row).allow_bonus_orbs,
            }
        }
    }

    #[inline(always)]
    unsafe fn flags(&self, row: usize) -> Flags {
        match self.bonus {
            None => self.flags,
            Some(rows) => self.flags.with_bonus_orbs(rows.get(row) == Some(&1)),
        }
    }
}

/// The source of the rows' tokens.
enum Tokens<'a> {
    One(OneToken<'a>),
    Text(TextTokens<'a>),
    Sets(SetTokens<'a>),
}

/// The tokens of rows.
trait TokenColumn<'a> {
    /// The token of a row within the batch; `None` if it has none.
    unsafe fn of(&self, row: usize) -> Option<Token<'a>>;
}

/// One token for all rows, in parts. Copying a `Token` for each row would also copy its padding, piece by
/// piece.
struct OneToken<'a> {
    kind: Option<TokenKind>,
    scopes: Scopes<'a>,
}

/// Tokens with scope strings.
struct TextTokens<'a> {
    kinds: &'a [u8],
    scopes: Texts<'a>,
}

/// Tokens with interned scopes, or without scopes.
struct SetTokens<'a> {
    kinds: &'a [u8],
    sets: &'a [*const OrbgateScopeSet],
}

impl<'a> Tokens<'a> {
    unsafe fn read(batch: &OrbgateBatch) -> OrStatus<Self> {
        const INVALID: OrbgateStatus = OrbgateStatus::InvalidArgument;
        let text = !batch.scopes.offsets.is_null();
        let sets = !batch.scope_sets.is_null();
        if batch.kinds.is_null() {
            if text || sets {
                return Err(INVALID);
            }
            // SAFETY: the caller guarantees it, see the preamble.
            let token = unsafe { OrbgateToken::read(batch.token) }?;
            return Ok(Self::One(OneToken {
                kind: token.map(|token| token.kind),
                scopes: token.map_or(Scopes::Text(&[]), |token| token.scopes),
            }));
        }
        if !batch.token.is_null() || (text && sets) {
            return Err(INVALID);
        }
        let len = batch.len;
        // SAFETY: the caller guarantees it, see the preamble.
        let kinds = unsafe { slice(batch.kinds, len) }?;
        // Checks all of them, because a processor can compare many at a time.
        let known = kinds.iter().map(|kind| read_kind(u32::from(*kind)).is_ok());
        if !known.fold(true, |all, one| all & one) {
            return Err(INVALID);
        }
        if text {
            // SAFETY: the caller guarantees it, see the preamble.
            let scopes = unsafe { Texts::read(&batch.scopes, len) }?;
            return Ok(Self::Text(TextTokens { kinds, scopes }));
        }
        let sets = match sets {
            // SAFETY: the caller guarantees it, see the preamble.
            true => unsafe { slice(batch.scope_sets, len) }?,
            false => &[],
        };
        if !are_aligned(sets) {
            return Err(INVALID);
        }
        Ok(Self::Sets(SetTokens { kinds, sets }))
    }
}

impl<'a> TokenColumn<'a> for OneToken<'a> {
    #[inline(always)]
    unsafe fn of(&self, _row: usize) -> Option<Token<'a>> {
        let Self { kind, scopes } = *self;
        kind.map(|kind| Token { kind, scopes })
    }
}

impl<'a> TokenColumn<'a> for TextTokens<'a> {
    #[inline(always)]
    unsafe fn of(&self, row: usize) -> Option<Token<'a>> {
        // SAFETY: the column has the row.
        let scopes = unsafe { self.scopes.of(row) }.into();
        kind_of(self.kinds, row).map(|kind| Token { kind, scopes })
    }
}

impl<'a> TokenColumn<'a> for SetTokens<'a> {
    #[inline(always)]
    unsafe fn of(&self, row: usize) -> Option<Token<'a>> {
        let set = self.sets.get(row).copied().unwrap_or(core::ptr::null());
        // SAFETY: null or checked by `read`; the caller guarantees the rest.
        let set = unsafe { set.as_ref() };
        let scopes = set.map_or(Scopes::Text(&[]), |set| (&set.set).into());
        kind_of(self.kinds, row).map(|kind| Token { kind, scopes })
    }
}

/// The kind of a row's token; `None` if the row has no token.
#[inline(always)]
fn kind_of(kinds: &[u8], row: usize) -> Option<TokenKind> {
    read_kind(u32::from(*kinds.get(row)?)).ok()?
}

/// Whether each row allows bonus orbs, if the batch has that column.
unsafe fn bonus<'a>(batch: &OrbgateBatch, all: Flags) -> OrStatus<Option<&'a [u8]>> {
    if batch.allow_bonus_orbs.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller guarantees it, see the preamble.
    let rows = unsafe { slice(batch.allow_bonus_orbs, batch.len) }?;
    if all.allow_bonus_orbs || rows.iter().any(|row| *row > 1) {
        return Err(OrbgateStatus::InvalidArgument);
    }
    Ok(Some(rows))
}
