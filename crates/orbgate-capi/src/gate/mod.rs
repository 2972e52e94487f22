//! Gates, which turn a request as received into a result. The rules come from `orbgate-gate`; the host fetches keys and
//! supplies the time.

pub mod ask;
mod call;
pub mod fetch;
mod gates;
mod messages {
    // What the build script makes of `src/generate/shapes.txt`.
    include!(concat!(env!("OUT_DIR"), "/messages.rs"));
}
pub mod object;
pub mod options;
mod orbs;
mod progress;
mod reload;
pub mod request;
pub mod routes;
mod steps;
pub mod verifier;
mod wire;
