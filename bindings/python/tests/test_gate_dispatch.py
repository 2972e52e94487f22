"""Where a framework dispatches: public routes and preflights, prefixes, hosts and applications inside routes."""

import json
from typing import Any

import pytest
from orbgate import Policy
from orbgate.gate import RoutesDiffer, asgi, wsgi
from test_gate import USERS, World, call, call_wsgi, service
from test_gate_frameworks import REWRITES, applications

pytestmark = pytest.mark.once

ORIGIN = "https://app.example"
PUBLIC = ["GET /docs", "GET /openapi.json", "GET /healthz"]
PREFLIGHT = [(b"host", b"a"), (b"origin", ORIGIN.encode()), (b"access-control-request-method", b"GET")]
MISROUTED = "orbgate_misrouted_total GET /users/{id} "


def preflights(**options: Any) -> World:
    return World(Policy.from_yaml(USERS), cors_preflight="pass", **options)


def test_a_preflight_runs_only_a_starlette_handler_for_options() -> None:
    from fastapi import APIRouter, FastAPI
    from orbgate.gate.starlette import protect
    from starlette.applications import Starlette
    from starlette.endpoints import HTTPEndpoint
    from starlette.responses import PlainTextResponse
    from starlette.routing import Mount, Route

    ran: list[str] = []

    async def handler(request: Any) -> Any:
        ran.append(request.method)
        return PlainTextResponse("")

    class Own(HTTPEndpoint):
        async def get(self, request: Any) -> Any:
            raise AssertionError

        async def options(self, request: Any) -> Any:
            return await handler(request)

    class Shared(HTTPEndpoint):
        async def get(self, request: Any) -> Any:
            return await handler(request)

        options = get

    class Dispatches(Own):
        async def dispatch(self) -> None:
            await super().dispatch()

    class Awaits(Own):
        def __await__(self) -> Any:
            return super().__await__()

    class Application:
        """An ASGI application, which takes all methods."""

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            ran.append(scope["method"])
            await PlainTextResponse("")(scope, receive, send)

    def fastapi(*methods: str, is_plain: bool = False, endpoint: Any = handler) -> Any:
        app, router = FastAPI(), APIRouter()
        if is_plain:
            router.add_route("/users/{id}", endpoint, methods=list(methods) or None)
        else:
            router.add_api_route("/users/{id}", endpoint, methods=list(methods), response_model=None)
        app.include_router(router)
        return app

    def starlette(endpoint: Any = handler, *methods: str) -> Any:
        return Starlette(routes=[Route("/users/{id}", endpoint, methods=list(methods) or None)])

    async def of_fastapi(id: str) -> str:
        ran.append("OPTIONS")
        return id

    table: list[tuple[Any, bool]] = [
        (starlette(), False),
        (starlette(handler, "GET", "OPTIONS"), False),
        (starlette(handler, "OPTIONS"), True),
        (starlette(Own), True),
        (starlette(Own, "OPTIONS", "GET"), False),
        (starlette(Shared), False),
        (starlette(Dispatches), False),
        (starlette(Awaits), False),
        (starlette(Application()), False),
        (starlette(Application(), "OPTIONS"), True),
        (Starlette(routes=[Mount("/users", routes=[Route("/{id}", handler, methods=["OPTIONS"])])]), True),
        (Starlette(routes=[Mount("/users", routes=[Route("/{id}", Application())])]), False),
        (fastapi("OPTIONS", endpoint=of_fastapi), True),
        (fastapi("GET", "OPTIONS", endpoint=of_fastapi), False),
        (fastapi("OPTIONS", is_plain=True), True),
        (fastapi(is_plain=True, endpoint=Own), True),
        (fastapi(is_plain=True, endpoint=Shared), False),
    ]
    for number, (app, is_for_options) in enumerate(table):
        ran.clear()
        world = preflights()
        protect(app, world.gate)
        status = call(app, "/users/7", PREFLIGHT, method="OPTIONS")[0]
        assert (status, ran) == ((200, ["OPTIONS"]) if is_for_options else (404, [])), number
        counted = "allow public_route" if is_for_options else "deny no_route"
        assert (world.counted[f"orbgate_decisions_total {counted} "], len(world.audit)) == (1, 1), number
        assert call(app, "/users/7", world.headers("read:a"), method="OPTIONS")[0] == 405, number

    # A route that is declared for OPTIONS isn't a preflight.
    world = preflights(public=["OPTIONS /status/{id}"])
    app = Starlette(routes=[Route("/status/{id}", handler, methods=["GET", "OPTIONS"])])
    app.add_middleware(asgi.GateMiddleware, gate=world.gate)
    assert call(app, "/status/7", PREFLIGHT, method="OPTIONS")[0] == 200


def test_a_preflight_runs_only_a_flask_view_for_options() -> None:
    import flask
    from flask.views import MethodView, View
    from orbgate.gate.flask import allowed, protect

    ran: list[str] = []

    def view(id: str) -> str:
        ran.append(flask.request.method)
        allowed(flask.request)
        return id

    class Own(MethodView):
        def get(self, id: str) -> str:
            raise AssertionError

        def options(self, id: str) -> str:
            return view(id)

    class Shared(MethodView):
        def get(self, id: str) -> str:
            return view(id)

        options = get

    class Dispatches(Own):
        def dispatch_request(self, **given: Any) -> Any:
            return super().dispatch_request(**given)

    class Plain(View):
        methods = ("GET", "OPTIONS")

        def dispatch_request(self, **given: str) -> str:
            return view(**given)

    table: list[tuple[dict[str, Any], int, list[str]]] = [
        ({"view_func": view}, 200, []),
        ({"view_func": view, "methods": ["GET", "OPTIONS"]}, 404, []),
        ({"view_func": view, "methods": ["OPTIONS"]}, 200, ["OPTIONS"]),
        ({"view_func": view, "methods": ["GET", "OPTIONS"], "provide_automatic_options": True}, 200, []),
        ({"view_func": Own.as_view("own")}, 200, ["OPTIONS"]),
        ({"view_func": Shared.as_view("shared")}, 404, []),
        ({"view_func": Dispatches.as_view("dispatches")}, 404, []),
        ({"view_func": Plain.as_view("plain")}, 404, []),
    ]
    for number, (options, status, expected) in enumerate(table):
        ran.clear()
        app, world = flask.Flask("service"), preflights()
        app.add_url_rule("/users/<id>", "user", **options)
        protect(app, world.gate)
        headers = {"Origin": ORIGIN, "Access-Control-Request-Method": "GET"}
        assert (app.test_client().options("/users/7", headers=headers).status_code, ran) == (status, expected), number
        assert len(world.audit) == 1


def test_a_preflight_of_another_framework_is_compared_as_one() -> None:
    world = preflights()
    answer = world.gate.answer("OPTIONS", "/users/7", PREFLIGHT)
    assert answer and answer.preflight
    for only_options in (False, True):
        allowed = world.gate.allowed(answer, "OPTIONS", "/users/7")
        compared = allowed.compare("OPTIONS", "/users/7", "/users/{id}", only_options=only_options)
        assert (bool(compared), compared.status) == ((True, None) if only_options else (False, 404))
        assert not allowed.compare("OPTIONS", "/users/7", "", only_options=only_options)
    # A router that names only the template doesn't tell which methods the handler takes.
    assert world.gate.answer("OPTIONS", "/users/7", PREFLIGHT, lambda: "/users/{id}").status == 404
    assert world.gate.answer("GET", "/users/7", world.headers("read:a"), lambda: "/users/{id}")


def test_cors_middleware_of_starlette_answers_preflights() -> None:
    from orbgate.gate.starlette import protect
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.cors import CORSMiddleware
    from starlette.routing import Route

    async def handler(request: Any) -> Any:
        raise AssertionError("it must not run")

    app = Starlette(routes=[Route("/users/{id}", handler)], middleware=[Middleware(CORSMiddleware, allow_origins=[ORIGIN])])
    world = preflights()
    protect(app, world.gate)
    status, headers, _ = call(app, "/users/7", PREFLIGHT, method="OPTIONS")
    assert (status, headers[b"access-control-allow-origin"]) == (200, ORIGIN.encode())
    assert call(app, "/nowhere", PREFLIGHT, method="OPTIONS")[0] == 401


def test_a_script_name_from_elsewhere_disguises_no_path() -> None:
    """gunicorn takes `SCRIPT_NAME` from a header of some peers. The application sees only the rest of the path."""
    seen: list[str] = []

    def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        wsgi.allowed(environ)
        seen.append(environ["PATH_INFO"])
        start_response("200 OK", [])
        return [b""]

    below = {"SCRIPT_NAME": "/users", "PATH_INFO": "/export"}
    for script_name, changes, status in [("", below, 404), ("/user", below, 404), ("/users", below, 200), ("/users", {}, 404), ("", {}, 200)]:
        for is_compared in (False, True):
            world = World(Policy.from_yaml(USERS))
            seen.clear()
            app = wsgi.GateMiddleware(application, world.gate, script_name=script_name, is_compared=is_compared)
            assert call_wsgi(app, "/users/export", world.headers("read:a"), **changes) == status
            assert seen == ([changes.get("PATH_INFO", "/users/export")] if status == 200 else [])
            assert world.counted[MISROUTED] == (status == 404) and len(world.audit) == 1


def test_a_root_path_from_elsewhere_disguises_no_path() -> None:
    """Daphne takes `root_path` from a header, for example. An application might use only the rest of the path."""
    for expected, root_path, status in [("", "/users", 404), ("/other", "/users", 404), ("/users", "/users", 200), ("/users", "", 404), ("", "", 200)]:
        for is_compared in (False, True):
            world = World(Policy.from_yaml(USERS))
            app = asgi.GateMiddleware(service, world.gate, root_path=expected, is_compared=is_compared)
            assert call(app, "/users/export", world.headers("read:a"), root_path=root_path)[0] == status
            assert world.counted[MISROUTED] == (status == 404) and len(world.audit) == 1
    world = World(Policy.from_yaml(USERS))
    app = asgi.GateMiddleware(service, world.gate)
    assert call(app, "/users/7", world.headers("read:a"), root_path="/users", type="websocket", method=None)[0] == 1008


def test_a_route_of_one_host_is_not_the_decided_one() -> None:
    from fastapi import APIRouter, FastAPI, routing
    from orbgate.gate.starlette import protect
    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse
    from starlette.routing import Host, Mount, Route, Router

    def handler(name: str) -> Any:
        async def of(request: Any) -> Any:
            return PlainTextResponse(name)

        return of

    def routes() -> list[Any]:
        return [Host("admin.internal", app=Router([Route("/users/{id}", handler("admin"))])), Route("/users/{id}", handler("public"))]

    def included() -> Any:
        app, router = FastAPI(), APIRouter()
        router.routes += routes()
        app.include_router(router)
        return app

    apps: dict[str, Any] = {"a host": lambda: Starlette(routes=routes()), "below a mount": lambda: Starlette(routes=[Mount("", routes=routes())])}
    if hasattr(routing, "_IncludedRouter"):
        # Older versions can't include hosts.
        apps["included"] = included
    for how, made in apps.items():
        for policy, public in [(USERS, []), (USERS.replace("users", "orders"), ["GET /users/{id}"])]:
            world = World(Policy.from_yaml(policy), public=public)
            with pytest.raises(RoutesDiffer) as raised:
                protect(made(), world.gate)
            assert raised.value.undeclared == [("GET //admin.internal/users/{id}", None)], how
            app = made()
            app.add_middleware(asgi.GateMiddleware, gate=world.gate)
            (_, bearer) = world.headers("read:a")
            credentials = [] if public else [bearer]
            status, _, body = call(app, "/users/7", [(b"host", b"admin.internal"), *credentials])
            assert (status, body) == (404, b""), how
            assert call(app, "/users/7", [(b"host", b"a"), *credentials])[2] == b"public"


@pytest.mark.parametrize("by", ["subdomain", "host"])
def test_a_flask_rule_of_one_host_is_not_the_decided_one(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import flask
    from orbgate.gate.flask import check, protect

    def application(**options: Any) -> Any:
        matches: dict[str, Any] = {"subdomain_matching": True} if by == "subdomain" else {"host_matching": True, "static_host": "example.com"}
        app = flask.Flask("service", **matches)
        app.config["SERVER_NAME"] = "example.com"
        app.add_url_rule("/users/<id>", "admin", lambda id: "admin", **options)
        if by == "subdomain":
            app.add_url_rule("/users/<id>", "public", lambda id: "public")
        return app

    options = {"subdomain": "admin"} if by == "subdomain" else {"host": "admin.example.com"}
    world = World(Policy.from_yaml(USERS))
    with pytest.raises(RoutesDiffer) as raised:
        check(application(**options), world.gate)
    assert raised.value.undeclared == [(f"GET //{next(iter(options.values()))}/users/{{id}}", None)]
    # Rules that are added after the check.
    app = application(**options)
    with monkeypatch.context() as patch:
        patch.setattr(app.url_map, "iter_rules", lambda: iter([]))
        protect(app, world.gate)
    bearer = {"Authorization": world.headers("read:a")[1][1].decode()}
    assert app.test_client().get("/users/7", headers=bearer, base_url="http://admin.example.com").status_code == 404
    if by == "subdomain":
        assert app.test_client().get("/users/7", headers=bearer, base_url="http://example.com").get_data() == b"public"


def test_an_application_as_an_endpoint_is_compared() -> None:
    from fastapi import FastAPI
    from orbgate.gate.starlette import protect
    from starlette.applications import Starlette
    from starlette.middleware.cors import CORSMiddleware
    from starlette.responses import PlainTextResponse
    from starlette.routing import Mount, Route, Router

    async def handler(request: Any) -> Any:
        return PlainTextResponse("")

    def inner(*paths: str) -> list[Any]:
        return [Route(path, handler) for path in paths]

    both = inner("/users/export", "/users/{id}")
    table: list[tuple[str, list[Any], str]] = [
        ("an application", [Route("/users/{id}", Starlette(routes=both))], "export"),
        ("a router", [Route("/users/{id}", Router(routes=both))], "export"),
        ("FastAPI", [Route("/users/{id}", FastAPI(routes=both, openapi_url=None))], "export"),
        ("a middleware", [Route("/users/{id}", CORSMiddleware(Starlette(routes=both)))], "export"),
        ("every path", [Route("/{rest:path}", Starlette(routes=both))], "export"),
        ("a mount", [Mount("/users", routes=[Route("/{id}", Starlette(routes=inner("/export", "/{id}")))])], "export"),
        ("nothing", [Route("/users/{id}", Starlette(routes=inner("/users/{id}")))], ""),
    ]
    for how, routes, undeclared in table:
        world = World(Policy.from_yaml(USERS))
        app = Starlette(routes=routes)
        if undeclared:
            with pytest.raises(RoutesDiffer) as raised:
                protect(app, world.gate)
            assert raised.value.undeclared == [("GET /users/export", "GET /users/{id}")], how
            app = Starlette(routes=routes)
            app.add_middleware(asgi.GateMiddleware, gate=world.gate)
        else:
            protect(app, world.gate)
        assert call(app, "/users/7", world.headers("read:a"))[0] == 200, how
        assert call(app, "/users/export", world.headers("read:a"))[0] == (404 if undeclared else 200), how


def test_health_checks_documentation_and_preflights_of_fastapi_need_no_token() -> None:
    from fastapi import FastAPI, Request
    from fastapi.middleware.cors import CORSMiddleware
    from orbgate.gate.starlette import protect

    def application() -> Any:
        app = FastAPI()
        app.add_middleware(CORSMiddleware, allow_origins=["https://app.example"])

        @app.get("/users/{id}")
        def user(id: str) -> str:
            return id

        @app.get("/healthz")
        def health(request: Request) -> str | None:
            return asgi.allowed(request).public_template

        return app

    world, app = World(Policy.from_yaml(USERS), public=PUBLIC, cors_preflight="pass"), application()
    protect(app, world.gate)
    assert "security" not in app.openapi()["paths"]["/healthz"]["get"]
    for target in ("/docs", "/openapi.json", "/healthz"):
        assert call(app, target, [(b"host", b"a")])[0] == 200, target
        assert world.counted.pop("orbgate_decisions_total allow public_route ") == 1
    assert call(app, "/healthz", [(b"authorization", b"Bearer nonsense")])[2] == b'"/healthz"'
    assert call(app, "/healthz", [], method="HEAD")[0] == 401
    assert call(app, "/redoc", [(b"host", b"a")])[0] == 401
    status, headers, _ = call(app, "/users/7", PREFLIGHT, method="OPTIONS")
    assert (status, headers[b"access-control-allow-origin"]) == (200, b"https://app.example")
    assert call(app, "/nowhere", PREFLIGHT, method="OPTIONS")[0] == 401
    assert {json.loads(line)["reason"] for line in world.audit[:3]} == {"public_route"}

    # Without the options, all of them need one; a route that is not declared doesn't start.
    closed = World(Policy.from_yaml(USERS))
    with pytest.raises(RoutesDiffer, match="GET /healthz"):
        protect(application(), closed.gate)
    # The error of another route doesn't call the documentation's pages unserved.
    app = application()
    app.get("/more")(lambda: "")
    with pytest.raises(RoutesDiffer) as raised:
        protect(app, World(Policy.from_yaml(USERS), public=[*PUBLIC, "GET /lacking"]).gate)
    assert (raised.value.undeclared, raised.value.unserved) == ([("GET /more", None)], ["GET /lacking"])


@pytest.mark.parametrize("name", REWRITES)
def test_a_request_of_a_public_route_runs_no_other(name: str) -> None:
    """A middleware that makes another request of a health check reaches nothing."""
    from orbgate.gate.starlette import protect

    for how in applications({}, []):
        ran: list[str] = []
        app = applications(REWRITES[name], ran)[how]
        policy = USERS.replace("GET /users/{id}", "GET /export")
        world = World(Policy.from_yaml(policy), public=["GET /users/{id}", "DELETE /users/{id}"])
        protect(app, world.gate)
        status = call(app, "/users/7", [(b"host", b"a")])[0]
        assert (status, ran) == ((200, ["GET /users/7"]) if name == "nothing" else (404, [])), how


def test_a_public_route_has_no_token_and_no_other_meaning() -> None:
    policy = Policy.from_yaml(USERS)
    world = World(policy, public=["GET /healthz"])
    answer = world.gate.answer("GET", "/healthz", [])
    allowed = world.gate.allowed(answer, "GET", "/healthz")
    assert (allowed.public_template, allowed.decision.route, allowed.decision.scope, allowed.charge(b'{"allowBonusOrbsUse":true}')) == ("/healthz", None, None, None)
    with pytest.raises(RuntimeError, match="no token"):
        allowed.token.kind
    assert not world.gate.answer("GET", "/healthz", [], lambda: "/users/{id}")
    with pytest.raises(ValueError, match="same paths"):
        World(policy, public=["POST /users/{any}"])
    with pytest.raises(ValueError, match="healthz"):
        World(policy, public=["healthz"])


def test_each_of_two_gates_compares() -> None:
    from flask import Flask
    from orbgate.gate import flask, starlette
    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    async def page(request: Any) -> Any:
        return PlainTextResponse(str(asgi.allowed(request).decision.route))

    narrow, wide = USERS, USERS.replace("routes: [", "routes: [GET /users/export, ")
    for policies in ((narrow, wide), (wide, narrow)):
        first = World(Policy.from_yaml(policies[0]))
        worlds = [first, World(Policy.from_yaml(policies[1]), fetch=first.issuer.fetch)]
        app = Starlette(routes=[Route("/users/export", page), Route("/users/{id}", page)])
        other = Flask("other")
        for name, rule in (("one", "/users/export"), ("two", "/users/<id>")):
            other.add_url_rule(rule, name, lambda **_: "")
        for world in worlds:
            if policies.index(wide) == worlds.index(world):
                flask.protect(other, world.gate)
                starlette.protect(app, world.gate)
            else:
                other.wsgi_app = wsgi.GateMiddleware(other.wsgi_app, world.gate, is_compared=True)  # type: ignore[method-assign]
                app.add_middleware(asgi.GateMiddleware, gate=world.gate)
        headers = worlds[0].headers("read:a")
        assert [call(app, path, headers)[0] for path in ("/users/7", "/users/export")] == [200, 404]
        assert [call_wsgi(other, path, headers) for path in ("/users/7", "/users/export")] == [200, 404]
        # The one whose policy lacks the route.
        effects = [json.loads(line)["decision"] for line in worlds[policies.index(narrow)].audit]
        assert effects == ["allow", "deny", "allow", "deny"]

    # One gate of two applications audits a request once.
    world = World(Policy.from_yaml(USERS))
    headers = world.headers("read:a")
    app = Starlette(routes=[Route("/users/{id}", page)])
    for _ in range(2):
        app.add_middleware(asgi.GateMiddleware, gate=world.gate)
    twice = asgi.GateMiddleware(asgi.GateMiddleware(service, world.gate), world.gate)
    again = wsgi.GateMiddleware(wsgi.GateMiddleware(lambda _, start: start("200 -", []) or [], world.gate), world.gate)
    assert [call(app, "/users/7", headers)[0], call(twice, "/users/7", headers)[0], call_wsgi(again, "/users/7", headers)] == [200] * 3
    assert [json.loads(line)["decision"] for line in world.audit] == ["allow"] * 3


def test_what_a_response_compares_while_it_is_read_is_audited_as_that() -> None:
    world = World(Policy.from_yaml(USERS))
    closed: list[str] = []

    def application(environ: dict[str, Any], start_response: Any) -> Any:
        try:
            if environ["PATH_INFO"] != "/users/other":
                answer = wsgi.allowed(environ).compare("GET", environ["PATH_INFO"], environ.get("template", "/users/{id}"))
                if not answer:
                    start_response(f"{answer.status} -", answer.headers)
                    return
            start_response("200 -", [])
            yield b"piece"
        finally:
            closed.append("closed")

    app = wsgi.GateMiddleware(application, world.gate, is_compared=True)
    headers = world.headers("read:a")
    assert [call_wsgi(app, "/users/7", headers), call_wsgi(app, "/users/7", headers, template="/users/export")] == [200, 404]
    assert [json.loads(line)["decision"] for line in world.audit] == ["allow", "deny"]
    environ = {"PATH_INFO": "/users/other", "RAW_URI": "/users/other", "REQUEST_METHOD": "GET", "HTTP_AUTHORIZATION": headers[1][1].decode()}
    response: Any = app(environ, lambda *_: None)
    assert next(iter(response)) == b"piece" and len(world.audit) == 2
    response.close()
    assert len(world.audit) == len(closed) == 3


def test_a_request_that_is_denied_late_is_audited_as_denied() -> None:
    from flask import Flask, request
    from orbgate.gate import flask

    world = World(Policy.from_yaml(USERS))
    app, headers = Flask("late"), world.headers("read:a")
    app.add_url_rule("/users/<id>", "user", lambda id: "")

    @app.before_request
    def rewrite() -> None:
        if "late" in request.args:
            request.method = "DELETE"

    flask.protect(app, world.gate)

    def effects() -> list[str]:
        lines, world.audit[:] = [*world.audit], []
        return [json.loads(line)["decision"] for line in lines]

    late: Any = {"QUERY_STRING": "late", "RAW_URI": "/users/7?late"}
    assert [call_wsgi(app, "/users/7", headers), call_wsgi(app, "/users/7", headers, **late)] == [200, 404]
    assert effects() == ["allow", "deny"]

    # What is audited before the comparison, once.
    for template, expected in (("/users/{id}", ["allow"]), ("/users/export", ["allow", "deny"])):
        allowed = world.gate.allowed(world.gate.answer("GET", "/users/7", headers), "GET", "/users/7")
        assert [bool(allowed.compare("GET", "/users/7", template)) for _ in range(2)] == [expected == ["allow"]] * 2
        assert effects() == expected

    async def dispatch(scope: Any, receive: Any, send: Any) -> None:
        assert not asgi.allowed(scope).compare("GET", "/users/7", "/users/export")
        await service(scope, receive, send)

    call(asgi.GateMiddleware(dispatch, world.gate), "/users/7", headers)
    assert effects() == ["allow", "deny"]


def test_a_protocol_that_the_gate_does_not_know_reaches_nothing() -> None:
    world = World(Policy.from_yaml(USERS))
    ran: list[str] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        ran.append(scope["type"])
        await service(scope, receive, send)

    for kind in ("webtransport", "http.other", "channel"):
        with pytest.raises(RuntimeError, match=f"'{kind}'"):
            call(asgi.GateMiddleware(application, world.gate), "/users/7", world.headers("read:a"), type=kind)
    assert ran == []
