//! Decides with several threads, while the interpreter can handle a Ctrl-C.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use pyo3::prelude::*;

use crate::bulk::Decider;
use crate::column::Requests;
use crate::error;
use crate::outcome::{Outcomes, ROWS_AT_ONCE};

/// How long a Ctrl-C might have to wait before it is handled.
const PATIENCE: Duration = Duration::from_millis(20);

/// A piece of the result, and its number.
type Piece = (usize, Result<RecordBatch, ArrowError>);

/// Decides some rows with one thread per worker. Returns the pieces of the result in order.
pub(crate) fn decide(py: Python<'_>, requests: &Requests, workers: &mut [Outcomes<'_>]) -> PyResult<Vec<RecordBatch>> {
    let pieces = requests.rows.div_ceil(ROWS_AT_ONCE);
    let (sender, mut receiver) = channel();
    let next = AtomicUsize::new(0);
    let mut results = match workers {
        // Starting a thread takes longer than deciding a few rows.
        [worker, ..] if pieces <= 1 => {
            py.detach(|| work(requests, worker, &next, &sender));
            py.check_signals()?;
            drop(sender);
            receiver.iter().collect::<Vec<Piece>>()
        }
        workers => thread::scope(|scope| {
            for worker in workers.iter_mut().take(pieces) {
                let (sender, next) = (sender.clone(), &next);
                scope.spawn(move || work(requests, worker, next, &sender));
            }
            drop(sender);
            let results = collect(py, &mut receiver);
            // The workers find no work left.
            next.store(pieces, Ordering::Relaxed);
            results
        })?,
    };
    results.sort_unstable_by_key(|(piece, _)| *piece);
    let batches: Result<_, ArrowError> = results.into_iter().map(|(_, batch)| batch).collect();
    batches.map_err(|error| error::table(py, &error.to_string()))
}

/// Waits for the workers' pieces, or for a Ctrl-C.
fn collect(py: Python<'_>, receiver: &mut Receiver<Piece>) -> PyResult<Vec<Piece>> {
    let mut results = Vec::new();
    loop {
        let receiver = &mut *receiver;
        match py.detach(move || receiver.recv_timeout(PATIENCE)) {
            Ok(piece) => results.push(piece),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(results),
        }
        py.check_signals()?;
    }
}

/// Decides piece after piece, until none is left.
fn work(requests: &Requests, outcomes: &mut Outcomes<'_>, next: &AtomicUsize, sender: &Sender<Piece>) {
    let mut decider = Decider::new(outcomes.engine(), requests);
    let mut answers = Vec::with_capacity(ROWS_AT_ONCE.min(requests.rows));
    loop {
        let piece = next.fetch_add(1, Ordering::Relaxed);
        let start = piece.saturating_mul(ROWS_AT_ONCE);
        if start >= requests.rows {
            return;
        }
        let end = start.saturating_add(ROWS_AT_ONCE).min(requests.rows);
        answers.clear();
        decider.decide(start..end, outcomes, &mut answers);
        if sender.send((piece, outcomes.columns(&answers))).is_err() {
            return;
        }
    }
}
