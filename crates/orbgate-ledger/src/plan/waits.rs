//! The commands that wait for a later transaction, because it writes first what has expired in their accounts.

use std::collections::BTreeSet;

use crate::command::Command;
use crate::value::{AccountId, Id};

/// The commands that wait: what comes after them in their account or with one of their ids also waits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waits {
    accounts: BTreeSet<AccountId>,
    ids: BTreeSet<Id>,
}

impl Waits {
    pub(crate) fn add(&mut self, command: &Command) {
        self.accounts.extend(command.account().cloned());
        self.ids.extend(command.ids().cloned());
    }

    /// Whether a command has to wait. Then it is one of them.
    pub(crate) fn has(&mut self, command: &Command) -> bool {
        let waits = command.account().is_some_and(|account| self.accounts.contains(account))
            || command.ids().any(|id| self.ids.contains(id));
        if waits {
            self.add(command);
        }
        waits
    }
}
