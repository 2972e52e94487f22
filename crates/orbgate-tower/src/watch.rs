//! Following a policy file.
//!
//! The file is read again at an interval. Notifications of the kernel would come sooner, but they miss
//! what policies live on: a mounted Kubernetes `ConfigMap` changes by a symbolic link two directories up,
//! editors rename a new file over the old one, and network file systems notify nobody. A policy is small.

use core::time::Duration;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;

use crate::engines::{Engines, LoadError, read};
use crate::observe;

/// A policy file being followed; no longer once this is dropped.
#[derive(Debug)]
#[must_use = "the file is followed until this is dropped"]
pub struct Watch {
    _stop: Sender<()>,
}

impl Engines {
    /// Follows a policy file, by reading it every `interval` on a thread of its own.
    ///
    /// A changed file that is a sound policy takes the place of the current engine. One that is not, or
    /// cannot be read, never does: it is reported once as a `tracing` error, with every fault and its
    /// place, and counted in `orbgate_policy_loads_total`.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read or is no sound policy now, or there is no thread to be had.
    pub fn watch(&self, path: impl AsRef<Path>, interval: Duration) -> Result<Watch, LoadError> {
        let path = path.as_ref().to_owned();
        let seen = read(&path)?;
        self.reload(&seen)?;
        let (stop, stopped) = channel();
        let engines = self.clone();
        thread::Builder::new()
            .name("orbgate-watch".to_owned())
            .spawn(move || engines.follow(&path, seen, interval, &stopped))?;
        Ok(Watch { _stop: stop })
    }

    fn follow(&self, path: &Path, seen: Vec<u8>, interval: Duration, stopped: &Receiver<()>) {
        let mut seen = Some(seen);
        while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
            match read(path) {
                Ok(bytes) if seen.as_ref() == Some(&bytes) => {}
                Ok(bytes) => {
                    match self.reload(&bytes) {
                        Ok(digest) => tracing::info!(policy = %digest, "policy loaded"),
                        Err(faults) => tracing::error!(%faults, "policy refused, the former stays"),
                    }
                    seen = Some(bytes);
                }
                Err(error) => {
                    // Once, until it can be read again.
                    if seen.take().is_some() {
                        observe::reloaded("unreadable");
                        tracing::error!(%error, "policy unreadable, the former stays");
                    }
                }
            }
        }
    }
}
