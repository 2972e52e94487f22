//! Path parameters whose values seem to have several segments.

use orbgate_yaml::{Content, Node, quoted};

use crate::node::{NoteKind, get, word};
use crate::security::Remark;

/// The remark that a parameter of the path seems to take several segments. The lists are those of the operation and of its
/// path item.
pub(super) fn several_segments(lists: [Option<&Node<'_>>; 2], path: &str) -> Option<Remark> {
    let segments: Vec<_> = path.split('/').collect();
    let parameters = lists.into_iter().flatten().flat_map(|list| match &list.kind {
        Content::Sequence(items) => items.as_slice(),
        _ => &[],
    });
    parameters.filter(|parameter| get(parameter, "in").and_then(word) == Some("path")).find_map(|parameter| {
        let name = get(parameter, "name").and_then(word)?;
        let place = segments.iter().position(|segment| {
            let inner = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
            inner == Some(name)
        })?;
        let pattern = get(parameter, "schema").and_then(|schema| get(schema, "pattern"));
        let pattern = pattern.or_else(|| get(parameter, "pattern")).and_then(word).filter(|text| has_slash(text));
        let description = || form(get(parameter, "description").and_then(word)?, &segments, place);
        let shown = pattern.or_else(description)?;
        let message = format!(
            "parameter {} seems to take several segments, such as {}, and a policy's parameter takes one: such calls are denied",
            quoted(name),
            quoted(shown)
        );
        Some(Remark { kind: NoteKind::MultiSegment, message, subject: Some(String::new()) })
    })
}

/// Whether a regular expression shows a slash, other than as a character that it excludes, or as its delimiters.
fn has_slash(pattern: &str) -> bool {
    let inner = pattern.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')).unwrap_or(pattern);
    let (mut is_excluded, mut is_class) = (false, false);
    let mut characters = inner.chars().peekable();
    let mut has_slash = false;
    while let Some(character) = characters.next() {
        match character {
            '/' if !is_excluded => has_slash = true,
            '\\' if characters.next() == Some('/') && !is_excluded => has_slash = true,
            '[' if !is_class => {
                is_class = true;
                is_excluded = characters.peek() == Some(&'^');
            }
            ']' => (is_class, is_excluded) = (false, false),
            _ => {}
        }
    }
    // What must not follow isn't a part of the value.
    has_slash && !inner.contains("(?!")
}

/// A form such as `projects/{project}` in a description: a word and a placeholder, or two placeholders. A word that is in the
/// path itself only describes the path.
fn form<'t>(description: &'t str, path: &[&str], place: usize) -> Option<&'t str> {
    let ends = |c: char| c.is_whitespace() || "`'\"(),;=".contains(c);
    let words = description.split(ends).map(|word| word.trim_matches(['.', ':']));
    let mut forms = words.filter(|word| word.contains('/') && !word.contains("//") && !word.contains(['<', '>']));
    forms.find(|form| {
        // Other operations have such paths, too, unless it is the whole path.
        if form.starts_with('/') && place > 1 {
            return false;
        }
        let segments: Vec<_> = form.split('/').filter(|segment| !segment.is_empty()).collect();
        segments.windows(2).any(|pair| match *pair {
            [one, other] if is_placeholder(other) => {
                let is_word = one.starts_with(|c: char| c.is_ascii_lowercase()) && !path.contains(&one);
                is_word || (one.starts_with('{') && other.starts_with('{'))
            }
            _ => false,
        })
    })
}

/// A segment that stands for another one: `{x}`, `[X]`, `*` or `PROJECT_ID`.
fn is_placeholder(segment: &str) -> bool {
    let is_upper = |byte: u8| byte.is_ascii_uppercase() || byte == b'_' || byte == b'-';
    segment.starts_with(['{', '[', '*']) || (segment.len() > 2 && segment.bytes().all(is_upper))
}

#[cfg(test)]
mod tests {
    use super::{form, has_slash};

    #[test]
    fn patterns_show_a_slash() {
        for (pattern, expected) in [
            ("^projects/[^/]+$", true),
            ("^projects\\/[^/]+$", true),
            ("[a-z/]+", true),
            ("^[^/]+$", false),
            ("^[A-Za-z0-9_][^<>*#.%&:\\\\+?/]*$", false),
            ("/^[a-z]+$/", false),
            ("^(?!.*/).+$", false),
            ("[", false),
            ("\\", false),
            ("/", true),
            ("", false),
        ] {
            assert_eq!(has_slash(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn descriptions_show_a_form() {
        let path = ["", "v1", "items", "{name}"];
        for (description, place, expected) in [
            ("Required. Format: `projects/{project}/topics/{topic}`.", 3, Some("projects/{project}/topics/{topic}")),
            ("The name, like projects/*.", 3, Some("projects/*")),
            (
                "Format: \"organizations/[ORGANIZATION_ID]/settings\"",
                3,
                Some("organizations/[ORGANIZATION_ID]/settings"),
            ),
            ("For example: `projects/PROJECT_ID`", 3, Some("projects/PROJECT_ID")),
            ("{bucket}/{object}", 3, Some("{bucket}/{object}")),
            ("The form is /subscriptions/{guid}/x", 1, Some("/subscriptions/{guid}/x")),
            ("As GET /users/{id} returns it", 3, None),
            ("One of items/{name}", 3, None),
            ("(MCAS/WDATP), stripe/itunes, and/or, https://a.example/{x}, a</b>", 3, None),
        ] {
            assert_eq!(form(description, &path, place), expected, "{description}");
        }
    }
}
