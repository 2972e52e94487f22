//! `cargo xtask dist --verify`: the same commit built once more, from a clone in another folder, gives the same bytes.

use std::fs;
use std::os::unix::fs::symlink;

use anyhow::{Result, bail, ensure};

use super::release::{Release, fresh};
use crate::kit::program::Program;

/// Builds with the same words in a clone and compares what both have made.
pub(super) fn run(release: &Release<'_>, words: &[String]) -> Result<()> {
    let root = &release.project.root;
    let clone = std::env::temp_dir().join(format!("orbgate-clone-{}", std::process::id()));
    let clone = fresh(clone)?;
    let git = Program::parse("git clone --quiet").arg(root);
    git.arg(&clone).run()?;
    let checkout = Program::parse("git checkout --quiet --detach").arg(&release.commit);
    checkout.within(&clone).run()?;
    // The tools are the same for both builds.
    let home = clone.join("target").join("xtask").join("dist");
    fs::create_dir_all(&home)?;
    symlink(release.tools(), home.join("tools"))?;

    let own = std::env::current_exe()?;
    let again = Program::at(&own).arg("dist").args(words).within(&clone);
    let target = clone.join("target").display().to_string();
    let built = again.env("CARGO_TARGET_DIR", target).run();
    let compared = built.and_then(|()| {
        let read = |folder: &std::path::Path| fs::read_to_string(folder.join("SHA256SUMS"));
        compare(
            &read(&release.dist)?,
            &read(&clone.join("target").join("dist"))?,
        )
    });
    if compared.is_ok() {
        fs::remove_dir_all(&clone)?;
    }
    compared
}

fn compare(first: &str, second: &str) -> Result<()> {
    let differ: Vec<_> = first
        .lines()
        .filter(|line| !second.lines().any(|other| other == *line))
        .collect();
    if !differ.is_empty() {
        bail!(
            "built twice, these are not the same:\n{}",
            differ.join("\n")
        );
    }
    let count = first.lines().count();
    ensure!(count == second.lines().count(), "one build has more files");
    println!("the same bytes twice: {count} files");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn another_digest_is_another_file() {
        compare("a  x\nb  y\n", "a  x\nb  y\n").unwrap();
        assert!(compare("a  x\nb  y\n", "a  x\nc  y\n").is_err());
        assert!(compare("a  x\n", "a  x\nb  y\n").is_err());
    }
}
