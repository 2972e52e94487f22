//! The step `java`: the Java package, built once and tested in a Java of each way into the library. Maven does it, with
//! `bindings/java/gate/pom.xml`; here is what finds the JDKs, which Maven's own discovery would look for in more than this machine's folders.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::kit::{setup, skipped};
use crate::language::cases::conform;
use crate::language::library::{Library, Profile, shared};

/// The first Java that the package is for, and the first with the Foreign Function and Memory API.
const OLDEST: u32 = 17;
const FOREIGN: u32 = 22;

const BENCHMARK: &str = "io.github.orbgate.benchmark.Benchmark";
/// Of surefire; the second Java has a folder of its own.
const REPORTS: &str = "surefire-reports";
const JAR: &str = "package -DskipTests --projects ..";
const CONFORMANCE: &str = "io.github.orbgate.conformance.Conformance";

pub(crate) fn run(project: &Project) -> Result<()> {
    let kits = Kits::find()?;
    let library = Library::build(project, Profile::Tests)?;
    // Otherwise deleted tests and their resources would stay.
    for folder in folders(project, "test-classes").into_iter().chain(folders(project, REPORTS)) {
        fs::remove_dir_all(folder)?;
    }
    kits.maven(project, &library, "verify").run()?;
    for report in folders(project, REPORTS).iter().flat_map(fs::read_dir).flatten() {
        let report = fs::read_to_string(report?.path())?;
        skipped_in(&report).iter().try_for_each(|test| skipped::note(test))?;
    }
    for home in kits.all() {
        conform("java", kits.java(home, project, &library, CONFORMANCE)?)?;
    }
    let what = match (&kits.foreign, &kits.older) {
        (Some(_), Some(_)) => return Ok(()),
        (None, _) => format!("Java's own way into the library needs a JDK from {FOREIGN} on"),
        (_, None) => format!("the way by JNA needs a JDK from {OLDEST} to 21"),
    };
    skipped::note(&what)
}

/// What answers the cases, in the newest Java.
pub(crate) fn runner(project: &Project, library: &Library) -> Result<Program> {
    let kits = Kits::find()?;
    kits.maven(project, library, JAR).run()?;
    kits.java(kits.newest(), project, library, CONFORMANCE)
}

/// The programs that measure, each with the name of its way.
pub(crate) fn benchmarks(project: &Project, library: &Library) -> Result<Vec<(&'static str, Program)>> {
    let kits = Kits::find()?;
    kits.maven(project, library, JAR).run()?;
    let ways = [("java", &kits.foreign), ("java-jna", &kits.older)].into_iter();
    let there = ways.filter_map(|(way, home)| Some((way, home.as_ref()?)));
    let program = |home: &Path| kits.java(home, project, library, BENCHMARK);
    there.map(|(way, home)| Ok((way, program(home)?))).collect()
}

/// The newest JDK that Spark runs in as it is: it is not made for 22 and newer ones.
pub(crate) fn for_spark() -> Option<PathBuf> {
    let newest = homes().range(OLDEST..FOREIGN).next_back()?.1.clone();
    Some(newest)
}

/// The JDKs to build with and to test in: at least one of them.
#[derive(Debug)]
pub(crate) struct Kits {
    /// The newest one with the Foreign Function and Memory API.
    foreign: Option<PathBuf>,
    /// The oldest one without.
    older: Option<PathBuf>,
}

impl Kits {
    /// Finds them, and Maven.
    pub(crate) fn find() -> Result<Self> {
        let homes = homes();
        let foreign = homes.range(FOREIGN..).next_back();
        let older = homes.range(OLDEST..FOREIGN).next();
        let [foreign, older] = [foreign, older].map(|kit| kit.map(|(_, home)| home.clone()));
        ensure!(foreign.is_some() || older.is_some(), "no JDK from {OLDEST} on");
        setup::apt("mvn", "maven")?;
        Ok(Self { foreign, older })
    }

    /// Both, as far as they are there; the first can build most.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Path> {
        let both = self.foreign.iter().chain(&self.older);
        both.map(PathBuf::as_path)
    }

    fn newest(&self) -> &Path {
        self.all().next().unwrap_or_else(|| Path::new(""))
    }

    /// Maven for the package, its output in the target directory of everything else.
    fn maven(&self, project: &Project, library: &Library, goals: &str) -> Program {
        let file = library.directory.join(shared());
        let pom = project.root.join("bindings/java/gate/pom.xml");
        let maven = Program::parse("mvn --quiet --batch-mode").path("--file", &pom);
        let maven = maven.env("JAVA_HOME", self.newest().display().to_string());
        let maven = maven.words(goals);
        let maven = maven.arg(format!("-Doutput={}", output(project).display()));
        let maven = maven.arg(format!("-Dorbgate.library={}", file.display()));
        match (&self.foreign, &self.older) {
            (Some(_), Some(older)) => maven.arg(format!("-Djava17.home={}", older.display())),
            _ => maven,
        }
    }

    /// A program in a Java with the package's jar, as users have it.
    fn java(&self, home: &Path, project: &Project, library: &Library, main: &str) -> Result<Program> {
        let output = output(project);
        let jar = format!("orbgate-{}.jar", project.core()?.version);
        let path = [&jar, "lib/*", "test-classes"].map(|part| output.join(part));
        let path = path.map(|part| part.display().to_string()).join(":");
        let file = library.directory.join(shared());
        let is_foreign = self.foreign.as_deref() == Some(home);
        let java = Program::at(&home.join("bin").join("java"));
        let java = java.arg(format!("-Dorbgate.library={}", file.display()));
        let java = java.args(is_foreign.then_some("--enable-native-access=ALL-UNNAMED"));
        Ok(java.arg("--class-path").arg(path).arg(main))
    }
}

fn output(project: &Project) -> PathBuf {
    project.target.join("xtask").join("java")
}

/// The folders of the modules' output with such a name.
fn folders(project: &Project, start: &str) -> Vec<PathBuf> {
    let within = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let modules = within(output(project)).filter(|module| module.is_dir());
    let folders = modules.flat_map(within).chain(within(output(project)));
    let has_name = |name: &OsStr| name.to_string_lossy().starts_with(start);
    folders.filter(|folder| folder.is_dir() && folder.file_name().is_some_and(has_name)).collect()
}

/// The skipped tests of a report of surefire. A test of newer versions of Java lacks nothing in an older one.
fn skipped_in(report: &str) -> Vec<String> {
    let between = |text: &str, start: &str, end: &str| {
        let (value, _) = text.split_once(start)?.1.split_once(end)?;
        Some(value.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let skipped = report.split("<testcase ").filter_map(|test| {
        let (test, skipped) = test.split_once("<skipped")?;
        let class = between(test, "classname=\"", "\"")?;
        let name = between(test, "name=\"", "\"")?;
        // The message, or else the exception up to where it was thrown.
        let (element, _) = skipped.split_once('>')?;
        let why = between(element, "message=\"", "\"").or_else(|| between(skipped, "<![CDATA[", "\tat "));
        let why = why.unwrap_or_default();
        let class = class.rsplit('.').next().unwrap_or_default();
        (!why.starts_with("Disabled on JRE version")).then(|| format!("Java: {class}.{name}: {why}"))
    });
    skipped.collect()
}

/// The JDKs of the machine, one for each version: from `JAVA_HOME`, and from where Linux and macOS have them.
fn homes() -> BTreeMap<u32, PathBuf> {
    let stated = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let folders = ["/usr/lib/jvm", "/Library/Java/JavaVirtualMachines"];
    let kits = folders.into_iter().flat_map(fs::read_dir).flatten().flatten();
    let kits = kits.map(|kit| kit.path());
    let kits = kits.flat_map(|kit| [kit.join("Contents").join("Home"), kit]);
    let mut homes = BTreeMap::new();
    for home in stated.into_iter().chain(kits) {
        let release = fs::read_to_string(home.join("release")).unwrap_or_default();
        if let (Some(version), true) = (version(&release), home.join("bin/javac").exists()) {
            homes.entry(version).or_insert(home);
        }
    }
    homes
}

/// The feature version in a JDK's file `release`, as in `JAVA_VERSION="17.0.15"`.
fn version(release: &str) -> Option<u32> {
    let (_, version) = release.split_once("JAVA_VERSION=\"")?;
    version.split(['.', '"', '-', '+']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{skipped_in, version};

    #[test]
    fn a_skipped_test_is_counted() {
        let report = r#"<testsuite name="a.Samples" skipped="3">
            <testcase name="runs" classname="a.Samples" time="0.0"/>
            <testcase name="aborts" classname="a.Samples" time="0.0">
                <skipped type="E"><![CDATA[E:
Assumption failed: this machine
lacks it
_at org.junit.jupiter.api.Assumptions.throwAssumptionFailed(Assumptions.java:321)
]]></skipped></testcase>
            <testcase name="isOff" classname="a.Samples"><skipped message="nobody runs it"/></testcase>
            <testcase name="isNewer" classname="a.Samples"><skipped message="Disabled on JRE version: 17.0.15"/></testcase>
        </testsuite>"#;
        let aborts = "Java: Samples.aborts: E: Assumption failed: this machine lacks it";
        assert_eq!(skipped_in(&report.replace('_', "\t")), [aborts, "Java: Samples.isOff: nobody runs it"]);
    }

    #[test]
    fn a_kit_says_its_version() {
        let release = "IMPLEMENTOR=\"Debian\"\nJAVA_VERSION=\"17.0.15\"\n";
        assert_eq!(version(release), Some(17));
        assert_eq!(version("JAVA_VERSION=\"25\"\n"), Some(25));
        assert_eq!(version("JAVA_RUNTIME_VERSION=\"25\"\n"), None);
    }
}
