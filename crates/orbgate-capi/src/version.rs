//! Which library this is.
#![allow(
    clippy::as_conversions,
    reason = "a byte becomes a wider integer where no trait can"
)]

use crate::text::OrbgateStr;

/// The ABI: the upper 16 bits change when old clients no longer work, the lower when something is added.
pub(crate) const ABI_VERSION: u32 = 0x0001_0000;

/// The ABI version of the library: compare it with `ORBGATE_ABI_VERSION` of the header, or call
/// `orbgate_check_abi`.
///
/// Ownership: nothing.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[unsafe(no_mangle)]
pub const extern "C" fn orbgate_abi_version() -> u32 {
    ABI_VERSION
}

/// The version of the library as a string, as in `0.1.0`.
///
/// Ownership: the string is static.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[unsafe(no_mangle)]
pub const extern "C" fn orbgate_version() -> OrbgateStr {
    OrbgateStr::new(env!("CARGO_PKG_VERSION"))
}

/// The version of the library as one number, made like `ORBGATE_VERSION_NUMBER` of the header.
///
/// Ownership: nothing.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[unsafe(no_mangle)]
pub const extern "C" fn orbgate_version_number() -> u32 {
    number(env!("CARGO_PKG_VERSION_MAJOR")) << 24
        | number(env!("CARGO_PKG_VERSION_MINOR")) << 16
        | number(env!("CARGO_PKG_VERSION_PATCH")) << 8
}

/// A part of a version: at most 255.
const fn number(text: &str) -> u32 {
    match u8::from_str_radix(text, 10) {
        Ok(number) => number as u32,
        Err(_) => 0,
    }
}
