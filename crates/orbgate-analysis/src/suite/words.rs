//! The words of a test file for the expected decision.

use orbgate::{Detail, Effect, Reason};
use orbgate_yaml::{Diagnostics, quoted};

use super::expected::{Expected, ExpectedOrbs};

/// `allow` or `deny`, a reason, a status, a detail and, for an allow, the orbs that it consumes and `bonus`.
pub(super) fn expected(
    (text, location): (&str, orbgate_yaml::Location),
    diagnostics: &mut Diagnostics,
) -> Option<Expected> {
    let mut expected = Expected::default();
    let mut allow = None;
    for word in text.split_whitespace() {
        // Each word may occur once, and must not contradict another.
        let is_new = match Word::new(word, allow) {
            Some(Word::Decision(is)) => agrees(&mut allow, is),
            Some(Word::Reason(reason)) => {
                agrees(&mut allow, reason.status().is_none()) && expected.reason.replace(reason).is_none()
            }
            Some(Word::Status(status)) => agrees(&mut allow, false) && expected.status.replace(status).is_none(),
            Some(Word::Detail(detail)) => agrees(&mut allow, false) && expected.detail.replace(detail).is_none(),
            Some(Word::Orbs(orbs)) => agrees(&mut allow, true) && expected.orbs.replace(orbs).is_none(),
            Some(Word::Bonus(bonus)) => agrees(&mut allow, true) && expected.bonus.replace(bonus).is_none(),
            None => {
                diagnostics.push_new(location, unknown_word(word));
                return None;
            }
        };
        let reason = expected.detail.map(|_| Reason::MalformedRequest).or(expected.reason);
        let has_status = |status| reason.is_none_or(|reason| reason.status() == Some(status));
        if !is_new || !expected.status.is_none_or(has_status) {
            let message = format!("{} contradicts what comes before it in {}", quoted(word), quoted(text));
            diagnostics.push_new(location, message);
            return None;
        }
    }
    let has_decision = allow.is_some();
    expected.allow = allow.unwrap_or_default();
    if expected.detail.is_some() && expected.reason.is_some_and(|reason| reason != Reason::MalformedRequest) {
        let message = format!("only `malformed_request` has a detail, in {}", quoted(text));
        diagnostics.push_new(location, message);
        return None;
    }
    if !has_decision {
        let message = "what is expected must be said: `allow`, `deny`, a reason or a status";
        diagnostics.push_new(location, message);
    }
    has_decision.then_some(expected)
}

fn agrees(allow: &mut Option<bool>, is: bool) -> bool {
    *allow.get_or_insert(is) == is
}

enum Word {
    Decision(bool),
    Reason(Reason),
    Status(u16),
    Detail(Detail),
    Orbs(ExpectedOrbs),
    Bonus(bool),
}

impl Word {
    /// A number is an amount of orbs after `allow`, and otherwise a status if a denial can have it.
    fn new(word: &str, allow: Option<bool>) -> Option<Self> {
        let effect = Effect::ALL.into_iter().find(|effect| effect.as_str() == word);
        let reason = reasons().find(|reason| reason.as_str() == word);
        let detail = details().find(|detail| detail.as_str() == word);
        Some(match word {
            "free" => Self::Orbs(ExpectedOrbs::Free),
            "unstated" => Self::Orbs(ExpectedOrbs::Unstated),
            "unknown" => Self::Orbs(ExpectedOrbs::Unknown),
            "bonus" => Self::Bonus(true),
            "no_bonus" => Self::Bonus(false),
            _ => match (effect, reason, detail) {
                (Some(effect), ..) => Self::Decision(effect == Effect::Allow),
                (_, Some(reason), _) => Self::Reason(reason),
                (.., Some(detail)) => Self::Detail(detail),
                (None, None, None) => match status(word).filter(|_| allow != Some(true)) {
                    Some(status) => Self::Status(status),
                    None => Self::Orbs(ExpectedOrbs::Amount(amount(word)?)),
                },
            },
        })
    }
}

/// The reasons that an engine returns.
fn reasons() -> impl Iterator<Item = Reason> {
    Reason::ALL.into_iter().filter(|reason| reason.is_of_engines())
}

/// The details that an engine returns. A suite tests only engines.
fn details() -> impl Iterator<Item = Detail> {
    Detail::ALL.into_iter().filter(|detail| detail.is_of_target())
}

/// The status of a denial.
fn status(word: &str) -> Option<u16> {
    let all = Reason::ALL.into_iter().filter_map(Reason::status);
    all.into_iter().find(|status| status.to_string() == word)
}

/// A decimal number without a sign or leading zeros.
fn amount(word: &str) -> Option<u64> {
    let amount: u64 = word.parse().ok()?;
    (amount.to_string() == word && amount > 0).then_some(amount)
}

fn unknown_word(word: &str) -> String {
    if let Some(reason) = Reason::ALL.into_iter().find(|reason| reason.as_str() == word) {
        let instead = match reason.of_engine() {
            other if other == reason => String::new(),
            other => format!("; an engine gives `{other}` instead"),
        };
        return format!("only gates give the reason `{word}`, and a test asks an engine{instead}");
    }
    let words = ["free", "unstated", "unknown", "bonus", "no_bonus"];
    let known = Effect::ALL
        .map(Effect::as_str)
        .into_iter()
        .chain(words)
        .chain(reasons().map(Reason::as_str))
        .chain(details().map(Detail::as_str));
    // A word far longer than any known word isn't a misspelling, and comparing it must cost
    // nothing.
    let known = known.filter(|_| word.len() <= 32);
    let near = known.min_by_key(|known| strsim::damerau_levenshtein(known, word));
    let near = near.filter(|near| strsim::damerau_levenshtein(near, word) <= 2);
    let advice = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    format!(
        "unknown word {}: what is expected is `allow`, `deny`, a reason, a status, a detail, `free`, `unstated`, `unknown`, \
         an amount of orbs, `bonus` or `no_bonus`{advice}",
        quoted(word)
    )
}
