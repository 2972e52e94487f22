//! The findings of one file.

use std::io::{self, Write};

use clap::Args;
use orbgate_analysis::ask::answers;
use orbgate_analysis::{self as analysis, Code, Finding, Level};

use crate::output::{ALLOW, DENY, FAINT, WARNING, count, one_line};
use crate::policy_file;

/// Levels that override those of the codes.
#[derive(Debug, Args)]
pub(crate) struct Levels {
    /// Level of a code: `error`, `warning`, `note` or `off`
    #[arg(long = "level", value_name = "CODE=LEVEL", value_parser = code_and_level)]
    levels: Vec<(Code, Option<Level>)>,
}

fn code_and_level(text: &str) -> Result<(Code, Option<Level>), String> {
    let (code, level) = text.split_once('=').ok_or("it is `CODE=LEVEL`")?;
    analysis::Levels::read(code, level)
}

pub(crate) struct Linted(pub(crate) answers::Linted);

impl Linted {
    pub(crate) fn new(file: String, bytes: &[u8], levels: &Levels) -> Self {
        let levels = levels.levels.iter().copied().collect();
        let text = String::from_utf8_lossy(bytes);
        Self(answers::Linted::new(file, &text, policy_file::parse(bytes), &levels))
    }

    /// Findings that aren't suppressed.
    pub(crate) fn open(&self) -> impl Iterator<Item = &Finding> {
        let list = self.0.findings.iter();
        list.filter(|finding| finding.suppressed.is_none())
    }

    pub(crate) fn suppressed(&self) -> impl Iterator<Item = (&Finding, &str)> {
        let list = self.0.findings.iter();
        list.filter_map(|finding| Some((finding, finding.suppressed.as_deref()?)))
    }

    /// Whether errors or warnings might be missing.
    pub(crate) fn is_cut(&self) -> bool {
        self.0.cut.iter().any(|level| *level > Level::Note)
    }

    /// Whether there are findings other than notes.
    pub(crate) fn complains(&self) -> bool {
        !self.0.diagnostics.is_empty() || self.open().any(|finding| finding.level > Level::Note)
    }

    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let file = one_line(&self.0.file);
        for diagnostic in &self.0.diagnostics {
            writeln!(out, "{file}:{}", one_line(&diagnostic.to_string()))?;
        }
        if self.0.policy.is_none() {
            return Ok(());
        }
        for finding in self.open() {
            let style = match finding.level {
                Level::Error => DENY,
                Level::Warning => WARNING,
                Level::Note => FAINT,
            };
            let (location, level, code) = (finding.location, finding.level, finding.code);
            let message = one_line(&finding.message);
            writeln!(out, "{file}:{location}: {style}{level}[{code}]{style:#}: {message}")?;
        }
        let counted = |level: Level| {
            let number = self.open().filter(|finding| finding.level == level).count();
            (number > 0).then(|| count(number, level.as_str()))
        };
        let suppressed = self.0.findings.len().saturating_sub(self.open().count());
        let suppressed = (suppressed > 0).then(|| format!("{suppressed} suppressed"));
        let cut = (!self.0.cut.is_empty()).then(|| "not all listed".to_owned());
        let levels = Level::ALL.into_iter().rev().map(counted);
        let counts: Vec<_> = levels.chain([suppressed, cut]).flatten().collect();
        match self.complains() {
            true => writeln!(out, "{file}: {}", counts.join(", ")),
            false if counts.is_empty() => writeln!(out, "{file}: {ALLOW}ok{ALLOW:#}"),
            false => writeln!(out, "{file}: {ALLOW}ok{ALLOW:#}: {}", counts.join(", ")),
        }
    }
}
