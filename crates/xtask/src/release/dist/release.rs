//! One release: its version and commit, and how its binaries are built.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::setup;
use crate::language::library::{Built, COMMAND, Profile};
use crate::language::{explorer, wasm};
use crate::release::install;

/// The processors, as Rust, rpm and Java say them, and the C libraries.
pub(super) const ARCHES: [&str; 2] = ["x86_64", "aarch64"];
pub(super) const LIBCS: [&str; 2] = ["gnu", "musl"];

/// This machine's processor.
pub(super) const HOST: &str = std::env::consts::ARCH;

/// The oldest glibc that the libraries run with: that of manylinux2014.
const GLIBC: &str = "2.17";

/// Links for older and other systems than this one: `zig cc` has every glibc and musl in it.
const TOOLS: &str = "ziglang==0.17.1 cargo-zigbuild==0.24.0 maturin==1.16.0";

/// The profile of `Cargo.toml` that says nothing of where it was built. Cargo has a folder of its name in `target`.
const PROFILE: &str = "published";

#[derive(Debug)]
pub(super) struct Release<'a> {
    pub(super) project: &'a Project,
    commit: String,
    /// When the commit was made, in seconds: the time of every file in every artefact.
    epoch: String,
    /// Where artefacts go.
    pub(super) dist: PathBuf,
    /// Where they are put together.
    home: PathBuf,
    arches: Vec<&'static str>,
    /// Uses the results of other steps of `cargo xtask test`, which are only for this machine.
    pub(super) quick: bool,
}

impl<'a> Release<'a> {
    pub(super) fn new(project: &'a Project, arches: &[&'static str], quick: bool) -> Result<Self> {
        let stated = |words: &str, without: &str| match Program::parse(words).read() {
            // Sources without their history can be tried, not published.
            Err(_) if quick => Ok(without.to_owned()),
            read => read.map(|text| text.trim().to_owned()),
        };
        let home = project.target.join("xtask").join("dist");
        let dist = match quick {
            true => home.join("quick"),
            false => project.target.join("dist"),
        };
        Ok(Self {
            project,
            commit: stated("git rev-parse HEAD", "unknown")?,
            epoch: stated("git log -1 --format=%ct", "1577836800")?,
            dist,
            home,
            arches: arches.to_vec(),
            quick,
        })
    }

    /// Sets up what builds for other systems.
    pub(super) fn set_up(&self) -> Result<()> {
        if self.quick {
            return Ok(());
        }
        setup::apt("python3 -m venv --help", "python3-venv")?;
        for arch in &self.arches {
            let binutils = format!("binutils-{arch}-linux-gnu").replace('_', "-");
            setup::apt(&strip(arch), &binutils)?;
            for libc in LIBCS {
                setup::target(&target(arch, libc))?;
            }
        }
        if !self.tool("cargo-zigbuild --version").succeeds() {
            let tools = self.home.join("tools");
            Program::parse("python3 -m").path("venv", &tools).run()?;
            self.tool("pip install --quiet").words(TOOLS).run()?;
        }
        Ok(())
    }

    /// Builds the C libraries for every processor.
    pub(super) fn build_libraries(&self, libcs: &[&str]) -> Result<()> {
        for arch in &self.arches {
            for libc in libcs {
                if self.quick && *libc != "gnu" {
                    continue;
                }
                let built = self.libraries(arch, libc)?;
                install::put(&built, &self.built().join(format!("{arch}-linux-{libc}")))?;
            }
        }
        Ok(())
    }

    fn libraries(&self, arch: &str, libc: &str) -> Result<Built> {
        if self.quick {
            return Built::of(self.project, Profile::Tests);
        }
        // By default, musl is linked into programs, and there is no shared library. The folder differs from the
        // command's, because cargo uses one name for both, and each would rebuild what the other has built.
        let (flags, folder) = match libc {
            "gnu" => ("", self.project.target.clone()),
            _ => (" -Ctarget-feature=-crt-static", self.home.join("shared")),
        };
        let cargo = self.cargo("rustc -p orbgate-capi --lib", arch, libc, flags);
        let cargo = cargo.path("--target-dir", &folder);
        let directory = folder.join(target(arch, libc)).join(PROFILE);
        // This `strip` reads any object of its processor, for every C library.
        Built::by(cargo, directory, strip(arch))
    }

    /// Builds the command for every processor, with all that it needs in it.
    pub(super) fn build_commands(&self) -> Result<()> {
        // The other steps build the command without the explorer.
        let page = match self.quick {
            true => String::new(),
            false => explorer::page(self.project)?.display().to_string(),
        };
        for arch in &self.arches {
            let folder = match self.quick {
                // As the other steps build it.
                true => {
                    Program::parse(COMMAND).run()?;
                    self.project.target.join("debug")
                }
                false => {
                    let build = self.cargo("build -p orbgate-cli --all-features", arch, "musl", "");
                    build.env(explorer::VARIABLE, page.as_str()).run()?;
                    let folder = target(arch, "musl");
                    self.project.target.join(folder).join(PROFILE)
                }
            };
            self.put(&folder.join("orbgate"), arch)?;
        }
        Ok(())
    }

    /// Builds the WebAssembly modules.
    pub(super) fn build_module(&self) -> Result<()> {
        self.put(&wasm::build(self.project)?, "")?;
        self.put(&wasm::carried_questions(self.project)?, "")
    }

    /// cargo for a platform; nothing that it builds names a folder of this machine.
    fn cargo(&self, command: &str, arch: &str, libc: &str, flags: &str) -> Program {
        let glibc = if libc == "gnu" { format!(".{GLIBC}") } else { String::new() };
        let cargo = self.tool("cargo-zigbuild").words(command);
        let cargo = cargo.env("RUSTFLAGS", format!("{}{flags}", self.flags()));
        cargo.args(["--locked", "--profile", PROFILE, "--target"]).arg(format!("{}{glibc}", target(arch, libc)))
    }

    /// A program of our own environment, which finds the others there; for it the commit's time is now.
    fn tool(&self, words: &str) -> Program {
        let programs = self.programs().display().to_string();
        let path = std::env::var("PATH").unwrap_or_default();
        Program::parse(&format!("{programs}/{words}"))
            .env("PATH", format!("{programs}:{path}"))
            .env("SOURCE_DATE_EPOCH", &self.epoch)
    }

    fn programs(&self) -> PathBuf {
        self.home.join("tools").join("bin")
    }

    /// Takes the names of this machine's folders out of what is built.
    fn flags(&self) -> String {
        let home = std::env::home_dir().unwrap_or_default();
        let cargo = std::env::var_os("CARGO_HOME").map_or_else(|| home.join(".cargo"), PathBuf::from);
        let root = self.project.root.display();
        let cargo = cargo.display();
        format!("--remap-path-prefix={root}=/orbgate --remap-path-prefix={cargo}=/cargo")
    }

    fn built(&self) -> PathBuf {
        let name = if self.quick { "built-quick" } else { "built" };
        self.home.join(name)
    }

    /// Puts what was built where the packers find it.
    fn put(&self, file: &Path, folder: &str) -> Result<()> {
        let folder = self.built().join(folder);
        fs::create_dir_all(&folder)?;
        fs::copy(file, folder.join(file.file_name().unwrap_or_default()))?;
        Ok(())
    }

    /// A script of `dist/`. Its settings for this release are in a file, so that a user can run it again.
    pub(super) fn script(&self, name: &str) -> Program {
        let script = Program::parse(&format!("bash dist/{name}.sh"));
        script.env("RELEASE", self.told().display().to_string())
    }

    fn told(&self) -> PathBuf {
        let name = if self.quick { "quick.env" } else { "release.env" };
        self.home.join(name)
    }

    /// Writes the scripts' settings, and these in addition.
    pub(super) fn tell(&self, others: &[(&str, String)]) -> Result<()> {
        let shown = |path: &Path| path.display().to_string();
        let crates = self.project.published().map(|package| &**package.name);
        let path = std::env::var("PATH").unwrap_or_default();
        let told = [
            ("ROOT", shown(&self.project.root)),
            ("CARGO_TARGET_DIR", shown(&self.project.target)),
            ("HOME_OF_DIST", shown(&self.home)),
            ("BUILT", shown(&self.built())),
            ("DIST", shown(&self.dist)),
            ("PATH", format!("{}:{path}", shown(&self.programs()))),
            ("VERSION", self.project.core()?.version.to_string()),
            ("COMMIT", self.commit.clone()),
            ("SOURCE_DATE_EPOCH", self.epoch.clone()),
            ("ARCHES", self.arches.join(" ")),
            ("LIBCS", if self.quick { "gnu" } else { "gnu musl" }.to_owned()),
            ("QUICK", if self.quick { "1" } else { "" }.to_owned()),
            ("FLAGS", self.flags()),
            ("CRATES", crates.collect::<Vec<_>>().join(" ")),
        ];
        let line = |(name, value): &(&str, String)| format!("export {name}='{value}'\n");
        let text: String = told.iter().chain(others).map(line).collect();
        fs::create_dir_all(&self.home)?;
        Ok(fs::write(self.told(), text)?)
    }
}

fn target(arch: &str, libc: &str) -> String {
    format!("{arch}-unknown-linux-{libc}")
}

fn strip(arch: &str) -> String {
    format!("{arch}-linux-gnu-strip")
}
