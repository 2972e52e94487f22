//! The cases of policy/cases, through one language.

use anyhow::Result;

use crate::kit::program::Program;
use crate::kit::setup;

/// Puts every case to a language's program; `run.py` knows the languages.
pub(crate) fn conform(language: &str, program: Program) -> Result<()> {
    setup::apt("python3", "python3")?;
    program.after(&format!("python3 policy/cases/run.py {language}")).run()
}
