//! Who takes part. Each file says how its peer is set up and what the peer does more than we do.

#[cfg(feature = "engines")]
pub mod engines;
mod floor;
mod own;
#[cfg(feature = "routers")]
pub(crate) mod routers;

use crate::contest::Contestant;
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
