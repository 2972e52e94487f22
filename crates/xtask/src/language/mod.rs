//! The languages: their packages, built, tested and run over the cases.

pub(crate) mod c;
pub(crate) mod cases;
pub(crate) mod conformance;
pub(crate) mod explorer;
pub(crate) mod go;
pub(crate) mod java;
pub(crate) mod library;
pub(crate) mod native;
pub(crate) mod node;
pub(crate) mod python;
pub(crate) mod wasm;
