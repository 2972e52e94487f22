//! Holds in a ledger service. Python sends the messages, waits, and says how handlers ended.
#![expect(clippy::disallowed_types, reason = "holds change; the engine doesn't")]

use std::sync::{Mutex, MutexGuard, PoisonError};

use orbgate_gate::{
    Amount, Charging, HandlerOutcome, HoldId, HoldStep, LedgerAddress, LedgerCall, LedgerReply, Matched, McpCall,
    McpOrbs, McpResponse, OnCancelled, OrbRules, RemoteHolds, Unpaid,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::answer::Answer;
use crate::error::guarded;
use crate::gate::{Gate, duration};
use crate::text::Text;

/// Where a ledger service is: whether the connection is encrypted, the host, the port, what comes before each path, and the
/// socket.
#[pyfunction]
pub(crate) fn ledger_address(url: &str) -> PyResult<(bool, String, u16, String, Option<String>)> {
    let LedgerAddress { is_tls, host, port, prefix, socket, .. } =
        LedgerAddress::new(url).map_err(PyValueError::new_err)?;
    Ok((is_tls, host, port, prefix, socket))
}

/// The secret for a ledger service in what a file or a setting says.
#[pyfunction]
pub(crate) fn ledger_secret(text: &str) -> PyResult<&str> {
    LedgerAddress::secret(text).map_err(PyValueError::new_err)
}

/// The holds of a process in one ledger service.
#[pyclass(frozen, module = "orbgate._native")]
#[derive(Debug)]
pub(crate) struct Orbs {
    rules: OrbRules,
    holds: Mutex<RemoteHolds>,
}

#[pymethods]
impl Orbs {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "each is a setting of its own")]
    fn new(
        on_cancelled: &str,
        on_broken: Option<&str>,
        on_tool_error: Option<&str>,
        on_input_required: Option<&str>,
        ttl: f64,
        timeout: f64,
        queue: usize,
        ceiling: u64,
    ) -> PyResult<Self> {
        guarded(|| {
            let mut rules = OrbRules::new(costs("on_cancelled", on_cancelled)?);
            rules.on_broken = on_broken.map(|broken| costs("on_broken", broken)).transpose()?;
            rules.mcp = match (on_tool_error, on_input_required) {
                (Some(tool_error), Some(input_required)) => Some(McpOrbs {
                    on_tool_error: costs("on_tool_error", tool_error)?,
                    on_input_required: costs("on_input_required", input_required)?,
                }),
                (None, None) => None,
                _ => return Err(PyValueError::new_err(MCP)),
            };
            (rules.ttl, rules.timeout, rules.queue, rules.ceiling) =
                (duration(ttl)?, duration(timeout)?, queue, ceiling);
            rules.check().map_err(PyValueError::new_err)?;
            Ok(Self { holds: Mutex::new(RemoteHolds::new(rules.clone())), rules })
        })
    }

    /// Raises ValueError unless a gate with an MCP endpoint can charge by these rules.
    fn check_mcp(&self) -> PyResult<()> {
        self.rules.check_mcp().map_err(|_| PyValueError::new_err(MCP))
    }

    /// Begins to hold the orbs of an allowed request: None if it consumes nothing, a denied answer, or a hold. `amount` is
    /// called with the route, and returns None if the policy's amount counts.
    #[expect(clippy::too_many_arguments, reason = "a request as it came")]
    fn hold(
        slf: &Bound<'_, Self>,
        gate: &Bound<'_, Gate>,
        answer: &Bound<'_, Answer>,
        method: Text<'_>,
        target: Text<'_>,
        bonus: bool,
        amount: &Bound<'_, PyAny>,
        random: [u8; 16],
        monotonic: f64,
    ) -> PyResult<Option<Py<PyAny>>> {
        guarded(|| {
            let (py, this, now) = (slf.py(), slf.get(), duration(monotonic)?);
            let known = gate.get().known(answer, &method, &target, Matched::Nothing, bonus);
            let amount = |route: &orbgate::Route<'_>, _: &_| {
                let returned = amount.call1((route.as_str(),)).and_then(|amount| amount.extract::<Option<u64>>());
                returned.map_or(Amount::Failed, |amount| amount.map_or(Amount::OfPolicy, Amount::Of))
            };
            let command = match this.rules.charge(&known, amount, random) {
                Charging::Nothing => return Ok(None),
                Charging::Deny(unpaid) => {
                    let denied = gate.get().unpaid(answer, known, unpaid)?;
                    return Ok(Some(Py::new(py, denied)?.into_any()));
                }
                Charging::Hold(command) => command,
            };
            let id = command.id;
            let step = Mutex::new(this.holds().hold(command, now));
            let response = Mutex::new(known.mcp.as_ref().and_then(McpCall::response));
            let hold = Hold { orbs: slf.clone().unbind(), id, bonus, step, response };
            Ok(Some(Py::new(py, hold)?.into_any()))
        })
    }

    /// The next message of the thread.
    fn next_call(&self, monotonic: f64) -> PyResult<Option<Call>> {
        Ok(self.holds().next_call(duration(monotonic)?).map(|call| Call { call }))
    }

    /// The service's answer to a message of the thread, or None.
    #[pyo3(signature = (number, reply, monotonic))]
    fn called(&self, number: u64, reply: Option<(u16, Vec<u8>)>, monotonic: f64) -> PyResult<()> {
        self.holds().called(number, of_service(reply.as_ref()), duration(monotonic)?);
        Ok(())
    }

    /// What to log about the service's answer, or about none, with a word why: its level and a sentence.
    fn notice(&self, url: &str, reply: Option<(u16, Vec<u8>)>, failure: &str) -> Option<(&'static str, String)> {
        let notice = self.holds().notice(url, of_service(reply.as_ref()).ok_or(failure))?;
        Some((notice.level.as_str(), notice.text))
    }

    /// When to ask for the next message.
    fn wake(&self) -> Option<f64> {
        self.holds().wake().map(|wake| wake.as_secs_f64())
    }

    /// How many settlements wait for the service, and how many were captured, voided and lost; how many handlers stated more than
    /// the ceiling; the orbs that were charged, those that accounts lacked, and those over the ceiling.
    fn counts(&self) -> (usize, u64, u64, u64, u64, u64, u64, u64) {
        let holds = self.holds();
        let settled = holds.settled();
        let (waiting, lost) = (holds.settling(), holds.lost());
        let orbs = (settled.orbs, settled.shortfall, settled.excess);
        (waiting, settled.captured, settled.voided, lost, settled.over, orbs.0, orbs.1, orbs.2)
    }
}

impl Orbs {
    fn holds(&self) -> MutexGuard<'_, RemoteHolds> {
        self.holds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The orbs of one request.
#[pyclass(frozen, module = "orbgate._native")]
#[derive(Debug)]
pub(crate) struct Hold {
    orbs: Py<Orbs>,
    id: HoldId,
    bonus: bool,
    step: Mutex<HoldStep>,
    /// Reads the response to a call at an MCP endpoint.
    response: Mutex<Option<McpResponse>>,
}

#[pymethods]
impl Hold {
    /// What to send, if anything. Then call `held`.
    #[getter]
    fn call(&self) -> Option<Call> {
        match &*self.step() {
            HoldStep::Call(call) => Some(Call { call: call.clone() }),
            _ => None,
        }
    }

    /// Until when to wait, if at all. Then call `waited`.
    #[getter]
    fn until(&self) -> Option<f64> {
        match &*self.step() {
            HoldStep::Wait(until) => Some(until.as_secs_f64()),
            _ => None,
        }
    }

    /// Its id in the ledger.
    #[getter]
    fn id(&self) -> String {
        self.id.to_string()
    }

    /// Whether the orbs are held, so that the handler may run.
    #[getter]
    fn is_held(&self) -> bool {
        *self.step() == HoldStep::Run
    }

    /// The service has answered, or not. `time` is seconds since 1970.
    fn held(&self, reply: Option<(u16, Vec<u8>)>, monotonic: f64, time: f64) -> PyResult<()> {
        let (now, time) = (duration(monotonic)?, duration(time)?);
        let next = self.orbs.get().holds().held(self.id, of_service(reply.as_ref()), now, time);
        *self.step() = next;
        Ok(())
    }

    /// The request has waited.
    fn waited(&self, monotonic: f64) -> PyResult<()> {
        let next = self.orbs.get().holds().waited(self.id, duration(monotonic)?);
        *self.step() = next;
        Ok(())
    }

    /// The denial, once nothing remains to be sent and the orbs aren't held, and how it is counted.
    fn denial(
        &self,
        gate: &Bound<'_, Gate>,
        answer: &Bound<'_, Answer>,
        method: Text<'_>,
        target: Text<'_>,
    ) -> PyResult<(Answer, &'static str)> {
        guarded(|| {
            let unpaid = match &*self.step() {
                HoldStep::Deny(unpaid) => *unpaid,
                _ => Unpaid::Unavailable,
            };
            let known = gate.get().known(answer, &method, &target, Matched::Nothing, self.bonus);
            let counted = if matches!(unpaid, Unpaid::Insufficient { .. }) { "denied" } else { "unavailable" };
            Ok((gate.get().unpaid(answer, known, unpaid)?, counted))
        })
    }

    /// The response begins, with these headers. Whether its body must be read.
    fn begin_response(&self, headers: Vec<(Vec<u8>, Vec<u8>)>) -> bool {
        let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_slice(), value.as_slice())).collect();
        self.response().as_mut().is_some_and(|response| response.begin(&headers))
    }

    /// A piece of its body, or None for one that can't be read. Whether the next one must be read.
    #[pyo3(signature = (piece))]
    fn read_response(&self, piece: Option<&[u8]>) -> bool {
        let mut response = self.response();
        match (response.as_mut(), piece) {
            (Some(response), Some(piece)) => response.read(piece),
            (Some(response), None) => {
                response.lose();
                false
            }
            (None, _) => false,
        }
    }

    /// The handler has ended: "status", with the status; "failed", "cancelled" or "broken". `stated` is the amount that it has
    /// stated. Returns what to log if that is over the ceiling.
    #[pyo3(signature = (outcome, status, stated, monotonic))]
    fn ended(&self, outcome: &str, status: u16, stated: Option<u64>, monotonic: f64) -> PyResult<Option<String>> {
        let outcome = match outcome {
            "status" => HandlerOutcome::Status(status),
            "cancelled" => HandlerOutcome::Cancelled,
            "broken" => HandlerOutcome::Broken,
            _ => HandlerOutcome::Failed,
        };
        let response = self.response().as_ref().map(McpResponse::end);
        let statement = self.orbs.get().holds().ended(self.id, outcome, response, stated, duration(monotonic)?);
        Ok(statement.map(|statement| statement.text))
    }

    /// The handler will never run.
    fn not_run(&self, monotonic: f64) -> PyResult<()> {
        self.orbs.get().holds().not_run(self.id, duration(monotonic)?);
        Ok(())
    }
}

/// What a gate with an MCP endpoint needs.
const MCP: &str = "a gate with an MCP endpoint needs a ledger with `on_tool_error` and `on_input_required`";

fn costs(name: &str, value: &str) -> PyResult<OnCancelled> {
    match value {
        "capture" => Ok(OnCancelled::Capture),
        "void" => Ok(OnCancelled::Void),
        "stated" => Ok(OnCancelled::Stated),
        _ => Err(PyValueError::new_err(format!("`{name}` is \"capture\", \"void\" or \"stated\""))),
    }
}

impl Hold {
    fn response(&self) -> MutexGuard<'_, Option<McpResponse>> {
        self.response.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn step(&self) -> MutexGuard<'_, HoldStep> {
        self.step.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A message to the service.
#[pyclass(frozen, module = "orbgate._native")]
#[derive(Debug)]
pub(crate) struct Call {
    call: LedgerCall,
}

#[pymethods]
impl Call {
    #[getter]
    const fn number(&self) -> u64 {
        self.call.number
    }

    #[getter]
    const fn path(&self) -> &'static str {
        self.call.path
    }

    #[getter]
    const fn body(&self) -> &[u8] {
        self.call.body.as_bytes()
    }

    /// The time limit in seconds.
    #[getter]
    const fn timeout(&self) -> f64 {
        self.call.timeout.as_secs_f64()
    }
}

fn of_service(reply: Option<&(u16, Vec<u8>)>) -> Option<LedgerReply<'_>> {
    reply.map(|(status, body)| LedgerReply { status: *status, body })
}

/// A longer answer of the service doesn't count.
pub(crate) const MOST_BYTES: usize = LedgerReply::MOST_BYTES;
