//! `cargo xtask dist`: everything that a release publishes, in `target/dist`, with its digests and bills of materials. `steps/dist.sh` does it.

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::kit::project::{Project, script};

#[derive(Debug, Args)]
pub(crate) struct Dist {
    /// Only these; what the others have made of the same commit stays
    #[arg(value_enum)]
    forms: Vec<Form>,
    /// For this machine's processor only
    #[arg(long)]
    host: bool,
    /// Then installs each artefact where there is no Rust, and runs it
    #[arg(long = "try")]
    attempt: bool,
    /// Then builds the same commit in another folder, and compares every byte; begins with an empty folder
    #[arg(long)]
    verify: bool,
}

/// In the order in which they are packed, each by the script of its name in `dist/pack`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// The command: a static binary, manual pages, completions
    Command,
    /// The C library: headers, shared and static library, pkg-config and CMake packages
    C,
    /// Debian's packages
    Deb,
    /// rpm's packages
    Rpm,
    /// Wheels and the source archive
    Python,
    /// npm's packages
    Node,
    /// Jars and the pom
    Java,
    /// The files of a Go module proxy
    Go,
    /// The archives of the published crates
    Rust,
}

impl Dist {
    pub(crate) fn run(&self, project: &Project) -> Result<()> {
        let arches = if self.host { std::env::consts::ARCH } else { "x86_64 aarch64" };
        let forms = match self.forms.as_slice() {
            [] => names(Form::value_variants()),
            some => names(some),
        };
        let attempt = if self.attempt { "try" } else { "" };
        let shell = project.shell()?;
        let dist = match self.verify {
            false => script(&shell, "dist").args(["", attempt, arches]).args(forms),
            true => {
                let twice = script(&shell, "dist_twice").args([attempt, arches, &forms.join(" ")]);
                twice.args(names(&self.forms)).args(self.host.then_some("--host"))
            }
        };
        Ok(dist.env("XTASK", std::env::current_exe()?).quiet().run()?)
    }
}

fn names(forms: &[Form]) -> Vec<String> {
    let values = forms.iter().filter_map(ValueEnum::to_possible_value);
    values.map(|value| value.get_name().to_owned()).collect()
}
