//! Copies a ledger while it is used.

use core::fmt::Display;
use core::time::Duration;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::thread;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use crate::error::Error;
use crate::sqlite::unknown;
use crate::sqlite::writer::Writer;

/// The pages that are copied between commands.
const PAGES: i32 = 256;

impl Writer {
    /// Copies the ledger. Because the writer itself copies, what it writes meanwhile is copied too; the copy starts again
    /// only if another process writes.
    pub(crate) fn backup(&mut self, to: &Path) -> Result<(), Error> {
        let failed = |error: &dyn Display| Error::Unknown(format!("cannot write `{}`: {error}", to.display()));
        if fs::symlink_metadata(to).is_ok() {
            return Err(failed(&"the file exists"));
        }
        // A copy that isn't complete doesn't have the name.
        let mut part = to.as_os_str().to_owned();
        part.push(".part");
        let part = Path::new(&part);
        create(part).map_err(|error| failed(&error))?;
        let copied = self.copy(part);
        let copied = copied.and_then(|()| publish(part, to).map_err(|error| failed(&error)));
        if copied.is_err() {
            // The first error is what counts.
            let _ = fs::remove_file(part);
        }
        copied
    }

    fn copy(&mut self, part: &Path) -> Result<(), Error> {
        let failed = |error: rusqlite::Error| unknown(error.into());
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
    OpenOptions::new().write(true).create_new(true).open(path)
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
