//! One release: its version and commit, how its binaries are built, and where things are put.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use super::platform::{Arch, GLIBC, Libc, Platform};
use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::setup;
use crate::language::library::Built;

/// Links for older and other systems than this one: `zig cc` has every glibc and musl in it.
const TOOLS: &str = "ziglang==0.17.1 cargo-zigbuild==0.24.0 maturin==1.16.0";

/// The profile of `Cargo.toml` that says nothing of where it was built. Cargo has a folder of its name in `target`.
const PROFILE: &str = "published";

#[derive(Debug)]
pub(super) struct Release<'a> {
    pub(super) project: &'a Project,
    pub(super) version: String,
    pub(super) commit: String,
    /// When the commit was made, in seconds: the time of every file in every artefact.
    pub(super) epoch: String,
    /// Where artefacts go.
    pub(super) dist: PathBuf,
    /// Where they are put together.
    pub(super) home: PathBuf,
    pub(super) arches: Vec<Arch>,
    /// Takes what the other steps of `cargo xtask test` have built, which is for this machine alone.
    pub(super) quick: bool,
}

impl<'a> Release<'a> {
    pub(super) fn new(project: &'a Project, arches: &[Arch], quick: bool) -> Result<Self> {
        let stated = |words: &str, without: &str| {
            let git = Program::parse("git").words(words).within(&project.root);
            match git.read() {
                // Sources without their history can be tried, not published.
                Err(_) if quick => Ok(without.to_owned()),
                read => read.map(|text| text.trim().to_owned()),
            }
        };
        let home = project.target.join("xtask").join("dist");
        let dist = match quick {
            true => home.join("quick"),
            false => project.target.join("dist"),
        };
        Ok(Self {
            project,
            version: project.core()?.version.to_string(),
            commit: stated("rev-parse HEAD", "unknown")?,
            epoch: stated("log -1 --format=%ct", "1577836800")?,
            dist,
            home,
            arches: arches.to_vec(),
            quick,
        })
    }

    /// Sets up what builds for other systems.
    pub(super) fn set_up(&self) -> Result<()> {
        setup::apt("tar", "tar")?.needed()?;
        setup::apt("sha256sum", "coreutils")?.needed()?;
        if self.quick {
            return Ok(());
        }
        setup::apt("python3 -m venv --help", "python3-venv")?.needed()?;
        for platform in self.platforms() {
            let binutils = format!("binutils-{}-linux-gnu", platform.arch.name()).replace('_', "-");
            setup::target(&platform.target())?.needed()?;
            setup::apt(&strip(platform), &binutils)?.needed()?;
        }
        if !self.tool("cargo-zigbuild").arg("--version").succeeds() {
            Program::parse("python3 -m")
                .path("venv", &self.tools())
                .run()?;
            self.tool("pip")
                .words("install --quiet")
                .words(TOOLS)
                .run()?;
        }
        Ok(())
    }

    /// Every platform that has a library of its own.
    pub(super) fn platforms(&self) -> Vec<Platform> {
        let all = self.arches.iter();
        let all = all.flat_map(|arch| Libc::ALL.map(|libc| arch.with(libc)));
        all.filter(|platform| !self.quick || platform.is_host())
            .collect()
    }

    /// The processors that are not this machine's.
    pub(super) fn other_arches(&self) -> impl Iterator<Item = Arch> {
        let all = self.arches.iter().copied();
        all.filter(|arch| *arch != Arch::HOST)
    }

    pub(super) fn tools(&self) -> PathBuf {
        self.home.join("tools")
    }

    /// A program of our own environment, which finds the others there.
    pub(super) fn tool(&self, name: &str) -> Program {
        let programs = self.tools().join("bin");
        let path = std::env::var("PATH").unwrap_or_default();
        self.dated(Program::at(&programs.join(name)))
            .env("PATH", format!("{}:{path}", programs.display()))
    }

    /// A program that takes the commit's time for now.
    pub(super) fn dated(&self, program: Program) -> Program {
        program.env("SOURCE_DATE_EPOCH", self.epoch.clone())
    }

    /// cargo for a platform; nothing that it builds names a folder of this machine.
    pub(super) fn cargo(&self, command: &str, platform: Platform, flags: &str) -> Program {
        let target = match platform.libc {
            Libc::Gnu => format!("{}.{GLIBC}", platform.target()),
            Libc::Musl => platform.target(),
        };
        let cargo = self.tool("cargo-zigbuild").words(command);
        cargo
            .env("RUSTFLAGS", format!("{}{flags}", self.flags()))
            .args(["--locked", "--profile", PROFILE, "--target", &target])
    }

    /// Takes the names of this machine's folders out of what is built.
    pub(super) fn flags(&self) -> String {
        let home = std::env::home_dir().unwrap_or_default();
        let cargo =
            std::env::var_os("CARGO_HOME").map_or_else(|| home.join(".cargo"), PathBuf::from);
        let root = self.project.root.display();
        format!(
            "--remap-path-prefix={root}=/orbgate --remap-path-prefix={}=/cargo",
            cargo.display()
        )
    }

    /// The C libraries for a platform.
    pub(super) fn libraries(&self, platform: Platform) -> Result<Built> {
        if self.quick {
            return Built::unoptimised(self.project);
        }
        // By its default musl is linked into programs, and there is no shared library. Its folder is another than the command's: cargo has
        // one name for both, and each would build what the other has built anew.
        let (flags, target) = match platform.libc {
            Libc::Gnu => ("", self.project.target.clone()),
            Libc::Musl => (" -Ctarget-feature=-crt-static", self.home.join("shared")),
        };
        let cargo = self.cargo("rustc -p orbgate-capi --lib", platform, flags);
        let cargo = cargo.path("--target-dir", &target);
        Built::by(cargo, built(&target, platform), strip(platform))
    }

    /// The command for a processor, with all that it needs in it.
    pub(super) fn command(&self, arch: Arch) -> Result<PathBuf> {
        if self.quick {
            // As the other steps build it.
            Program::parse("cargo build --workspace --all-features --bin orbgate").run()?;
            return Ok(self.project.target.join("debug").join("orbgate"));
        }
        let platform = arch.with(Libc::Musl);
        self.cargo("build -p orbgate-cli", platform, "").run()?;
        Ok(built(&self.project.target, platform).join("orbgate"))
    }

    /// A new folder to put an artefact together in.
    pub(super) fn stage(&self, name: &str) -> Result<PathBuf> {
        fresh(self.home.join("stage").join(name))
    }

    /// The folder of a kind's artefacts.
    pub(super) fn folder(&self, kind: &str) -> Result<PathBuf> {
        let folder = self.dist.join(kind);
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// Packs a folder of a stage: sorted, owned by root, with the commit's time.
    pub(super) fn tar(&self, stage: &Path, name: &str, archive: &Path) -> Result<()> {
        Program::parse(
            "tar --create --format=ustar --sort=name --owner=0 --group=0 --numeric-owner",
        )
        .words("--mode=a+rX,u+w,go-w")
        .arg(format!("--mtime=@{}", self.epoch))
        // Without a name and a time of its own.
        .arg("--use-compress-program=gzip -9 -n")
        .path("--file", archive)
        .path("--directory", stage)
        .arg(name)
        .run()
    }
}

/// Where cargo puts what is built for a platform.
fn built(target: &Path, platform: Platform) -> PathBuf {
    target.join(platform.target()).join(PROFILE)
}

/// Makes a folder anew.
pub(super) fn fresh(folder: PathBuf) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Copies a file into a folder, which is made, under its name or another.
pub(super) fn put(file: &Path, folder: &Path, name: &str) -> Result<()> {
    fs::create_dir_all(folder)?;
    ensure!(!name.is_empty(), "a file without a name");
    fs::copy(file, folder.join(name)).with_context(|| file.display().to_string())?;
    Ok(())
}

/// The licences, for every artefact.
pub(super) fn put_licences(project: &Project, folder: &Path) -> Result<()> {
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        put(&project.root.join(name), folder, name)?;
    }
    Ok(())
}

fn strip(platform: Platform) -> String {
    // It reads any object of its processor, for every C library.
    format!("{}-linux-gnu-strip", platform.arch.name())
}
