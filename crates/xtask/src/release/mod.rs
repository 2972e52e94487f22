//! What a release publishes, and what its users do with it.

pub(crate) mod dist;
pub(crate) mod install;
pub(crate) mod msrv;
pub(crate) mod promises;
pub(crate) mod release_check;
pub(crate) mod tree;
