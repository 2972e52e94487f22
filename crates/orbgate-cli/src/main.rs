//! The `orbgate` command.
fn main() {}
