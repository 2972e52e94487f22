//! The options of a gate.

use core::time::Duration;
use std::sync::Arc;

use orbgate_gate::{Challenge, CorsPreflight, FullChallenge, PublicRoutes, Rules, TemplateStyle};
use orbgate_token::FetchSettings;

use super::messages::Make;
use crate::arguments::{Sized32, bytes, first_size, read_sized, slice};
use crate::error::OrbgateError;
use crate::status::{OrStatus, OrbgateStatus};
use crate::text::OrbgateStr;

/// In `OrbgateGateOptions.flags`: every denial has the status 403, so that callers can't distinguish an unknown route
/// from a missing scope.
pub const ORBGATE_GATE_FLAT_403: u32 = 1;
/// In `OrbgateGateOptions.flags`: a `POST` counts as one even if a header names another method. Only safe if nothing in
/// the service follows such headers.
pub const ORBGATE_GATE_IGNORE_METHOD_OVERRIDE: u32 = 2;
/// In `OrbgateGateOptions.flags`: the caller checks signatures, see `ORBGATE_STEP_CHECK_SIGNATURE`. A library without
/// cryptography, such as the WebAssembly module, always requires it.
pub const ORBGATE_GATE_SIGNATURES_OUTSIDE: u32 = 4;
/// In `OrbgateGateOptions.flags`: no key is used after its time; `max_stale_ms` must be 0.
pub const ORBGATE_GATE_NO_STALE_KEYS: u32 = 8;
/// In `OrbgateGateOptions.flags`: the caller performs fetches that have a body, see `OrbgateFetchInfo.body`. Without it,
/// a configuration with an issuer of opaque tokens is rejected.
pub const ORBGATE_GATE_INTROSPECTION: u32 = 16;

/// In `OrbgateGateOptions.challenge`: `WWW-Authenticate: Bearer` on every 401 and 403.
pub const ORBGATE_CHALLENGE_MINIMAL: u32 = 0;
/// In `OrbgateGateOptions.challenge`: with the error and the missing scope, as in RFC 6750.
pub const ORBGATE_CHALLENGE_FULL: u32 = 1;
/// In `OrbgateGateOptions.challenge`: no header; every denial is a bare 403.
pub const ORBGATE_CHALLENGE_NONE: u32 = 2;

/// In `OrbgateGateOptions.cors_preflight`: a CORS preflight is decided like any other request.
pub const ORBGATE_CORS_PREFLIGHT_DENY: u32 = 0;
/// In `OrbgateGateOptions.cors_preflight`: a CORS preflight needs no token, if the requested method is declared for the
/// path.
pub const ORBGATE_CORS_PREFLIGHT_PASS: u32 = 1;

/// The router's syntax for parameters in templates: `{id}`, `{id:[0-9]+}`, `{id:int}`.
pub const ORBGATE_TEMPLATES_BRACES: u32 = 0;
/// The router's syntax for parameters in templates: `:id`, `:id(\d+)`.
pub const ORBGATE_TEMPLATES_COLONS: u32 = 1;
/// The router's syntax for parameters in templates: `<id>`, `<int:id>`.
pub const ORBGATE_TEMPLATES_ANGLES: u32 = 2;

/// How a gate responds, and how it fetches keys. All zeros except the size selects the defaults. Times are in
/// milliseconds; 0 selects the default.
#[derive(Debug)]
#[repr(C)]
pub struct OrbgateGateOptions {
    /// Set it to `sizeof(OrbgateGateOptions)`, or use `orbgate_gate_options_init()`.
    pub struct_size: u32,
    /// `ORBGATE_GATE_*` bits.
    pub flags: u32,
    /// An `ORBGATE_CHALLENGE_*` number.
    pub challenge: u32,
    /// An `ORBGATE_TEMPLATES_*` number: the syntax of `OrbgateGateRequest.path_template`.
    pub templates: u32,
    /// The realm of a full challenge: printable ASCII without `"` and `\`; none if it is empty.
    pub realm: OrbgateStr,
    /// The URL of the service's metadata in a full challenge (RFC 9728): absolute, `https`; none if it is empty.
    pub resource_metadata: OrbgateStr,
    /// How long keys are fresh if the issuer sends no usable `Cache-Control`. Default: 600 s.
    pub ttl_ms: u32,
    /// The shortest time that an issuer can set. Default: 60 s.
    pub ttl_min_ms: u32,
    /// The longest time that an issuer can set. Default: 3,600 s.
    pub ttl_max_ms: u32,
    /// The part of that time, in percent, after which a token starts a fetch without waiting for
    /// it. Default: 80.
    pub ahead_percent: u32,
    /// How long stale keys are used if new ones can't be fetched. Default: 3,600 s.
    pub max_stale_ms: u32,
    /// The time between two attempts. Default: 30 s.
    pub cooldown_ms: u32,
    /// How many attempts tokens with unknown keys can start at once, and again in every cooldown.
    /// Default: 4.
    pub burst: u32,
    /// The time between two attempts while there are no keys. Default: 1 s.
    pub retry_ms: u32,
    /// The time limit for one attempt. Default: 5 s.
    pub timeout_ms: u32,
    /// 0.
    pub reserved: u32,
    /// Routes that need no token, such as `GET /healthz`, each written as in a policy with the whole path. Check each
    /// engine with `orbgate_gate_check_engine` before you use it with the gate.
    pub public_routes: *const OrbgateStr,
    /// The number of these routes.
    pub public_route_count: usize,
    /// An `ORBGATE_CORS_PREFLIGHT_*` number, for `OPTIONS` with `Origin` and
    /// `Access-Control-Request-Method`.
    pub cors_preflight: u32,
    /// 0.
    pub reserved2: u32,
    /// The secrets of the clients that ask about opaque tokens, in the order of `orbgate_verifier_secret`. The gate
    /// copies them. It reads each one without a string itself, from its file or environment variable, which the
    /// WebAssembly module can't.
    pub secrets: *const OrbgateStr,
    /// The number of these secrets: 0 or that of the verifier.
    pub secret_count: usize,
}

// SAFETY: integers, strings and a pointer, the u32 first.
unsafe impl Sized32 for OrbgateGateOptions {
    const FIRST_SIZE: usize = first_size(88, 72);
}

/// The options, checked. No `Debug`, because it has secrets.
pub(super) struct Options {
    pub(super) rules: Rules,
    pub(super) settings: FetchSettings,
    pub(super) templates: TemplateStyle,
    pub(super) signatures_outside: bool,
    pub(super) introspection: bool,
    pub(super) secrets: Vec<Option<Vec<u8>>>,
}

impl Options {
    /// The caller's options, or the defaults.
    pub(super) unsafe fn read(options: *const OrbgateGateOptions) -> Result<Self, OrbgateError> {
        if options.is_null() {
            return Self::of(&Make::default(), Vec::new());
        }
        // SAFETY: the caller guarantees it, see the preamble.
        let options = unsafe { read_sized(options) }?;
        let known = ORBGATE_GATE_FLAT_403
            | ORBGATE_GATE_IGNORE_METHOD_OVERRIDE
            | ORBGATE_GATE_SIGNATURES_OUTSIDE
            | ORBGATE_GATE_NO_STALE_KEYS
            | ORBGATE_GATE_INTROSPECTION;
        if options.flags & !known != 0 || options.reserved != 0 || options.reserved2 != 0 {
            return Err(OrbgateStatus::InvalidArgument.into());
        }
        let has = |flag: u32| options.flags & flag != 0;
        let text = |text: OrbgateStr| {
            // SAFETY: the caller guarantees it, see the preamble.
            let bytes = unsafe { bytes(text.data, text.len) }?;
            str::from_utf8(bytes).map_err(|_| OrbgateStatus::InvalidArgument)
        };
        // SAFETY: the caller guarantees it, see the preamble.
        let (public, secrets) = unsafe {
            let public = slice(options.public_routes, options.public_route_count)?;
            (public, given(options.secrets, options.secret_count)?)
        };
        let make = Make {
            flat_403: has(ORBGATE_GATE_FLAT_403),
            ignore_method_override: has(ORBGATE_GATE_IGNORE_METHOD_OVERRIDE),
            signatures_outside: has(ORBGATE_GATE_SIGNATURES_OUTSIDE),
            no_stale_keys: has(ORBGATE_GATE_NO_STALE_KEYS),
            introspection: has(ORBGATE_GATE_INTROSPECTION),
            challenge: options.challenge.into(),
            templates: options.templates.into(),
            cors_preflight: options.cors_preflight.into(),
            realm: text(options.realm)?,
            resource_metadata: text(options.resource_metadata)?,
            ttl_ms: options.ttl_ms.into(),
            ttl_min_ms: options.ttl_min_ms.into(),
            ttl_max_ms: options.ttl_max_ms.into(),
            ahead_percent: options.ahead_percent.into(),
            max_stale_ms: options.max_stale_ms.into(),
            cooldown_ms: options.cooldown_ms.into(),
            burst: options.burst.into(),
            retry_ms: options.retry_ms.into(),
            timeout_ms: options.timeout_ms.into(),
            public_routes: public.iter().map(|it| text(*it)).collect::<OrStatus<_>>()?,
            ..Make::default()
        };
        Self::of(&make, secrets)
    }

    /// The options of a message, with secrets that the host has.
    pub(super) fn of(make: &Make<'_>, secrets: Vec<Option<Vec<u8>>>) -> Result<Self, OrbgateError> {
        let mut rules = Rules::new();
        rules.flat_403 = make.flat_403;
        rules.ignore_method_override = make.ignore_method_override;
        rules.challenge = challenge(make)?;
        rules.public = public(&make.public_routes)?;
        rules.cors_preflight = match number(make.cors_preflight)? {
            ORBGATE_CORS_PREFLIGHT_DENY => CorsPreflight::Deny,
            ORBGATE_CORS_PREFLIGHT_PASS => CorsPreflight::Pass,
            _ => return Err(OrbgateStatus::InvalidArgument.into()),
        };
        Ok(Self {
            rules,
            settings: settings(make)?,
            templates: templates(number(make.templates)?)?,
            signatures_outside: make.signatures_outside,
            introspection: make.introspection,
            secrets,
        })
    }
}

/// A number of a message that has 32 bits.
pub(super) fn number(number: u64) -> OrStatus<u32> {
    u32::try_from(number).map_err(|_| OrbgateStatus::InvalidArgument)
}

/// A router's template syntax, by its number.
pub(super) const fn templates(number: u32) -> OrStatus<TemplateStyle> {
    match number {
        ORBGATE_TEMPLATES_BRACES => Ok(TemplateStyle::Braces),
        ORBGATE_TEMPLATES_COLONS => Ok(TemplateStyle::Colons),
        ORBGATE_TEMPLATES_ANGLES => Ok(TemplateStyle::Angles),
        _ => Err(OrbgateStatus::InvalidArgument),
    }
}

fn challenge(make: &Make<'_>) -> Result<Challenge, OrbgateError> {
    let (realm, metadata) = (make.realm, make.resource_metadata);
    match number(make.challenge)? {
        ORBGATE_CHALLENGE_FULL => {
            let mut full = FullChallenge::new();
            if !realm.is_empty() {
                full = full.realm(realm).map_err(|it| invalid(&it))?;
            }
            if !metadata.is_empty() {
                full = full.resource_metadata(metadata).map_err(|it| invalid(&it))?;
            }
            Ok(Challenge::Full(full))
        }
        // Parameters of a full challenge must not be ignored silently.
        _ if !realm.is_empty() || !metadata.is_empty() => Err(OrbgateStatus::InvalidArgument.into()),
        ORBGATE_CHALLENGE_MINIMAL => Ok(Challenge::Minimal),
        ORBGATE_CHALLENGE_NONE => Ok(Challenge::None),
        _ => Err(OrbgateStatus::InvalidArgument.into()),
    }
}

/// The routes that need no token; `None` if the list is empty.
fn public(routes: &[&str]) -> Result<Option<Arc<PublicRoutes>>, OrbgateError> {
    if routes.is_empty() {
        return Ok(None);
    }
    let public = PublicRoutes::new(routes.iter().copied()).map_err(|it| invalid(&it))?;
    Ok(Some(Arc::new(public)))
}

/// The secrets that the caller has; `None` for one that the gate reads itself.
pub(super) unsafe fn given(secrets: *const OrbgateStr, count: usize) -> OrStatus<Vec<Option<Vec<u8>>>> {
    // SAFETY: the caller guarantees it, see the preamble.
    let secrets = unsafe { slice(secrets, count) }?;
    let secret = |secret: &OrbgateStr| {
        // SAFETY: the caller guarantees it, see the preamble.
        let bytes = unsafe { bytes(secret.data, secret.len) }?;
        Ok((!secret.data.is_null()).then(|| bytes.to_vec()))
    };
    secrets.iter().map(secret).collect()
}

fn settings(make: &Make<'_>) -> OrStatus<FetchSettings> {
    let mut settings = FetchSettings::default();
    let times = [
        (&mut settings.ttl, make.ttl_ms),
        (&mut settings.ttl_min, make.ttl_min_ms),
        (&mut settings.ttl_max, make.ttl_max_ms),
        (&mut settings.max_stale, make.max_stale_ms),
        (&mut settings.cooldown, make.cooldown_ms),
        (&mut settings.retry, make.retry_ms),
        (&mut settings.timeout, make.timeout_ms),
    ];
    for (time, milliseconds) in times {
        // As in a struct, so that no sum of times overflows.
        let milliseconds = number(milliseconds)?;
        if milliseconds != 0 {
            *time = Duration::from_millis(milliseconds.into());
        }
    }
    if make.no_stale_keys {
        if make.max_stale_ms != 0 {
            return Err(OrbgateStatus::InvalidArgument);
        }
        settings.max_stale = Duration::ZERO;
    }
    if make.ahead_percent != 0 {
        let percent = u8::try_from(make.ahead_percent);
        settings.ahead_percent = percent.map_err(|_| OrbgateStatus::InvalidArgument)?;
    }
    if make.burst != 0 {
        settings.burst = number(make.burst)?;
    }
    Ok(settings)
}

/// An invalid option.
pub(super) fn invalid(error: &dyn core::error::Error) -> OrbgateError {
    OrbgateError::new(OrbgateStatus::InvalidConfiguration, None, error.to_string())
}
