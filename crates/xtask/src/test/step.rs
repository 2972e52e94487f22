//! The steps: what each shows, when it runs, which paths it covers, and what it runs.

use anyhow::{Result, ensure};
use clap::ValueEnum;

use crate::kit::program::Program;
use crate::kit::project::{Package, Project};
use crate::kit::setup;
use crate::language::library::COMMAND;
use crate::language::{c, explorer, go, java, node, python, wasm};
use crate::measure::{instructions, processors};
use crate::release::dist::{self, Form};
use crate::release::{install, msrv};
use crate::short;

/// In the order in which each lane runs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Step {
    /// Every file is formatted
    Fmt,
    /// The core depends on nothing new
    Tree,
    /// No lint complains
    Clippy,
    /// Unit, integration and documentation tests of every crate; the pages
    Tests,
    /// The documentation builds as docs.rs builds it, and its links resolve
    Docs,
    /// The Python package, installed: all but the long tests in the newest Python, those of the native module in the others; the cases
    Python,
    /// C and C++: headers, symbols, tests, cases, examples; under valgrind and sanitizers
    C,
    /// The Go package over each engine: its tests, also under the race detector, its guide, the cases
    Go,
    /// The Java package in a Java of each way into the library: its tests and the cases
    Java,
    /// The Node package over each engine: its types, its tests and the cases
    Node,
    /// Other projects can embed the crates, with policies and dependencies of their own
    Embed,
    /// No hot path takes more instructions than listed
    #[value(alias = "gate")]
    Instructions,
    /// The core's portable code decides correctly
    Portable,
    /// The core decides correctly as WebAssembly, with its vectors
    Wasm,
    /// Real proxies pass only allowed requests: nginx, HAProxy, Caddy, Traefik before a backend
    Gateway,
    /// Every language's gate gives the same answers to the same requests, over real sockets; all of them in its first framework, over
    /// each engine. `orbgate mcp probe` finds the faults planted in MCP servers of four SDKs
    Gates,
    /// Every published crate compiles with each feature alone and with none, and its pages build with the default features
    Features,
    /// The fuzz targets compile
    Fuzz,
    /// Every published crate compiles from its own archive
    Package,
    /// The published crates compile with the oldest Rust that they promise
    Msrv,
    /// C, C++ and Go programs build from an installed library, wherever it is moved; the guides' services start from a clone
    Install,
    /// The Go package as its users get it: from a module proxy, with Go and at most a C compiler
    GoModule,
    /// A release's artefacts for this machine, installed and run without Rust
    Dist,
    /// The core decides correctly on aarch64, under qemu, and no hot path takes more instructions there than listed
    Aarch64,
    /// Licences and sources of all dependencies are accepted
    Deny,
    /// Every language's gate in each framework gives the same answers to all requests
    Frameworks,
    /// The Python wheel of a release: all tests in every Python but the newest; its size and its speed; the report in a browser, Spark and other long tests
    Pythons,
    /// The Go package over the C library under the race detector; its builds for other systems
    Race,
    /// Envoy passes only allowed requests, as `gateway` shows of the other proxies
    Envoy,
    /// The gateway decides with the tokens of a real Keycloak, from its discovery document to a change of its keys
    Keycloak,
    /// No answered command of a ledger is lost: 2,000 crashes over SQLite, PostgreSQL killed under load and failed over; every
    /// planted bug is found
    Ledger,
    /// The explorer in a real browser: the cases, hostile targets, links, `orbgate explore`; axe-core, light and dark
    Explorer,
    /// The `unsafe` of the core and of the C ABI, under Miri
    Miri,
    /// Reloads and gates under ThreadSanitizer
    Threads,
    /// Each fuzz target for a minute, from the cases and the inputs of earlier runs
    FuzzRun,
    /// `orbgate replay` answers ten million lines in constant memory; a million random MCP requests are read as an oracle reads them
    Soak,
    /// One part in 144 of the mutants, a different one each day: the tests find every error put into the code
    Mutants,
}

/// When a step runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// With `test` and `test --all`.
    Always,
    /// With `test --all`.
    WithAll,
    /// With `assure`; with `test --all` only if a path that it covers has changed since its last recorded run.
    IfChanged,
    /// With `assure` only.
    Assure,
}

/// Steps of one lane run one after the other, and the two lanes side by side: cargo builds one thing at a time. A lane that
/// has no steps left takes the last ones of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    Cargo,
    Languages,
    /// After both lanes, one at a time: tests with deadlines of seconds, and those that use every
    /// core.
    Quiet,
}

impl Step {
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        Self::value_variants().iter().copied()
    }

    pub(crate) const fn when(self) -> When {
        match self {
            Self::Fmt | Self::Tree | Self::Tests => When::Always,
            Self::Clippy | Self::Docs | Self::Python | Self::C | Self::Go | Self::Java | Self::Node | Self::Embed => {
                When::WithAll
            }
            Self::Instructions | Self::Portable | Self::Wasm | Self::Gateway | Self::Gates => When::WithAll,
            Self::Features | Self::Fuzz | Self::Package | Self::Msrv | Self::Install => When::IfChanged,
            Self::GoModule | Self::Dist | Self::Aarch64 => When::IfChanged,
            Self::Pythons | Self::Race | Self::Miri | Self::Threads | Self::FuzzRun => When::Assure,
            Self::Frameworks
            | Self::Deny
            | Self::Envoy
            | Self::Keycloak
            | Self::Ledger
            | Self::Explorer
            | Self::Soak
            | Self::Mutants => When::Assure,
        }
    }

    pub(crate) const fn lane(self) -> Lane {
        match self {
            Self::Python | Self::C | Self::Go | Self::Java | Self::Node => Lane::Languages,
            Self::Gateway | Self::Envoy | Self::Gates | Self::Frameworks => Lane::Quiet,
            Self::Mutants | Self::Soak | Self::Pythons | Self::Explorer | Self::Ledger => Lane::Quiet,
            _ => Lane::Cargo,
        }
    }

    /// The paths whose change ends its record in docs/assurance.md, as git's pathspecs.
    pub(crate) const fn covers(self) -> &'static [&'static str] {
        match self {
            // `clippy::incompatible_msrv` finds newer functions of the standard library in sources.
            Self::Msrv | Self::Deny => &["Cargo.lock", "Cargo.toml", "crates/*/Cargo.toml"],
            Self::Features => &[
                "Cargo.toml",
                "crates/*/Cargo.toml",
                "crates/*/src/*",
                // Not published.
                ":!crates/xtask",
                ":!crates/orbgate-testing",
            ],
            Self::Fuzz | Self::FuzzRun => &[
                "fuzz",
                "crates/orbgate/src",
                "crates/orbgate/tests/support",
                "crates/orbgate-analysis/src",
                "crates/orbgate-capi",
                "crates/orbgate-token/src",
                "crates/orbgate-yaml/src",
            ],
            Self::Package => &["Cargo.toml", "crates/*/Cargo.toml", "dist/*/rust.sh", "LICENSE-*"],
            Self::Install => &[
                "bindings/c/install",
                "bindings/c/include",
                "bindings/*README.md",
                "crates/orbgate-tower/README.md",
                "dist/try",
            ],
            Self::GoModule => &["bindings/go", "bindings/node/testing.js", "dist/pack/go.sh", "dist/try"],
            Self::Dist => &["dist", "bindings/node/package.json", "bindings/node/testing.js", "bindings/java/pom.xml"],
            Self::Aarch64 => &["crates/orbgate/src", "benches/instructions-aarch64.tsv"],
            Self::Miri | Self::Threads => &["crates/orbgate/src/decide", "crates/orbgate-capi/src"],
            Self::Pythons => &["bindings/python", "crates/orbgate-python"],
            Self::Frameworks => &["bindings", "crates/orbgate-gate", "policy/cases"],
            Self::Envoy => &["crates/orbgate-gateway", "docs/gateway", "examples/gateway"],
            Self::Keycloak => &["crates/orbgate-gateway", "crates/orbgate-token/src", "docs/issuers.md"],
            Self::Ledger => &["crates/orbgate-ledger"],
            Self::Explorer => &[
                "explorer",
                "crates/orbgate-wasm",
                "crates/orbgate-analysis/src",
                "crates/orbgate-cli/src/explore",
                "policy",
                // Pages that link to it.
                "docs/codes.md",
                "docs/lint.md",
                "docs/tutorial",
                "bindings/go/README.md",
            ],
            Self::Race => &["bindings/go", "crates/orbgate-capi/src"],
            Self::Soak => &["crates/orbgate-cli/src", "crates/orbgate-log/src", "crates/orbgate-gate/src/mcp"],
            Self::Mutants => &["crates/*/src/*", ".cargo/mutants.toml"],
            // These have no record.
            _ => &[],
        }
    }

    pub(crate) fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }

    pub(crate) fn about(self) -> String {
        let value = self.to_possible_value();
        let help = value.and_then(|value| value.get_help().map(ToString::to_string));
        help.unwrap_or_default()
    }

    /// Runs it in this process.
    pub(crate) fn run(self, project: &Project) -> Result<()> {
        match self {
            Self::Fmt => {
                setup::component("fmt", "rustfmt")?;
                all(&["cargo fmt --all --check"])
            }
            Self::Clippy => {
                setup::component("clippy", "clippy")?;
                all(&[
                    "cargo clippy --workspace --all-targets --all-features -- -D warnings",
                    "cargo clippy -p orbgate --no-default-features -- -D warnings",
                ])
            }
            // The examples of the core's README are for its default features, too.
            Self::Tests => {
                // Without them, tests skip themselves.
                let _ = (setup::apt("python3", "python3"), setup::apt(INITDB, "postgresql"));
                all(&[&format!("cargo test {WORKSPACE}"), "cargo test -p orbgate --doc"])
            }
            Self::Docs => docs(project),
            Self::Features => features(project),
            // A package of its own outside the workspace, with one folder for the builds of both.
            Self::Fuzz => {
                let check = "cargo check --locked --manifest-path fuzz/Cargo.toml";
                all(&[&format!("{check} --target-dir target")])
            }
            Self::FuzzRun => {
                short::nightly("rust-src")?;
                all(&["bash fuzz/run.sh 60"])
            }
            // Each package once, without its version.
            Self::Tree => {
                let tree =
                    "cargo tree -p orbgate -e normal --target all --prefix none | cut -d ' ' -f 1 | LC_ALL=C sort -u";
                let differs = format!("{tree} | diff crates/xtask/core-dependencies.txt -");
                Program::parse("bash -o pipefail -c").arg(differs).run()
            }
            Self::Package => dist::check(project, &[Form::Rust]),
            Self::Msrv => msrv::run(project),
            Self::Embed => all(&["bash crates/xtask/embed/run.sh"]),
            Self::C => c::run(project),
            Self::Gateway => proxies("--skip envoy --skip keycloak::"),
            Self::Envoy => proxies("envoy"),
            Self::Install => install::check(project),
            Self::Instructions => instructions::check("x86-64"),
            Self::Java => java::run(project),
            Self::Python => python::run(project),
            Self::Pythons => python::others(project),
            Self::Go => go::run(project),
            Self::Race => go::race(project),
            Self::GoModule => dist::check(project, &[Form::Go]),
            Self::Node => node::run(project),
            Self::Gates => {
                gates("--quick")?;
                all(&[&format!("cargo test {WORKSPACE} --test servers -- --ignored")])
            }
            Self::Frameworks => {
                gates("")?;
                all(&["sh bindings/java/gate/containers.sh"])
            }
            Self::Dist => {
                let without_a_build = [Form::Command, Form::C, Form::Node, Form::Java];
                dist::check(project, &without_a_build)
            }
            Self::Portable => processors::portable(project),
            Self::Aarch64 => {
                processors::aarch64()?;
                instructions::check("aarch64")
            }
            Self::Wasm => processors::wasm(project),
            Self::Deny => {
                let deny = setup::subcommand(project, "deny")?;
                deny.words("check licenses bans sources").run()
            }
            Self::Keycloak => {
                setup::apt("mvn", "maven")?;
                all(&[&format!("cargo test {WORKSPACE} --test gateway keycloak:: -- --ignored")])
            }
            Self::Ledger => {
                setup::apt(INITDB, "postgresql")?;
                all(&[
                    "ORBGATE_LEDGER_CRASHES=2000 ORBGATE_LEDGER_SUITES=60 ORBGATE_LEDGER_KILLS=20 ORBGATE_LEDGER_FAILOVER=1 \
                     cargo test -p orbgate-ledger --all-features --test all -- --nocapture crash:: postgres::",
                    "sh crates/orbgate-ledger/tests/crash/bugs.sh",
                ])
            }
            Self::Explorer => explorer::test(project),
            // Few random cases: it is some hundred times slower than the machine. At last what threads share, in many of the orders that
            // weak memory allows.
            Self::Miri => {
                short::nightly("miri,rust-src")?;
                let miri = |flags, tests| {
                    let miri = Program::parse("PROPTEST_CASES=4 cargo +nightly miri test --no-default-features --lib")
                        .words(tests);
                    miri.env("MIRIFLAGS", format!("-Zmiri-disable-isolation{flags}")).run()
                };
                miri("", "-p orbgate -- vector scopes")?;
                miri("", "-p orbgate-capi --features gate")?;
                miri(" -Zmiri-many-seeds=0..16", "-p orbgate-capi --features gate every_decision_of_a_handle")
            }
            Self::Threads => all(&["sh bindings/c/tests/thread_sanitizer.sh"]),
            Self::Soak => {
                let pairs =
                    "ORBGATE_MCP_PAIRS=1000000 cargo test --release --all-features -p orbgate-gate --test all oracle";
                all(&["cargo build --release -p orbgate-cli", "python3 benches/soak.py", pairs])
            }
            Self::Mutants => {
                let day = Program::parse("date -u +%j").read()?;
                let part = day.trim().parse::<u32>()?.checked_rem(144);
                let mutants = setup::subcommand(project, "mutants")?;
                let mutants = mutants.words("--workspace --output target/xtask --shard");
                let mutants = mutants.arg(format!("{}/144", part.unwrap_or_default()));
                mutants.env("PROPTEST_CASES", "32").run()
            }
        }
    }
}

/// Creates a PostgreSQL cluster, and isn't on the search path.
const INITDB: &str = "sh crates/xtask/src/kit/initdb.sh";

/// With these features, programs and examples are those that `tests` has built.
const WORKSPACE: &str = "--workspace --all-features";

/// The gateway behind real proxies: the tests that these names choose.
fn proxies(names: &str) -> Result<()> {
    // nginx has no `--version`. Each test skips its own proxy if it is missing.
    let all_of = "test -x /usr/sbin/nginx -a -x /usr/sbin/haproxy -a -x /usr/sbin/lighttpd -a -x /usr/bin/php-cgi \
                  -a -d /usr/share/tomcat10 -a";
    setup::apt(all_of, "nginx haproxy lighttpd php-cgi tomcat10")?;
    setup::apt("python3 -m pip", "python3-pip")?;
    setup::apt("systemd-analyze --version", "systemd")?;
    // Each test mostly waits. The quick start uses the command.
    let tests = format!("cargo test {WORKSPACE} --test gateway -- --ignored --test-threads 6");
    all(&[COMMAND, &format!("{tests} {names}")])
}

/// The gate of every language.
fn gates(options: &str) -> Result<()> {
    // The example brings the features of tests.
    let build = format!("cargo build {WORKSPACE} --bin orbgate-exchange --example gate");
    let run = format!("target/debug/orbgate-exchange --every {options}");
    all(&[&build, &run])
}

/// Runs the commands one after the other, up to the first that fails.
fn all(lines: &[&str]) -> Result<()> {
    let mut lines = lines.iter();
    lines.try_for_each(|line| Program::parse(line).run())
}

/// docs.rs uses the features that a manifest tells it to: here all of them at once, so the same there.
fn docs(project: &Project) -> Result<()> {
    for package in project.published() {
        let features = package.metadata.pointer("/docs/rs/all-features");
        let all = features == Some(&serde_json::Value::Bool(true));
        ensure!(all, "{}: docs.rs would leave out features", package.name);
    }
    document().words("--workspace --all-features").run()
}

fn document() -> Program {
    Program::parse("RUSTDOCFLAGS=-Dwarnings cargo doc --no-deps")
}

/// Like cargo-hack, in a few lines: building that would take a minute.
fn features(project: &Project) -> Result<()> {
    for package in project.published() {
        let check = || Program::parse("cargo check --no-default-features -p");
        check().arg(package.name.as_str()).run()?;
        for feature in package.features.keys() {
            let alone = check().arg(package.name.as_str());
            alone.arg("--features").arg(feature).run()?;
        }
    }
    // Where programs check signatures, nothing needs C.
    setup::target(wasm::TARGET)?;
    let check = Program::parse("cargo check --no-default-features -p orbgate-gate --target");
    check.arg(wasm::TARGET).run()?;
    // With the features of a plain `cargo doc`, no link may lead to an item of a feature that is off.
    let has_pages = |package: &&Package| package.targets.iter().any(|target| target.doc);
    for package in project.published().filter(has_pages) {
        document().arg("-p").arg(package.name.as_str()).run()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_that_a_step_covers_has_files() {
        for step in Step::all() {
            assert_eq!(step.covers().is_empty(), matches!(step.when(), When::Always | When::WithAll), "{step:?}");
            for path in step.covers() {
                let path = path.trim_start_matches(":!");
                let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
                let list = Program::parse("git ls-files --").arg(path).within(root.as_ref());
                assert!(!list.read().unwrap().is_empty(), "{step:?}: {path}");
            }
        }
    }

    /// The table of CONTRIBUTING.md has each step with its sentence and when it runs, in the order of the steps.
    #[test]
    fn contributing_has_every_step() {
        let page = include_str!("../../../../CONTRIBUTING.md");
        let (_, table) = page.split_once("| step | what it shows |").unwrap();
        let rows = table.lines().skip(2);
        let rows = rows.take_while(|line| line.starts_with('|'));
        let rows: Vec<Vec<_>> = rows.map(|row| row.split('|').map(str::trim).collect()).collect();
        assert_eq!(rows.len(), Step::all().count());
        for (row, step) in rows.iter().zip(Step::all()) {
            let runs = match step.when() {
                When::Always => "`test`, `--all`",
                When::WithAll => "`--all`",
                When::IfChanged => "`assure`; `--all` if changed",
                When::Assure => "`assure`",
            };
            let expected = [&format!("`{}`", step.name()), &step.about(), row[3], runs];
            assert_eq!(row[1..5], expected);
            // A dash until a free machine has measured it.
            assert!(row[3] == "–" || row[3].parse::<u32>().is_ok(), "{row:?}");
        }
    }
}
