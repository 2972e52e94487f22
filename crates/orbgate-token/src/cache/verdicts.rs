//! The responses of introspection endpoints: claims, never decisions, for a bounded time and in bounded memory.

use core::time::Duration;
use std::sync::Arc;

use crate::claims::Stated;
use crate::error::TokenError;
use crate::generations::{Generations, Mark};

/// How long it is known that a token is refused.
pub(super) const NEGATIVE: Duration = Duration::from_secs(5);

/// How many active tokens of an issuer are known at most, and how many bytes their claims have together.
const ACTIVE: usize = 65_536;
const ACTIVE_BYTES: usize = 64 << 20;

/// How many refused tokens of an issuer are known at most.
const REFUSED: usize = 65_536;

/// What one issuer's endpoint has said, by the SHA-256 of a token.
///
/// Refused tokens are stored separately. Any caller can send them, and they never push out an active one.
#[derive(Debug)]
pub(super) struct Verdicts {
    active: Generations<Arc<Said>>,
    refused: Generations<(Duration, TokenError)>,
}

#[derive(Debug)]
pub(super) struct Said {
    /// When it was asked: what it says cannot be older.
    pub(super) sent: Duration,
    /// The claims, which are checked again at each use.
    pub(super) stated: Stated,
}

impl Verdicts {
    pub(super) fn new(max_cache: Duration) -> Self {
        Self {
            active: Generations::new(max_cache, ACTIVE, ACTIVE_BYTES),
            refused: Generations::new(NEGATIVE, REFUSED, usize::MAX),
        }
    }

    /// What is known of a token: the claims of an active one, and when and why it was refused.
    pub(super) fn get(&mut self, mark: &Mark, now: Duration) -> (Option<Arc<Said>>, Option<(Duration, TokenError)>) {
        self.active.forget(now);
        self.refused.forget(now);
        (self.active.get(mark).cloned(), self.refused.get(mark).copied())
    }

    /// What an endpoint that was asked at this time has said; nothing if it gave no answer.
    pub(super) fn put(&mut self, mark: Mark, sent: Duration, stated: Result<Stated, TokenError>, now: Duration) {
        self.active.forget(now);
        self.refused.forget(now);
        match stated.and_then(Stated::unless_refused) {
            Ok(stated) => {
                // With the hash and the parts of fixed size.
                let bytes = stated.bytes().saturating_add(512);
                let answer = Arc::new(Said { sent, stated });
                self.refused.remove(&mark);
                self.active.put(mark, answer, bytes, now);
            }
            Err(error) => {
                // An endpoint that fails has not said that the token is refused.
                if error != TokenError::Unanswered {
                    self.active.remove(&mark);
                }
                self.refused.put(mark, (sent, error), 0, now);
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.active.clear();
        self.refused.clear();
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::{ACTIVE, Mark, REFUSED, Verdicts};
    use crate::error::TokenError;

    fn mark(number: usize) -> Mark {
        let mut mark = [0; 32];
        mark[..8].copy_from_slice(&number.to_be_bytes());
        mark
    }

    #[test]
    fn refused_tokens_are_bounded() {
        let mut verdicts = Verdicts::new(Duration::from_secs(60));
        for number in 0..3 * REFUSED {
            verdicts.put(mark(number), Duration::ZERO, Err(TokenError::Inactive), Duration::ZERO);
        }
        assert!(verdicts.refused.len() <= REFUSED);
        assert!(verdicts.active.len() <= ACTIVE);
        let (_, latest) = verdicts.get(&mark(3 * REFUSED - 1), Duration::ZERO);
        assert_eq!(latest, Some((Duration::ZERO, TokenError::Inactive)));
    }
}
