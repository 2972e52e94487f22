//! The command: one static binary for each processor, with manual pages and completions.

use std::fs;
use std::path::Path;

use anyhow::Result;

use super::artefact::Artefact;
use super::platform::{Arch, Libc};
use super::release::{Release, put, put_licences};
use super::trial::Clean;
use crate::kit::program::Program;

/// Where shells look for completions, below a prefix.
const COMPLETIONS: [(&str, &str, &str); 3] = [
    ("bash", "share/bash-completion/completions", "orbgate"),
    ("zsh", "share/zsh/site-functions", "_orbgate"),
    ("fish", "share/fish/vendor_completions.d", "orbgate.fish"),
];

pub(super) fn build(release: &Release<'_>) -> Result<Vec<Artefact>> {
    let mut artefacts = Vec::new();
    for arch in release.arches.iter().copied() {
        let name = name(release, arch);
        let stage = release.stage("command")?;
        let root = stage.join(&name);
        lay_out(release, arch, &root)?;
        put_licences(release.project, &root)?;
        let sources = release.project.root.join("crates/orbgate-cli");
        for name in ["README.md", "Containerfile"] {
            put(&sources.join(name), &root, name)?;
        }
        let archive = release.folder("command")?.join(format!("{name}.tar.gz"));
        release.tar(&stage, &name, &archive)?;
        let target = arch.with(Libc::Musl).target();
        artefacts.push(Artefact::new(archive, "orbgate-cli", [target]));
    }
    Ok(artefacts)
}

/// Puts the command under a prefix, with what shells and `man` look for there.
pub(super) fn lay_out(release: &Release<'_>, arch: Arch, prefix: &Path) -> Result<()> {
    put(&release.command(arch)?, &prefix.join("bin"), "orbgate")?;
    // They are the same for every processor, and this one can print them.
    let here = release.command(Arch::HOST)?;
    let manual = prefix.join("share/man/man1");
    fs::create_dir_all(&manual)?;
    Program::at(&here).path("manual", &manual).run()?;
    for (shell, folder, name) in COMPLETIONS {
        let script = Program::at(&here).args(["completions", shell]).read()?;
        let folder = prefix.join(folder);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(name), script)?;
    }
    Ok(())
}

fn name(release: &Release<'_>, arch: Arch) -> String {
    format!("orbgate-{}-{}-linux", release.version, arch.name())
}

/// The README's first example prints what is shown.
pub(super) fn attempt(release: &Release<'_>, clean: &Clean) -> Result<()> {
    for arch in release.arches.iter().copied() {
        let name = name(release, arch);
        let archive = release.dist.join("command").join(format!("{name}.tar.gz"));
        clean.unpack(&archive, "command")?;
        let root = clean.home.join("command").join(&name);
        check(
            clean,
            arch,
            &root.join("bin/orbgate"),
            &root.join("README.md"),
        )?;
    }
    match release.quick {
        // Its command needs a C library, which the image has not.
        true => Ok(()),
        false => attempt_image(release, clean),
    }
}

/// What the command answers to the first example of a README.
pub(super) fn check(clean: &Clean, arch: Arch, command: &Path, readme: &Path) -> Result<()> {
    answers(clean, clean.emulated(arch, "").arg(command), readme)
}

fn answers(clean: &Clean, command: Program, readme: &Path) -> Result<()> {
    let shown = clean.first_block(readme, "console")?;
    let (first, printed) = shown.split_once('\n').unwrap_or_default();
    let words = first.strip_prefix("$ orbgate ").unwrap_or_default();
    clean.prints(&command.words(words), printed)
}

/// The archive's Containerfile makes an image, and a container of it answers.
fn attempt_image(release: &Release<'_>, clean: &Clean) -> Result<()> {
    let folder = clean.home.join("command").join(name(release, Arch::HOST));
    let images = clean.home.join("images");
    let buildah = |words: &str| {
        let buildah = clean.program("buildah --storage-driver vfs");
        let buildah = buildah.path("--root", &images.join("root"));
        buildah.path("--runroot", &images.join("run")).words(words)
    };
    // Isolated by `chroot`, which also works within a container.
    let build = buildah("build --isolation chroot --tag orbgate");
    build.arg(&folder).run()?;
    let container = buildah("from --pull-never orbgate").read()?;
    let run = buildah("run --isolation chroot").arg(container.trim());
    answers(clean, run.words("-- /orbgate"), &folder.join("README.md"))
}
