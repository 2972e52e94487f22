use std::{error::Error, time::SystemTime};

use axum::{Router, routing::get};
use orbgate::TokenKind;
use orbgate_token::TestIssuer;
use orbgate_tower::{Allowed, Engines, GateLayer, KeyHolder};

fn app(issuer: &TestIssuer) -> Result<Router, Box<dyn Error>> {
    let gate = GateLayer::axum(Engines::external(), KeyHolder::new(issuer.verifier()?, issuer.keys()?));
    let orbs = async |allowed: Allowed| format!("{:?}\n", allowed.charge());
    Ok(Router::new().route("/api/v1/external/orbs", get(orbs)).layer(gate)) // last: it covers the routes before it
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let issuer = TestIssuer::new("https://issuer.test")?;
    for scope in ["read:account", "read:orbs"] {
        println!("Authorization: Bearer {}", issuer.token(TokenKind::User, scope, SystemTime::now()));
    }
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
    Ok(axum::serve(listener, app(&issuer)?).await?)
}
