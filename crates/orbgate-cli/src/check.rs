//! `orbgate check`: every fault of every file, before it is put to use.

use std::io::{self, Write};
use std::path::PathBuf;

use orbgate::{Engine, Policy};

use crate::output::{self, Outcome, Stop, WARNING, one_line};
use crate::policy_file;

/// Checks the files.
pub(crate) fn run<'a>(files: impl Iterator<Item = &'a PathBuf>) -> Result<Outcome, Stop> {
    let mut outcome = Outcome::Fine;
    for path in files {
        let name = path.display().to_string();
        match policy_file::read(path) {
            // The other files are checked all the same.
            Err(message) => {
                output::error(&message);
                outcome = Outcome::CouldNotRun;
            }
            Ok(Err(faults)) => {
                output::print(|out| writeln!(out, "{}", policy_file::in_file(&name, &faults)))?;
                if outcome == Outcome::Fine {
                    outcome = Outcome::Findings;
                }
            }
            Ok(Ok(policy)) => {
                // What is said to be fine can be put to use.
                let _ = Engine::new(&policy);
                output::print(|out| fine(out, &name, &policy))?;
            }
        }
    }
    Ok(outcome)
}

/// Says that a file is fine, and what may surprise in it all the same.
fn fine(out: &mut dyn Write, name: &str, policy: &Policy) -> io::Result<()> {
    let name = one_line(name);
    for warning in policy.warnings() {
        let warning = warning.to_string();
        let warning = one_line(&warning);
        writeln!(out, "{WARNING}warning:{WARNING:#} {name}:{warning}")?;
    }
    let scopes = policy.apis().iter().flat_map(|api| api.scopes());
    let routes: usize = scopes.clone().map(|scope| scope.routes().len()).sum();
    let (scopes, digest) = (scopes.count(), policy.digest());
    writeln!(
        out,
        "{name}: ok: {}, {}, {digest}",
        count(scopes, "scope"),
        count(routes, "route")
    )
}

/// `1 scope`, `2 scopes`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}
