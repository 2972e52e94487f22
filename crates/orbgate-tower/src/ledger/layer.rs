//! The layer that charges: a gate whose calls hold orbs.

use core::fmt;
use core::task::{Context, Poll};
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use orbgate_gate::{ChargedBy, HandlerOutcome};
use tower_layer::Layer;
use tower_service::Service;

use crate::body::RequestBody;
use crate::endpoint::EndpointLayer;
use crate::layer::{GateLayer, Outermost, UnknownRoute};
use crate::ledger::amounts::{Amounts, AmountsError};
use crate::ledger::body::ChargedBody;
use crate::ledger::driver::OrbLedger;
use crate::ledger::held::Ledgered;
use crate::service::{Gate, GateFuture, Passed, pass, state};
use crate::settings::Settings;
use crate::verify::VerifyToken;

/// A [`GateLayer`] that charges: see [`GateLayer::ledger`]. The body of its responses is [`ChargedBody`].
pub struct ChargingLayer<V: VerifyToken, W = Outermost> {
    gate: GateLayer<V, W>,
    ledger: Arc<Ledgered<V::Verified>>,
}

impl<V: VerifyToken, W> GateLayer<V, W> {
    /// Holds the orbs of each call that consumes before its handler runs, and charges or releases them by the handler's
    /// outcome. Set everything else first.
    ///
    /// - The account is the token's ([`VerifiedToken::account`](orbgate_token::VerifiedToken::account)). A call that
    ///   consumes without one is denied with 401.
    /// - If the account doesn't have enough orbs, the call is denied with 402; if the ledger doesn't answer in time, with
    ///   503. The handler doesn't run.
    /// - A status below 400, or the gRPC status 0, charges the held orbs, or those that the handler
    ///   [states](crate::ActualOrbs). Anything else, an error or a panic charges nothing. If the caller
    ///   leaves midway, [`OrbRules::on_cancelled`](orbgate_gate::OrbRules::on_cancelled) decides; if the stream fails after its
    ///   first byte, [`OrbRules::on_broken`](orbgate_gate::OrbRules::on_broken). Whether the caller reads the answer doesn't matter.
    /// - More than the hold is charged only up to the [ceiling](orbgate_gate::OrbRules::ceiling); what is over is logged and counted.
    ///
    /// From now on, the layer's [`Engines`](crate::Engines) reject a policy with a route that consumes orbs and has
    /// neither an amount nor a function.
    ///
    /// # Errors
    ///
    /// Returns the routes of the current policy without an amount, or a route with a function that it doesn't have.
    pub fn ledger(self, orbs: &OrbLedger, amounts: Amounts<V::Verified>) -> Result<ChargingLayer<V, W>, AmountsError> {
        ChargingLayer::of(self, orbs, amounts)
    }
}

impl<V: VerifyToken, W> EndpointLayer<V, W> {
    /// See [`GateLayer::ledger`]. At an MCP endpoint, the response to a call settles it: a result charges the held orbs, and a
    /// JSON-RPC error charges nothing. A stream without the response is charged by
    /// [`OrbRules::on_broken`](orbgate_gate::OrbRules::on_broken) if the service ends it, and by
    /// [`OrbRules::on_cancelled`](orbgate_gate::OrbRules::on_cancelled) if the caller leaves it; in older protocol versions it is
    /// charged, because the client can ask for the rest.
    ///
    /// # Errors
    ///
    /// The same, and fails if the ledger's rules have no [`OrbRules::mcp`](orbgate_gate::OrbRules::mcp).
    pub fn ledger(self, orbs: &OrbLedger, amounts: Amounts<V::Verified>) -> Result<ChargingLayer<V, W>, AmountsError> {
        ChargingLayer::of(self.0, orbs, amounts)
    }
}

impl<V: VerifyToken, W> ChargingLayer<V, W> {
    fn of(gate: GateLayer<V, W>, orbs: &OrbLedger, amounts: Amounts<V::Verified>) -> Result<Self, AmountsError> {
        if gate.settings.rules.mcp.is_some() {
            orbs.rules().check_mcp().map_err(AmountsError::Mcp)?;
        }
        let engine = gate.settings.engines.load();
        for route in amounts.routes() {
            if !engine.routes().any(|known| known.as_str() == route) {
                return Err(AmountsError::UnknownRoute(UnknownRoute(route.to_owned())));
            }
        }
        let charges = gate.settings.verifier.charges(ChargedBy::Ledger(amounts.routes().map(str::to_owned).collect()));
        gate.settings.engines.charged(&charges).map_err(AmountsError::Uncharged)?;
        let ledger = Arc::new(Ledgered { orbs: orbs.clone(), amounts });
        Ok(Self { gate, ledger })
    }
}

/// A service inside a [`ChargingLayer`].
pub struct ChargingGate<S, V: VerifyToken> {
    inner: S,
    settings: Arc<Settings<V>>,
    ledger: Arc<Ledgered<V::Verified>>,
}

impl<S, V: VerifyToken, W> Layer<S> for ChargingLayer<V, W>
where
    GateLayer<V, W>: Layer<S, Service = Gate<S, V>>,
{
    type Service = ChargingGate<S, V>;

    fn layer(&self, inner: S) -> ChargingGate<S, V> {
        let settings = Arc::clone(&self.gate.settings);
        ChargingGate { inner, settings, ledger: Arc::clone(&self.ledger) }
    }
}

impl<S, V, B, R> Service<Request<B>> for ChargingGate<S, V>
where
    S: Service<Request<RequestBody<B>>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    V: VerifyToken,
    B: Body<Data = Bytes> + Unpin + Send + 'static,
    B::Error: Send,
    R: Body<Data: From<Bytes>> + Default,
{
    type Response = Response<ChargedBody<R>>;
    type Error = S::Error;
    type Future = GateFuture<Response<ChargedBody<R>>, S::Error>;

    /// Always ready, like [`Gate`](crate::Gate).
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let mut inner = self.inner.clone();
        let (settings, ledger) = (Arc::clone(&self.settings), Arc::clone(&self.ledger));
        Box::pin(async move {
            let (mut request, mut held, headers) = match pass(&settings, request, &*ledger).await {
                Ok(Passed { request, held, headers }) => (request, held.flatten(), headers),
                Err(denial) => return Ok(denial.map(ChargedBody::denial)),
            };
            let method = request.method().clone();
            let actual = held.as_ref().map(|held| held.actual.clone());
            request.extensions_mut().insert(actual.unwrap_or_default());
            core::future::poll_fn(|context| inner.poll_ready(context)).await?;
            if let Some(held) = &mut held {
                held.run();
            }
            let answered = inner.call(request).await.map(|mut response| {
                state(headers, response.headers_mut());
                response
            });
            match (answered, held) {
                (Ok(response), None) => Ok(response.map(ChargedBody::free)),
                (Ok(response), Some(held)) => {
                    let (parts, body) = response.into_parts();
                    let body = ChargedBody::new(body, held, &method, parts.status, &parts.headers);
                    Ok(Response::from_parts(parts, body))
                }
                (Err(error), held) => {
                    if let Some(held) = held {
                        held.settle(HandlerOutcome::Failed);
                    }
                    Err(error)
                }
            }
        })
    }
}

// Written by hand: a derive would require that the verifier is `Clone`.
impl<S: Clone, V: VerifyToken> Clone for ChargingGate<S, V> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), settings: Arc::clone(&self.settings), ledger: Arc::clone(&self.ledger) }
    }
}

impl<V: VerifyToken, W> Clone for ChargingLayer<V, W> {
    fn clone(&self) -> Self {
        Self { gate: self.gate.clone(), ledger: Arc::clone(&self.ledger) }
    }
}

impl<S: fmt::Debug, V: VerifyToken> fmt::Debug for ChargingGate<S, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChargingGate")
            .field("inner", &self.inner)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl<V: VerifyToken, W> fmt::Debug for ChargingLayer<V, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChargingLayer")
            .field("settings", &self.gate)
            .field("ledger", &self.ledger.orbs)
            .field("amounts", &self.ledger.amounts)
            .finish()
    }
}
