//! An issuer for tests: what its tokens state, and what it answers as an authorization server.

mod claims;
mod clients;
mod form;
mod grants;
mod holder;
mod issuer;
mod oauth;
mod server;

pub use self::claims::{TestClaims, TestIssuerError};
pub use self::holder::TestHolder;
pub use self::issuer::TestIssuer;
pub use self::server::{TestRequest, TestResponse, TestServer};
