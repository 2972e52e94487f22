"""Frameworks under a gate: only the decided route runs, with the decided method, in the oldest and in the newest version of each."""

import contextlib
import logging
import socket
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
    from starlette.routing import Mount, Route, Router

    async def handler(request: Request) -> PlainTextResponse:
        ran.append(f"{request.method} {request.url.path}")
        allowed = asgi.allowed(request)
        return PlainTextResponse(allowed.public_template or allowed.token.subject or "")

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
        "a route": Starlette(routes=[Route("/users/{id}", handler, methods=["GET", "DELETE"], middleware=rewrites), routes()[1]]),
        "a route of FastAPI": FastAPI(routes=[Route("/users/{id}", handler, methods=["GET", "DELETE"], middleware=rewrites), routes()[1]]),
        "a mount's routes": Starlette(routes=routes("/users"), middleware=rewrites),
        "a mount": Starlette(routes=[Mount("/", routes=routes(), middleware=rewrites)]),
        "a mounted router": Starlette(routes=[Mount("/", app=Router(routes=routes(), middleware=rewrites))]),
        "a mounted application": Starlette(routes=[Mount("/", app=Starlette(routes=routes(), middleware=rewrites))]),
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
    """What a handler does to its own request isn't compared."""
    from orbgate.gate.starlette import protect
    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    for name, changes in REWRITES.items():

        async def handler(request: Any, changes: dict[str, Any] = changes) -> Any:
            request.scope.update(changes)
            return PlainTextResponse(asgi.allowed(request).token.subject or "")

        app = Starlette(routes=[Route("/users/{id}", handler, methods=["GET", "DELETE"])])
        world = World(Policy.from_yaml(RULES))
        protect(app, world.gate)
        if name == "nothing":
            assert call(app, "/users/7", world.headers("read:a"))[0] == 200
        else:
            with pytest.raises(RuntimeError, match="method or path"):
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


def test_the_documented_scopes_are_those_of_the_active_policy(tmp_path: Path) -> None:
    import fastapi
    from orbgate.gate.starlette import protect

    world, app, file = World(Policy.from_yaml(RULES)), fastapi.FastAPI(), tmp_path / "policy.yaml"
    app.get("/users/{name}")(lambda name: name)
    app.get("/export")(lambda: 1)
    protect(app, world.gate)

    def documented() -> dict[str, Any]:
        return {path: operations["get"].get("security") for path, operations in app.openapi()["paths"].items()}

    assert documented() == {"/users/{name}": [{"bearer": ["read:a"]}], "/export": [{"bearer": ["write:a"]}]}
    for text, scopes in ((RULES.replace(', "GET /export"', ""), None), (RULES.replace("write:a", "write:b"), [{"bearer": ["write:b"]}])):
        file.write_text(text)
        world.gate.reload(file)
        assert documented() == {"/users/{name}": [{"bearer": ["read:a"]}], "/export": scopes}


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
    with pytest.raises(AssertionError, match="not started"), serving(app, lifespan="on"):
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
    (message,) = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert message.endswith("doesn't protect these routes: GET /open, POST /included")


def test_a_middleware_that_hides_its_router_is_refused() -> None:
    from orbgate.gate.starlette import protect
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route, Router

    def hides(app: Any) -> Any:
        async def hidden(scope: Any, receive: Any, send: Any) -> None:
            await app(scope, receive, send)

        return hidden

    app = Starlette()
    app.router = Router(middleware=[Middleware(hides)])
    with pytest.raises(RuntimeError, match="hides the router"):
        protect(app, World().gate)
    # Of an application it hides nothing.
    app = Starlette(middleware=[Middleware(hides)])
    protect(app, World().gate)
    # A route isn't chosen by what is in it, so this is known when it is called.
    world = World(Policy.from_yaml(RULES))
    app = Starlette(routes=[Route("/users/{id}", PlainTextResponse(""), middleware=[Middleware(hides)])])
    protect(app, world.gate)
    with pytest.raises(RuntimeError, match="hides the endpoint"):
        call(app, "/users/7", world.headers("read:a"))


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
            code = connection.getresponse().status
            connection.close()
        return code

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
        return lambda env, start: app({**env, **{environ[name]: value for name, value in changes.items()}}, start)

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
