//! Reads the files in a gateway's configuration: regular files, up to a maximum size.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use orbgate::policy::{Policy, PolicyFile};

/// The contents of a file. Reading a pipe could block for ever, and a log that is named by mistake would use all
/// memory.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let bytes = PolicyFile::read(path)?.into_bytes();
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= Policy::MAX_BYTES) {
        return Ok(bytes);
    }
    let message = format!("it has more than {} bytes", Policy::MAX_BYTES);
    Err(io::Error::new(io::ErrorKind::InvalidData, message))
}

pub(crate) fn text(path: &Path) -> io::Result<String> {
    let text = String::from_utf8(read(path)?);
    text.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
}

/// How a file marks its end. A half-written file has no mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ending {
    /// With YAML's end marker.
    pub(crate) marked: bool,
    /// With a marker that has a seal. The file's reader rejects a wrong seal.
    pub(crate) sealed: bool,
}

impl Ending {
    pub(crate) fn of(text: &[u8]) -> Self {
        Self { marked: orbgate_yaml::has_end_marker(text), sealed: orbgate_yaml::is_sealed(text) }
    }

    /// Checks how a version ends, compared with the previous version.
    pub(crate) const fn error_after(self, former: Self, require_seal: bool) -> Option<&'static str> {
        if (require_seal || former.sealed) && !self.sealed {
            return Some("it does not end in a line `... # sha256:…`: `orbgate fmt --seal` writes it");
        }
        if former.marked && !self.marked {
            return Some("it does not end in a line `...`, as the version before it does");
        }
        None
    }
}

/// Replaces a file atomically and durably. After a crash, it has either the old or the new contents.
pub(crate) fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = File::create(&beside)?;
    file.write_all(text)?;
    file.sync_all()?;
    fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::path::Path;

    use orbgate::policy::Policy;

    use super::{Ending, read, replace, text};

    #[test]
    fn a_version_ends_as_the_one_before_it_does() {
        let ends = |text: &str| Ending::of(text.as_bytes());
        let [bare, marked] = ["a: 1\n", "a: 1\n...\n"].map(ends);
        let sealed = ends(&orbgate_yaml::seal("a: 1\n"));
        let table = [
            (bare, bare, false, true),
            (bare, marked, false, true),
            (marked, bare, false, false),
            (marked, sealed, false, true),
            (sealed, marked, false, false),
            (sealed, bare, false, false),
            (Ending::default(), bare, true, false),
            (Ending::default(), marked, true, false),
            (Ending::default(), sealed, true, true),
        ];
        for (former, new, require_seal, is_taken) in table {
            let error = new.error_after(former, require_seal);
            assert_eq!(error.is_none(), is_taken, "{former:?} {new:?}");
        }
    }

    #[test]
    fn a_file_is_a_regular_one_of_a_size() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let path = folder.join("file");
        for (length, is_read) in [(0, true), (Policy::MAX_BYTES, true), (Policy::MAX_BYTES + 1, false)] {
            File::create(&path).unwrap().set_len(length).unwrap();
            assert_eq!(read(&path).is_ok(), is_read, "{length}");
        }
        replace(&path, b"a\xff").unwrap();
        assert_eq!(read(&path).unwrap(), b"a\xff");
        assert!(text(&path).is_err());
        for path in [folder, Path::new("/dev/zero"), &folder.join("none")] {
            assert!(read(path).is_err(), "{path:?}");
        }
    }
}
