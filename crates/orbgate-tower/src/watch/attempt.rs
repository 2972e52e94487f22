//! Runs work on its own thread, because it might take too long or panic.

use core::time::Duration;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel};
use std::thread;

use orbgate_gate::LoadError;

#[derive(Debug)]
pub(super) struct Attempt<T> {
    result: Receiver<T>,
}

impl<T: Send + 'static> Attempt<T> {
    pub(super) fn start(work: impl FnOnce() -> T + Send + 'static) -> Result<Self, LoadError> {
        let (done, result) = sync_channel(1);
        thread::Builder::new().name("orbgate-policy".to_owned()).spawn(move || {
            // After the deadline, nothing waits for the result.
            let _ = done.send(work());
        })?;
        Ok(Self { result })
    }

    /// Its result, if it arrives before the deadline.
    pub(super) fn result_within(&self, deadline: Duration) -> Result<T, LoadError> {
        self.result.recv_timeout(deadline).map_err(|error| match error {
            RecvTimeoutError::Timeout => LoadError::Overdue(deadline),
            // The thread ended without a result.
            RecvTimeoutError::Disconnected => LoadError::Panicked,
        })
    }

    /// Whether it is still running. For use after the deadline; a later result is lost.
    pub(super) fn goes_on(&self) -> bool {
        matches!(self.result.try_recv(), Err(TryRecvError::Empty))
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;
    use std::sync::mpsc::channel;
    use std::thread;

    use super::Attempt;
    use orbgate_gate::LoadError;

    #[test]
    fn a_panic_is_told_from_work_that_takes_too_long() {
        let panics = Attempt::<()>::start(|| panic!("as an error of the compiler would")).unwrap();
        let panicked = panics.result_within(Duration::from_secs(60));
        assert!(matches!(panicked, Err(LoadError::Panicked)), "{panicked:?}");
        assert!(!panics.goes_on());

        let (go, wait) = channel::<()>();
        let slow = Attempt::start(move || wait.recv().is_ok()).unwrap();
        let overdue = slow.result_within(Duration::from_millis(1));
        assert!(matches!(overdue, Err(LoadError::Overdue(_))), "{overdue:?}");
        assert!(slow.goes_on());
        go.send(()).unwrap();
        assert!(slow.result_within(Duration::from_secs(60)).unwrap());
        // The thread might still be about to end.
        while slow.goes_on() {
            thread::yield_now();
        }
    }
}
