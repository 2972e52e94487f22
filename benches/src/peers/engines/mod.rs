//! The policy engines. They are general languages: any attribute, relation or condition, where orbgate
//! knows one rule. None of them routes a request, so most get the route at no cost (`-routed`): their
//! figures do not include finding the route or reading a token. Orbgate does both.

mod casbin;
pub mod cedar;
pub mod regorus;

use self::casbin::{Casbin, Object};
use self::cedar::{Cedar, Sets};
#[cfg(feature = "routers")]
use self::regorus::RegorusMatchit;
use self::regorus::{Rego, Regorus};
use crate::contest::Add;
use crate::table::Table;

/// Beyond this many routes they take too long to be waited for.
pub const MOST_ROUTES: usize = 10_000;

pub(super) fn add(table: &'static Table, add: &mut Add<'_>) {
    if table.rows.len() >= MOST_ROUTES {
        return;
    }
    add("cedar-routed", &|| Box::new(Cedar::new(table, Sets::One)));
    add("cedar-sliced", &|| Box::new(Cedar::new(table, Sets::Sliced)));
    add("regorus-routed", &|| Box::new(Regorus::new(table, Rego::Routed)));
    #[cfg(feature = "routers")]
    add("regorus-matchit", &|| Box::new(RegorusMatchit::new(table)));
    add("regorus-paths", &|| Box::new(Regorus::new(table, Rego::Paths)));
    add("casbin-routed", &|| Box::new(Casbin::new(table, Object::Route)));
    // A regular expression a rule: 10 ms a request with 1,000 rules.
    if table.rows.len() < 100 {
        add("casbin-paths", &|| Box::new(Casbin::new(table, Object::Path)));
    }
}
