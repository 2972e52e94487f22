//! Gates, which turn a request as received into a result. The rules come from `orbgate-gate`; the host fetches keys and
//! supplies the time.

pub mod ask;
mod asking;
mod call;
pub mod fetch;
mod gates;
mod issuers;
mod making;
#[rustfmt::skip]
mod messages;
pub mod object;
pub mod options;
mod orbs;
mod policies;
mod progress;
mod reload;
pub mod request;
mod requests;
pub mod routes;
mod steps;
pub mod verifier;
mod wire;
