//! Caller-sized structs, and invalid pointers. The C tests pass null for each pointer of each
//! function.

use core::ptr::{null, null_mut};

use super::{INVALID, OK, external, set, text, token};
use crate::arguments::{Sized32, read_sized, write_sized};
use crate::decide::{orbgate_engine_decide, orbgate_engine_decide_packed};
use crate::decision::OrbgateDecision;
use crate::engine::orbgate_engine_free;
use crate::scope_set::orbgate_scope_set_free;
use crate::token::OrbgateToken;

/// A struct of this release, and versions of it from an earlier and a later release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
struct Now {
    struct_size: u32,
    first: u32,
    second: u64,
}

unsafe impl Sized32 for Now {
    const FIRST_SIZE: usize = 8;
}

#[repr(C)]
struct Earlier {
    struct_size: u32,
    first: u32,
    /// The library must not write here.
    canary: u64,
}

#[repr(C)]
struct Later {
    now: Now,
    third: u64,
}

#[test]
fn an_earlier_struct_lacks_its_end() {
    let mut earlier = Earlier { struct_size: 8, first: 3, canary: 0xa5 };
    let read = unsafe { read_sized((&raw const earlier).cast::<Now>()) }.unwrap();
    assert_eq!(read, Now { struct_size: 8, first: 3, second: 0 });
    let written = Now { struct_size: 0, first: 4, second: 9 };
    unsafe { write_sized((&raw mut earlier).cast::<Now>(), &written) }.unwrap();
    assert_eq!((earlier.struct_size, earlier.first, earlier.canary), (8, 4, 0xa5));
}

#[test]
fn a_later_struct_must_not_say_more_than_is_known() {
    let now = Now { struct_size: 24, first: 1, second: 2 };
    let mut later = Later { now, third: 0 };
    let read = unsafe { read_sized((&raw const later).cast::<Now>()) };
    assert_eq!(read.unwrap(), now);
    later.third = 7;
    let read = unsafe { read_sized((&raw const later).cast::<Now>()) };
    assert_eq!(read, Err(INVALID));
    // The unknown part is filled with zeros.
    unsafe { write_sized((&raw mut later).cast::<Now>(), &now) }.unwrap();
    assert_eq!((later.now, later.third), (now, 0));
}

#[test]
fn a_size_that_no_release_has_is_refused() {
    for struct_size in [0, 4, 7, 4097, u32::MAX] {
        let mut now = Now { struct_size, first: 1, second: 2 };
        assert_eq!(unsafe { read_sized(&raw const now) }, Err(INVALID));
        let copy = now;
        assert_eq!(unsafe { write_sized(&raw mut now, &copy) }, Err(INVALID));
    }
    assert_eq!(unsafe { read_sized(null::<Now>()) }, Err(INVALID));
}

#[test]
fn bad_arguments_leave_the_output_alone() {
    let engine = external();
    let ((m, ml), (t, tl)) = (text("GET"), text("/api/v1/external/orbs"));
    let canary = OrbgateDecision { effect: 0xa5, amount: 0xa5a5, ..OrbgateDecision::default() };
    let good = token(1, b"read:orbs");
    let kind = token(3, b"read:orbs");
    let size = OrbgateToken { struct_size: 4, ..token(1, b"") };
    let null_scopes = OrbgateToken { scopes: null(), ..token(1, b"read:orbs") };
    let interned = set(engine, "read:orbs");
    let both = OrbgateToken { scope_set: interned, ..token(1, b"read:orbs") };
    let misaligned = (&raw const good).cast::<u8>().wrapping_add(2).cast::<OrbgateToken>();
    let huge = usize::MAX / 2 + 1;
    // One byte more than a process can address.
    let beyond = 1 << if usize::BITS == 64 { 56 } else { 31 };
    let calls = [
        (null(), (m, ml), (t, tl), &raw const good, 0),
        (engine.cast_const(), (null(), 3), (t, tl), &raw const good, 0),
        (engine, (m, ml), (null(), 3), &raw const good, 0),
        (engine, (m, huge), (t, tl), &raw const good, 0),
        (engine, (m, ml), (t, huge), &raw const good, 0),
        (engine, (m, beyond), (t, tl), &raw const good, 0),
        (engine, (m, ml), (t, tl), &raw const good, 4),
        (engine, (m, ml), (t, tl), &raw const kind, 0),
        (engine, (m, ml), (t, tl), &raw const size, 0),
        (engine, (m, ml), (t, tl), &raw const null_scopes, 0),
        (engine, (m, ml), (t, tl), &raw const both, 0),
        (engine, (m, ml), (t, tl), misaligned, 0),
    ];
    for (at, (engine, (m, ml), (t, tl), token, flags)) in calls.into_iter().enumerate() {
        let mut out = canary;
        let status = unsafe { orbgate_engine_decide(engine, m, ml, t, tl, token, flags, &mut out) };
        assert_eq!((status, out), (INVALID, canary), "{at}");
    }
    unsafe {
        let status = orbgate_engine_decide(engine, m, ml, t, tl, &good, 0, null_mut());
        assert_eq!(status, INVALID);
        let packed = orbgate_engine_decide_packed(null(), m, ml, t, tl, 1, m, ml, null(), 0);
        assert_eq!((packed & 3, packed >> 48), (0, 1));
        let packed = orbgate_engine_decide_packed(engine, m, ml, t, tl, 1, m, ml, interned, 0);
        assert_eq!((packed & 3, packed >> 48), (0, 1), "string and set");
        orbgate_scope_set_free(interned);
        // Null is fine if the length is 0, and NUL is a byte like any other.
        let mut out = canary;
        let status = orbgate_engine_decide(engine, null(), 0, null(), 0, null(), 0, &mut out);
        assert_eq!((status, out.effect, out.reason), (OK, 1, 1));
        orbgate_engine_free(engine);
    }
}
