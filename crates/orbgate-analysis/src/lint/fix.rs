//! Fixes that need no human decision. Each is tested before it is offered.
//!
//! Suppressing a finding isn't one of them, because that needs a reason, which only a person can
//! give.

use core::ops::Range as Span;

use orbgate::Policy;

use super::code::Mend;
use super::finding::Finding;
use super::run::lint;
use crate::text::Text;

/// The maximum number of findings for which fixes are tested.
const TRIED: usize = 8;

/// An edit of a policy file that removes a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Fix<'f> {
    /// The finding.
    pub finding: &'f Finding,
    /// The change in the imperative, with input in backticks.
    pub title: String,
    /// The bytes of the file that the edit replaces.
    pub span: Span<usize>,
    /// Their replacement.
    pub new: String,
}

/// The fixes of findings in a file, in the order of the findings. With the edit, the policy remains valid and no longer has
/// the finding.
///
/// Testing a fix takes as long as [`lint`] on the file, so only the first 8 findings with a fix get one.
///
/// ```
/// use orbgate::Policy;
/// use orbgate_analysis::{Text, fixes, lint};
///
/// let text = "orbgate: 1\napis: { a: { base_path: '', scopes: { s: { permits: x, orbs: true, routes: [] } } } }\n";
/// let found = lint(&Policy::from_yaml(text).unwrap(), text);
/// let fixes = fixes(&Text::new(text.to_owned()), &found.list);
/// assert_eq!(fixes[0].title, "End the file in `...`");
/// ```
pub fn fixes<'f>(text: &Text, findings: impl IntoIterator<Item = &'f Finding>) -> Vec<Fix<'f>> {
    let fixes = findings.into_iter().filter_map(|finding| fix(finding, text));
    fixes.take(TRIED).filter(|fix| fix.mends(text)).collect()
}

fn fix<'f>(finding: &'f Finding, text: &Text) -> Option<Fix<'f>> {
    if finding.suppressed.is_some() {
        return None;
    }
    let (title, (span, new)) = match finding.code.mend()? {
        Mend::EndMarker => ("End the file in `...`".to_owned(), end_marker(text)),
        Mend::Suppression => {
            let comment = text.byte_at(finding.location);
            ("Remove the suppression".to_owned(), (without_comment(comment, text), String::new()))
        }
        Mend::Parameters => {
            let span = text.word(finding.location);
            let new = with_parameters(text.slice(span.clone()));
            (format!("Write `{new}`"), (span, new))
        }
    };
    Some(Fix { finding, title, span, new })
}

/// The end marker on its own line, after everything else. It is inserted before the last line ending, because
/// some editors have no line after it.
fn end_marker(text: &Text) -> (Span<usize>, String) {
    let newline = text.newline();
    let whole = text.as_str();
    match whole.strip_suffix(newline) {
        Some(before) => (before.len()..before.len(), format!("{newline}...")),
        None => (whole.len()..whole.len(), format!("{newline}...{newline}")),
    }
}

/// A comment with the blanks before it, or the whole line if it contains only the comment.
fn without_comment(comment: usize, text: &Text) -> Span<usize> {
    let before = text.slice(0..comment);
    let trimmed = before.trim_end_matches([' ', '\t']).len();
    let behind = text.as_str().get(comment..).unwrap_or_default();
    let length = behind.find(['\n', '\r']).unwrap_or(behind.len());
    let end = comment.saturating_add(length);
    let alone = trimmed == 0 || text.slice(0..trimmed).ends_with(['\n', '\r']);
    let rest = text.as_str().get(end..).unwrap_or_default();
    let newline = ["\r\n", "\n", "\r"].into_iter();
    let newline = newline.filter(|newline| rest.starts_with(newline)).map(str::len).next();
    match newline {
        Some(newline) if alone => trimmed..end.saturating_add(newline),
        _ => trimmed..end,
    }
}

/// A route with `{id}` in place of `:id`.
fn with_parameters(route: &str) -> String {
    let mut segments = route.split('/');
    let mut new = segments.next().unwrap_or_default().to_owned();
    for segment in segments {
        new.push('/');
        // A quote can follow it.
        let name = segment.trim_end_matches(['"', '\'']);
        match name.strip_prefix(':') {
            Some(parameter) => {
                let behind = segment.get(name.len()..).unwrap_or_default();
                new.extend(["{", parameter, "}", behind]);
            }
            None => new.push_str(segment),
        }
    }
    new
}

impl Fix<'_> {
    /// Whether the edit removes the finding and the policy remains valid.
    fn mends(&self, text: &Text) -> bool {
        let mut new = text.as_str().to_owned();
        new.replace_range(self.span.clone(), &self.new);
        let Ok(policy) = Policy::from_yaml(&new) else {
            return false;
        };
        let same = |other: &Finding| {
            let about = (other.code, other.location);
            about == (self.finding.code, self.finding.location) && other.suppressed.is_none()
        };
        !lint(&policy, &new).list.iter().any(same)
    }
}

#[cfg(test)]
mod tests {
    use orbgate::Policy;

    use super::fixes;
    use crate::lint::lint;
    use crate::text::Text;

    /// The contents after each fix, with the fixes' titles.
    fn fixed(text: &str) -> Vec<(String, String)> {
        let findings = lint(&Policy::from_yaml(text).unwrap(), text);
        let fixes = fixes(&Text::new(text.to_owned()), &findings.list);
        let apply = |fix: &super::Fix<'_>| {
            let mut text = text.to_owned();
            text.replace_range(fix.span.clone(), &fix.new);
            (fix.title.clone(), text)
        };
        fixes.iter().map(apply).collect()
    }

    const POLICY: &str = "orbgate: 1\napis:\n  a:\n    base_path: /v1\n    scopes:\n      s:\n        permits: x\n        orbs: false\n        routes:\n          - GET /a\n";

    #[test]
    fn the_end_marker_is_added() {
        let title = "End the file in `...`".to_owned();
        assert_eq!(fixed(POLICY), [(title.clone(), format!("{POLICY}...\n"))]);
        let crlf = POLICY.replace('\n', "\r\n");
        assert_eq!(fixed(&crlf), [(title.clone(), format!("{crlf}...\r\n"))]);
        let open = POLICY.trim_end();
        assert_eq!(fixed(open), [(title, format!("{open}\n...\n"))]);
    }

    #[test]
    fn a_suppression_of_nothing_is_removed() {
        let whole = format!("{POLICY}...\n");
        let title = "Remove the suppression".to_owned();
        let behind = whole.replace("GET /a\n", "GET /a  # orbgate-lint: allow overlap: why\n");
        assert_eq!(fixed(&behind), [(title.clone(), whole.clone())]);
        let before = whole.replace("        orbs", "        # orbgate-lint: allow overlap: why\n        orbs");
        assert_eq!(fixed(&before), [(title.clone(), whole.clone())]);
        let crlf = before.replace('\n', "\r\n");
        assert_eq!(fixed(&crlf), [(title, whole.replace('\n', "\r\n"))]);
    }

    #[test]
    fn a_parameter_of_another_format_is_written_as_one() {
        let whole = format!("{POLICY}...\n");
        let [with, mended] = [":b/c/:d", "{b}/c/{d}"].map(|path| whole.replace("/a", &format!("/a/{path}")));
        let title = "Write `GET /a/{b}/c/{d}`".to_owned();
        // Each of the two has a finding.
        assert_eq!(fixed(&with)[0], (title, mended));
        let quoted = whole.replace("GET /a", "'GET /:b'");
        assert_eq!(fixed(&quoted)[0].0, "Write `'GET /{b}'`");
        for not_offered in [
            // Braces without quotes are a mapping there.
            whole.replace("\n          - GET /a", " [GET /:b]"),
            // A literal that is neither a route nor a name.
            whole.replace("/v1", "/:v1"),
            whole.replace("/a", "/:7"),
        ] {
            assert_eq!(fixed(&not_offered), [], "{not_offered}");
        }
    }
}
