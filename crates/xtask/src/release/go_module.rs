//! The Go module as its users get it, and the step `go-module`: what they do with it, `go get` and nothing else.
//!
//! Go takes what git has, and git has no engine: so the tag `bindings/go/vVERSION` is on a commit of its own, the release's with the
//! engines. Go itself makes the files of a module proxy from that tag.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::kit::outcome::{StepResult, step};
use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::language::go::{self, MODULE};
use crate::language::go_engines;
use crate::release::go_user::{Native, REPOSITORY, Users};

/// The module's folder in the repository.
const FOLDER: &str = "bindings/go";

/// A clone of the repository, in which the commit is made.
#[derive(Debug)]
pub(crate) struct Tagged {
    home: PathBuf,
    repository: PathBuf,
    version: String,
    tag: String,
}

impl Tagged {
    /// Tags a commit: a release's commit, with the module's folder as it is in `tree`. The same files give the same commit.
    pub(crate) fn new(
        repository: &Path,
        release: &str,
        version: &str,
        tree: &Path,
        home: &Path,
    ) -> Result<Self> {
        let tagged = Self {
            home: home.to_owned(),
            repository: home.join("repository.git"),
            version: format!("v{version}"),
            tag: format!("{FOLDER}/v{version}"),
        };
        let clone = Program::parse("git clone --quiet --bare").arg(repository);
        clone.arg(&tagged.repository).run()?;
        tagged.git("read-tree").arg(release).run()?;
        let add = tagged.git("--work-tree=. add --force --all").arg(FOLDER);
        add.within(tree).run()?;
        let written = tagged.git("write-tree").read()?;
        let author = tagged.git("log -1 --format=%an%n%ae%n%aD").arg(release);
        let author = author.read()?;
        let mut commit = tagged.git("commit-tree -p").args([release, "-m"]);
        commit = commit.arg(format!("The Go module v{version} with its engines"));
        for (field, value) in ["NAME", "EMAIL", "DATE"].into_iter().zip(author.lines()) {
            commit = commit.env(&format!("GIT_AUTHOR_{field}"), value);
            commit = commit.env(&format!("GIT_COMMITTER_{field}"), value);
        }
        let commit = commit.arg(written.trim()).read()?;
        tagged.git("tag").args([&tagged.tag, commit.trim()]).run()?;
        Ok(tagged)
    }

    fn git(&self, words: &str) -> Program {
        let index = self.home.join("index").display().to_string();
        let git = Program::parse("git").path("--git-dir", &self.repository);
        git.env("GIT_INDEX_FILE", index).words(words)
    }

    /// Fails if the module differs from the release's in more than the generated files. Links have become files: Go leaves links out.
    pub(crate) fn ensure_only_made(&self, release: &str) -> Result<()> {
        let differ = self.git("diff --name-status --diff-filter=MD");
        let differ = differ.args([release, &self.tag]).read()?;
        ensure!(differ.is_empty(), "not packed from {release}:\n{differ}");
        Ok(())
    }

    /// A file from which `git fetch` takes the tag, where the release's commit is.
    pub(crate) fn bundle(&self, release: &str, file: &Path) -> Result<()> {
        // Nothing is found out anew by chance: the same objects give the same bytes.
        let bundle = self.git("-c pack.threads=1 -c pack.window=0 bundle create --quiet");
        let bundle = bundle.arg(file).arg(format!("refs/tags/{}", self.tag));
        bundle.arg(format!("^{release}")).run()
    }

    /// Has Go make the files of a module proxy: `go get` with `GOPROXY=file://FOLDER` has the module from there. Gives them, the archive
    /// first.
    pub(crate) fn write_proxy(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let cache = self.home.join("modules");
        let repository = self.repository.display();
        Program::parse("go mod download -modcacherw")
            .arg(format!("{MODULE}@{}", self.version))
            .env("GOWORK", "off")
            .env("GOPROXY", "direct")
            .env("GOPRIVATE", MODULE)
            .env("GOMODCACHE", cache.display().to_string())
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", format!("url.{repository}.insteadOf"))
            .env("GIT_CONFIG_VALUE_0", REPOSITORY)
            .within(&self.home)
            .run()?;
        let made = cache.join("cache/download").join(MODULE).join("@v");
        let place = folder.join(MODULE).join("@v");
        fs::create_dir_all(&place)?;
        let ends = [".zip", ".mod", ".info"].map(|end| format!("{}{end}", self.version));
        let files = ends.into_iter().chain(["list".to_owned()]);
        let put = |name: String| {
            let file = place.join(&name);
            fs::copy(made.join(&name), &file).context(name)?;
            Ok(file)
        };
        files.map(put).collect()
    }
}

/// The step: makes a proxy of the module as it is here, with this machine's library, and tries it.
pub(crate) fn run(project: &Project) -> Result<StepResult> {
    step(|| {
        go::set_up(project)?.needed()?;
        let home = project.target.join("xtask").join("go-module");
        if home.exists() {
            writable(&home)?;
            fs::remove_dir_all(&home)?;
        }
        let module = home.join("tree").join(FOLDER);
        fs::create_dir_all(&module)?;
        let copy = Program::parse("cp --recursive --dereference");
        let copy = copy.arg(project.root.join(FOLDER).join("."));
        copy.arg(&module).run()?;
        let version = project.core()?.version.to_string();
        let tree = home.join("tree");
        let tagged = Tagged::new(&project.root, "HEAD", &version, &tree, &home)?;
        let proxy = home.join("proxy");
        let files = tagged.write_proxy(&proxy)?;
        let archive = files.first().context("no archive")?;
        println!(
            "the module's archive: {} bytes",
            fs::metadata(archive)?.len()
        );
        let users = Users::new(project, &proxy, &home)?;
        users.without_compiler()?;
        match go_engines::processor() {
            Some(processor) => users.with_compiler(&Native::own(processor)),
            None => Ok(()),
        }
    })
}

/// Go makes what it has downloaded read-only.
pub(crate) fn writable(home: &Path) -> Result<()> {
    Program::parse("chmod -R u+w").arg(home).run()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn git(repository: &Path, words: &str) -> String {
        let git = Program::parse("git -c user.name=a -c user.email=a@b").within(repository);
        git.words(words).read().unwrap()
    }

    /// A repository with a release, and, next to it, the module as it was packed: with an engine, and the licence as a file.
    fn repository(home: &Path) -> (PathBuf, PathBuf) {
        let (repository, packed) = (home.join("repository"), home.join("packed"));
        let (module, made) = (repository.join(FOLDER), packed.join(FOLDER));
        for folder in [&module, &made] {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join("go.mod"), "module a\n").unwrap();
        }
        fs::write(repository.join("LICENSE"), "may\n").unwrap();
        fs::write(repository.join(".gitignore"), "*.wasm\n").unwrap();
        symlink("../../LICENSE", module.join("LICENSE")).unwrap();
        git(&repository, "init --quiet");
        git(&repository, "add --all");
        git(&repository, "commit --quiet --message=release");
        fs::write(made.join("LICENSE"), "may\n").unwrap();
        fs::write(made.join("a.wasm"), "").unwrap();
        (repository, packed)
    }

    #[test]
    fn the_tag_has_what_was_packed_and_is_fetched_from_a_file() {
        let home = tempfile::tempdir().unwrap();
        let (repository, packed) = repository(home.path());
        let bundles = ["first", "second"].map(|name| {
            let home = home.path().join(name);
            let tagged = Tagged::new(&repository, "HEAD", "1.0.0", &packed, &home).unwrap();
            tagged.ensure_only_made("HEAD").unwrap();
            let bundle = home.join("a.bundle");
            tagged.bundle("HEAD", &bundle).unwrap();
            bundle
        });
        let [first, second] = bundles.each_ref().map(|bundle| fs::read(bundle).unwrap());
        assert!(first == second, "the same bytes twice");
        let fetch = format!(
            "fetch --quiet {} refs/tags/*:refs/tags/*",
            bundles[0].display()
        );
        git(&repository, &fetch);
        let changed = git(&repository, "diff --name-status HEAD bindings/go/v1.0.0");
        assert_eq!(changed, "T\tbindings/go/LICENSE\nA\tbindings/go/a.wasm\n");
        assert_eq!(git(&repository, "status --porcelain"), "");
    }

    #[test]
    fn what_was_packed_from_another_commit_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let (repository, packed) = repository(home.path());
        fs::write(packed.join(FOLDER).join("go.mod"), "module b\n").unwrap();
        fs::remove_file(packed.join(FOLDER).join("LICENSE")).unwrap();
        let own = home.path().join("own");
        let tagged = Tagged::new(&repository, "HEAD", "1.0.0", &packed, &own).unwrap();
        let refused = tagged.ensure_only_made("HEAD").unwrap_err();
        let expected = "not packed from HEAD:\nD\tbindings/go/LICENSE\nM\tbindings/go/go.mod\n";
        assert_eq!(refused.to_string(), expected);
    }
}
