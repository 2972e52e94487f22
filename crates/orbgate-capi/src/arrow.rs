//! Decides a table that arrives through the Arrow C data interface. No Arrow library is needed.
//!
//! <https://arrow.apache.org/docs/format/CDataInterface.html>

use core::ffi::{CStr, c_char, c_void};

use orbgate::{Request, Token, TokenKind};

use crate::arguments::{Out, shared, slice};
use crate::columns::{Bitmap, Texts};
use crate::decision::OrbgateDecision;
use crate::engine::OrbgateEngine;
use crate::flags::Flags;
use crate::rows::{Rows, decide_rows};
use crate::status::{OrStatus, OrbgateStatus, guard};
use crate::token::OrbgateToken;

const INVALID: OrbgateStatus = OrbgateStatus::InvalidArgument;

/// As defined by the interface.
#[derive(Debug)]
#[repr(C)]
pub struct ArrowSchema {
    pub(crate) format: *const c_char,
    pub(crate) name: *const c_char,
    pub(crate) metadata: *const c_char,
    pub(crate) flags: i64,
    pub(crate) n_children: i64,
    pub(crate) children: *const *const Self,
    pub(crate) dictionary: *const Self,
    pub(crate) release: *const c_void,
    pub(crate) private_data: *const c_void,
}

/// As defined by the interface.
#[derive(Debug)]
#[repr(C)]
pub struct ArrowArray {
    pub(crate) length: i64,
    pub(crate) null_count: i64,
    pub(crate) offset: i64,
    pub(crate) n_buffers: i64,
    pub(crate) n_children: i64,
    pub(crate) buffers: *const *const c_void,
    pub(crate) children: *const *const Self,
    pub(crate) dictionary: *const Self,
    pub(crate) release: *const c_void,
    pub(crate) private_data: *const c_void,
}

/// Decides every row of a table that arrives through the Arrow C data interface: a struct array whose children
/// are named `method` and `target`. If rows have their own tokens, further children are `kind` (`user`,
/// `organisation`; null means no token) and `scopes` (separated by spaces; null means none). `allow_bonus_orbs`
/// is optional (boolean; null means false). Strings are utf8 or large utf8, and not dictionary-encoded. Any
/// other child is an invalid argument, and so is a released array or schema.
///
/// A row that is null, or whose method or target is null, gets a decision of all zeros. Without a child `kind`,
/// `token` applies to every row. Without a child `allow_bonus_orbs`, `flags` applies to every row.
/// The caller still releases `array` and `schema`. `out` has room for `out_len` decisions, at least `array->length`.
/// Cost: batch.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_decide_arrow(
    engine: *const OrbgateEngine,
    array: *const ArrowArray,
    schema: *const ArrowSchema,
    token: *const OrbgateToken,
    flags: u32,
    out: *mut OrbgateDecision,
    out_len: usize,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let (engine, array, schema, token) =
            unsafe { (shared(engine)?, shared(array)?, shared(schema)?, OrbgateToken::read(token)?) };
        // SAFETY: the caller guarantees it, see the preamble.
        let table = unsafe { Table::read(array, schema, token, Flags::read(flags)?) }?;
        if out_len < table.len {
            return Err(INVALID);
        }
        // SAFETY: `out` has room for `out_len` decisions, which are enough.
        unsafe { decide_rows(engine, table, Out::array(out, out_len)) }
    })
}

/// A table whose columns have been checked.
struct Table<'a> {
    len: usize,
    validity: Option<Bitmap<'a>>,
    method: Strings<'a>,
    target: Strings<'a>,
    kind: Option<Strings<'a>>,
    scopes: Option<Strings<'a>>,
    allow_bonus_orbs: Option<Booleans<'a>>,
    token: Option<Token<'a>>,
    flags: Flags,
}

impl<'a> Table<'a> {
    unsafe fn read(
        array: &'a ArrowArray,
        schema: &ArrowSchema,
        token: Option<Token<'a>>,
        flags: Flags,
    ) -> OrStatus<Self> {
        if !is_plain(array, schema) || array.n_children != schema.n_children {
            return Err(INVALID);
        }
        // SAFETY: the caller guarantees it, see the preamble.
        if unsafe { text(schema.format) }? != b"+s" {
            return Err(INVALID);
        }
        let rows = Range::of(array, 0)?;
        // SAFETY: the caller guarantees it, see the preamble.
        let children = unsafe { Children::read(array, schema, &rows) }?;
        let own_token = children.kind.is_some();
        if (own_token && token.is_some())
            || (!own_token && children.scopes.is_some())
            || (flags.allow_bonus_orbs && children.allow_bonus_orbs.is_some())
        {
            return Err(INVALID);
        }
        Ok(Self {
            len: rows.len,
            // SAFETY: the caller guarantees it, see the preamble.
            validity: unsafe { validity(array, 1, &rows) }?,
            method: children.method.ok_or(INVALID)?,
            target: children.target.ok_or(INVALID)?,
            kind: children.kind,
            scopes: children.scopes,
            allow_bonus_orbs: children.allow_bonus_orbs,
            token,
            flags,
        })
    }

    /// The token of a row within the table.
    unsafe fn token_of(&self, row: usize) -> Option<Token<'a>> {
        let Some(kinds) = &self.kind else {
            return self.token;
        };
        // SAFETY: every column has the table's rows.
        let (kind, scopes) = unsafe {
            let scopes = self.scopes.as_ref().and_then(|scopes| scopes.of(row));
            (kinds.of(row)?, scopes)
        };
        let kind = str::from_utf8(kind).unwrap_or_default();
        Some(Token { kind: TokenKind::from_name(kind), scopes: scopes.unwrap_or_default().into() })
    }
}

impl<'a> Rows<'a> for Table<'a> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    unsafe fn is_null(&self, row: usize) -> bool {
        let columns = [self.method.validity.as_ref(), self.target.validity.as_ref()];
        !is_valid(self.validity.as_ref(), row) || columns.iter().any(|column| !is_valid(*column, row))
    }

    #[inline(always)]
    unsafe fn target(&self, row: usize) -> &'a [u8] {
        // SAFETY: every column has the table's rows.
        unsafe { self.target.of(row) }.unwrap_or_default()
    }

    #[inline(always)]
    unsafe fn request(&self, row: usize) -> Request<'a> {
        // SAFETY: every column has the table's rows.
        unsafe {
            Request {
                method: self.method.of(row).unwrap_or_default(),
                target: self.target(row),
                token: self.token_of(row),
                allow_bonus_orbs_use: self.flags(row).allow_bonus_orbs,
            }
        }
    }

    #[inline(always)]
    unsafe fn flags(&self, row: usize) -> Flags {
        match &self.allow_bonus_orbs {
            None => self.flags,
            Some(rows) => self.flags.with_bonus_orbs(rows.of(row)),
        }
    }
}

/// The columns of a table by name, each at most once.
#[derive(Default)]
struct Children<'a> {
    method: Option<Strings<'a>>,
    target: Option<Strings<'a>>,
    kind: Option<Strings<'a>>,
    scopes: Option<Strings<'a>>,
    allow_bonus_orbs: Option<Booleans<'a>>,
}

impl<'a> Children<'a> {
    unsafe fn read(array: &'a ArrowArray, schema: &ArrowSchema, rows: &Range) -> OrStatus<Self> {
        let mut all = Self::default();
        let count = usize::try_from(array.n_children).map_err(|_| INVALID)?;
        // SAFETY: the caller guarantees it, see the preamble.
        let (arrays, schemas) = unsafe { (slice(array.children, count)?, slice(schema.children, count)?) };
        for (child, schema) in arrays.iter().zip(schemas) {
            // SAFETY: the caller guarantees it, see the preamble.
            let (child, schema) = unsafe { (shared(*child)?, shared(*schema)?) };
            if !is_plain(child, schema) {
                return Err(INVALID);
            }
            // SAFETY: the caller guarantees it, see the preamble.
            let position = match unsafe { text(schema.name) }? {
                b"method" => &mut all.method,
                b"target" => &mut all.target,
                b"kind" => &mut all.kind,
                b"scopes" => &mut all.scopes,
                b"allow_bonus_orbs" if all.allow_bonus_orbs.is_none() => {
                    // SAFETY: the caller guarantees it, see the preamble.
                    all.allow_bonus_orbs = Some(unsafe { Booleans::read(child, schema, rows) }?);
                    continue;
                }
                _ => return Err(INVALID),
            };
            // SAFETY: the caller guarantees it, see the preamble.
            let strings = unsafe { Strings::read(child, schema, rows) }?;
            if position.replace(strings).is_some() {
                return Err(INVALID);
            }
        }
        Ok(all)
    }
}

/// Whether an array and its schema are present and not released, and the array contains its values
/// directly.
const fn is_plain(array: &ArrowArray, schema: &ArrowSchema) -> bool {
    let there = !array.release.is_null() && !schema.release.is_null();
    there && array.dictionary.is_null() && schema.dictionary.is_null()
}

/// A range of rows in an array.
struct Range {
    start: usize,
    len: usize,
}

impl Range {
    /// The rows of an array, starting at a given row.
    fn of(array: &ArrowArray, from: usize) -> OrStatus<Self> {
        let index = |number: i64| usize::try_from(number).map_err(|_| INVALID);
        let (start, len) = (index(array.offset)?, index(array.length)?);
        Ok(Self { start: start.checked_add(from).ok_or(INVALID)?, len: len.checked_sub(from).ok_or(INVALID)? })
    }

    /// The same rows in a child, which has at least these.
    fn within(&self, child: &ArrowArray) -> OrStatus<Self> {
        let own = Self::of(child, self.start)?;
        if own.len < self.len {
            return Err(INVALID);
        }
        let len = self.len;
        Ok(Self { len, ..own })
    }
}

/// A column of strings.
struct Strings<'a> {
    validity: Option<Bitmap<'a>>,
    texts: Lengths<'a>,
}

/// The offsets of Arrow's utf8 and large utf8.
enum Lengths<'a> {
    Short(Texts<'a, u32>),
    Long(Texts<'a, u64>),
}

impl<'a> Strings<'a> {
    unsafe fn read(array: &'a ArrowArray, schema: &ArrowSchema, rows: &Range) -> OrStatus<Self> {
        let rows = rows.within(array)?;
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe {
            let (offsets, data) = (buffer(array, 3, 1)?, buffer(array, 3, 2)?);
            let texts = match text(schema.format)? {
                b"u" => Lengths::Short(Texts::arrow(offsets.cast(), data.cast(), rows.start, rows.len)?),
                b"U" => Lengths::Long(Texts::arrow(offsets.cast(), data.cast(), rows.start, rows.len)?),
                _ => return Err(INVALID),
            };
            let validity = validity(array, 3, &rows)?;
            Ok(Self { validity, texts })
        }
    }

    /// The string of a row within the column; `None` if it is null.
    unsafe fn of(&self, row: usize) -> Option<&'a [u8]> {
        if !is_valid(self.validity.as_ref(), row) {
            return None;
        }
        // SAFETY: the column has the row.
        Some(unsafe {
            match &self.texts {
                Lengths::Short(texts) => texts.of(row),
                Lengths::Long(texts) => texts.of(row),
            }
        })
    }
}

/// A column of booleans.
struct Booleans<'a> {
    validity: Option<Bitmap<'a>>,
    values: Option<Bitmap<'a>>,
}

impl<'a> Booleans<'a> {
    unsafe fn read(array: &'a ArrowArray, schema: &ArrowSchema, rows: &Range) -> OrStatus<Self> {
        let rows = rows.within(array)?;
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe {
            if text(schema.format)? != b"b" {
                return Err(INVALID);
            }
            let values = Bitmap::read(buffer(array, 2, 1)?.cast(), rows.start, rows.len)?;
            if values.is_none() && rows.len > 0 {
                return Err(INVALID);
            }
            let validity = validity(array, 2, &rows)?;
            Ok(Self { validity, values })
        }
    }

    fn of(&self, row: usize) -> bool {
        is_valid(self.validity.as_ref(), row) && self.values.as_ref().is_some_and(|it| it.has(row))
    }
}

fn is_valid(validity: Option<&Bitmap<'_>>, row: usize) -> bool {
    validity.is_none_or(|validity| validity.has(row))
}

/// The bitmap of the rows that aren't null, if there is one.
unsafe fn validity<'a>(array: &'a ArrowArray, buffers: i64, rows: &Range) -> OrStatus<Option<Bitmap<'a>>> {
    // SAFETY: the caller guarantees it, see the preamble.
    let bits = unsafe { buffer(array, buffers, 0) }?;
    if array.null_count == 0 {
        return Ok(None);
    }
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { Bitmap::read(bits.cast(), rows.start, rows.len) }
}

/// A buffer of an array that has `count` buffers.
unsafe fn buffer(array: &ArrowArray, count: i64, index: usize) -> OrStatus<*const c_void> {
    if array.n_buffers != count {
        return Err(INVALID);
    }
    let count = usize::try_from(count).map_err(|_| INVALID)?;
    // SAFETY: the caller guarantees it, see the preamble.
    let buffers = unsafe { slice(array.buffers, count) }?;
    buffers.get(index).copied().ok_or(INVALID)
}

/// A NUL-terminated string of the interface.
const unsafe fn text<'a>(text: *const c_char) -> OrStatus<&'a [u8]> {
    if text.is_null() {
        return Err(INVALID);
    }
    // SAFETY: the interface's strings end with a NUL, and the caller guarantees that this is one.
    Ok(unsafe { CStr::from_ptr(text) }.to_bytes())
}
