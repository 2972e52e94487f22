//! What is served at an address: the protocols of proxies, AuthZEN, the ledger.

pub(crate) mod authorizer;
pub(crate) mod authzen;
mod body;
mod grants;
pub(crate) mod grpc;
pub(crate) mod ledger;
pub(crate) mod service;
