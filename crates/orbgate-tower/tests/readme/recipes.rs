use axum::{Router, http::StatusCode, routing::get};
use orbgate_tower::{CorsPreflight, Engines, GateLayer, PublicRoutes, VerifyToken};

fn app(verifier: impl VerifyToken) -> Result<Router, Box<dyn std::error::Error>> {
    let public = PublicRoutes::new(["GET /healthz", "HEAD /healthz", "GET /docs/{page}"])?;
    let engines = Engines::external().public_routes(public)?;
    let gate = GateLayer::axum(engines, verifier).cors_preflight(CorsPreflight::Pass);
    let cors = [
        ("access-control-allow-origin", "https://app.example.com"),
        ("access-control-allow-headers", "authorization"),
    ];
    let orbs = get(async move || (cors, "orbs")).options(async move || (StatusCode::NO_CONTENT, cors));
    let app = Router::new().route("/healthz", get(async || "fine")).route("/api/v1/external/orbs", orbs);
    Ok(app.layer(gate))
}
