//! `cargo xtask dist`: everything that a release publishes, in `target/dist`, with its digests and bills of materials.
//!
//! cargo-dist and goreleaser make archives of commands. Nobody has the rest: libraries for an old glibc and for musl in the packages of
//! seven languages, trials without Rust (`--try`), and the same bytes twice (`--verify`).

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

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};

use self::artefact::Artefact;
use self::platform::Arch;
use self::release::Release;
use self::trial::Clean;
use crate::kit::outcome::{StepResult, step};
use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::setup;
use crate::language::c::set_up_compilers;

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
        make(&release, forms, self.attempt, !self.verify)?;
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
    let forms = [Form::Command, Form::C, Form::Node, Form::Java];
    step(|| make(&release, &forms, true, false))
}

/// Builds forms of artefacts, says what they are, and tries them.
fn make(release: &Release<'_>, forms: &[Form], attempt: bool, keep: bool) -> Result<()> {
    release.set_up()?;
    for form in forms {
        form.set_up(release, attempt)?;
    }
    let names: Vec<_> = forms.iter().copied().map(Form::name).collect();
    let kept = manifest::keep(release, if keep { &names } else { &[] })?;
    let mut artefacts = Vec::new();
    for form in forms {
        artefacts.extend(form.build(release)?);
    }
    manifest::write(release, &artefacts, kept)?;
    if attempt {
        let clean = Clean::new(release.project)?;
        for form in forms {
            println!("\n-- {} where there is no Rust", form.name());
            form.attempt(release, &clean)?;
        }
    }
    Ok(())
}

impl Form {
    fn name(self) -> String {
        self.to_possible_value()
            .map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Sets up the programs that it needs, before anything is built.
    fn set_up(self, release: &Release<'_>, attempt: bool) -> Result<()> {
        match self {
            Self::Deb | Self::Rpm => linux::set_up()?,
            Self::Node => node::set_up()?,
            Self::Java => drop(java::kits()?),
            Self::Go => crate::language::go::ready(release.project)?.needed()?,
            Self::Command | Self::C | Self::Python | Self::Rust => {}
        }
        if !attempt {
            return Ok(());
        }
        set_up_compilers()?.needed()?;
        setup::apt("pkg-config", "pkg-config")?.needed()?;
        if !release.quick {
            let cross = "g++-aarch64-linux-gnu libc6-dev-arm64-cross";
            setup::apt("aarch64-linux-gnu-g++", cross)?.needed()?;
            setup::apt("qemu-aarch64", "qemu-user")?.needed()?;
            setup::apt("buildah", "buildah")?.needed()?;
        }
        Ok(())
    }

    fn build(self, release: &Release<'_>) -> Result<Vec<Artefact>> {
        match self {
            Self::Command => command::build(release),
            Self::C => c::build(release),
            Self::Deb => linux::build(release, linux::pack_deb),
            Self::Rpm => linux::build(release, linux::pack_rpm),
            Self::Python => python::build(release),
            Self::Node => node::build(release),
            Self::Java => java::build(release),
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
            Self::Java => java::attempt(release, clean),
            Self::Go => go::attempt(release, clean),
            Self::Rust => rust::attempt(release),
        }
    }
}
