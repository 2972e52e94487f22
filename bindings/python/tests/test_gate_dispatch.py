"""Where a framework dispatches: prefixes that disguise a path."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from orbgate import Policy
from orbgate.gate import asgi, wsgi
from test_gate import USERS, World, call, call_wsgi, service

pytestmark = pytest.mark.once

MISROUTED = "orbgate_misrouted_total GET /users/{id} "


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


def test_gunicorn_with_a_header_for_the_script_name(tmp_path: Path) -> None:
    import socket
    import time
    from http.client import HTTPConnection

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
