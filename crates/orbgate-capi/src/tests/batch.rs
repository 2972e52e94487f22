//! A batch gives the same as a loop of single decisions.

use core::ptr::{null, null_mut};

use proptest::prelude::*;

use super::{INVALID, OK, compiled, external, set, sized, token};
use crate::batch::{OrbgateBatch, orbgate_engine_decide_batch, orbgate_engine_decide_batch_packed};
use crate::columns::OrbgateColumn;
use crate::decide::orbgate_engine_decide;
use crate::decision::OrbgateDecision;
use crate::engine::orbgate_engine_free;
use crate::flags::ORBGATE_PACK_ABOUT;
use crate::scope_set::orbgate_scope_set_free;
use crate::token::OrbgateToken;

const METHODS: [&str; 4] = ["GET", "POST", "DELETE", "get\0"];
const TARGETS: [&str; 6] = [
    "/api/v1/external/orbs",
    "/api/v1/external/voxies/prompt/run",
    "/api/v1/external/store/\u{e9}",
    "/api/v1/external/voxies/42?q",
    "",
    "/nowhere",
];
const SCOPES: [&str; 3] = ["read:orbs write:voxies", "", "read:store read:voxies"];
const KINDS: [u8; 4] = [0, 1, 2, 255];

/// A row: indexes into the tables above, whether bonus orbs are allowed, whether it is null.
type Row = (usize, usize, usize, usize, bool, bool);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (0..4_usize, 0..6_usize, 0..3_usize, 0..4_usize, any::<bool>(), any::<bool>());
    prop::collection::vec(row, 0..70)
}

/// A column, owned.
struct Owned(Vec<u8>, Vec<u32>);

impl Owned {
    /// With some bytes before the first string, as in a slice of a longer column.
    fn new<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let (mut data, mut offsets) = (b"sliced off".to_vec(), Vec::new());
        offsets.push(data.len() as u32);
        for text in texts {
            data.extend_from_slice(text.as_bytes());
            offsets.push(data.len() as u32);
        }
        Self(data, offsets)
    }

    fn column(&self) -> OrbgateColumn {
        OrbgateColumn { data: self.0.as_ptr().cast(), data_len: self.0.len(), offsets: self.1.as_ptr() }
    }
}

fn empty() -> OrbgateBatch {
    sized()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_batch_is_a_loop(
        rows in rows(), form in 0..3_u8, offset in 0..20_usize, pack_about in any::<bool>(),
    ) {
        let engine = external();
        let sets = SCOPES.map(|scopes| set(engine, scopes));
        let method = Owned::new(rows.iter().map(|row| METHODS[row.0]));
        let target = Owned::new(rows.iter().map(|row| TARGETS[row.1]));
        let scopes = Owned::new(rows.iter().map(|row| SCOPES[row.2]));
        let row_sets: Vec<_> = rows.iter().map(|row| sets[row.2].cast_const()).collect();
        let kinds: Vec<_> = rows.iter().map(|row| KINDS[row.3]).collect();
        let bonus: Vec<_> = rows.iter().map(|row| u8::from(row.4)).collect();
        let mut validity = vec![0_u8; (offset + rows.len()).div_ceil(8)];
        for (at, row) in rows.iter().enumerate() {
            let bit = offset + at;
            validity[bit / 8] |= u8::from(!row.5) << (bit % 8);
        }
        let one = token(1, SCOPES[0].as_bytes());
        let mut batch = OrbgateBatch {
            len: rows.len(),
            method: method.column(),
            target: target.column(),
            validity: validity.as_ptr(),
            validity_offset: offset,
            flags: if pack_about { ORBGATE_PACK_ABOUT } else { 0 },
            ..empty()
        };
        match form {
            0 => batch.token = &one,
            1 => (batch.kinds, batch.scopes) = (kinds.as_ptr(), scopes.column()),
            _ => (batch.kinds, batch.scope_sets) = (kinds.as_ptr(), row_sets.as_ptr()),
        }
        if form > 0 {
            batch.allow_bonus_orbs = bonus.as_ptr();
        }

        let mut decisions = vec![OrbgateDecision::default(); rows.len() + 1];
        let mut packed = vec![7; rows.len() + 1];
        let (len, out) = (rows.len(), decisions.as_mut_ptr());
        unsafe {
            prop_assert_eq!(orbgate_engine_decide_batch(engine, &batch, out, len), OK);
            let out = packed.as_mut_ptr();
            prop_assert_eq!(orbgate_engine_decide_batch_packed(engine, &batch, out, len), OK);
        }
        for (at, row) in rows.iter().enumerate() {
            let expected = match row.5 {
                true => OrbgateDecision::default(),
                false => single(engine, row, form, &one),
            };
            prop_assert_eq!(decisions[at], expected);
            let pack = if pack_about { OrbgateDecision::pack_with_about } else { OrbgateDecision::pack };
            prop_assert_eq!(packed[at], pack(&expected));
        }
        prop_assert_eq!(decisions[len], OrbgateDecision::default(), "nothing behind the end");
        prop_assert_eq!(packed[len], 7);
        unsafe {
            for set in sets {
                orbgate_scope_set_free(set);
            }
            orbgate_engine_free(engine);
        }
    }
}

fn single(engine: *const crate::engine::OrbgateEngine, row: &Row, form: u8, one: &OrbgateToken) -> OrbgateDecision {
    let (method, target) = (METHODS[row.0], TARGETS[row.1]);
    let own = token(u32::from(KINDS[row.3]), SCOPES[row.2].as_bytes());
    let token = if form == 0 { one } else { &own };
    let flags = u32::from(form > 0 && row.4);
    let mut decision = OrbgateDecision::default();
    let ((m, ml), (t, tl)) = (super::text(method), super::text(target));
    let status = unsafe { orbgate_engine_decide(engine, m, ml, t, tl, token, flags, &mut decision) };
    assert_eq!(status, OK);
    decision
}

#[test]
fn what_stands_under_a_null_is_not_looked_at() {
    let engine = external();
    let method = Owned::new(["GET"; 3].into_iter());
    let target = Owned::new([TARGETS[0]; 3].into_iter());
    let held = set(engine, SCOPES[0]);
    // Aligned, but points to nothing.
    let gone = core::ptr::dangling();
    let sets = [held.cast_const(), gone, held];
    let mut batch = empty();
    batch.len = 3;
    (batch.method, batch.target) = (method.column(), target.column());
    (batch.kinds, batch.scope_sets) = ([1_u8; 3].as_ptr(), sets.as_ptr());
    batch.validity = [0b101_u8].as_ptr();
    let mut out = [OrbgateDecision::default(); 3];
    let status = unsafe { orbgate_engine_decide_batch(engine, &batch, out.as_mut_ptr(), 3) };
    assert_eq!((status, out.map(|decision| decision.effect)), (OK, [2, 0, 2]));
    unsafe {
        orbgate_scope_set_free(held);
        orbgate_engine_free(engine);
    }
}

/// A table of so many templates goes in stages, and the targets are read before the rest.
#[test]
#[cfg(not(miri))] // thousands of templates
fn a_batch_of_a_large_table_is_a_loop() {
    let routes: Vec<_> = (0..8_193).map(|number| format!("GET /t{number}/{{id}}")).collect();
    let engine = compiled(&format!(
        "orbgate: 1\napis:\n  a:\n    base_path: /v1\n    scopes: {{ read: {{ orbs: false, routes: ['{}'] }} }}\n",
        routes.join("', '")
    ));
    let targets = ["/v1/t8192/x", "/v1/t8193/x", "/v1/t7/x?q", ""];
    let method = Owned::new(["GET"; 4].into_iter());
    let target = Owned::new(targets.into_iter());
    let one = token(1, b"read");
    let batch =
        OrbgateBatch { len: targets.len(), method: method.column(), target: target.column(), token: &one, ..empty() };
    let mut decisions = [OrbgateDecision::default(); 4];
    let status = unsafe { orbgate_engine_decide_batch(engine, &batch, decisions.as_mut_ptr(), 4) };
    assert_eq!((status, decisions.map(|it| it.effect)), (OK, [2, 1, 2, 1]));
    unsafe { orbgate_engine_free(engine) };
}

#[test]
fn a_bad_batch_is_refused_as_a_whole() {
    let engine = external();
    let method = Owned::new(["GET", "GET"].into_iter());
    let target = Owned::new(["/", "/a"].into_iter());
    let kinds = [1, 2];
    let good =
        || OrbgateBatch { len: 2, method: method.column(), target: target.column(), kinds: kinds.as_ptr(), ..empty() };
    let one = token(1, b"");
    let (bad_kinds, bad_flags) = ([1, 3], [0, 2]);
    let (falling, beyond) = ([12_u32, 11, 13], [10_u32, 11, 14]);
    let (falls_twice, three) = ([13_u32, 12, 11, 12], Owned::new(["GET"; 3].into_iter()));
    // A set that is not aligned, first and last.
    let odd = core::ptr::without_provenance(2);
    let (odd_first, odd_last) = ([odd, null()], [null(), odd]);
    let with = |change: &dyn Fn(&mut OrbgateBatch)| {
        let mut batch = good();
        change(&mut batch);
        batch
    };
    let bad = [
        with(&|batch| batch.struct_size = 8),
        with(&|batch| batch.struct_size += 8 * 4096),
        with(&|batch| batch.flags = 4),
        with(&|batch| batch.method.offsets = null()),
        with(&|batch| batch.target.data = null()),
        with(&|batch| batch.target.offsets = falling.as_ptr()),
        with(&|batch| batch.target.offsets = beyond.as_ptr()),
        with(&|batch| {
            (batch.len, batch.kinds, batch.method) = (3, null(), three.column());
            batch.target.offsets = falls_twice.as_ptr();
        }),
        with(&|batch| batch.target.data_len = usize::MAX),
        with(&|batch| batch.target.offsets = batch.target.offsets.cast::<u8>().wrapping_add(1).cast()),
        with(&|batch| batch.kinds = bad_kinds.as_ptr()),
        with(&|batch| batch.token = &one),
        with(&|batch| batch.scope_sets = odd_first.as_ptr()),
        with(&|batch| batch.scope_sets = odd_last.as_ptr()),
        with(&|batch| (batch.kinds, batch.scopes) = (null(), method.column())),
        with(&|batch| batch.allow_bonus_orbs = bad_flags.as_ptr()),
        with(&|batch| (batch.flags, batch.allow_bonus_orbs) = (3, [0, 1].as_ptr())),
        with(&|batch| (batch.validity, batch.validity_offset) = ([3].as_ptr(), usize::MAX)),
        with(&|batch| batch.len = usize::MAX),
    ];
    for (at, batch) in bad.iter().enumerate() {
        let mut out = [0xa5_u64; 3];
        let status = unsafe { orbgate_engine_decide_batch_packed(engine, batch, out.as_mut_ptr(), 3) };
        assert_eq!((status, out), (INVALID, [0xa5; 3]), "{at}");
    }
    let mut out = [0xa5_u64; 2];
    let location = out.as_mut_ptr();
    unsafe {
        let short = orbgate_engine_decide_batch_packed(engine, &good(), location, 1);
        assert_eq!((short, out), (INVALID, [0xa5; 2]));
        assert_eq!(orbgate_engine_decide_batch_packed(engine, &good(), null_mut(), 2), INVALID);
        assert_eq!(orbgate_engine_decide_batch_packed(engine, null(), location, 2), INVALID);
        assert_eq!(orbgate_engine_decide_batch_packed(null(), &good(), location, 2), INVALID);
        assert_eq!(orbgate_engine_decide_batch_packed(engine, &empty(), null_mut(), 0), OK);
        orbgate_engine_free(engine);
    }
}
