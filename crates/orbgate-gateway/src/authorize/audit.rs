//! The file of the audit log.

use core::sync::atomic::{AtomicBool, Ordering};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use orbgate_tower::AuditLog;
use rustix::fs::OFlags;

use crate::config::error::StartError;

/// An open audit log.
#[derive(Clone, Debug)]
pub(crate) struct OpenAudit {
    log: AuditLog,
    /// Whether the file must be reopened before the next line.
    moved: Arc<AtomicBool>,
}

impl OpenAudit {
    pub(crate) fn open(path: &Path) -> Result<Self, StartError> {
        let moved = Arc::<AtomicBool>::default();
        let file = append(path).map(|file| AuditFile { path: path.to_owned(), file, moved: Arc::clone(&moved) });
        let log = file.and_then(AuditLog::to_writer);
        let log = log.map_err(|error| StartError::Audit(path.to_owned(), error))?;
        Ok(Self { log, moved })
    }

    /// Rejects a path that can't be an audit log: a file that can't be written, or that has no parent
    /// folder. Doesn't create the file.
    pub(crate) fn check(path: &Path) -> Result<(), StartError> {
        let opened = match options().open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                std::fs::read_dir(folder.unwrap_or(Path::new("."))).map(drop)
            }
            opened => opened.map(drop),
        };
        opened.map_err(|error| StartError::Audit(path.to_owned(), error))
    }

    pub(crate) fn log(&self) -> AuditLog {
        self.log.clone()
    }

    /// Reopens the file by its name for the next line, because an operator has renamed it.
    pub(crate) fn reopen(&self) {
        self.moved.store(true, Ordering::Relaxed);
    }

    /// Waits until all lines are written.
    pub(crate) fn flush(&self) {
        self.log.flush();
    }
}

struct AuditFile {
    path: PathBuf,
    file: File,
    moved: Arc<AtomicBool>,
}

impl Write for AuditFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.moved.swap(false, Ordering::Relaxed) {
            match append(&self.path) {
                Ok(file) => self.file = file,
                Err(error) => {
                    let file = self.path.display();
                    tracing::error!(%file, %error, "the audit cannot be opened again: lines still go to the file that was open");
                }
            }
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Opening a pipe that no program reads is an error (`ENXIO`) instead of a wait without end.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.append(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    options
}

fn append(path: &Path) -> io::Result<File> {
    let file = options().create(true).open(path)?;
    // A full pipe delays the thread of the log. Otherwise its lines would be lost.
    rustix::fs::fcntl_setfl(&file, OFlags::APPEND)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn a_pipe_needs_a_reader() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let pipe = folder.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let expected = format!("the audit {}: No such device or address (os error 6)", pipe.display());
        assert_eq!(OpenAudit::check(&pipe).unwrap_err().to_string(), expected);
        assert_eq!(OpenAudit::open(&pipe).unwrap_err().to_string(), expected);

        let mut reader = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
        OpenAudit::check(&pipe).unwrap();
        let mut writer = append(&pipe).unwrap();
        // More than a pipe holds.
        let lines = vec![b'x'; 1 << 20];
        let written = std::thread::spawn(move || writer.write_all(&lines));
        let mut read = vec![0; 1 << 20];
        reader.read_exact(&mut read).unwrap();
        written.join().unwrap().unwrap();
    }
}
