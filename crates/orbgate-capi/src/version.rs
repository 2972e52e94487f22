//! The version of the library.

use crate::text::OrbgateStr;

/// The ABI version. The upper 16 bits change if old clients no longer work, the lower ones if something
/// is added.
pub(crate) const ABI_VERSION: u32 = 0x0001_0000;

/// Returns the ABI version of the library: see `orbgate_check_abi`.
#[unsafe(no_mangle)]
pub const extern "C" fn orbgate_abi_version() -> u32 {
    ABI_VERSION
}

/// Returns the version of the library as a string, for example `0.1.0`.
#[unsafe(no_mangle)]
pub const extern "C" fn orbgate_version() -> OrbgateStr {
    OrbgateStr::new(env!("CARGO_PKG_VERSION"))
}
