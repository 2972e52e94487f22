//! The steps, as `src/steps/steps.sh` has them, which runs them: what each shows, when it runs, and which paths it covers.

use std::sync::LazyLock;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::kit::project::functions;

/// A step.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    /// What it shows.
    pub(crate) about: String,
    pub(crate) when: When,
    pub(crate) lane: Lane,
    /// What ends its record in docs/assurance.md when it changes, as [`Covers`](super::covers::Covers) reads it.
    pub(crate) covers: Vec<&'static str>,
}

/// When a step runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// With `test` and `test --all`.
    Always,
    /// With `test --all`.
    WithAll,
    /// With `assure`; with `test --all` only if a path that it covers has changed since its last recorded run.
    IfChanged,
    /// With `assure` only.
    Assure,
}

/// Steps of one lane run one after the other. A lane that has no steps left takes the last ones of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    Cargo,
    Languages,
    /// After both lanes, one at a time.
    Quiet,
}

const TABLE: &str = include_str!("../steps/steps.sh");

/// In the order in which each lane runs them.
static STEPS: LazyLock<Vec<Step>> = LazyLock::new(|| {
    let steps = functions(TABLE, "test").into_iter().filter_map(|function| {
        let [when, lane, covers @ ..] = function.settings.as_slice() else {
            return None;
        };
        let when = match *when {
            "always" => When::Always,
            "all" => When::WithAll,
            "if-changed" => When::IfChanged,
            "assure" => When::Assure,
            _ => return None,
        };
        let lane = match *lane {
            "cargo" => Lane::Cargo,
            "languages" => Lane::Languages,
            "quiet" => Lane::Quiet,
            _ => return None,
        };
        Some(Step { name: function.name, about: function.about, when, lane, covers: covers.to_vec() })
    });
    steps.collect()
});

impl Step {
    pub(crate) fn all() -> impl Iterator<Item = &'static Self> {
        STEPS.iter()
    }

    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        Self::all().find(|step| step.name == name)
    }

    /// Takes an argument.
    pub(crate) fn parser() -> impl TypedValueParser<Value = &'static Self> {
        let names = Self::all().map(|step| PossibleValue::new(step.name).help(step.about.as_str()));
        PossibleValuesParser::new(names).try_map(|name| Self::named(&name).ok_or("no step"))
    }
}

#[cfg(test)]
mod tests {
    use xshell::cmd;

    use super::*;
    use crate::kit::project::Project;

    /// A misspelt setting would leave a step out.
    #[test]
    fn every_function_that_tests_is_a_step() {
        assert_eq!(STEPS.len(), TABLE.matches("\ntest_").count());
    }

    #[test]
    fn every_path_that_a_step_covers_has_files() {
        let shell = Project::read().unwrap().shell().unwrap();
        for step in Step::all() {
            let Step { name, when, covers, .. } = step;
            assert_eq!(covers.is_empty(), matches!(when, When::Always | When::WithAll), "{name}");
            for path in covers {
                let path = path.trim_start_matches(":!").trim_start_matches('+');
                let list = cmd!(shell, "git ls-files -- {path}");
                assert!(!list.read().unwrap().is_empty(), "{name}: {path}");
            }
        }
    }

    /// The table of CONTRIBUTING.md has each step with its sentence and when it runs, in the order of the steps.
    #[test]
    fn contributing_has_every_step() {
        let page = include_str!("../../../../CONTRIBUTING.md");
        let (_, table) = page.split_once("| step | what it shows |").unwrap();
        let rows = table.lines().skip(2);
        let rows = rows.take_while(|line| line.starts_with('|'));
        let rows: Vec<Vec<_>> = rows.map(|row| row.split('|').map(str::trim).collect()).collect();
        assert_eq!(rows.len(), Step::all().count());
        for (row, step) in rows.iter().zip(Step::all()) {
            let runs = match step.when {
                When::Always => "`test`, `--all`",
                When::WithAll => "`--all`",
                When::IfChanged => "`assure`; `--all` if changed",
                When::Assure => "`assure`",
            };
            let expected = [&format!("`{}`", step.name), &step.about, row[3], runs];
            assert_eq!(row[1..5], expected);
            // A dash until a free machine has measured it.
            assert!(row[3] == "–" || row[3].parse::<u32>().is_ok(), "{row:?}");
        }
    }
}
