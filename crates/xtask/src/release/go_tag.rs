//! `cargo xtask go-tag`: the commit that Go takes a release from. Go takes what git has, and git has no engine: so the tag
//! `bindings/go/vVERSION` is on a commit of its own, the release's with what `cargo xtask dist go` has packed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde_json::Value;

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::language::go::MODULE;
use crate::release::go_module;

/// The module's folder in the repository.
const FOLDER: &str = "bindings/go";

#[derive(Debug, Args)]
pub(crate) struct GoTag {
    /// What `cargo xtask dist` has made
    #[arg(default_value = "target/dist")]
    dist: PathBuf,
}

impl GoTag {
    pub(crate) fn run(&self, project: &Project) -> Result<()> {
        let home = project.target.join("xtask").join("go-tag");
        let tag = tag(&project.root, &self.dist, &home)?;
        println!("tagged; to publish it: git push origin {tag}");
        Ok(())
    }
}

/// Tags the commit in a repository. `home` is a folder for what is in between, made anew.
pub(crate) fn tag(repository: &Path, dist: &Path, home: &Path) -> Result<String> {
    let manifest = fs::read_to_string(dist.join("manifest.json"))
        .with_context(|| format!("{} has no manifest.json", dist.display()))?;
    let manifest: Value = serde_json::from_str(&manifest)?;
    let stated = |name: &str| manifest.get(name).and_then(Value::as_str);
    let (version, release) = stated("version")
        .zip(stated("commit"))
        .context("manifest.json states no version and no commit")?;
    let version = format!("v{version}");

    if home.exists() {
        fs::remove_dir_all(home)?;
    }
    let unpacked = home.join("unpacked");
    fs::create_dir_all(&unpacked)?;
    Program::parse("python3 -m zipfile --extract")
        .arg(
            go_module::archive(&dist.join("go"), &version)
                .display()
                .to_string(),
        )
        .arg(unpacked.display().to_string())
        .run()?;
    let tree = home.join("tree");
    fs::create_dir_all(tree.join("bindings"))?;
    let module = unpacked.join(format!("{MODULE}@{version}"));
    fs::rename(module, tree.join(FOLDER))?;

    let made = commit(repository, release, &tree, &version)?;
    let tag = format!("{FOLDER}/{version}");
    let git = Program::parse("git tag").arg(&tag).arg(made);
    git.within(repository).run()?;
    Ok(tag)
}

/// Makes the commit, from a folder that has the module's, without the repository's work tree and index. The same module gives the same
/// commit. One that was packed from another commit than the release's is refused.
fn commit(repository: &Path, release: &str, tree: &Path, version: &str) -> Result<String> {
    let directory = Program::parse("git rev-parse --absolute-git-dir").within(repository);
    let directory = directory.read()?;
    let git = |words: &str| {
        let git = Program::parse("git --work-tree=.").within(tree);
        let git = git.arg(format!("--git-dir={}", directory.trim()));
        let index = tree.with_extension("index");
        let git = git.env("GIT_INDEX_FILE", index.display().to_string());
        words.split(' ').fold(git, Program::arg)
    };
    git("read-tree").arg(release).run()?;
    git("add --force --all").arg(FOLDER).run()?;
    // What is made is new, and links have become files: Go leaves links out. Nothing else differs.
    let differ = git("diff --cached --name-status --diff-filter=MD").arg(release);
    let differ = differ.read()?;
    ensure!(differ.is_empty(), "not packed from {release}:\n{differ}");

    let written = git("write-tree").read()?;
    let author = git("log -1 --format=%an%n%ae%n%aD").arg(release).read()?;
    let mut lines = author.lines();
    let mut line = || lines.next().unwrap_or_default();
    let (name, mail, date) = (line(), line(), line());
    let commit = git("commit-tree -p").arg(release).arg("-m");
    let commit = commit.arg(format!("The Go module {version} with its engines"));
    let commit = commit.arg(written.trim());
    let people = ["AUTHOR", "COMMITTER"].into_iter();
    let commit = people.fold(commit, |commit, person| {
        commit
            .env(&format!("GIT_{person}_NAME"), name)
            .env(&format!("GIT_{person}_EMAIL"), mail)
            .env(&format!("GIT_{person}_DATE"), date)
    });
    Ok(commit.read()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::commit;
    use crate::kit::program::Program;

    fn git(repository: &Path, words: &str) -> String {
        let git = Program::parse("git -c user.name=a -c user.email=a@b").within(repository);
        words.split(' ').fold(git, Program::arg).read().unwrap()
    }

    /// A repository with a release, and its module as it was packed: with an engine, and the licence as a file.
    fn repository(home: &Path) {
        let module = home.join("bindings/go");
        fs::create_dir_all(&module).unwrap();
        fs::write(home.join("LICENSE"), "may\n").unwrap();
        fs::write(home.join(".gitignore"), "*.wasm\n/packed*\n").unwrap();
        symlink("../../LICENSE", module.join("LICENSE")).unwrap();
        fs::write(module.join("go.mod"), "module a\n").unwrap();
        git(home, "init --quiet");
        git(home, "add --all");
        git(home, "commit --quiet --message=release");
        let packed = home.join("packed/bindings/go");
        fs::create_dir_all(&packed).unwrap();
        for (name, text) in [
            ("LICENSE", "may\n"),
            ("go.mod", "module a\n"),
            ("a.wasm", ""),
        ] {
            fs::write(packed.join(name), text).unwrap();
        }
    }

    #[test]
    fn the_commit_has_what_was_packed_and_the_work_tree_stays() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        repository(home);
        let made = || commit(home, "HEAD", &home.join("packed"), "v1.0.0").unwrap();
        let first = made();
        assert_eq!(first, made(), "the same commit twice");
        let changed = git(home, &format!("diff --name-status HEAD {first}"));
        assert_eq!(changed, "T\tbindings/go/LICENSE\nA\tbindings/go/a.wasm\n");
        assert_eq!(git(home, "status --porcelain"), "");
    }

    #[test]
    fn what_was_packed_from_another_commit_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        repository(home);
        let module = home.join("packed/bindings/go");
        fs::write(module.join("go.mod"), "module b\n").unwrap();
        fs::remove_file(module.join("LICENSE")).unwrap();
        let refused = commit(home, "HEAD", &home.join("packed"), "v1.0.0").unwrap_err();
        let expected = "not packed from HEAD:\nD\tbindings/go/LICENSE\nM\tbindings/go/go.mod\n";
        assert_eq!(refused.to_string(), expected);
    }
}
