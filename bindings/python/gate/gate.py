"""The gate program of Python: `gate.py FRAMEWORK --listen ADDR --policy FILE --tokens FILE [--ungated]`; see policy/cases/gate/README.md."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

from orbgate import OrbgateError
from orbgate.gate import Allowed, Gate, Ledger

METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"]
LOCK = threading.Lock()
# uWSGI takes the first for itself.
OUTPUT = os.dup(1)


def say(line: str) -> None:
    """A whole line at once, so that lines of threads do not mix."""
    with LOCK:
        os.write(OUTPUT, f"{line}\n".encode())


class Counted:
    """What the gate's hook has counted."""

    def __init__(self) -> None:
        self.decisions: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.loads: Counter[str] = Counter()
        self.misrouted = 0
        self.over: Counter[str] = Counter()

    def __call__(self, name: str, labels: Mapping[str, str]) -> None:
        with LOCK:
            if name == "orbgate_decisions_total":
                self.decisions[" ".join(labels.values())] += 1
            elif name == "orbgate_tokens_refused_total":
                self.refused[labels["reason"]] += 1
            elif name == "orbgate_misrouted_total":
                self.misrouted += 1
            elif name == "orbgate_policy_loads_total":
                self.loads[labels["result"]] += 1
            elif name == "orbgate_over_ceiling_total":
                self.over[""] += 1

    def __str__(self) -> str:
        with LOCK:
            counts = {
                "orbgate_decisions_total": self.decisions,
                "orbgate_tokens_refused_total": self.refused,
                "orbgate_misrouted_total": self.misrouted,
                "orbgate_policy_loads_total": self.loads,
                "orbgate_over_ceiling_total": self.over,
            }
            return json.dumps(counts)


def saw(method: str, target: str, allowed: Allowed | None, **more: object) -> str:
    """What the service saw; said before it is answered."""
    decision = None if allowed is None else allowed.decision
    charge = None if decision is None else decision.orbs
    text = json.dumps(
        {
            "method": method,
            "target": target,
            "route": decision and decision.route,
            "scope": decision and decision.scope,
            "kind": allowed.token.kind.value if allowed and allowed.public_template is None else None,
            "consumes": None if charge is None else charge.consumes,
            **more,
        }
    )
    say(text)
    return text


def done(method: str, target: str, allowed: Allowed | None, do: str, body: bytes) -> tuple[int, str, Iterator[str] | None]:
    """What the service does, as the header `x-do` says: its status, and its whole text or the pieces of a stream."""
    if do.startswith("state ") and allowed is not None:
        amount, _, do = do.removeprefix("state ").partition(", ")
        text = saw(method, target, allowed, stated=allowed.state_orbs(int(amount)))
    elif do == "echo":
        text = saw(method, target, allowed, body=body.decode())
    else:
        text = saw(method, target, allowed)
    if do == "throw":
        raise ValueError("as it was told")
    if do == "bare":
        return 403, "", None
    if "stream" in do:
        return 200, "", stream(text, do)
    return int(do) if do.isdigit() else 200, text * 20_000 if do == "large" else text, None


def stream(text: str, do: str) -> Iterator[str]:
    if do == "stream that fails at once":
        raise ValueError("as it was told")
    yield text
    if do == "stream that fails":
        raise ValueError("as it was told")
    while do == "endless stream":
        time.sleep(0.01)
        yield text


def respond(body: bytes) -> tuple[int, dict[str, str], Iterator[bytes]]:
    """A response as the arguments of a call at an MCP endpoint describe it."""
    row = json.loads(body)["params"]["arguments"]

    def pieces() -> Iterator[bytes]:
        text = row["body"].encode()
        if row.get("closed"):
            yield text
            while True:
                time.sleep(0.01)
                yield b":\n"
        yield text[: len(text) // 2]
        yield text[len(text) // 2 :]

    return row["status"], dict(line.split(": ") for line in row["headers"]), pieces()


def obey(gate: Gate | None, policy: str, counted: Counted) -> None:
    """What is said on standard input."""
    for line in sys.stdin:
        if line == "reload\n" and gate is not None:
            try:
                gate.reload(policy)
                say("reloaded")
            except (ValueError, OSError):
                say("kept")
        elif line == "count\n":
            say(f"counted {counted}")


Routes = list[tuple[str, str]]
"""Methods and templates."""


def templates(routes: Routes) -> list[str]:
    """Each template, those with fewer parameters first, because these routers take the first that fits."""
    distinct = {template for _, template in routes}
    # One name for all parameters at one place.
    return sorted(distinct, key=lambda template: [segment.startswith("{") for segment in template.split("/")])


def names(template: str, form: str) -> str:
    """A template with names of parameters that every framework takes."""
    segments = enumerate(template.split("/"))
    return "/".join(form.format(at) if segment.startswith("{") else segment for at, segment in segments)


def raw_target(scope: Mapping[str, Any]) -> str:
    query = scope["query_string"].decode("latin-1")
    path = scope["raw_path"].decode("latin-1")
    return f"{path}?{query}" if query else path


async def handshake(websocket: Any) -> None:
    """Answers a handshake of WebSockets as the service answers a request."""
    from orbgate.gate.asgi import allowed
    from starlette.responses import Response

    scope = websocket.scope
    decided = allowed(websocket) if "orbgate" in scope else None
    status, text, _ = done("GET", raw_target(scope), decided, websocket.headers.get("x-do", ""), b"")
    await websocket.send_denial_response(Response(text, status, media_type="application/json" if text else None))


async def any_handshake(scope: Any, receive: Any, send: Any) -> None:
    from starlette.websockets import WebSocket

    await handshake(WebSocket(scope, receive, send))


def in_starlette(is_gated: bool) -> tuple[Any, Any]:
    """What answers a route, and what answers the rest."""
    from orbgate.gate.asgi import allowed
    from starlette.requests import Request
    from starlette.responses import Response, StreamingResponse

    async def echo(request: Request) -> Response:
        do, body = request.headers.get("x-do", ""), await request.body()
        status, text, pieces = done(request.method, raw_target(request.scope), allowed(request) if is_gated else None, do, body)
        if do.endswith("respond"):
            status, headers, parts = respond(body)
            return StreamingResponse(parts, status, headers)
        if pieces is not None:
            return StreamingResponse(pieces)
        return Response(text, status, media_type="application/json")

    async def rest(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await any_handshake(scope, receive, send)
        else:
            await (await echo(Request(scope, receive)))(scope, receive, send)

    return echo, rest


def starlette(gate: Gate | None, routes: Routes) -> Any:
    from orbgate.gate.asgi import GateMiddleware
    from starlette.applications import Starlette
    from starlette.routing import Route, WebSocketRoute

    echo, rest = in_starlette(gate is not None)
    methods = sorted({*METHODS, *(method for method, _ in routes)})
    app = Starlette(routes=[Route(names(template, "{{p{}}}"), echo, methods=methods) for template in templates(routes)])
    gets = [(method, template) for method, template in routes if method == "GET"]
    app.routes.extend(WebSocketRoute(names(template, "{{p{}}}"), handshake) for template in templates(gets))
    app.router.default = rest
    app.router.redirect_slashes = False
    if gate:
        app.add_middleware(GateMiddleware, gate=gate)
    return app


def fastapi(gate: Gate | None, routes: Routes) -> Any:
    from fastapi import FastAPI
    from orbgate.gate.starlette import protect
    from starlette.routing import WebSocketRoute

    echo, rest = in_starlette(gate is not None)
    app = FastAPI(openapi_url=None, redirect_slashes=False)
    order = templates(routes)
    for method, template in sorted(routes, key=lambda route: order.index(route[1])):
        app.add_route(names(template, "{{p{}}}"), echo, methods=[method])
        if method == "GET":
            app.router.routes.append(WebSocketRoute(names(template, "{{p{}}}"), handshake))
    app.router.default = rest
    if gate:
        protect(app, gate)
    return app


def flask(gate: Gate | None, routes: Routes) -> Any:
    from flask import Flask, Response, request
    from orbgate.gate.flask import allowed, protect

    app = Flask("gate", static_folder=None)
    app.url_map.merge_slashes = False

    def echo(**_: str) -> Response:
        target = request.environ.get("RAW_URI") or request.environ["REQUEST_URI"]
        do, body = request.headers.get("x-do", ""), request.get_data()
        status, text, pieces = done(request.method, target, allowed(request) if gate else None, do, body)
        return Response(text if pieces is None else pieces, status, content_type="application/json")

    for at, (method, template) in enumerate(routes):
        options = {"strict_slashes": True, "provide_automatic_options": False}
        app.add_url_rule(names(template, "<p{}>"), f"route{at}", echo, methods=[method], **options)
        if method == "GET":
            # Werkzeug has other routes for handshakes, as flask-sock adds them.
            app.add_url_rule(names(template, "<p{}>"), f"websocket{at}", echo, methods=["GET"], websocket=True, **options)
    for error in (404, 405):
        app.register_error_handler(error, lambda error: echo())
    if gate:
        protect(app, gate)
    return app


async def in_threads(pieces: Iterator[str]) -> AsyncIterator[str]:
    while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
        yield piece


def django(gate: Gate | None, routes: Routes) -> Any:
    from django.conf import settings
    from django.core.asgi import get_asgi_application
    from django.http import HttpResponse, StreamingHttpResponse
    from django.urls import path, re_path
    from orbgate.gate.asgi import GateMiddleware
    from orbgate.gate.django import allowed, around

    async def echo(request: Any, **_: str) -> HttpResponse:
        do, body = request.headers.get("x-do", ""), request.body
        status, text, pieces = done(request.method, raw_target(request.scope), allowed(request) if gate else None, do, body)
        if pieces is not None:
            return StreamingHttpResponse(in_threads(pieces))
        return HttpResponse(text, status=status, content_type="application/json")

    urls = [path(names(template, "<str:p{}>").removeprefix("/"), echo) for template in templates(routes)]
    urlconf = type("urls", (), {"urlpatterns": [*urls, re_path("", echo)]})
    settings.configure(ROOT_URLCONF=urlconf, ALLOWED_HOSTS=["*"], MIDDLEWARE=[], SECRET_KEY="-", APPEND_SLASH=False, LOGGING_CONFIG=None)
    app = get_asgi_application()
    # Django itself takes no WebSockets; Channels divides them in the same way.
    requests, handshakes = (around(app, gate), GateMiddleware(any_handshake, gate)) if gate else (app, any_handshake)

    async def both(scope: Any, receive: Any, send: Any) -> None:
        await (handshakes if scope["type"] == "websocket" else requests)(scope, receive, send)

    return both


def waitress(app: Any, listener: socket.socket, _: Callable[[], None]) -> None:
    from waitress import create_server

    create_server(app, sockets=[listener], threads=8).run()


def gunicorn(app: Any, listener: socket.socket, begin: Callable[[], None]) -> None:
    from gunicorn.app.base import BaseApplication

    class Server(BaseApplication):  # type: ignore[misc]
        def load_config(self) -> None:
            told = {"bind": f"fd://{listener.fileno()}", "threads": 8, "loglevel": "critical", "post_worker_init": lambda _: begin()}
            for name, value in told.items():
                self.cfg.set(name, value)

        def load(self) -> Any:
            return app

    listener.set_inheritable(True)
    # It reads the arguments of the program, too.
    sys.argv[1:] = []
    Server().run()


def uwsgi(app: Any, listener: socket.socket, _: Callable[[], None]) -> None:
    import pyuwsgi

    # It imports what it serves.
    served = ModuleType("served")
    served.app = app  # type: ignore[attr-defined]
    sys.modules["served"] = served
    listener.set_inheritable(True)
    words = ["--module", "served:app", "--need-app", "--threads", "8", "--buffer-size", "32768", "--honour-stdin", "--disable-logging"]
    pyuwsgi.run(["--http-socket", f"fd://{listener.fileno()}", *words])


def uvicorn(app: Any, listener: socket.socket, _: Callable[[], None], **options: Any) -> None:
    """With the libraries of `uvicorn[standard]`: httptools, uvloop and websockets."""
    import uvicorn

    config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False, **{"lifespan": "off", **options})
    uvicorn.Server(config).run(sockets=[listener])


def living_uvicorn(app: Any, listener: socket.socket, begin: Callable[[], None]) -> None:
    """The SDK's application has a task of its own for its sessions."""
    uvicorn(app, listener, begin, lifespan="on")


def plain_uvicorn(app: Any, listener: socket.socket, begin: Callable[[], None]) -> None:
    """Without them; uvicorn then takes h11 and, if it's there, wsproto."""
    uvicorn(app, listener, begin, http="h11", ws="wsproto", loop="asyncio")


def hypercorn(app: Any, listener: socket.socket, _: Callable[[], None]) -> None:
    from hypercorn.asyncio import serve
    from hypercorn.config import Config

    config = Config()
    config.bind = [f"fd://{listener.fileno()}"]
    config.errorlog = None
    asyncio.run(serve(app, config, shutdown_trigger=asyncio.Event().wait))


# A framework and its server. Some are named by their server.
PROGRAMS = {
    "starlette": (starlette, uvicorn),
    "fastapi": (fastapi, plain_uvicorn),
    "django": (django, uvicorn),
    "flask": (flask, waitress),
    "gunicorn": (flask, gunicorn),
    "uwsgi": (flask, uwsgi),
    "hypercorn": (starlette, hypercorn),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("framework", choices=PROGRAMS)
    for option in ("listen", "policy", "tokens"):
        parser.add_argument(f"--{option}", required=True)
    parser.add_argument("--public", action="append", default=[])
    parser.add_argument("--challenge", default="minimal")
    parser.add_argument("--watch", type=float)
    for option in ("ungated", "refuse-wider", "debug", "charge-sessions", "sdk-json"):
        parser.add_argument(f"--{option}", action="store_true")
    for option in ("ledger", "ledger-secret", "ledger-db", "on-cancelled", "on-broken", "on-tool-error", "on-input-required", "mcp", "mcp-origin", "sdk", "work"):
        parser.add_argument(f"--{option}")
    parser.add_argument("--ceiling", type=int, default=1)
    for option in ("amount", "bonus"):
        parser.add_argument(f"--{option}", action="append", default=[])
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(levelname)s: %(message)s")
    counted = Counted()
    options: dict[str, Any] = {}
    try:
        if given.ledger:
            settings = {name: getattr(given, name) for name in ("on_cancelled", "on_broken", "on_tool_error", "on_input_required", "ceiling")}
            options["ledger"] = Ledger(given.ledger, secret_file=given.ledger_secret, **settings)
            options["mcp"] = given.mcp
            options["mcp_charge_sessions"] = given.charge_sessions
            options["mcp_origins"] = [given.mcp_origin] if given.mcp_origin else []
            options["amounts"] = {route: lambda headers, _: int(headers["x-orbs"]) for route in given.amount}
            options["bonus_from_body"] = dict.fromkeys(given.bonus, 1000)
        gate = Gate.from_files(given.policy, given.tokens, public=given.public, challenge=given.challenge, count=counted, audit=lambda line: say(f"audited {line}"), debug=given.debug, refuse_wider=given.refuse_wider, **options)
        if given.watch:
            gate.watch(given.policy, given.watch / 1000)
    except (OrbgateError, ValueError, OSError) as error:
        sys.exit(print(error, file=sys.stderr) or 2)
    host, _, port = given.listen.rpartition(":")
    listener = socket.create_server((host, int(port)), backlog=128)
    address = "{}:{}".format(*listener.getsockname()[:2])
    framework, serve = PROGRAMS[given.framework]
    routes = [(route.method, route.template) for route in gate.policy.routes()]
    if given.mcp:
        routes = [("POST", given.mcp)]
    routes += [(method, template) for method, _, template in (route.partition(" ") for route in given.public)]
    if given.sdk:
        from sdk import application

        tools = [route.template.rpartition("/")[2] for route in gate.policy.routes() if "/tools/call/" in route.template]
        app, serve = application(gate, tools, given.work, given.sdk_json), living_uvicorn
    else:
        app = framework(None if given.ungated else gate, routes)

    def begin() -> None:
        """In the process that serves."""
        threading.Thread(target=obey, args=(gate, given.policy, counted), daemon=True).start()
        say(f"listening {address}")

    if serve is not gunicorn:
        begin()
    serve(app, listener, begin)


if __name__ == "__main__":
    main()
