//! How a gate answers and fetches.

use core::time::Duration;
use std::sync::Arc;

use orbgate_gate::{Challenge, CorsPreflight, FullChallenge, PublicRoutes, Rules, TemplateStyle};
use orbgate_token::FetchSettings;

use crate::arguments::{Sized32, bytes, first_size, read_sized, slice};
use crate::error::OrbgateError;
use crate::status::{OrStatus, OrbgateStatus};
use crate::text::OrbgateStr;

/// In `OrbgateGateOptions.flags`: every denial has the status 403, so that a caller cannot tell an unknown route from a missing
/// scope.
pub const ORBGATE_GATE_FLAT_403: u32 = 1;
/// In `OrbgateGateOptions.flags`: a `POST` counts as one even if a header names another method. Only where nothing follows such
/// headers.
pub const ORBGATE_GATE_IGNORE_METHOD_OVERRIDE: u32 = 2;
/// In `OrbgateGateOptions.flags`: the caller checks signatures, see `ORBGATE_STEP_CHECK_SIGNATURE`. A library without
/// cryptography, such as the WebAssembly module, always asks for it.
pub const ORBGATE_GATE_SIGNATURES_OUTSIDE: u32 = 4;
/// In `OrbgateGateOptions.flags`: no key is used beyond its time; `max_stale_ms` is 0.
pub const ORBGATE_GATE_NO_STALE_KEYS: u32 = 8;

/// In `OrbgateGateOptions.challenge`: `WWW-Authenticate: Bearer` with every 401 and 403.
pub const ORBGATE_CHALLENGE_MINIMAL: u32 = 0;
/// In `OrbgateGateOptions.challenge`: with the error and the missing scope, as RFC 6750 says.
pub const ORBGATE_CHALLENGE_FULL: u32 = 1;
/// In `OrbgateGateOptions.challenge`: no header; every denial is a bare 403.
pub const ORBGATE_CHALLENGE_NONE: u32 = 2;

/// In `OrbgateGateOptions.cors_preflight`: a browser's question before a cross-origin request is decided as any other request.
pub const ORBGATE_CORS_PREFLIGHT_DENY: u32 = 0;
/// In `OrbgateGateOptions.cors_preflight`: it passes without a token, if the method that it asks about is declared for the path.
pub const ORBGATE_CORS_PREFLIGHT_PASS: u32 = 1;

/// How a router writes the parameters of its templates: `{id}`, `{id:[0-9]+}`, `{id:int}`.
pub const ORBGATE_TEMPLATES_BRACES: u32 = 0;
/// How a router writes the parameters of its templates: `:id`, `:id(\d+)`.
pub const ORBGATE_TEMPLATES_COLONS: u32 = 1;
/// How a router writes the parameters of its templates: `<id>`, `<int:id>`.
pub const ORBGATE_TEMPLATES_ANGLES: u32 = 2;

/// How a gate answers, and how often and patiently it fetches keys. All zeros but for the size are the defaults; a time is in
/// milliseconds, and 0 means the default.
#[derive(Debug)]
#[repr(C)]
pub struct OrbgateGateOptions {
    /// Set it to `sizeof(OrbgateGateOptions)`, or use `orbgate_gate_options_init()`.
    pub struct_size: u32,
    /// `ORBGATE_GATE_*` bits.
    pub flags: u32,
    /// An `ORBGATE_CHALLENGE_*` number.
    pub challenge: u32,
    /// An `ORBGATE_TEMPLATES_*` number: how the router writes what is given as `OrbgateGateRequest.path_template`.
    pub templates: u32,
    /// The realm of a full challenge: printable ASCII without `"` and `\`; none where it has no bytes.
    pub realm: OrbgateStr,
    /// The URL of the service's metadata in a full challenge (RFC 9728): absolute, `https`; none where it has no bytes.
    pub resource_metadata: OrbgateStr,
    /// How long keys are good for where the issuer sends no usable `Cache-Control`: 600 s by default.
    pub ttl_ms: u32,
    /// The least that an issuer may say: 60 s.
    pub ttl_min_ms: u32,
    /// The most that an issuer may say: 3,600 s.
    pub ttl_max_ms: u32,
    /// After how much of that time a token starts a fetch without waiting for it, in percent: 80.
    pub ahead_percent: u32,
    /// How long keys are used beyond their time while no fresh ones can be fetched: 3,600 s.
    pub max_stale_ms: u32,
    /// The time from one attempt to the next: 30 s.
    pub cooldown_ms: u32,
    /// How many attempts tokens with unknown keys may start at once, and then in every cooldown: 4.
    pub burst: u32,
    /// The time from one attempt to the next while there are no keys: 1 s.
    pub retry_ms: u32,
    /// How long one attempt may take altogether: 5 s.
    pub timeout_ms: u32,
    /// 0.
    pub reserved: u32,
    /// Routes that need no token, each written as in a policy with the whole path, such as `GET /healthz`. Check each engine with
    /// `orbgate_gate_check_engine` before you ask with it.
    pub public_routes: *const OrbgateStr,
    /// How many.
    pub public_route_count: usize,
    /// An `ORBGATE_CORS_PREFLIGHT_*` number: `OPTIONS` with `Origin` and `Access-Control-Request-Method`.
    pub cors_preflight: u32,
    /// 0.
    pub reserved2: u32,
}

// SAFETY: integers, strings and a pointer, the u32 first.
unsafe impl Sized32 for OrbgateGateOptions {
    const FIRST_SIZE: usize = first_size(88, 72);
}

/// What the options say.
pub(super) struct Options {
    pub(super) rules: Rules,
    pub(super) settings: FetchSettings,
    pub(super) templates: TemplateStyle,
    pub(super) signatures_outside: bool,
}

impl Options {
    /// Those of the caller, or the defaults where there are none.
    pub(super) unsafe fn read(options: *const OrbgateGateOptions) -> Result<Self, OrbgateError> {
        if options.is_null() {
            return Ok(Self {
                rules: Rules::new(),
                settings: FetchSettings::default(),
                templates: TemplateStyle::default(),
                signatures_outside: false,
            });
        }
        // SAFETY: the caller's, see the preamble.
        let options = unsafe { read_sized(options) }?;
        let known = ORBGATE_GATE_FLAT_403
            | ORBGATE_GATE_IGNORE_METHOD_OVERRIDE
            | ORBGATE_GATE_SIGNATURES_OUTSIDE
            | ORBGATE_GATE_NO_STALE_KEYS;
        if options.flags & !known != 0 || options.reserved != 0 || options.reserved2 != 0 {
            return Err(OrbgateStatus::InvalidArgument.into());
        }
        let has = |flag: u32| options.flags & flag != 0;
        let mut rules = Rules::new();
        rules.flat_403 = has(ORBGATE_GATE_FLAT_403);
        rules.ignore_method_override = has(ORBGATE_GATE_IGNORE_METHOD_OVERRIDE);
        // SAFETY: the caller's, see the preamble.
        (rules.challenge, rules.public) = unsafe { (challenge(&options)?, public(&options)?) };
        rules.cors_preflight = match options.cors_preflight {
            ORBGATE_CORS_PREFLIGHT_DENY => CorsPreflight::Deny,
            ORBGATE_CORS_PREFLIGHT_PASS => CorsPreflight::Pass,
            _ => return Err(OrbgateStatus::InvalidArgument.into()),
        };
        Ok(Self {
            rules,
            settings: settings(&options, has(ORBGATE_GATE_NO_STALE_KEYS))?,
            templates: templates(options.templates)?,
            signatures_outside: has(ORBGATE_GATE_SIGNATURES_OUTSIDE),
        })
    }
}

/// How a router writes templates, by its number.
pub(super) const fn templates(number: u32) -> OrStatus<TemplateStyle> {
    match number {
        ORBGATE_TEMPLATES_BRACES => Ok(TemplateStyle::Braces),
        ORBGATE_TEMPLATES_COLONS => Ok(TemplateStyle::Colons),
        ORBGATE_TEMPLATES_ANGLES => Ok(TemplateStyle::Angles),
        _ => Err(OrbgateStatus::InvalidArgument),
    }
}

unsafe fn challenge(options: &OrbgateGateOptions) -> Result<Challenge, OrbgateError> {
    let text = |text: OrbgateStr| {
        // SAFETY: the caller's, see the preamble.
        let bytes = unsafe { bytes(text.data, text.len) }?;
        str::from_utf8(bytes).map_err(|_| OrbgateStatus::InvalidArgument)
    };
    let (realm, metadata) = (text(options.realm)?, text(options.resource_metadata)?);
    match options.challenge {
        ORBGATE_CHALLENGE_FULL => {
            let mut full = FullChallenge::new();
            if !realm.is_empty() {
                full = full.realm(realm).map_err(|it| invalid(&it))?;
            }
            if !metadata.is_empty() {
                full = full
                    .resource_metadata(metadata)
                    .map_err(|it| invalid(&it))?;
            }
            Ok(Challenge::Full(full))
        }
        // What only a full challenge says must not be dropped without a word.
        _ if !realm.is_empty() || !metadata.is_empty() => {
            Err(OrbgateStatus::InvalidArgument.into())
        }
        ORBGATE_CHALLENGE_MINIMAL => Ok(Challenge::Minimal),
        ORBGATE_CHALLENGE_NONE => Ok(Challenge::None),
        _ => Err(OrbgateStatus::InvalidArgument.into()),
    }
}

/// The routes that need no token; none if the list is empty.
unsafe fn public(options: &OrbgateGateOptions) -> Result<Option<Arc<PublicRoutes>>, OrbgateError> {
    // SAFETY: the caller's, see the preamble.
    let routes = unsafe { slice(options.public_routes, options.public_route_count) }?;
    if routes.is_empty() {
        return Ok(None);
    }
    let text = |text: &OrbgateStr| {
        // SAFETY: the caller's, see the preamble.
        let bytes = unsafe { bytes(text.data, text.len) }?;
        str::from_utf8(bytes).map_err(|_| OrbgateStatus::InvalidArgument)
    };
    let routes = routes.iter().map(text).collect::<OrStatus<Vec<_>>>()?;
    let public = PublicRoutes::new(routes).map_err(|it| invalid(&it))?;
    Ok(Some(Arc::new(public)))
}

fn settings(options: &OrbgateGateOptions, no_stale: bool) -> OrStatus<FetchSettings> {
    let mut settings = FetchSettings::default();
    let times = [
        (&mut settings.ttl, options.ttl_ms),
        (&mut settings.ttl_min, options.ttl_min_ms),
        (&mut settings.ttl_max, options.ttl_max_ms),
        (&mut settings.max_stale, options.max_stale_ms),
        (&mut settings.cooldown, options.cooldown_ms),
        (&mut settings.retry, options.retry_ms),
        (&mut settings.timeout, options.timeout_ms),
    ];
    for (time, milliseconds) in times {
        if milliseconds != 0 {
            *time = Duration::from_millis(milliseconds.into());
        }
    }
    if no_stale {
        if options.max_stale_ms != 0 {
            return Err(OrbgateStatus::InvalidArgument);
        }
        settings.max_stale = Duration::ZERO;
    }
    if options.ahead_percent != 0 {
        let percent = u8::try_from(options.ahead_percent);
        settings.ahead_percent = percent.map_err(|_| OrbgateStatus::InvalidArgument)?;
    }
    if options.burst != 0 {
        settings.burst = options.burst;
    }
    Ok(settings)
}

/// An option that cannot be.
pub(super) fn invalid(error: &dyn core::error::Error) -> OrbgateError {
    OrbgateError::new(OrbgateStatus::InvalidConfiguration, None, error.to_string())
}
