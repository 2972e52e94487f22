//! Tests from the inside; the C and C++ tests in `bindings/` test the library from the outside.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::disallowed_methods,
    clippy::undocumented_unsafe_blocks,
    clippy::std_instead_of_core,
    reason = "tests call with arguments of their own, read files and count small numbers"
)]

mod allocation;
mod answers;
mod arguments;
mod arrow;
#[cfg(feature = "analysis")]
mod ask;
mod batch;
#[cfg(not(miri))]
mod bindings;
#[cfg(feature = "gate")]
mod call;
mod decide;
#[path = "../../../orbgate/tests/support/expected.rs"]
mod expected;
#[cfg(not(miri))] // a million decisions
mod forged;
#[cfg(not(miri))] // it only compares numbers
mod layout;
mod lives;
mod names;

use core::ffi::c_char;
use core::mem::zeroed;
use core::ptr::{null, null_mut};

use crate::arguments::Sized32;
use crate::engine::{OrbgateEngine, orbgate_engine_external, orbgate_engine_from_yaml};
use crate::scope_set::{OrbgateScopeSet, orbgate_scope_set_from_string};
use crate::status::OrbgateStatus;
use crate::text::OrbgateStr;
use crate::token::OrbgateToken;

const OK: OrbgateStatus = OrbgateStatus::Ok;
const INVALID: OrbgateStatus = OrbgateStatus::InvalidArgument;

const SHOP: &str = "
orbgate: 1
name: shop
apis:
  shop:
    base_path: /v1
    scopes:
      read:orders: { permits: reads, orbs: false, routes: ['GET /orders', 'GET /orders/{id}'] }
      write:orders: { orbs: true, routes: [POST /orders, { route: 'PUT /orders', orbs: 5 }] }
      read:later: { routes: [] }
";

fn external() -> *mut OrbgateEngine {
    let mut engine = null_mut();
    assert_eq!(unsafe { orbgate_engine_external(&mut engine) }, OK);
    engine
}

fn compiled(yaml: &str) -> *mut OrbgateEngine {
    let (mut engine, mut error) = (null_mut(), null_mut());
    let (data, len) = text(yaml);
    let status = unsafe { orbgate_engine_from_yaml(data, len, &mut engine, &mut error) };
    assert!(status == OK && error.is_null());
    engine
}

fn set(engine: *const OrbgateEngine, scopes: &str) -> *mut OrbgateScopeSet {
    let mut set = null_mut();
    let (data, len) = text(scopes);
    let status = unsafe { orbgate_scope_set_from_string(engine, data, len, &mut set) };
    assert_eq!(status, OK);
    set
}

fn token(kind: u32, scopes: &[u8]) -> OrbgateToken {
    OrbgateToken {
        struct_size: size_of::<OrbgateToken>() as u32,
        kind,
        scopes: scopes.as_ptr().cast(),
        scopes_len: scopes.len(),
        scope_set: null(),
    }
}

/// A struct of the C ABI for its callers to fill: all zeros but its size.
fn sized<T: Sized32>() -> T {
    // All of them consist of integers, pointers and strings, the size first.
    let mut value: T = unsafe { zeroed() };
    unsafe { (&raw mut value).cast::<u32>().write(size_of::<T>() as u32) };
    value
}

/// The code and the message of an error, which is freed.
#[cfg(any(feature = "analysis", feature = "gate", not(miri)))]
fn told(error: *mut crate::error::OrbgateError) -> (i32, String) {
    use crate::error::{OrbgateErrorInfo, orbgate_error_free, orbgate_error_info};
    let mut info: OrbgateErrorInfo = sized();
    unsafe {
        assert_eq!(orbgate_error_info(error, &mut info), OK);
        let message = said(info.message);
        orbgate_error_free(error);
        (info.code, message)
    }
}

fn text(text: &str) -> (*const c_char, usize) {
    (text.as_ptr().cast(), text.len())
}

/// The library's string; `-` for no string.
fn said(text: OrbgateStr) -> String {
    if text.data.is_null() {
        assert_eq!(text.len, 0);
        return "-".to_owned();
    }
    let bytes = unsafe { std::slice::from_raw_parts(text.data.cast::<u8>(), text.len) };
    String::from_utf8(bytes.to_vec()).unwrap()
}
