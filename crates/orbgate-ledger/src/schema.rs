//! The JSON Schema of what the command `orbgate orbs --json` and services print.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};

use crate::answer::{
    Balance, ClockState, Complete, Done, Entries, Entry, Extended, Frozen, GrantAnswer, HoldAnswer, Pending, Refunded,
    Revoked, Settled,
};
use crate::command::{Extend, Freeze, Grant, Hold, Refund, Revoke, Settle};
use crate::error::{Each, Refusal};
use crate::event::Event;
use crate::people::{Accounts, Listed, Listing, Part, Statement, Totals};
use crate::verify::Faults;

/// The JSON Schema of answers, each by its name, such as `#/$defs/hold`.
#[must_use]
pub fn schema() -> serde_json::Value {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut named = serde_json::Map::new();
    add::<GrantAnswer>(&mut generator, &mut named, "grant");
    add::<Done<Revoked>>(&mut generator, &mut named, "revoke");
    add::<HoldAnswer>(&mut generator, &mut named, "hold");
    add::<Done<Extended>>(&mut generator, &mut named, "extend");
    add::<Done<Settled>>(&mut generator, &mut named, "settle");
    add::<Done<Refunded>>(&mut generator, &mut named, "refund");
    add::<Done<Frozen>>(&mut generator, &mut named, "freeze");
    add::<Balance>(&mut generator, &mut named, "balance");
    add::<Vec<Pending>>(&mut generator, &mut named, "holds");
    add::<Entry>(&mut generator, &mut named, "entry");
    add::<Event>(&mut generator, &mut named, "event");
    add::<Faults>(&mut generator, &mut named, "verify");
    add::<Entries>(&mut generator, &mut named, "entries");
    add::<Listed>(&mut generator, &mut named, "account");
    add::<Accounts>(&mut generator, &mut named, "accounts");
    add::<Statement>(&mut generator, &mut named, "statement");
    add::<Totals>(&mut generator, &mut named, "totals");
    add::<Complete>(&mut generator, &mut named, "expire");
    add::<ClockState>(&mut generator, &mut named, "clock");
    add::<Refusal>(&mut generator, &mut named, "refusal");
    add::<Vec<Each<GrantAnswer>>>(&mut generator, &mut named, "grant_each");
    add::<Vec<Each<Done<Extended>>>>(&mut generator, &mut named, "extend_each");
    add::<Vec<Each<Done<Settled>>>>(&mut generator, &mut named, "settle_each");
    let mut definitions = generator.take_definitions(true);
    let mut generator = SchemaSettings::draft2020_12().for_deserialize().into_generator();
    add::<Grant>(&mut generator, &mut named, "grant_command");
    add::<Revoke>(&mut generator, &mut named, "revoke_command");
    add::<Hold>(&mut generator, &mut named, "hold_command");
    add::<Refund>(&mut generator, &mut named, "refund_command");
    add::<Freeze>(&mut generator, &mut named, "freeze_command");
    add::<Listing>(&mut generator, &mut named, "accounts_question");
    add::<Part>(&mut generator, &mut named, "statement_question");
    add::<Vec<Grant>>(&mut generator, &mut named, "grant_commands");
    add::<Vec<Extend>>(&mut generator, &mut named, "extend_commands");
    add::<Vec<Settle>>(&mut generator, &mut named, "settle_commands");
    definitions.append(&mut generator.take_definitions(true));
    definitions.append(&mut named);
    serde_json::json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What a ledger of orbs answers: `#/$defs/grant`, `revoke`, `hold`, `extend`, `settle`, `refund`, `freeze`, `balance`, `holds`, `entry`, `event`, `verify`, `expire`, `clock`, `account`, `statement`, `totals`; and the service: `accounts`, `accounts_question`, `statement_question`, `grant_command`, `grant_commands`, `revoke_command`, `hold_command`, `refund_command`, `freeze_command`, `extend_commands`, `settle_commands`, `grant_each`, `extend_each`, `settle_each`, `entries`, `refusal`. Times are milliseconds since 1970",
        "$defs": definitions,
    })
}

fn add<T: JsonSchema>(
    generator: &mut SchemaGenerator,
    named: &mut serde_json::Map<String, serde_json::Value>,
    name: &str,
) {
    named.insert(name.to_owned(), T::json_schema(generator).to_value());
}
