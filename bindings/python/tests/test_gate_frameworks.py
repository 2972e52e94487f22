"""Frameworks under a gate: only the decided route runs, with the decided method, in the oldest and in the newest version of each."""

import contextlib
import json
import logging
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from orbgate import Policy
from orbgate.gate import RoutesDiffer, asgi
from test_gate import USERS, World, call

pytestmark = pytest.mark.once

# Callers have `read:a`, so they may not export, and may not delete.
RULES = """
orbgate: 1
apis:
  a:
    base_path: ""
    scopes:
      read:a: { orbs: false, routes: ["GET /users/{id}", "HEAD /users/{id}"] }
      write:a: { orbs: false, routes: ["DELETE /users/{id}", "GET /export"] }
...
"""
# What something inside the gate makes of `GET /users/7`.
REWRITES: dict[str, dict[str, Any]] = {
    "another route": {"path": "/export"},
    "another method": {"method": "DELETE"},
    "another user": {"path": "/users/8"},
    "nothing": {},
}
ALLOWED, MISROUTED = "orbgate_decisions_total allow scope_held GET /users/{id}", "orbgate_misrouted_total GET /users/{id} "


def judge(world: World, name: str, status: int, ran: list[str]) -> None:
    """Only the decided request reaches a handler, and each is counted once."""
    if name == "nothing":
        assert (status, ran, world.counted) == (200, ["GET /users/7"], {ALLOWED: 1})
    else:
        assert (status, ran, world.counted) == (404, [], {"orbgate_decisions_total deny no_route ": 1, MISROUTED: 1})
    assert len(world.audit) == 1


class Rewrites:
    """A middleware that changes a request."""

    def __init__(self, app: Any, changes: dict[str, Any]) -> None:
        self.app = app
        self.changes = changes

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.app({**scope, **self.changes}, receive, send)


def applications(changes: dict[str, Any], ran: list[str]) -> dict[str, Any]:
    """The same service by the ways in which routers and middlewares of Starlette and FastAPI can be put together."""
    from fastapi import APIRouter, FastAPI
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.requests import Request
    from starlette.responses import PlainTextResponse
    from starlette.routing import Host, Mount, Route, Router

    async def handler(request: Request) -> PlainTextResponse:
        ran.append(f"{request.method} {request.url.path}")
        found = asgi.allowed(request)
        return PlainTextResponse(found.public_template or found.token.subject or "")

    def routes(prefix: str = "") -> list[Any]:
        both = [Route("/users/{id}", handler, methods=["GET", "DELETE"]), Route("/export", handler)]
        return [Mount("/users", routes=[Route("/{id}", handler, methods=["GET", "DELETE"])]), both[1]] if prefix else both

    def fastapi(**options: Any) -> Any:
        app, users, deeper = FastAPI(**options), APIRouter(prefix="/users"), APIRouter()
        users.add_api_route("/{id}", handler, methods=["GET"], response_model=None)
        deeper.add_route("/users/{id}", handler, methods=["DELETE"])
        deeper.add_api_route("/export", handler, response_model=None)
        outer = APIRouter()
        outer.include_router(users)
        outer.include_router(deeper)
        app.include_router(outer)
        return app

    rewrites = [Middleware(Rewrites, changes=changes)]
    made = {
        "an application": Starlette(routes=routes(), middleware=rewrites),
        "a router": Starlette(),
        "a mount's routes": Starlette(routes=routes("/users"), middleware=rewrites),
        "a mount": Starlette(routes=[Mount("/", routes=routes(), middleware=rewrites)]),
        "a mounted router": Starlette(routes=[Mount("/", app=Router(routes=routes(), middleware=rewrites))]),
        "a mounted application": Starlette(routes=[Mount("/", app=Starlette(routes=routes(), middleware=rewrites))]),
        "a host": Starlette(routes=[Host("a", app=Router(routes=routes(), middleware=rewrites))]),
        "a middleware around it all": Starlette(routes=[Mount("", app=Rewrites(Router(routes=routes()), changes))]),
        "FastAPI": fastapi(middleware=rewrites),
        "FastAPI, mounted": FastAPI(),
        "FastAPI, in an included router": FastAPI(),
    }
    made["a router"].router = Router(routes=routes(), middleware=rewrites)
    made["FastAPI, mounted"].mount("/", fastapi(middleware=rewrites))
    included, router = made["FastAPI, in an included router"], APIRouter()
    router.mount("/users", Router(routes=[Route("/{id}", handler, methods=["GET", "DELETE"])], middleware=rewrites))
    included.include_router(router)
    if not any(hasattr(route, "effective_route_contexts") for route in included.routes):
        # Older versions leave out mounts.
        del made["FastAPI, in an included router"]
    return made


@pytest.mark.parametrize("name", REWRITES)
def test_starlette_and_fastapi_run_the_decided_route(name: str) -> None:
    from orbgate.gate.starlette import protect

    for how in applications({}, []):
        ran: list[str] = []
        app = applications(REWRITES[name], ran)[how]
        world = World(Policy.from_yaml(RULES))
        protect(app, world.gate)
        judge(world, name, call(app, "/users/7", world.headers("read:a"))[0], ran)


@pytest.mark.parametrize("name", REWRITES)
def test_a_gate_around_starlette_compares_too(name: str) -> None:
    for how in applications({}, []):
        ran: list[str] = []
        app = applications(REWRITES[name], ran)[how]
        world = World(Policy.from_yaml(RULES))
        judge(world, name, call(asgi.GateMiddleware(app, world.gate), "/users/7", world.headers("read:a"))[0], ran)


def test_a_root_path_that_a_middleware_sets_leads_nowhere() -> None:
    """It cuts off what a router doesn't compare: below `/a`, `/users/{id}` would run for `/a/users/7`."""
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.routing import Mount, Route

    async def handler(request: Any) -> Any:
        raise AssertionError("it must not run")

    routes = [Route("/users/{id}", handler), Mount("/a", routes=[Route("/users/{id}", handler)]), Route("/{id}", handler)]
    for root_path in ("/a", "/a/users"):
        rewrites = [Middleware(Rewrites, changes={"root_path": root_path})]
        for app in (Starlette(routes=routes, middleware=rewrites), Starlette(routes=[Mount("", routes=routes, middleware=rewrites)])):
            world = World(Policy.from_yaml(USERS.replace("base_path: ''", "base_path: /a")))
            app.add_middleware(asgi.GateMiddleware, gate=world.gate)
            assert call(app, "/a/users/7", world.headers("read:a"))[0] == 404
            assert world.counted["orbgate_misrouted_total GET /a/users/{id} "] == 1


def test_a_handler_that_sees_another_request_gets_no_caller() -> None:
    """A middleware of one route runs after that route was chosen."""
    from orbgate.gate.starlette import protect
    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    async def handler(request: Any) -> Any:
        return PlainTextResponse(asgi.allowed(request).token.subject or "")

    for name, changes in REWRITES.items():
        route = Route("/users/{id}", handler, methods=["GET", "DELETE"])
        route.app = Rewrites(route.app, changes)
        app = Starlette(routes=[route])
        world = World(Policy.from_yaml(RULES))
        protect(app, world.gate)
        if name == "nothing":
            assert call(app, "/users/7", world.headers("read:a"))[0] == 200
        else:
            with pytest.raises(RuntimeError, match="changed its method or path"):
                call(app, "/users/7", world.headers("read:a"))


def test_head_and_websockets_are_the_decided_ones() -> None:
    from fastapi import APIRouter, FastAPI, WebSocket
    from orbgate.gate.starlette import protect
    from starlette.applications import Starlette
    from starlette.routing import WebSocketRoute

    seen: list[str] = []

    async def chat(websocket: WebSocket, id: str = "") -> None:
        seen.append(asgi.allowed(websocket).token.subject or "")
        await websocket.accept()
        await websocket.close()

    async def chat_of_starlette(websocket: WebSocket) -> None:
        await chat(websocket)

    direct, included, router = FastAPI(), FastAPI(), APIRouter(prefix="/users")
    direct.websocket("/users/{id}")(chat)
    router.websocket("/{id}")(chat)
    included.include_router(router)
    for app in (direct, included, Starlette(routes=[WebSocketRoute("/users/{id}", chat_of_starlette)])):
        for path, scopes, is_open in [("/users/7", "read:a", True), ("/users/7", "write:a", False), ("/export", "write:a", False)]:
            world = World(Policy.from_yaml(RULES))
            app.user_middleware.clear()
            app.middleware_stack = None
            protect(app, world.gate)
            seen.clear()
            assert (handshake(app, path, world.headers(scopes)), seen) == (("accept", ["subject"]) if is_open else ("close", []))
            assert sum(count for name, count in world.counted.items() if name.startswith("orbgate_decisions_total")) == 1
    plain = FastAPI()
    plain.add_api_route("/users/{id}", lambda id: id, methods=["GET", "HEAD"])
    world = World(Policy.from_yaml(RULES))
    protect(plain, world.gate)
    assert call(plain, "/users/7", world.headers("read:a"), method="HEAD")[0] == 200
    assert call(plain, "/users/7", world.headers("read:a"), method="OPTIONS")[0] == 405


def handshake(app: Any, path: str, headers: list[tuple[bytes, bytes]]) -> str:
    """What a WebSocket gets: "accept" or "close"."""
    import asyncio

    sent: list[str] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message["type"].removeprefix("websocket."))

    scope = {"type": "websocket", "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "", "headers": headers}
    asyncio.run(app(scope, receive, send))
    return sent[0]


def test_a_route_that_the_policy_lacks_is_not_reached() -> None:
    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse
    from starlette.routing import Mount, Route

    async def echo(request: Any) -> Any:
        return PlainTextResponse(asgi.allowed(request).decision.route)

    inner = Starlette(routes=[Route("/export", echo)])
    table: list[tuple[list[Any], int]] = [
        ([Route("/users/{user:str}", echo)], 200),
        ([Mount("/users", routes=[Route("/{user}", echo)])], 200),
        ([Route("/users/export", echo), Route("/users/{user}", echo)], 404),
        ([Route("/users/{rest:path}", echo)], 404),
        ([Mount("/users", app=lambda *_: inner(*_))], 404),
        ([Route("/users/{user}", echo, methods=["POST"])], 404),
    ]
    for routes, status in table:
        world = World(Policy.from_yaml(USERS))
        app = Starlette(routes=routes)
        app.add_middleware(asgi.GateMiddleware, gate=world.gate)
        assert call(app, "/users/export", world.headers("read:a"))[0] == status, routes
        misrouted = [name for name in world.counted if name.startswith("orbgate_misrouted_total GET /users/{id}")]
        assert len(misrouted) == (status == 404), routes
        # A caller without a token doesn't make the router work.
        assert call(app, "/users/export", [])[0] == 401


def test_the_routes_of_an_application_are_compared_at_its_start() -> None:
    import fastapi
    from orbgate.gate.starlette import protect

    world = World(Policy.from_yaml(USERS))
    app = fastapi.FastAPI()
    router = fastapi.APIRouter(prefix="/users")
    router.get("/{name}")(lambda name: name)
    app.include_router(router)
    protect(app, world.gate)
    operation = app.openapi()["paths"]["/users/{name}"]["get"]
    assert operation["security"] == [{"bearer": ["read:a"]}]
    assert app.openapi()["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    undeclared = [("GET /users/export", "GET /users/{id}")]
    for hidden in (False, True):
        for is_included in (False, True):
            app, router = fastapi.FastAPI(), fastapi.APIRouter()
            of = router if is_included else app
            of.get("/users/export", include_in_schema=not hidden)(lambda: 1)
            app.include_router(router)
            with pytest.raises(RoutesDiffer, match="decides it as `GET /users/{id}`") as raised:
                protect(app, world.gate)
            assert raised.value.undeclared == undeclared


def test_routes_that_are_added_later_are_compared(caplog: pytest.LogCaptureFixture) -> None:
    import fastapi
    from orbgate.gate.starlette import protect

    world = World(Policy.from_yaml(USERS))
    app = fastapi.FastAPI()
    protect(app, world.gate)
    router = fastapi.APIRouter()
    router.get("/users/export")(lambda: 1)
    app.include_router(router)
    app.get("/users/{id}")(lambda id: id)
    assert call(app, "/users/7", world.headers("read:a"))[0] == 200
    assert call(app, "/users/export", world.headers("read:a"))[0] == 404
    sub = fastapi.FastAPI()
    sub.get("/export")(lambda: 1)
    app.router.routes.clear()
    app.mount("/users", sub)
    assert call(app, "/users/export", world.headers("read:a"))[0] == 404
    # A server that starts after that doesn't start.
    with pytest.raises(AssertionError, match="the server has not started"), serving(app, lifespan="on"):
        pass


def test_the_router_serves_nothing_without_its_gate() -> None:
    """Removing the gate afterwards closes the doors."""
    import fastapi
    import flask
    from orbgate.gate import flask as gate_of_flask
    from orbgate.gate.starlette import protect

    world = World(Policy.from_yaml(USERS))
    app = fastapi.FastAPI()
    app.get("/users/{id}")(lambda id: id)
    protect(app, world.gate)
    app.user_middleware.clear()
    with pytest.raises(RuntimeError, match="the gate hasn't decided"):
        call(app, "/users/7", world.headers("read:a"))
    service = flask.Flask("service")
    service.get("/users/<id>")(lambda id: id)
    gate_of_flask.protect(service, world.gate)
    service.wsgi_app = service.wsgi_app.app  # type: ignore[attr-defined,method-assign]
    assert service.test_client().get("/users/7").status_code == 500


def test_routes_that_a_gate_does_not_see_are_reported(caplog: pytest.LogCaptureFixture) -> None:
    from fastapi import APIRouter, FastAPI
    from orbgate.gate.starlette import protect

    world = World(Policy.from_yaml(USERS))
    inner, outer, router = FastAPI(), FastAPI(openapi_url=None), APIRouter()
    inner.get("/users/{id}")(lambda id: id)
    protect(inner, world.gate)
    outer.get("/open")(lambda: 1)
    router.post("/included")(lambda: 1)
    outer.include_router(router)
    outer.mount("", inner)
    for _ in range(2):
        assert call(outer, "/users/7", world.headers("read:a"))[0] == 200
    (said,) = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert said.endswith("doesn't protect these routes: GET /open, POST /included")


def test_a_middleware_that_hides_its_router_is_refused() -> None:
    from orbgate.gate.starlette import protect
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.routing import Router

    def hides(app: Any) -> Any:
        async def hidden(scope: Any, receive: Any, send: Any) -> None:
            await app(scope, receive, send)

        return hidden

    app = Starlette()
    app.router = Router(middleware=[Middleware(hides)])
    with pytest.raises(RuntimeError, match="hides the router inside it"):
        protect(app, World().gate)
    # Of an application it hides nothing.
    app = Starlette(middleware=[Middleware(hides)])
    protect(app, World().gate)


@contextlib.contextmanager
def serving(app: Any, **config: Any) -> Iterator[int]:
    """Uvicorn with this application, and its port."""
    import uvicorn

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level=logging.CRITICAL, **config))

        def run() -> None:
            with contextlib.suppress(SystemExit):
                server.run(sockets=[listener])

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        try:
            assert server.started, "the server has not started"
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(10)


def test_below_a_root_path() -> None:
    """As uvicorn's `--root-path` has it: the proxy removes the prefix, the server puts it back, and the policy has it."""
    import fastapi
    from orbgate.gate.starlette import protect

    policy = Policy.from_yaml(USERS.replace("base_path: ''", "base_path: /api"))

    def application(**options: Any) -> Any:
        app, router = fastapi.FastAPI(**options), fastapi.APIRouter()

        @router.get("/users/{id}")
        def user(id: str, request: fastapi.Request) -> str | None:
            return asgi.allowed(request).token.subject

        app.include_router(router)
        return app

    def status(app: Any, world: World, **config: Any) -> int:
        with serving(app, lifespan="on", **config) as port:
            connection = HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request("GET", "/users/7", headers={"Authorization": world.headers("read:a")[1][1].decode()})
            found = connection.getresponse().status
            connection.close()
        return found

    world, app = World(policy), application()
    protect(app, world.gate, root_path="/api")
    assert app.openapi()["paths"]["/users/{id}"]["get"]["security"] == [{"bearer": ["read:a"]}]
    assert status(app, world, root_path="/api") == 200
    # Another prefix than the one that was told: a route of the policy may begin with it.
    assert status(app, world, root_path="/other") == 404
    app = application()
    with pytest.raises(RoutesDiffer):
        protect(app, world.gate)
    # FastAPI's own, which newer versions advise against, if the server knows nothing of it: the policy has no prefix.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        world, app = World(Policy.from_yaml(USERS)), application(root_path="/api")
    protect(app, world.gate)
    assert status(app, world) == 200
    # A prefix that nobody was told.
    world, app = World(policy), application()
    app.add_middleware(asgi.GateMiddleware, gate=world.gate)
    assert status(app, world, root_path="/api") == 404
    assert world.counted["orbgate_misrouted_total GET /api/users/{id} "] == 1


def test_flask_takes_the_decided_route() -> None:
    import flask
    from orbgate.gate.flask import allowed, protect

    world = World(Policy.from_yaml(USERS))
    app = flask.Flask("service")
    app.get("/users/<int:user>")(lambda user: allowed(flask.request).token.subject or "")
    protect(app, world.gate)
    bearer = {"Authorization": world.headers("read:a")[1][1].decode()}
    client = app.test_client()
    assert client.get("/users/7", headers=bearer).get_data() == b"subject"
    denied = client.get("/users/seven", headers=bearer)
    assert (denied.status_code, denied.get_data(), denied.headers.get("Content-Type")) == (404, b"", None)
    assert client.get("/users/7").status_code == 401
    app = flask.Flask("another")
    app.get("/users/<path:rest>")(lambda rest: rest)
    with pytest.raises(RoutesDiffer):
        protect(app, world.gate)


def test_flask_takes_websockets_as_their_handshake() -> None:
    """A rule with `websocket=True`, as flask-sock adds it. Werkzeug takes no other rule for a handshake."""
    import flask
    from orbgate.gate.flask import allowed, protect

    for is_for_websockets, status in ((True, 200), (False, 404)):
        app = flask.Flask("service")
        app.add_url_rule("/users/<id>", "chat", lambda id: allowed(flask.request).token.subject or "", websocket=is_for_websockets)
        world = World(Policy.from_yaml(USERS))
        protect(app, world.gate)
        headers = {"Authorization": world.headers("read:a")[1][1].decode(), "Connection": "Upgrade", "Upgrade": "websocket"}
        assert app.test_client().get("/users/7", headers=headers).status_code == status
        assert app.test_client().get("/users/7", headers={**headers, "Upgrade": "h2c"}).status_code == 400


@pytest.mark.parametrize("name", REWRITES)
def test_flask_runs_the_decided_route(name: str) -> None:
    import flask
    from orbgate.gate.flask import allowed, protect

    changes = REWRITES[name]
    environ = {"method": "REQUEST_METHOD", "path": "PATH_INFO"}

    def around(app: Any) -> Any:
        """A middleware inside the gate, as those that obey `_method`."""
        return lambda found, start: app({**found, **{environ[name]: value for name, value in changes.items()}}, start)

    def before() -> None:
        """A function of `before_request` that does the same."""
        for name, value in changes.items():
            if name == "method":
                flask.request.method = value
            else:
                flask.request.environ["PATH_INFO"] = flask.request.path = value
                flask.request.url_rule, values = app.url_map.bind("a").match(value, return_rule=True)
                flask.request.view_args = dict(values)

    for how in ("a middleware", "a function", "a blueprint"):
        ran: list[str] = []
        world = World(Policy.from_yaml(RULES))
        app = flask.Flask("service")
        blueprint = flask.Blueprint("users", "users")

        def handler(**_: str) -> str:
            ran.append(f"{flask.request.method} {flask.request.path}")
            return allowed(flask.request).token.subject or ""

        home = blueprint if how == "a blueprint" else app
        home.add_url_rule("/users/<id>", "user", handler, methods=["GET", "DELETE"])
        home.add_url_rule("/export", "export", handler)
        if how != "a middleware":
            home.before_request(before)
        if how == "a blueprint":
            app.register_blueprint(blueprint)
        if how == "a middleware":
            app.wsgi_app = around(app.wsgi_app)  # type: ignore[method-assign]
        protect(app, world.gate)
        response = app.test_client().get("/users/7", headers={"Authorization": world.headers("read:a")[1][1].decode()})
        if how != "a middleware" and name != "nothing":
            # It was counted as allowed before that function ran.
            assert (response.status_code, ran) == (404, []) and world.counted[MISROUTED] == 1
        else:
            judge(world, name, response.status_code, ran)


DJANGO = """
import json, sys
from django.conf import settings
from django.http import HttpResponse
from django.urls import clear_url_caches, include, path, re_path
from django.views import View
from orbgate import Policy
from orbgate.gate import RoutesDiffer, asgi, wsgi
from orbgate.gate.django import around, protect
sys.path.insert(0, sys.argv[1])
from test_gate import USERS, World, call, call_wsgi
from test_gate_frameworks import REWRITES, RULES

ran = []

def user(request, **_):
    ran.append(f"{request.method} {request.path_info}")
    return HttpResponse((asgi if hasattr(request, "scope") else wsgi).allowed(request).token.subject)

class Orders(View):
    def get(self, request, id): return user(request)

class Users(Orders):
    def delete(self, request, id): return user(request)

class Middleware:
    changes, where = {}, ""
    def __init__(self, get_response): self.get_response = get_response
    def __call__(self, request):
        if self.where == "before": self.change(request)
        return self.get_response(request)
    def process_view(self, request, *_):
        # As django-method-override does.
        if self.where == "view": self.change(request)
    def change(self, request):
        for name, value in self.changes.items():
            if name == "urlconf": request.urlconf = value
            elif name == "path": request.path = request.path_info = value
            else: request.method = value

urls, others = type(sys)("urls"), type(sys)("others")
sys.modules.update(urls=urls, others=others, middleware=sys.modules[__name__])
settings.configure(
    ROOT_URLCONF="urls", ALLOWED_HOSTS=["*"], MIDDLEWARE=["middleware.Middleware"], SECRET_KEY="-", LOGGING_CONFIG=None, DEBUG_PROPAGATE_EXCEPTIONS=False
)
from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application

said = {"tables": {}, "rewrites": {}}
over = [(get_asgi_application, lambda *given, **changes: call(*given, **changes)[0]), (get_wsgi_application, call_wsgi)]
tables = {
    "the route": [path("users/<str:id>", user)],
    "a class": [path("users/<slug:id>", Orders.as_view())],
    "included": [path("users/", include([path("<id>", user)]))],
    "another first": [path("users/export", user), path("users/<str:id>", user)],
    "a path": [path("users/<path:rest>", user)],
    "an expression": [re_path(r"^users/(?P<id>[a-z]+)$", user)],
    "an expression of several segments": [re_path(r"^users/(?P<id>.+)$", user)],
    "all paths": [re_path("", user)],
    "nothing": [],
}
for name, urls.urlpatterns in tables.items():
    clear_url_caches()
    world, statuses, differ = World(Policy.from_yaml(USERS)), [], []
    for application, of in over:
        try:
            protect(application(), world.gate)
        except RoutesDiffer as error:
            differ = error.undeclared
        statuses.append(of(around(application(), world.gate), "/users/export", world.headers("read:a")))
    misrouted = sum(count for one, count in world.counted.items() if one.startswith("orbgate_misrouted_total GET /users/{id}"))
    said["tables"][name] = [differ, *statuses, misrouted]
# The caller says what the prefix is.
urls.urlpatterns = [path("<str:id>", user)]
clear_url_caches()
world = World(Policy.from_yaml(USERS))
headers = world.headers("read:a")
below = call(around(get_asgi_application(), world.gate), "/users/7", headers, root_path="/users")[0]
said["a prefix"] = [below, call_wsgi(around(get_wsgi_application(), world.gate), "/users/7", headers, SCRIPT_NAME="/users", PATH_INFO="/7")]
urls.urlpatterns = [path("users/<id>", Users.as_view()), path("export", user)]
others.urlpatterns = [path("users/<path:rest>", user)]
for Middleware.where in ("before", "view"):
    for name, Middleware.changes in {**REWRITES, "another table": {"urlconf": "others"}}.items():
        clear_url_caches()
        for application, of in over:
            world = World(Policy.from_yaml(RULES))
            ran.clear()
            status = of(protect(application(), world.gate), "/users/7", world.headers("read:a"))
            said["rewrites"].setdefault(f"{name}, {Middleware.where}", []).append([status, list(ran), sorted(world.counted.items()), len(world.audit)])
Middleware.changes = {}
# What `protect` has returned isn't what is served.
application = get_wsgi_application()
protect(application, world.gate)
said["without the gate"] = call_wsgi(application, "/users/7", world.headers("read:a"))
print(json.dumps(said))
"""


def test_django_runs_the_decided_route() -> None:
    """In a process of its own, because Django has one configuration for all of one."""
    command = [sys.executable, "-W", "error", "-c", DJANGO, str(Path(__file__).parent)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout)
    user = "GET /users/{id}"
    assert said.pop("tables") == {
        "the route": [[], 200, 200, 0],
        "a class": [[], 200, 200, 0],
        "included": [[], 200, 200, 0],
        "another first": [[["GET /users/export", user]], 404, 404, 2],
        "a path": [[["GET /users/{*rest}", user]], 404, 404, 2],
        "an expression": [[], 200, 200, 0],
        "an expression of several segments": [[["GET /users/(?P{id}.+)", user]], 404, 404, 2],
        "all paths": [[["GET /", None]], 404, 404, 2],
        "nothing": [[], 404, 404, 2],
    }
    denied = [404, [], [["orbgate_decisions_total deny no_route ", 1], [MISROUTED, 1]], 1]
    elsewhere = [404, [], [["orbgate_decisions_total deny no_route ", 1], [f"{MISROUTED}/users/{{*rest}}", 1]], 1]
    allowed = [200, ["GET /users/7"], [[ALLOWED, 1]], 1]
    # After the view is chosen, another table changes nothing.
    unchanged = ("nothing, before", "nothing, view", "another table, view")
    for name, found in said.pop("rewrites").items():
        assert found == [allowed if name in unchanged else elsewhere if name == "another table, before" else denied] * 2, name
    assert said == {"a prefix": [404, 404], "without the gate": 500}


REST = """
import json, sys
from django.conf import settings
urls = type(sys)("urls")
sys.modules["urls"] = urls
settings.configure(
    ROOT_URLCONF="urls",
    ALLOWED_HOSTS=["*"],
    SECRET_KEY="-",
    LOGGING_CONFIG=None,
    MIDDLEWARE=["django.middleware.common.CommonMiddleware"],
    REST_FRAMEWORK={
        "UNAUTHENTICATED_USER": None,
        "DEFAULT_AUTHENTICATION_CLASSES": [],
        "DEFAULT_PERMISSION_CLASSES": [],
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    },
)
from django.core.wsgi import get_wsgi_application
from django.urls import clear_url_caches, include, path
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.routers import DefaultRouter, SimpleRouter
from rest_framework.viewsets import ViewSet
from orbgate import Policy
from orbgate.gate import RoutesDiffer
from orbgate.gate.django import protect
sys.path.insert(0, sys.argv[1])
from test_gate import World, call_wsgi
from test_gate_frameworks import ITEMS

class Items(ViewSet):
    def list(self, request): return Response("list")
    def create(self, request): return Response("create")
    def retrieve(self, request, pk): return Response(pk)
    @action(detail=True)
    def history(self, request, pk): return Response(pk)

class Plain(DefaultRouter):
    include_format_suffixes = False

get_wsgi_application()
routers = {"simple": SimpleRouter(), "paths": SimpleRouter(use_regex_path=False), "default": DefaultRouter(), "without suffixes": Plain()}
said = {}
for name, router in routers.items():
    router.register("items", Items, basename="item")
    urls.urlpatterns = [path("api/", include(router.urls))]
    clear_url_caches()
    world = World(Policy.from_yaml(ITEMS))
    try:
        application = protect(get_wsgi_application(), world.gate)
    except RoutesDiffer as error:
        said[name] = str(error).splitlines()[-1]
        continue
    headers = world.headers("read:a")
    targets = ["/api/", "/api/items/", "/api/items", "/api/items/7/", "/api/items/7/history/", "/api/items/7.json", "/api/items//"]
    said[name] = [call_wsgi(application, target, headers) for target in targets]
    said[name].append(call_wsgi(application, "/api/items/", headers, REQUEST_METHOD="POST"))
print(json.dumps(said))
"""
# Every path ends in a slash, as Django's do.
ITEMS = """
orbgate: 1
trailing_slash: always
apis:
  a:
    base_path: /api
    scopes:
      read:a: { orbs: false, routes: [GET /, GET /items, "GET /items/{pk}", "GET /items/{pk}/history"] }
      write:a: { orbs: false, routes: [POST /items] }
...
"""


def test_routers_of_django_rest_framework_are_protected() -> None:
    command = [sys.executable, "-c", REST, str(Path(__file__).parent)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    # A request without the slash isn't redirected: the gate answers it. Nobody with `read:a` alone may create.
    statuses = [200, 404, 200, 200, 404, 400, 403]
    suffixes = "Format suffixes are other spellings of a route: set `include_format_suffixes = False` on the router, or use `SimpleRouter`."
    expected = {"simple": [404, *statuses], "paths": [404, *statuses], "default": suffixes, "without suffixes": [200, *statuses]}
    assert json.loads(ran.stdout) == expected


PUBLIC = ["GET /docs", "GET /openapi.json", "GET /healthz"]
PREFLIGHT = [(b"host", b"a"), (b"origin", b"https://app.example"), (b"access-control-request-method", b"GET")]


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

    # Without the options, all of them need one; a route that nobody declares doesn't start.
    closed = World(Policy.from_yaml(USERS))
    with pytest.raises(RoutesDiffer, match="GET /healthz"):
        protect(application(), closed.gate)


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


def test_health_checks_of_flask_need_no_token() -> None:
    from flask import Flask, request
    from orbgate.gate.flask import allowed, protect

    app = Flask("a")
    app.add_url_rule("/users/<id>", "user", lambda id: id)
    app.add_url_rule("/healthz", "health", lambda: allowed(request).public_template or "")
    world = World(Policy.from_yaml(USERS), public=["GET /healthz"])
    protect(app, world.gate)

    def get(target: str) -> Any:
        return app.test_client().get(target, environ_overrides={"RAW_URI": target, "REQUEST_URI": target})

    assert get("/healthz").data == b"/healthz"
    assert get("/users/7").status_code == 401


def test_a_public_route_has_no_token_and_no_other_meaning(tmp_path: Path) -> None:
    policy = Policy.from_yaml(USERS)
    world = World(policy, public=["GET /healthz"])
    answer = world.gate.answer("GET", "/healthz", [])
    found = world.gate.allowed(answer, "GET", "/healthz")
    assert (found.public_template, found.decision.route, found.decision.scope, found.charge(b'{"allowBonusOrbsUse":true}')) == ("/healthz", None, None, None)
    with pytest.raises(RuntimeError, match="no token"):
        found.token.kind
    assert not world.gate.answer("GET", "/healthz", [], lambda: "/users/{id}")
    with pytest.raises(ValueError, match="fits the same paths"):
        World(policy, public=["POST /users/{any}"])
    with pytest.raises(ValueError, match="healthz"):
        World(policy, public=["healthz"])
    file = tmp_path / "policy.yaml"
    file.write_text(USERS.replace("GET /users/{id}", "GET /{id}", 1))
    with pytest.raises(ValueError, match="fits the same paths"):
        world.gate.reload(file)
    assert world.gate.policy is policy and world.counted["orbgate_policy_loads_total refused"] == 1
