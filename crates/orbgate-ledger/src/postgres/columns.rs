//! Columns of rows, as PostgreSQL returns them.

use tokio_postgres::Row;

use crate::columns::Columns;

/// A row that the ledger can't have written.
#[derive(Debug)]
pub(crate) struct Strange;

impl Columns for Row {
    type Error = Strange;

    fn integer(&self, index: usize) -> Result<Option<i64>, Strange> {
        self.try_get(index).map_err(|_| Strange)
    }

    fn text(&self, index: usize) -> Result<&str, Strange> {
        self.try_get(index).map_err(|_| Strange)
    }

    fn flag(&self, index: usize) -> Result<bool, Strange> {
        self.try_get(index).map_err(|_| Strange)
    }

    fn wrong(_: usize) -> Strange {
        Strange
    }
}

/// Columns as strings, in an array, so that one function can return rows of several kinds.
pub(crate) type Strings<'r> = Vec<Option<&'r str>>;

impl Columns for Strings<'_> {
    type Error = Strange;

    fn integer(&self, index: usize) -> Result<Option<i64>, Strange> {
        let text = self.get(index).ok_or(Strange)?;
        text.map(|text| text.parse().map_err(|_| Strange)).transpose()
    }

    fn text(&self, index: usize) -> Result<&str, Strange> {
        self.get(index).copied().flatten().ok_or(Strange)
    }

    fn flag(&self, index: usize) -> Result<bool, Strange> {
        self.text(index)?.parse().map_err(|_| Strange)
    }

    fn wrong(_: usize) -> Strange {
        Strange
    }
}
