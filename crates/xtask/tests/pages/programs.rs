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
            let has_program =
                name == "main" || manifest.contains(&format!("\nname = \"{name}\"\n"));
            assert!(
                is_module || has_program,
                "{} is in no program",
                path.display()
            );
            count += 1;
        }
    }
    assert!(count >= 50, "{count} files");
}
