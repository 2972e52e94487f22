//! `orbgate fmt`: formats policies.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use orbgate_yaml::{Content, Diagnostics, Keep};
use serde::Serialize;
use tempfile::NamedTempFile;

use crate::input::{self, STANDARD_INPUT};
use crate::output::{self, Exit, Stop, WARNING, one_line, print_json};
use crate::policy_file::{self, READ_LIMIT, in_file};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Policy files; `-` formats standard input to standard output
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Change nothing, and exit with 1 if a file would change
    #[arg(long)]
    pub(crate) check: bool,

    /// Write a seal, for files that you deploy
    #[arg(long)]
    pub(crate) seal: bool,

    /// Print one line of JSON; for `-` only with --check
    #[arg(long)]
    pub(crate) json: bool,
}

/// A file, and whether formatting changes it.
#[derive(Serialize)]
struct Formatted {
    file: String,
    changed: bool,
    /// Whether it had a seal that the new contents don't have.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    unsealed: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Stop> {
    let (mut done, mut outcome) = (Vec::new(), Exit::Fine);
    for path in &arguments.files {
        match format(path, arguments) {
            Ok(file) => done.push(file),
            Err(stop @ Stop::BrokenPipe) => return Err(stop),
            // Continue with the other files.
            Err(stop) => outcome = stop.report(),
        }
    }
    if arguments.json {
        print_json(&Answer { files: &done })?;
    } else {
        let word = if arguments.check { "would change" } else { "formatted" };
        let standard_output = |file: &Formatted| file.file == STANDARD_INPUT && !arguments.check;
        let changed = done.iter().filter(|file| file.changed && !standard_output(file));
        output::print(|out| {
            for file in changed {
                writeln!(out, "{}: {WARNING}{word}{WARNING:#}", one_line(&file.file))?;
            }
            Ok(())
        })?;
    }
    Ok(match outcome {
        Exit::Fine if arguments.check && done.iter().any(|file| file.changed) => Exit::Findings,
        outcome => outcome,
    })
}

fn format(path: &Path, arguments: &Arguments) -> Result<Formatted, Stop> {
    let file = path.display().to_string();
    let bytes = input::read(path, READ_LIMIT).map_err(Stop::Error)?;
    let diagnostics = |diagnostics: &[_]| Stop::Diagnostics(in_file(&file, diagnostics));
    let text = String::from_utf8(bytes).map_err(|error| {
        // The policy reader reports the location.
        diagnostics(&policy_file::parse(error.as_bytes()).err().unwrap_or_default())
    })?;
    let as_it_is = arguments.seal && is_configuration(&text);
    let new = match arguments.seal {
        true if as_it_is => Ok(orbgate_yaml::seal(&text)),
        true => orbgate_analysis::format_and_seal(&text),
        false => orbgate_analysis::format(&text),
    };
    let new = new.map_err(|errors| diagnostics(&policy_file::diagnostics_of(text.as_bytes(), &errors)))?;
    let was_sealed = orbgate_analysis::is_sealed(&text);
    let unsealed = was_sealed && !orbgate_analysis::is_sealed(&new);
    // The formatted policy is valid, so the only possible error in the original is its seal.
    let is_refused = || match as_it_is {
        true => new != text,
        false => policy_file::parse(text.as_bytes()).is_err(),
    };
    let is_of_another = || was_sealed && is_refused();
    if unsealed || is_of_another() {
        let then = match (unsealed, arguments.check) {
            (true, _) => "and is removed: `--seal` writes a new one",
            (false, true) => "and would be replaced: the text was changed after it was sealed",
            (false, false) => "and is replaced: the text was changed after it was sealed",
        };
        let file = one_line(&file);
        output::explain(|err| writeln!(err, "{file}: the seal does not match the text, {then}"));
    }
    let changed = new != text;
    if path == Path::new(STANDARD_INPUT) {
        if !arguments.check && !arguments.json {
            output::print_raw(|out| out.write_all(new.as_bytes()))?;
        }
    } else if changed && !arguments.check {
        replace(path, &new).map_err(|error| Stop::Error(format!("cannot write `{file}`: {error}")))?;
    }
    Ok(Formatted { file, changed, unsealed })
}

/// Whether it is a token configuration or a gateway configuration, which is sealed without
/// formatting.
fn is_configuration(text: &str) -> bool {
    let root = orbgate_yaml::outline(text, OnlyKeys, &mut Diagnostics::default());
    let Some(Content::Mapping(entries)) = root.map(|root| root.kind) else {
        return false;
    };
    entries.iter().any(|entry| matches!(&*entry.key.text, "orbgate_token" | "orbgate_gateway"))
}

/// Keeps only the keys of a file, which are far fewer than the limit.
#[derive(Clone, Copy)]
struct OnlyKeys;

impl Keep for OnlyKeys {
    const DEPTH: usize = 1;
    const VALUES: usize = 100;

    fn of(self, _: &str) -> Option<Self> {
        None
    }

    fn item(self) -> Option<Self> {
        None
    }
}

/// Replaces a file atomically, because a service might be reading it.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    // A symbolic link stays a link.
    let path = fs::canonicalize(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let permissions = fs::metadata(&path)?.permissions();
    let write = |mut file: &File| {
        file.write_all(text.as_bytes())?;
        file.set_permissions(permissions.clone())?;
        // Write it to disk before renaming it, so that a crash leaves either the old or the new contents.
        file.sync_all()
    };
    if let Some(file) = nameless::create(folder) {
        write(&file)?;
        if let Ok(named) = nameless::name(&file, folder) {
            named.persist(&path)?;
            return Ok(());
        }
    }
    // A new file with a random name, readable only by its owner until it has the mode of the old file.
    let beside = NamedTempFile::new_in(folder)?;
    write(beside.as_file())?;
    beside.persist(&path)?;
    Ok(())
}

/// A file without a name is gone with its process, so a killed one leaves nothing behind. It has a name only from the end
/// of writing until the renaming.
#[cfg(target_os = "linux")]
mod nameless {
    use std::fs::{File, OpenOptions};
    use std::io;
    use std::os::fd::AsRawFd as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, OFlags, linkat};
    use tempfile::{Builder, NamedTempFile};

    /// `None` on a file system that has no such files.
    pub(super) fn create(folder: &Path) -> Option<File> {
        let flags = i32::try_from(OFlags::TMPFILE.bits()).ok()?;
        OpenOptions::new().write(true).mode(0o600).custom_flags(flags).open(folder).ok()
    }

    pub(super) fn name(file: &File, folder: &Path) -> io::Result<NamedTempFile<()>> {
        let open = format!("/proc/self/fd/{}", file.as_raw_fd());
        Builder::new().make_in(folder, |name| Ok(linkat(CWD, &open, CWD, name, AtFlags::SYMLINK_FOLLOW)?))
    }
}

#[cfg(not(target_os = "linux"))]
mod nameless {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    use tempfile::NamedTempFile;

    pub(super) const fn create(_: &Path) -> Option<File> {
        None
    }

    pub(super) fn name(_: &File, _: &Path) -> io::Result<NamedTempFile<()>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[derive(Serialize)]
struct Answer<'a> {
    files: &'a [Formatted],
}

const HELP: &str = "\
Two spaces for each level, one after a `-` and a `:`, no space at the end of
a line, one blank line where there are several. CRLF at the end of a line
becomes LF. Comments and the order of the file stay. Values in brackets,
in quotes or in a block are not changed otherwise. The policy keeps its digest.
With `--seal`, the end marker carries the SHA-256 of everything before it, so
that every reader rejects a file that was changed since, or is incomplete. A
seal of other content is removed. It also seals a `tokens.yaml` and a
`gateway.yaml`, and keeps their layout. Files are replaced atomically. Standard
input is printed without escaping: do not print untrusted input to a log whose
lines a machine obeys.

Examples:
  orbgate fmt policy.yaml
  orbgate fmt --check policies/*.yaml
  orbgate fmt --seal deploy/policy.yaml
  orbgate fmt - < policy.yaml

Exit codes:
  0  every file is formatted, or is now
  1  with --check, a file would change
  2  could not run: bad usage, a bad or unreadable policy, a file that cannot
     be written";
