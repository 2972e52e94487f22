//! A request as received.

use core::time::Duration;
use std::time::{SystemTime, UNIX_EPOCH};

use orbgate_gate::{Matched, Request, TemplateStyle};
use orbgate_token::Now;

use super::messages::Ask;
use super::options::number;
use crate::arguments::{Sized32, bytes, first_size, read_sized, slice};
use crate::flags::ORBGATE_ALLOW_BONUS_ORBS;
use crate::status::{OrStatus, OrbgateStatus};
use crate::text::OrbgateStr;

/// In `OrbgateGateRequest.flags`: the result includes a line for an audit log.
pub const ORBGATE_WITH_AUDIT: u32 = 4;

/// In `OrbgateGateRequest.flags`: a thread blocks while this request waits for keys, as in a server with one thread per
/// request. Only one such request waits for longer than a second.
pub const ORBGATE_HOLDS_THREAD: u32 = 8;

/// In `OrbgateGateRequest.matched`: no router runs before the gate.
pub const ORBGATE_MATCHED_NOTHING: u32 = 0;
/// In `OrbgateGateRequest.matched`: a router has chosen the route of `path_template`. An otherwise allowed request is
/// denied if its allowed route is a different one.
pub const ORBGATE_MATCHED_TEMPLATE: u32 = 1;
/// In `OrbgateGateRequest.matched`: the router doesn't report a route, for example for a fallback. An otherwise allowed
/// request is denied.
pub const ORBGATE_MATCHED_UNKNOWN: u32 = 2;

/// A request as received over the wire. Don't decode, strip or join any part of it.
#[derive(Debug)]
#[repr(C)]
pub struct OrbgateGateRequest {
    /// Set it to `sizeof(OrbgateGateRequest)`, or use `orbgate_gate_request_init()`.
    pub struct_size: u32,
    /// 0 or a combination of `ORBGATE_ALLOW_BONUS_ORBS`, `ORBGATE_WITH_AUDIT` and
    /// `ORBGATE_HOLDS_THREAD`.
    pub flags: u32,
    /// The method.
    pub method: OrbgateStr,
    /// The target: path and query, in the bytes of the request line or of `:path`.
    pub target: OrbgateStr,
    /// Every value of `Authorization`, one item for each header line.
    pub authorization: *const OrbgateStr,
    /// The number of values.
    pub authorization_count: usize,
    /// The names of all headers, or at least those that contain `method`, in any letter case, because a header can
    /// override the method.
    pub header_names: *const OrbgateStr,
    /// The number of names.
    pub header_name_count: usize,
    /// With `ORBGATE_MATCHED_TEMPLATE`, the template that the router chose, including any prefix, in the syntax that
    /// the gate's options select; otherwise no string.
    pub path_template: OrbgateStr,
    /// An `ORBGATE_MATCHED_*` number.
    pub matched: u32,
    /// 0.
    pub reserved: u32,
    /// Every value of `Upgrade`, one item for each line of the header. A request that lists `h2c` is denied.
    pub upgrade: *const OrbgateStr,
    /// The number of values.
    pub upgrade_count: usize,
    /// Every value of `Origin`, one item for each line of the header.
    pub origin: *const OrbgateStr,
    /// The number of values.
    pub origin_count: usize,
    /// Every value of `Access-Control-Request-Method`, one item for each line of the header.
    pub access_control_request_method: *const OrbgateStr,
    /// The number of values.
    pub access_control_request_method_count: usize,
}

// SAFETY: integers, strings and pointers, the u32 first.
unsafe impl Sized32 for OrbgateGateRequest {
    const FIRST_SIZE: usize = first_size(96, 56);
}

/// The parts of a request, and the template in the policy's syntax.
pub(super) struct Asked<'a> {
    ask: Ask<'a>,
    matched: HeldMatch,
}

enum HeldMatch {
    Nothing,
    Template(String),
    Unknown,
}

impl<'a> Asked<'a> {
    /// The caller's request, whose template has this syntax.
    pub(super) unsafe fn read(request: *const OrbgateGateRequest, style: TemplateStyle) -> OrStatus<Self> {
        const INVALID: OrbgateStatus = OrbgateStatus::InvalidArgument;
        // SAFETY: the caller guarantees it, see the preamble.
        let request = unsafe { read_sized(request) }?;
        // SAFETY: the caller guarantees it, see the preamble.
        let text = |text: OrbgateStr| unsafe { bytes(text.data, text.len) };
        const KNOWN: u32 = ORBGATE_ALLOW_BONUS_ORBS | ORBGATE_WITH_AUDIT | ORBGATE_HOLDS_THREAD;
        if request.flags & !KNOWN != 0 || request.reserved != 0 {
            return Err(INVALID);
        }
        let texts = |list: *const OrbgateStr, count: usize| {
            // SAFETY: the caller guarantees it, see the preamble.
            let list: &'a [OrbgateStr] = unsafe { slice(list, count) }?;
            list.iter().map(|it| text(*it)).collect::<OrStatus<_>>()
        };
        let ask = Ask {
            method: text(request.method)?,
            target: text(request.target)?,
            authorization: texts(request.authorization, request.authorization_count)?,
            header_names: texts(request.header_names, request.header_name_count)?,
            upgrade: texts(request.upgrade, request.upgrade_count)?,
            origin: texts(request.origin, request.origin_count)?,
            access_control_request_method: texts(
                request.access_control_request_method,
                request.access_control_request_method_count,
            )?,
            matched: request.matched.into(),
            path_template: str::from_utf8(text(request.path_template)?).map_err(|_| INVALID)?,
            allow_bonus_orbs: request.flags & ORBGATE_ALLOW_BONUS_ORBS != 0,
            with_audit: request.flags & ORBGATE_WITH_AUDIT != 0,
            holds_thread: request.flags & ORBGATE_HOLDS_THREAD != 0,
            ..Ask::default()
        };
        Self::of(ask, style)
    }

    /// A request whose template has this syntax.
    pub(super) fn of(ask: Ask<'a>, style: TemplateStyle) -> OrStatus<Self> {
        let matched = match number(ask.matched)? {
            ORBGATE_MATCHED_TEMPLATE => HeldMatch::Template(style.in_policy(ask.path_template)),
            _ if !ask.path_template.is_empty() => return Err(OrbgateStatus::InvalidArgument),
            ORBGATE_MATCHED_NOTHING => HeldMatch::Nothing,
            ORBGATE_MATCHED_UNKNOWN => HeldMatch::Unknown,
            _ => return Err(OrbgateStatus::InvalidArgument),
        };
        Ok(Self { ask, matched })
    }

    /// The request as a gate takes it.
    pub(super) fn request(&self) -> Request<'_> {
        let ask = &self.ask;
        Request {
            method: ask.method,
            target: ask.target,
            authorization: &ask.authorization,
            upgrade: &ask.upgrade,
            origin: &ask.origin,
            access_control_request_method: &ask.access_control_request_method,
            header_names: &ask.header_names,
            matched: match &self.matched {
                HeldMatch::Nothing => Matched::Nothing,
                HeldMatch::Template(template) => Matched::Template(template),
                HeldMatch::Unknown => Matched::Unknown,
            },
            allow_bonus_orbs_use: ask.allow_bonus_orbs,
            holds_thread: ask.holds_thread,
        }
    }

    /// Whether the result includes a line for an audit log.
    pub(super) const fn has_audit(&self) -> bool {
        self.ask.with_audit
    }
}

/// The time on two clocks.
pub(super) fn now(unix_ms: u64, monotonic_ms: u64) -> OrStatus<Now> {
    Ok(Now { time: time(unix_ms)?, monotonic: Duration::from_millis(monotonic_ms) })
}

fn time(unix_ms: u64) -> OrStatus<SystemTime> {
    let time = UNIX_EPOCH.checked_add(Duration::from_millis(unix_ms));
    time.ok_or(OrbgateStatus::InvalidArgument)
}

/// A duration in milliseconds.
pub(super) fn milliseconds(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
