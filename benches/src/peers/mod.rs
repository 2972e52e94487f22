//! Who takes part. Each file says how its peer is set up and what the peer does more than we do.

#[cfg(feature = "engines")]
pub mod engines;
mod floor;
mod own;
#[cfg(feature = "routers")]
pub(crate) mod routers;

use std::hint::black_box;

use crate::contest::Contestant;
use crate::stream::Ask;
use crate::table::Table;

/// Everybody whose name a filter accepts, set up for a table.
pub fn all(table: &'static Table, wanted: &dyn Fn(&str) -> bool) -> Vec<Box<dyn Contestant>> {
    let mut all: Vec<Box<dyn Contestant>> = Vec::new();
    let mut add = |name: &str, make: &dyn Fn() -> Box<dyn Contestant>| {
        if wanted(name) {
            all.push(make());
        }
    };
    own::add(table, &mut add);
    floor::add(table, &mut add);
    #[cfg(feature = "routers")]
    routers::add(table, &mut add);
    #[cfg(feature = "engines")]
    engines::add(table, &mut add);
    all
}

/// Is this one far slower than the others?
pub fn is_slow(name: &str) -> bool {
    ["cedar", "regorus", "casbin", "actix"].iter().any(|slow| name.starts_with(slow))
}

/// Takes a contestant by name, made only where it is wanted.
type Add<'a> = dyn FnMut(&str, &dyn Fn() -> Box<dyn Contestant>) + 'a;

/// The loop of every pass, compiled into each contestant.
#[inline(always)]
fn pass(asks: &[Ask], is_positive: impl Fn(&Ask) -> bool) -> usize {
    asks.iter().filter(|ask| is_positive(black_box(ask))).count()
}
