//! A store under test, and a step of a test.

use crate::answer::{Answer, Cursor, Page};
use crate::command::Command;
use crate::error::Error;
use crate::model::Model;
use crate::value::Millis;
use crate::verify::Faults;

/// A store under test.
pub trait Subject {
    /// Does a command at this time.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    fn run(&mut self, command: &Command, now: Millis) -> Result<Answer, Error>;

    /// Writes everything that has expired by this time.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    fn expire(&mut self, now: Millis) -> Result<(), Error>;

    /// The entries after a cursor at this time. Writes nothing.
    ///
    /// # Errors
    ///
    /// As [`Error`] says.
    fn entries(&mut self, after: &Cursor, limit: usize, now: Millis) -> Result<Page, Error>;

    /// Verifies the store.
    ///
    /// # Errors
    ///
    /// The store can't be read.
    fn verify(&mut self) -> Result<Faults, Error>;
}

impl Subject for Model {
    fn run(&mut self, command: &Command, now: Millis) -> Result<Answer, Error> {
        Self::run(self, command, now)
    }

    fn expire(&mut self, now: Millis) -> Result<(), Error> {
        Self::expire(self, now)
    }

    fn entries(&mut self, after: &Cursor, limit: usize, now: Millis) -> Result<Page, Error> {
        Self::entries(self, after, limit, now)
    }

    fn verify(&mut self) -> Result<Faults, Error> {
        Ok(Self::verify(self))
    }
}

/// A command at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "tests make their own")]
pub struct Step {
    /// The time. It can go back.
    pub now: Millis,
    /// The command.
    pub command: Command,
}
