"""The gate: what it answers, what it tells the service, and where it refuses to decide."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.client import HTTPConnection
from itertools import product
from pathlib import Path
from typing import Any
from urllib.request import urlopen
from wsgiref.simple_server import WSGIRequestHandler, make_server
from wsgiref.util import setup_testing_defaults

import pytest
from orbgate import ConfigError, Policy, PolicyError
from orbgate.gate import Fetched, Gate, Post
from orbgate.gate import asgi, wsgi
from orbgate.gate.testing import Issuer, serve

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
    allowed = asgi.allowed(scope)
    body = f"{allowed.token.subject} {allowed.decision.route}".encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


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


@pytest.mark.once
@pytest.mark.parametrize("ws", ["websockets-sansio", "wsproto"])
def test_a_denied_handshake_has_its_status_and_headers(ws: str) -> None:
    pytest.importorskip(ws.partition("-")[0])
    uvicorn = pytest.importorskip("uvicorn")
    world = World()

    async def chat(scope: Any, receive: Any, send: Any) -> None:
        assert scope["type"] == "websocket"
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.close"})

    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(asgi.GateMiddleware(chat, world.gate), ws=ws, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    handshake = {"connection": "Upgrade", "upgrade": "websocket", "sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ=="}

    def opened(headers: list[tuple[bytes, bytes]], path: str = ORBS) -> tuple[int, str | None, str | None]:
        connection = HTTPConnection("127.0.0.1", listener.getsockname()[1], timeout=30)
        named = {name.decode(): value.decode() for name, value in headers}
        connection.request("GET", path, headers=handshake | named)
        response = connection.getresponse()
        answer = response.status, response.getheader("www-authenticate"), response.getheader("content-length")
        assert response.status == 101 or response.read() == b""
        connection.close()
        return answer

    try:
        assert opened([]) == (401, "Bearer", "0")
        assert opened(world.headers("read:account")) == (403, "Bearer", "0")
        assert opened(world.headers(), "/nowhere") == (404, None, "0")
        assert opened([*world.headers(), (b"x-http-method", b"PUT")]) == (400, None, "0")
        assert opened(world.headers())[0] == 101
    finally:
        server.should_exit = True
        thread.join(60)


def test_a_denial_of_a_handshake_needs_a_server_that_can_send_it() -> None:
    app = asgi.GateMiddleware(service, World().gate)
    denied = partial(call, app, ORBS, [], type="websocket", method=None)
    assert denied(extensions={"websocket.http.response": {}}) == (401, {b"cache-control": b"no-store", b"www-authenticate": b"Bearer", b"content-length": b"0"}, b"")
    assert denied(extensions={}) == denied() == (1008, {}, b"")


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"RAW_URI": ORBS}, 200),
        ({"REQUEST_URI": f"{ORBS}?a=b"}, 200),
        ({"RAW_URI": ORBS, "REQUEST_URI": ORBS}, 200),
        ({"RAW_URI": ORBS, "SCRIPT_NAME": "/api/v1", "PATH_INFO": "/external/orbs"}, 404),
        ({}, 500),
        ({"RAW_URI": ORBS, "REQUEST_URI": "/api/v1/external/account"}, 500),
        ({"RAW_URI": ORBS, "PATH_INFO": "/api/v1/external/account"}, 400),
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
    messages = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert len(messages) == 1 and "WSGIServer" in messages[0] and "Serve with gunicorn" in messages[0]


def call_wsgi(app: Any, target: str, headers: list[tuple[bytes, bytes]], **changes: str) -> int:
    """The status of a request through WSGI, as gunicorn passes it on."""
    environ: dict[str, Any] = {"PATH_INFO": target, "RAW_URI": target, "HTTP_AUTHORIZATION": dict(headers)[b"authorization"].decode()}
    environ.update(changes)
    setup_testing_defaults(environ)
    seen: list[str] = []
    b"".join(app(environ, lambda line, headers: seen.append(line)))
    return int(seen[0][:3])


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
        "orbs": {"consumes": True, "amount": None, "bonus_allowed": None},
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


def test_a_new_key_costs_no_caller_a_denial() -> None:
    issuers = [Issuer(), Issuer(kid="new")]
    gate = Gate(Policy.external(), issuers[0].tokens, fetch=lambda *given: issuers[0].fetch(*given))
    old, new = ([(b"authorization", issuer.bearer("user", "read:orbs").encode())] for issuer in issuers)
    assert gate.answer("GET", ORBS, old)
    issuers.pop(0)
    with ThreadPoolExecutor(64) as pool:
        answers = [pool.submit(gate.answer, "GET", ORBS, new) for _ in range(500)]
        assert all(answer.result() for answer in answers)

    async def ask() -> list[bool]:
        return [bool(answer) for answer in await asyncio.gather(*(gate.answer_async("GET", ORBS, new) for _ in range(1_000)))]

    gate.forget("https://issuer.test")
    assert all(asyncio.run(ask()))


@pytest.mark.parametrize("error", [OSError("no"), ValueError("an error of the fetcher"), TimeoutError()])
def test_a_fetcher_that_fails_is_no_5xx(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    def failing(url: str, timeout: float, max_bytes: int, post: Post | None) -> Fetched:
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
    allowed = world.gate.allowed(answer, "POST", target)
    raw, parsed = b'{"allowBonusOrbsUse":true}', {"allowBonusOrbsUse": True}
    for body in (raw, raw.decode(), bytearray(raw), memoryview(raw), parsed):
        charge = allowed.charge(body)
        assert charge and charge.bonus_allowed
    for other in (b"{}", raw + raw, {}, {"allowBonusOrbsUse": 1}, {"allowBonusOrbsUse": "true"}, [parsed], None, True, "\ud800"):
        charge = allowed.charge(other)
        assert charge and not charge.bonus_allowed
    assert json.loads(world.audit[0])["orbs"] == {"consumes": True, "amount": None, "bonus_allowed": None}
    with pytest.raises(ValueError, match="denied"):
        world.gate.allowed(world.gate.answer("GET", target, []), "GET", target)


def wait_until(holds: Callable[[], object]) -> None:
    begun = time.monotonic()
    while not holds():
        assert time.monotonic() - begun < 60
        time.sleep(0.01)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
def test_a_file_is_followed_in_the_process_that_serves(tmp_path: Path) -> None:
    program = """
import os, sys, threading, time
from orbgate import Policy
from orbgate.gate import Gate
from orbgate.gate.testing import Issuer
file = sys.argv[1]
gate = Gate(Policy.from_file(file), Issuer().tokens)
gate.watch(file, 0.01)
before = gate.policy
child = os.fork()
if child:
    assert threading.active_count() == 1
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
gate.answer("GET", "/", [])
with open(file, "w") as to:
    to.write("orbgate: 1\\napis: {}\\n...\\n")
end = time.monotonic() + 60
while gate.policy is before and time.monotonic() < end:
    time.sleep(0.01)
os._exit(gate.policy is before)
"""
    file = tmp_path / "policy.yaml"
    world = World()
    with pytest.raises(FileNotFoundError):
        world.gate.reload(file)
    file.write_text("orbgate: 2")
    with pytest.raises(PolicyError, match="policy.yaml"):
        world.gate.reload(file)
    with pytest.raises(ValueError, match="interval"):
        world.gate.watch(file, 0)
    file.write_text(USERS)
    subprocess.run([sys.executable, "-c", program, str(file)], check=True)


def test_diagnostics_of_the_issuers_have_their_locations() -> None:
    with pytest.raises(ConfigError) as raised:
        Gate(Policy.external(), "orbgate_token: 2\nissuers: []\n", file="tokens.yaml")
    version, issuers = str(raised.value).split("\n")
    assert version.startswith("tokens.yaml:1:16: ") and issuers.startswith("tokens.yaml:2:10: ") and raised.value.line == 1
    with pytest.raises(ValueError, match="realm"):
        Gate(Policy.external(), Issuer().tokens, challenge="full", realm='"')


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
    points = {metric.name: metric.data.data_points for metric in data.resource_metrics[0].scope_metrics[0].metrics}
    point = points["orbgate_decisions_total"][0]
    assert (point.value, dict(point.attributes)) == (1, {"decision": "deny", "reason": "no_token", "route": ""})


def test_a_hook_that_fails_changes_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lost: list[str] = []

    def count(name: str, labels: Any) -> None:
        lost.append(name)
        raise ValueError("no room")

    def audit(line: str) -> None:
        raise OSError("no room")

    messages: list[str] = []

    class Broken(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(record.getMessage())
            raise OSError("no room")

    monkeypatch.setattr(logging.getLogger("orbgate.gate"), "handlers", [Broken()])
    issuer = Issuer()
    gate = Gate(Policy.from_yaml(USERS), issuer.tokens, fetch=issuer.fetch, count=count, audit=audit)
    bearer = [(b"authorization", issuer.bearer("user", "read:a").encode())]
    for _ in range(2):
        assert gate.answer("GET", "/users/7", bearer).status is None
        assert asyncio.run(gate.answer_async("GET", "/users/7", [])).status == 401
        assert gate.answer("GET", "/users/7", bearer, lambda: "/users/{*rest}").status == 404
        assert call(asgi.GateMiddleware(service, gate), "/users/7", bearer)[0] == 200
    assert {"orbgate_decisions_total", "orbgate_misrouted_total", "orbgate_audit_lost_total"} == {*lost}
    # A new policy counts, or is refused for its own reason.
    file = tmp_path / "policy.yaml"
    file.write_text(USERS)
    assert gate.reload(file) == gate.policy
    file.write_text(USERS[:-4])
    with pytest.raises(PolicyError, match="does not end in a line"):
        gate.reload(file)
    assert len([text for text in messages if "`count` raised" in text]) == len([text for text in messages if "`audit` raised" in text]) == 1
    # An issuer that fails is logged, and denies.
    none = Gate(Policy.from_yaml(USERS), issuer.tokens, fetch=lambda *_: count("", {}))  # type: ignore[arg-type]
    assert none.answer("GET", "/users/7", bearer).refused == "no_keys"
    assert "cannot be fetched" in messages[-1]


def test_a_hook_that_nothing_would_await_is_refused() -> None:
    issuer, policy = Issuer(), Policy.from_yaml(USERS)

    async def later(*_: Any) -> Any:
        return None

    def one_by_one(*_: Any) -> Any:
        yield None

    class Later:
        async def __call__(self, *_: Any) -> Any:
            return None

    for name, hook in product(("audit", "count", "fetch"), (later, one_by_one, Later(), partial(later), "a name")):
        options: dict[str, Any] = {"fetch": issuer.fetch, name: hook}
        with pytest.raises(TypeError, match=f"^`{name}` must be "):
            Gate(policy, issuer.tokens, **options)

    lost: list[str] = []
    bearer = [(b"authorization", issuer.bearer("user", "read:a").encode())]
    # Only a call shows what these return.
    gate = Gate(policy, issuer.tokens, fetch=issuer.fetch, audit=lambda line: later(line), count=lambda name, _: lost.append(name))
    assert gate.answer("GET", "/users/7", bearer)
    assert lost == ["orbgate_decisions_total", "orbgate_audit_lost_total"]
    results: list[Callable[..., Any]] = [later, lambda *_: None, lambda *_: Fetched(200, "text"), sys.exit]  # type: ignore[arg-type]
    for result in results:
        none = Gate(policy, issuer.tokens, fetch=lambda *given, result=result: result(*given[:1]))
        began = time.monotonic()
        assert none.answer("GET", "/users/7", bearer).refused == "no_keys"
        assert time.monotonic() - began < 4  # it doesn't wait for the time limit


def test_without_a_gate_no_handler_learns_of_a_caller() -> None:
    world = World()
    environ: dict[str, Any] = {"PATH_INFO": ORBS}
    setup_testing_defaults(environ)
    scope = {"type": "http", "method": "GET", "path": ORBS}
    for of, request in [(wsgi.allowed, environ), (asgi.allowed, scope)]:
        with pytest.raises(RuntimeError, match="no gate"):
            of(request)
    # Nor what was decided of another request.
    answer = world.gate.answer("GET", ORBS, world.headers())
    allowed = world.gate.allowed(answer, "GET", ORBS)
    assert asgi.allowed({**scope, "orbgate": allowed}) is wsgi.allowed({**environ, "orbgate": allowed}) is allowed
    for of, request in [
        (asgi.allowed, {**scope, "orbgate": allowed, "method": "DELETE"}),
        (asgi.allowed, {**scope, "orbgate": allowed, "path": "/"}),
        (wsgi.allowed, {**environ, "orbgate": allowed, "REQUEST_METHOD": "DELETE"}),
        (wsgi.allowed, {**environ, "orbgate": allowed, "SCRIPT_NAME": "/a"}),
    ]:
        with pytest.raises(RuntimeError, match="method or path"):
            of(request)


def test_any_framework_compares_where_it_dispatches() -> None:
    world = World(Policy.from_yaml(USERS))
    answer = world.gate.answer("GET", "/users/7?a=b", world.headers("read:a"))
    table = [
        ("GET", "/users/7", "/users/{name}", True),
        ("GET", "/users/7", "/users/{*rest}", False),
        ("GET", "/users/7", "", False),
        ("GET", "/users/8", "/users/{name}", False),
        ("DELETE", "/users/7", "/users/{name}", False),
    ]
    for method, path, template, is_allowed in table:
        allowed = world.gate.allowed(answer, "GET", "/users/7?a=b")
        compared = [allowed.compare(method, path, template) for _ in range(2)]
        assert [(bool(one), one.status) for one in compared] == [(is_allowed, None if is_allowed else 404)] * 2
    # The allow is counted once, and each denial once, however often they are compared.
    decisions = {name: count for name, count in world.counted.items() if name.startswith("orbgate_decisions_total")}
    assert decisions == {"orbgate_decisions_total allow scope_held GET /users/{id}": 1, "orbgate_decisions_total deny no_route ": 4}


@pytest.mark.once
def test_gunicorn_with_a_header_for_the_script_name(tmp_path: Path) -> None:
    pytest.importorskip("gunicorn")
    (tmp_path / "inside.py").write_text(
        "from orbgate import Policy\n"
        "from orbgate.gate.wsgi import GateMiddleware\n"
        "from test_gate import USERS, World\n"
        "world = World(Policy.from_yaml(USERS))\n"
        "def application(environ, start_response):\n"
        "    start_response('200 OK', [('Content-Length', '0')])\n"
        "    return [b'']\n"
        "app = GateMiddleware(application, world.gate)\n"
        "with open('bearer', 'wb') as file:\n"
        "    file.write(world.headers('read:a')[1][1])\n",
        encoding="utf-8",
    )
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    tests = str(Path(__file__).parent)
    command = [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}", "--pythonpath", tests, "--preload", "inside:app"]
    server = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        bearer = (tmp_path / "bearer").read_text()
        statuses = []
        for more in ({}, {"SCRIPT_NAME": "/users"}):
            connection = HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("GET", "/users/export", headers={"Authorization": bearer, **more})
            statuses.append(connection.getresponse().status)
            connection.close()
        assert statuses == [200, 404]
    finally:
        server.terminate()
        server.wait(30)


@pytest.mark.once
def test_workers_of_gunicorn_follow_the_file(tmp_path: Path) -> None:
    """A bad version ends no worker, and a good one reaches all of them. Only gunicorn's own reload starts workers, which can't read a bad one."""
    pytest.importorskip("gunicorn")
    (tmp_path / "inside.py").write_text(
        "import logging, os\n"
        "from orbgate.gate import Gate\n"
        "from orbgate.gate.wsgi import GateMiddleware\n"
        "logging.basicConfig(level=logging.INFO, format='%(message)s')\n"
        "def application(environ, start_response):\n"
        "    start_response('200 OK', [('Content-Length', '0')])\n"
        "    return [b'']\n"
        "gate = Gate.from_files('policy.yaml', 'tokens.yaml')\n"
        "gate.watch('policy.yaml', 0.05)\n"
        "gated = GateMiddleware(application, gate)\n"
        "def app(environ, start_response):\n"
        "    return gated(environ, lambda line, headers: start_response(line, [*headers, ('X-Worker', str(os.getpid()))]))\n",
        encoding="utf-8",
    )
    file, issuer = tmp_path / "policy.yaml", serve(0)
    threading.Thread(target=issuer.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{issuer.server_address[1]}"
    tokens, token = (urlopen(url + path).read() for path in ("/tokens.yaml", "/token?kind=user&scope=read:a"))
    (tmp_path / "tokens.yaml").write_bytes(tokens)

    def write(text: str) -> None:
        (tmp_path / "new").write_text(text)
        (tmp_path / "new").replace(file)

    def asks(status: int) -> set[int]:
        """Asks until two workers have answered with this status."""
        workers: set[int] = set()
        begun = time.monotonic()
        while len(workers) < 2:
            assert time.monotonic() - begun < 60
            connection = HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("GET", "/users/7", headers={"Authorization": f"Bearer {token.decode()}"})
            response = connection.getresponse()
            if response.status == status:
                workers.add(int(response.headers["X-Worker"]))
            connection.close()
        return workers

    write(USERS)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        listener.set_inheritable(True)
        command = [sys.executable, "-m", "gunicorn", "--workers", "2", "--bind", f"fd://{listener.fileno()}", "inside:app"]
        log = (tmp_path / "log").open("wb")
        server = subprocess.Popen(command, cwd=tmp_path, stderr=log, pass_fds=[listener.fileno()])

    def logged(words: str) -> int:
        return (tmp_path / "log").read_text().count(words)

    try:
        first = asks(200)
        write("orbgate: 2\n")
        wait_until(lambda: logged("the previous policy stays active") == 2)
        assert asks(200) == first
        write(USERS.replace("read:a", "read:b"))
        wait_until(lambda: logged("a policy is active") == 2)
        assert asks(403) == first
        # A worker that dies is replaced by one with the new version.
        os.kill(min(first), signal.SIGKILL)
        wait_until(lambda: logged("Booting worker") == 3)
        assert max(asks(403) - first)
        write("orbgate: 2\n")
        server.send_signal(signal.SIGHUP)
        # Its own choice, as it finds one worker's end or both.
        assert server.wait(60) in (1, 3) and logged("Worker failed to boot.")
    finally:
        server.kill()
        server.wait(30)
        issuer.shutdown()
        issuer.server_close()
        log.close()


@pytest.mark.once
@pytest.mark.parametrize("framework", ["fastapi", "flask", "django"])
def test_the_guide_runs_as_it_is_written(root: Path, tmp_path: Path, framework: str) -> None:
    """From the installed package alone: a service, an issuer, and three answers."""
    for needed in (framework, "uvicorn", "waitress"):
        pytest.importorskip(needed)
    readme = (root / "bindings/python/README.md").read_text(encoding="utf-8")
    guide = readme.partition("## Protect a service in ten lines")[2]
    service = guide.partition("```python\n")[2].partition("```")[0]
    assert len([line for line in service.splitlines() if line.strip()]) <= 10
    commands = guide.partition("<!-- run: protect -->\n```sh\n")[2].partition("```")[0]
    if framework != "fastapi":
        page = (root / "bindings/python/docs/gate.md").read_text(encoding="utf-8").partition("## Whole services")[2]
        before, _, rest = page.partition(f"```python\nfrom {framework}")
        service = f"from {framework}" + rest.partition("```")[0]
        commands = commands.replace("uvicorn --port 8000 service:app &", [code for code in before.split("`") if code.endswith(" &")][-1])
    (tmp_path / "service.py").write_text(service, encoding="utf-8")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    # On free ports, and as soon as each program listens. What the script starts ends with it.
    for printed, pause in (("9000", "sleep 1"), ("8000", "sleep 2")):
        assert printed in commands and pause in commands
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = str(listener.getsockname()[1])
        waiting = f"until (: < /dev/tcp/127.0.0.1/{port}) 2> /dev/null; do kill -0 $! || exit 1; sleep 0.1; done"
        commands = commands.replace(printed, port).replace(pause, waiting)
    script = "trap 'kill $(jobs -p)' EXIT\n" + commands
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PATH": path})
    statuses = [line.split()[1] for line in ran.stdout.splitlines() if line.startswith("HTTP/1.1")]
    assert (statuses, '{"caller":"subject"}' in ran.stdout.replace(": ", ":")) == (["401", "403", "200"], True), ran.stdout + ran.stderr
