//! Puts the same exchanges to every language's gate, over real sockets: the format is in `policy/cases/gate/README.md`.

mod expected;
mod groups;
mod introspection;
mod issuer;
mod program;
mod programs;
mod recipe;
mod service;
mod suite;
mod wire;
mod world;
mod written;

pub use self::expected::{Expected, Saw, Sent};
pub use self::groups::{Group, run};
pub use self::program::Program;
pub use self::programs::{build, every};
pub use self::world::World;
pub use self::written::{Written, written};
