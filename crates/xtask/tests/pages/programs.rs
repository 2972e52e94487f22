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

/// What a script of the steps sets a variable to.
fn set(name: &str) -> String {
    let script = read(&root().join("crates/xtask/src/steps/library.sh"));
    let (_, value) = script.split_once(&format!("\n{name}=")).unwrap();
    value.lines().next().unwrap().trim_matches('"').to_owned()
}

/// The system libraries that Rust reports for the library. Go's linker adds the C library, and the unwinder has the
/// name that also exists for fully static programs.
#[test]
fn the_go_package_links_what_the_library_needs() {
    let code = read(&root().join("bindings/go/orbgate/link_static.go"));
    let needed = set("SYSTEM_LIBRARIES").replace("-lgcc_s", "-lgcc_eh");
    let needed = needed.strip_suffix(" -lc").unwrap();
    assert!(code.contains(&format!("#cgo LDFLAGS: {needed}\n")));
}

/// The soname is that of the ABI, in the steps, in cargo-c's settings and in the header.
#[test]
fn the_soname_is_the_abis() {
    let header = read(&root().join("bindings/c/include/orbgate.h"));
    let stated = |name: &str| {
        let (_, rest) = header.split_once(&format!("#define {name} ")).unwrap();
        rest.lines().next().unwrap()
    };
    let (major, minor) = (stated("ORBGATE_ABI_MAJOR"), stated("ORBGATE_ABI_MINOR"));
    assert_eq!(set("SONAME"), format!("liborbgate.so.{major}"));
    let manifest = read(&root().join("crates/orbgate-capi/Cargo.toml"));
    let version = format!("version = \"{major}.{minor}.0\" # that of the ABI");
    assert!(manifest.contains(&version), "{version}");
}
