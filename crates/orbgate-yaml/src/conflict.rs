//! Names the markers of a merge conflict, which otherwise cause errors elsewhere.

use crate::lines::with_line_feeds;
use crate::{Diagnostics, Location};

/// Replaces the errors in a file by those of its conflict markers, if it has any. No value of a mapping begins at the first
/// column, so they aren't part of one.
pub(super) fn name_markers(text: &str, diagnostics: &mut Diagnostics) {
    if diagnostics.is_empty() {
        return;
    }
    let mut is_in_conflict = false;
    let mut markers = Diagnostics::default();
    let text = with_line_feeds(text.strip_prefix('\u{feff}').unwrap_or(text));
    for (line, text) in (1..).zip(text.lines()) {
        let starts =
            |marker: &str| text.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        let begins = starts("<<<<<<<");
        let is_marker = begins || starts("|||||||") || starts("=======") || starts(">>>>>>>");
        if is_marker && (begins || !is_in_conflict) {
            let marker: String = text.chars().take(7).collect();
            let message =
                format!("`{marker}` is a marker of a merge conflict: keep one version, and delete the markers");
            markers.push(Location { line, column: 1 }, message);
        }
        is_in_conflict = begins || (is_in_conflict && !starts(">>>>>>>"));
    }
    if !markers.is_empty() {
        *diagnostics = markers;
    }
}

#[cfg(test)]
mod tests {
    use super::name_markers;
    use crate::{Diagnostics, Location};

    fn lines(text: &str) -> Vec<u32> {
        let mut diagnostics = Diagnostics::default();
        diagnostics.push(Location::START, "another");
        name_markers(text, &mut diagnostics);
        let list = diagnostics.into_list();
        let of_markers = list.iter().filter(|diagnostic| diagnostic.message.contains("merge conflict"));
        of_markers.map(|diagnostic| diagnostic.location.line).collect()
    }

    #[test]
    fn each_conflict_is_named_once_and_each_marker_that_is_left_behind() {
        assert_eq!(lines("a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\n"), [2]);
        assert_eq!(lines("<<<<<<<\r\n||||||| base\r\n=======\r\n>>>>>>> x\r\n<<<<<<< HEAD\r\n"), [1, 5]);
        assert_eq!(lines("a\n=======\nc\n>>>>>>> x\n"), [2, 4]);
        assert_eq!(lines("a\n <<<<<<< HEAD\n# =======\n<<<<<<<<\n<<: a\n========\n"), [0; 0]);
        let mut none = Diagnostics::default();
        name_markers("<<<<<<< HEAD", &mut none);
        assert!(none.is_empty());
    }
}
