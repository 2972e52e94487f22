//! `cargo xtask dist`: everything that a release publishes, in `target/dist`, with its digests and bills of materials.
//!
//! Builds the binaries; the scripts in `dist/` pack them and try the packages. Our own code, because cargo-dist and
//! goreleaser only make archives of commands. No tool covers the rest: libraries for an old glibc and for musl in the
//! packages of seven languages, trials without Rust (`--try`), and reproducible bytes (`--verify`).

mod release;

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};

use self::release::{ARCHES, HOST, LIBCS, Release};
use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::setup;
use crate::language::c::set_up_compilers;
use crate::language::java::Kits;
use crate::language::{go, node, python};

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
pub(crate) enum Form {
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
        let arches: &[_] = if self.host { &[HOST] } else { &ARCHES };
        let forms = match self.forms.as_slice() {
            [] => Form::value_variants(),
            some => some,
        };
        let release = Release::new(project, arches, false)?;
        if self.verify {
            let status = Program::parse("git status --porcelain").read()?;
            let what = "commit first: a clone has what is committed";
            ensure!(status.is_empty(), "{what}\n{status}");
            if release.dist.exists() {
                fs::remove_dir_all(&release.dist)?;
            }
        }
        make(&release, forms, self.attempt)?;
        if self.verify {
            let verify = release.script("verify").arg(std::env::current_exe()?);
            let verify = verify.arg("dist").args(names(&self.forms));
            verify.args(self.host.then_some("--host")).run()?;
        }
        Ok(())
    }
}

/// A step: these, for this machine, of what the other steps have built, packed and tried.
pub(crate) fn check(project: &Project, forms: &[Form]) -> Result<()> {
    make(&Release::new(project, &[HOST], true)?, forms, true)
}

fn make(release: &Release<'_>, forms: &[Form], attempt: bool) -> Result<()> {
    set_up(release, forms, attempt)?;
    release.tell(&[("JDKS", jdks(forms)?), ("PYTHONS", pythons(forms))])?;
    build(release, forms)?;
    let script = |name| release.script(name).args(names(forms)).run();
    script("make")?;
    if attempt { script("try") } else { Ok(()) }
}

/// A JDK of each way into the library, the newest first.
fn jdks(forms: &[Form]) -> Result<String> {
    if !forms.contains(&Form::Java) {
        return Ok(String::new());
    }
    let kits = Kits::find()?;
    Ok(words(kits.all()))
}

/// The oldest and the newest Python.
fn pythons(forms: &[Form]) -> String {
    let all = forms.contains(&Form::Python).then(python::executables);
    let all = all.unwrap_or_default();
    words(all.first().into_iter().chain(all.last()))
}

fn words(paths: impl Iterator<Item = impl AsRef<Path>>) -> String {
    let words = paths.map(|path| path.as_ref().display().to_string());
    words.collect::<Vec<_>>().join(" ")
}

/// Sets up the programs that packers and trials need, before anything is built.
fn set_up(release: &Release<'_>, forms: &[Form], attempt: bool) -> Result<()> {
    use Form::{C, Deb, Go, Node, Rpm, Rust};
    release.set_up()?;
    let wants = |some: &[Form]| forms.iter().any(|form| some.contains(form));
    let mut programs = vec![("tar", "tar"), ("jq", "jq")];
    if wants(&[Deb]) {
        programs.push(("dpkg-deb", "dpkg"));
    }
    if wants(&[Rpm]) {
        programs.extend([("rpmbuild", "rpm"), ("cpio", "cpio")]);
    }
    if attempt && wants(&[C, Deb, Rpm, Go]) {
        set_up_compilers()?;
        programs.extend([("pkg-config", "pkg-config"), ("cmake", "cmake")]);
    }
    if attempt && !release.quick {
        let cross = "g++-aarch64-linux-gnu libc6-dev-arm64-cross";
        programs.extend([("aarch64-linux-gnu-g++", cross), ("buildah", "buildah")]);
        programs.push(("qemu-aarch64", "qemu-user"));
    }
    for (program, package) in programs {
        setup::apt(program, package)?;
    }
    if wants(&[Node]) {
        node::ready()?;
    }
    let publish = Program::parse("cargo publish --help").read()?;
    ensure!(
        !wants(&[Rust]) || publish.contains("--workspace"),
        "packages that depend on each other need Rust 1.90 or newer: rustup update"
    );
    if wants(&[Go]) {
        go::ready(release.project)?;
    }
    Ok(())
}

/// Builds what is packed.
fn build(release: &Release<'_>, forms: &[Form]) -> Result<()> {
    use Form::{C, Command, Deb, Go, Java, Node, Rpm};
    let wants = |some: &[Form]| forms.iter().any(|form| some.contains(form));
    let libcs: &[_] = match (wants(&[C, Node, Java]), wants(&[Deb, Rpm, Go])) {
        (true, _) => &LIBCS,
        (false, true) => &["gnu"],
        (false, false) => &[],
    };
    release.build_libraries(libcs)?;
    if wants(&[Command, Deb, Rpm]) {
        release.build_commands()?;
    }
    if wants(&[Node, Go]) {
        release.build_module()?;
    }
    Ok(())
}

fn names(forms: &[Form]) -> Vec<String> {
    let values = forms.iter().filter_map(ValueEnum::to_possible_value);
    values.map(|value| value.get_name().to_owned()).collect()
}
