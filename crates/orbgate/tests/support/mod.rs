//! What the property tests share: random policies and requests, and the naive reference.
#![allow(dead_code, reason = "each test file uses its part")]

pub mod model;
pub mod reference;
pub mod strategies;
