//! Everything that a run measured.

use crate::contest::Row;
use crate::load::Load;
use crate::threads::Scaling;

#[derive(Default)]
pub struct Measures {
    /// Routes, templates and scopes of each table.
    pub tables: Vec<(String, [usize; 3])>,
    pub rows: Vec<Row>,
    /// By table.
    pub threads: Vec<(String, Scaling)>,
    /// By table.
    pub loads: Vec<(String, Load)>,
    pub allocations: Vec<Allocations>,
}

pub struct Allocations {
    pub table: String,
    pub stream: String,
    pub contestant: String,
    /// Allocations per request.
    pub each: f64,
}

impl Measures {
    pub fn row(&self, table: &str, stream: &str, contestant: &str) -> Option<&Row> {
        let mut rows = self.rows.iter();
        rows.find(|row| row.table == table && row.stream == stream && row.contestant == contestant)
    }
}
