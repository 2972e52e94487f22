//! The programs of the README answer as it says.

use std::time::SystemTime;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::http::request::Builder;
use orbgate::TokenKind;
use orbgate_token::TestIssuer;
use orbgate_tower::KeyHolder;
use tower::ServiceExt as _;

const README: &str = include_str!("../README.md");

mod service {
    #![allow(dead_code, reason = "the program binds a port")]
    #![expect(clippy::std_instead_of_core, reason = "written as in a program")]
    include!("readme/service.rs");

    pub(super) fn made(issuer: &TestIssuer) -> Router {
        app(issuer).unwrap()
    }
}

mod recipes {
    #![expect(clippy::std_instead_of_core, reason = "written as in a program")]
    include!("readme/recipes.rs");

    pub(super) fn made(verifier: impl VerifyToken) -> Router {
        app(verifier).unwrap()
    }
}

/// The status of the answer, and the origin that may read it.
async fn answer(app: &Router, request: Builder) -> (u16, Option<String>) {
    let answer = app.clone().oneshot(request.body(Body::empty()).unwrap());
    let answer = answer.await.unwrap();
    let origin = answer.headers().get("access-control-allow-origin");
    let origin = origin.map(|origin| origin.to_str().unwrap().to_owned());
    (answer.status().as_u16(), origin)
}

#[tokio::test]
async fn the_service_answers_as_the_readme_says() {
    assert!(README.contains(include_str!("readme/service.rs")));
    assert!(README.contains("The answers: 401, because there is no token; 403,"));
    let issuer = TestIssuer::new("https://issuer.test").unwrap();
    let app = service::made(&issuer);
    let orbs = || Request::get("/api/v1/external/orbs");
    assert_eq!(answer(&app, orbs()).await.0, 401);
    for (scope, status) in [("read:account", 403), ("read:orbs", 200)] {
        let token = issuer.token(TokenKind::User, scope, SystemTime::now());
        let request = orbs().header("authorization", format!("Bearer {token}"));
        assert_eq!(answer(&app, request).await.0, status, "{scope}");
    }
}

#[tokio::test]
async fn the_recipes_for_a_health_check_and_cors_work() {
    assert!(README.contains(include_str!("readme/recipes.rs")));
    let issuer = TestIssuer::new("https://issuer.test").unwrap();
    let verifier = KeyHolder::new(issuer.verifier().unwrap(), issuer.keys().unwrap());
    let app = recipes::made(verifier);
    assert_eq!(answer(&app, Request::get("/healthz")).await.0, 200);
    assert_eq!(answer(&app, Request::post("/healthz")).await.0, 401);
    let origin = "https://app.example.com";
    let browser = |target: &str, method: &str| {
        let request = Request::options(target).header("origin", origin);
        request.header("access-control-request-method", method)
    };
    let orbs = "/api/v1/external/orbs";
    let passed = answer(&app, browser(orbs, "GET")).await;
    assert_eq!(passed, (204, Some(origin.to_owned())));
    assert_eq!(answer(&app, browser(orbs, "DELETE")).await.0, 401);
    assert_eq!(answer(&app, browser("/nowhere", "GET")).await.0, 401);
    assert_eq!(answer(&app, Request::options(orbs)).await.0, 401);
}
