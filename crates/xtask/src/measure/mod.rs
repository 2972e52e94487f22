//! What is measured: instructions, time, memory, other processors.

pub(crate) mod aarch64;
pub(crate) mod bench;
pub(crate) mod bench_bindings;
pub(crate) mod callgrind;
pub(crate) mod compiler;
pub(crate) mod instructions;
pub(crate) mod load;
pub(crate) mod miri;
pub(crate) mod mutants;
pub(crate) mod portable;
pub(crate) mod qemu;
pub(crate) mod record;
pub(crate) mod sanitize;
pub(crate) mod soak;
pub(crate) mod start;
