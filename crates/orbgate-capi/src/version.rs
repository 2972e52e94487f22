//! The version of the library.
#![allow(clippy::as_conversions, reason = "a byte becomes a wider integer where no trait can")]

use crate::text::OrbgateStr;

/// The ABI version. The upper 16 bits change if old clients no longer work, the lower ones if something
/// is added.
pub(crate) const ABI_VERSION: u32 = 0x0001_0000;

/// Returns the ABI version of the library. Compare it with the header's `ORBGATE_ABI_VERSION`, or
/// call `orbgate_check_abi`.
///
/// Ownership: nothing.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[unsafe(no_mangle)]
pub const extern "C" fn orbgate_abi_version() -> u32 {
    ABI_VERSION
}

/// Returns the version of the library as a string, for example `0.1.0`.
///
/// Ownership: the string is static.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[unsafe(no_mangle)]
pub const extern "C" fn orbgate_version() -> OrbgateStr {
    OrbgateStr::new(env!("CARGO_PKG_VERSION"))
}

/// Returns the version of the library as one number, in the format of the header's
/// `ORBGATE_VERSION_NUMBER`.
///
/// Ownership: nothing.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[unsafe(no_mangle)]
pub const extern "C" fn orbgate_version_number() -> u32 {
    numbered(env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"), env!("CARGO_PKG_VERSION_PATCH"))
}

/// A version as one number.
pub(crate) const fn numbered(major: &str, minor: &str, patch: &str) -> u32 {
    number(major) << 24 | number(minor) << 16 | number(patch) << 8
}

/// A part of a version, at most 255.
const fn number(text: &str) -> u32 {
    match u8::from_str_radix(text, 10) {
        Ok(number) => number as u32,
        Err(_) => 0,
    }
}
