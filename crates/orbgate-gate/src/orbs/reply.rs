//! What a ledger service replies, and what has changed about it, in a sentence for the log.

use orbgate_token::NoticeLevel;
use serde::Deserialize;

/// The service's answer. Without one, pass `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "hosts make it")]
pub struct LedgerReply<'r> {
    /// The HTTP status.
    pub status: u16,
    /// The body, of at most [`LedgerReply::MOST_BYTES`] bytes.
    pub body: &'r [u8],
}

impl LedgerReply<'_> {
    /// A longer answer doesn't count.
    pub const MOST_BYTES: usize = 1 << 20;
}

/// What the log knows of a service.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The failure that was logged last: its status and its code. None while the service answers.
    failure: Option<(u16, String)>,
}

/// How many characters of a service's words are logged.
const MOST: usize = 300;

impl Known {
    /// The sentence about an answer, or about why no answer came. A failure that continues is stated once, even if its words change.
    pub(super) fn changes(&mut self, url: &str, reply: Result<LedgerReply<'_>, &str>) -> Option<(NoticeLevel, String)> {
        let (status, code, words) = match reply {
            Err("") => (0, String::new(), "no answer".to_owned()),
            Err(why) => (0, why.to_owned(), format!("{} instead of an answer", line(why))),
            Ok(LedgerReply { status: 401, .. }) => {
                (401, String::new(), "status 401, so its secret is wrong".to_owned())
            }
            Ok(LedgerReply { status: 200, body }) => match undone(body) {
                None => {
                    self.failure.take()?;
                    return Some((NoticeLevel::Info, format!("the ledger {url}: it answers again")));
                }
                Some(Refusal { error, message }) => (200, error, line(&message)),
            },
            Ok(LedgerReply { status, body }) => match read::<Refusal>(body) {
                None => (status, String::new(), format!("status {status}")),
                Some(Refusal { error, message }) => (status, error, format!("status {status}: {}", line(&message))),
            },
        };
        // A hold and a settlement that a store can't do are one failure, although a message of settlements has the status 200.
        let failure = Some((if is_lost(&code) { 503 } else { status }, code));
        let is_new = self.failure != failure;
        self.failure = failure;
        is_new.then(|| (NoticeLevel::Warning, format!("the ledger {url}: {words}")))
    }
}

/// What a service answers to a command that it hasn't done.
#[derive(Deserialize)]
struct Refusal {
    error: String,
    message: String,
}

/// The first of several commands that the service might do later.
fn undone(body: &[u8]) -> Option<Refusal> {
    #[derive(Deserialize)]
    struct Each {
        error: Option<String>,
        message: Option<String>,
    }
    // A receipt has no error, so most answers aren't read here.
    let may_have = body.windows(NAME.len()).any(|word| word == NAME);
    let each = if may_have { read::<Vec<Each>>(body)? } else { return None };
    let each = each.into_iter().find(|each| each.error.as_deref().is_some_and(is_lost))?;
    Some(Refusal { error: each.error?, message: each.message.unwrap_or_default() })
}

const NAME: &[u8] = b"\"error\"";

/// At most so many characters of a message, in one line.
fn line(text: &str) -> String {
    let words: Vec<_> = text.split(|letter: char| letter.is_whitespace() || letter.is_control()).collect();
    let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let words = words.join(" ");
    match words.char_indices().nth(MOST) {
        None => words,
        Some((end, _)) => format!("{}…", words.get(..end).unwrap_or_default()),
    }
}

/// Whether a command with this error might be done later.
pub(super) fn is_lost(error: &str) -> bool {
    matches!(error, "busy" | "clock" | "unknown")
}

pub(super) fn read<'r, T: Deserialize<'r>>(body: &'r [u8]) -> Option<T> {
    if body.len() > LedgerReply::MOST_BYTES {
        return None;
    }
    serde_json::from_slice(body).ok()
}
