//! The gate programs: languages, frameworks, and the commands that build and start them, as typed at the root. A language
//! with two engines has a program for each.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result, bail, ensure};

use crate::exchange::program::Program;
use crate::exchange::world::root;
use crate::skipped::missing;

struct Language {
    name: &'static str,
    /// A command that succeeds if the language is installed.
    needs: &'static str,
    /// Each with its server, if that is measured with it. The first is the default, and has no name if there is no choice.
    frameworks: &'static [(&'static str, &'static str)],
    build: &'static [&'static str],
    start: &'static str,
    /// See [`Program`].
    charges: bool,
}

const NODE_PACKAGES: &str =
    "npm ci --prefix bindings/node --prefer-offline --ignore-scripts --no-audit --no-fund --silent";

const LANGUAGES: &[Language] = &[
    Language {
        name: "rust",
        needs: "cargo --version",
        frameworks: &[("", "hyper")],
        build: &["cargo build --quiet --workspace --all-features --example gate"],
        start: "target/debug/examples/gate",
        charges: true,
    },
    Language {
        name: "cpp",
        needs: "sh bindings/cpp/example/set_up.sh",
        frameworks: &[("", "cpp-httplib")],
        build: &[
            "cargo build --quiet -p orbgate-capi",
            "mkdir -p target/xtask && c++ -std=c++17 -O1 -Ibindings/c/include -Ibindings/cpp/include bindings/cpp/example/gate.cpp \
             target/debug/liborbgate.a -lcpp-httplib -lcurl -lpthread -ldl -lm -o target/xtask/gate-cpp",
        ],
        start: "target/xtask/gate-cpp",
        charges: false,
    },
    Language {
        name: "python",
        needs: "sh crates/xtask/src/kit/apt.sh \"python3 -c 'import sys, ensurepip; assert sys.version_info >= (3, 10)'\" \
                python3 python3-venv",
        frameworks: &[
            ("starlette", "uvicorn"),
            ("fastapi", "uvicorn with h11"),
            ("flask", "waitress"),
            ("gunicorn", "gunicorn"),
            ("uwsgi", "uWSGI"),
            ("django", ""),
        ],
        build: &["sh bindings/python/gate/setup.sh"],
        start: "target/xtask/gate-python/bin/python bindings/python/gate/gate.py",
        charges: true,
    },
    Language {
        name: "node",
        needs: "node --version && npm --version",
        frameworks: &[
            ("http", "node:http"),
            ("connect", ""),
            ("express", ""),
            ("express4", ""),
            ("fastify", ""),
            ("hono", "Hono"),
        ],
        build: &["cargo --quiet xtask wasm", NODE_PACKAGES],
        start: "env ORBGATE_LIBRARY=bindings/node/orbgate.wasm node bindings/node/exchange/program.js",
        charges: true,
    },
    Language {
        name: "node-koffi",
        needs: "node --version && npm --version",
        frameworks: &[("http", "node:http")],
        build: &["cargo build --quiet -p orbgate-capi", NODE_PACKAGES],
        start: "env ORBGATE_LIBRARY=target/debug/liborbgate.so node bindings/node/exchange/program.js",
        charges: true,
    },
    Language {
        name: "go",
        needs: "go version && npm --version",
        frameworks: &[("net/http", "net/http"), ("chi", ""), ("gin", ""), ("echo", "")],
        build: &[
            "cargo --quiet xtask wasm",
            "cd bindings/go/recipes && GOWORK=off CGO_ENABLED=0 go build -o ../../../target/xtask/gate-go .",
        ],
        start: "target/xtask/gate-go",
        charges: true,
    },
    Language {
        name: "go-cgo",
        needs: "go version && cc --version",
        frameworks: &[("net/http", "net/http")],
        build: &[
            "cargo build --quiet -p orbgate-capi",
            // The library's folder, which pkg-config would print for an installed one.
            "cp bindings/c/include/orbgate.h bindings/go/orbgate && library=$PWD/target/debug && cd bindings/go/recipes && \
             GOWORK=off CGO_ENABLED=1 PKG_CONFIG=true CGO_LDFLAGS=\"-L$library -lorbgate -Wl,-rpath,$library\" \
             go build -tags=orbgate_cgo,orbgate_shared -o ../../../target/xtask/gate-go-cgo .",
        ],
        start: "target/xtask/gate-go-cgo",
        charges: true,
    },
    Language {
        name: "java",
        needs: "javac --release 17 -version && sh crates/xtask/src/kit/apt.sh 'mvn --version' maven",
        frameworks: &[("httpserver", "JDK"), ("servlet", "Jetty"), ("spring", "Tomcat")],
        build: &[
            "cargo build --quiet -p orbgate-capi",
            "mvn --quiet --batch-mode --file bindings/java/gate/pom.xml package -DskipTests -Doutput=$PWD/target/xtask/gate-java",
        ],
        start: "java -Dorbgate.library=target/debug/liborbgate.so -XX:TieredStopAtLevel=1 -XX:+UseSerialGC \
                -Djdk.http.auth.tunneling.disabledSchemes= \
                -cp target/xtask/gate-java/orbgate-exchange/classes:target/xtask/gate-java/orbgate-exchange/lib/* \
                io.github.orbgate.exchange.Program",
        charges: false,
    },
];

/// The build commands that have been run.
static BUILT: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());

/// Every language with a gate program, and each of its frameworks. Languages that aren't installed are left out, and
/// reported where `cargo xtask test` counts them.
///
/// # Errors
///
/// Fails if a language is missing in CI.
pub fn every() -> Result<Vec<(&'static str, Option<&'static str>)>> {
    let mut programs = Vec::new();
    for language in LANGUAGES {
        if let Some(lacks) = lacks(language)? {
            let what = format!("the gate of {}: {lacks}", language.name);
            missing(&what);
        } else {
            let frameworks = language.frameworks.iter().map(|(framework, _)| Some(*framework));
            programs.extend(frameworks.map(|name| (language.name, name.filter(|name| !name.is_empty()))));
        }
    }
    Ok(programs)
}

/// The tools that the machine lacks for a language.
fn lacks(language: &Language) -> Result<Option<String>> {
    let output = shell(language.needs).output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    let last = stderr.trim_end().lines().next_back().unwrap_or("nothing");
    let what = || format!("`{}` fails: {last}", language.needs);
    Ok((!output.status.success()).then(what))
}

fn shell(line: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(line).current_dir(root());
    command
}

/// Builds a language's program for a framework, by default the first.
///
/// # Errors
///
/// Fails if the name is unknown, or if the program doesn't build.
pub fn build(name: &str, framework: Option<&str>) -> Result<Program> {
    let language = LANGUAGES.iter().find(|language| language.name == name);
    let language = language.with_context(|| format!("`{name}` has no gate program"))?;
    let mut frameworks = language.frameworks.iter();
    let found = frameworks.find(|(known, _)| framework.is_none_or(|framework| *known == framework));
    let (framework, server) = *found.with_context(|| {
        let names: Vec<_> = language.frameworks.iter().map(|(name, _)| name).collect();
        format!("`{name}` has the frameworks {names:?}")
    })?;
    let framework = Some(framework).filter(|name| !name.is_empty());
    // All frameworks of a language use the same program.
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if built.insert(language.needs)
        && let Some(lacks) = lacks(language)?
    {
        bail!("{lacks}");
    }
    for line in language.build.iter().filter(|line| !built.contains(*line)) {
        // Standard output contains only the program's own output.
        let status = shell(line).stdout(std::io::stderr()).status()?;
        ensure!(status.success(), "`{line}` failed");
    }
    built.extend(language.build);
    let words = language.start.split(' ').chain(framework);
    let mut program = Program::new(words.map(str::to_owned));
    program.server = Some(server).filter(|server| !server.is_empty()).map(str::to_owned);
    program.charges = language.charges;
    // WSGI has no MCP endpoint. Django's is served over ASGI, without one.
    let is_wsgi = framework.is_some_and(|framework| ["flask", "gunicorn", "uwsgi", "django"].contains(&framework));
    program.charges_mcp = program.charges && !is_wsgi;
    program.holds_threads = ["cpp", "java"].contains(&language.name) || is_wsgi && framework != Some("django");
    // In the first framework.
    let is_first = framework == language.frameworks.first().map(|(name, _)| *name).filter(|name| !name.is_empty());
    program.sdks = match language.name {
        _ if !is_first => &[],
        "rust" => &["rmcp"],
        "python" => &["mcp"],
        "node" => &["1", "2"],
        "go" => &["go-sdk"],
        _ => &[],
    };
    program.opens_ledger = language.name == "rust";
    Ok(program)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::exchange::world::root;

    /// An example of a server either uses a gate, or states in its first sentence which headers it
    /// trusts.
    #[test]
    fn every_example_says_what_it_trusts() {
        let mut count = 0;
        for language in ["c", "cpp", "go", "java", "node", "python"] {
            let folder = root().join("bindings").join(language).join("example");
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let text = fs::read_to_string(&path).unwrap_or_default();
                let text = text.to_lowercase();
                if !text.contains("x-token-kind") || path.ends_with("main_test.go") {
                    continue;
                }
                let first = text.split(". ").next().unwrap();
                let says = first.contains("trusts the headers `x-token-kind` and `x-token-scopes`");
                assert!(says, "{}: {first}", path.display());
                count += 1;
            }
        }
        assert!(count >= 3, "{count} examples");
    }
}
