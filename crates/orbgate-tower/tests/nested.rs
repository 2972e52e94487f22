//! Where the layer is in a service, and which route the router has taken: real axum routers.

use crate::support::Tokens;
use axum::Router;
use axum::extract::OriginalUri;
use axum::routing::{any, any_service, get};
use bytes::Bytes;
use http::header::ALLOW;
use http::{Request, StatusCode};
use http_body_util::Full;
use metrics_exporter_prometheus::PrometheusBuilder;
use orbgate::{Engine, Policy};
use orbgate_tower::{Engines, GateLayer, InAxum, KeyHolder};
use tower::{Layer as _, ServiceExt as _, service_fn};

const POLICY: &str = "
orbgate: 1
apis:
  api:
    base_path: ''
    scopes:
      read:users:
        orbs: false
        routes: [GET /users, 'GET /users/{id}', 'GET /{realm}/users/{id}']
      admin:users: { orbs: false, routes: [GET /admin/users, 'GET /admin/users/{id}'] }
";

struct World {
    engines: Engines,
    verifier: KeyHolder,
    /// A token that holds `read:users`.
    token: String,
}

impl World {
    fn new() -> Self {
        let tokens = Tokens::new();
        let engine = Engine::new(&Policy::from_yaml(POLICY).unwrap());
        Self {
            engines: Engines::new(engine),
            verifier: tokens.verifier(),
            token: tokens.token("user", "read:users"),
        }
    }

    fn axum(&self) -> GateLayer<KeyHolder, InAxum> {
        GateLayer::axum(self.engines.clone(), self.verifier.clone())
    }

    fn outermost(&self) -> GateLayer<KeyHolder> {
        GateLayer::outermost(self.engines.clone(), self.verifier.clone())
    }

    /// The status of a call, and the body of the answer.
    async fn get(&self, app: &Router, target: &str) -> (u16, String) {
        let request =
            Request::get(target).header("authorization", format!("Bearer {}", self.token));
        let request = request.body(axum::body::Body::empty()).unwrap();
        let answer = app.clone().oneshot(request).await.unwrap();
        let status = answer.status().as_u16();
        let body = axum::body::to_bytes(answer.into_body(), 1024)
            .await
            .unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    async fn status(&self, app: &Router, target: &str) -> u16 {
        self.get(app, target).await.0
    }
}

#[tokio::test]
async fn only_inside_a_router_a_denial_says_which_paths_the_router_has() {
    let world = World::new();
    let app = Router::new().route("/users", get(async || "list"));
    let inside = app.clone().layer(world.axum());
    let outside = world.outermost().layer(app);
    for (target, is_served) in [("/users", true), ("/nothing", false)] {
        let request = || {
            let request = Request::delete(target).body(axum::body::Body::empty());
            request.unwrap()
        };
        let from_inside = inside.clone().oneshot(request()).await.unwrap();
        let from_outside = outside.clone().oneshot(request()).await.unwrap();
        assert_eq!(
            (from_inside.status(), from_outside.status()),
            (StatusCode::UNAUTHORIZED, StatusCode::UNAUTHORIZED)
        );
        assert_eq!(
            from_inside.headers().contains_key(ALLOW),
            is_served,
            "{target}"
        );
        assert!(!from_outside.headers().contains_key(ALLOW), "{target}");
    }
}

/// A router of users, which does not know where it is nested.
fn users() -> Router {
    let said = |name: &'static str| {
        get(async move |OriginalUri(uri): OriginalUri| format!("{name} {uri}"))
    };
    Router::new()
        .route("/users", said("list"))
        .route("/users/{user_id}", said("one"))
        .route("/users/export", said("export"))
        .route("/users/{user_id}/{*rest}", said("files"))
}

#[tokio::test]
async fn a_layer_in_a_nested_router_decides_on_the_whole_path() {
    let world = World::new();
    let nested = Router::new().nest("/admin", users().layer(world.axum()));
    assert_eq!(world.status(&nested, "/admin/users").await, 403);
    assert_eq!(world.status(&nested, "/admin/users/7").await, 403);
    let twice = Router::new().nest("/a", Router::new().nest("/b", users().layer(world.axum())));
    assert_eq!(world.status(&twice, "/a/b/users").await, 404);
    let service = Router::new().nest_service("/admin", users().layer(world.axum()));
    assert_eq!(world.status(&service, "/admin/users").await, 403);
    let by_parameter = Router::new().nest("/{realm}", users().layer(world.axum()));
    assert_eq!(
        world.get(&by_parameter, "/x/users/7").await,
        (200, "one /x/users/7".to_owned())
    );
    assert_eq!(world.status(&by_parameter, "/admin/users/7").await, 403);
    let inner = users().layer(world.axum());
    assert_eq!(
        world.get(&inner, "/users?page=2").await,
        (200, "list /users?page=2".to_owned())
    );
}

#[tokio::test]
async fn a_layer_that_is_not_outermost_refuses_everything() {
    let world = World::new();
    let table = [
        Router::new().nest("/admin", users().layer(world.outermost())),
        Router::new().nest_service("/admin", users().layer(world.outermost())),
        Router::new().nest_service("/admin", world.outermost().layer(users())),
        Router::new()
            .route("/admin/{*rest}", any(async || "any"))
            .layer(world.outermost()),
    ];
    for app in table {
        assert_eq!(world.status(&app, "/admin/users").await, 400);
    }
    // Outermost, the layer sees the target as it came.
    let app = world
        .outermost()
        .layer(Router::new().nest("/admin", users()));
    let ask = async |target: &str| {
        let request =
            Request::get(target).header("authorization", format!("Bearer {}", world.token));
        let request = request.body(axum::body::Body::empty()).unwrap();
        app.clone()
            .oneshot(request)
            .await
            .unwrap()
            .status()
            .as_u16()
    };
    assert_eq!(ask("/admin/users").await, 403);
}

#[tokio::test]
async fn a_layer_for_axum_outside_of_axum_refuses_everything() {
    let world = World::new();
    let service = service_fn(async |_| {
        Ok::<_, core::convert::Infallible>(http::Response::new(Full::<Bytes>::default()))
    });
    let request = Request::get("/users").header("authorization", format!("Bearer {}", world.token));
    let answer = any_service(service)
        .layer::<_, core::convert::Infallible>(world.axum())
        .oneshot(request.body(Full::<Bytes>::default()).unwrap());
    assert_eq!(answer.await.unwrap().status().as_u16(), 400);
}

#[test]
fn a_route_that_the_policy_lacks_is_refused_and_counted() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let world = World::new();
    metrics::with_local_recorder(&recorder, || {
        runtime.block_on(async {
            let app = users().layer(world.axum());
            assert_eq!(
                world.get(&app, "/users/7").await,
                (200, "one /users/7".to_owned())
            );
            // The policy has `/users/{id}`, whose scope the token holds.
            assert_eq!(world.status(&app, "/users/export").await, 404);
            assert_eq!(world.status(&app, "/users/7/files").await, 404);
            let catch_all = Router::new()
                .route("/{*path}", any(async || "any"))
                .layer(world.axum());
            assert_eq!(world.status(&catch_all, "/users/7").await, 404);
            let nested = Router::new().nest("/x", users().layer(world.axum()));
            assert_eq!(world.status(&nested, "/x/users/export").await, 404);
        });
    });
    let scrape = recorder.handle().render();
    for line in [
        r#"orbgate_misrouted_total{route="GET /users/{id}",matched="/users/export"} 1"#,
        r#"orbgate_misrouted_total{route="GET /users/{id}",matched="/{*path}"} 1"#,
        r#"orbgate_misrouted_total{route="GET /{realm}/users/{id}",matched="/x/users/export"} 1"#,
        r#"orbgate_decisions_total{decision="deny",reason="no_route",route=""} 4"#,
    ] {
        assert!(scrape.contains(line), "{line}\n{scrape}");
    }
}

#[tokio::test]
async fn a_request_that_no_route_of_the_router_has_taken_is_refused() {
    let world = World::new();
    // Around each, the layer sees that the policy allows `GET /users/{id}`, but not which route an inner router
    // takes.
    let table = [
        ("fallback", Router::new().fallback(async || "any")),
        ("fallback_service", Router::new().fallback_service(users())),
        (
            "nest_service",
            Router::new().nest_service("/users", users()),
        ),
        (
            "nest_service below a parameter",
            Router::new().nest_service("/{realm}", users()),
        ),
    ];
    for (name, app) in table {
        let app = app.layer(world.axum());
        for target in ["/users", "/users/7", "/users/export", "/x/users/export"] {
            assert_eq!(world.status(&app, target).await, 404, "{name} {target}");
        }
        // Without the route's scope, the answer is the same as everywhere.
        assert_eq!(world.status(&app, "/admin/users").await, 403, "{name}");
    }
    // Routes that are merged or nested are the router's own, and so is a service at a route.
    let merged = Router::new().merge(users()).layer(world.axum());
    let nested = Router::new().nest("/{realm}", users()).layer(world.axum());
    let service = any_service(service_fn(async |_| {
        Ok::<_, core::convert::Infallible>(http::Response::new(axum::body::Body::empty()))
    }));
    let leaf = Router::new()
        .route("/users/{id}", service)
        .layer(world.axum());
    for (app, prefix) in [(merged, ""), (nested, "/x"), (leaf, "")] {
        let status = async |path: &str| world.status(&app, &format!("{prefix}{path}")).await;
        assert_eq!(status("/users/7").await, 200);
        assert_ne!(status("/users/7/files").await, 200);
    }
}

#[test]
fn a_service_learns_at_its_start_how_its_routes_differ_from_the_policy() {
    let engines = World::new().engines;
    let policy = [
        ("GET", "/users"),
        ("GET", "/users/{user_id}"),
        ("GET", "/{realm}/users/{id}"),
        ("GET", "/admin/users"),
        ("GET", "/admin/users/{id}"),
    ];
    assert_eq!(engines.check_routes(policy), Ok(()));
    let service = [
        ("GET", "/users/export"),
        ("DELETE", "/users/{id}"),
        ("GET", "/users/{*path}"),
        ("GET", "/health"),
    ];
    let error = engines
        .check_routes(policy.into_iter().skip(1).chain(service))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the service and its policy have different routes\n\
         the policy has no `GET /users/export`, and decides it as `GET /users/{id}`\n\
         the policy has no `DELETE /users/{id}`\n\
         the policy has no `GET /users/{*path}`, and decides it as `GET /users/{id}`\n\
         the policy has no `GET /health`\n\
         the service has no `GET /users`"
    );
}
