//! What isn't tested on this machine.

use std::fs::File;
use std::io::Write as _;

/// Reports something that isn't tested: on standard error, and to `cargo xtask test`, which counts it.
pub fn skipped(what: &str) {
    // Not `eprintln!`: a passing test hides it.
    std::io::stderr().write_all(format!("skipped: {what}\n").as_bytes()).unwrap();
    if let Some(list) = std::env::var_os("ORBGATE_SKIPPED") {
        let mut list = File::options().append(true).open(list).unwrap();
        writeln!(list, "{what}").unwrap();
    }
}

/// Reports a missing tool; in CI that is a failure.
///
/// # Panics
///
/// In CI.
pub fn missing(what: &str) {
    let in_ci = std::env::var("CI").is_ok_and(|ci| !["", "0", "false"].contains(&&*ci));
    assert!(!in_ci, "{what}");
    skipped(what);
}
