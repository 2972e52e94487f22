"""The gate: what it answers, what it tells the service, and where it refuses to decide."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server
from wsgiref.util import setup_testing_defaults

import pytest
from orbgate import ConfigError, Policy, PolicyError
from orbgate.gate import Fetched, Gate, RoutesDiffer
from orbgate.gate import asgi, wsgi
from orbgate.gate.testing import Issuer

ORBS = "/api/v1/external/orbs"
USERS = "orbgate: 1\napis: { a: { base_path: '', scopes: { 'read:a': { orbs: false, routes: ['GET /users/{id}'] } } } }\n...\n"


class Quiet(WSGIRequestHandler):
    """Does not log requests."""

    def log_message(self, format: str, *args: object) -> None:
        return None


class World:
    """A gate with an issuer, and what it counts and writes."""

    def __init__(self, policy: Policy | None = None, **options: Any) -> None:
        self.issuer = Issuer()
        self.counted: Counter[str] = Counter()
        self.audit: list[str] = []
        options = {"fetch": self.issuer.fetch, **options}
        policy = policy or Policy.external()
        self.gate = Gate(policy, self.issuer.tokens, count=self.count, audit=self.audit.append, **options)

    def count(self, name: str, labels: Any) -> None:
        self.counted[" ".join([name, *labels.values()])] += 1

    def headers(self, scopes: str = "read:orbs", kind: str = "user") -> list[tuple[bytes, bytes]]:
        return [(b"host", b"a"), (b"authorization", self.issuer.bearer(kind, scopes).encode())]


def call(app: Any, target: str, headers: list[tuple[bytes, bytes]], **changes: Any) -> tuple[int, dict[bytes, bytes], bytes]:
    """A request through ASGI, as a server passes it on."""
    sent: list[Any] = []
    raw, _, query = target.partition("?")
    scope = {
        "type": "http",
        "method": "GET",
        "path": raw,
        "raw_path": raw.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": headers,
        **changes,
    }
    scope = {name: value for name, value in scope.items() if value is not None}

    body = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> dict[str, Any]:
        if not body:
            # The client waits for its answer.
            await asyncio.Event().wait()
        return body.pop()

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    start = sent[0]
    text = b"".join(message.get("body", b"") for message in sent[1:])
    return start.get("status", start.get("code", 0)), dict(start.get("headers", [])), text


async def service(scope: Any, receive: Any, send: Any) -> None:
    """Says who called, and what it costs."""
    found = asgi.allowed(scope)
    body = f"{found.token.subject} {found.decision.route}".encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


@pytest.mark.parametrize(
    ("scopes", "path", "status", "header"),
    [
        ("read:orbs", ORBS, 200, None),
        ("read:orbs", f"{ORBS}?a=%2e", 200, None),
        ("read:account", ORBS, 403, (b"www-authenticate", b"Bearer")),
        ("read:orbs", "/nowhere", 404, None),
        ("read:orbs", f"{ORBS}/", 400, None),
    ],
)
def test_only_an_allowed_call_reaches_the_service(
    scopes: str, path: str, status: int, header: tuple[bytes, bytes] | None
) -> None:
    world = World()
    answer = call(asgi.GateMiddleware(service, world.gate), path, world.headers(scopes))
    assert answer[0] == status
    assert answer[2] == (b"subject GET /api/v1/external/orbs" if status == 200 else b"")
    if status != 200:
        assert answer[1] == dict([header] if header else []) | {b"content-length": b"0"}


@pytest.mark.parametrize(
    ("changes", "status", "flat"),
    [
        ({"raw_path": None}, 500, False),
        ({"raw_path": None}, 403, True),
        ({"raw_path": b"/api/v1/external/account"}, 400, False),
        ({"path": "/api/v1/external/account"}, 400, False),
    ],
)
def test_without_the_path_of_the_wire_nothing_is_decided(
    changes: dict[str, Any], status: int, flat: bool, caplog: pytest.LogCaptureFixture
) -> None:
    world = World(flat_403=flat)
    for _ in range(2):
        answer = call(asgi.GateMiddleware(service, world.gate), ORBS, world.headers("read:orbs read:account"), **changes)
        assert (answer[0], answer[2]) == (status, b"")
    assert len([record for record in caplog.records if record.levelno == logging.ERROR]) == 1
    assert world.counted == {"orbgate_decisions_total deny malformed_request ": 2}


def test_a_websocket_is_decided_as_its_handshake() -> None:
    world = World()
    app = asgi.GateMiddleware(service, world.gate)
    assert call(app, ORBS, world.headers(), type="websocket", method=None)[0] == 200
    assert call(app, ORBS, world.headers("read:account"), type="websocket", method=None)[0] == 1008


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"RAW_URI": ORBS}, 200),
        ({"REQUEST_URI": f"{ORBS}?a=b"}, 200),
        ({"RAW_URI": ORBS, "REQUEST_URI": ORBS}, 200),
        ({"RAW_URI": ORBS, "SCRIPT_NAME": "/api/v1", "PATH_INFO": "/external/orbs"}, 200),
        ({}, 500),
        ({"RAW_URI": ORBS, "REQUEST_URI": "/api/v1/external/account"}, 500),
        ({"RAW_URI": ORBS, "PATH_INFO": "/api/v1/external/account"}, 400),
        ({"RAW_URI": "/api/v1/external/%6frbs"}, 400),
        ({"RAW_URI": ORBS, "REQUEST_METHOD": "POST", "HTTP_X_HTTP_METHOD_OVERRIDE": "GET"}, 400),
        ({"RAW_URI": ORBS, "REQUEST_METHOD": "PUT"}, 405),
    ],
)
def test_wsgi_decides_on_the_target_as_it_came(changes: dict[str, str], status: int) -> None:
    world = World()
    environ: dict[str, Any] = {"PATH_INFO": ORBS, "HTTP_AUTHORIZATION": world.headers()[1][1].decode(), **changes}
    setup_testing_defaults(environ)
    seen: list[Any] = []

    def inner(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        start_response("200 OK", [])
        return [str(wsgi.allowed(environ).decision.scope).encode()]

    app = wsgi.GateMiddleware(inner, world.gate)
    body = b"".join(app(environ, lambda line, headers: seen.append((line, headers))))
    assert (int(seen[0][0][:3]), body) == (status, b"read:orbs" if status == 200 else b"")
    assert ("Allow", "GET") in seen[0][1] if status == 405 else True


@pytest.mark.parametrize(("flat", "status"), [(False, 500), (True, 403)])
def test_a_server_without_the_target_gets_no_decision(flat: bool, status: int, caplog: pytest.LogCaptureFixture) -> None:
    """The standard library's server, as it is: it has only what is decoded, and says so by its first request alone."""
    world = World(flat_403=flat)
    seen: list[Any] = []

    def inner(environ: dict[str, Any], _: Any) -> list[bytes]:
        seen.append(environ)
        return []

    app = wsgi.GateMiddleware(inner, world.gate)
    with make_server("127.0.0.1", 0, app, handler_class=Quiet) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            for _ in range(2):
                connection = HTTPConnection("127.0.0.1", server.server_port, timeout=10)
                connection.request("GET", ORBS, headers={"Authorization": world.headers()[1][1].decode()})
                response = connection.getresponse()
                assert (response.status, response.read()) == (status, b"")
                connection.close()
        finally:
            server.shutdown()
            thread.join()
    assert not seen
    assert world.counted == {"orbgate_decisions_total deny malformed_request ": 2}
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert len(said) == 1 and "WSGIServer" in said[0] and "Serve with gunicorn" in said[0]


def test_a_route_that_the_policy_lacks_is_not_reached(caplog: pytest.LogCaptureFixture) -> None:
    routing = pytest.importorskip("starlette.routing")
    applications = pytest.importorskip("starlette.applications")
    responses = pytest.importorskip("starlette.responses")

    async def echo(request: Any) -> Any:
        return responses.PlainTextResponse(asgi.allowed(request).decision.route)

    inner = applications.Starlette(routes=[routing.Route("/export", echo)])
    table: list[tuple[list[Any], int]] = [
        ([routing.Route("/users/{user:str}", echo)], 200),
        ([routing.Mount("/users", routes=[routing.Route("/{user}", echo)])], 200),
        ([routing.Route("/users/export", echo), routing.Route("/users/{user}", echo)], 404),
        ([routing.Route("/users/{rest:path}", echo)], 404),
        ([routing.Mount("/users", app=lambda *_: inner(*_))], 404),
        ([routing.Route("/users/{user}", echo, methods=["POST"])], 404),
    ]
    for routes, status in table:
        world = World(Policy.from_yaml(USERS))
        app = applications.Starlette(routes=routes)
        app.add_middleware(asgi.GateMiddleware, gate=world.gate)
        assert call(app, "/users/export", world.headers("read:a"))[0] == status, routes
        misrouted = [name for name in world.counted if name.startswith("orbgate_misrouted_total GET /users/{id}")]
        assert len(misrouted) == (status == 404), routes
        # Nobody without a token makes the router work.
        assert call(app, "/users/export", [])[0] == 401


def test_the_routes_of_an_application_are_compared_at_its_start() -> None:
    fastapi = pytest.importorskip("fastapi")
    from orbgate.gate.starlette import protect

    world = World(Policy.from_yaml(USERS))
    app = fastapi.FastAPI()
    app.get("/users/{name}")(lambda name: name)
    protect(app, world.gate)
    operation = app.openapi()["paths"]["/users/{name}"]["get"]
    assert operation["security"] == [{"bearer": ["read:a"]}]
    assert app.openapi()["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    app.get("/users/export")(lambda: 1)
    with pytest.raises(RoutesDiffer, match="decides it as `GET /users/{id}`") as raised:
        protect(app, world.gate)
    assert raised.value.undeclared == [("GET /users/export", "GET /users/{id}")]


def test_flask_takes_the_decided_route() -> None:
    flask = pytest.importorskip("flask")
    from orbgate.gate.flask import allowed, protect

    world = World(Policy.from_yaml(USERS))
    app = flask.Flask("service")
    app.get("/users/<int:user>")(lambda user: allowed(flask.request).token.subject)
    protect(app, world.gate)
    bearer = {"Authorization": world.headers("read:a")[1][1].decode()}
    client = app.test_client()
    assert client.get("/users/7", headers=bearer).get_data() == b"subject"
    assert client.get("/users/seven", headers=bearer).status_code == 404
    assert client.get("/users/7").status_code == 401
    app = flask.Flask("another")
    app.get("/users/<path:rest>")(lambda rest: rest)
    with pytest.raises(RoutesDiffer):
        protect(app, world.gate)


DJANGO = """
import json, sys
from django.conf import settings
from django.http import HttpResponse
from django.urls import include, path, re_path
from django.views import View
from orbgate import Policy
from orbgate.gate import Gate, RoutesDiffer, asgi, wsgi
from orbgate.gate.django import protect
from orbgate.gate.testing import Issuer
sys.path.insert(0, sys.argv[1])
from test_gate import USERS, World, call, call_wsgi

class Orders(View):
    def get(self, request, id): return HttpResponse("orders " + id)

def user(request, **_): return HttpResponse("user")

tables = {
    "the route": [path("users/<str:id>", user)],
    "a class": [path("users/<slug:id>", Orders.as_view())],
    "included": [path("users/", include([path("<id>", user)]))],
    "another first": [path("users/export", user), path("users/<str:id>", user)],
    "a path": [path("users/<path:rest>", user)],
    "an expression": [re_path(r"^users/(?P<id>[a-z]+)$", user)],
    "all paths": [re_path("", user)],
}
urls = type(sys)("urls")
urls.urlpatterns = []
sys.modules["urls"] = urls
settings.configure(ROOT_URLCONF="urls", ALLOWED_HOSTS=["*"], MIDDLEWARE=[], SECRET_KEY="-", LOGGING_CONFIG=None)
from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application
from django.urls import clear_url_caches
from orbgate.gate.django import asgi_router, wsgi_router
said = {}
for name, urls.urlpatterns in tables.items():
    clear_url_caches()
    world = World(Policy.from_yaml(USERS))
    try:
        protect(get_asgi_application(), world.gate), protect(get_wsgi_application(), world.gate)
        differ = []
    except RoutesDiffer as error:
        differ = error.undeclared
    headers = world.headers("read:a")
    over_asgi = call(asgi.GateMiddleware(get_asgi_application(), world.gate, asgi_router), "/users/export", headers)[0]
    over_wsgi = call_wsgi(wsgi.GateMiddleware(get_wsgi_application(), world.gate, wsgi_router), "/users/export", headers)
    misrouted = sum(count for one, count in world.counted.items() if one.startswith("orbgate_misrouted_total GET /users/{id}"))
    said[name] = [differ, over_asgi, over_wsgi, misrouted]
# The caller says what the prefix is.
urls.urlpatterns = [path("<str:id>", user)]
clear_url_caches()
world = World(Policy.from_yaml(USERS))
headers = world.headers("read:a")
below = call(asgi.GateMiddleware(get_asgi_application(), world.gate, asgi_router), "/users/7", headers, root_path="/users")[0]
app = wsgi.GateMiddleware(get_wsgi_application(), world.gate, wsgi_router)
said["a prefix"] = [below, call_wsgi(app, "/users/7", headers, SCRIPT_NAME="/users", PATH_INFO="/7")]
print(json.dumps(said))
"""


def call_wsgi(app: Any, target: str, headers: list[tuple[bytes, bytes]], **changes: str) -> int:
    """The status of a request through WSGI, as gunicorn passes it on."""
    environ: dict[str, Any] = {"PATH_INFO": target, "RAW_URI": target, "HTTP_AUTHORIZATION": dict(headers)[b"authorization"].decode()}
    environ.update(changes)
    setup_testing_defaults(environ)
    seen: list[str] = []
    b"".join(app(environ, lambda line, headers: seen.append(line)))
    return int(seen[0][:3])


def test_django_takes_the_decided_route() -> None:
    """In a process of its own, because Django has one configuration for all of one."""
    pytest.importorskip("django")
    command = [sys.executable, "-W", "error", "-c", DJANGO, str(Path(__file__).parent)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    user = "GET /users/{id}"
    assert json.loads(ran.stdout) == {
        "the route": [[], 200, 200, 0],
        "a class": [[], 200, 200, 0],
        "included": [[], 200, 200, 0],
        "another first": [[["GET /users/export", user]], 404, 404, 2],
        "a path": [[["GET /users/{*rest}", user]], 404, 404, 2],
        "an expression": [[["GET /^users/(?P{id}[a-z]+)$", None]], 404, 404, 2],
        "all paths": [[["GET /", None]], 404, 404, 2],
        "a prefix": [404, 404],
    }


def test_nothing_shows_a_token(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    world = World()
    headers = world.headers()
    answer = world.gate.answer("GET", ORBS, headers)
    denied = world.gate.answer("GET", ORBS, [(b"authorization", b"Bearer a.b.c")])
    shown = " ".join([repr(answer), repr(answer.token), repr(world.gate), repr(denied), caplog.text, *world.audit])
    assert headers[1][1].decode().rpartition(".")[2] not in shown and "a.b.c" not in shown
    assert [json.loads(line)["token_refused"] for line in world.audit] == [None, "bad_encoding"]
    line = json.loads(world.audit[0])
    assert answer.token
    assert line.pop("time_ms") > 1.7e12 and line == {
        **answer.decision.to_dict(),
        "about": "GET /api/v1/external/orbs",
        "token_kind": "user",
        "token": answer.token.fingerprint,
        "token_refused": None,
    }
    assert world.counted == {
        "orbgate_decisions_total allow scope_held GET /api/v1/external/orbs": 1,
        "orbgate_decisions_total deny invalid_token ": 1,
        "orbgate_tokens_refused_total bad_encoding": 1,
    }


def test_the_event_loop_goes_on_while_keys_are_fetched() -> None:
    issuer = Issuer()
    fetches = []

    def slow(url: str, timeout: float, max_bytes: int) -> Fetched:
        fetches.append(threading.current_thread().name)
        time.sleep(0.5)
        return issuer.fetch(url, timeout, max_bytes)

    world = World(fetch=slow)
    world.issuer = issuer
    gate = Gate(Policy.external(), issuer.tokens, fetch=slow, count=world.count)

    async def ask() -> list[bool]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        ticking = asyncio.create_task(tick())
        answers = await asyncio.gather(*(gate.answer_async("GET", ORBS, world.headers()) for _ in range(20)))
        ticking.cancel()
        assert ticks > 10, "the loop stood still"
        return [bool(answer) for answer in answers]

    assert asyncio.run(ask()) == [True] * 20
    assert fetches == ["orbgate-keys"]


def test_threads_wait_for_one_fetch() -> None:
    world = World()
    answers: list[bool] = []
    threads = [threading.Thread(target=lambda: answers.append(bool(world.gate.answer("GET", ORBS, world.headers())))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert answers == [True] * 8


@pytest.mark.parametrize("error", [OSError("no"), ValueError("a fault of the fetcher"), TimeoutError()])
def test_a_fetcher_that_fails_is_no_5xx(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    def failing(url: str, timeout: float, max_bytes: int) -> Fetched:
        raise error

    world = World(fetch=failing)
    answer = world.gate.answer("GET", ORBS, world.headers())
    assert (answer.status, answer.refused) == (401, "no_keys")
    assert "https://issuer.test/jwks" in caplog.text


def test_keys_are_revoked_and_forgotten() -> None:
    world = World()
    assert world.gate.answer("GET", ORBS, world.headers())
    assert world.gate.keys() == [("https://issuer.test", 1, None)]
    world.gate.forget("https://issuer.test")
    assert world.gate.answer("GET", ORBS, world.headers())
    world.gate.revoke("https://issuer.test", "test")
    assert world.gate.answer("GET", ORBS, world.headers()).refused == "key_revoked"


def test_a_service_learns_what_a_call_consumes() -> None:
    world = World()
    target = "/api/v1/external/voxies"
    answer = world.gate.answer("POST", target, world.headers("write:voxies"))
    found = world.gate.allowed(answer, "POST", target)
    plain, bonus = found.charge(b"{}"), found.charge(b'{"allowBonusOrbsUse":true}')
    assert plain and bonus and (plain.bonus_allowed, bonus.bonus_allowed) == (False, True)
    with pytest.raises(ValueError, match="denied"):
        world.gate.allowed(world.gate.answer("GET", target, []), "GET", target)


def test_a_policy_is_replaced_by_a_whole_one_alone(tmp_path: Path) -> None:
    world = World(Policy.from_yaml(USERS))
    file = tmp_path / "policy.yaml"
    for text in [USERS[:-4], USERS.replace("orbgate: 1", "orbgate: 2")]:
        file.write_text(text)
        with pytest.raises(PolicyError, match="policy.yaml"):
            world.gate.reload(file)
        assert world.gate.policy == Policy.from_yaml(USERS)
    with pytest.raises(FileNotFoundError):
        world.gate.reload(tmp_path / "none.yaml")
    file.write_text(USERS.replace("read:a", "read:b"))
    world.gate.reload(file)
    assert world.gate.answer("GET", "/users/7", world.headers("read:a")).status == 403
    results = {name.split()[1]: count for name, count in world.counted.items() if name.startswith("orbgate_policy_loads_total")}
    assert results == {"unfinished": 1, "refused": 1, "unreadable": 1, "loaded": 1}


def test_faults_of_the_issuers_have_their_places() -> None:
    with pytest.raises(ConfigError) as raised:
        Gate(Policy.external(), "orbgate_token: 2\nissuers: []\n", file="tokens.yaml")
    assert "\ntokens.yaml:1:16: " in str(raised.value) and raised.value.line == 1
    with pytest.raises(ValueError, match="realm"):
        Gate(Policy.external(), Issuer().tokens, challenge="full", realm='"')


def test_a_full_challenge_names_the_scope() -> None:
    world = World(challenge="full", realm="orbs")
    answer = world.gate.answer("GET", ORBS, world.headers("read:account"))
    assert answer.headers == [("WWW-Authenticate", 'Bearer realm="orbs", error="insufficient_scope", scope="read:orbs"')]


def test_opentelemetry_counts_under_the_same_names() -> None:
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry import metrics
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    reader = InMemoryMetricReader()
    metrics.set_meter_provider(MeterProvider([reader]))
    issuer = Issuer()
    Gate(Policy.external(), issuer.tokens, fetch=issuer.fetch).answer("GET", ORBS, [])
    data: Any = reader.get_metrics_data()
    found = {metric.name: metric.data.data_points for metric in data.resource_metrics[0].scope_metrics[0].metrics}
    point = found["orbgate_decisions_total"][0]
    assert (point.value, dict(point.attributes)) == (1, {"decision": "deny", "reason": "no_token", "route": ""})


@pytest.mark.once
def test_the_guide_runs_as_it_is_written(root: Path, tmp_path: Path) -> None:
    """From the installed package alone: a service, an issuer, and three answers."""
    pytest.importorskip("fastapi")
    pytest.importorskip("uvicorn")
    readme = (root / "bindings/python/README.md").read_text(encoding="utf-8")
    guide = readme.partition("## Protect a service in ten lines")[2]
    service = guide.partition("```python\n")[2].partition("```")[0]
    assert len([line for line in service.splitlines() if line.strip()]) <= 10
    (tmp_path / "service.py").write_text(service, encoding="utf-8")
    commands = guide.partition("<!-- run: protect -->\n```sh\n")[2].partition("```")[0]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    # What it starts ends with it. The machine may be busy.
    script = "trap 'kill $(jobs -p)' EXIT\n" + commands.replace("sleep 1", "sleep 3").replace("sleep 2", "sleep 6")
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PATH": path})
    statuses = [line.split()[1] for line in ran.stdout.splitlines() if line.startswith("HTTP/1.1")]
    assert (statuses, '{"caller":"subject"}' in ran.stdout) == (["401", "403", "200"], True), ran.stdout + ran.stderr
