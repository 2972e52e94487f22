//! The properties of a test file: which hold, and the requests that refute the others.

use std::io::{self, Write};

use orbgate::Location;
use orbgate_analysis::{Proved, Witness};
use serde::Serialize;

use super::tested::Tested;
use crate::output::{DENY, one_line};

impl<'a> Tested<'a> {
    pub(crate) fn refuted(&self) -> impl Iterator<Item = &Proved<'a, 'a>> {
        self.properties.iter().filter(|proved| !proved.holds())
    }

    /// Why a property doesn't hold, with one line for each rule of the policy.
    pub(crate) fn against(&self, proved: &Proved<'_, '_>) -> Vec<String> {
        let proof = match &proved.proof {
            Ok(proof) => proof,
            Err(message) => return vec![message.clone()],
        };
        let line = |witness: &Witness<'_>| {
            let rules = witness.requests.iter();
            let locations: Vec<_> = rules.map(|(_, rule)| self.source.at(rule.location())).collect();
            format!("{witness}, by {}", locations.join(" and "))
        };
        proof.witnesses.iter().map(line).collect()
    }
}

pub(super) fn results(out: &mut dyn Write, tested: &Tested<'_>) -> io::Result<()> {
    for proved in tested.refuted() {
        let (file, location) = (one_line(tested.file), proved.stated.location);
        let text = one_line(&proved.stated.text);
        writeln!(out, "{DENY}FAIL{DENY:#} {file}:{location}: {text}")?;
        for line in tested.against(proved) {
            writeln!(out, "  {}", one_line(&line))?;
        }
    }
    Ok(())
}

#[derive(Serialize)]
pub(crate) struct Answer<'a> {
    property: &'a str,
    location: Location,
    holds: bool,
    /// The number of rules of the policy that it applies to; null if it doesn't apply to the
    /// policy.
    rules: Option<usize>,
    /// Why it doesn't apply.
    error: Option<&'a str>,
    /// Why it holds trivially.
    warning: Option<&'a str>,
    witnesses: &'a [Witness<'a>],
}

impl<'a> Answer<'a> {
    pub(super) fn new(proved: &'a Proved<'a, 'a>) -> Self {
        let proof = proved.proof.as_ref();
        Self {
            property: &proved.stated.text,
            location: proved.stated.location,
            holds: proved.holds(),
            rules: proof.ok().map(|proof| proof.rules),
            error: proof.err().map(String::as_str),
            warning: proved.warning(),
            witnesses: proof.map_or(&[], |proof| &proof.witnesses),
        }
    }
}
