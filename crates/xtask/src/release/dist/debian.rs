//! Debian's Python and Java for another processor: what is packed for it runs in them, under qemu.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::platform::Arch;
use super::release::{Release, fresh};
use crate::kit::program::Program;

/// The Python and the Java of Debian 12: the oldest Java that the package is for.
pub(super) const PYTHON: &str = "python3.11";
const JAVA: &str = "17";

#[derive(Debug)]
pub(super) struct Debian {
    arch: Arch,
    /// Its packages, unpacked.
    pub(super) root: PathBuf,
}

impl Debian {
    /// Takes the packages once; apt has a state of its own for them and installs nothing.
    pub(super) fn new(release: &Release<'_>, arch: Arch) -> Result<Self> {
        let home = release
            .home
            .join(format!("debian-{}-{PYTHON}-java{JAVA}", arch.debian()));
        let root = home.join("root");
        if !root.exists() {
            download(&home, arch)?;
            // Under another name until everything is there.
            let part = fresh(home.join("part"))?;
            for entry in fs::read_dir(home.join("cache/archives"))? {
                let file = entry?.path();
                if file.extension().is_some_and(|end| end == "deb") {
                    let extract = Program::parse("dpkg-deb --extract").arg(file);
                    extract.arg(&part).run()?;
                }
            }
            fs::rename(part, &root)?;
        }
        Ok(Self { arch, root })
    }

    /// Where its Java is.
    pub(super) fn java(&self) -> PathBuf {
        let name = format!("usr/lib/jvm/java-{JAVA}-openjdk-{}", self.arch.debian());
        self.root.join(name).join("bin/java")
    }

    /// A program of this processor, in an environment.
    pub(super) fn run(&self, environment: Program, program: &Path) -> Program {
        let (root, name) = (self.root.display(), self.arch.name());
        let libraries =
            format!("LD_LIBRARY_PATH={root}/usr/lib/{name}-linux-gnu:{root}/lib/{name}-linux-gnu");
        environment
            .arg(format!("qemu-{name}"))
            .path("-L", &self.root)
            .args(["-E", &libraries])
            .arg(program)
    }
}

fn download(home: &Path, arch: Arch) -> Result<()> {
    for folder in ["state/lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(home.join(folder))?;
    }
    fs::write(home.join("state/status"), "")?;
    let apt = |command: &str| {
        let (home, debian) = (home.display(), arch.debian());
        Program::parse("apt-get --quiet")
            .arg(format!("-oDir::State={home}/state"))
            .arg(format!("-oDir::State::status={home}/state/status"))
            .arg(format!("-oDir::Cache={home}/cache"))
            .arg(format!("-oAPT::Architecture={debian}"))
            .arg(format!("-oAPT::Architectures={debian}"))
            .words(command)
    };
    apt("update").run()?;
    // Node needs the library of C++.
    apt("--yes --download-only --no-install-recommends install libstdc++6")
        .arg(format!("{PYTHON}-minimal"))
        .arg(format!("lib{PYTHON}-stdlib"))
        .arg(format!("openjdk-{JAVA}-jre-headless"))
        .run()
}
