//! The files that a gateway is told about: regular ones, of a size that one of them may have.

use std::io;
use std::path::Path;

use orbgate::policy::{Policy, PolicyFile};

/// What is in a file. A pipe would let its reader wait for ever, and a log that is named by mistake would take all memory.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let bytes = PolicyFile::read(path)?.into_bytes();
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= Policy::MAX_BYTES) {
        return Ok(bytes);
    }
    let message = format!("it has more than {} bytes", Policy::MAX_BYTES);
    Err(io::Error::new(io::ErrorKind::InvalidData, message))
}

/// The same as text.
pub(crate) fn text(path: &Path) -> io::Result<String> {
    let text = String::from_utf8(read(path)?);
    text.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::path::Path;

    use orbgate::policy::Policy;

    use super::{read, text};

    #[test]
    fn a_file_is_a_regular_one_of_a_size() {
        let folder = std::env::temp_dir().join(format!("orbgate-files-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("file");
        for (length, is_read) in [
            (0, true),
            (Policy::MAX_BYTES, true),
            (Policy::MAX_BYTES + 1, false),
        ] {
            File::create(&path).unwrap().set_len(length).unwrap();
            assert_eq!(read(&path).is_ok(), is_read, "{length}");
        }
        std::fs::write(&path, b"a\xff").unwrap();
        assert_eq!(read(&path).unwrap(), b"a\xff");
        assert!(text(&path).is_err());
        for path in [
            folder.as_path(),
            Path::new("/dev/zero"),
            &folder.join("none"),
        ] {
            assert!(read(path).is_err(), "{path:?}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
