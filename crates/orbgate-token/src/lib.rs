#![doc = include_str!("../README.md")]

mod account;
mod algorithm;
mod base64url;
mod bearer;
mod cache;
mod check;
mod claim_test;
mod claims;
mod compact;
mod config;
mod derive;
mod error;
mod explain;
#[cfg(feature = "fetch")]
mod fetch;
mod generations;
mod issuer;
mod json;
mod jwk;
mod key_file;
mod key_name;
mod keys;
mod kind;
#[cfg(feature = "aws-lc-rs")]
mod material;
mod opaque;
mod proof;
#[cfg(feature = "aws-lc-rs")]
mod remembered;
mod scope;
mod signature;
#[cfg(feature = "test-issuer")]
mod test_issuer;
mod verified;
mod verifier;
#[cfg(test)]
#[cfg(feature = "aws-lc-rs")]
mod wycheproof;

// The public interface is:
pub use crate::account::{AccountClaim, IssuerAccounts};
pub use crate::algorithm::Algorithm;
pub use crate::bearer::{BearerError, Scheme, bearer, bearer_or_dpop};
pub use crate::cache::notices::{Notice, NoticeLevel};
pub use crate::cache::{
    Asked, AttemptId, Fetch, FetchError, FetchSettings, Judged, KeyCache, KeyStatus, Now, Post, Response,
    SettingsError, Wait,
};
pub use crate::claim_test::{ClaimTest, ClaimValue};
#[doc(hidden)]
pub use crate::config::derived::DerivedScopes;
pub use crate::config::error::{ConfigDiagnostic, ConfigError};
pub use crate::derive::{Derived, LONGEST_PARAMETER, Login};
pub use crate::error::TokenError;
pub use crate::explain::Explanation;
#[cfg(feature = "fetch")]
pub use crate::fetch::KeyFetcher;
pub use crate::issuer::Issuer;
pub use crate::jwk::KeyRules;
pub use crate::keys::{KeySet, KeySetError, KeyWarning, Keys};
pub use crate::kind::KindRules;
pub use crate::opaque::{Opaque, SecretSource};
pub use crate::proof::explain::ProvedRequest;
pub use crate::proof::presented::{Certificate, Kept, Presented};
pub use crate::proof::replays::Replays;
pub use crate::proof::rules::{ProofMethod, ProofRules};
pub use crate::scope::{ClaimPath, Conflict, ScopeClaim, ScopeFormat};
pub use crate::signature::{Checked, SignatureCheck};
#[cfg(feature = "test-issuer")]
pub use crate::test_issuer::{
    TestClaims, TestHolder, TestIssuer, TestIssuerError, TestRequest, TestResponse, TestServer,
};
pub use crate::verified::{Fingerprint, VerifiedToken};
pub use crate::verifier::Verifier;
#[cfg(feature = "fetch")]
pub use rustls;
