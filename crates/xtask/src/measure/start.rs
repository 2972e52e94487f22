//! The built-in engine does no work before the first decision, and none to prepare it.
//!
//! Two programs that differ only in the engine (`start` and `start-without` of benches/) are run to
//! the end under callgrind, from their very first instruction on.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use crate::kit::program::Program;
use crate::kit::project::Project;
use crate::measure::callgrind;

/// Compares the two programs, which are in this directory.
pub(crate) fn check(project: &Project, programs: &Path) -> Result<()> {
    let without = Start::of(project, &programs.join("start-without"))?;
    let with = Start::of(project, &programs.join("start"))?;
    let [more, first, second] = with.costs(&without)?;
    println!(
        "the built-in engine: {more} instructions at a program's start, all of them the loader's for {} pointers; \
         {first} in the first decision, {second} in the next",
        with.pointers.saturating_sub(without.pointers)
    );
    Ok(())
}

/// How a program starts.
#[derive(Debug)]
struct Start {
    /// Instructions of the whole program, with this many decisions.
    totals: [f64; 3],
    /// Bytes of addresses of functions that run before `main`.
    initialisers: u64,
    /// Pointers that the loader has to adjust to the program's address.
    pointers: usize,
}

impl Start {
    fn of(project: &Project, program: &Path) -> Result<Self> {
        let count = |decisions| {
            callgrind::count(project, program, &[decisions], None).map(|(_, total)| total)
        };
        let readelf = |what: &str| {
            let readelf = Program::parse("readelf --wide").arg(what);
            readelf.arg(program.display().to_string()).read()
        };
        Ok(Self {
            totals: [count("0")?, count("1")?, count("2")?],
            initialisers: initialisers(&readelf("--sections")?)?,
            pointers: readelf("--relocs")?.matches("R_X86_64_RELATIVE").count(),
        })
    }

    /// What the first round takes.
    fn first(&self) -> f64 {
        let [none, one, _] = self.totals;
        one - none
    }

    /// What this program takes more at its start, in its first decision, and in its second.
    fn costs(&self, without: &Self) -> Result<[f64; 3]> {
        let ([idle, ..], [none, one, two]) = (without.totals, self.totals);
        let costs = [none - idle, self.first() - without.first(), two - one];
        let [more, first, second] = costs;
        ensure!(
            self.initialisers == without.initialisers,
            "the engine brings a function that runs before `main`"
        );
        ensure!(
            more < second,
            "the engine takes {more} instructions before it is asked, and a decision {second}"
        );
        ensure!(
            first < second * 1.03,
            "the first decision takes {first} instructions, and the next {second}"
        );
        Ok(costs)
    }
}

/// The size of the section `.init_array`, of what `readelf --sections --wide` prints:
/// `[18] .init_array INIT_ARRAY ADDRESS OFFSET SIZE …`.
fn initialisers(sections: &str) -> Result<u64> {
    let Some((_, row)) = sections.split_once(" .init_array ") else {
        return Ok(0);
    };
    let size = row
        .split_whitespace()
        .nth(3)
        .context("no size of `.init_array`")?;
    Ok(u64::from_str_radix(size, 16)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WITHOUT: Start = Start {
        totals: [16_000.0, 16_010.0, 16_020.0],
        initialisers: 8,
        pointers: 559,
    };

    fn with(totals: [f64; 3], initialisers: u64) -> Result<[f64; 3]> {
        let pointers = 585;
        Start {
            totals,
            initialisers,
            pointers,
        }
        .costs(&WITHOUT)
    }

    #[test]
    fn work_at_the_start_or_in_the_first_decision_is_refused() {
        assert!(with([16_300.0, 17_160.0, 18_010.0], 8).is_ok());
        let error = |result: Result<_>| result.unwrap_err().to_string();
        let late = error(with([16_300.0, 20_300.0, 21_150.0], 8));
        assert_eq!(
            late,
            "the first decision takes 3990 instructions, and the next 850"
        );
        let early = error(with([20_300.0, 21_150.0, 22_000.0], 8));
        assert_eq!(
            early,
            "the engine takes 4300 instructions before it is asked, and a decision 850"
        );
        let constructor = error(with([16_300.0, 17_160.0, 18_010.0], 16));
        assert_eq!(
            constructor,
            "the engine brings a function that runs before `main`"
        );
    }

    #[test]
    fn readelf_says_how_many_initialisers_there_are() {
        let row =
            "  [18] .init_array  INIT_ARRAY  0000000000070ad0 06fad0 000010 08  WA  0   0  8\n";
        assert_eq!(initialisers(row).unwrap(), 16);
        assert_eq!(initialisers("  [ 9] .text PROGBITS 0 0 8\n").unwrap(), 0);
    }
}
