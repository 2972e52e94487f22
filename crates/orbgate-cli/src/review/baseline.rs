//! Finds new findings: those that occur more often than in the old policy, on any line.

use std::collections::HashMap;

use orbgate_analysis::{Code, Finding};

/// The findings that the old policy doesn't have.
pub(crate) fn new<'a>(
    old: impl Iterator<Item = &'a Finding>,
    new: impl Iterator<Item = &'a Finding>,
) -> Vec<&'a Finding> {
    let mut known: HashMap<_, usize> = HashMap::new();
    for finding in old {
        let times = known.entry(key(finding)).or_default();
        *times = times.saturating_add(1);
    }
    let is_new = |finding: &&Finding| match known.get_mut(&key(finding)) {
        Some(times) if *times > 0 => {
            *times = times.saturating_sub(1);
            false
        }
        _ => true,
    };
    new.filter(is_new).collect()
}

/// The contents of a finding without line numbers.
fn key(finding: &Finding) -> (Code, String) {
    let mut parts = finding.message.split("line ");
    let mut message = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        message.push_str("line ");
        message.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    (finding.code, message)
}
