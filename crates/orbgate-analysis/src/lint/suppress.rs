//! Comments in a policy that suppress findings, with a reason.
//!
//! `# orbgate-lint: allow CODE: REASON` follows the code that it applies to, or is on a line of its own
//! before it. `# orbgate-lint: allow-file CODE: REASON` applies to the whole file.

use orbgate::Location;
use orbgate::sorted::sort_by_key;

use super::code::Code;
use super::finding::Finding;
use super::texts::{MARK, Texts};

/// A comment that suppresses findings with one code.
struct Suppression<'t> {
    location: Location,
    code: Code,
    reason: &'t str,
    /// The line that it applies to; `None` for the whole file.
    line: Option<u32>,
    used: bool,
}

/// Marks the findings that comments suppress, and adds findings about invalid comments. Codes in `cut` have
/// missing findings; a code that is allowed for the whole file is removed from `cut`.
pub(super) fn apply(text: &str, findings: &mut Vec<Finding>, cut: &mut Vec<Code>) {
    if !text.contains(MARK) {
        return;
    }
    // A byte-order mark isn't part of the first line. Lines end as in YAML: LF, CR LF, or a single CR.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let (mut suppressions, wrong) = read(&text);
    for finding in findings.iter_mut() {
        let about = |suppression: &&mut Suppression<'_>| {
            suppression.code == finding.code && suppression.line.is_none_or(|line| line == finding.location.line)
        };
        if let Some(suppression) = suppressions.iter_mut().find(about) {
            suppression.used = true;
            finding.suppressed = Some(suppression.reason.to_owned());
        }
    }
    // An unused suppression might apply to a missing finding.
    let unused = suppressions.iter().filter(|suppression| !suppression.used && !cut.contains(&suppression.code));
    let unused = unused.map(|suppression| {
        let message = format!("there is no `{}` to suppress", suppression.code);
        Finding::new(Code::UnusedSuppression, suppression.location, None, message)
    });
    findings.extend(unused);
    let whole_file = |code: &Code| {
        let mut suppressions = suppressions.iter();
        suppressions.any(|suppression| suppression.code == *code && suppression.line.is_none())
    };
    cut.retain(|code| !whole_file(code));
    findings.extend(wrong);
    sort_by_key(findings, |finding| finding.location);
}

fn read(text: &str) -> (Vec<Suppression<'_>>, Vec<Finding>) {
    let (mut suppressions, mut wrong) = (Vec::new(), Vec::new());
    // Comments on lines of their own, until the line that they apply to.
    let mut pending: Vec<usize> = Vec::new();
    let mut texts = Texts::of(text);
    for (line, number) in text.lines().zip(1_u32..) {
        let blank = line.trim_start();
        let own_line = blank.is_empty() || blank.starts_with('#');
        if !own_line {
            for at in pending.drain(..) {
                if let Some(suppression) = suppressions.get_mut(at) {
                    let suppression: &mut Suppression<'_> = suppression;
                    suppression.line = Some(number);
                }
            }
        }
        let Some((location, comment)) = comment(line, number, &mut texts) else {
            continue;
        };
        match parse(comment) {
            Err(message) => wrong.push(Finding::new(Code::BadSuppression, location, None, message)),
            Ok((whole_file, code, reason)) => {
                if own_line && !whole_file {
                    pending.push(suppressions.len());
                }
                suppressions.push(Suppression {
                    location,
                    code,
                    reason,
                    line: (!whole_file).then_some(number),
                    used: false,
                });
            }
        }
    }
    (suppressions, wrong)
}

/// The string after the first mark on a line that starts a comment, and the mark's location.
fn comment<'t>(line: &'t str, number: u32, texts: &mut Texts) -> Option<(Location, &'t str)> {
    let (mut column, mut counted) = (1_usize, 0);
    let mut marks = line.match_indices(MARK);
    marks.find_map(|(at, mark)| {
        column = column.saturating_add(line.get(counted..at)?.chars().count());
        counted = at;
        let location = Location { line: number, column: u32::try_from(column).unwrap_or(u32::MAX) };
        let (before, rest) = line.split_at_checked(at)?;
        // A `#` within a word doesn't start a comment.
        let is_word = !before.is_empty() && !before.ends_with([' ', '\t']);
        let is_comment = !texts.hold(location, before) && !is_word;
        is_comment.then_some((location, rest.strip_prefix(mark)?))
    })
}

/// Whether it applies to the whole file, the code, and the reason.
fn parse(comment: &str) -> Result<(bool, Code, &str), String> {
    const FORM: &str = "a suppression is `# orbgate-lint: allow CODE: REASON`, or `allow-file`";
    let (verb, rest) = comment.trim().split_once(' ').ok_or(FORM)?;
    let whole_file = match verb {
        "allow" => false,
        "allow-file" => true,
        _ => return Err(FORM.to_owned()),
    };
    let (name, reason) = rest.split_once(':').unwrap_or((rest, ""));
    let (name, reason) = (name.trim(), reason.trim());
    let Some(code) = Code::from_name(name) else {
        let near = Code::ALL.into_iter().min_by_key(|code| strsim::osa_distance(code.as_str(), &shortened(name)));
        let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        return Err(format!("there is no code `{}`{near}", shortened(name)));
    };
    if code.about_suppressions() {
        return Err(format!("`{code}` cannot be suppressed"));
    }
    if reason.is_empty() {
        return Err(format!("a suppression says why: `allow {code}: REASON`"));
    }
    Ok((whole_file, code, reason))
}

/// A word, shortened so that it can be compared and shown.
fn shortened(word: &str) -> String {
    word.chars().take(40).collect()
}
