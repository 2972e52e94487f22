//! The specification's own table, compiled from `policy/external.yaml` by this crate's build script.

use crate::engine::Engine;

pub(crate) static EXTERNAL: &Engine = include!(concat!(env!("OUT_DIR"), "/external.orbgate.rs"));
