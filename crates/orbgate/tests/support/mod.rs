//! What the property tests share: random policies and requests, and the naive reference.

pub mod engine;
pub mod expected;
pub mod invalid;
pub mod model;
pub mod policies;
pub mod reference;
pub mod requests;
pub mod strategies;
pub mod valid;
