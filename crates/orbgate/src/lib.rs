//! Which scope does this route need, may this token call it, does it consume orbs, and why?

pub mod policy;
