//! The names of codes, taken from the core.

use core::ffi::c_char;

use orbgate::{Detail, Effect, Reason, TokenKind};

use crate::arguments::{Out, bytes};
use crate::status::{OrbgateStatus, caught, guard};
use crate::text::OrbgateStr;

/// The core's reason with this number.
pub(crate) fn reason(number: u8) -> Option<Reason> {
    let mut all = Reason::ALL.into_iter();
    all.find(|it| it.number() == number)
}

/// The core's detail with this number.
pub(crate) fn detail(number: u8) -> Option<Detail> {
    let mut all = Detail::ALL.into_iter();
    all.find(|it| it.number() == number)
}

/// A string that exists for the whole program, or none.
fn static_text(find: impl FnOnce() -> Option<&'static str>) -> OrbgateStr {
    OrbgateStr::optional(caught(|| Ok(find())).ok().flatten())
}

/// Returns the name of a status, a reason or a detail, for example `invalid_argument`; or the sentence that explains a
/// decision, by its detail, or by its reason if `detail` is 0. No string for an unknown number.
#[unsafe(no_mangle)]
pub extern "C" fn orbgate_status_name(status: i32) -> OrbgateStr {
    static_text(|| {
        let mut all = OrbgateStatus::ALL.into_iter();
        let status = all.find(|it| it.number() == status);
        status.map(OrbgateStatus::as_str)
    })
}

pub(crate) fn effect_name(effect: u8) -> Option<&'static str> {
    let mut all = Effect::ALL.into_iter();
    let effect = all.find(|it| it.number() == effect);
    effect.map(Effect::as_str)
}

/// Like `orbgate_status_name`.
#[unsafe(no_mangle)]
pub extern "C" fn orbgate_reason_name(reason: u8) -> OrbgateStr {
    static_text(|| self::reason(reason).map(Reason::as_str))
}

/// Like `orbgate_status_name`.
#[unsafe(no_mangle)]
pub extern "C" fn orbgate_detail_name(detail: u8) -> OrbgateStr {
    static_text(|| self::detail(detail).map(Detail::as_str))
}

/// Like `orbgate_status_name`.
#[unsafe(no_mangle)]
pub extern "C" fn orbgate_explanation(reason: u8, detail: u8) -> OrbgateStr {
    static_text(|| match detail {
        0 => self::reason(reason).map(Reason::explanation),
        _ => self::detail(detail).map(Detail::explanation),
    })
}

/// Returns the token kind `user` or `organisation`. Any other name is `ORBGATE_TOKEN_KIND_UNKNOWN`, which is denied.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_token_kind_from_name(
    name: *const c_char,
    name_len: usize,
    out: *mut u32,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let (name, out) = unsafe { (bytes(name, name_len)?, Out::new(out)?) };
        let kind = TokenKind::from_name(str::from_utf8(name).unwrap_or_default());
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe {
            out.write(u32::from(kind.number()));
        }
        Ok(())
    })
}
