//! Java: one jar with the libraries of all platforms in it, the sources, the documentation and the pom.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};

use super::artefact::Artefact;
use super::debian::Debian;
use super::manifest::digests;
use super::platform::{Libc, Platform};
use super::release::{Release, fresh, put, put_licences};
use super::trial::{Clean, FIRST};
use crate::kit::outcome::missing;
use crate::language::java::{Kits, OLDEST};

/// Where the jar has the libraries: what `Bundled.java` looks for.
const FOLDER: &str = "io/github/orbgate/native";

const RUNNER: &str = "Conformance.java";

const JNA: &str = "pkg:maven/net.java.dev.jna/jna";

/// The JDKs, and Maven.
pub(super) fn kits() -> Result<Kits> {
    Kits::find()?.map_err(missing)
}

pub(super) fn build(release: &Release<'_>) -> Result<Vec<Artefact>> {
    let kits = kits()?;
    let libraries = libraries(release)?;
    let output = release.home.join("java");
    let maven = kits.build(release.project, &output, "clean package -DskipTests");
    // Sources and documentation need more of Maven's plugins than the tests.
    let maven = match release.quick {
        true => maven,
        false => maven.arg("-Prelease"),
    };
    maven
        .arg(format!("-Dorbgate.libraries={}", libraries.display()))
        .arg(format!("-Dproject.build.outputTimestamp={}", release.epoch))
        .run()?;
    let folder = release.folder("java")?;
    let targets: Vec<_> = release
        .platforms()
        .into_iter()
        .map(Platform::target)
        .collect();
    let mut artefacts = Vec::new();
    let ends: &[&str] = match release.quick {
        true => &[".jar"],
        false => &[".jar", "-sources.jar", "-javadoc.jar"],
    };
    for end in ends {
        let name = format!("orbgate-{}{end}", release.version);
        put(&output.join(&name), &folder, &name)?;
        let mut artefact = match *end {
            ".jar" => Artefact::new(folder.join(name), "orbgate-capi", targets.clone()),
            _ => Artefact::new(folder.join(name), "", []),
        };
        if *end == ".jar" {
            artefact.needs = vec![format!("{JNA}@{}", jna(&release.project.root)?)];
        }
        artefacts.push(artefact);
    }
    let pom = format!("orbgate-{}.pom", release.version);
    put(
        &release.project.root.join("bindings/java/pom.xml"),
        &folder,
        &pom,
    )?;
    artefacts.push(Artefact::new(folder.join(pom), "", []));
    Ok(artefacts)
}

/// The libraries as the jar has them, with the list of their digests.
fn libraries(release: &Release<'_>) -> Result<std::path::PathBuf> {
    let root = fresh(release.home.join("stage").join("java"))?;
    let folder = root.join(FOLDER);
    let mut names = Vec::new();
    for platform in release.platforms() {
        let os = match platform.libc {
            Libc::Gnu => "Linux",
            Libc::Musl => "Linux-Musl",
        };
        let name = format!("{os}/{}", platform.arch.name());
        let library = release.libraries(platform)?.shared();
        put(&library, &folder.join(&name), "liborbgate.so")?;
        names.push(format!("{name}/liborbgate.so"));
    }
    fs::write(folder.join("SHA256SUMS"), digests(&folder, &names)?)?;
    put_licences(release.project, &root.join("META-INF"))?;
    Ok(root)
}

fn jna(root: &Path) -> Result<String> {
    let pom = fs::read_to_string(root.join("bindings/java/pom.xml"))?;
    let version = pom.split("<artifactId>jna</artifactId>").nth(1);
    let version = version.and_then(|rest| rest.split("<version>").nth(1));
    let version = version
        .and_then(|rest| rest.split('<').next())
        .unwrap_or_default();
    ensure!(!version.is_empty(), "the pom has no version of JNA");
    Ok(version.to_owned())
}

/// A Maven project depends on it, from a repository in a folder; its Java runs what Maven brings, by both ways in.
pub(super) fn attempt(release: &Release<'_>, clean: &Clean) -> Result<()> {
    let kits = kits()?;
    let version = &release.version;
    let home = fresh(clean.home.join("java"))?;
    let repository = home.join("repository");
    let place = repository.join("io/github/orbgate/orbgate").join(version);
    for end in [".jar", ".pom"] {
        let name = format!("orbgate-{version}{end}");
        put(&release.dist.join("java").join(&name), &place, &name)?;
    }
    let guide = clean.sources.join("java");
    let coordinate = clean.first_block(&guide.join("README.md"), "xml")?;
    let pom = format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>\
        <groupId>a</groupId><artifactId>a</artifactId><version>1</version>\
        <repositories><repository><id>folder</id><url>file://{}</url></repository></repositories>\
        <dependencies>{coordinate}</dependencies></project>",
        repository.display()
    );
    fs::write(home.join("pom.xml"), pom)?;
    // Maven's own plugins are kept; the package is not, or an older one would be taken.
    let kept = release.home.join("maven");
    let own = kept.join("io/github/orbgate");
    if own.exists() {
        fs::remove_dir_all(own)?;
    }
    let maven = clean.with(&format!("JAVA_HOME={}", kits.newest().display()));
    let copy = "mvn --quiet --batch-mode org.apache.maven.plugins:maven-dependency-plugin:3.9.0:copy-dependencies";
    maven
        .words(copy)
        .arg(format!("-Dmaven.repo.local={}", kept.display()))
        .arg("-DoutputDirectory=lib")
        .within(&home)
        .run()?;
    let first = home.join("First.java");
    clean.write_first(&guide.join("README.md"), "java", &first)?;
    // Java runs a source where its package would have it.
    let folder = home.join("io/github/orbgate/conformance");
    let runner = guide.join("conformance").join(RUNNER);
    put(&runner, &folder, RUNNER)?;
    let runner = folder.join(RUNNER);
    for kit in kits.all() {
        let java = |file: &Path| {
            let java = clean.with("").arg(kit.join("bin/java"));
            let java = match kits.is_foreign(kit) {
                true => java.arg("--enable-native-access=ALL-UNNAMED"),
                false => java,
            };
            let java = java.arg("--class-path").arg("lib/*").within(&home);
            java.arg(file)
        };
        clean.prints(&java(&first), FIRST)?;
        clean.conforms(java(&runner))?;
    }
    for arch in release.other_arches() {
        // Its Java has no compiler, and classes are the same everywhere.
        let compile = clean.with("").arg(kits.newest().join("bin/javac"));
        let options = format!("--release {OLDEST} -d classes --class-path lib/*");
        let compile = compile.words(&options).args([&first, &runner]);
        compile.within(&home).run()?;
        let debian = Debian::new(release, arch)?;
        let java = |class: &str| {
            let java = debian.run(clean.with(""), &debian.java());
            let java = java.arg("--class-path").arg("classes:lib/*").arg(class);
            java.within(&home)
        };
        clean.prints(&java("First"), FIRST)?;
        clean.conforms(java("io.github.orbgate.conformance.Conformance"))?;
    }
    Ok(())
}
