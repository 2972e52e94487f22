//! Which files are read as policies, and how much of them.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use orbgate::Policy;
use orbgate::policy::PolicyFile;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn a_regular_file_is_read_with_its_time() {
    let path = file("small.yaml");
    fs::write(&path, "orbgate: 1\napis: {}\n").unwrap();
    let read = PolicyFile::read(&path).unwrap();
    assert_eq!(read.bytes(), b"orbgate: 1\napis: {}\n");
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    assert_eq!(read.modified(), Some(modified));
    assert_eq!(read.clone().into_bytes(), read.bytes());
}

#[test]
fn of_a_large_file_no_more_is_read_than_shows_that_it_is_too_large() {
    let path = file("large.yaml");
    let large = fs::File::create(&path).unwrap();
    large.set_len(Policy::MAX_BYTES * 4).unwrap();
    let read = PolicyFile::read(&path).unwrap();
    let length = u64::try_from(read.bytes().len()).unwrap();
    assert_eq!(length, Policy::MAX_BYTES + 1);
    let error = Policy::from_bytes(read.bytes()).unwrap_err();
    assert!(error.to_string().contains(&Policy::MAX_BYTES.to_string()), "{error}");
    // `main` shows it so, where it is returned with `?`.
    assert_eq!(format!("{error:?}"), error.to_string());
}

#[test]
fn a_file_that_is_not_there_says_so() {
    let error = PolicyFile::read(file("none.yaml")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

/// A pipe would make its reader wait, and a device may have no end.
#[cfg(unix)]
#[test]
fn only_a_regular_file_is_read() {
    let pipe = file("pipe.yaml");
    let _ = fs::remove_file(&pipe);
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let link = file("link.yaml");
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(&pipe, &link).unwrap();
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for path in [&pipe, &link, directory, Path::new("/dev/zero")] {
        let error = PolicyFile::read(path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{}", path.display());
    }
}
