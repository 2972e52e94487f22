//! YAML's end marker, which can contain a seal.
//!
//! ```text
//! orbgate: 1
//! …
//! ... # sha256:<64 hexadecimal digits of everything before this line>
//! ```

use std::borrow::Cow;

use sha2::{Digest as _, Sha256};

use crate::diagnostics::Diagnostics;
use crate::node::Location;

/// The start of a seal, as the comment of the end marker.
const SEAL: &str = "# sha256:";

/// Whether a file that was read without an error ends in YAML's end marker `...`, followed only by blank lines and
/// comments. A file that was cut short doesn't.
#[must_use]
pub fn has_end_marker(bytes: &[u8]) -> bool {
    Marker::find(bytes).is_some()
}

/// Whether a file that was read without an error has a seal in its end marker: the SHA-256 hash of all bytes before
/// the marker's line. A reader rejects a wrong seal, so a seal proves that these bytes are what was sealed.
#[must_use]
pub fn is_sealed(bytes: &[u8]) -> bool {
    Marker::find(bytes).is_some_and(|marker| marker.seal().is_some())
}

/// Whether a file that hasn't been checked yet has a seal that matches its contents, so that it is complete.
#[must_use]
pub fn has_valid_seal(bytes: &[u8]) -> bool {
    Marker::find(bytes).is_some_and(|marker| marker.seal().is_some() && marker.seal_fault().is_none())
}

/// Seals the file's contents, in its end marker or in a new one. A comment on the marker's line moves to the next
/// line.
///
/// ```
/// let sealed = orbgate_yaml::seal("hello: world\n");
/// assert!(sealed.starts_with("hello: world\n... # sha256:8548cc07b038") && sealed.ends_with('\n'));
/// assert!(orbgate_yaml::is_sealed(sealed.as_bytes()));
/// assert_eq!(orbgate_yaml::unseal(&sealed), "hello: world\n...\n");
/// ```
#[must_use]
pub fn seal(text: &str) -> String {
    let text = unseal(text);
    let (before, comment, after) = match Marker::find(text.as_bytes()) {
        Some(marker) => (marker.before, marker.comment(), marker.after),
        None => (text.as_bytes(), "", &b""[..]),
    };
    let mut sealed = String::from_utf8_lossy(before).into_owned();
    if !sealed.is_empty() && !sealed.ends_with(['\n', '\r']) {
        sealed.push('\n');
    }
    let digest = hex(sealed.as_bytes());
    sealed.extend(["... ", SEAL, &digest]);
    if !comment.is_empty() {
        sealed.extend(["\n", comment]);
    }
    if after.is_empty() {
        sealed.push('\n');
    }
    sealed.push_str(&String::from_utf8_lossy(after));
    sealed
}

/// The contents without the seal in the end marker, valid or not.
#[must_use]
pub fn unseal(text: &str) -> Cow<'_, str> {
    let sealed = Marker::find(text.as_bytes()).filter(|marker| marker.seal().is_some());
    let Some(Marker { before, after, .. }) = sealed else {
        return Cow::Borrowed(text);
    };
    let [before, after] = [before, after].map(String::from_utf8_lossy);
    Cow::Owned(format!("{before}...{after}"))
}

/// Rejects a seal that doesn't match the bytes before it.
pub(super) fn check_seal(bytes: &[u8], diagnostics: &mut Diagnostics) {
    let Some(marker) = Marker::find(bytes) else {
        return;
    };
    let Some(message) = marker.seal_fault() else {
        return;
    };
    let column = marker.line.iter().take_while(|byte| **byte != b'#').count();
    let location = Location { line: one_more(breaks(marker.before)), column: one_more(column) };
    diagnostics.push(location, message);
}

/// Rejects an end marker before the document. The marker states that everything before it is complete, and
/// content after a document would be a second document.
pub(super) fn refuse_marker_at_start(text: &str, diagnostics: &mut Diagnostics) {
    let mut line = Location::START.line;
    let mut after_return = false;
    for content in text.split_inclusive(['\n', '\r']) {
        let is_rest_of_break = after_return && content == "\n";
        after_return = content.ends_with('\r');
        if is_rest_of_break {
            continue;
        }
        let trimmed = content.trim_start();
        if is_end_marker(content.as_bytes()) {
            let message = "the end marker `...` must be the last line of the file";
            diagnostics.push(Location { line, column: 1 }, message);
        } else if !trimmed.is_empty() && !trimmed.starts_with(['#', '%']) {
            return;
        }
        line = line.saturating_add(1);
    }
}

/// The line of the end marker, with the bytes before and after it.
#[derive(Clone, Copy)]
struct Marker<'t> {
    before: &'t [u8],
    /// Without its line ending.
    line: &'t [u8],
    /// Its line ending, and blank lines and comments.
    after: &'t [u8],
}

impl<'t> Marker<'t> {
    /// The last line that is neither blank nor a comment, if it is the end marker.
    fn find(bytes: &'t [u8]) -> Option<Self> {
        let mut end = bytes.len();
        for line in bytes.rsplit(|byte| matches!(byte, b'\n' | b'\r')) {
            let start = end.saturating_sub(line.len());
            let content = line.trim_ascii_start();
            if !content.is_empty() && !content.starts_with(b"#") {
                let (before, after) = (bytes.get(..start)?, bytes.get(end..)?);
                let marker = Self { before, line, after };
                return is_end_marker(line).then_some(marker);
            }
            end = start.saturating_sub(1);
        }
        None
    }

    /// The comment on the marker's line, including its `#`; empty if there isn't one.
    fn comment(&self) -> &'t str {
        let comment = self.line.strip_prefix(b"...").unwrap_or_default();
        str::from_utf8(comment.trim_ascii()).unwrap_or_default()
    }

    /// The part of the comment after `sha256:`; `None` if it isn't intended as a seal. Any letter case
    /// and spacing counts.
    fn seal(&self) -> Option<&'t str> {
        let comment = self.comment().strip_prefix('#')?.trim_start();
        let (name, digest) = comment.split_once(':')?;
        let name = name.trim_end();
        name.eq_ignore_ascii_case("sha256").then_some(digest)
    }

    /// What is wrong with its seal.
    fn seal_fault(&self) -> Option<&'static str> {
        let seal = self.seal()?;
        if !(self.comment().starts_with(SEAL) && is_digest(seal)) {
            return Some("a seal is written `... # sha256:` and 64 of the characters `0-9a-f`");
        }
        let message =
            "the seal does not match the text before it: the file is incomplete, or was changed after it was sealed";
        (seal != hex(self.before)).then_some(message)
    }
}

/// Whether a line is `...`, possibly with a comment. In a valid file, such a line is always a marker.
fn is_end_marker(line: &[u8]) -> bool {
    let behind = line.strip_prefix(b"...").map(<[u8]>::first);
    behind.is_some_and(|next| matches!(next, None | Some(b' ' | b'\t' | b'\n' | b'\r')))
}

fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn hex(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The number of line endings: LF, CR LF, and a single CR, as the parser counts them.
fn breaks(text: &[u8]) -> usize {
    let mut breaks = 0_usize;
    let mut after_return = false;
    for byte in text {
        if *byte == b'\r' || *byte == b'\n' && !after_return {
            breaks = breaks.saturating_add(1);
        }
        after_return = *byte == b'\r';
    }
    breaks
}

fn one_more(count: usize) -> u32 {
    u32::try_from(count.saturating_add(1)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Diagnostics, check_seal, has_end_marker, is_sealed, refuse_marker_at_start, seal, unseal};

    fn diagnostics(text: &str) -> Vec<String> {
        let mut diagnostics = Diagnostics::default();
        check_seal(text.as_bytes(), &mut diagnostics);
        diagnostics.into_list().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_seal_is_of_everything_before_its_line() {
        for text in ["a: 1\n", "a: 1", "a: 1\r\nb: 2\r\n", "\u{feff}a: 1\n", "# ä\n\na: |\n  ...\n"] {
            let sealed = seal(text);
            assert!(is_sealed(sealed.as_bytes()) && has_end_marker(sealed.as_bytes()));
            assert_eq!(diagnostics(&sealed), [""; 0], "{sealed}");
            assert_eq!(seal(&sealed), sealed, "sealing again changes nothing");
            let marker = sealed.find("...\u{20}# sha256:").unwrap();
            let broken = |at: usize| {
                let mut bytes = sealed.clone().into_bytes();
                bytes[at] ^= 1;
                String::from_utf8(bytes).map(|broken| diagnostics(&broken)).unwrap_or_default()
            };
            for at in (0..marker).filter(|at| sealed.as_bytes()[*at].is_ascii_graphic()) {
                assert_eq!(broken(at).len(), 1, "{at} {sealed}");
            }
            assert_eq!(broken(marker + "... # sha256:".len()).len(), 1);
        }
    }

    #[test]
    fn a_wrong_seal_is_refused_with_its_location() {
        let wrong = format!("a: 1\r\nb: 2\rc: 3\n...  # sha256:{}\n# end\n", "0".repeat(64));
        assert_eq!(
            diagnostics(&wrong),
            [
                "4:6: the seal does not match the text before it: the file is incomplete, or was changed after it was sealed"
            ]
        );
        let right = seal("a: 1\n");
        let digest = right.trim_end().rsplit(':').next().unwrap().to_owned();
        for comment in [
            format!("# sha256:{}", &digest[1..]),
            format!("# sha256:{digest}0"),
            format!("# sha256:{}", digest.to_uppercase()),
            format!("# sha256: {digest}"),
            format!("#sha256:{digest}"),
            format!("#  sha256:{digest}"),
            format!("# SHA256:{digest}"),
            format!("# sha256 :{digest}"),
            "# sha256:".to_owned(),
        ] {
            let refused = diagnostics(&format!("a: 1\n... {comment}\n"));
            assert_eq!(
                refused,
                ["2:5: a seal is written `... # sha256:` and 64 of the characters `0-9a-f`"],
                "{comment}"
            );
        }
        for other in ["", " # the end", " # of sha256:x", " # sha512:x", " # sha256"] {
            let text = format!("a: 1\n...{other}\n");
            assert_eq!(diagnostics(&text), [""; 0], "{text}");
            assert!(!is_sealed(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn what_is_around_a_marker_stays() {
        let sealed = seal("a: 1\n... # the end\n\n# of it");
        let digest = seal("a: 1\n");
        assert_eq!(sealed, format!("{digest}# the end\n\n# of it"));
        assert_eq!(unseal(&sealed), "a: 1\n...\n# the end\n\n# of it");
        assert_eq!(unseal("a: 1\n... # the end\n"), "a: 1\n... # the end\n");
        assert_eq!(unseal("a: 1\n... # sha256:wrong\n"), "a: 1\n...\n");
    }

    #[test]
    fn markers_at_the_start_are_found_in_linear_time() {
        let mut diagnostics = Diagnostics::default();
        refuse_marker_at_start(&"...\r\n".repeat(1_000_000), &mut diagnostics);
        assert_eq!(diagnostics.into_list().len(), 1_001);
        let mut diagnostics = Diagnostics::default();
        refuse_marker_at_start("# a\r\n# b\r...\na: 1\n...\n", &mut diagnostics);
        let list = diagnostics.into_list();
        assert_eq!(list.len(), 1);
        assert!(list[0].to_string().starts_with("3:1: the end marker"));
    }
}
