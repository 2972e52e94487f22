//! Expresses new contents of a document as the smallest edit of its lines.

use core::ops::Range as Span;

use orbgate_analysis::Text;

/// The bytes to replace, and their replacement; `None` if nothing changes. Line endings in the new contents, which
/// are LF, become those of the old contents, because the editor chooses the line endings.
pub(crate) fn edit(text: &Text, new: &str) -> Option<(Span<usize>, String)> {
    let old = text.as_str();
    let new = match text.newline() {
        "\n" => new.to_owned(),
        newline => new.replace('\n', newline),
    };
    let [old_lines, new_lines] = [old, &new].map(|text| text.split_inclusive('\n'));
    let same = |(one, two): &(&str, &str)| one == two;
    let before: usize = old_lines.clone().zip(new_lines.clone()).take_while(same).map(|(line, _)| line.len()).sum();
    let (old_rest, new_rest) = (old.get(before..)?, new.get(before..)?);
    let [old_lines, new_lines] = [old_rest, new_rest].map(|text| text.split_inclusive('\n').rev());
    let behind: usize = old_lines.zip(new_lines).take_while(same).map(|(line, _)| line.len()).sum();
    let changed = new_rest.get(..new_rest.len().checked_sub(behind)?)?;
    let end = old.len().checked_sub(behind)?;
    (before < end || !changed.is_empty()).then(|| (before..end, changed.to_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::edit;
    use orbgate_analysis::Text;

    fn applied(old: &str, new: &str) -> String {
        let mut text = old.to_owned();
        if let Some((span, changed)) = edit(&Text::new(old.to_owned()), new) {
            text.replace_range(span, &changed);
        }
        text
    }

    #[test]
    fn only_the_lines_that_change_are_in_it() {
        let change = edit(&Text::new("a\nb \nc\n".to_owned()), "a\nb\nc\n");
        assert_eq!(change, Some((2..5, "b\n".to_owned())));
        assert_eq!(edit(&Text::new("a\r\nb\r\n".to_owned()), "a\nb\n"), None);
        assert_eq!(applied("a\r\n  b\r\n", "a\nb\n"), "a\r\nb\r\n");
    }

    proptest! {
        #[test]
        fn it_makes_the_new_text(old in "([ab ]{0,2}\n){0,6}[ab]{0,1}", new in "([ab ]{0,2}\n){0,6}") {
            prop_assert_eq!(applied(&old, &new), new);
        }
    }
}
