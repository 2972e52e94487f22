//! The step `embed`: projects of other people, outside the workspace, that use the crates.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::release::tree;

/// A project's file: its path and what is in it.
type File = (&'static str, &'static str);

/// All three kinds of engine in one program.
const SERVICE: [File; 4] = [
    (
        "src/main.rs",
        include_str!("../../embed/service/src/main.rs"),
    ),
    ("build.rs", include_str!("../../embed/service/build.rs")),
    POLICY,
    (
        "run-time.yaml",
        include_str!("../../embed/service/run-time.yaml"),
    ),
];
const POLICY: File = (
    "prints.v2.yaml",
    include_str!("../../embed/service/policy.yaml"),
);
const SERVICE_PRINTS: &str = include_str!("../../embed/service/expected.txt");

/// The built-in engine and nothing else.
const BARE: [File; 1] = [("src/main.rs", include_str!("../../embed/bare/src/main.rs"))];
const BARE_PRINTS: &str = "scope_held\n";

/// The verifier of tokens beside crates whose features would change or stop others.
const TOKEN: [File; 4] = [
    ("src/main.rs", include_str!("../../embed/token/src/main.rs")),
    (
        "token.yaml",
        include_str!("../../../orbgate-token/testdata/token.yaml"),
    ),
    (
        "token.jwt",
        include_str!("../../../orbgate-token/testdata/token.jwt"),
    ),
    (
        "jwks.json",
        include_str!("../../../orbgate-token/testdata/jwks.json"),
    ),
];
const TOKEN_PRINTS: &str = "theirs: panicked\nours: user read:account write:voxies\n";

pub(crate) fn run(project: &Project) -> Result<()> {
    let home = project.target.join("xtask").join("embed");
    let core = "orbgate";
    let service = Scratch::new(project, &home, "service", &SERVICE, core, |core| {
        format!(
            "[dependencies]\norbgate = {{ path = {core} }}\n\
            [build-dependencies]\norbgate = {{ path = {core}, features = [\"build\"] }}\n"
        )
    })?;
    service.prints(SERVICE_PRINTS)?;
    service.refuses_a_bad_policy()?;

    let bare = Scratch::new(project, &home, "bare", &BARE, core, |core| {
        format!("[dependencies]\norbgate = {{ path = {core}, default-features = false }}\n")
    })?;
    bare.prints(BARE_PRINTS)?;
    bare.depends_on_nothing_else()?;

    let token = Scratch::new(project, &home, "token", &TOKEN, "orbgate-token", |token| {
        format!(
            "[dependencies]\norbgate-token = {{ path = {token} }}\n\
            jsonwebtoken = {{ version = \"=11.1.0\", features = [\"aws_lc_rs\", \"rust_crypto\"] }}\n\
            serde_json = {{ version = \"1\", features = [\"arbitrary_precision\", \"preserve_order\"] }}\n"
        )
    })?;
    token.prints(TOKEN_PRINTS)
}

/// A project made for the test.
struct Scratch {
    directory: PathBuf,
    target: PathBuf,
}

impl Scratch {
    fn new(
        project: &Project,
        home: &Path,
        name: &str,
        files: &[File],
        dependency: &str,
        dependencies: impl Fn(&str) -> String,
    ) -> Result<Self> {
        let scratch = Self {
            directory: home.join(name),
            target: project.target.join("xtask").join("target"),
        };
        if scratch.directory.exists() {
            fs::remove_dir_all(&scratch.directory)?;
        }
        for (path, text) in files {
            scratch.write(path, text)?;
        }
        // A string of Rust is one of TOML: both escape with a backslash.
        let path = format!("{:?}", project.root.join("crates").join(dependency));
        let manifest = format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n");
        let dependencies = dependencies(&path);
        scratch.write(
            "Cargo.toml",
            &format!("{manifest}{dependencies}[workspace]\n"),
        )?;
        // The versions that the workspace is tested with, as far as they are needed here.
        fs::copy(
            project.root.join("Cargo.lock"),
            scratch.directory.join("Cargo.lock"),
        )?;
        Ok(scratch)
    }

    fn write(&self, path: &str, text: &str) -> Result<()> {
        let path = self.directory.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, text).with_context(|| path.display().to_string())
    }

    /// A cargo command in the project; `CARGO_TARGET_DIR` would mix its files with the workspace's.
    fn cargo(&self, command: &str) -> Program {
        let cargo = Program::parse("cargo").arg(command).within(&self.directory);
        cargo.path("--target-dir", &self.target)
    }

    fn prints(&self, expected: &str) -> Result<()> {
        self.cargo("build").run()?;
        let run = self.cargo("run").arg("--quiet");
        println!("$ {run}");
        let printed = run.read()?;
        print!("{printed}");
        ensure!(printed == expected, "it should print:\n{expected}");
        Ok(())
    }

    /// A policy with a fault fails the build, and the fault's place is seen in cargo's output.
    fn refuses_a_bad_policy(&self) -> Result<()> {
        let (path, good) = POLICY;
        self.write(path, &format!("{good}colour: red\n"))?;
        let place = format!("{path}:{}:1: ", good.lines().count().saturating_add(1));
        let build = self.cargo("build");
        println!("$ {build} # with an unknown key in {path}, which must fail");
        let output = build.output()?;
        ensure!(
            !output.success,
            "a policy with an unknown key was compiled into the program"
        );
        let Some(fault) = output
            .stderr
            .lines()
            .map(str::trim)
            .find(|line| line.starts_with(&place))
        else {
            bail!(
                "the build failed, but did not say `{place}…`:\n{}",
                output.stderr
            );
        };
        println!("{fault}");
        Ok(())
    }

    fn depends_on_nothing_else(&self) -> Result<()> {
        let tree = Program::parse("cargo tree -e normal --target all --prefix none");
        let tree = tree.within(&self.directory);
        println!("$ {tree}");
        let names: Vec<_> = tree::names(&tree.read()?).into_iter().collect();
        ensure!(
            names == ["bare", "orbgate"],
            "the core alone depends on others: {names:?}"
        );
        println!("no dependency but the core");
        Ok(())
    }
}
