//! `orbgate lsp`: serves editors.

use clap::Args;

use crate::output::{Exit, Stop};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Accepted for compatibility; always uses standard input and output
    #[arg(long)]
    stdio: bool,
}

#[cfg(feature = "lsp")]
pub(crate) fn run() -> Result<Exit, Stop> {
    use std::io::{self, BufReader, ErrorKind};

    use orbgate_lsp::{End, serve};

    match serve(BufReader::new(io::stdin()), &mut io::stdout()) {
        Ok(End::Orderly) => Ok(Exit::Fine),
        // The exit code that the protocol requires is 1.
        Ok(End::Abrupt) => Ok(Exit::Findings),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Stop::BrokenPipe),
        Err(error) => Err(Stop::Error(format!("standard input is not the Language Server Protocol: {error}"))),
    }
}

/// Explains how to get a command that includes the server.
#[cfg(not(feature = "lsp"))]
pub(crate) fn run() -> Result<Exit, Stop> {
    let message = "this `orbgate` was built without the language server, which the packages have; \
                   from a clone: cargo install --locked --path crates/orbgate-cli --features lsp";
    Err(Stop::Error(message.to_owned()))
}

const HELP: &str = "\
An editor starts it and speaks the Language Server Protocol with it, over
standard input and output: errors and lint as you type, hover, the scope of a
route, layout, fixes. docs/editor.md has the settings for VS Code, Helix and
Neovim. It reads no file. A command that was built without the feature `lsp`
prints how to get it.

Examples:
  orbgate lsp

Exit codes:
  0  the editor has shut it down
  1  the editor closed the connection without shutting it down
  2  could not run: the input does not follow the protocol";
