//! The options of a gate.

use core::time::Duration;
use std::sync::Arc;

use orbgate_gate::{Challenge, CorsPreflight, FullChallenge, Legacy, Mcp, PublicRoutes, Rules, TemplateStyle};
use orbgate_token::FetchSettings;

use super::messages::Make;
use crate::error::OrbgateError;
use crate::status::{OrStatus, OrbgateStatus};

/// The option `challenge`: the `WWW-Authenticate` header of denials.
///
/// `Bearer` on every 401 and 403.
pub const ORBGATE_CHALLENGE_MINIMAL: u32 = 0;
/// With the error and the missing scope, as in RFC 6750.
pub const ORBGATE_CHALLENGE_FULL: u32 = 1;
/// No header; every denial is a bare 403.
pub const ORBGATE_CHALLENGE_NONE: u32 = 2;

/// The option `cors_preflight`: how a CORS preflight is decided.
///
/// Like any other request.
pub const ORBGATE_CORS_PREFLIGHT_DENY: u32 = 0;
/// It needs no token, if the requested method is declared for the path.
pub const ORBGATE_CORS_PREFLIGHT_PASS: u32 = 1;

/// The option `templates`: the router's syntax for parameters.
///
/// `{id}`, `{id:[0-9]+}`, `{id:int}`.
pub const ORBGATE_TEMPLATES_BRACES: u32 = 0;
/// `:id`, `:id(\d+)`.
pub const ORBGATE_TEMPLATES_COLONS: u32 = 1;
/// `<id>`, `<int:id>`.
pub const ORBGATE_TEMPLATES_ANGLES: u32 = 2;

/// A message has room for a body of this length, and for headers.
const MOST_BODY: usize = 8 << 20;

/// The options, checked. No `Debug`, because it has secrets.
pub(super) struct Options {
    pub(super) rules: Rules,
    pub(super) settings: FetchSettings,
    pub(super) templates: TemplateStyle,
    pub(super) signatures_outside: bool,
    pub(super) introspection: bool,
    pub(super) proofs: bool,
    pub(super) secrets: Vec<Option<Vec<u8>>>,
}

impl Options {
    /// The options of a message, with secrets that the host has.
    pub(super) fn of(make: &Make<'_>, secrets: Vec<Option<Vec<u8>>>) -> Result<Self, OrbgateError> {
        let mut rules = Rules::new();
        rules.flat_403 = make.flat_403;
        rules.ignore_method_override = make.ignore_method_override;
        rules.challenge = challenge(make)?;
        rules.public = public(&make.public_routes)?;
        rules.mcp = mcp(make)?;
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
            proofs: make.proofs,
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

/// The MCP endpoint; `None` without a path.
fn mcp(make: &Make<'_>) -> Result<Option<Arc<Mcp>>, OrbgateError> {
    if make.mcp.is_empty() {
        // Settings of an endpoint must not be ignored silently. The metadata has the initial scopes, too.
        let has_scopes = !make.mcp_initial_scopes.is_empty() && make.metadata.is_empty();
        let has_flags = make.mcp_deny_legacy || make.mcp_charge_sessions;
        let is_set = has_scopes || make.mcp_most_bytes != 0 || has_flags || !make.mcp_origins.is_empty();
        return if is_set { Err(OrbgateStatus::InvalidArgument.into()) } else { Ok(None) };
    }
    let mcp = Mcp::new(make.mcp).and_then(|mcp| mcp.initial_scopes(make.mcp_initial_scopes));
    let mcp = mcp.and_then(|mcp| mcp.origins(make.mcp_origins.iter().copied()));
    let mut mcp = mcp.map_err(|it| invalid(&it))?;
    if make.mcp_most_bytes != 0 {
        let most = usize::try_from(make.mcp_most_bytes).ok().filter(|most| *most <= MOST_BODY);
        mcp = mcp.most_bytes(most.ok_or(OrbgateStatus::InvalidArgument)?);
    }
    if make.mcp_deny_legacy {
        mcp = mcp.legacy(Legacy::Deny);
    }
    Ok(Some(Arc::new(mcp.charge_sessions(make.mcp_charge_sessions))))
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
