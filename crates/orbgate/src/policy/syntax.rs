//! What the YAML parser cannot read, in words that help.

use saphyr_parser::{Marker, ScanError, Span};

use super::faults::quoted;
use crate::terms::Place;

/// The place and the message for a text that is not YAML.
///
/// `last_plain` is the last text without quotes, `open_flow` the start of the innermost collection
/// if it is written in brackets or braces.
pub(super) fn diagnosis(
    error: &ScanError,
    text: &str,
    last_plain: Option<Span>,
    open_flow: Option<Place>,
) -> (Place, String) {
    let at = error.marker();
    if let Some(start) = open_flow {
        if let Some(found) = last_plain.and_then(|plain| unquoted_template(text, &plain, at)) {
            return found;
        }
        let message = format!(
            "{}, within the bracket opened on line {}",
            parser_words(error),
            start.line
        );
        return (place(at), message);
    }
    (place(at), parser_words(error))
}

/// A place as the parser marks it.
pub(super) fn place(marker: &Marker) -> Place {
    Place {
        line: u32::try_from(marker.line()).unwrap_or(u32::MAX),
        column: u32::try_from(marker.col())
            .unwrap_or(u32::MAX)
            .saturating_add(1),
    }
}

/// In flow style an unquoted `{` ends the text before it. People run into this with templates,
/// and the parser's own words do not help them.
fn unquoted_template(text: &str, plain: &Span, at: &Marker) -> Option<(Place, String)> {
    let length = plain.end.index().checked_sub(plain.start.index())?;
    let gap = at.index().checked_sub(plain.end.index())?;
    let mut tail = text.chars().skip(plain.start.index());
    let start: String = tail.by_ref().take(length).collect();
    if !tail.by_ref().take(gap).all(char::is_whitespace) {
        return None;
    }
    // Up to what ends an item in flow style; a brace that was opened belongs to the template.
    let mut braces = 0_u32;
    let rest: String = tail
        .take_while(|c| {
            match c {
                '{' => braces = braces.saturating_add(1),
                '}' if braces == 0 => return false,
                '}' => braces = braces.saturating_sub(1),
                ',' | ']' | '\n' | '\r' | '#' => return false,
                _ => {}
            }
            true
        })
        .collect();
    if !rest.starts_with('{') {
        return None;
    }
    let whole = format!("{start}{rest}");
    let whole = quoted(&format!("'{}'", whole.trim_end()));
    let message = format!("in flow style a template with braces must be quoted: write {whole}");
    Some((place(&plain.start), message))
}

/// The parser's words, quoted as we quote.
fn parser_words(error: &ScanError) -> String {
    let info = error.info().replace("wasn't", "was not").replace('\'', "`");
    format!("not readable as YAML: {info}")
}
