//! The step `embed`: projects of other people, outside the workspace, that use the crates. They are in `crates/xtask/embed`.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::release::tree;

/// What the verifier of tokens is asked about.
const TOKEN: [&str; 3] = ["token.yaml", "token.jwt", "jwks.json"];

pub(crate) fn run(project: &Project) -> Result<()> {
    // All three kinds of engine in one program.
    let service = Scratch::new(project, "service")?;
    service.prints()?;
    service.refuses_a_bad_policy("prints.v2.yaml")?;

    // The built-in engine and nothing else.
    let bare = Scratch::new(project, "bare")?;
    bare.prints()?;
    let tree = bare.cargo("tree -e normal --target all --prefix none");
    let names: Vec<_> = tree::names(&tree.read()?).into_iter().collect();
    ensure!(
        names == ["bare", "orbgate"],
        "the core alone depends on others: {names:?}"
    );

    // The verifier with crates whose features would change or stop others.
    let token = Scratch::new(project, "token")?;
    for file in TOKEN {
        let source = project.root.join("crates/orbgate-token/testdata");
        fs::copy(source.join(file), token.directory.join(file)).context(file)?;
    }
    token.prints()
}

/// A project made for the test. It shares built dependencies with the workspace: the same versions, with the same profile.
struct Scratch {
    directory: PathBuf,
    target: PathBuf,
}

impl Scratch {
    fn new(project: &Project, name: &str) -> Result<Self> {
        let directory = project.target.join("xtask").join("embed").join(name);
        if directory.exists() {
            fs::remove_dir_all(&directory)?;
        }
        fs::create_dir_all(&directory)?;
        let source = project.root.join("crates/xtask/embed").join(name).join(".");
        Program::parse("cp -r").arg(source).arg(&directory).run()?;
        let dependencies = fs::read_to_string(directory.join("manifest.toml"))?;
        let crates = project.root.join("crates").display().to_string();
        let dependencies = dependencies.replace("@CRATES@", &crates.replace('\\', "/"));
        let profile = project.dev_profile()?;
        let manifest = format!(
            "[package]\nname = \"{name}\"\nedition = \"2024\"\n\n{dependencies}\n{profile}\n[workspace]\n"
        );
        fs::write(directory.join("Cargo.toml"), manifest)?;
        fs::copy(
            project.root.join("Cargo.lock"),
            directory.join("Cargo.lock"),
        )?;
        Ok(Self {
            directory,
            target: project.target.clone(),
        })
    }

    fn cargo(&self, words: &str) -> Program {
        let target = self.target.display().to_string();
        let cargo = Program::parse("cargo").words(words).within(&self.directory);
        cargo.env("CARGO_TARGET_DIR", target)
    }

    /// It builds, and prints what is expected.
    fn prints(&self) -> Result<()> {
        self.cargo("build").run()?;
        let run = self.cargo("run --quiet");
        println!("$ {run}");
        let printed = run.read()?;
        print!("{printed}");
        let expected = fs::read_to_string(self.directory.join("expected.txt"))?;
        ensure!(printed == expected, "it should print:\n{expected}");
        Ok(())
    }

    /// A policy with a fault fails the build, and the fault's place is seen in cargo's output.
    fn refuses_a_bad_policy(&self, policy: &str) -> Result<()> {
        let file = self.directory.join(policy);
        let good = fs::read_to_string(&file)?;
        fs::write(&file, format!("{good}colour: red\n"))?;
        let place = format!("{policy}:{}:1: ", good.lines().count().saturating_add(1));
        let build = self.cargo("build");
        println!("$ {build} # with an unknown key in {policy}, which must fail");
        let output = build.output()?;
        ensure!(
            !output.success,
            "an unknown key was compiled into the program"
        );
        let mut lines = output.stderr.lines().map(str::trim);
        let fault = lines.find(|line| line.starts_with(&place));
        println!(
            "{}",
            fault.with_context(|| format!("no `{place}…`:\n{}", output.stderr))?
        );
        Ok(())
    }
}
