//! `orbgate init`: creates a first policy, with its tests and the files for CI.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use orbgate::Policy;

use crate::output::{self, Exit, Stop, one_line};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Root of a repository; it is created if it doesn't exist
    #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath, default_value = ".")]
    folder: PathBuf,
}

/// Each file with its contents, in which `VERSION` stands for this program's version and `SCHEMA_URL` for the URL of the policy schema.
const FILES: [(&str, &str); 4] = [
    ("policy.yaml", include_str!("policy.yaml")),
    ("policy.test.yaml", include_str!("policy.test.yaml")),
    (".github/workflows/policy.yaml", include_str!("workflow.yaml")),
    (".pre-commit-config.yaml", include_str!("pre-commit.yaml")),
];

/// Writes the files. Never changes an existing file.
pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Stop> {
    let mut outcome = Exit::Fine;
    for (name, text) in FILES {
        let path = arguments.folder.join(name);
        let shown = path.display().to_string();
        let text = text.replace("SCHEMA_URL", Policy::SCHEMA_URL);
        let text = text.replace("VERSION", env!("CARGO_PKG_VERSION"));
        match write(&path, &text) {
            Ok(()) => output::print(|out| writeln!(out, "{}", one_line(&shown)))?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let shown = one_line(&shown);
                output::explain(|err| writeln!(err, "{shown}: exists already, and was not changed"));
            }
            Err(error) => {
                output::error(&format!("cannot write `{shown}`: {error}"));
                outcome = Exit::CouldNotRun;
            }
        }
    }
    if let Some(root) = repository_around(&arguments.folder) {
        let root = root.display().to_string();
        let root = one_line(&root);
        output::explain(|err| {
            writeln!(
                err,
                "warning: GitHub and pre-commit read `.github` and `.pre-commit-config.yaml` only at the root of the repository, which is `{root}`"
            )
        });
    }
    if outcome == Exit::Fine {
        output::explain(|err| {
            writeln!(
                err,
                "Next: put your routes into policy.yaml, then run `orbgate test policy.test.yaml`.\n\
                 The workflow and the hooks use the release v{} of Orbgate: they fail until it is published.",
                env!("CARGO_PKG_VERSION")
            )
        });
    }
    Ok(outcome)
}

/// The root of the git repository that has this folder below its root.
fn repository_around(folder: &Path) -> Option<PathBuf> {
    let folder = fs::canonicalize(folder).ok()?;
    let root = folder.ancestors().find(|it| it.join(".git").exists())?;
    (root != folder).then(|| root.to_owned())
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())
}

const HELP: &str = "\
It writes a small policy (policy.yaml), a test file and a property for it
(policy.test.yaml), a workflow for GitHub that reviews changes of the policy,
and hooks for pre-commit. Both use the release of Orbgate with this program's
version, so they need it to be published. A file that exists already stays as it
is.

Examples:
  orbgate init
  orbgate init my-service
  orbgate test policy.test.yaml

Exit codes:
  0  each file was written, or exists already
  2  a file could not be written";
