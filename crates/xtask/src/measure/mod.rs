//! What is measured: instructions and time in each language, other processors.

pub(crate) mod bench;
pub(crate) mod bench_bindings;
pub(crate) mod instructions;
pub(crate) mod processors;
