//! A table through the Arrow C data interface gives the same as a loop of single decisions.

use core::ffi::{CStr, c_void};
use core::ptr::null;

use super::{INVALID, OK, external, token};
use crate::arrow::{ArrowArray, ArrowSchema, orbgate_engine_decide_arrow};
use crate::decide::orbgate_engine_decide;
use crate::decision::OrbgateDecision;
use crate::engine::orbgate_engine_free;
use crate::token::OrbgateToken;

/// An array with its schema, and all that they point to. Some rows precede the first, as in a slice.
pub(super) struct Column {
    schema: ArrowSchema,
    array: ArrowArray,
    _buffers: Vec<Vec<u64>>,
    pointers: Vec<*const c_void>,
}

const BEFORE: usize = 3;

impl Column {
    fn new(name: &'static CStr, format: &'static CStr, len: usize, buffers: Vec<Vec<u8>>) -> Self {
        // Buffers are aligned to 8 bytes.
        let words = |bytes: &Vec<u8>| {
            let words = bytes.chunks(8).map(|chunk| {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                u64::from_ne_bytes(word)
            });
            words.collect::<Vec<_>>()
        };
        let buffers: Vec<_> = buffers.iter().map(words).collect();
        let pointers: Vec<_> = buffers.iter().map(|it| it.as_ptr().cast::<c_void>()).collect();
        let released = null();
        let alive = core::ptr::dangling();
        Self {
            schema: ArrowSchema {
                format: format.as_ptr(),
                name: name.as_ptr(),
                metadata: null(),
                flags: 2,
                n_children: 0,
                children: null(),
                dictionary: null(),
                release: alive,
                private_data: released,
            },
            array: ArrowArray {
                length: len as i64,
                null_count: -1,
                offset: BEFORE as i64,
                n_buffers: pointers.len() as i64,
                n_children: 0,
                buffers: pointers.as_ptr(),
                children: null(),
                dictionary: null(),
                release: alive,
                private_data: null(),
            },
            _buffers: buffers,
            pointers,
        }
    }

    fn texts(name: &'static CStr, rows: &[Option<&str>], large: bool) -> Self {
        let (mut data, mut offsets) = (Vec::new(), Vec::new());
        let mut end = |data: &Vec<u8>| match large {
            true => offsets.extend((data.len() as u64).to_ne_bytes()),
            false => offsets.extend((data.len() as u32).to_ne_bytes()),
        };
        end(&data);
        for row in [Some("before"); BEFORE].iter().chain(rows) {
            data.extend(row.unwrap_or("null").as_bytes());
            end(&data);
        }
        let format = if large { c"U" } else { c"u" };
        let valid = bits(rows.iter().map(Option::is_some));
        Self::new(name, format, rows.len(), vec![valid, offsets, data])
    }

    fn booleans(name: &'static CStr, rows: &[Option<bool>]) -> Self {
        let valid = bits(rows.iter().map(Option::is_some));
        let values = bits(rows.iter().map(|row| row.unwrap_or(true)));
        Self::new(name, c"b", rows.len(), vec![valid, values])
    }
}

/// A bitmap; the bits of rows before the first are set.
fn bits(rows: impl Iterator<Item = bool>) -> Vec<u8> {
    let mut bytes = vec![0_u8; 16];
    for (at, bit) in [true; BEFORE].into_iter().chain(rows).enumerate() {
        bytes[at / 8] |= u8::from(bit) << (at % 8);
    }
    bytes
}

/// A table of columns, with everything that keeps it alive.
pub(super) struct Table {
    pub(super) schema: ArrowSchema,
    pub(super) array: ArrowArray,
    _children: (Vec<*const ArrowArray>, Vec<*const ArrowSchema>),
    _validity: Column,
}

/// Drops the first rows of its columns, which are already sliced once.
pub(super) fn table(columns: &[Column], skip: usize, valid: &[bool]) -> Table {
    let arrays: Vec<_> = columns.iter().map(|column| &raw const column.array).collect();
    let schemas: Vec<_> = columns.iter().map(|column| &raw const column.schema).collect();
    let all = valid.len() + skip;
    let mut own = bits(core::iter::repeat_n(true, 0));
    own[0] = 0;
    for (at, bit) in valid.iter().enumerate() {
        own[(skip + at) / 8] |= u8::from(*bit) << ((skip + at) % 8);
    }
    let validity = Column::new(c"", c"+s", all, vec![own]);
    let mut schema = Column::new(c"", c"+s", 0, vec![]).schema;
    (schema.n_children, schema.children) = (columns.len() as i64, schemas.as_ptr());
    let array = ArrowArray {
        length: all as i64,
        offset: skip as i64,
        n_buffers: 1,
        buffers: validity.pointers.as_ptr(),
        n_children: columns.len() as i64,
        children: arrays.as_ptr(),
        ..Column::new(c"", c"+s", 0, vec![]).array
    };
    let array = ArrowArray { length: valid.len() as i64, ..array };
    Table { schema, array, _children: (arrays, schemas), _validity: validity }
}

const METHODS: [Option<&str>; 7] =
    [Some("GET"), Some("GET"), None, Some("POST"), Some("GET"), Some("POST"), Some("POST")];
const TARGETS: [Option<&str>; 7] = [
    Some("/api/v1/external/account"),
    Some("/api/v1/external/orbs"),
    Some("/api/v1/external/orbs"),
    Some("/api/v1/external/voxies/prompt/run"),
    Some("/nowhere"),
    Some("/api/v1/external/voxies/prompt/run"),
    Some("/api/v1/external/voxies/prompt/run"),
];
const KINDS: [Option<&str>; 7] =
    [Some("user"), Some("organisation"), Some("user"), Some("user"), None, Some("user"), Some("user")];
const SCOPES: [Option<&str>; 7] = [
    Some("read:account"),
    None,
    Some("read:orbs"),
    Some("read:x write:voxies"),
    Some(""),
    Some("write:voxies"),
    Some("write:voxies"),
];
/// What is null allows none, as what is false.
const BONUS: [Option<bool>; 7] = [Some(true), Some(false), Some(true), Some(true), None, Some(false), None];

/// Methods and targets, which are enough for a table.
pub(super) fn some_columns() -> Vec<Column> {
    vec![Column::texts(c"method", &METHODS, false), Column::texts(c"target", &TARGETS, false)]
}

#[test]
fn a_table_is_a_loop() {
    let engine = external();
    for (large, skip, own_tokens) in [(false, 0, true), (true, 0, true), (false, 1, true), (true, 2, false)] {
        let mut columns = vec![Column::texts(c"target", &TARGETS, large), Column::texts(c"method", &METHODS, large)];
        if own_tokens {
            columns.push(Column::texts(c"kind", &KINDS, large));
            columns.push(Column::texts(c"scopes", &SCOPES, large));
            columns.push(Column::booleans(c"allow_bonus_orbs", &BONUS));
        }
        let mut valid = vec![true; METHODS.len() - skip];
        valid[1] = false;
        let table = table(&columns, skip, &valid);
        let every = token(1, b"write:voxies read:orbs");
        let one = if own_tokens { null() } else { &raw const every };
        let mut decisions = vec![OrbgateDecision::default(); METHODS.len() - skip];
        let status = unsafe {
            let out = decisions.as_mut_ptr();
            orbgate_engine_decide_arrow(engine, &table.array, &table.schema, one, 0, out, decisions.len())
        };
        assert_eq!(status, OK);
        for (at, decision) in decisions.iter().enumerate() {
            let row = at + skip;
            let expected = match (METHODS[row], TARGETS[row]) {
                (Some(method), Some(target)) if valid[at] => {
                    let kind = match KINDS[row] {
                        Some("user") => 1,
                        Some(_) => 2,
                        None => 255,
                    };
                    let own = token(kind, SCOPES[row].unwrap_or_default().as_bytes());
                    let token = if own_tokens { &raw const own } else { one };
                    let flags = u32::from(own_tokens && BONUS[row] == Some(true));
                    single(engine, method, target, token, flags)
                }
                _ => OrbgateDecision::default(),
            };
            assert_eq!(*decision, expected, "row {row}, large {large}, skip {skip}");
        }
    }
    unsafe { orbgate_engine_free(engine) };
}

fn single(
    engine: *const crate::engine::OrbgateEngine,
    method: &str,
    target: &str,
    token: *const OrbgateToken,
    flags: u32,
) -> OrbgateDecision {
    let ((m, ml), (t, tl)) = (super::text(method), super::text(target));
    let mut out = OrbgateDecision::default();
    let status = unsafe { orbgate_engine_decide(engine, m, ml, t, tl, token, flags, &mut out) };
    assert_eq!(status, OK);
    out
}

/// A table may have fewer rows than its columns. What is behind its last row isn't read.
#[test]
fn a_table_may_end_before_its_columns() {
    let engine = external();
    // With two rows, the offsets of the second column fall behind them.
    let targets = [TARGETS[0], TARGETS[1]].map(Option::unwrap).concat();
    let length = TARGETS[0].unwrap().len() as u32;
    let offsets = [0, 0, 0, 0, length, targets.len() as u32, 1, 0];
    let offsets = offsets.into_iter().flat_map(u32::to_ne_bytes).collect();
    let valid_bits = bits([true; 4].into_iter());
    let columns = [
        Column::texts(c"method", &METHODS, false),
        Column::new(c"target", c"u", 4, vec![valid_bits, offsets, targets.into_bytes()]),
    ];
    let table = table(&columns, 0, &[true; 2]);
    let one = token(1, b"read:orbs");
    let mut decisions = [OrbgateDecision::default(); 2];
    let status = unsafe {
        let out = decisions.as_mut_ptr();
        orbgate_engine_decide_arrow(engine, &table.array, &table.schema, &one, 0, out, 2)
    };
    assert_eq!((status, decisions.map(|it| it.effect)), (OK, [1, 2]));
    unsafe { orbgate_engine_free(engine) };
}

#[test]
fn a_table_that_is_none_is_refused() {
    let engine = external();
    let columns = some_columns;
    let valid = [true; METHODS.len()];
    let refused = |table: &Table, token: *const OrbgateToken, flags: u32| {
        let canary = OrbgateDecision { effect: 0xa5, ..OrbgateDecision::default() };
        let mut out = [canary; 8];
        let status = unsafe {
            let out = out.as_mut_ptr();
            orbgate_engine_decide_arrow(engine, &table.array, &table.schema, token, flags, out, 8)
        };
        assert_eq!((status, out), (INVALID, [canary; 8]));
    };
    let one = token(1, b"");
    // The table itself: released, of another type, too long, with a child too few.
    for change in 0..8 {
        let columns = columns();
        let mut table = table(&columns, 0, &valid);
        match change {
            0 => table.array.release = null(),
            1 => table.schema.format = c"u".as_ptr(),
            2 => table.array.length = 8,
            3 => (table.array.n_children, table.schema.n_children) = (1, 1),
            4 => table.schema.release = null(),
            5 => table.schema.dictionary = &raw const columns[0].schema,
            6 => table.array.dictionary = &raw const columns[0].array,
            _ => table.array.offset = -1,
        }
        refused(&table, &one, 0);
    }
    // A child: released, a dictionary, of another type, of an unknown name, with offsets that fall or are negative.
    for change in 0..11 {
        let mut columns = columns();
        let targets = |format, offsets: Vec<u8>| {
            let valid_bits = bits(valid.into_iter());
            let buffers = vec![valid_bits, offsets, vec![0; 64]];
            Column::new(c"target", format, valid.len(), buffers)
        };
        let short =
            |offsets: &mut dyn Iterator<Item = i32>| targets(c"u", offsets.flat_map(i32::to_ne_bytes).collect());
        let falling = short(&mut (0..16).rev());
        match change {
            0 => columns[1].array.release = null(),
            1 => columns[1].array.dictionary = &raw const falling.array,
            2 => columns[1].schema.format = c"b".as_ptr(),
            3 => columns[1].schema.name = c"path".as_ptr(),
            4 => columns[1].array.n_buffers = 2,
            5 => columns[1] = falling,
            6 => columns[1] = short(&mut (-20..-4)),
            7 => columns[1] = short(&mut (-8..8)),
            8 => columns[1].schema.release = null(),
            9 => columns[1].schema.dictionary = &raw const falling.schema,
            _ => columns[1] = targets(c"U", (-20..-4_i64).flat_map(i64::to_ne_bytes).collect()),
        }
        refused(&table(&columns, 0, &valid), &one, 0);
    }
    // Columns that contradict each other or the arguments.
    let mut twice = columns();
    twice.push(Column::texts(c"target", &TARGETS, false));
    refused(&table(&twice, 0, &valid), &one, 0);
    let mut scopes_alone = columns();
    scopes_alone.push(Column::texts(c"scopes", &SCOPES, false));
    refused(&table(&scopes_alone, 0, &valid), &one, 0);
    scopes_alone.push(Column::texts(c"kind", &KINDS, false));
    refused(&table(&scopes_alone, 0, &valid), &one, 0);
    let mut bonus = columns();
    bonus.push(Column::booleans(c"allow_bonus_orbs", &BONUS));
    refused(&table(&bonus, 0, &valid), &one, 1);
    refused(&table(&columns(), 0, &valid), &one, 4);
    unsafe { orbgate_engine_free(engine) };
}
