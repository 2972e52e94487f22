//! Node: the package, and for each platform a package with the library; npm installs the one that fits.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use super::artefact::Artefact;
use super::debian::Debian;
use super::platform::{Arch, Libc, Platform};
use super::release::{Release, fresh, put, put_licences};
use super::trial::{Clean, FIRST};
use crate::kit::outcome::missing;
use crate::kit::program::Program;
use crate::language::node::{self, MODULE};
use crate::language::wasm;

/// What the package needs of npm's registry.
const KOFFI: &str = "pkg:npm/koffi";

/// The oldest Node that the package is for.
const OLDEST: u32 = 20;

pub(super) fn set_up() -> Result<()> {
    node::missing().map_or(Ok(()), |what| Err(missing(what)))
}

pub(super) fn build(release: &Release<'_>) -> Result<Vec<Artefact>> {
    let mut artefacts = Vec::new();
    for platform in release.platforms() {
        let stage = release.stage("node")?;
        library(release, platform, &stage)?;
        let file = pack(release, &stage, &format!("orbgate-{}", name(platform)))?;
        artefacts.push(Artefact::new(file, "orbgate-capi", [platform.target()]));
    }
    let stage = release.stage("node")?;
    node::copy(&release.project.root.join("bindings").join("node"), &stage)?;
    let module = wasm::build(release.project)?.map_err(missing)?;
    put(&module, &stage, MODULE)?;
    let manifest = stage.join("package.json");
    let text = fs::read_to_string(&manifest)?;
    fs::write(&manifest, with_platforms(&text, &release.version)?)?;
    let file = pack(release, &stage, "orbgate")?;
    let mut package = Artefact::new(file, "orbgate-capi", [wasm::TARGET.to_owned()]);
    package.needs = vec![format!("{KOFFI}@{}", locked(&stage, "koffi")?)];
    artefacts.push(package);
    Ok(artefacts)
}

/// `linux-x64-gnu`, in the scope `@orbgate`.
fn name(platform: Platform) -> String {
    format!("linux-{}-{}", platform.arch.node(), platform.libc.name())
}

/// The package of a platform's library: npm leaves it out elsewhere.
fn library(release: &Release<'_>, platform: Platform, stage: &Path) -> Result<()> {
    let libc = match platform.libc {
        Libc::Gnu => "glibc",
        Libc::Musl => "musl",
    };
    let platform_name = name(platform);
    let manifest = json!({
        "name": format!("@orbgate/{platform_name}"),
        "version": release.version,
        "description": format!("The library of the package orbgate for {platform_name}"),
        "license": "MIT OR Apache-2.0",
        "repository": { "type": "git", "url": "git+https://github.com/orbgate/orbgate.git" },
        "os": ["linux"],
        "cpu": [platform.arch.node()],
        "libc": [libc],
        "files": ["liborbgate.so", "LICENSE-*"],
        "preferUnplugged": true,
    });
    let text = serde_json::to_string_pretty(&manifest)?;
    fs::write(stage.join("package.json"), format!("{text}\n"))?;
    let about = format!(
        "The library of the package `orbgate` for {platform_name}. Install `orbgate`, which brings it.\n"
    );
    fs::write(stage.join("README.md"), about)?;
    put_licences(release.project, stage)?;
    put(
        &release.libraries(platform)?.shared(),
        stage,
        "liborbgate.so",
    )
}

/// The package's manifest with the platforms: a machine takes its own one, and a machine of another platform takes none.
fn with_platforms(manifest: &str, version: &str) -> Result<String> {
    let (before, behind) = manifest
        .split_once("  \"optionalDependencies\": {\n")
        .context("package.json has no optional dependencies")?;
    let platforms = Arch::ALL
        .iter()
        .flat_map(|arch| Libc::ALL.map(|libc| arch.with(libc)));
    let lines: Vec<_> = platforms
        .map(|platform| format!("    \"@orbgate/{}\": \"{version}\"", name(platform)))
        .collect();
    let lines = lines.join(",\n");
    Ok(format!(
        "{before}  \"optionalDependencies\": {{\n{lines},\n{behind}"
    ))
}

fn pack(release: &Release<'_>, stage: &Path, name: &str) -> Result<PathBuf> {
    let folder = release.folder("node")?;
    let pack =
        Program::parse("npm pack --silent --ignore-scripts").path("--pack-destination", &folder);
    pack.within(stage).run()?;
    let file = folder.join(format!("{name}-{}.tgz", release.version));
    ensure!(file.exists(), "npm made no {}", file.display());
    Ok(file)
}

/// The version that the lock file has of a package.
fn locked(stage: &Path, name: &str) -> Result<String> {
    let lock = fs::read_to_string(stage.join("package-lock.json"))?;
    let lock: serde_json::Value = serde_json::from_str(&lock)?;
    let version = lock.pointer(&format!("/packages/node_modules~1{name}/version"));
    let version = version.and_then(|version| version.as_str());
    Ok(version
        .context("no such package in package-lock.json")?
        .to_owned())
}

/// In a new project, from the packed files: no script runs, and nothing is built. Then once more without optional packages, so the
/// library is WebAssembly, as on every other platform; and then for other processors.
pub(super) fn attempt(release: &Release<'_>, clean: &Clean) -> Result<()> {
    let own = format!("orbgate-{}", name(Arch::HOST.with(Libc::Gnu)));
    let node = || clean.program("node");
    let project = install(release, clean, &["orbgate", &own], "")?;
    run(clean, &project, node)?;
    let project = install(release, clean, &["orbgate"], "--omit=optional")?;
    run(clean, &project, node)?;
    for arch in release.other_arches() {
        let debian = Debian::new(release, arch)?;
        let own = format!("orbgate-{}", name(arch.with(Libc::Gnu)));
        // Forced, because npm installs a package for another processor only if it is optional.
        let options = format!("--force --os=linux --libc=glibc --cpu={}", arch.node());
        let project = install(release, clean, &["orbgate", &own], &options)?;
        let node = node_for(release, arch)?;
        run(clean, &project, || debian.run(clean.with(""), &node))?;
    }
    Ok(())
}

/// npm has Node itself for each processor.
fn node_for(release: &Release<'_>, arch: Arch) -> Result<PathBuf> {
    let home = release.home.join(format!("node-{}", arch.node()));
    let node = home.join("package/bin/node");
    if !node.exists() {
        let home = fresh(home)?;
        let pack = Program::parse("npm pack --silent").within(&home);
        pack.arg(format!("node-linux-{}@{OLDEST}", arch.node()))
            .run()?;
        let file = fs::read_dir(&home)?.flatten().next();
        let file = file.context("npm has packed nothing")?.file_name();
        Program::parse("tar --extract --file")
            .arg(file)
            .within(&home)
            .run()?;
    }
    Ok(node)
}

fn install(
    release: &Release<'_>,
    clean: &Clean,
    packages: &[&str],
    options: &str,
) -> Result<PathBuf> {
    let folder = release.dist.join("node");
    let project = fresh(clean.home.join("node"))?;
    fs::write(project.join("package.json"), "{ \"private\": true }\n")?;
    let install = "npm install --ignore-scripts --no-audit --no-fund --prefer-offline";
    let install = clean.program(&format!("{install} {options}"));
    let archive = |name| folder.join(format!("{name}-{}.tgz", release.version));
    let install = install.args(packages.iter().map(archive));
    install.within(&project).run()?;
    Ok(project)
}

/// The guide's first example and all cases.
fn run(clean: &Clean, project: &Path, node: impl Fn() -> Program) -> Result<()> {
    let guide = clean.sources.join("node");
    let node = |file: &Path| node().arg(file).within(project);
    let first = project.join("first.mjs");
    clean.write_first(&guide.join("README.md"), "js", &first)?;
    clean.prints(&node(&first), FIRST)?;
    let runner = project.join("conformance.js");
    fs::copy(guide.join("conformance/conformance.js"), &runner)?;
    clean.conforms(node(&runner))
}

#[cfg(test)]
mod tests {
    use super::{OLDEST, with_platforms};

    #[test]
    fn the_packed_manifest_names_every_platform() {
        let manifest = include_str!("../../../../../bindings/node/package.json");
        let packed = with_platforms(manifest, "0.1.0").unwrap();
        let packed: serde_json::Value = serde_json::from_str(&packed).unwrap();
        let platforms = packed["optionalDependencies"].as_object().unwrap();
        let names: Vec<_> = platforms.keys().map(String::as_str).collect();
        let expected = ["arm64-gnu", "arm64-musl", "x64-gnu", "x64-musl"];
        let mut expected = expected
            .map(|name| format!("@orbgate/linux-{name}"))
            .to_vec();
        expected.push("koffi".to_owned());
        assert_eq!(names, expected);
        assert!(packed["dependencies"].is_null());
        assert_eq!(packed["engines"]["node"], format!(">={OLDEST}"));
    }
}
