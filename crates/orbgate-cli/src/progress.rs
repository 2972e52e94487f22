//! Shows a progress bar on standard error, and coordinates it with standard output.

use std::io::{self, IsTerminal as _, Write};

use indicatif::{ProgressBar, ProgressStyle};

/// A progress bar in bytes, hidden if standard error isn't a terminal.
pub(crate) fn bar(size: Option<u64>) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let (bar, template) = match size {
        Some(size) => {
            (ProgressBar::new(size), "{bar:30} {percent:>3}%  {bytes} of {total_bytes}  {bytes_per_sec}  {eta} left")
        }
        None => (ProgressBar::no_length(), "{spinner} {bytes}  {bytes_per_sec}  {elapsed}"),
    };
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// A progress bar of so many steps, hidden if standard error isn't a terminal.
#[cfg(feature = "orbs")]
pub(crate) fn steps(count: usize) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(u64::try_from(count).unwrap_or(u64::MAX));
    match ProgressStyle::with_template("{bar:30} {percent:>3}%  {pos} of {len}  {per_sec}  {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Standard output, which might share a terminal with the progress bar.
pub(crate) struct Screen {
    bar: Option<ProgressBar>,
}

impl Screen {
    /// Standard output that coordinates with this bar. If only the bar is on a terminal, nothing needs to
    /// be coordinated.
    pub(crate) fn beside(bar: &ProgressBar) -> Self {
        Self { bar: io::stdout().is_terminal().then(|| bar.clone()) }
    }
}

impl Write for Screen {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        let write = || io::stdout().lock().write_all(lines);
        match &self.bar {
            // All at once, so that the bar isn't redrawn in the middle of a line.
            Some(bar) => bar.suspend(write)?,
            None => write()?,
        }
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().lock().flush()
    }
}
