#![doc = include_str!("../README.md")]

mod allowed;
mod ask;
#[cfg(feature = "audit")]
mod audit;
mod body;
mod certificate;
mod charge;
mod dispatch;
mod endpoint;
mod engines;
mod layer;
#[cfg(feature = "ledger")]
mod ledger;
mod observe;
mod routes;
mod service;
mod settings;
mod target;
mod verify;
#[cfg(feature = "watch")]
mod watch;

// The public interface is:
pub use crate::allowed::Allowed;
#[cfg(feature = "audit")]
pub use crate::audit::AuditLog;
pub use crate::body::RequestBody;
pub use crate::certificate::ClientCertificate;
pub use crate::dispatch::{CheckDispatch, Dispatch};
pub use crate::endpoint::{Endpoint, EndpointLayer};
pub use crate::engines::Engines;
#[cfg(feature = "axum")]
pub use crate::layer::InAxum;
pub use crate::layer::{GateLayer, Outermost, UnknownRoute};
#[cfg(feature = "ledger")]
pub use crate::ledger::{
    ActualOrbs, Amounts, AmountsError, ChargedBody, ChargingGate, ChargingLayer, OrbLedger, OrbLedgerError,
};
#[cfg(feature = "axum")]
pub use crate::routes::ungated_routes;
pub use crate::service::{Gate, GateFuture};
#[cfg(feature = "fetch")]
pub use crate::verify::log_notices;
pub use crate::verify::{KeyHolder, Refused, VerifyToken};
#[cfg(feature = "watch")]
pub use crate::watch::{Watch, WatchSettings};
pub use orbgate_gate::{
    Challenge, ChallengeError, CorsPreflight, FullChallenge, Legacy, LoadError, Mcp, McpError, Metadata, NoAccount,
    NoAmount, PublicRoutes, PublicRoutesError, RoutesDiffer, Uncharged, Undeclared, Verified,
};
#[cfg(feature = "ledger")]
pub use orbgate_gate::{McpOrbs, OnCancelled, OrbRules};
