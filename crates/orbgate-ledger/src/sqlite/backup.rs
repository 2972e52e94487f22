//! Copies a ledger while it is used.

use core::fmt::Display;
use core::time::Duration;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::thread;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use crate::error::Error;
use crate::plan::Stop;
use crate::sqlite::writer::Writer;

/// The pages that are copied between commands.
const PAGES: i32 = 256;

impl Writer {
    /// Copies the ledger. Because the writer itself copies, what it writes meanwhile is copied too; the copy starts again
    /// only if another process writes.
    pub(crate) fn backup(&mut self, to: &Path) -> Result<(), Error> {
        let failed = |error: &dyn Display| Error::Unknown(format!("cannot write `{}`: {error}", to.display()));
        // A copy that isn't complete doesn't have the name.
        let part = with(to, ".part");
        // The lock ends with this process, however it ends, and after the copy has its name.
        let _lock = create(&part).map_err(|error| failed(&error))?;
        if fs::symlink_metadata(to).is_ok() {
            let _ = fs::remove_file(&part);
            return Err(failed(&"the file exists"));
        }
        let copied = self.copy(&part);
        let copied = copied.and_then(|()| publish(&part, to).map_err(|error| failed(&error)));
        if copied.is_err() {
            // The first error is what counts.
            let _ = fs::remove_file(&part);
        }
        copied
    }

    fn copy(&mut self, part: &Path) -> Result<(), Error> {
        let failed = |error: rusqlite::Error| Stop::from(error).error();
        let source = Rc::clone(&self.connection);
        let mut copy = Connection::open(part).map_err(failed)?;
        let backup = Backup::new(&source, &mut copy).map_err(failed)?;
        loop {
            match backup.step(PAGES).map_err(failed)? {
                StepResult::Done => return Ok(()),
                StepResult::Busy | StepResult::Locked => wait(),
                _ => {}
            }
            self.catch_up();
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "a store is the edge: it writes files")]
fn create(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => io::Error::other("another backup writes it"),
        TryLockError::Error(error) => error,
    })?;
    // What a killed backup has left. Its journal would be played back into the new copy.
    for left in ["-journal", "-wal", "-shm"] {
        match fs::remove_file(with(path, left)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    file.set_len(0)?;
    Ok(file)
}

fn with(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Gives a durable file its name, durably.
#[allow(clippy::disallowed_methods, reason = "a store is the edge: it writes files")]
fn publish(part: &Path, to: &Path) -> io::Result<()> {
    File::open(part)?.sync_all()?;
    fs::rename(part, to)?;
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match cfg!(unix) {
        true => File::open(folder)?.sync_all(),
        false => Ok(()),
    }
}

#[allow(clippy::disallowed_methods, reason = "another process holds the lock for some milliseconds")]
fn wait() {
    thread::sleep(Duration::from_millis(10));
}
