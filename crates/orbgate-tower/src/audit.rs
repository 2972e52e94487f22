//! The audit: a record of each decision, as JSON Lines.

use core::fmt;
use std::io::{BufWriter, Write};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use orbgate::{Decision, TokenKind};
use serde::Serialize;

use crate::observe;
use crate::verify::Refused;

/// Records each decision as a line of JSON. Cheap to clone; the clones write to one place.
///
/// A record has the decision as `orbgate decide --json` has it, with the policy's digest; besides, the time, and
/// of a token its kind and [fingerprint](crate::Verified::fingerprint), or the code of why it was refused:
///
/// ```json
/// {"time_ms":1795174800000,"decision":"allow","status":null,"reason":"scope_held","detail":null,"api":"external","route":"GET /api/v1/external/orbs","scope":"read:orbs","orbs":{"consumes":true,"amount":null,"bonus_allowed":false},"policy":"sha256:…","token_kind":"user","token":"8f14e45fceea167a","token_refused":null}
/// ```
///
/// Requests never wait for the writer, which has a thread of its own. Where it is 65,536 records behind, or
/// fails, records are lost, counted in `orbgate_audit_lost_total` and reported as a `tracing` error.
#[derive(Clone)]
pub struct AuditLog {
    lines: SyncSender<Vec<u8>>,
}

/// How many records may wait for the writer.
const WAITING: usize = 65_536;

impl AuditLog {
    /// Writes records to a file opened for appending, say.
    ///
    /// The writer is flushed whenever no record waits. It is dropped after the last clone of this is.
    ///
    /// # Errors
    ///
    /// Where there is no thread to be had.
    pub fn to_writer(writer: impl Write + Send + 'static) -> std::io::Result<Self> {
        let (lines, waiting) = sync_channel(WAITING);
        thread::Builder::new()
            .name("orbgate-audit".to_owned())
            .spawn(move || write(&waiting, writer))?;
        Ok(Self { lines })
    }

    pub(crate) fn record(&self, decision: &Decision<'_>, token: TokenFacts) {
        let record = Record {
            time_ms: time_ms(),
            decision,
            token,
        };
        let Ok(mut line) = serde_json::to_vec(&record) else {
            return observe::audit_lost();
        };
        line.push(b'\n');
        if self.lines.try_send(line).is_err() {
            observe::audit_lost();
            tracing::error!("an audit record is lost: the writer is behind, or has failed");
        }
    }
}

/// What an audit may say of a token.
#[derive(Serialize)]
pub(crate) struct TokenFacts {
    #[serde(rename = "token_kind", serialize_with = "kind")]
    pub(crate) kind: Option<TokenKind>,
    #[serde(rename = "token")]
    pub(crate) fingerprint: Option<String>,
    #[serde(rename = "token_refused", serialize_with = "code")]
    pub(crate) refused: Option<Refused>,
}

#[derive(Serialize)]
struct Record<'a> {
    time_ms: u64,
    #[serde(flatten)]
    decision: &'a Decision<'a>,
    #[serde(flatten)]
    token: TokenFacts,
}

fn kind<S: serde::Serializer>(kind: &Option<TokenKind>, to: S) -> Result<S::Ok, S::Error> {
    kind.map(TokenKind::as_str).serialize(to)
}

fn code<S: serde::Serializer>(refused: &Option<Refused>, to: S) -> Result<S::Ok, S::Error> {
    refused.map(|Refused(code)| code).serialize(to)
}

fn write(waiting: &Receiver<Vec<u8>>, writer: impl Write) {
    let mut writer = BufWriter::new(writer);
    while let Some(line) = next(waiting, &mut writer) {
        let written = line.and_then(|line| writer.write_all(&line));
        if let Err(error) = written {
            // The channel closes with this thread, so every later record is counted as lost.
            observe::audit_lost();
            return tracing::error!(%error, "the audit cannot be written and ends here");
        }
    }
}

/// The next line; `None` once nobody can send one. Flushes before it waits.
fn next(
    waiting: &Receiver<Vec<u8>>,
    writer: &mut BufWriter<impl Write>,
) -> Option<std::io::Result<Vec<u8>>> {
    match waiting.try_recv() {
        Ok(line) => Some(Ok(line)),
        Err(TryRecvError::Empty) => match writer.flush() {
            Ok(()) => waiting.recv().ok().map(Ok),
            Err(error) => Some(Err(error)),
        },
        Err(TryRecvError::Disconnected) => None,
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the core has no clock; an audit says when"
)]
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
