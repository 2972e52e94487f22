//! Each crate's tests are one program, so that it is linked once. A file that is in none would never be run.

use std::fs;

use crate::{read, root};

#[test]
fn every_file_of_tests_is_in_a_program() {
    let mut count = 0;
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let package = entry.unwrap().path();
        let manifest = read(&package.join("Cargo.toml"));
        if !manifest.contains("\nautotests = false") {
            continue;
        }
        let tests = package.join("tests");
        let main = read(&tests.join("main.rs"));
        for entry in fs::read_dir(&tests).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            let is_module = main.contains(&format!("\nmod {name};\n"));
            // `openapi/drift.rs` is a module of `openapi.rs`.
            let has_program = name == "main" || manifest.contains(&format!("\nname = \"{name}\"\n"));
            assert!(is_module || has_program, "{} is in no program", path.display());
            count += 1;
        }
    }
    assert!(count >= 50, "{count} files");
}

/// A release's scripts run as a whole only when there is one: at least bash reads them, and each kind is packed and tried.
#[cfg(unix)]
#[test]
fn bash_reads_every_script() {
    use std::collections::BTreeSet;
    use std::process::Command;

    let kinds = |folder: &str| {
        let entries = fs::read_dir(root().join("dist").join(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".sh")).collect()
    };
    let (packed, tried): (BTreeSet<_>, BTreeSet<_>) = (kinds("pack"), kinds("try"));
    assert!(packed.len() >= 10 && packed.is_subset(&tried), "{packed:?} {tried:?}");
    let files = Command::new("git").args(["ls-files", "*.sh"]).current_dir(root()).output();
    let files = String::from_utf8(files.unwrap().stdout).unwrap();
    for file in files.lines() {
        let read = Command::new("bash").args(["-n", file]).current_dir(root()).output();
        let read = read.unwrap();
        assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    }
    assert!(files.lines().count() >= 25, "{files}");
}
