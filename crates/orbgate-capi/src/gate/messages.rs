//! The messages of gates.
//!
//! Made of crates/orbgate-capi/src/generate/shapes.txt by `cargo xtask codes`; not to be edited.
#![cfg_attr(rustfmt, rustfmt_skip)]

use super::wire::{CRITICAL, Fields, Seen, Value as _, Writer, message};
use crate::status::{OrStatus, OrbgateStatus};

/// A question to a gate.
pub(super) enum Question<'a> {
    Sources(Sources<'a>),
    Make(Make<'a>),
    Ask(Ask<'a>),
    Resume(Resume),
    Checked(Checked),
    IsOver(IsOver),
    NextCall(NextCall),
    Called(Called<'a>),
    Warm(Warm),
    Revoke(Revoke<'a>),
    Forget(Forget<'a>),
    ReadSecrets(ReadSecrets<'a>),
    Status,
    CheckEngine,
    CheckRoutes(CheckRoutes<'a>),
    Drop,
    Body(Body<'a>),
    Reload(Reload<'a>),
    UseLedger(UseLedger),
    Hold(Hold<'a>),
    Held(Held<'a>),
    Waited(Waited<'a>),
    Ended(Ended<'a>),
    NextLedgerCall(NextLedgerCall),
    LedgerCalled(LedgerCalled<'a>),
    CheckAmounts(CheckAmounts<'a>),
    ReadResponse(ReadResponse<'a>),
    ResponseBegins(ResponseBegins<'a>),
    ResponsePiece(ResponsePiece<'a>),
    Visible(Visible<'a>),
}

impl<'a> Question<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> OrStatus<Self> {
        let (number, fields) = message(bytes, &[1, 2, 17, 24])?;
        match number {
            1 => Sources::read(fields).map(Self::Sources),
            2 => Make::read(fields).map(Self::Make),
            3 => Ask::read(fields).map(Self::Ask),
            4 => Resume::read(fields).map(Self::Resume),
            5 => Checked::read(fields).map(Self::Checked),
            6 => IsOver::read(fields).map(Self::IsOver),
            7 => NextCall::read(fields).map(Self::NextCall),
            8 => Called::read(fields).map(Self::Called),
            9 => Warm::read(fields).map(Self::Warm),
            10 => Revoke::read(fields).map(Self::Revoke),
            11 => Forget::read(fields).map(Self::Forget),
            12 => ReadSecrets::read(fields).map(Self::ReadSecrets),
            13 => fields.each(|_, _| Err(OrbgateStatus::InvalidArgument)).map(|()| Self::Status),
            14 => fields.each(|_, _| Err(OrbgateStatus::InvalidArgument)).map(|()| Self::CheckEngine),
            15 => CheckRoutes::read(fields).map(Self::CheckRoutes),
            16 => fields.each(|_, _| Err(OrbgateStatus::InvalidArgument)).map(|()| Self::Drop),
            17 => Body::read(fields).map(Self::Body),
            24 => Reload::read(fields).map(Self::Reload),
            30 => UseLedger::read(fields).map(Self::UseLedger),
            31 => Hold::read(fields).map(Self::Hold),
            32 => Held::read(fields).map(Self::Held),
            33 => Waited::read(fields).map(Self::Waited),
            34 => Ended::read(fields).map(Self::Ended),
            35 => NextLedgerCall::read(fields).map(Self::NextLedgerCall),
            36 => LedgerCalled::read(fields).map(Self::LedgerCalled),
            37 => CheckAmounts::read(fields).map(Self::CheckAmounts),
            38 => ReadResponse::read(fields).map(Self::ReadResponse),
            39 => ResponseBegins::read(fields).map(Self::ResponseBegins),
            40 => ResponsePiece::read(fields).map(Self::ResponsePiece),
            44 => Visible::read(fields).map(Self::Visible),
            _ => Err(OrbgateStatus::InvalidArgument),
        }
    }
}

/// Asks which secrets a token configuration needs. Answered by `SecretSources` or `Failed`.
#[derive(Default)]
pub(super) struct Sources<'a> {
    /// The token configuration, in YAML.
    pub(super) tokens: &'a [u8],
}

impl<'a> Sources<'a> {
    fn read(fields: Fields<'a>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => {
                    seen.first(number)?;
                    read.tokens = bytes;
                }
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// Makes a gate. Answered by `Done` or `Failed`; after `Done`, `orbgate_step_gate` returns the gate.
#[derive(Default)]
pub(super) struct Make<'a> {
    /// The token configuration, in YAML: which tokens are accepted.
    pub(super) tokens: &'a [u8],
    /// Every denial has the status 403, so an unknown route looks like a missing scope.
    pub(super) flat_403: bool,
    /// No header can override a `POST`. Unsafe if the service follows such headers.
    pub(super) ignore_method_override: bool,
    /// The host checks signatures. A library without cryptography requires it.
    pub(super) signatures_outside: bool,
    /// No key is used after its time; `max_stale_ms` must be 0.
    pub(super) no_stale_keys: bool,
    /// The host sends calls that have a body, which issuers of opaque tokens need.
    pub(super) introspection: bool,
    /// An `ORBGATE_CHALLENGE_*` number: the `WWW-Authenticate` header of denials.
    pub(super) challenge: u64,
    /// An `ORBGATE_TEMPLATES_*` number: the router's syntax for parameters.
    pub(super) templates: u64,
    /// An `ORBGATE_CORS_PREFLIGHT_*` number: how a CORS preflight is decided.
    pub(super) cors_preflight: u64,
    /// The realm of a full challenge: printable ASCII without `"` and `\`.
    pub(super) realm: &'a str,
    /// The `https` URL of the service's metadata in a full challenge (RFC 9728).
    pub(super) resource_metadata: &'a str,
    /// How long keys are fresh if the issuer sends no usable `Cache-Control`. 0 selects 600 s.
    pub(super) ttl_ms: u64,
    /// The shortest time that an issuer can set. 0 selects 60 s.
    pub(super) ttl_min_ms: u64,
    /// The longest time that an issuer can set. 0 selects 3,600 s.
    pub(super) ttl_max_ms: u64,
    /// The percentage of keys' time after which a token starts a call ahead. 0 selects 80.
    pub(super) ahead_percent: u64,
    /// How long stale keys are used if new ones can't be fetched. 0 selects 3,600 s.
    pub(super) max_stale_ms: u64,
    /// The time between two attempts. 0 selects 30 s.
    pub(super) cooldown_ms: u64,
    /// How many attempts tokens with unknown keys can start at once and per cooldown. 0 selects 4.
    pub(super) burst: u64,
    /// The time between two attempts while there are no keys. 0 selects 1 s.
    pub(super) retry_ms: u64,
    /// The time limit for one attempt. 0 selects 5 s.
    pub(super) timeout_ms: u64,
    /// Routes that need no token, as in a policy with the whole path: `GET /healthz`.
    pub(super) public_routes: Vec<&'a str>,
    /// Secrets in the order of `SecretSources`. Empty: the library reads them all.
    pub(super) secrets: Vec<Secret<'a>>,
    /// The path of an MCP endpoint, whose requests are decided by the operations in their bodies.
    pub(super) mcp: &'a str,
    /// The scopes that a client without a token should ask for, separated by spaces.
    pub(super) mcp_initial_scopes: &'a str,
    /// The longest body of the endpoint, at most 8 MiB. 0 selects 4 MiB.
    pub(super) mcp_most_bytes: u64,
    /// Requests of protocol versions without the headers of MCP are denied.
    pub(super) mcp_deny_legacy: bool,
    /// The URL of the protected resource, whose metadata (RFC 9728) the gate serves.
    pub(super) metadata: &'a str,
    /// Origins whose pages may send requests to the endpoint, such as `https://app.example`.
    pub(super) mcp_origins: Vec<&'a str>,
}

impl<'a> Make<'a> {
    fn read(fields: Fields<'a>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => {
                    seen.first(number)?;
                    read.tokens = bytes;
                }
                2 => {
                    seen.first(number)?;
                    read.flat_403 = bool::read(bytes)?;
                }
                3 => {
                    seen.first(number)?;
                    read.ignore_method_override = bool::read(bytes)?;
                }
                4 => {
                    seen.first(number)?;
                    read.signatures_outside = bool::read(bytes)?;
                }
                5 => {
                    seen.first(number)?;
                    read.no_stale_keys = bool::read(bytes)?;
                }
                6 => {
                    seen.first(number)?;
                    read.introspection = bool::read(bytes)?;
                }
                7 => {
                    seen.first(number)?;
                    read.challenge = u64::read(bytes)?;
                }
                8 => {
                    seen.first(number)?;
                    read.templates = u64::read(bytes)?;
                }
                9 => {
                    seen.first(number)?;
                    read.cors_preflight = u64::read(bytes)?;
                }
                10 => {
                    seen.first(number)?;
                    read.realm = <&str>::read(bytes)?;
                }
                11 => {
                    seen.first(number)?;
                    read.resource_metadata = <&str>::read(bytes)?;
                }
                12 => {
                    seen.first(number)?;
                    read.ttl_ms = u64::read(bytes)?;
                }
                13 => {
                    seen.first(number)?;
                    read.ttl_min_ms = u64::read(bytes)?;
                }
                14 => {
                    seen.first(number)?;
                    read.ttl_max_ms = u64::read(bytes)?;
                }
                15 => {
                    seen.first(number)?;
                    read.ahead_percent = u64::read(bytes)?;
                }
                16 => {
                    seen.first(number)?;
                    read.max_stale_ms = u64::read(bytes)?;
                }
                17 => {
                    seen.first(number)?;
                    read.cooldown_ms = u64::read(bytes)?;
                }
                18 => {
                    seen.first(number)?;
                    read.burst = u64::read(bytes)?;
                }
                19 => {
                    seen.first(number)?;
                    read.retry_ms = u64::read(bytes)?;
                }
                20 => {
                    seen.first(number)?;
                    read.timeout_ms = u64::read(bytes)?;
                }
                21 => read.public_routes.push(<&str>::read(bytes)?),
                22 => read.secrets.push(Secret::read(Fields::read(bytes)?)?),
                23 => {
                    seen.first(number)?;
                    read.mcp = <&str>::read(bytes)?;
                }
                24 => {
                    seen.first(number)?;
                    read.mcp_initial_scopes = <&str>::read(bytes)?;
                }
                25 => {
                    seen.first(number)?;
                    read.mcp_most_bytes = u64::read(bytes)?;
                }
                26 => {
                    seen.first(number)?;
                    read.mcp_deny_legacy = bool::read(bytes)?;
                }
                27 => {
                    seen.first(number)?;
                    read.metadata = <&str>::read(bytes)?;
                }
                28 => read.mcp_origins.push(<&str>::read(bytes)?),
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// Starts a request, as received: neither decoded nor joined. Answered by `Answer`, `Wait`, `CheckSignature`, `ReadBody` or `Charge`.
#[derive(Default)]
pub(super) struct Ask<'a> {
    /// The method.
    pub(super) method: &'a [u8],
    /// The target: path and query, in the bytes of the request line or of `:path`.
    pub(super) target: &'a [u8],
    /// Every value of `Authorization`, one item for each header line.
    pub(super) authorization: Vec<&'a [u8]>,
    /// The names of all headers, or at least those that contain `method`, in any letter case.
    pub(super) header_names: Vec<&'a [u8]>,
    /// Every value of `Upgrade`. A request that lists `h2c` is denied.
    pub(super) upgrade: Vec<&'a [u8]>,
    /// Every value of `Origin`.
    pub(super) origin: Vec<&'a [u8]>,
    /// Every value of `Access-Control-Request-Method`.
    pub(super) access_control_request_method: Vec<&'a [u8]>,
    /// An `ORBGATE_MATCHED_*` number: what a router before the gate has chosen.
    pub(super) matched: u64,
    /// With `ORBGATE_MATCHED_TEMPLATE`, that template with any prefix, in the gate's syntax.
    pub(super) path_template: &'a str,
    /// The request allows bonus orbs.
    pub(super) allow_bonus_orbs: bool,
    /// The answer has a line for an audit log.
    pub(super) with_audit: bool,
    /// A thread blocks while it waits: only one such request waits longer than a second.
    pub(super) holds_thread: bool,
    /// The time since 1970, which determines whether tokens are valid.
    pub(super) unix_ms: u64,
    /// The time on the monotonic clock, which determines when keys are fetched.
    pub(super) monotonic_ms: u64,
    /// The host reads `allow_bonus_orbs`, so the audit's `bonus_allowed` isn't null.
    pub(super) reads_bonus_orbs: bool,
    /// A ledger must hold the call's orbs: if it consumes, answered by `Charge`, or by a denial.
    pub(super) charges: bool,
    /// A function has returned how many orbs the call consumes; otherwise the policy states it.
    pub(super) has_amount: bool,
    /// What the function has returned. 0 holds nothing.
    pub(super) amount: u64,
    /// The `unpaid` of a `HoldStep` that has denied the call: answered by its denial.
    pub(super) unpaid: u64,
    /// That of the same `HoldStep`.
    pub(super) retry_after_ms: u64,
    /// The function has failed, so the call is denied.
    pub(super) amount_failed: bool,
    /// After an allow that consumes, and after `Charge`, the step keeps the token for `again`.
    pub(super) keeps: bool,
    /// The request of the last answer: its token isn't verified again, the rest counts as it is.
    pub(super) again: bool,
    /// With `charges`, the `id` of the `Hold` that follows: 16 random bytes. `Charge` names it.
    pub(super) hold: &'a [u8],
}

impl<'a> Ask<'a> {
    fn read(fields: Fields<'a>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => {
                    seen.first(number)?;
                    read.method = bytes;
                }
                2 => {
                    seen.first(number)?;
                    read.target = bytes;
                }
                3 => read.authorization.push(bytes),
                4 => read.header_names.push(bytes),
                5 => read.upgrade.push(bytes),
                6 => read.origin.push(bytes),
                7 => read.access_control_request_method.push(bytes),
                8 => {
                    seen.first(number)?;
                    read.matched = u64::read(bytes)?;
                }
                9 => {
                    seen.first(number)?;
                    read.path_template = <&str>::read(bytes)?;
                }
                10 => {
                    seen.first(number)?;
                    read.allow_bonus_orbs = bool::read(bytes)?;
                }
                11 => {
                    seen.first(number)?;
                    read.with_audit = bool::read(bytes)?;
                }
                12 => {
                    seen.first(number)?;
                    read.holds_thread = bool::read(bytes)?;
                }
                13 => {
                    seen.first(number)?;
                    read.unix_ms = u64::read(bytes)?;
                }
                14 => {
                    seen.first(number)?;
                    read.monotonic_ms = u64::read(bytes)?;
                }
                15 => {
                    seen.first(number)?;
                    read.reads_bonus_orbs = bool::read(bytes)?;
                }
                20 => {
                    seen.first(number)?;
                    read.charges = bool::read(bytes)?;
                }
                21 => {
                    seen.first(number)?;
                    read.has_amount = bool::read(bytes)?;
                }
                22 => {
                    seen.first(number)?;
                    read.amount = u64::read(bytes)?;
                }
                23 => {
                    seen.first(number)?;
                    read.unpaid = u64::read(bytes)?;
                }
                24 => {
                    seen.first(number)?;
                    read.retry_after_ms = u64::read(bytes)?;
                }
                25 => {
                    seen.first(number)?;
                    read.amount_failed = bool::read(bytes)?;
                }
                26 => {
                    seen.first(number)?;
                    read.keeps = bool::read(bytes)?;
                }
                27 => {
                    seen.first(number)?;
                    read.again = bool::read(bytes)?;
                }
                28 => {
                    seen.first(number)?;
                    read.hold = bytes;
                }
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// Resumes a step after its `Wait` is over. The engine can be a later one. Answered like `Ask`.
#[derive(Default)]
pub(super) struct Resume {
    /// The time since 1970.
    pub(super) unix_ms: u64,
    /// The time on the monotonic clock.
    pub(super) monotonic_ms: u64,
}

impl Resume {
    fn read(fields: Fields<'_>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => {
                    seen.first(number)?;
                    read.unix_ms = u64::read(bytes)?;
                }
                2 => {
                    seen.first(number)?;
                    read.monotonic_ms = u64::read(bytes)?;
                }
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// Resumes a step after its signature was checked. Answered by `Answer`, `ReadBody` or `Charge`.
#[derive(Default)]
pub(super) struct Checked {
    /// The signature is valid.
    pub(super) is_right: bool,
    /// The first 8 bytes of the token's SHA-256 hash, or 0 if the library must hash it.
    pub(super) token_hash: u64,
    /// The time since 1970.
    pub(super) unix_ms: u64,
    /// The time on the monotonic clock.
    pub(super) monotonic_ms: u64,
}

impl Checked {
    fn read(fields: Fields<'_>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => {
                    seen.first(number)?;
                    read.is_right = bool::read(bytes)?;
                }
                2 => {
                    seen.first(number)?;
                    read.token_hash = u64::read(bytes)?;
                }
                3 => {
                    seen.first(number)?;
                    read.unix_ms = u64::read(bytes)?;
                }
                4 => {
                    seen.first(number)?;
                    read.monotonic_ms = u64::read(bytes)?;
                }
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// Asks whether a step's wait is over, after each report and at `until_ms`. Answered by `Over`.
#[derive(Default)]
pub(super) struct IsOver {
    /// The time on the monotonic clock.
    pub(super) monotonic_ms: u64,
}

impl IsOver {
    fn read(fields: Fields<'_>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => {
                    seen.first(number)?;
                    read.monotonic_ms = u64::read(bytes)?;
                }
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// Asks for the next call: at the start, after `ReadSecrets`, and after answers with `may_call`, until `Done`. Answered by `Call` or `Done`.
#[derive(Default)]
pub(super) struct NextCall {
    /// The time on the monotonic clock.
    pub(super) monotonic_ms: u64,
}

impl NextCall {
    fn read(fields: Fields<'_>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => {
                    seen.first(number)?;
                    read.monotonic_ms = u64::read(bytes)?;
                }
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// Reports the result of a call. Answered by `Call`, the next one of the attempt, or by `Done`: then steps that wait can be resumed.
#[derive(Default)]
pub(super) struct Called<'a> {
    /// The attempt of the call. A report for one that is over has no effect.
    pub(super) attempt: u64,
    /// An `ORBGATE_FETCH_*` number if there is no response; otherwise 0.
    pub(super) failure: u64,
    /// The status of the response.
    pub(super) status: u64,
    /// Its headers, or at least each `Cache-Control`.
    pub(super) headers: Vec<Header<'a>>,
    /// Its body, which can be left out if the status isn't 200.
    pub(super) body: &'a [u8],
    /// The time on the monotonic clock.
    pub(super) monotonic_ms: u64,
}

impl<'a> Called<'a> {
    fn read(fields: Fields<'a>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => {
                    seen.first(number)?;
                    read.attempt = u64::read(bytes)?;
                }
                2 => {
                    seen.first(number)?;
                    read.failure = u64::read(bytes)?;
                }
                3 => {
                    seen.first(number)?;
                    read.status = u64::read(bytes)?;
                }
                4 => read.headers.push(Header::read(Fields::read(bytes)?)?),
                5 => {
                    seen.first(number)?;
                    read.body = bytes;
                }
                6 => {
                    seen.first(number)?;
                    read.monotonic_ms = u64::read(bytes)?;
                }
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// Requests every issuer's keys, as far as the settings allow. Answered by `Done`; then ask `NextCall`.
#[derive(Default)]
pub(super) struct Warm {
    /// The time on the monotonic clock.
    pub(super) monotonic_ms: u64,
}

impl Warm {
    fn read(fields: Fields<'_>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => {
                    seen.first(number)?;
                    read.monotonic_ms = u64::read(bytes)?;
                }
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// Never uses a key again. Answered by `Done`; an unknown issuer gives `ORBGATE_STATUS_NOT_FOUND`.
#[derive(Default)]
pub(super) struct Revoke<'a> {
    /// The issuer.
    pub(super) issuer: &'a [u8],
    /// The key's `kid`.
    pub(super) kid: &'a str,
}

impl<'a> Revoke<'a> {
    fn read(fields: Fields<'a>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => {
                    seen.first(number)?;
                    read.issuer = bytes;
                }
                2 => {
                    seen.first(number)?;
                    read.kid = <&str>::read(bytes)?;
                }
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// Forgets an issuer's keys or answers about tokens, when it has withdrawn one. Answered like `Revoke`.
#[derive(Default)]
pub(super) struct Forget<'a> {
    /// The issuer.
    pub(super) issuer: &'a [u8],
}

impl<'a> Forget<'a> {
    fn read(fields: Fields<'a>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => {
                    seen.first(number)?;
                    read.issuer = bytes;
                }
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// Reads the secrets again. If one can't be read, all stay. Answered by `Done` or `Failed`.
#[derive(Default)]
pub(super) struct ReadSecrets<'a> {
    /// As in `Make`.
    pub(super) secrets: Vec<Secret<'a>>,
}

impl<'a> ReadSecrets<'a> {
    fn read(fields: Fields<'a>) -> OrStatus<Self> {
        let mut read = Self::default();
        fields.each(|number, bytes| {
            match number {
                1 => read.secrets.push(Secret::read(Fields::read(bytes)?)?),
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// Compares a service's routes with the policy's and the gate's. Answered by `RouteDifferences`.
#[derive(Default)]
pub(super) struct CheckRoutes<'a> {
    /// The routes of the service.
    pub(super) routes: Vec<ServiceRoute<'a>>,
    /// Without a gate, an `ORBGATE_TEMPLATES_*` number: the syntax of the templates.
    pub(super) templates: u64,
}

impl<'a> CheckRoutes<'a> {
    fn read(fields: Fields<'a>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => read.routes.push(ServiceRoute::read(Fields::read(bytes)?)?),
                2 => {
                    seen.first(number)?;
                    read.templates = u64::read(bytes)?;
                }
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// Decides a request after its `ReadBody`. Answered by `Answer` or `Charge`.
#[derive(Default)]
pub(super) struct Body<'a> {
    /// The whole body as received, unless one of the flags is set.
    pub(super) body: &'a [u8],
    /// The body is longer than allowed.
    pub(super) too_large: bool,
    /// Header lines, at least each that starts with `content` or `mcp` in any case.
    pub(super) headers: Vec<Header<'a>>,
    /// The time since 1970, for the audit log.
    pub(super) unix_ms: u64,
    /// There was no room for the body.
    pub(super) busy: bool,
    /// The body couldn't be read.
    pub(super) unreadable: bool,
}

impl<'a> Body<'a> {
    fn read(fields: Fields<'a>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => {
                    seen.first(number)?;
                    read.body = bytes;
                }
                2 => {
                    seen.first(number)?;
                    read.too_large = bool::read(bytes)?;
                }
                3 => read.headers.push(Header::read(Fields::read(bytes)?)?),
                4 => {
                    seen.first(number)?;
                    read.unix_ms = u64::read(bytes)?;
                }
                5 => {
                    seen.first(number)?;
                    read.busy = bool::read(bytes)?;
                }
                6 => {
                    seen.first(number)?;
                    read.unreadable = bool::read(bytes)?;
                }
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// Checks a version of the policy. The engine is the active one, or null before the first. Answered by `Loaded`.
#[derive(Default)]
pub(super) struct Reload<'a> {
    /// The contents of the file. Without `interval_ms`, it must have an end marker.
    pub(super) policy: &'a [u8],
    /// Why the file can't be read; empty if it was read.
    pub(super) failure: &'a str,
    /// Reject a version without a seal.
    pub(super) require_seal: bool,
    /// Reject a version that allows more than the active one, or for fewer orbs.
    pub(super) refuse_wider: bool,
    /// As in `Make`.
    pub(super) secrets: Vec<Secret<'a>>,
    /// Ask with this step after each `pause_ms`, until `Drop`: a version counts once it was read twice without a change. 0: it counts now.
    pub(super) interval_ms: u64,
    /// An operator waits for the result.
    pub(super) is_told: bool,
    /// The time on the monotonic clock.
    pub(super) monotonic_ms: u64,
    /// The name of the file, for errors and the log.
    pub(super) file: &'a str,
    /// Why the host can't read a secret; then no version is loaded. Otherwise empty.
    pub(super) secrets_failure: &'a str,
    /// A ledger charges calls, so each route that consumes orbs must have an amount.
    pub(super) has_ledger: bool,
    /// The routes with a function that states the amount.
    pub(super) amounts: Vec<&'a str>,
}

impl<'a> Reload<'a> {
    fn read(fields: Fields<'a>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => {
                    seen.first(number)?;
                    read.policy = bytes;
                }
                2 => {
                    seen.first(number)?;
                    read.failure = <&str>::read(bytes)?;
                }
                3 => {
                    seen.first(number)?;
                    read.require_seal = bool::read(bytes)?;
                }
                4 => {
                    seen.first(number)?;
                    read.refuse_wider = bool::read(bytes)?;
                }
                5 => read.secrets.push(Secret::read(Fields::read(bytes)?)?),
                6 => {
                    seen.first(number)?;
                    read.interval_ms = u64::read(bytes)?;
                }
                7 => {
                    seen.first(number)?;
                    read.is_told = bool::read(bytes)?;
                }
                8 => {
                    seen.first(number)?;
                    read.monotonic_ms = u64::read(bytes)?;
                }
                9 => {
                    seen.first(number)?;
                    read.file = <&str>::read(bytes)?;
                }
                10 => {
                    seen.first(number)?;
                    read.secrets_failure = <&str>::read(bytes)?;
                }
                11 => {
                    seen.first(number)?;
                    read.has_ledger = bool::read(bytes)?;
                }
                12 => read.amounts.push(<&str>::read(bytes)?),
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// Makes the step the holds of a process in a ledger service, for `Hold` to `LedgerCalled`, until `Drop`. Answered by `Ledgered` or `Failed`.
#[derive(Default)]
pub(super) struct UseLedger {
    /// A call is charged whose handler, or begun stream, stopped midway.
    pub(super) captures_cancelled: bool,
    /// How long a hold lasts if the process stops. 0 selects 60 s.
    pub(super) ttl_ms: u64,
    /// How long a call waits for the service before it is denied. 0 selects 2 s.
    pub(super) timeout_ms: u64,
    /// How many settlements can wait for the service. 0 selects 4,096.
    pub(super) queue: u64,
    /// Such a call isn't charged. One of the two must be true.
    pub(super) voids_cancelled: bool,
    /// A call at an MCP endpoint is charged whose result has `isError`.
    pub(super) captures_tool_errors: bool,
    /// It isn't charged. With an MCP endpoint, one of the two must be true.
    pub(super) voids_tool_errors: bool,
    /// A call at an MCP endpoint is charged whose result asks for input.
    pub(super) captures_input_required: bool,
    /// It isn't charged. With an MCP endpoint, one of the two must be true.
    pub(super) voids_input_required: bool,
}

impl UseLedger {
    fn read(fields: Fields<'_>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => {
                    seen.first(number)?;
                    read.captures_cancelled = bool::read(bytes)?;
                }
                2 => {
                    seen.first(number)?;
                    read.ttl_ms = u64::read(bytes)?;
                }
                3 => {
                    seen.first(number)?;
                    read.timeout_ms = u64::read(bytes)?;
                }
                4 => {
                    seen.first(number)?;
                    read.queue = u64::read(bytes)?;
                }
                5 => {
                    seen.first(number)?;
                    read.voids_cancelled = bool::read(bytes)?;
                }
                6 => {
                    seen.first(number)?;
                    read.captures_tool_errors = bool::read(bytes)?;
                }
                7 => {
                    seen.first(number)?;
                    read.voids_tool_errors = bool::read(bytes)?;
                }
                8 => {
                    seen.first(number)?;
                    read.captures_input_required = bool::read(bytes)?;
                }
                9 => {
                    seen.first(number)?;
                    read.voids_input_required = bool::read(bytes)?;
                }
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// Begins to hold the orbs of a `Charge`. Answered by `HoldStep`.
#[derive(Default)]
pub(super) struct Hold<'a> {
    /// 16 random bytes, new for each request.
    pub(super) id: &'a [u8],
    /// That of the `Charge`, and so are the others.
    pub(super) account: &'a [u8],
    /// How many orbs.
    pub(super) amount: u64,
    /// Bonus orbs may be used.
    pub(super) bonus: bool,
    /// What the service notes.
    pub(super) note: &'a [u8],
    /// The time on the monotonic clock.
    pub(super) monotonic_ms: u64,
}

impl<'a> Hold<'a> {
    fn read(fields: Fields<'a>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => {
                    seen.first(number)?;
                    read.id = bytes;
                }
                2 => {
                    seen.first(number)?;
                    read.account = bytes;
                }
                3 => {
                    seen.first(number)?;
                    read.amount = u64::read(bytes)?;
                }
                4 => {
                    seen.first(number)?;
                    read.bonus = bool::read(bytes)?;
                }
                5 => {
                    seen.first(number)?;
                    read.note = bytes;
                }
                6 => {
                    seen.first(number)?;
                    read.monotonic_ms = u64::read(bytes)?;
                }
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// Reports what the service has answered to the call of a `HoldStep`. Answered by `HoldStep`.
#[derive(Default)]
pub(super) struct Held<'a> {
    /// The id of the hold.
    pub(super) id: &'a [u8],
    /// The HTTP status; 0 without an answer.
    pub(super) status: u64,
    /// The body.
    pub(super) body: &'a [u8],
    /// The time since 1970.
    pub(super) unix_ms: u64,
    /// The time on the monotonic clock.
    pub(super) monotonic_ms: u64,
}

impl<'a> Held<'a> {
    fn read(fields: Fields<'a>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => {
                    seen.first(number)?;
                    read.id = bytes;
                }
                2 => {
                    seen.first(number)?;
                    read.status = u64::read(bytes)?;
                }
                3 => {
                    seen.first(number)?;
                    read.body = bytes;
                }
                4 => {
                    seen.first(number)?;
                    read.unix_ms = u64::read(bytes)?;
                }
                5 => {
                    seen.first(number)?;
                    read.monotonic_ms = u64::read(bytes)?;
                }
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// The request has waited. Answered by `HoldStep`.
#[derive(Default)]
pub(super) struct Waited<'a> {
    /// The id of the hold.
    pub(super) id: &'a [u8],
    /// The time on the monotonic clock.
    pub(super) monotonic_ms: u64,
}

impl<'a> Waited<'a> {
    fn read(fields: Fields<'a>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => {
                    seen.first(number)?;
                    read.id = bytes;
                }
                2 => {
                    seen.first(number)?;
                    read.monotonic_ms = u64::read(bytes)?;
                }
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// Reports once how the handler of a hold has ended. Answered by `Ledgered`; then ask for the next call.
#[derive(Default)]
pub(super) struct Ended<'a> {
    /// The id of the hold.
    pub(super) id: &'a [u8],
    /// It was stopped midway, or its stream failed after the first byte.
    pub(super) cancelled: bool,
    /// The HTTP status of the whole answer; 0 if it or the handler failed before the first byte.
    pub(super) status: u64,
    /// The handler has stated how many orbs it has consumed.
    pub(super) is_stated: bool,
    /// How many.
    pub(super) stated: u64,
    /// The time on the monotonic clock.
    pub(super) monotonic_ms: u64,
    /// It never ran.
    pub(super) never_ran: bool,
    /// Of a call at an MCP endpoint, the `end` of its last `Responded`; 0 for any other.
    pub(super) response: u64,
}

impl<'a> Ended<'a> {
    fn read(fields: Fields<'a>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => {
                    seen.first(number)?;
                    read.id = bytes;
                }
                2 => {
                    seen.first(number)?;
                    read.cancelled = bool::read(bytes)?;
                }
                3 => {
                    seen.first(number)?;
                    read.status = u64::read(bytes)?;
                }
                4 => {
                    seen.first(number)?;
                    read.is_stated = bool::read(bytes)?;
                }
                5 => {
                    seen.first(number)?;
                    read.stated = u64::read(bytes)?;
                }
                6 => {
                    seen.first(number)?;
                    read.monotonic_ms = u64::read(bytes)?;
                }
                7 => {
                    seen.first(number)?;
                    read.never_ran = bool::read(bytes)?;
                }
                8 => {
                    seen.first(number)?;
                    read.response = u64::read(bytes)?;
                }
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// Asks for the next message to the service, after each report and at `wake_ms`. Send one at a time. Answered by `LedgerCall` or `Ledgered`.
#[derive(Default)]
pub(super) struct NextLedgerCall {
    /// The time on the monotonic clock.
    pub(super) monotonic_ms: u64,
}

impl NextLedgerCall {
    fn read(fields: Fields<'_>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => {
                    seen.first(number)?;
                    read.monotonic_ms = u64::read(bytes)?;
                }
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// Reports what the service has answered. Answered by `Ledgered`; then ask for the next call.
#[derive(Default)]
pub(super) struct LedgerCalled<'a> {
    /// The number of the `LedgerCall`.
    pub(super) call: u64,
    /// The HTTP status; 0 without an answer.
    pub(super) status: u64,
    /// The body.
    pub(super) body: &'a [u8],
    /// The time on the monotonic clock.
    pub(super) monotonic_ms: u64,
}

impl<'a> LedgerCalled<'a> {
    fn read(fields: Fields<'a>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => {
                    seen.first(number)?;
                    read.call = u64::read(bytes)?;
                }
                2 => {
                    seen.first(number)?;
                    read.status = u64::read(bytes)?;
                }
                3 => {
                    seen.first(number)?;
                    read.body = bytes;
                }
                4 => {
                    seen.first(number)?;
                    read.monotonic_ms = u64::read(bytes)?;
                }
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// Checks that each route that consumes orbs has an amount or a function, and that functions have routes. Answered by `Done` or `Failed`.
#[derive(Default)]
pub(super) struct CheckAmounts<'a> {
    /// The routes with a function, as the policy names them.
    pub(super) functions: Vec<&'a str>,
}

impl<'a> CheckAmounts<'a> {
    fn read(fields: Fields<'a>) -> OrStatus<Self> {
        let mut read = Self::default();
        fields.each(|number, bytes| {
            match number {
                1 => read.functions.push(<&str>::read(bytes)?),
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// Makes the step, until `Drop`, the reader of the response of an MCP endpoint; ask before the handler runs. Answered by `Responded`.
#[derive(Default)]
pub(super) struct ReadResponse<'a> {
    /// That of the `Charge`.
    pub(super) mcp_id: &'a [u8],
    /// That of the `Charge`.
    pub(super) mcp_legacy: bool,
}

impl<'a> ReadResponse<'a> {
    fn read(fields: Fields<'a>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => {
                    seen.first(number)?;
                    read.mcp_id = bytes;
                }
                2 => {
                    seen.first(number)?;
                    read.mcp_legacy = bool::read(bytes)?;
                }
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// The response begins. Answered by `Responded`.
#[derive(Default)]
pub(super) struct ResponseBegins<'a> {
    /// Its header lines: at least `Content-Type` and `Content-Encoding`.
    pub(super) headers: Vec<Header<'a>>,
}

impl<'a> ResponseBegins<'a> {
    fn read(fields: Fields<'a>) -> OrStatus<Self> {
        let mut read = Self::default();
        fields.each(|number, bytes| {
            match number {
                1 => read.headers.push(Header::read(Fields::read(bytes)?)?),
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// A piece of its body. Answered by `Responded`.
#[derive(Default)]
pub(super) struct ResponsePiece<'a> {
    /// The bytes.
    pub(super) piece: &'a [u8],
}

impl<'a> ResponsePiece<'a> {
    fn read(fields: Fields<'a>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => {
                    seen.first(number)?;
                    read.piece = bytes;
                }
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// Asks which names a token may pass to a method of the MCP endpoint. Answered by `VisibleNames`.
#[derive(Default)]
pub(super) struct Visible<'a> {
    /// The kind of the token, an `OrbgateTokenKind`.
    pub(super) kind: u64,
    /// Its scopes.
    pub(super) scopes: &'a str,
    /// `tools/call` for tools, `prompts/get` for prompts, `resources/read` for URIs.
    pub(super) method: &'a str,
    /// The names.
    pub(super) names: Vec<&'a str>,
}

impl<'a> Visible<'a> {
    fn read(fields: Fields<'a>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => {
                    seen.first(number)?;
                    read.kind = u64::read(bytes)?;
                }
                2 => {
                    seen.first(number)?;
                    read.scopes = <&str>::read(bytes)?;
                }
                3 => {
                    seen.first(number)?;
                    read.method = <&str>::read(bytes)?;
                }
                4 => read.names.push(<&str>::read(bytes)?),
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// A secret that the host passes.
#[derive(Default)]
pub(super) struct Secret<'a> {
    /// The secret; absent if the library reads it from its file or environment variable.
    pub(super) value: Option<&'a [u8]>,
}

impl<'a> Secret<'a> {
    fn read(fields: Fields<'a>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => {
                    seen.first(number)?;
                    read.value = Some(bytes);
                }
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// A header line.
#[derive(Default)]
pub(super) struct Header<'a> {
    /// Its name, in any letter case.
    pub(super) name: &'a [u8],
    /// Its value.
    pub(super) value: &'a [u8],
}

impl<'a> Header<'a> {
    fn read(fields: Fields<'a>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => {
                    seen.first(number)?;
                    read.name = bytes;
                }
                2 => {
                    seen.first(number)?;
                    read.value = bytes;
                }
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// A route of a service.
#[derive(Default)]
pub(super) struct ServiceRoute<'a> {
    /// Its method.
    pub(super) method: &'a str,
    /// Its template.
    pub(super) path_template: &'a str,
}

impl<'a> ServiceRoute<'a> {
    fn read(fields: Fields<'a>) -> OrStatus<Self> {
        let mut read = Self::default();
        let mut seen = Seen::default();
        fields.each(|number, bytes| {
            match number {
                1 => {
                    seen.first(number)?;
                    read.method = <&str>::read(bytes)?;
                }
                2 => {
                    seen.first(number)?;
                    read.path_template = <&str>::read(bytes)?;
                }
                _ => return Err(OrbgateStatus::InvalidArgument),
            }
            Ok(())
        })?;
        Ok(read)
    }
}

/// The question is done.
#[derive(Default)]
pub(super) struct Done<'a> {
    /// What to log, one sentence on each line: of `NextCall`; of `CheckEngine` if nothing charges.
    pub(super) notices: &'a str,
    /// The level of each line of `notices`, on a line of its own: `info`, `warning` or `error`.
    pub(super) levels: &'a str,
}

impl Done<'_> {
    pub(super) fn write(&self, to: &mut Writer<'_>) -> OrStatus {
        to.fields(64, |to| self.put(to))
    }

    fn put(&self, to: &mut Writer<'_>) -> OrStatus {
        if !self.notices.is_empty() {
            to.bytes(1, self.notices.as_bytes())?;
        }
        if !self.levels.is_empty() {
            to.bytes(2, self.levels.as_bytes())?;
        }
        Ok(())
    }
}

/// A configuration or an option has errors.
#[derive(Default)]
pub(super) struct Failed<'a> {
    /// The `OrbgateStatus` of the error.
    pub(super) status: u64,
    /// All errors in one string, each on a line `line:column: message`.
    pub(super) message: &'a str,
    /// The errors that have a position, in the order of the file.
    pub(super) diagnostics: Vec<Diagnostic<'a>>,
}

impl Failed<'_> {
    pub(super) fn write(&self, to: &mut Writer<'_>) -> OrStatus {
        to.fields(65, |to| self.put(to))
    }

    fn put(&self, to: &mut Writer<'_>) -> OrStatus {
        to.integer(CRITICAL | 1, self.status);
        if !self.message.is_empty() {
            to.bytes(2, self.message.as_bytes())?;
        }
        for one in &self.diagnostics {
            to.fields(3, |to| one.put(to))?;
        }
        Ok(())
    }
}

/// The result of a request. Only an allow without `http_status` permits it.
#[derive(Default)]
pub(super) struct Answer<'a> {
    /// The decision, packed as with `ORBGATE_PACK_ABOUT`.
    pub(super) packed: u64,
    /// The status of the response to a denied request; 0 for an allow.
    pub(super) http_status: u64,
    /// The request is allowed only as a preflight, so run only a handler of `OPTIONS`.
    pub(super) preflight: bool,
    /// The `WWW-Authenticate` header of a denial.
    pub(super) www_authenticate: Option<&'a str>,
    /// The `Allow` header of a denial.
    pub(super) allow: Option<&'a str>,
    /// Why the token is rejected, such as `expired`, only for logs and counters.
    pub(super) refused: &'a str,
    /// What the router chose instead of the allowed route; empty if it is unknown. Count it.
    pub(super) misrouted: Option<&'a str>,
    /// The template of an allowed request that needs no token.
    pub(super) public_template: &'a str,
    /// With `with_audit`, a JSON line for an audit log, without a line feed.
    pub(super) audit: Option<&'a str>,
    /// The verified token; absent without a valid token.
    pub(super) token: Option<Token<'a>>,
    /// `NextCall` might be answered by a call.
    pub(super) may_call: bool,
    /// The response's body, if it has one: JSON, such as the metadata of the resource at a 200.
    pub(super) body: Option<&'a [u8]>,
    /// More headers of the response.
    pub(super) headers: Vec<CallHeader<'a>>,
    /// The seconds of its `Retry-After` header; 0 if it has none.
    pub(super) retry_after: u64,
}

impl Answer<'_> {
    pub(super) fn write(&self, to: &mut Writer<'_>) -> OrStatus {
        to.fields(66, |to| self.put(to))
    }

    fn put(&self, to: &mut Writer<'_>) -> OrStatus {
        to.integer(CRITICAL | 1, self.packed);
        to.integer(CRITICAL | 2, self.http_status);
        to.boolean(CRITICAL | 3, self.preflight);
        if let Some(one) = &self.www_authenticate {
            to.bytes(4, one.as_bytes())?;
        }
        if let Some(one) = &self.allow {
            to.bytes(5, one.as_bytes())?;
        }
        if !self.refused.is_empty() {
            to.bytes(6, self.refused.as_bytes())?;
        }
        if let Some(one) = &self.misrouted {
            to.bytes(7, one.as_bytes())?;
        }
        if !self.public_template.is_empty() {
            to.bytes(8, self.public_template.as_bytes())?;
        }
        if let Some(one) = &self.audit {
            to.bytes(9, one.as_bytes())?;
        }
        if let Some(one) = &self.token {
            to.fields(10, |to| one.put(to))?;
        }
        to.boolean(11, self.may_call);
        if let Some(one) = &self.body {
            to.bytes(CRITICAL | 12, one)?;
        }
        for one in &self.headers {
            to.fields(13, |to| one.put(to))?;
        }
        to.integer(14, self.retry_after);
        Ok(())
    }
}

/// The request needs keys, or an answer about its token. Send the calls of `NextCall`, wait until `IsOver` says so or `until_ms`, and resume.
#[derive(Default)]
pub(super) struct Wait {
    /// When the wait ends even without a report, on the monotonic clock.
    pub(super) until_ms: u64,
    /// `NextCall` might be answered by a call.
    pub(super) may_call: bool,
}

impl Wait {
    pub(super) fn write(&self, to: &mut Writer<'_>) -> OrStatus {
        to.fields(67, |to| self.put(to))
    }

    fn put(&self, to: &mut Writer<'_>) -> OrStatus {
        to.integer(CRITICAL | 1, self.until_ms);
        to.boolean(2, self.may_call);
        Ok(())
    }
}

/// Report with `Checked` whether this signature is valid. The algorithm fits the key, and key and signature have a valid form and length.
#[derive(Default)]
pub(super) struct CheckSignature<'a> {
    /// The algorithm, such as `RS256`. ECDSA signatures are two numbers, not DER (RFC 7518 §3.4); PSS has a salt as long as its hash.
    pub(super) algorithm: &'a str,
    /// The key as a JWK with only its required members. Equal keys have equal strings. If it can't be imported, the signature is invalid.
    pub(super) key: &'a str,
    /// The token, whose first `signed` bytes are the signed ones.
    pub(super) token: &'a [u8],
    /// How many bytes of the token are signed.
    pub(super) signed: u64,
    /// The signature.
    pub(super) signature: &'a [u8],
    /// `NextCall` might be answered by a call.
    pub(super) may_call: bool,
}

impl CheckSignature<'_> {
    pub(super) fn write(&self, to: &mut Writer<'_>) -> OrStatus {
        to.fields(68, |to| self.put(to))
    }

    fn put(&self, to: &mut Writer<'_>) -> OrStatus {
        if !self.algorithm.is_empty() {
            to.bytes(CRITICAL | 1, self.algorithm.as_bytes())?;
        }
        if !self.key.is_empty() {
            to.bytes(CRITICAL | 2, self.key.as_bytes())?;
        }
        if !self.token.is_empty() {
            to.bytes(CRITICAL | 3, self.token)?;
        }
        to.integer(CRITICAL | 4, self.signed);
        if !self.signature.is_empty() {
            to.bytes(CRITICAL | 5, self.signature)?;
        }
        to.boolean(6, self.may_call);
        Ok(())
    }
}

/// A call to make without following redirects. In any case, report the result with `Called`.
#[derive(Default)]
pub(super) struct Call<'a> {
    /// The attempt that needs it.
    pub(super) attempt: u64,
    /// Its method.
    pub(super) method: &'a str,
    /// `https`, or a loopback address.
    pub(super) url: &'a str,
    /// Its headers. One of them can contain a secret, so don't log them.
    pub(super) headers: Vec<CallHeader<'a>>,
    /// Its body, if it has one. It can contain a token, so don't log it.
    pub(super) body: Option<&'a [u8]>,
    /// If the response hasn't arrived after this time, report `ORBGATE_FETCH_TIMEOUT`.
    pub(super) timeout_ms: u64,
    /// If the body is longer, stop reading and report `ORBGATE_FETCH_TOO_LARGE`.
    pub(super) max_bytes: u64,
}

impl Call<'_> {
    pub(super) fn write(&self, to: &mut Writer<'_>) -> OrStatus {
        to.fields(69, |to| self.put(to))
    }

    fn put(&self, to: &mut Writer<'_>) -> OrStatus {
        to.integer(CRITICAL | 1, self.attempt);
        if !self.method.is_empty() {
            to.bytes(CRITICAL | 2, self.method.as_bytes())?;
        }
        if !self.url.is_empty() {
            to.bytes(CRITICAL | 3, self.url.as_bytes())?;
        }
        for one in &self.headers {
            to.fields(CRITICAL | 4, |to| one.put(to))?;
        }
        if let Some(one) = &self.body {
            to.bytes(CRITICAL | 5, one)?;
        }
        to.integer(CRITICAL | 6, self.timeout_ms);
        to.integer(CRITICAL | 7, self.max_bytes);
        Ok(())
    }
}

/// Whether the wait of a step is over.
#[derive(Default)]
pub(super) struct Over {
    /// The step can be resumed.
    pub(super) is_over: bool,
}

impl Over {
    pub(super) fn write(&self, to: &mut Writer<'_>) -> OrStatus {
        to.fields(70, |to| self.put(to))
    }

    fn put(&self, to: &mut Writer<'_>) -> OrStatus {
        to.boolean(CRITICAL | 1, self.is_over);
        Ok(())
    }
}

/// Where the secrets of a token configuration are, in the order of the issuers that have one.
#[derive(Default)]
pub(super) struct SecretSources<'a> {
    /// The sources.
    pub(super) sources: Vec<SecretSource<'a>>,
}

impl SecretSources<'_> {
    pub(super) fn write(&self, to: &mut Writer<'_>) -> OrStatus {
        to.fields(71, |to| self.put(to))
    }

    fn put(&self, to: &mut Writer<'_>) -> OrStatus {
        for one in &self.sources {
            to.fields(CRITICAL | 1, |to| one.put(to))?;
        }
        Ok(())
    }
}

/// The status of the keys at one moment.
#[derive(Default)]
pub(super) struct KeyStatus<'a> {
    /// The issuers, in the order of the configuration.
    pub(super) issuers: Vec<IssuerStatus<'a>>,
}

impl KeyStatus<'_> {
    pub(super) fn write(&self, to: &mut Writer<'_>) -> OrStatus {
        to.fields(72, |to| self.put(to))
    }

    fn put(&self, to: &mut Writer<'_>) -> OrStatus {
        for one in &self.issuers {
            to.fields(1, |to| one.put(to))?;
        }
        Ok(())
    }
}

/// The differences between the routes of a service and of its policy; empty if they are the same.
#[derive(Default)]
pub(super) struct RouteDifferences<'a> {
    /// First what the policy lacks, then what the service lacks.
    pub(super) differences: Vec<RouteDifference<'a>>,
}

impl RouteDifferences<'_> {
    pub(super) fn write(&self, to: &mut Writer<'_>) -> OrStatus {
        to.fields(73, |to| self.put(to))
    }

    fn put(&self, to: &mut Writer<'_>) -> OrStatus {
        for one in &self.differences {
            to.fields(CRITICAL | 1, |to| one.put(to))?;
        }
        Ok(())
    }
}

/// The request is for an MCP endpoint, and its token is valid. Read its body and ask with `Body`.
#[derive(Default)]
pub(super) struct ReadBody {
    /// If the body is longer, stop reading and report `too_large`.
    pub(super) most_bytes: u64,
    /// `NextCall` might be answered by a call.
    pub(super) may_call: bool,
    /// The most bytes of all bodies that the host holds; one without `Content-Length` counts as `most_bytes`. Without room, report `busy`.
    pub(super) most_held: u64,
}

impl ReadBody {
    pub(super) fn write(&self, to: &mut Writer<'_>) -> OrStatus {
        to.fields(74, |to| self.put(to))
    }

    fn put(&self, to: &mut Writer<'_>) -> OrStatus {
        to.integer(CRITICAL | 1, self.most_bytes);
        to.boolean(2, self.may_call);
        to.integer(CRITICAL | 3, self.most_held);
        Ok(())
    }
}

/// What became of a version of the policy. A first one with the engine's digest is active already.
#[derive(Default)]
pub(super) struct Loaded<'a> {
    /// Make an engine of the same bytes and activate it. The secrets were read again.
    pub(super) is_loaded: bool,
    /// The label of `orbgate_policy_loads_total`, such as `wider`; empty if nothing is counted.
    pub(super) result: &'a str,
    /// What to log: the digest, or why the previous policy stays active.
    pub(super) message: &'a str,
    /// What to log as a warning, such as the changes for callers; empty if there is nothing.
    pub(super) warning: &'a str,
    /// The `OrbgateStatus` of a rejection; otherwise 0.
    pub(super) status: u64,
    /// The errors of a policy or a configuration that have a position.
    pub(super) diagnostics: Vec<Diagnostic<'a>>,
    /// With `interval_ms`, when to ask again.
    pub(super) pause_ms: u64,
    /// Why a version is rejected, for the language's error: each error on a line, with the file.
    pub(super) reason: &'a str,
}

impl Loaded<'_> {
    pub(super) fn write(&self, to: &mut Writer<'_>) -> OrStatus {
        to.fields(84, |to| self.put(to))
    }

    fn put(&self, to: &mut Writer<'_>) -> OrStatus {
        to.boolean(CRITICAL | 1, self.is_loaded);
        if !self.result.is_empty() {
            to.bytes(2, self.result.as_bytes())?;
        }
        if !self.message.is_empty() {
            to.bytes(3, self.message.as_bytes())?;
        }
        if !self.warning.is_empty() {
            to.bytes(4, self.warning.as_bytes())?;
        }
        to.integer(5, self.status);
        for one in &self.diagnostics {
            to.fields(6, |to| one.put(to))?;
        }
        to.integer(7, self.pause_ms);
        if !self.reason.is_empty() {
            to.bytes(8, self.reason.as_bytes())?;
        }
        Ok(())
    }
}

/// The call is allowed and consumes orbs: before its handler runs, ask the ledger's step with `Hold`.
#[derive(Default)]
pub(super) struct Charge<'a> {
    /// The account.
    pub(super) account: &'a [u8],
    /// How many orbs.
    pub(super) amount: u64,
    /// Bonus orbs may be used.
    pub(super) bonus: bool,
    /// What the service notes: the route and the policy's digest.
    pub(super) note: &'a [u8],
    /// If it isn't empty, the response of an MCP endpoint settles it: ask with `ReadResponse`.
    pub(super) mcp_id: &'a [u8],
    /// Its protocol version is an older one.
    pub(super) mcp_legacy: bool,
    /// With `with_audit`, the audit's line once the orbs are held, instead of the answer's.
    pub(super) audit: Option<&'a str>,
    /// The id of the hold in the ledger, for the service's own log.
    pub(super) hold_id: &'a str,
}

impl Charge<'_> {
    pub(super) fn write(&self, to: &mut Writer<'_>) -> OrStatus {
        to.fields(90, |to| self.put(to))
    }

    fn put(&self, to: &mut Writer<'_>) -> OrStatus {
        if !self.account.is_empty() {
            to.bytes(CRITICAL | 1, self.account)?;
        }
        to.integer(CRITICAL | 2, self.amount);
        to.boolean(CRITICAL | 3, self.bonus);
        if !self.note.is_empty() {
            to.bytes(CRITICAL | 4, self.note)?;
        }
        if !self.mcp_id.is_empty() {
            to.bytes(CRITICAL | 5, self.mcp_id)?;
        }
        to.boolean(CRITICAL | 6, self.mcp_legacy);
        if let Some(one) = &self.audit {
            to.bytes(7, one.as_bytes())?;
        }
        if !self.hold_id.is_empty() {
            to.bytes(8, self.hold_id.as_bytes())?;
        }
        Ok(())
    }
}

/// What a request that waits for its orbs must do next.
#[derive(Default)]
pub(super) struct HoldStep<'a> {
    /// The orbs are held: run the handler.
    pub(super) may_run: bool,
    /// If it isn't empty, POST to this path with the secret as bearer token, and report `Held`.
    pub(super) path: &'a str,
    /// Its body, which is JSON.
    pub(super) body: &'a [u8],
    /// After this time the call has failed.
    pub(super) timeout_ms: u64,
    /// If it isn't 0, wait until this monotonic time and ask with `Waited`. Otherwise deny.
    pub(super) until_ms: u64,
    /// Of a denial: for `unpaid` of `Ask`.
    pub(super) unpaid: u64,
    /// Of a denial: for `Ask`.
    pub(super) retry_after_ms: u64,
    /// At the end, the label of `orbgate_holds_total`.
    pub(super) result: &'a str,
}

impl HoldStep<'_> {
    pub(super) fn write(&self, to: &mut Writer<'_>) -> OrStatus {
        to.fields(91, |to| self.put(to))
    }

    fn put(&self, to: &mut Writer<'_>) -> OrStatus {
        to.boolean(CRITICAL | 1, self.may_run);
        if !self.path.is_empty() {
            to.bytes(CRITICAL | 2, self.path.as_bytes())?;
        }
        if !self.body.is_empty() {
            to.bytes(CRITICAL | 3, self.body)?;
        }
        to.integer(CRITICAL | 4, self.timeout_ms);
        to.integer(CRITICAL | 5, self.until_ms);
        to.integer(6, self.unpaid);
        to.integer(7, self.retry_after_ms);
        if !self.result.is_empty() {
            to.bytes(8, self.result.as_bytes())?;
        }
        Ok(())
    }
}

/// The next message to the service. Report it with `LedgerCalled`.
#[derive(Default)]
pub(super) struct LedgerCall<'a> {
    /// Its number.
    pub(super) call: u64,
    /// Its path. By POST, like that of `HoldStep`.
    pub(super) path: &'a str,
    /// Its body.
    pub(super) body: &'a [u8],
    /// After this time the call has failed.
    pub(super) timeout_ms: u64,
}

impl LedgerCall<'_> {
    pub(super) fn write(&self, to: &mut Writer<'_>) -> OrStatus {
        to.fields(92, |to| self.put(to))
    }

    fn put(&self, to: &mut Writer<'_>) -> OrStatus {
        to.integer(CRITICAL | 1, self.call);
        if !self.path.is_empty() {
            to.bytes(CRITICAL | 2, self.path.as_bytes())?;
        }
        if !self.body.is_empty() {
            to.bytes(CRITICAL | 3, self.body)?;
        }
        to.integer(CRITICAL | 4, self.timeout_ms);
        Ok(())
    }
}

/// The state of a ledger's step.
#[derive(Default)]
pub(super) struct Ledgered {
    /// Ask with `NextLedgerCall` at `wake_ms`; otherwise only after a report.
    pub(super) wakes: bool,
    /// On the monotonic clock.
    pub(super) wake_ms: u64,
    /// How many settlements wait for the service.
    pub(super) waiting: u64,
    /// How many calls were charged so far.
    pub(super) captured: u64,
    /// How many holds were released.
    pub(super) voided: u64,
    /// How many settlements were given up.
    pub(super) lost: u64,
}

impl Ledgered {
    pub(super) fn write(&self, to: &mut Writer<'_>) -> OrStatus {
        to.fields(93, |to| self.put(to))
    }

    fn put(&self, to: &mut Writer<'_>) -> OrStatus {
        to.boolean(CRITICAL | 1, self.wakes);
        to.integer(CRITICAL | 2, self.wake_ms);
        to.integer(3, self.waiting);
        to.integer(4, self.captured);
        to.integer(5, self.voided);
        to.integer(6, self.lost);
        Ok(())
    }
}

/// What a response has said so far.
#[derive(Default)]
pub(super) struct Responded {
    /// The next piece must be read; otherwise none.
    pub(super) reads: bool,
    /// For `response` of `Ended`.
    pub(super) end: u64,
}

impl Responded {
    pub(super) fn write(&self, to: &mut Writer<'_>) -> OrStatus {
        to.fields(94, |to| self.put(to))
    }

    fn put(&self, to: &mut Writer<'_>) -> OrStatus {
        to.boolean(CRITICAL | 1, self.reads);
        to.integer(CRITICAL | 2, self.end);
        Ok(())
    }
}

/// The names that the token may pass, in their order.
#[derive(Default)]
pub(super) struct VisibleNames<'a> {
    /// The names, one on each line.
    pub(super) names: &'a str,
}

impl VisibleNames<'_> {
    pub(super) fn write(&self, to: &mut Writer<'_>) -> OrStatus {
        to.fields(98, |to| self.put(to))
    }

    fn put(&self, to: &mut Writer<'_>) -> OrStatus {
        if !self.names.is_empty() {
            to.bytes(CRITICAL | 1, self.names.as_bytes())?;
        }
        Ok(())
    }
}

/// An error of a configuration.
#[derive(Default)]
pub(super) struct Diagnostic<'a> {
    /// Line, from 1.
    pub(super) line: u64,
    /// Column in characters, from 1.
    pub(super) column: u64,
    /// The message: lower case, no final period, without the position.
    pub(super) message: &'a str,
}

impl Diagnostic<'_> {
    fn put(&self, to: &mut Writer<'_>) -> OrStatus {
        to.integer(1, self.line);
        to.integer(2, self.column);
        if !self.message.is_empty() {
            to.bytes(3, self.message.as_bytes())?;
        }
        Ok(())
    }
}

/// A verified token.
#[derive(Default)]
pub(super) struct Token<'a> {
    /// Its kind: an `OrbgateTokenKind`.
    pub(super) kind: u64,
    /// Its scopes, separated by single spaces.
    pub(super) scopes: &'a str,
    /// The issuer.
    pub(super) issuer: &'a str,
    /// The subject (`sub`); empty if the token doesn't state it.
    pub(super) subject: &'a str,
    /// The client that the token was issued to; empty if the token doesn't state it.
    pub(super) client: &'a str,
    /// The party that acts for the subject (`act`); empty if the token doesn't state it.
    pub(super) actor: &'a str,
    /// The token's own id (`jti`); empty if the token doesn't state it.
    pub(super) id: &'a str,
    /// An id that reveals nothing about the token: 16 hexadecimal digits.
    pub(super) fingerprint: &'a str,
    /// When the token expires: in milliseconds since 1970.
    pub(super) expires_ms: u64,
}

impl Token<'_> {
    fn put(&self, to: &mut Writer<'_>) -> OrStatus {
        to.integer(1, self.kind);
        if !self.scopes.is_empty() {
            to.bytes(2, self.scopes.as_bytes())?;
        }
        if !self.issuer.is_empty() {
            to.bytes(3, self.issuer.as_bytes())?;
        }
        if !self.subject.is_empty() {
            to.bytes(4, self.subject.as_bytes())?;
        }
        if !self.client.is_empty() {
            to.bytes(5, self.client.as_bytes())?;
        }
        if !self.actor.is_empty() {
            to.bytes(6, self.actor.as_bytes())?;
        }
        if !self.id.is_empty() {
            to.bytes(7, self.id.as_bytes())?;
        }
        if !self.fingerprint.is_empty() {
            to.bytes(8, self.fingerprint.as_bytes())?;
        }
        to.integer(9, self.expires_ms);
        Ok(())
    }
}

/// A header line of a call.
#[derive(Default)]
pub(super) struct CallHeader<'a> {
    /// Its name.
    pub(super) name: &'a str,
    /// Its value.
    pub(super) value: &'a str,
}

impl CallHeader<'_> {
    fn put(&self, to: &mut Writer<'_>) -> OrStatus {
        if !self.name.is_empty() {
            to.bytes(CRITICAL | 1, self.name.as_bytes())?;
        }
        if !self.value.is_empty() {
            to.bytes(CRITICAL | 2, self.value.as_bytes())?;
        }
        Ok(())
    }
}

/// Where a secret is. A configuration never contains the secret.
#[derive(Default)]
pub(super) struct SecretSource<'a> {
    /// An `ORBGATE_SECRET_*` number.
    pub(super) kind: u64,
    /// The path of the file, or the name of the variable.
    pub(super) name: &'a str,
}

impl SecretSource<'_> {
    fn put(&self, to: &mut Writer<'_>) -> OrStatus {
        to.integer(CRITICAL | 1, self.kind);
        if !self.name.is_empty() {
            to.bytes(CRITICAL | 2, self.name.as_bytes())?;
        }
        Ok(())
    }
}

/// The status of one issuer's keys.
#[derive(Default)]
pub(super) struct IssuerStatus<'a> {
    /// The issuer.
    pub(super) issuer: &'a str,
    /// The number of usable keys. At 0, every token is rejected unless `opaque` is true.
    pub(super) key_count: u64,
    /// When the keys were fetched, on the monotonic clock; 0 if there aren't any.
    pub(super) fetched_ms: u64,
    /// Why the last attempt failed; empty if it succeeded.
    pub(super) failure: &'a str,
    /// The keys that were left out, with the reasons: one line for each.
    pub(super) warnings: &'a str,
    /// The issuer's tokens are opaque: `failure` is that of its introspection endpoint.
    pub(super) opaque: bool,
}

impl IssuerStatus<'_> {
    fn put(&self, to: &mut Writer<'_>) -> OrStatus {
        if !self.issuer.is_empty() {
            to.bytes(1, self.issuer.as_bytes())?;
        }
        to.integer(2, self.key_count);
        to.integer(3, self.fetched_ms);
        if !self.failure.is_empty() {
            to.bytes(4, self.failure.as_bytes())?;
        }
        if !self.warnings.is_empty() {
            to.bytes(5, self.warnings.as_bytes())?;
        }
        to.boolean(6, self.opaque);
        Ok(())
    }
}

/// A route that only the service or only the policy has.
#[derive(Default)]
pub(super) struct RouteDifference<'a> {
    /// An `ORBGATE_DIFFERENCE_*` number.
    pub(super) kind: u64,
    /// The route, for example `GET /users/export`.
    pub(super) route: &'a str,
    /// The policy's route that decides an undeclared one; empty if it is denied.
    pub(super) decided_as: &'a str,
}

impl RouteDifference<'_> {
    fn put(&self, to: &mut Writer<'_>) -> OrStatus {
        to.integer(CRITICAL | 1, self.kind);
        if !self.route.is_empty() {
            to.bytes(CRITICAL | 2, self.route.as_bytes())?;
        }
        if !self.decided_as.is_empty() {
            to.bytes(3, self.decided_as.as_bytes())?;
        }
        Ok(())
    }
}
