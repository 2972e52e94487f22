//! A request as received.

use core::time::Duration;
use std::time::{SystemTime, UNIX_EPOCH};

use orbgate::Detail;
use orbgate_gate::{Amount, HoldId, Matched, Request, TemplateStyle, Unpaid};
use orbgate_token::{Certificate, Now};

use super::messages::Ask;
use super::options::number;
use crate::status::{OrStatus, OrbgateStatus};

/// What a router has chosen.
///
/// No router runs before the gate.
pub const ORBGATE_MATCHED_NOTHING: u32 = 0;
/// The route of `path_template`. A request that is allowed for another route is denied.
pub const ORBGATE_MATCHED_TEMPLATE: u32 = 1;
/// It doesn't report a route, for example for a fallback. No request is allowed.
pub const ORBGATE_MATCHED_UNKNOWN: u32 = 2;

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
            access_control_request_headers: &ask.access_control_request_headers,
            header_names: &ask.header_names,
            matched: match &self.matched {
                HeldMatch::Nothing => Matched::Nothing,
                HeldMatch::Template(template) => Matched::Template(template),
                HeldMatch::Unknown => Matched::Unknown,
            },
            allow_bonus_orbs_use: ask.allow_bonus_orbs,
            holds_thread: ask.holds_thread,
            dpop: &ask.dpop,
            repeats: ask.repeats,
            certificate: Some(ask.certificate).filter(|der| !der.is_empty()).map(Certificate::Der),
        }
    }

    /// If the result includes a line for an audit log, whether the host reads if bonus orbs are allowed.
    pub(super) fn audit(&self) -> Option<bool> {
        self.ask.with_audit.then_some(self.ask.reads_bonus_orbs)
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

/// The number of a service that didn't answer in time, as why a call isn't paid.
pub(super) const UNAVAILABLE: u64 = 255;

/// The details of the service with their numbers, from 1.
pub(super) fn details() -> impl Iterator<Item = (u64, Detail)> {
    (1..).zip(Detail::of_ledgers())
}

/// What a request states about its orbs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Charged {
    /// With the id that its hold will have.
    Amount(Amount, Option<HoldId>),
    Unpaid(Unpaid),
}

impl Charged {
    /// `None` if the handler isn't about to run.
    pub(super) fn of(ask: &Ask<'_>) -> OrStatus<Option<Self>> {
        if let Some(unpaid) = unpaid(ask.unpaid, ask.retry_after_ms)? {
            return Ok(Some(Self::Unpaid(unpaid)));
        }
        let amount = match (ask.amount_failed, ask.has_amount) {
            (true, _) => Amount::Failed,
            (false, true) => Amount::Of(ask.amount),
            (false, false) => Amount::OfPolicy,
        };
        let hold = match ask.hold {
            [] => None,
            bytes => Some(hold_id(bytes)?),
        };
        Ok(ask.charges.then_some(Self::Amount(amount, hold)))
    }
}

/// The 16 bytes of a hold.
pub(super) fn hold_id(bytes: &[u8]) -> OrStatus<HoldId> {
    bytes.try_into().map(HoldId::new).map_err(|_| OrbgateStatus::InvalidArgument)
}

fn unpaid(unpaid: u64, retry_after_ms: u64) -> OrStatus<Option<Unpaid>> {
    Ok(match details().find(|(number, _)| *number == unpaid) {
        Some((_, detail)) => {
            let retry_after = (retry_after_ms != 0).then_some(Duration::from_millis(retry_after_ms));
            Some(Unpaid::Insufficient { detail, retry_after })
        }
        None if unpaid == UNAVAILABLE => Some(Unpaid::Unavailable),
        None if unpaid == 0 => None,
        None => return Err(OrbgateStatus::InvalidArgument),
    })
}
