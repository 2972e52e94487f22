//! `cargo xtask dist`: everything that a release publishes, in `target/dist`, with its digests and bills of materials.

mod artefact;
mod c;
mod command;
mod debian;
mod go;
mod java;
mod linux;
mod manifest;
mod node;
mod platform;
mod python;
mod release;
mod rust;
mod sbom;
mod trial;
mod verify;

use anyhow::{Result, bail, ensure};
use clap::{Args, ValueEnum};

use self::artefact::Artefact;
use self::platform::Arch;
use self::release::{Release, fresh};
use self::trial::Clean;
use crate::kit::outcome::StepResult;
use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::setup;
use crate::language::c::set_up_compilers;
use crate::language::java::Kits;
use crate::language::native::Compiler;
use crate::language::node::missing;

#[derive(Debug, Args)]
pub(crate) struct Dist {
    /// Only these
    #[arg(value_enum)]
    forms: Vec<Form>,
    /// For this machine's processor only
    #[arg(long)]
    host: bool,
    /// Then installs each artefact where there is no Rust, and runs it
    #[arg(long = "try")]
    attempt: bool,
    /// Then builds the same commit in another folder, and compares every byte
    #[arg(long)]
    verify: bool,
}

/// In the order in which they are built.
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
        let arches: &[Arch] = match self.host {
            true => &[Arch::HOST],
            false => &Arch::ALL,
        };
        let forms = match self.forms.as_slice() {
            [] => Form::value_variants(),
            some => some,
        };
        let release = Release::new(project, arches, false)?;
        let status = Program::parse("git status --porcelain").read()?;
        ensure!(
            status.is_empty() || !self.verify,
            "commit first: a clone has what is committed\n{status}"
        );
        if let StepResult::Skipped(what) = make(&release, forms, self.attempt)? {
            bail!("{what}");
        }
        match self.verify {
            true => verify::run(&release, &self.words()),
            false => Ok(()),
        }
    }

    /// What is typed to build the same.
    fn words(&self) -> Vec<String> {
        let forms = self.forms.iter().copied().map(Form::name);
        let host = self.host.then(|| "--host".to_owned());
        forms.chain(host).collect()
    }
}

/// The step `dist`: what needs no build of its own, for this machine, is packed, installed and run.
///
/// The wheel and the crates are tested as packages by steps of their own.
pub(crate) fn check(project: &Project) -> Result<StepResult> {
    let release = Release::new(project, &[Arch::HOST], true)?;
    make(
        &release,
        &[Form::Command, Form::C, Form::Node, Form::Java],
        true,
    )
}

/// Builds forms of artefacts, says what they are, and tries them.
fn make(release: &Release<'_>, forms: &[Form], attempt: bool) -> Result<StepResult> {
    for outcome in [release.set_up()?, set_up(release, forms, attempt)?] {
        if let skipped @ StepResult::Skipped(_) = outcome {
            return Ok(skipped);
        }
    }
    fresh(release.dist.clone())?;
    let mut artefacts = Vec::new();
    for form in forms {
        artefacts.extend(form.build(release)?);
    }
    manifest::write(release, &artefacts)?;
    if attempt {
        let clean = Clean::new(release.project)?;
        for form in forms {
            println!("\n-- {} where there is no Rust", form.name());
            form.attempt(release, &clean)?;
        }
    }
    Ok(StepResult::Passed)
}

/// Sets up the programs of the forms.
fn set_up(release: &Release<'_>, forms: &[Form], attempt: bool) -> Result<StepResult> {
    let mut outcomes = Vec::new();
    for form in forms {
        outcomes.push(match form {
            Form::C if attempt => set_up_compilers()?,
            Form::Deb | Form::Rpm => linux::set_up()?,
            Form::Node => missing().map_or(StepResult::Passed, StepResult::Skipped),
            Form::Java => Kits::find()?.map_or_else(StepResult::Skipped, |_| StepResult::Passed),
            Form::Go => crate::language::go::ready(release.project)?,
            Form::Command | Form::C | Form::Python | Form::Rust => StepResult::Passed,
        });
    }
    if attempt && !release.quick {
        let cross = "g++-aarch64-linux-gnu libc6-dev-arm64-cross";
        outcomes.push(setup::apt("aarch64-linux-gnu-g++", cross)?);
        outcomes.push(setup::apt("qemu-aarch64", "qemu-user")?);
        outcomes.push(setup::apt("buildah", "buildah")?);
    }
    if attempt {
        outcomes.push(Compiler::C.set_up()?);
        outcomes.push(setup::apt("pkg-config", "pkg-config")?);
    }
    let skipped = outcomes
        .into_iter()
        .find(|outcome| *outcome != StepResult::Passed);
    Ok(skipped.unwrap_or(StepResult::Passed))
}

impl Form {
    fn name(self) -> String {
        self.to_possible_value()
            .map_or_else(String::new, |value| value.get_name().to_owned())
    }

    fn build(self, release: &Release<'_>) -> Result<Vec<Artefact>> {
        match self {
            Self::Command => command::build(release),
            Self::C => c::build(release),
            Self::Deb => linux::build_deb(release),
            Self::Rpm => linux::build_rpm(release),
            Self::Python => python::build(release),
            Self::Node => node::build(release),
            Self::Java => java::build(release, &kits()?),
            Self::Go => go::build(release),
            Self::Rust => rust::build(release),
        }
    }

    fn attempt(self, release: &Release<'_>, clean: &Clean) -> Result<()> {
        match self {
            Self::Command => command::attempt(release, clean),
            Self::C => c::attempt(release, clean),
            Self::Deb | Self::Rpm => linux::attempt(release, clean, &self.name()),
            Self::Python => python::attempt(release, clean),
            Self::Node => node::attempt(release, clean),
            Self::Java => java::attempt(release, clean, &kits()?),
            Self::Go => go::attempt(release, clean),
            Self::Rust => rust::attempt(release),
        }
    }
}

fn kits() -> Result<Kits> {
    Kits::find()?.map_err(anyhow::Error::msg)
}
