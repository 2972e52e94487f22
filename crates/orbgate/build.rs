//! Compiles policy/external.yaml into the crate, with the crate's own modules.
//!
//! A bad policy fails the build with `file:line:column: message`.
#![allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    missing_docs,
    clippy::missing_const_for_fn,
    reason = "the crate's modules are here for what they do at build time, not for their interface"
)]

#[path = "src/build.rs"]
mod build;
#[path = "src/codegen.rs"]
mod codegen;
#[path = "src/compile/mod.rs"]
mod compile;
#[path = "src/hash.rs"]
mod hash;
#[path = "src/list.rs"]
mod list;
#[path = "src/policy/mod.rs"]
mod policy;
#[path = "src/seeded.rs"]
mod seeded;
#[path = "src/tables.rs"]
mod tables;
#[path = "src/terms.rs"]
mod terms;

fn main() -> Result<(), build::BuildError> {
    build::compile("policy/external.yaml")
}
