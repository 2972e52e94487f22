//! The error of a command without the library for signatures.

use crate::output::Stop;

pub(super) fn signatures(what: &str) -> Stop {
    Stop::Error(format!(
        "this `orbgate` was built without {what}, which the packages include; from a clone: cargo install --locked --path \
         crates/orbgate-cli --features token"
    ))
}
