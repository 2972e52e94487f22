//! `orbgate openapi`: converts OpenAPI documents to policies and back, and compares them.

mod args;

use std::path::Path;

use orbgate::{Digest, Policy};
use orbgate_openapi::{self as openapi, Drift, DriftKind, Imported, MAX_BYTES, Options};
use serde::Serialize;

use crate::input;
use crate::output::{self, ALLOW, DENY, Exit, Stop, WARNING, count, one_line, print_json};
use crate::policy_file::{self, in_file};

use args::{Action, Check, Export, Import, Open};

pub(crate) use args::Arguments;

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Stop> {
    match &arguments.action {
        Action::Import(import) => self::import(import),
        Action::Export(export) => self::export(export),
        Action::Check(check) => self::check(check),
    }
}

fn import(import: &Import) -> Result<Exit, Stop> {
    let file = import.document.display().to_string();
    let bytes = read(&import.document)?;
    let imported = openapi::import(&bytes, &options(&import.open))
        .map_err(|diagnostics| Stop::Diagnostics(in_file(&file, &diagnostics)))?;
    if import.json {
        print_json(&ImportAnswer { document: &file, imported: &imported })?;
    } else {
        output::print_raw(|out| out.write_all(imported.policy.as_bytes()))?;
        report(&file, &imported);
    }
    Ok(match imported.left_out.is_empty() || import.allow_left_out {
        true => Exit::Fine,
        false => Exit::Findings,
    })
}

/// Reports on standard error what is left out, and notes, because standard output contains the policy.
fn report(file: &str, imported: &Imported) {
    let file = one_line(file);
    output::explain(|out| {
        for left in &imported.left_out {
            let (location, kind) = (left.location, left.kind);
            let why = format!("{}: {}", left.operation, left.message);
            let why = one_line(&why);
            writeln!(out, "{file}:{location}: {WARNING}left out[{kind}]{WARNING:#}: {why}")?;
        }
        for note in &imported.notes {
            let (location, kind) = (note.location, note.kind);
            let text = format!("{}: {}", note.operation, note.message);
            writeln!(out, "{file}:{location}: note[{kind}]: {}", one_line(&text))?;
        }
        let operations = count(imported.operations, "operation");
        match imported.left_out.len() {
            0 => writeln!(out, "{file}: {ALLOW}ok{ALLOW:#}: {operations}{}", share(imported)),
            left => writeln!(out, "{file}: {operations}, {DENY}{left} left out{DENY:#}{}", share(imported)),
        }
    });
}

/// The share of the operations with scopes that were imported, and how many of them no call might match.
fn share(imported: &Imported) -> String {
    let (part, all) = (imported.with_scopes_imported, imported.with_scopes);
    let percent = part.saturating_mul(100).checked_div(all);
    let share = percent.map(|percent| format!("; {part} of {all} with scopes imported ({percent}%)"));
    let share = share.filter(|_| !imported.left_out.is_empty()).unwrap_or_default();
    match imported.multi_segment {
        0 => share,
        several => format!("{share}; in {several} of them, a parameter seems to take several segments"),
    }
}

fn export(export: &Export) -> Result<Exit, Stop> {
    let document = openapi::export(&policy(&export.file)?);
    let text = match export.json {
        true => document.to_json() + "\n",
        false => document.to_yaml(),
    };
    output::print_raw(|out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Fine)
}

fn check(check: &Check) -> Result<Exit, Stop> {
    let files = [&check.document, &check.file].map(|path| path.display().to_string());
    let [document, policy_file] = &files;
    let policy = policy(&check.file)?;
    let bytes = read(&check.document)?;
    let drift = openapi::check(&bytes, &options(&check.open), &policy)
        .map_err(|diagnostics| Stop::Diagnostics(in_file(document, &diagnostics)))?;
    let differs = |drift: &&Drift| !(check.allow_left_out && drift.kind == DriftKind::Unclear);
    let differences = drift.iter().filter(differs).count();
    if check.json {
        print_json(&CheckAnswer { document, policy: policy.digest(), drift: &drift })?;
    } else {
        output::print(|out| {
            for drift in &drift {
                let at = match (drift.document, drift.policy) {
                    (Some(location), _) => format!("{document}:{location}"),
                    (None, Some(location)) => format!("{policy_file}:{location}"),
                    (None, None) => document.clone(),
                };
                let other = drift.document.and(drift.policy);
                let other = other.map(|location| format!(" ({policy_file}:{location})"));
                let text = format!("{}: {}{}", drift.operation, drift.message, other.unwrap_or_default());
                let (at, text, kind) = (one_line(&at), one_line(&text), drift.kind);
                writeln!(out, "{at}: {WARNING}{kind}{WARNING:#}: {text}")?;
            }
            let [document, policy_file] = [document, policy_file].map(|name| one_line(name));
            match drift.len() {
                0 => writeln!(out, "{document}, {policy_file}: {ALLOW}ok{ALLOW:#}"),
                many => {
                    let many = count(many, "difference");
                    writeln!(out, "{document}, {policy_file}: {DENY}{many}{DENY:#}")
                }
            }
        })?;
    }
    Ok(match differences {
        0 => Exit::Fine,
        _ => Exit::Findings,
    })
}

fn read(path: &Path) -> Result<Vec<u8>, Stop> {
    let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX);
    // One byte over the limit shows that the file is too large.
    input::read(path, limit.saturating_add(1)).map_err(Stop::Error)
}

fn policy(path: &Path) -> Result<Policy, Stop> {
    let name = path.display().to_string();
    let read = policy_file::read(path).map_err(Stop::Error)?;
    read.map_err(|diagnostics| Stop::Diagnostics(in_file(&name, &diagnostics)))
}

fn options(open: &Open) -> Options {
    Options {
        schemes: open.scheme.clone(),
        elsewhere: open.elsewhere.clone(),
        base_path: open.base_path.clone(),
        default_scope: open.default_scope.clone(),
        orbs: open.orbs,
        require_optional: open.optional.is_some(),
        all_of_as_any: open.all_of_as_any,
    }
}

#[derive(Serialize)]
struct ImportAnswer<'a> {
    document: &'a str,
    #[serde(flatten)]
    imported: &'a Imported,
}

#[derive(Serialize)]
struct CheckAnswer<'a> {
    document: &'a str,
    policy: Digest,
    drift: &'a [Drift],
}
