#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(any(feature = "postgres", feature = "sqlite")),
    allow(dead_code, unused_imports, reason = "for stores")
)]

mod answer;
mod cause;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod columns;
mod command;
mod error;
mod event;
mod feed;
mod ledger;
mod log;
pub mod many;
mod model;
mod people;
mod plan;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "schema")]
mod schema;
mod similar;
#[cfg(feature = "sqlite")]
mod sqlite;
pub mod suite;
mod value;
mod verify;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod watch;

// The public interface is:
pub use crate::answer::{
    Answer, Balance, ClockState, Complete, Cursor, Denial, Denied, Done, Early, Entries, Entry, Extended, Frozen,
    GrantAnswer, Granted, Held, HoldAnswer, Line, Page, Pending, Refunded, Revoked, Settled,
};
pub use crate::cause::{Cause, State};
pub use crate::command::{Command, Extend, Freeze, Grant, Hold, Refund, Revoke, Settle, Settlement};
pub use crate::error::{Each, Error, Refusal};
pub use crate::event::Event;
pub use crate::ledger::{Backlog, Clock, ClockChange, Ledger, Reply, SystemClock};
pub use crate::model::Model;
pub use crate::people::{Accounts, Left, Listed, Listing, Movement, Part, Period, Statement, Sums, Totals};
#[cfg(feature = "postgres")]
pub use crate::postgres::Postgres;
#[cfg(feature = "schema")]
pub use crate::schema::schema;
pub use crate::similar::{Similar, similar};
#[cfg(feature = "sqlite")]
pub use crate::sqlite::Sqlite;
pub use crate::value::{AccountId, Bucket, Id, Invalid, Millis, Note, Orbs, Order};
pub use crate::verify::Faults;
