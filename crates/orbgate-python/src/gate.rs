//! The gate: rules and keys, which decide one request after another. Python fetches keys and supplies
//! the time.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use arc_swap::ArcSwap;
use orbgate::Engine;
use orbgate_analysis::Summary;
use orbgate_gate::{
    Challenge, Changes, ChargedBy, CorsPreflight, Current, Ending, FileRead, FullChallenge, GateCharges, Legacy,
    LoadError, LoadRules, Matched, Mcp, McpError, McpFault, McpRequest, Metadata, Next, OrbRules, PublicRoutes, Rules,
    Step, Uncharged, Unpaid,
};
use orbgate_token::{
    Certificate, ConfigError, FetchError, FetchSettings, KeyCache, Now, Response, SecretSource, Verifier,
};
use pyo3::exceptions::{PyBaseException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::answer::Answer;
use crate::error::{self, guarded};
use crate::policy::Policy;
use crate::text::Text;

/// The native part of `orbgate.gate.Gate`.
#[pyclass(frozen, subclass, module = "orbgate._native")]
#[derive(Debug)]
pub(crate) struct Gate {
    gate: orbgate_gate::Gate,
    /// The name of the token configuration, for errors.
    file: Option<String>,
    /// The routes of the service, if it has stated them.
    served: ArcSwap<Vec<(String, String)>>,
    /// How many more bytes of messages can be held.
    room: AtomicUsize,
}

/// Whether a version is active now, the counter's label, what to log, also as a warning, and why the version is rejected.
type Judged = (bool, &'static str, String, String, Option<Py<PyBaseException>>);

/// Follows a policy's file: see `Gate.judge`.
#[pyclass(module = "orbgate._native")]
#[derive(Debug)]
pub(crate) struct Follower {
    follower: orbgate_gate::Follower,
}

#[pymethods]
impl Follower {
    /// Reads the file again after each interval of so many seconds.
    #[new]
    fn new(interval: f64) -> PyResult<Self> {
        let interval = duration(interval)?;
        if interval.is_zero() {
            return Err(PyValueError::new_err("the interval is 0"));
        }
        Ok(Self { follower: orbgate_gate::Follower::new(interval) })
    }

    /// How many seconds to wait before the next look.
    fn pause(&self) -> f64 {
        self.follower.pause().as_secs_f64()
    }
}

fn compare(old: &Engine, new: &Engine) -> Changes {
    let Summary { wider, narrower, removed, widens, text, .. } = Summary::between(old, new);
    Changes { wider, narrower, removed, widens, text }
}

/// Headers in a server's form: pairs of bytes.
type Headers<'py> = Vec<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)>;

#[pymethods]
impl Gate {
    #[new]
    #[pyo3(signature = (tokens, *, file=None, challenge="minimal", realm=None, resource_metadata=None, flat_403=false,
        ignore_method_override=false, public=Vec::new(), cors_preflight="deny", mcp=None, mcp_initial_scopes="",
        mcp_origins=Vec::new(), mcp_most_bytes=None, mcp_legacy="body", mcp_charge_sessions=false, metadata=None))]
    #[expect(clippy::too_many_arguments, reason = "in Python they are keywords")]
    fn new(
        py: Python<'_>,
        tokens: Text<'_>,
        file: Option<&str>,
        challenge: &str,
        realm: Option<&str>,
        resource_metadata: Option<&str>,
        flat_403: bool,
        ignore_method_override: bool,
        public: Vec<String>,
        cors_preflight: &str,
        mcp: Option<&str>,
        mcp_initial_scopes: &str,
        mcp_origins: Vec<String>,
        mcp_most_bytes: Option<usize>,
        mcp_legacy: &str,
        mcp_charge_sessions: bool,
        metadata: Option<&str>,
    ) -> PyResult<Self> {
        guarded(|| {
            let text = core::str::from_utf8(&tokens.0);
            let text = text.map_err(|error| PyValueError::new_err(error.to_string()))?;
            let verifier = Verifier::from_yaml(text);
            let verifier = verifier.and_then(|it| it.with_secrets(SecretSource::read));
            let verifier = verifier.map_err(|diagnostics| error::config(py, &diagnostics, file))?;
            let metadata = metadata.map(|url| Metadata::new(url, &verifier, mcp_initial_scopes)).transpose();
            let metadata = metadata.map_err(unfit)?.map(Arc::new);
            let keys = KeyCache::new(verifier.taking_proofs(), FetchSettings::default());
            let keys = keys.map_err(|error| PyValueError::new_err(error.to_string()))?;
            let mut rules = Rules::new();
            rules.challenge = challenge_of(challenge, realm, resource_metadata)?;
            rules.flat_403 = flat_403;
            rules.ignore_method_override = ignore_method_override;
            if !public.is_empty() {
                let public = PublicRoutes::new(public).map_err(error::value)?;
                rules.public = Some(Arc::new(public));
            }
            rules.cors_preflight = match cors_preflight {
                "deny" => CorsPreflight::Deny,
                "pass" => CorsPreflight::Pass,
                _ => {
                    let message = "`cors_preflight` is \"pass\" or \"deny\"";
                    return Err(PyValueError::new_err(message));
                }
            };
            rules.metadata = metadata;
            if let Some(path) = mcp {
                let endpoint = Mcp::new(path).and_then(|mcp| mcp.initial_scopes(mcp_initial_scopes));
                let mut endpoint = endpoint.and_then(|mcp| mcp.origins(mcp_origins)).map_err(unfit)?;
                if let Some(most) = mcp_most_bytes {
                    endpoint = endpoint.most_bytes(most);
                }
                let legacy = match mcp_legacy {
                    "body" => Legacy::Body,
                    "deny" => Legacy::Deny,
                    _ => return Err(PyValueError::new_err("`mcp_legacy` is \"body\" or \"deny\"")),
                };
                rules.mcp = Some(Arc::new(endpoint.legacy(legacy).charge_sessions(mcp_charge_sessions)));
            } else if !mcp_origins.is_empty() || mcp_most_bytes.is_some() || mcp_legacy != "body" || mcp_charge_sessions
            {
                return Err(PyValueError::new_err("only a gate with `mcp` has settings of its endpoint"));
            }
            let gate = orbgate_gate::Gate::new(rules, keys);
            let file = file.map(str::to_owned);
            Ok(Self { gate, file, served: ArcSwap::default(), room: AtomicUsize::new(Mcp::MOST_HELD) })
        })
    }

    /// Raises ValueError if a path matches both a public route and a route of this policy, or if the policy doesn't fit the
    /// MCP endpoint.
    fn check_public(&self, policy: &Bound<'_, Policy>) -> PyResult<()> {
        guarded(|| {
            let engine = policy.get().engine();
            self.mcp().map_or(Ok(()), |mcp| mcp.check(engine)).map_err(unfit)?;
            self.public().map_or(Ok(()), |public| public.check(engine)).map_err(error::value)
        })
    }

    /// How the gate charges: the level and the text of a line for its log. With a ledger, functions state the amounts of
    /// these routes. Raises ValueError if the policy lacks one of them, or if calls couldn't be charged.
    fn charging(
        &self,
        py: Python<'_>,
        policy: &Bound<'_, Policy>,
        functions: Option<Vec<String>>,
    ) -> PyResult<(&'static str, String)> {
        guarded(|| {
            let engine = policy.get().engine();
            if let Some(name) = functions.as_deref().and_then(|functions| OrbRules::unknown_route(engine, functions)) {
                return Err(PyValueError::new_err(format!("the policy has no route `{name}`")));
            }
            let stated = self.charges(functions).statement(engine).map_err(|error| match error {
                Uncharged::NoAmount(error) => PyValueError::new_err(error.to_string()),
                Uncharged::NoAccount(error) => {
                    error::config(py, &ConfigError::of_whole(error.to_string()), self.file.as_deref())
                }
            })?;
            Ok((stated.level.as_str(), stated.text))
        })
    }

    /// Judges the file of a policy as it is now: its text, or why it can't be read.
    #[pyo3(signature = (active, text, failure, file, follower, rules, monotonic))]
    #[expect(clippy::too_many_arguments, reason = "a file as it was read")]
    fn judge(
        &self,
        py: Python<'_>,
        active: &Bound<'_, Policy>,
        text: &[u8],
        failure: Option<&str>,
        file: &str,
        follower: Option<&Bound<'_, Follower>>,
        rules: (bool, bool, Option<Vec<String>>),
        monotonic: f64,
    ) -> PyResult<Judged> {
        guarded(|| {
            let mut follower = follower.map(Bound::try_borrow_mut).transpose()?;
            let follower = follower.as_mut().map(|follower| &mut follower.follower);
            let mut load = LoadRules::new();
            (load.refuse_wider, load.require_seal) = (rules.0, rules.1);
            let (engine, mcp, served) = (Some(active.get().engine()), self.mcp(), self.served.load());
            let ending = Ending::default();
            let current = Current {
                engine,
                public: self.public(),
                mcp: mcp.as_slice(),
                served: &served,
                charges: &[self.charges(rules.2)],
                ending,
            };
            let text = failure.map_or(Ok(text), Err);
            let read = FileRead { text, file, is_told: false, now: duration(monotonic)? };
            let keys = self.gate.keys();
            let reloaded =
                py.detach(|| load.reload(&read, follower, &current, compare, || keys.read_secrets(SecretSource::read)));
            let error = reloaded.error.map(|error| match error {
                LoadError::Unsound(error) => error::policy(py, &error, Some(file)),
                LoadError::Secrets(error) => error::config(py, &error, self.file.as_deref()),
                error => error::load(py, &error.to_string(), file),
            });
            let error = error.map(|error| error.into_value(py));
            Ok((reloaded.engine.is_some(), reloaded.result, reloaded.message, reloaded.warning, error))
        })
    }

    /// Starts a request: returns its result, or a wait. `matched` is the router's template, "" if the router doesn't
    /// report it, and None if no router runs before the gate.
    #[pyo3(signature = (policy, method, target, headers, time, monotonic, matched=None, holds_thread=false, certificate=None))]
    #[expect(clippy::too_many_arguments, reason = "a request as it came")]
    fn ask(
        &self,
        py: Python<'_>,
        policy: &Bound<'_, Policy>,
        method: Text<'_>,
        target: Text<'_>,
        headers: Headers<'_>,
        time: f64,
        monotonic: f64,
        matched: Option<&str>,
        holds_thread: bool,
        certificate: Option<&[u8]>,
    ) -> PyResult<Py<PyAny>> {
        guarded(|| {
            let headers = OfInterest::of(&headers);
            let request = orbgate_gate::Request {
                method: &method.0,
                target: &target.0,
                authorization: &headers.authorization,
                upgrade: &headers.upgrade,
                origin: &headers.origin,
                access_control_request_method: &headers.requested_method,
                access_control_request_headers: &headers.requested_headers,
                header_names: &headers.names,
                matched: of_router(matched),
                allow_bonus_orbs_use: false,
                holds_thread,
                dpop: &headers.dpop,
                certificate: certificate.map(Certificate::Der),
                repeats: false,
            };
            let (engine, now) = (policy.get().engine(), at(time, monotonic)?);
            let step = py.detach(|| self.gate.ask(engine, &request, now));
            taken(policy, step, headers.requested_method.first().copied())
        })
    }

    /// Resumes a request after its wait is over.
    fn resume(
        &self,
        py: Python<'_>,
        policy: &Bound<'_, Policy>,
        waiting: &Bound<'_, Waiting>,
        time: f64,
        monotonic: f64,
    ) -> PyResult<Py<PyAny>> {
        guarded(|| {
            let waiting = waiting.try_borrow_mut()?.waiting.take();
            let waiting = waiting.ok_or_else(|| PyValueError::new_err("it has an answer already"))?;
            let (engine, now) = (policy.get().engine(), at(time, monotonic)?);
            let step = py.detach(|| self.gate.resume(engine, waiting, now));
            taken(policy, step, None)
        })
    }

    /// Updates the result for an allowed request when the router's route or the body is known.
    #[pyo3(signature = (answer, method, target, matched=None, allow_bonus_orbs_use=false))]
    fn again(
        &self,
        py: Python<'_>,
        answer: &Bound<'_, Answer>,
        method: Text<'_>,
        target: Text<'_>,
        matched: Option<&str>,
        allow_bonus_orbs_use: bool,
    ) -> PyResult<Answer> {
        guarded(|| {
            let matched = of_router(matched);
            let decided = self.known(answer, &method, &target, matched, allow_bonus_orbs_use);
            Answer::of(answer.get().policy.bind(py), decided, answer.get().requested_method().first().copied())
        })
    }

    /// Those of these names that the token of an answer may pass to a method of the MCP endpoint.
    fn visible(&self, answer: &Bound<'_, Answer>, method: &str, names: Vec<String>) -> PyResult<Vec<String>> {
        guarded(|| {
            let known = answer.get();
            let Some((mcp, token)) = self.mcp().zip(known.credentials().token()) else {
                return Ok(Vec::new());
            };
            let names = names.iter().map(String::as_str);
            let visible = mcp.visible(known.policy.get().engine(), token, method, names);
            Ok(visible.into_iter().map(str::to_owned).collect())
        })
    }

    /// Whether there is room for so many bytes of a message. If so, `leave_room` them later.
    fn take_room(&self, bytes: usize) -> bool {
        let take = |room: usize| room.checked_sub(bytes);
        self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }

    fn leave_room(&self, bytes: usize) {
        self.room.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The result for a request to the MCP endpoint whose body had to be read. `fault` says why the body isn't whole:
    /// "too_large", "unreadable" or "busy".
    #[pyo3(signature = (policy, reading, headers, body, fault=None))]
    fn decide_body(
        &self,
        py: Python<'_>,
        policy: &Bound<'_, Policy>,
        reading: &Bound<'_, Reading>,
        headers: Headers<'_>,
        body: &[u8],
        fault: Option<&str>,
    ) -> PyResult<Answer> {
        guarded(|| {
            let decided = || PyValueError::new_err("the request is decided already");
            let reading = reading.borrow_mut().reading.take().ok_or_else(decided)?;
            let lines: Vec<_> = headers.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
            let body = match fault {
                None => Ok(body),
                Some("too_large") => Err(McpFault::TooLarge),
                Some("busy") => Err(McpFault::Busy),
                Some(_) => Err(McpFault::Unreadable),
            };
            let (engine, request) = (policy.get().engine(), McpRequest { headers: &lines, body });
            let decided = py.detach(|| self.gate.rules().decide_body(engine, reading, request));
            Answer::of(policy, decided, None)
        })
    }

    /// The next fetch, if there is one. Call it after each other call.
    fn next_fetch(&self, monotonic: f64) -> PyResult<Option<Fetch>> {
        guarded(|| Ok(self.gate.next_fetch(duration(monotonic)?).map(Fetch::of)))
    }

    /// Reports the result of a fetch, and returns the fetch that must follow it.
    #[pyo3(signature = (fetch, status, body, cache_control, monotonic))]
    fn fetched(
        &self,
        fetch: &Bound<'_, Fetch>,
        status: u16,
        body: &[u8],
        cache_control: Option<&str>,
        monotonic: f64,
    ) -> PyResult<Option<Fetch>> {
        guarded(|| {
            let response = Response { status, cache_control, body };
            let now = duration(monotonic)?;
            let attempt = fetch.get().fetch.attempt;
            Ok(self.gate.fetched(attempt, Ok(response), now).map(Fetch::of))
        })
    }

    /// Reports that a fetch failed: "timeout", "too_large" or "unreachable".
    fn failed(&self, fetch: &Bound<'_, Fetch>, why: &str, monotonic: f64) -> PyResult<()> {
        guarded(|| {
            let error = match why {
                "timeout" => FetchError::Timeout,
                "too_large" => FetchError::TooLarge,
                _ => FetchError::Unreachable,
            };
            let now = duration(monotonic)?;
            // No fetch follows a failure.
            let _ = self.gate.fetched(fetch.get().fetch.attempt, Err(error), now);
            Ok(())
        })
    }

    /// What to log about the issuers and their keys, once for each change: a level and a sentence.
    fn notices(&self, monotonic: f64) -> PyResult<Vec<(&'static str, String)>> {
        guarded(|| {
            let notices = self.gate.keys().notices(duration(monotonic)?);
            Ok(notices.into_iter().map(|notice| (notice.level.as_str(), notice.text)).collect())
        })
    }

    /// Whether the wait of a request is over.
    fn is_over(&self, waiting: &Bound<'_, Waiting>, monotonic: f64) -> PyResult<bool> {
        guarded(|| {
            let (waiting, now) = (waiting.try_borrow()?, duration(monotonic)?);
            let waiting = waiting.waiting.as_ref();
            Ok(waiting.is_none_or(|waiting| self.gate.is_over(waiting.wait(), now)))
        })
    }

    /// Never uses the issuer's key with this `kid` again, even if the issuer still publishes it.
    fn revoke(&self, issuer: &str, kid: &str) {
        self.gate.keys().revoke(issuer, kid);
    }

    /// Forgets the keys of this issuer. The next token fetches them.
    fn forget(&self, issuer: &str) {
        // The next token waits for the keys itself.
        let _ = self.gate.keys().forget(issuer);
    }

    /// For each issuer, the number of its keys, and why the last fetch or introspection failed.
    fn keys(&self) -> Vec<(String, usize, Option<String>)> {
        let status = self.gate.keys().status().into_iter();
        let status = status.map(|status| {
            let failure = status.failure.map(|failure| failure.to_string());
            (status.issuer, status.keys, failure)
        });
        status.collect()
    }
}

impl Gate {
    fn charges(&self, functions: Option<Vec<String>>) -> GateCharges {
        let by = functions.map_or(ChargedBy::Handlers, ChargedBy::Ledger);
        GateCharges::new(by).with_accounts(self.gate.keys().accounts())
    }

    /// The routes that need no token.
    pub(crate) fn public(&self) -> Option<&PublicRoutes> {
        self.gate.rules().public.as_deref()
    }

    /// States the routes of the service.
    pub(crate) fn serves(&self, routes: Vec<(String, String)>) {
        self.served.store(Arc::new(routes));
    }

    /// An allowed request as the gate knows it.
    pub(crate) fn known<'p>(
        &self,
        answer: &'p Bound<'_, Answer>,
        method: &Text<'_>,
        target: &Text<'_>,
        matched: Matched<'_>,
        allow_bonus_orbs_use: bool,
    ) -> orbgate_gate::Answer<'p> {
        let (engine, known) = (answer.get().policy.get().engine(), answer.get().credentials().clone());
        if let Some(call) = &answer.get().call {
            return self.gate.rules().decide_operation(engine, call, known, matched);
        }
        let (origin, requested) = (b"".as_slice(), answer.get().requested_method());
        let request = orbgate_gate::Request {
            method: &method.0,
            target: &target.0,
            origin: &[origin],
            access_control_request_method: requested.as_slice(),
            matched,
            allow_bonus_orbs_use,
            ..orbgate_gate::Request::default()
        };
        match self.gate.decide(engine, &request, known) {
            Next::Answer(answer) => answer,
            // Its body isn't there any more.
            Next::ReadBody(reading) => {
                let request = McpRequest { headers: &[], body: Err(McpFault::Unreadable) };
                self.gate.rules().decide_body(engine, reading, request)
            }
        }
    }

    /// The denial of an allowed request whose orbs can't be held.
    pub(crate) fn unpaid(
        &self,
        answer: &Bound<'_, Answer>,
        known: orbgate_gate::Answer<'_>,
        unpaid: Unpaid,
    ) -> PyResult<Answer> {
        Answer::of(answer.get().policy.bind(answer.py()), self.gate.rules().unpaid(known, unpaid), None)
    }

    /// The MCP endpoint.
    pub(crate) fn mcp(&self) -> Option<&Mcp> {
        self.gate.rules().mcp.as_deref()
    }
}

/// A request that waits for keys, or for an answer about its token.
#[pyclass(module = "orbgate._native")]
#[derive(Debug)]
pub(crate) struct Waiting {
    waiting: Option<orbgate_gate::Waiting>,
    /// The end of the wait, on the monotonic clock.
    #[pyo3(get)]
    until: f64,
}

/// A request whose body must be read before it is decided.
#[pyclass(module = "orbgate._native")]
#[derive(Debug)]
pub(crate) struct Reading {
    reading: Option<orbgate_gate::Reading>,
    #[pyo3(get)]
    most_bytes: usize,
}

/// A fetch: no redirects, a time limit, and a maximum number of bytes.
#[pyclass(frozen, module = "orbgate._native")]
#[derive(Debug)]
pub(crate) struct Fetch {
    fetch: orbgate_token::Fetch,
}

#[pymethods]
impl Fetch {
    #[getter]
    fn url(&self) -> &str {
        &self.fetch.url
    }

    /// The time limit in seconds.
    #[getter]
    const fn timeout(&self) -> f64 {
        self.fetch.timeout.as_secs_f64()
    }

    #[getter]
    const fn max_bytes(&self) -> usize {
        self.fetch.max_bytes
    }

    /// What to send by POST. None for a GET.
    #[getter]
    fn post(&self) -> Option<Post> {
        let post = self.fetch.post.clone()?;
        Some(Post { post })
    }
}

/// The question about an opaque token that a fetch sends to the issuer's introspection endpoint (RFC 7662) by POST.
///
/// It contains the token and this API's own secret, so `repr` shows neither. Don't log them.
#[pyclass(frozen, module = "orbgate.gate")]
#[derive(Debug)]
pub(crate) struct Post {
    post: orbgate_token::Post,
}

#[pymethods]
impl Post {
    /// The headers: `Authorization` and `Content-Type`.
    #[getter]
    fn headers(&self) -> BTreeMap<&'static str, &str> {
        [("Authorization", self.post.authorization()), ("Content-Type", orbgate_token::Post::CONTENT_TYPE)].into()
    }

    /// The body.
    #[getter]
    fn body(&self) -> &[u8] {
        self.post.body().as_bytes()
    }
}

impl Fetch {
    const fn of(fetch: orbgate_token::Fetch) -> Self {
        Self { fetch }
    }
}

/// The next step of a request, for Python.
fn taken(policy: &Bound<'_, Policy>, step: Step<'_>, requested_method: Option<&[u8]>) -> PyResult<Py<PyAny>> {
    let py = policy.py();
    match step {
        Step::Answer(answer) => {
            let answer = Answer::of(policy, answer, requested_method)?;
            Ok(Py::new(py, answer)?.into_any())
        }
        Step::Wait(waiting) => {
            let until = waiting.wait().until.as_secs_f64();
            let waiting = Some(waiting);
            Ok(Py::new(py, Waiting { waiting, until })?.into_any())
        }
        Step::ReadBody(reading) => {
            let most_bytes = reading.most_bytes();
            Ok(Py::new(py, Reading { reading: Some(reading), most_bytes })?.into_any())
        }
        Step::CheckSignature(_) => Err(PyValueError::new_err("signatures are checked in place")),
    }
}

/// The headers that a gate reads.
#[derive(Default)]
struct OfInterest<'h> {
    authorization: Vec<&'h [u8]>,
    dpop: Vec<&'h [u8]>,
    upgrade: Vec<&'h [u8]>,
    origin: Vec<&'h [u8]>,
    requested_method: Vec<&'h [u8]>,
    requested_headers: Vec<&'h [u8]>,
    names: Vec<&'h [u8]>,
}

impl<'h> OfInterest<'h> {
    fn of(headers: &'h Headers<'_>) -> Self {
        let mut fields = Self::default();
        for (name, value) in headers {
            let (name, value) = (name.as_bytes(), value.as_bytes());
            fields.names.push(name);
            let is = |wanted: &str| name.eq_ignore_ascii_case(wanted.as_bytes());
            if is("authorization") {
                fields.authorization.push(value);
            } else if is("dpop") {
                fields.dpop.push(value);
            } else if is("upgrade") {
                fields.upgrade.push(value);
            } else if is("origin") {
                fields.origin.push(value);
            } else if is("access-control-request-method") {
                fields.requested_method.push(value);
            } else if is("access-control-request-headers") {
                fields.requested_headers.push(value);
            }
        }
        fields
    }
}

/// The router's template: "" if the router didn't report it, and `None` if no router runs before the gate.
fn of_router(template: Option<&str>) -> Matched<'_> {
    template.map_or(Matched::Nothing, |template| match template {
        "" => Matched::Unknown,
        template => Matched::Template(template),
    })
}

fn unfit(error: McpError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn challenge_of(name: &str, realm: Option<&str>, metadata: Option<&str>) -> PyResult<Challenge> {
    let refused = |error: orbgate_gate::ChallengeError| PyValueError::new_err(error.to_string());
    match (name, realm, metadata) {
        ("minimal", None, None) => Ok(Challenge::Minimal),
        ("none", None, None) => Ok(Challenge::None),
        ("full", realm, metadata) => {
            let full = FullChallenge::new();
            let full = realm.map_or(Ok(full.clone()), |realm| full.realm(realm));
            let full = full.map_err(refused)?;
            let full = match metadata {
                Some(url) => full.resource_metadata(url).map_err(refused)?,
                None => full,
            };
            Ok(Challenge::Full(full))
        }
        _ => Err(PyValueError::new_err(
            "`challenge` is \"minimal\", \"full\" or \"none\"; only a full one has a realm and metadata",
        )),
    }
}

fn at(time: f64, monotonic: f64) -> PyResult<Now> {
    Ok(Now {
        time: UNIX_EPOCH.checked_add(duration(time)?).unwrap_or(SystemTime::UNIX_EPOCH),
        monotonic: duration(monotonic)?,
    })
}

pub(crate) fn duration(seconds: f64) -> PyResult<Duration> {
    let duration = Duration::try_from_secs_f64(seconds);
    duration.map_err(|error| PyValueError::new_err(error.to_string()))
}
