//! The messages of gates. Made of crates/orbgate-generate/shapes.txt by `cargo xtask codes`; not to be edited.

use super::wire::{CRITICAL, Fill, Form, INVALID, Item, Put, Writer, each, message};
use crate::status::OrStatus;

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
    LedgerReplied(LedgerReplied<'a>),
    CheckLedger(CheckLedger<'a>),
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
            13 if fields.is_empty() => Ok(Self::Status),
            14 if fields.is_empty() => Ok(Self::CheckEngine),
            15 => CheckRoutes::read(fields).map(Self::CheckRoutes),
            16 if fields.is_empty() => Ok(Self::Drop),
            17 => Body::read(fields).map(Self::Body),
            24 => Reload::read(fields).map(Self::Reload),
            30 => UseLedger::read(fields).map(Self::UseLedger),
            31 => Hold::read(fields).map(Self::Hold),
            32 => Held::read(fields).map(Self::Held),
            33 => Waited::read(fields).map(Self::Waited),
            34 => Ended::read(fields).map(Self::Ended),
            35 => NextLedgerCall::read(fields).map(Self::NextLedgerCall),
            36 => LedgerCalled::read(fields).map(Self::LedgerCalled),
            45 => LedgerReplied::read(fields).map(Self::LedgerReplied),
            46 => CheckLedger::read(fields).map(Self::CheckLedger),
            37 => CheckAmounts::read(fields).map(Self::CheckAmounts),
            38 => ReadResponse::read(fields).map(Self::ReadResponse),
            39 => ResponseBegins::read(fields).map(Self::ResponseBegins),
            40 => ResponsePiece::read(fields).map(Self::ResponsePiece),
            44 => Visible::read(fields).map(Self::Visible),
            _ => Err(INVALID),
        }
    }
}

/// Asks which secrets a token configuration needs. Answered by `SecretSources` or `Failed`.
#[derive(Default)]
pub(super) struct Sources<'a> {
    /// The token configuration, in YAML.
    pub(super) tokens: &'a [u8],
}

impl<'a> Form<'a> for Sources<'a> {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.tokens.fill(1, bytes, seen),
            _ => Err(INVALID),
        })?;
        Ok(read)
    }
}

/// Makes a gate. Answered by `Done` or `Failed`; after `Done`, `*gate` is its handle.
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
    /// Origins whose pages may call the endpoint and read its responses: `https://app.example`.
    pub(super) mcp_origins: Vec<&'a str>,
    /// Calls in sessions are charged however they end, not denied.
    pub(super) mcp_charge_sessions: bool,
    /// `Ask` has what proves a token. Without it, a configuration with `proof` is refused.
    pub(super) proofs: bool,
}

impl<'a> Form<'a> for Make<'a> {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.tokens.fill(1, bytes, seen),
            2 => read.flat_403.fill(2, bytes, seen),
            3 => read.ignore_method_override.fill(3, bytes, seen),
            4 => read.signatures_outside.fill(4, bytes, seen),
            5 => read.no_stale_keys.fill(5, bytes, seen),
            6 => read.introspection.fill(6, bytes, seen),
            7 => read.challenge.fill(7, bytes, seen),
            8 => read.templates.fill(8, bytes, seen),
            9 => read.cors_preflight.fill(9, bytes, seen),
            10 => read.realm.fill(10, bytes, seen),
            11 => read.resource_metadata.fill(11, bytes, seen),
            12 => read.ttl_ms.fill(12, bytes, seen),
            13 => read.ttl_min_ms.fill(13, bytes, seen),
            14 => read.ttl_max_ms.fill(14, bytes, seen),
            15 => read.ahead_percent.fill(15, bytes, seen),
            16 => read.max_stale_ms.fill(16, bytes, seen),
            17 => read.cooldown_ms.fill(17, bytes, seen),
            18 => read.burst.fill(18, bytes, seen),
            19 => read.retry_ms.fill(19, bytes, seen),
            20 => read.timeout_ms.fill(20, bytes, seen),
            21 => read.public_routes.fill(21, bytes, seen),
            22 => read.secrets.fill(22, bytes, seen),
            23 => read.mcp.fill(23, bytes, seen),
            24 => read.mcp_initial_scopes.fill(24, bytes, seen),
            25 => read.mcp_most_bytes.fill(25, bytes, seen),
            26 => read.mcp_deny_legacy.fill(26, bytes, seen),
            27 => read.metadata.fill(27, bytes, seen),
            28 => read.mcp_origins.fill(28, bytes, seen),
            29 => read.mcp_charge_sessions.fill(29, bytes, seen),
            30 => read.proofs.fill(30, bytes, seen),
            _ => Err(INVALID),
        })?;
        Ok(read)
    }
}

/// Starts a request as received. Answered by `Answer`, `Wait`, `CheckSignature`, `ReadBody` or `Charge`.
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
    /// Every value of `DPoP`, one item for each header line.
    pub(super) dpop: Vec<&'a [u8]>,
    /// The client's certificate of the connection, in DER; empty without one.
    pub(super) certificate: &'a [u8],
    /// The same request was allowed before: the token's proof isn't used again.
    pub(super) repeats: bool,
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
    /// Every value of `Access-Control-Request-Headers`, for an MCP endpoint.
    pub(super) access_control_request_headers: Vec<&'a [u8]>,
}

impl<'a> Form<'a> for Ask<'a> {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.method.fill(1, bytes, seen),
            2 => read.target.fill(2, bytes, seen),
            3 => read.authorization.fill(3, bytes, seen),
            4 => read.header_names.fill(4, bytes, seen),
            5 => read.upgrade.fill(5, bytes, seen),
            6 => read.origin.fill(6, bytes, seen),
            7 => read.access_control_request_method.fill(7, bytes, seen),
            8 => read.matched.fill(8, bytes, seen),
            9 => read.path_template.fill(9, bytes, seen),
            10 => read.allow_bonus_orbs.fill(10, bytes, seen),
            11 => read.with_audit.fill(11, bytes, seen),
            12 => read.holds_thread.fill(12, bytes, seen),
            13 => read.unix_ms.fill(13, bytes, seen),
            14 => read.monotonic_ms.fill(14, bytes, seen),
            15 => read.reads_bonus_orbs.fill(15, bytes, seen),
            16 => read.dpop.fill(16, bytes, seen),
            17 => read.certificate.fill(17, bytes, seen),
            18 => read.repeats.fill(18, bytes, seen),
            20 => read.charges.fill(20, bytes, seen),
            21 => read.has_amount.fill(21, bytes, seen),
            22 => read.amount.fill(22, bytes, seen),
            23 => read.unpaid.fill(23, bytes, seen),
            24 => read.retry_after_ms.fill(24, bytes, seen),
            25 => read.amount_failed.fill(25, bytes, seen),
            26 => read.keeps.fill(26, bytes, seen),
            27 => read.again.fill(27, bytes, seen),
            28 => read.hold.fill(28, bytes, seen),
            29 => read.access_control_request_headers.fill(29, bytes, seen),
            _ => Err(INVALID),
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

impl<'a> Form<'a> for Resume {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.unix_ms.fill(1, bytes, seen),
            2 => read.monotonic_ms.fill(2, bytes, seen),
            _ => Err(INVALID),
        })?;
        Ok(read)
    }
}

/// Resumes a step after its signature was checked. Answered like `Ask`, without `Wait`.
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

impl<'a> Form<'a> for Checked {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.is_right.fill(1, bytes, seen),
            2 => read.token_hash.fill(2, bytes, seen),
            3 => read.unix_ms.fill(3, bytes, seen),
            4 => read.monotonic_ms.fill(4, bytes, seen),
            _ => Err(INVALID),
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

impl<'a> Form<'a> for IsOver {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.monotonic_ms.fill(1, bytes, seen),
            _ => Err(INVALID),
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

impl<'a> Form<'a> for NextCall {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.monotonic_ms.fill(1, bytes, seen),
            _ => Err(INVALID),
        })?;
        Ok(read)
    }
}

/// Reports a call's result. Answered by the attempt's next `Call`, or by `Done`: then resume what waits.
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

impl<'a> Form<'a> for Called<'a> {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.attempt.fill(1, bytes, seen),
            2 => read.failure.fill(2, bytes, seen),
            3 => read.status.fill(3, bytes, seen),
            4 => read.headers.fill(4, bytes, seen),
            5 => read.body.fill(5, bytes, seen),
            6 => read.monotonic_ms.fill(6, bytes, seen),
            _ => Err(INVALID),
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

impl<'a> Form<'a> for Warm {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.monotonic_ms.fill(1, bytes, seen),
            _ => Err(INVALID),
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

impl<'a> Form<'a> for Revoke<'a> {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.issuer.fill(1, bytes, seen),
            2 => read.kid.fill(2, bytes, seen),
            _ => Err(INVALID),
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

impl<'a> Form<'a> for Forget<'a> {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.issuer.fill(1, bytes, seen),
            _ => Err(INVALID),
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

impl<'a> Form<'a> for ReadSecrets<'a> {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.secrets.fill(1, bytes, seen),
            _ => Err(INVALID),
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

impl<'a> Form<'a> for CheckRoutes<'a> {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.routes.fill(1, bytes, seen),
            2 => read.templates.fill(2, bytes, seen),
            _ => Err(INVALID),
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

impl<'a> Form<'a> for Body<'a> {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.body.fill(1, bytes, seen),
            2 => read.too_large.fill(2, bytes, seen),
            3 => read.headers.fill(3, bytes, seen),
            4 => read.unix_ms.fill(4, bytes, seen),
            5 => read.busy.fill(5, bytes, seen),
            6 => read.unreadable.fill(6, bytes, seen),
            _ => Err(INVALID),
        })?;
        Ok(read)
    }
}

/// Checks a version of the policy. The engine is the active one; null at first. Answered by `Loaded`.
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
    /// Ask after each `pause_ms`, until `Drop`: a version counts once it has rested. 0: now.
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

impl<'a> Form<'a> for Reload<'a> {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.policy.fill(1, bytes, seen),
            2 => read.failure.fill(2, bytes, seen),
            3 => read.require_seal.fill(3, bytes, seen),
            4 => read.refuse_wider.fill(4, bytes, seen),
            5 => read.secrets.fill(5, bytes, seen),
            6 => read.interval_ms.fill(6, bytes, seen),
            7 => read.is_told.fill(7, bytes, seen),
            8 => read.monotonic_ms.fill(8, bytes, seen),
            9 => read.file.fill(9, bytes, seen),
            10 => read.secrets_failure.fill(10, bytes, seen),
            11 => read.has_ledger.fill(11, bytes, seen),
            12 => read.amounts.fill(12, bytes, seen),
            _ => Err(INVALID),
        })?;
        Ok(read)
    }
}

/// Makes the step the holds of a process, until `Drop`. Answered by `Ledgered` or `Failed`.
#[derive(Default)]
pub(super) struct UseLedger {
    /// A call is charged whose caller left before the answer was whole.
    pub(super) captures_cancelled: bool,
    /// How long a hold lasts if the process stops. 0 selects 60 s.
    pub(super) ttl_ms: u64,
    /// How long a call waits for the service before it is denied. 0 selects 2 s.
    pub(super) timeout_ms: u64,
    /// How many settlements can wait for the service. 0 selects 4,096.
    pub(super) queue: u64,
    /// It isn't charged. If both are true, what its handler has stated is.
    pub(super) voids_cancelled: bool,
    /// A call at an MCP endpoint is charged whose result has `isError`.
    pub(super) captures_tool_errors: bool,
    /// It isn't charged. Both: as above. Needed with an MCP endpoint.
    pub(super) voids_tool_errors: bool,
    /// A call at an MCP endpoint is charged whose result asks for input.
    pub(super) captures_input_required: bool,
    /// It isn't charged. Both: as above. Needed with an MCP endpoint.
    pub(super) voids_input_required: bool,
    /// A call is charged whose answer the service broke off midway.
    pub(super) captures_broken: bool,
    /// It isn't charged. Both: as above. Neither: as if the caller left.
    pub(super) voids_broken: bool,
    /// A call costs at most its hold times this. 0 selects 1.
    pub(super) ceiling: u64,
}

impl<'a> Form<'a> for UseLedger {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.captures_cancelled.fill(1, bytes, seen),
            2 => read.ttl_ms.fill(2, bytes, seen),
            3 => read.timeout_ms.fill(3, bytes, seen),
            4 => read.queue.fill(4, bytes, seen),
            5 => read.voids_cancelled.fill(5, bytes, seen),
            6 => read.captures_tool_errors.fill(6, bytes, seen),
            7 => read.voids_tool_errors.fill(7, bytes, seen),
            8 => read.captures_input_required.fill(8, bytes, seen),
            9 => read.voids_input_required.fill(9, bytes, seen),
            10 => read.captures_broken.fill(10, bytes, seen),
            11 => read.voids_broken.fill(11, bytes, seen),
            12 => read.ceiling.fill(12, bytes, seen),
            _ => Err(INVALID),
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

impl<'a> Form<'a> for Hold<'a> {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.id.fill(1, bytes, seen),
            2 => read.account.fill(2, bytes, seen),
            3 => read.amount.fill(3, bytes, seen),
            4 => read.bonus.fill(4, bytes, seen),
            5 => read.note.fill(5, bytes, seen),
            6 => read.monotonic_ms.fill(6, bytes, seen),
            _ => Err(INVALID),
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

impl<'a> Form<'a> for Held<'a> {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.id.fill(1, bytes, seen),
            2 => read.status.fill(2, bytes, seen),
            3 => read.body.fill(3, bytes, seen),
            4 => read.unix_ms.fill(4, bytes, seen),
            5 => read.monotonic_ms.fill(5, bytes, seen),
            _ => Err(INVALID),
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

impl<'a> Form<'a> for Waited<'a> {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.id.fill(1, bytes, seen),
            2 => read.monotonic_ms.fill(2, bytes, seen),
            _ => Err(INVALID),
        })?;
        Ok(read)
    }
}

/// Reports once how the handler of a hold has ended. Answered by `Ledgered`; then ask for the next call.
#[derive(Default)]
pub(super) struct Ended<'a> {
    /// The id of the hold.
    pub(super) id: &'a [u8],
    /// Its caller left before its answer was complete.
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
    /// The service broke its answer off after the first byte.
    pub(super) broken: bool,
}

impl<'a> Form<'a> for Ended<'a> {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.id.fill(1, bytes, seen),
            2 => read.cancelled.fill(2, bytes, seen),
            3 => read.status.fill(3, bytes, seen),
            4 => read.is_stated.fill(4, bytes, seen),
            5 => read.stated.fill(5, bytes, seen),
            6 => read.monotonic_ms.fill(6, bytes, seen),
            7 => read.never_ran.fill(7, bytes, seen),
            8 => read.response.fill(8, bytes, seen),
            9 => read.broken.fill(9, bytes, seen),
            _ => Err(INVALID),
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

impl<'a> Form<'a> for NextLedgerCall {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.monotonic_ms.fill(1, bytes, seen),
            _ => Err(INVALID),
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

impl<'a> Form<'a> for LedgerCalled<'a> {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.call.fill(1, bytes, seen),
            2 => read.status.fill(2, bytes, seen),
            3 => read.body.fill(3, bytes, seen),
            4 => read.monotonic_ms.fill(4, bytes, seen),
            _ => Err(INVALID),
        })?;
        Ok(read)
    }
}

/// Asks what to log about an answer of the service or none: a failure once. Answered by `Done`.
#[derive(Default)]
pub(super) struct LedgerReplied<'a> {
    /// The URL of the service.
    pub(super) url: &'a str,
    /// The HTTP status; 0 without an answer.
    pub(super) status: u64,
    /// The body.
    pub(super) body: &'a [u8],
    /// Why there is no answer, in a word or a few.
    pub(super) failure: &'a str,
}

impl<'a> Form<'a> for LedgerReplied<'a> {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.url.fill(1, bytes, seen),
            2 => read.status.fill(2, bytes, seen),
            3 => read.body.fill(3, bytes, seen),
            4 => read.failure.fill(4, bytes, seen),
            _ => Err(INVALID),
        })?;
        Ok(read)
    }
}

/// Reads the URL of a ledger service, and the secret for it. Answered by `LedgerAt` or `Failed`.
#[derive(Default)]
pub(super) struct CheckLedger<'a> {
    /// `https://…`, `http://` and a loopback address, or `unix:` and a path.
    pub(super) url: &'a str,
    /// The secret, as its file or a setting says it.
    pub(super) secret: &'a str,
}

impl<'a> Form<'a> for CheckLedger<'a> {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.url.fill(1, bytes, seen),
            2 => read.secret.fill(2, bytes, seen),
            _ => Err(INVALID),
        })?;
        Ok(read)
    }
}

/// Checks that each route that consumes orbs has an amount. Answered by `Done` or `Failed`.
#[derive(Default)]
pub(super) struct CheckAmounts<'a> {
    /// The routes with a function, as the policy names them.
    pub(super) functions: Vec<&'a str>,
}

impl<'a> Form<'a> for CheckAmounts<'a> {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.functions.fill(1, bytes, seen),
            _ => Err(INVALID),
        })?;
        Ok(read)
    }
}

/// Begins to read an MCP endpoint's response, before its handler runs. Answered by `Responded`.
#[derive(Default)]
pub(super) struct ReadResponse<'a> {
    /// That of the `Charge`.
    pub(super) mcp_id: &'a [u8],
    /// That of the `Charge`.
    pub(super) mcp_legacy: bool,
    /// That of the `Charge`.
    pub(super) mcp_session: bool,
}

impl<'a> Form<'a> for ReadResponse<'a> {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.mcp_id.fill(1, bytes, seen),
            2 => read.mcp_legacy.fill(2, bytes, seen),
            3 => read.mcp_session.fill(3, bytes, seen),
            _ => Err(INVALID),
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

impl<'a> Form<'a> for ResponseBegins<'a> {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.headers.fill(1, bytes, seen),
            _ => Err(INVALID),
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

impl<'a> Form<'a> for ResponsePiece<'a> {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.piece.fill(1, bytes, seen),
            _ => Err(INVALID),
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

impl<'a> Form<'a> for Visible<'a> {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.kind.fill(1, bytes, seen),
            2 => read.scopes.fill(2, bytes, seen),
            3 => read.method.fill(3, bytes, seen),
            4 => read.names.fill(4, bytes, seen),
            _ => Err(INVALID),
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

impl<'a> Form<'a> for Secret<'a> {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.value.fill(1, bytes, seen),
            _ => Err(INVALID),
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

impl<'a> Form<'a> for Header<'a> {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.name.fill(1, bytes, seen),
            2 => read.value.fill(2, bytes, seen),
            _ => Err(INVALID),
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

impl<'a> Form<'a> for ServiceRoute<'a> {
    #[inline]
    fn read(fields: &'a [u8]) -> OrStatus<Self> {
        let mut read = Self::default();
        each(fields, |number, bytes, seen| match number {
            1 => read.method.fill(1, bytes, seen),
            2 => read.path_template.fill(2, bytes, seen),
            _ => Err(INVALID),
        })?;
        Ok(read)
    }
}

/// The question is done.
#[derive(Default)]
pub(super) struct Done<'a> {
    /// What to log, one sentence on each line; empty if there is nothing.
    pub(super) notices: &'a str,
    /// The level of each line of `notices`, on a line of its own: `info`, `warning` or `error`.
    pub(super) levels: &'a str,
}

impl Done<'_> {
    pub(super) fn write(&self, to: &mut Writer<'_>) -> OrStatus {
        self.item(64, to)
    }
}

impl Item for Done<'_> {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        to.fields(number, |to| {
            self.notices.put(1, to)?;
            self.levels.put(2, to)?;
            Ok(())
        })
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
        self.item(65, to)
    }
}

impl Item for Failed<'_> {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        to.fields(number, |to| {
            self.status.put(CRITICAL | 1, to)?;
            self.message.put(2, to)?;
            self.diagnostics.put(3, to)?;
            Ok(())
        })
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
    /// More headers; of an allow, instead of the service's `access-control-` ones.
    pub(super) headers: Vec<CallHeader<'a>>,
    /// The seconds of its `Retry-After` header; 0 if it has none.
    pub(super) retry_after: u64,
}

impl Answer<'_> {
    pub(super) fn write(&self, to: &mut Writer<'_>) -> OrStatus {
        self.item(66, to)
    }
}

impl Item for Answer<'_> {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        to.fields(number, |to| {
            self.packed.put(CRITICAL | 1, to)?;
            self.http_status.put(CRITICAL | 2, to)?;
            self.preflight.put(CRITICAL | 3, to)?;
            self.www_authenticate.put(4, to)?;
            self.allow.put(5, to)?;
            self.refused.put(6, to)?;
            self.misrouted.put(7, to)?;
            self.public_template.put(8, to)?;
            self.audit.put(9, to)?;
            self.token.put(10, to)?;
            self.may_call.put(11, to)?;
            self.body.put(CRITICAL | 12, to)?;
            self.headers.put(13, to)?;
            self.retry_after.put(14, to)?;
            Ok(())
        })
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
        self.item(67, to)
    }
}

impl Item for Wait {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        to.fields(number, |to| {
            self.until_ms.put(CRITICAL | 1, to)?;
            self.may_call.put(2, to)?;
            Ok(())
        })
    }
}

/// Report with `Checked` whether this signature is valid, of a token or of its proof. The algorithm fits the key, and both have a valid form.
#[derive(Default)]
pub(super) struct CheckSignature<'a> {
    /// The algorithm, such as `RS256`. ECDSA signatures are two numbers, not DER (RFC 7518 §3.4); PSS has a salt as long as its hash.
    pub(super) algorithm: &'a str,
    /// The key as a JWK with only its required members. Equal keys have equal strings. If it can't be imported, the signature is invalid.
    pub(super) key: &'a str,
    /// The token, of which the first `signed` bytes are signed; of a proof, only these.
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
        self.item(68, to)
    }
}

impl Item for CheckSignature<'_> {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        to.fields(number, |to| {
            self.algorithm.put(CRITICAL | 1, to)?;
            self.key.put(CRITICAL | 2, to)?;
            self.token.put(CRITICAL | 3, to)?;
            self.signed.put(CRITICAL | 4, to)?;
            self.signature.put(CRITICAL | 5, to)?;
            self.may_call.put(6, to)?;
            Ok(())
        })
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
        self.item(69, to)
    }
}

impl Item for Call<'_> {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        to.fields(number, |to| {
            self.attempt.put(CRITICAL | 1, to)?;
            self.method.put(CRITICAL | 2, to)?;
            self.url.put(CRITICAL | 3, to)?;
            self.headers.put(CRITICAL | 4, to)?;
            self.body.put(CRITICAL | 5, to)?;
            self.timeout_ms.put(CRITICAL | 6, to)?;
            self.max_bytes.put(CRITICAL | 7, to)?;
            Ok(())
        })
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
        self.item(70, to)
    }
}

impl Item for Over {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        to.fields(number, |to| {
            self.is_over.put(CRITICAL | 1, to)?;
            Ok(())
        })
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
        self.item(71, to)
    }
}

impl Item for SecretSources<'_> {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        to.fields(number, |to| {
            self.sources.put(CRITICAL | 1, to)?;
            Ok(())
        })
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
        self.item(72, to)
    }
}

impl Item for KeyStatus<'_> {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        to.fields(number, |to| {
            self.issuers.put(1, to)?;
            Ok(())
        })
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
        self.item(73, to)
    }
}

impl Item for RouteDifferences<'_> {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        to.fields(number, |to| {
            self.differences.put(CRITICAL | 1, to)?;
            Ok(())
        })
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
        self.item(74, to)
    }
}

impl Item for ReadBody {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        to.fields(number, |to| {
            self.most_bytes.put(CRITICAL | 1, to)?;
            self.may_call.put(2, to)?;
            self.most_held.put(CRITICAL | 3, to)?;
            Ok(())
        })
    }
}

/// What became of a version of the policy. A first one with the engine's digest is active already.
#[derive(Default)]
pub(super) struct Loaded<'a> {
    /// Make an engine of the same bytes and activate it. The secrets were read again.
    pub(super) is_loaded: bool,
    /// The label of `orbgate_policy_loads_total`, such as `wider`; empty if nothing is counted.
    pub(super) result: &'a str,
    /// What to log: the active digest, or why the previous policy stays active.
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
        self.item(84, to)
    }
}

impl Item for Loaded<'_> {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        to.fields(number, |to| {
            self.is_loaded.put(CRITICAL | 1, to)?;
            self.result.put(2, to)?;
            self.message.put(3, to)?;
            self.warning.put(4, to)?;
            self.status.put(5, to)?;
            self.diagnostics.put(6, to)?;
            self.pause_ms.put(7, to)?;
            self.reason.put(8, to)?;
            Ok(())
        })
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
    /// It is in a session.
    pub(super) mcp_session: bool,
}

impl Charge<'_> {
    pub(super) fn write(&self, to: &mut Writer<'_>) -> OrStatus {
        self.item(90, to)
    }
}

impl Item for Charge<'_> {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        to.fields(number, |to| {
            self.account.put(CRITICAL | 1, to)?;
            self.amount.put(CRITICAL | 2, to)?;
            self.bonus.put(CRITICAL | 3, to)?;
            self.note.put(CRITICAL | 4, to)?;
            self.mcp_id.put(CRITICAL | 5, to)?;
            self.mcp_legacy.put(CRITICAL | 6, to)?;
            self.audit.put(7, to)?;
            self.hold_id.put(8, to)?;
            self.mcp_session.put(CRITICAL | 9, to)?;
            Ok(())
        })
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
        self.item(91, to)
    }
}

impl Item for HoldStep<'_> {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        to.fields(number, |to| {
            self.may_run.put(CRITICAL | 1, to)?;
            self.path.put(CRITICAL | 2, to)?;
            self.body.put(CRITICAL | 3, to)?;
            self.timeout_ms.put(CRITICAL | 4, to)?;
            self.until_ms.put(CRITICAL | 5, to)?;
            self.unpaid.put(6, to)?;
            self.retry_after_ms.put(7, to)?;
            self.result.put(8, to)?;
            Ok(())
        })
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
        self.item(92, to)
    }
}

impl Item for LedgerCall<'_> {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        to.fields(number, |to| {
            self.call.put(CRITICAL | 1, to)?;
            self.path.put(CRITICAL | 2, to)?;
            self.body.put(CRITICAL | 3, to)?;
            self.timeout_ms.put(CRITICAL | 4, to)?;
            Ok(())
        })
    }
}

/// The state of a ledger's step.
#[derive(Default)]
pub(super) struct Ledgered<'a> {
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
    /// How many handlers have stated more than the ceiling so far.
    pub(super) over: u64,
    /// After `Ended`, what to log as a warning; empty if there is nothing.
    pub(super) notice: &'a str,
}

impl Ledgered<'_> {
    pub(super) fn write(&self, to: &mut Writer<'_>) -> OrStatus {
        self.item(93, to)
    }
}

impl Item for Ledgered<'_> {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        to.fields(number, |to| {
            self.wakes.put(CRITICAL | 1, to)?;
            self.wake_ms.put(CRITICAL | 2, to)?;
            self.waiting.put(3, to)?;
            self.captured.put(4, to)?;
            self.voided.put(5, to)?;
            self.lost.put(6, to)?;
            self.over.put(7, to)?;
            self.notice.put(8, to)?;
            Ok(())
        })
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
        self.item(94, to)
    }
}

impl Item for Responded {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        to.fields(number, |to| {
            self.reads.put(CRITICAL | 1, to)?;
            self.end.put(CRITICAL | 2, to)?;
            Ok(())
        })
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
        self.item(98, to)
    }
}

impl Item for VisibleNames<'_> {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        to.fields(number, |to| {
            self.names.put(CRITICAL | 1, to)?;
            Ok(())
        })
    }
}

/// Where a ledger service is.
#[derive(Default)]
pub(super) struct LedgerAt<'a> {
    /// The URL to which the paths of messages are appended.
    pub(super) base: &'a str,
    /// The path of the Unix socket to connect to; empty if the connection is that of `base`.
    pub(super) socket: &'a str,
    /// The secret for `Authorization: Bearer`.
    pub(super) secret: &'a str,
    /// A longer answer of the service counts as none.
    pub(super) most_bytes: u64,
}

impl LedgerAt<'_> {
    pub(super) fn write(&self, to: &mut Writer<'_>) -> OrStatus {
        self.item(99, to)
    }
}

impl Item for LedgerAt<'_> {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        to.fields(number, |to| {
            self.base.put(CRITICAL | 1, to)?;
            self.socket.put(CRITICAL | 2, to)?;
            self.secret.put(CRITICAL | 3, to)?;
            self.most_bytes.put(CRITICAL | 4, to)?;
            Ok(())
        })
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

impl Item for Diagnostic<'_> {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        to.fields(number, |to| {
            self.line.put(1, to)?;
            self.column.put(2, to)?;
            self.message.put(3, to)?;
            Ok(())
        })
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

impl Item for Token<'_> {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        to.fields(number, |to| {
            self.kind.put(1, to)?;
            self.scopes.put(2, to)?;
            self.issuer.put(3, to)?;
            self.subject.put(4, to)?;
            self.client.put(5, to)?;
            self.actor.put(6, to)?;
            self.id.put(7, to)?;
            self.fingerprint.put(8, to)?;
            self.expires_ms.put(9, to)?;
            Ok(())
        })
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

impl Item for CallHeader<'_> {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        to.fields(number, |to| {
            self.name.put(CRITICAL | 1, to)?;
            self.value.put(CRITICAL | 2, to)?;
            Ok(())
        })
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

impl Item for SecretSource<'_> {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        to.fields(number, |to| {
            self.kind.put(CRITICAL | 1, to)?;
            self.name.put(CRITICAL | 2, to)?;
            Ok(())
        })
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

impl Item for IssuerStatus<'_> {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        to.fields(number, |to| {
            self.issuer.put(1, to)?;
            self.key_count.put(2, to)?;
            self.fetched_ms.put(3, to)?;
            self.failure.put(4, to)?;
            self.warnings.put(5, to)?;
            self.opaque.put(6, to)?;
            Ok(())
        })
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

impl Item for RouteDifference<'_> {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        to.fields(number, |to| {
            self.kind.put(CRITICAL | 1, to)?;
            self.route.put(CRITICAL | 2, to)?;
            self.decided_as.put(3, to)?;
            Ok(())
        })
    }
}
