//! What a handler states over the ceiling.

use orbgate_token::NoticeLevel;

use crate::orbs::charge::HoldId;
use crate::orbs::outcome::Settlement;
use crate::orbs::rules::OrbRules;
use crate::orbs::statement::Statement;

/// Orbs that a handler has stated, but that aren't charged: they are over the [ceiling](OrbRules::ceiling).
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a host counts them and logs the statement")]
pub struct Excess {
    /// How many, at least 1.
    pub orbs: u64,
    /// What to log.
    pub statement: Statement,
}

impl OrbRules {
    /// What a settled call has stated over what it is charged. Log and count it: a bug of units looks like this.
    #[must_use]
    pub fn excess(&self, id: HoldId, held: u64, stated: Option<u64>, settlement: Settlement) -> Option<Excess> {
        let (Some(stated), Settlement::Capture(charged)) = (stated, settlement) else {
            return None;
        };
        let orbs = stated.checked_sub(charged).filter(|orbs| *orbs > 0)?;
        let text = format!(
            "a handler has stated {stated} orbs for a hold of {held}: {charged} are charged, because `ceiling` is {}; hold {id}",
            self.ceiling
        );
        Some(Excess { orbs, statement: Statement { level: NoticeLevel::Warning, text } })
    }
}
