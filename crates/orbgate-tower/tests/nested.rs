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
use orbgate_tower::{Allowed, CheckDispatch, CorsPreflight, Engines, GateLayer, InAxum, KeyHolder, ungated_routes};
use tower::util::MapRequestLayer;
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
        Self { engines: Engines::new(engine), verifier: tokens.verifier(), token: tokens.token("user", "read:users") }
    }

    fn axum(&self) -> GateLayer<KeyHolder, InAxum> {
        GateLayer::axum(self.engines.clone(), self.verifier.clone())
    }

    fn outermost(&self) -> GateLayer<KeyHolder> {
        GateLayer::outermost(self.engines.clone(), self.verifier.clone())
    }

    /// The status of a call, and the body of the answer.
    async fn get(&self, app: &Router, target: &str) -> (u16, String) {
        let request = Request::get(target).header("authorization", format!("Bearer {}", self.token));
        let request = request.body(axum::body::Body::empty()).unwrap();
        let answer = app.clone().oneshot(request).await.unwrap();
        let status = answer.status().as_u16();
        let body = axum::body::to_bytes(answer.into_body(), 1024).await.unwrap();
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
        assert_eq!((from_inside.status(), from_outside.status()), (StatusCode::UNAUTHORIZED, StatusCode::UNAUTHORIZED));
        assert_eq!(from_inside.headers().contains_key(ALLOW), is_served, "{target}");
        assert!(!from_outside.headers().contains_key(ALLOW), "{target}");
    }
}

/// A router of users, which does not know where it is nested.
fn users() -> Router {
    let handler = |name: &'static str| get(async move |OriginalUri(uri): OriginalUri| format!("{name} {uri}"));
    Router::new()
        .route("/users", handler("list"))
        .route("/users/{user_id}", handler("one"))
        .route("/users/export", handler("export"))
        .route("/users/{user_id}/{*rest}", handler("files"))
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
    assert_eq!(world.get(&by_parameter, "/x/users/7").await, (200, "one /x/users/7".to_owned()));
    assert_eq!(world.status(&by_parameter, "/admin/users/7").await, 403);
    let inner = users().layer(world.axum());
    assert_eq!(world.get(&inner, "/users?page=2").await, (200, "list /users?page=2".to_owned()));
}

#[tokio::test]
async fn a_layer_that_is_not_outermost_refuses_everything() {
    let world = World::new();
    let table = [
        Router::new().nest("/admin", users().layer(world.outermost())),
        Router::new().nest_service("/admin", users().layer(world.outermost())),
        Router::new().nest_service("/admin", world.outermost().layer(users())),
        Router::new().route("/admin/{*rest}", any(async || "any")).layer(world.outermost()),
    ];
    for app in table {
        assert_eq!(world.status(&app, "/admin/users").await, 400);
    }
    // Outermost, the layer sees the target as it came.
    let app = world.outermost().layer(Router::new().nest("/admin", users()));
    let ask = async |target: &str| {
        let request = Request::get(target).header("authorization", format!("Bearer {}", world.token));
        let request = request.body(axum::body::Body::empty()).unwrap();
        app.clone().oneshot(request).await.unwrap().status().as_u16()
    };
    assert_eq!(ask("/admin/users").await, 403);
}

#[tokio::test]
async fn a_layer_for_axum_outside_of_axum_refuses_everything() {
    let world = World::new();
    let service =
        service_fn(async |_| Ok::<_, core::convert::Infallible>(http::Response::new(Full::<Bytes>::default())));
    let request = Request::get("/users").header("authorization", format!("Bearer {}", world.token));
    let answer = any_service(service)
        .layer::<_, core::convert::Infallible>(world.axum())
        .oneshot(request.body(Full::<Bytes>::default()).unwrap());
    assert_eq!(answer.await.unwrap().status().as_u16(), 400);
}

#[test]
fn a_route_that_the_policy_lacks_is_refused_and_counted() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let world = World::new();
    metrics::with_local_recorder(&recorder, || {
        runtime.block_on(async {
            let app = users().layer(world.axum());
            assert_eq!(world.get(&app, "/users/7").await, (200, "one /users/7".to_owned()));
            // The policy has `/users/{id}`, whose scope the token holds.
            assert_eq!(world.status(&app, "/users/export").await, 404);
            assert_eq!(world.status(&app, "/users/7/files").await, 404);
            let catch_all = Router::new().route("/{*path}", any(async || "any")).layer(world.axum());
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
        ("nest_service", Router::new().nest_service("/users", users())),
        ("nest_service below a parameter", Router::new().nest_service("/{realm}", users())),
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
    let leaf = Router::new().route("/users/{id}", service).layer(world.axum());
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
    let service = [("GET", "/users/export"), ("DELETE", "/users/{id}"), ("GET", "/users/{*path}"), ("GET", "/health")];
    let error = engines.check_routes(policy.into_iter().skip(1).chain(service)).unwrap_err();
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

/// A handler that names the route it was allowed by.
async fn allowed_by(allowed: Allowed) -> String {
    allowed.route().unwrap().as_str().to_owned()
}

#[tokio::test]
async fn a_handler_without_a_gate_answers_500() {
    let world = World::new();
    let app = Router::new().route("/users", get(allowed_by)).layer(world.axum()).route("/users/{id}", get(allowed_by));
    assert_eq!(world.get(&app, "/users").await, (200, "GET /users".to_owned()));
    assert_eq!(world.get(&app, "/users/7").await, (500, String::new()));
    let checked = Router::new().route("/users", get(async || "list")).layer(CheckDispatch);
    assert_eq!(world.get(&checked, "/users").await, (500, String::new()));
    // Without the argument and without the layer, axum serves it.
    assert_eq!(world.status(&users(), "/users").await, 200);
}

#[tokio::test]
async fn routes_that_no_gate_is_around_are_found() {
    let world = World::new();
    let handler = async || "ran";
    let app = Router::new()
        .route("/users", get(handler))
        .nest("/admin", users())
        .fallback(handler)
        .layer(world.axum())
        .route("/users/{id}", get(handler))
        .route("/users", axum::routing::post(handler));
    let routes = [
        ("GET", "/users"),
        ("POST", "/users"),
        ("GET", "/admin/users/{user_id}"),
        ("GET", "/users/{id}"),
        ("GET", "/elsewhere/{*rest}"),
        ("not a method", "/users"),
    ];
    let ungated = ["POST /users", "GET /users/{id}", "not a method /users"];
    assert_eq!(ungated_routes(&app, routes).await, ungated);
    // A method that nothing serves runs no handler, and finds paths.
    let templates = ["/users", "/admin/users", "/users/{id}", "/elsewhere"];
    assert_eq!(
        ungated_routes(&app, templates.map(|template| ("ORBGATE", template))).await,
        ["ORBGATE /users", "ORBGATE /users/{id}"]
    );
    let outside = Router::new().fallback_service(world.outermost().layer(app));
    assert_eq!(ungated_routes(&outside, routes).await.len(), 1);
}

/// Middleware between the gate and the router: an export by suffix, a method by query.
fn rewrite<B>(mut request: Request<B>) -> Request<B> {
    if request.uri().path() == "/users/7.csv" {
        *request.uri_mut() = "/users/export".parse().unwrap();
    }
    if request.uri().query() == Some("_method=DELETE") {
        *request.method_mut() = http::Method::DELETE;
    }
    request
}

#[tokio::test]
async fn a_rewrite_between_gate_and_router_reaches_no_other_handler() {
    let world = World::new();
    let by_argument = Router::new().route("/users/{id}", any(allowed_by)).route("/users/export", any(allowed_by));
    let plain = Router::new().route("/users/{id}", any(async || "one")).route("/users/export", any(async || "export"));
    // A route that the policy lacks, without a rewrite.
    let lacks = |app: Router| app.fallback(async || "any");
    for (name, app, is_safe) in [
        ("unchecked", plain.clone(), false),
        ("by argument", by_argument, true),
        ("by layer", lacks(plain).layer(CheckDispatch), true),
    ] {
        let inner = MapRequestLayer::new(rewrite).layer(app);
        let mut status = Vec::new();
        for target in ["/users/7", "/users/7?_method=GET", "/users/7.csv", "/users/7?_method=DELETE", "/users/export"] {
            let gate = world.outermost().layer(inner.clone());
            let bearer = format!("Bearer {}", world.token);
            let request = Request::get(target).header("authorization", bearer);
            let request = request.body(axum::body::Body::empty()).unwrap();
            let answer = gate.oneshot(request).await.unwrap();
            status.push(answer.status().as_u16());
        }
        let expected = if is_safe { 404 } else { 200 };
        assert_eq!(status, [200, 200, expected, expected, expected], "{name}");
    }
}

#[tokio::test]
async fn a_rewrite_inside_a_router_changes_no_parameter() {
    let world = World::new();
    let inner = Router::new().route("/users/{id}", get(async || "one")).route("/", get(async || "root"));
    let inner = inner.nest("/{realm}", users());
    let other = MapRequestLayer::new(|mut request: Request<axum::body::Body>| {
        // The root could also be the rest of a path of which a nested router has stripped all.
        let rewritten = match request.uri().path_and_query().unwrap().as_str() {
            "/users/7" => "/users/8",
            "/users/9" => "/",
            "/users/6?all=no" => "/users/6?all=yes",
            _ => return request,
        };
        *request.uri_mut() = rewritten.parse().unwrap();
        request
    });
    let around = |inner: Router| Router::new().fallback_service(other.layer(inner));
    let checked = world.outermost().layer(around(inner.clone().layer(CheckDispatch)));
    let gated = around(inner.layer(world.axum()));
    let table = [
        ("/users/6", 200),
        ("/users/6?all=yes", 200),
        ("/x/users/7?all=no", 200),
        ("/users/6?all=no", 404),
        ("/users/7", 404),
        ("/users/9", 404),
    ];
    for (target, expected) in table {
        let request = Request::get(target).header("authorization", format!("Bearer {}", world.token));
        let request = request.body(axum::body::Body::empty()).unwrap();
        let status = checked.clone().oneshot(request).await.unwrap().status().as_u16();
        assert_eq!((status, world.status(&gated, target).await), (expected, expected), "{target}");
    }
}

#[tokio::test]
async fn a_preflight_runs_no_handler_that_depends_on_the_gate() {
    let world = World::new();
    for (name, handlers, expected) in [
        ("by argument", any(allowed_by), 404),
        ("by layer", any(async || "ran").layer(CheckDispatch), 404),
        ("for itself", get(allowed_by).options(async || "cors"), 200),
    ] {
        let gate = world.outermost().cors_preflight(CorsPreflight::Pass);
        let gate = gate.layer(Router::new().route("/users/{id}", handlers));
        let request = Request::options("/users/7")
            .header("origin", "https://app.example")
            .header("access-control-request-method", "GET");
        let request = request.body(axum::body::Body::empty()).unwrap();
        let answer = gate.oneshot(request).await.unwrap();
        assert_eq!(answer.status().as_u16(), expected, "{name}");
    }
}

/// The README warns of this. axum layers each method's handler separately and gives a layer only the handler, so no layer learns
/// under which method the router chose it.
#[tokio::test]
async fn a_method_must_be_rewritten_outside_the_whole_router() {
    let world = World::new();
    let as_get = MapRequestLayer::new(|mut request: Request<axum::body::Body>| {
        *request.method_mut() = http::Method::GET;
        request
    });
    let handlers = get(async || "GET").delete(async || "DELETE");
    let gated = Router::new().route("/users/{id}", handlers).layer(world.axum());
    let outside = Router::new().fallback_service(as_get.clone().layer(gated.clone()));
    let inside = gated.layer(as_get);
    for (app, served) in [(inside, "DELETE"), (outside, "GET")] {
        let bearer = format!("Bearer {}", world.token);
        let request = Request::delete("/users/7").header("authorization", bearer);
        let request = request.body(axum::body::Body::empty()).unwrap();
        let body = app.oneshot(request).await.unwrap().into_body();
        let body = axum::body::to_bytes(body, 1024).await.unwrap();
        assert_eq!(body, served);
    }
}

#[tokio::test]
async fn a_service_that_routes_itself_gets_only_what_was_decided() {
    let world = World::new();
    let inner = service_fn(async |_| Ok::<_, core::convert::Infallible>(http::Response::new(Full::<Bytes>::default())));
    let rewriting = |request: Request<_>| {
        let (mut parts, body) = request.into_parts();
        if parts.uri.path() == "/users/7" {
            parts.uri = "/users/8".parse().unwrap();
        }
        Request::from_parts(parts, body)
    };
    for (target, flat, expected) in [("/users", true, 200), ("/users/7", true, 403), ("/users/7", false, 404)] {
        let gate = world.outermost();
        let gate = if flat { gate.flat_403() } else { gate };
        let app = MapRequestLayer::new(rewriting).layer(CheckDispatch.layer(inner));
        let bearer = format!("Bearer {}", world.token);
        let request = Request::get(target).header("authorization", bearer);
        let answer = gate.layer(app).oneshot(request.body(Full::<Bytes>::default()).unwrap());
        assert_eq!(answer.await.unwrap().status(), expected, "{target}");
    }
}
