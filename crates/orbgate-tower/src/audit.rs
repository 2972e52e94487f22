//! The audit log: one JSON line per decision.

use core::fmt;
use core::panic::AssertUnwindSafe;
use core::sync::atomic::{AtomicBool, Ordering};
use std::io::{self, Write};
use std::panic::catch_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use orbgate::Decision;
use orbgate_analysis::{Disagreeing, Shadowed};
use orbgate_gate::{AuditLine, AuditToken, HoldId, audit_json};
use serde::Serialize;

use crate::observe;

/// Writes one JSON line per decision. Cheap to clone; all clones write to the same writer.
///
/// A line contains the decision as in `orbgate decide --json`, with the policy's digest. Its `scope` is the scope that
/// owns the route; if other scopes are enough, `scopes` lists the alternatives. `bonus_allowed` is null unless the layer reads
/// the body ([`bonus_from_body`](crate::GateLayer::bonus_from_body)). It also contains the time
/// and the route that the request matches, even if the request has no valid token
/// ([`Decision::about`](orbgate::Decision::about)). For a token, it contains the kind and the
/// [fingerprint](crate::Verified::fingerprint), or the code of why it was rejected:
///
/// ```json
/// {"time_ms":1795174800000,"decision":"allow","status":null,"reason":"scope_held","detail":null,"api":"external","route":"GET /api/v1/external/orbs","scope":"read:orbs","orbs":{"consumes":true,"amount":null,"bonus_allowed":null},"policy":"sha256:…","about":"GET /api/v1/external/orbs","token_kind":"user","token":"8f14e45fceea167a","token_refused":null}
/// ```
///
/// A call whose orbs a ledger holds also has the `hold_id`.
///
/// With [`GateLayer::shadow`](crate::GateLayer::shadow), a line also has `shadow` if the candidate disagrees: its
/// decision and the kind of disagreement, `{"disagreement":"narrower","decision":"deny",…}`.
///
/// Requests never wait for the writer, which runs on its own thread, and decisions don't depend on
/// it:
///
/// - If the writer is slow, up to 65,536 lines wait (about 32 MiB); further lines are lost.
/// - If a writer fails or panics, the lines of that write are lost, 64 KiB or slightly more. The writer still gets
///   later lines, preceded by a line feed, because it might have written half a line.
///
/// Every lost line counts in `orbgate_audit_lost_total`; a `tracing` error reports the first loss.
#[derive(Clone)]
pub struct AuditLog {
    entries: SyncSender<Entry>,
    /// Lines are being lost, and this was already logged.
    losing: Arc<AtomicBool>,
}

enum Entry {
    /// A line.
    Line(Vec<u8>),
    /// Its channel closes when all earlier entries are written.
    Flush { _done: SyncSender<()> },
}

/// The maximum number of lines that wait for the writer.
const WAITING: usize = 65_536;

/// The number of bytes per write; up to one line more.
const BATCH: usize = 64 * 1024;

impl AuditLog {
    /// Writes to any writer, such as a file opened for appending.
    ///
    /// The writer is flushed whenever no line waits. It is dropped when the last clone of this audit is dropped.
    ///
    /// # Errors
    ///
    /// Fails if no thread can be started.
    pub fn to_writer(writer: impl Write + Send + 'static) -> io::Result<Self> {
        let (entries, waiting) = sync_channel(WAITING);
        let losing = Arc::new(AtomicBool::new(false));
        let caught_up = Arc::clone(&losing);
        thread::Builder::new().name("orbgate-audit".to_owned()).spawn(move || write(&waiting, writer, &caught_up))?;
        Ok(Self { entries, losing })
    }

    /// Waits until all lines so far are written or lost. Call it before the program ends, because the writer's
    /// thread ends with the program.
    ///
    /// It blocks the thread for as long as the writer takes.
    pub fn flush(&self) {
        let (done, wait) = sync_channel(0);
        // If the thread has ended, there is nothing to wait for. `recv` returns when the writer drops its end; nothing
        // is ever sent.
        if self.entries.send(Entry::Flush { _done: done }).is_ok() {
            let _ = wait.recv();
        }
    }

    pub(crate) fn write_down(
        &self,
        decision: &Decision<'_>,
        reads_bonus_orbs: bool,
        hold: Option<HoldId>,
        shadowed: Option<&Shadowed<'_, '_>>,
        token: AuditToken,
    ) {
        let line = Line {
            enforced: AuditLine::new(time_ms(), decision, token).held(hold),
            shadow: shadowed.and_then(Shadowed::disagreeing),
        };
        let Ok(mut line) = audit_json(&line, reads_bonus_orbs) else {
            return observe::audit_lost(1);
        };
        line.push('\n');
        if self.entries.try_send(Entry::Line(line.into_bytes())).is_err() {
            observe::audit_lost(1);
            if !self.losing.swap(true, Ordering::Relaxed) {
                tracing::error!("audit lines are lost: the writer is too slow");
            }
        }
    }
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    enforced: AuditLine<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shadow: Option<Disagreeing<'a>>,
}

fn write(waiting: &Receiver<Entry>, writer: impl Write, losing: &AtomicBool) {
    let mut batch = Batch::new(writer);
    loop {
        let entry = match waiting.try_recv() {
            Ok(entry) => entry,
            Err(TryRecvError::Disconnected) => return batch.write(),
            Err(TryRecvError::Empty) => {
                batch.write();
                losing.store(false, Ordering::Relaxed);
                match waiting.recv() {
                    Ok(entry) => entry,
                    Err(_) => return,
                }
            }
        };
        match entry {
            Entry::Line(line) => batch.add(&line),
            Entry::Flush { _done } => batch.write(),
        }
    }
}

/// Lines that are written together.
struct Batch<W> {
    writer: W,
    text: Vec<u8>,
    count: u64,
    /// Whether the previous batch was lost.
    failing: bool,
}

impl<W: Write> Batch<W> {
    const fn new(writer: W) -> Self {
        Self { writer, text: Vec::new(), count: 0, failing: false }
    }

    fn add(&mut self, line: &[u8]) {
        if self.failing && self.count == 0 {
            self.text.push(b'\n');
        }
        self.text.extend_from_slice(line);
        self.count = self.count.saturating_add(1);
        if self.text.len() >= BATCH {
            self.write();
        }
    }

    fn write(&mut self) {
        if self.count == 0 {
            return;
        }
        // A panic would end the thread, so every later line would be lost.
        let written = catch_unwind(AssertUnwindSafe(|| {
            self.writer.write_all(&self.text)?;
            self.writer.flush()
        }));
        match written.unwrap_or_else(|_| Err(io::Error::other("the writer panicked"))) {
            Ok(()) if self.failing => {
                self.failing = false;
                tracing::info!("the audit is written again");
            }
            Ok(()) => {}
            Err(error) => {
                observe::audit_lost(self.count);
                if !self.failing {
                    tracing::error!(%error, "audit lines are lost: they cannot be written");
                }
                self.failing = true;
            }
        }
        self.text.clear();
        self.count = 0;
    }
}

#[expect(clippy::disallowed_methods, reason = "the core has no clock; an audit says when")]
fn time_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let milliseconds = since.map_or(0, |since| since.as_millis());
    u64::try_from(milliseconds).unwrap_or(u64::MAX)
}

impl fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditLog").finish_non_exhaustive()
    }
}
