//! Errors that scripts plant. Whether a test finds each takes long, so `cargo xtask assure ledger` does that.

use std::process::Command;

/// A line that no longer changes its file ends the script that plants it.
#[test]
fn each_error_can_still_be_planted() {
    let scripts = [include_str!("plant.sh"), include_str!("../crash/bugs.sh")];
    let is_planted = |line: &&str| ["rule '", "bug '"].iter().any(|start| line.starts_with(start));
    let lines: Vec<_> = scripts.iter().flat_map(|script| script.lines()).filter(is_planted).collect();
    let plant =
        "same=; bug() { rule \"$@\"; }; rule() { ! sed \"$3\" \"src/$2\" | cmp -s - \"src/$2\" || echo \"$1\"; }";
    let script = format!("{plant}\n{}", lines.join("\n"));
    let output = Command::new("sh").args(["-c", &script]).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "", "can't be planted");
    assert!(output.status.success() && lines.len() > 60, "{lines:?}");
}
