//! Parses a property as written in a test file: `CLAIM | CALLERS | CALLS, CALLS`.

use core::str::FromStr;

use orbgate_yaml::quoted;

use super::{Calls, Claim, Property};

/// The valid first words of the second cell.
pub(super) const UNKNOWN_KIND: &str = "callers are `user`, `organisation` or `any`, of any scopes, or of these alone, as in `user read:a`, or of none, as in `user \"\"`";

const FORMAT: &str = "a property is `never`, `only`, `at most N orbs` or `apart`, then ` | CALLERS | CALLS, CALLS`";

impl FromStr for Property {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let cells: Vec<_> = text.split(" | ").map(str::trim).collect();
        let &[claim, callers, calls] = cells.as_slice() else {
            return Err(format!("{FORMAT}, not {}", quoted(text)));
        };
        let calls: Vec<Calls> = calls.split(", ").map(|calls| calls.trim().parse()).collect::<Result<_, _>>()?;
        let claim = match claim {
            "never" => Claim::Never(calls),
            "only" => Claim::Only(calls),
            "apart" => Claim::Apart(calls.try_into().map_err(|calls: Vec<_>| {
                format!("`apart` has calls of two kinds, not of {}: {}", calls.len(), quoted(text))
            })?),
            other => match orbs(other) {
                Some(most) => Claim::OrbsAtMost(most, calls),
                None => return Err(format!("{FORMAT}, not {}", quoted(text))),
            },
        };
        Ok(Self::new(claim, callers.parse()?))
    }
}

/// `at most N orbs`, where N is a decimal number.
fn orbs(claim: &str) -> Option<u64> {
    let number = claim.strip_prefix("at most ")?;
    let number = number.strip_suffix(" orbs").or_else(|| number.strip_suffix(" orb"))?;
    let most: u64 = number.parse().ok()?;
    (most.to_string() == number).then_some(most)
}
