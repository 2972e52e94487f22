//! The token of a request.

use core::ffi::c_char;

use orbgate::{Token, TokenKind};

use crate::arguments::{Sized32, bytes, first_size, optional, read_sized};
use crate::scope_set::OrbgateScopeSet;
use crate::status::{OrStatus, OrbgateStatus};

/// A *verified* bearer token. A null pointer means no token, which is denied with `no_token`. All
/// zeros except the size is a token of unknown kind, which is denied with `invalid_token`.
#[derive(Debug)]
#[repr(C)]
pub struct OrbgateToken {
    /// Set it to `sizeof(OrbgateToken)`, or use `orbgate_token_init()`.
    pub struct_size: u32,
    /// An `OrbgateTokenKind`.
    pub kind: u32,
    /// The token's scope string, separated by spaces.
    pub scopes: *const c_char,
    /// The number of bytes.
    pub scopes_len: usize,
    /// The interned scopes. If set, `scopes_len` must be 0.
    pub scope_set: *const OrbgateScopeSet,
}

// SAFETY: integers and pointers, the u32 first.
unsafe impl Sized32 for OrbgateToken {
    const FIRST_SIZE: usize = first_size(32, 20);
}

impl OrbgateToken {
    /// The token at a caller's pointer, if any.
    #[inline(always)]
    pub(crate) unsafe fn read<'a>(pointer: *const Self) -> OrStatus<Option<Token<'a>>> {
        if pointer.is_null() {
            return Ok(None);
        }
        // SAFETY: the caller guarantees it, see the preamble.
        let token = unsafe { read_sized(pointer) }?;
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { parts(token.kind, token.scopes, token.scopes_len, token.scope_set) }
    }
}

/// A token passed in parts.
#[inline(always)]
pub(crate) unsafe fn parts<'a>(
    kind: u32,
    scopes: *const c_char,
    scopes_len: usize,
    scope_set: *const OrbgateScopeSet,
) -> OrStatus<Option<Token<'a>>> {
    let kind = read_kind(kind)?;
    // SAFETY: the caller guarantees it, see the preamble.
    let scopes = match unsafe { optional(scope_set) }? {
        // SAFETY: the caller guarantees it, see the preamble.
        None => unsafe { bytes(scopes, scopes_len) }?.into(),
        Some(set) if scopes_len == 0 => (&set.set).into(),
        Some(_) => return Err(OrbgateStatus::InvalidArgument),
    };
    Ok(kind.map(|kind| Token { kind, scopes }))
}

/// The number that means "no token".
pub(crate) const TOKEN_KIND_NONE: u32 = 255;

/// A kind by its number; `None` for the number that means "no token".
#[inline(always)]
pub(crate) fn read_kind(kind: u32) -> OrStatus<Option<TokenKind>> {
    const KINDS: [TokenKind; 3] = [TokenKind::Unknown, TokenKind::User, TokenKind::Organisation];
    let known = usize::try_from(kind).ok().and_then(|kind| KINDS.get(kind));
    match known {
        None if kind != TOKEN_KIND_NONE => Err(OrbgateStatus::InvalidArgument),
        known => Ok(known.copied()),
    }
}
