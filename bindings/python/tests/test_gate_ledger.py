"""A gate with a ledger: its settings, and outcomes that only servers in the same process can show. `policy/cases/gate` has the exchanges."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from orbgate import Policy
from orbgate.gate import Gate, Ledger, asgi, wsgi
from orbgate.gate.testing import Issuer

RULES = """
orbgate: 1
apis:
  shop:
    base_path: ""
    scopes:
      run: { orbs: AMOUNT, routes: [GET /run] }
...
"""
SECRET = "secret-of-a-gate-0123456789"
ISSUER = Issuer()


class Service(ThreadingHTTPServer):
    """A ledger that holds everything, and remembers how it is settled."""

    secrets = {SECRET}

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.settled: list[Any] = []
        self.holds: list[Any] = []
        self.answer: Any = {"hold": "held", "state": "pending", "at": 1}
        self.settles = True
        self.extended = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def known(self) -> Service:
        assert isinstance(self.server, Service)
        return self.server

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        known = self.headers["Authorization"].removeprefix("Bearer ") in self.known.secrets
        answer: Any = {"error": "unauthorized"}
        if known and self.path == "/v1/hold":
            self.known.holds.append(message)
            answer = self.known.answer
        elif known and self.path == "/v1/extend":
            answer = [{"at": 1} for _ in message]
            if message:
                self.known.extended.set()
        elif known and not self.known.settles:
            known = False
        elif known:
            self.known.settled += [each["settlement"] for each in message]
            answer = [{"at": 1, "state": "voided" if each["settlement"] == "void" else "captured"} for each in message]
        text = json.dumps(answer).encode()
        self.send_response(200 if known else 401)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:
        """Logs nothing."""


@pytest.fixture
def service() -> Iterator[Service]:
    server = Service()
    yield server
    server.shutdown()
    server.server_close()


def policy(amount: str = "10") -> Policy:
    return Policy.from_yaml(RULES.replace("AMOUNT", amount))


def gate(service: Service, **options: Any) -> tuple[Gate, Ledger]:
    ledger = Ledger(service.url, on_cancelled="capture", secret=SECRET)
    return Gate(policy(), ISSUER.tokens, fetch=ISSUER.fetch, ledger=ledger, **options), ledger


def test_wrong_settings_are_refused(service: Service) -> None:
    secrets: list[dict[str, Any]] = [{}, {"secret": SECRET, "secret_file": "x"}, {"secret": ""}, {"secret": "a\r\nb"}, {"secret": SECRET, "timeout": 30.0}]
    for wrong in secrets:
        with pytest.raises(ValueError, match="secret|timeout"):
            Ledger(service.url, on_cancelled="void", **wrong)
    unknown: list[dict[str, Any]] = [{"on_broken": "perhaps"}, {"ceiling": 0}]
    for costs in unknown:
        with pytest.raises(ValueError, match=next(iter(costs))):
            Ledger(service.url, on_cancelled="void", secret=SECRET, **costs)
    with pytest.raises(ValueError, match="on_cancelled"):
        Ledger(service.url, on_cancelled="perhaps", secret=SECRET)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Ledger(service.url, secret=SECRET)  # type: ignore[call-arg]
    ledger = Ledger(service.url, on_cancelled="void", secret=SECRET)
    assert SECRET not in repr(ledger)
    assert SECRET not in str(vars(ledger)["_service"])
    with pytest.raises(ValueError, match="`GET /run` consumes orbs, but neither"):
        Gate(policy("true"), ISSUER.tokens, ledger=ledger)
    with pytest.raises(ValueError, match="no route `GET /walk`"):
        Gate(policy(), ISSUER.tokens, ledger=ledger, amounts={"GET /walk": lambda headers, token: 1})
    with pytest.raises(ValueError, match="ledger"):
        Gate(policy(), ISSUER.tokens, amounts={"GET /run": lambda headers, token: 1})


def test_each_url_of_the_cases_is_read_or_refused() -> None:
    _, *rows = (Path(__file__).parents[3] / "policy/cases/gate/ledgers.tsv").read_text("utf-8").splitlines()
    assert len(rows) > 40
    for row in rows:
        url, expected = row.split("\t")
        if expected in ("refused", "in the clear"):
            with pytest.raises(ValueError, match="the URL of a ledger is" if expected == "refused" else expected):
                Ledger(url, on_cancelled="void", secret=SECRET)
        else:
            Ledger(url, on_cancelled="void", secret=SECRET)


def test_the_log_states_how_a_gate_charges(service: Service, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "orbgate")

    def said() -> list[str]:
        records = [f"{record.levelname} {record.getMessage()}" for record in caplog.records]
        caplog.clear()
        return records

    account = "; account of `{issuer}`: `sub`".format(**json.loads(ISSUER.tokens)["issuers"][0])
    one = f"routes that consume orbs: 1, such as `GET /run`{account}"
    Gate(policy(), ISSUER.tokens)
    assert said() == [f"WARNING charging: no ledger, so only the handlers can charge; {one}"]
    Gate(policy("false"), ISSUER.tokens)
    assert said() == [f"INFO charging: no ledger; routes that consume orbs: 0{account}"]
    new_gate, ledger = gate(service)
    assert said() == [f"INFO charging: in a ledger; {one}"]
    file = tmp_path / "policy.yaml"
    file.write_text(RULES.replace("AMOUNT", "11"))
    new_gate.reload(file)
    assert said()[0] == f"INFO a policy is active: {file}: {new_gate.policy.digest}; charging: in a ledger; {one}"
    # Another gate asks the ledger nothing, because it has answered.
    service.secrets = set()
    Gate(policy(), ISSUER.tokens, ledger=ledger)
    assert said() == [f"INFO charging: in a ledger; {one}"]


def test_a_wrong_secret_and_a_silent_ledger_show_at_the_start(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    service.secrets = {"another-secret"}
    gate(service)
    assert f"the ledger {service.url}: status 401, so its secret is wrong" in caplog.text
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        begun = time.monotonic()
        Gate(policy(), ISSUER.tokens, ledger=Ledger(url, on_cancelled="void", secret=SECRET, timeout=0.2))
        assert time.monotonic() - begun < 2
    assert f"the ledger {url}: TimeoutError instead of an answer" in caplog.text


def test_a_ledger_without_an_account_is_refused(service: Service, tmp_path: Path) -> None:
    issuer = json.loads(ISSUER.tokens)
    del issuer["issuers"][0]["account"]
    tokens = tmp_path / "tokens.yaml"
    tokens.write_text(json.dumps(issuer))
    file = tmp_path / "policy.yaml"
    file.write_text(RULES.replace("AMOUNT", "10"))
    ledger = Ledger(service.url, on_cancelled="void", secret=SECRET)
    with pytest.raises(ValueError, match=f"^{tokens}:1:1: no issuer of the token configuration has `account`, so "):
        Gate.from_files(file, tokens, ledger=ledger)
    assert Gate.from_files(file, tokens).policy == policy()
    new_gate = Gate(policy("false"), tokens.read_text(), ledger=ledger)
    with pytest.raises(ValueError, match="no issuer of the token configuration has `account`, so "):
        new_gate.reload(file)
    assert new_gate.policy == policy("false")


def test_a_reload_without_an_amount_keeps_the_policy(service: Service, tmp_path: Path) -> None:
    new_gate, _ = gate(service)
    file = tmp_path / "policy.yaml"
    file.write_text(RULES.replace("AMOUNT", "true"))
    with pytest.raises(ValueError, match="consumes orbs"):
        new_gate.reload(file)
    assert new_gate.policy == policy()
    file.write_text(RULES.replace("AMOUNT", "11"))
    assert new_gate.reload(file) == new_gate.policy


def test_only_a_middleware_can_charge(service: Service) -> None:
    new_gate, _ = gate(service)
    with pytest.raises(RuntimeError, match="GateMiddleware"):
        new_gate.answer("GET", "/run", [])


def test_a_refused_secret_is_read_again(service: Service, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(f"{SECRET}\n")
    ledger = Ledger(service.url, on_cancelled="void", secret_file=file)
    new_gate = Gate(policy(), ISSUER.tokens, fetch=ISSUER.fetch, ledger=ledger)
    service.secrets = {"another-secret"}
    assert call_wsgi(new_gate, lambda environ, start: [b""])[0] == 503
    file.write_text("another-secret")
    assert call_wsgi(new_gate, started)[0] == 200


def started(environ: Any, start: Any) -> list[bytes]:
    start("200 OK", [])
    return [b"answer"]


def call_wsgi(gate: Gate, app: Any, around: Any = wsgi.GateMiddleware) -> tuple[int, Any]:
    statuses: list[int] = []
    environ = {"REQUEST_METHOD": "GET", "RAW_URI": "/run", "PATH_INFO": "/run", "HTTP_AUTHORIZATION": ISSUER.bearer("user", "run")}
    response = around(app, gate)(environ, lambda status, headers: statuses.append(int(status[:3])))
    return (statuses or [0])[-1], response


async def call_asgi(gate: Gate, app: Any, kind: str = "http") -> None:
    scope = {"type": kind, "path": "/run", "raw_path": b"/run", "query_string": b"", "headers": [(b"authorization", ISSUER.bearer("user", "run").encode())]}
    await asgi.GateMiddleware(app, gate)(scope, receive, send)


async def receive() -> dict[str, Any]:
    return {"type": "http.disconnect"}


async def send(message: Any) -> None:
    pass


def test_what_a_websocket_costs(service: Service) -> None:
    new_gate, ledger = gate(service)

    async def accepts(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "websocket.accept"})
        assert ledger.flush(20)
        raise ValueError("after the handshake")

    async def closes(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "websocket.close"})

    with pytest.raises(ValueError, match="after"):
        asyncio.run(call_asgi(new_gate, accepts, "websocket"))
    asyncio.run(call_asgi(new_gate, closes, "websocket"))
    assert ledger.flush(20)
    assert service.settled == [{"capture": 10}, "void"]


def test_what_a_handler_costs_that_is_stopped(service: Service) -> None:
    new_gate, ledger = gate(service)

    begun = asyncio.Event()

    async def hangs(scope: Any, receive: Any, send: Any) -> None:
        begun.set()
        await asyncio.sleep(3600)

    async def leaves(scope: Any, receive: Any, send: Any) -> None:
        await receive()

    async def forgets(scope: Any, receive: Any, send: Any) -> None:
        pass

    async def main() -> None:
        task = asyncio.create_task(call_asgi(new_gate, hangs))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await call_asgi(new_gate, leaves)
        await asyncio.to_thread(ledger.flush, 20)
        await call_asgi(new_gate, forgets)

    asyncio.run(main())
    assert ledger.flush(20)
    assert service.settled == [{"capture": 10}, {"capture": 10}, "void"]


def test_what_an_answer_over_wsgi_costs(service: Service) -> None:
    new_gate, ledger = gate(service)

    def unread(environ: Any, start: Any) -> Iterator[bytes]:
        start("200 OK", [])
        yield b"first"
        yield b"second"

    def stated(environ: Any, start: Any) -> Iterator[bytes]:
        start("200 OK", [("Content-Length", "5")])
        yield b"first"
        raise ValueError("after the whole answer")

    def forgets(environ: Any, start: Any) -> list[bytes]:
        return [b""]

    _, response = call_wsgi(new_gate, unread)
    assert next(iter(response)) == b"first"
    response.close()
    assert ledger.flush(20)
    _, response = call_wsgi(new_gate, stated)
    assert next(iter(response)) == b"first"
    response.close()
    assert ledger.flush(20)
    call_wsgi(new_gate, forgets)
    assert ledger.flush(20)
    assert service.settled == [{"capture": 10}, {"capture": 10}, "void"]
    assert ledger.counts()["captured"] == 2


def test_the_same_gate_twice_holds_once(service: Service) -> None:
    new_gate, ledger = gate(service)
    inner = wsgi.GateMiddleware(started, new_gate)
    assert call_wsgi(new_gate, inner)[0] == 200
    assert ledger.flush(20)
    assert (len(service.holds), service.settled) == (1, [{"capture": 10}])


def test_a_handler_knows_its_hold(service: Service) -> None:
    new_gate, ledger = gate(service)
    ids: list[str | None] = []

    def logs(environ: Any, start: Any) -> list[bytes]:
        ids.append(wsgi.allowed(environ).hold_id)
        return started(environ, start)

    assert call_wsgi(new_gate, logs)[0] == 200
    assert ledger.flush(20)
    assert ids == [service.holds[0]["id"]]


def test_an_application_that_compares_itself_is_charged(service: Service) -> None:
    counts: list[str] = []
    new_gate, ledger = gate(service, count=lambda name, labels: counts.append(" ".join([name, *labels.values()])))

    def compares(template: str) -> Any:
        def application(environ: Any, start: Any) -> list[bytes]:
            answer = wsgi.allowed(environ).compare("GET", "/run", template)
            start(f"{answer.status or 200} -", answer.headers)
            return [b""]

        return lambda app, gate: wsgi.GateMiddleware(application, gate, is_compared=True)

    assert call_wsgi(new_gate, started, compares("/run"))[0] == 200
    assert call_wsgi(new_gate, started, compares("/walk"))[0] == 404
    assert ledger.flush(20)
    assert service.settled == [{"capture": 10}, "void"]
    assert [count for count in counts if count.startswith("orbgate_decisions")] == [
        "orbgate_decisions_total allow scope_held GET /run",
        "orbgate_decisions_total deny no_route ",
    ]


@contextmanager
def postgres() -> Iterator[str]:
    """A server of its own, which refuses to run as root, and a database in it. Its socket must have a short path."""
    newest = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    if not newest:
        pytest.skip("`initdb` is missing: apt-get install postgresql")
    home = Path(tempfile.mkdtemp(prefix="orbs", dir="/tmp"))
    home.chmod(0o777)
    other = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"] if os.getuid() == 0 else []
    run = {"cwd": home, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([*other, newest[-1], "-D", home / "data", "-U", "orbs", "-A", "trust", "--no-sync"], check=True, **run)  # type: ignore[call-overload]
    options = ["-k", str(home), "-c", "listen_addresses=", "-c", "fsync=off"]
    server = subprocess.Popen([*other, newest[-1].parent / "postgres", "-D", home / "data", *options], **run)  # type: ignore[call-overload]
    try:
        # It has a database of this name.
        yield f"host={home} user=orbs dbname=postgres"
    finally:
        server.send_signal(signal.SIGQUIT)
        server.wait(60)
        shutil.rmtree(home, ignore_errors=True)


@pytest.mark.once
@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_the_tutorial_runs_as_it_is_written(root: Path, tmp_path: Path, command: str, store: str) -> None:
    """With the gateway's program, on free ports, and as soon as each program listens. What the script starts ends with it."""
    for needed in ("fastapi", "uvicorn"):
        pytest.importorskip(needed)
    with ExitStack() as stack:  # all at once, so that they differ
        listeners = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(4)]
        ports: dict[str, str] = dict(zip(("9000", "9180", "9186", "8000"), (str(listener.getsockname()[1]) for listener in listeners)))
    page = (root / "docs/tutorial/charge-python.md").read_text(encoding="utf-8")
    page = re.sub(r"\b(9000|9180|9186|8000)\b", lambda match: ports[match[0]], page)
    blocks = re.findall(r"^```(?:yaml|sh|python)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    _, policy, gateway, start, service, call, grant, show, other_db = blocks
    with postgres() if store == "postgres" else nullcontext("") as url:
        if url:
            assert "  db: orbs.db\n" in gateway
            gateway = gateway.replace("  db: orbs.db\n", other_db.replace("host=/run/postgresql user=orbs dbname=orbs", url))
        for name, text in (("policy.yaml", policy), ("gateway.yaml", gateway), ("service.py", service)):
            (tmp_path / name).write_text(text, encoding="utf-8")
        settled = "until orbgate orbs --db orbs.db holds ACCOUNT --json | grep -qF '[]'; do sleep 0.1; done\n"
        script = start + call + grant + settled.replace("ACCOUNT", re.findall("'http.*#subject'", grant)[0]) + show
        for port in ("9000", "9186", "8000"):
            waiting = f"until (: < /dev/tcp/127.0.0.1/{ports[port]}) 2> /dev/null; do kill -0 $! || exit 1; sleep 0.1; done"
            script = re.sub(r"sleep \d$", waiting, script, count=1, flags=re.MULTILINE)
        if url:
            script = script.replace("--db orbs.db", f"--db '{url}'")
        path = os.pathsep.join([str(Path(command).parent), str(Path(sys.executable).parent), os.environ["PATH"]])
        script = "trap 'kill $(jobs -p); wait' EXIT\n" + script
        ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PATH": path}, timeout=300)
    statuses = [line.split()[1] for line in ran.stdout.splitlines() if line.startswith("HTTP/1.1")]
    assert statuses == ["402", "200", "402"], ran.stdout + ran.stderr
    assert re.search(r"^available +20$", ran.stdout, re.MULTILINE), ran.stdout + ran.stderr
    assert re.findall(r"Z +([a-z]+) ", ran.stdout) == ["grant", "hold", "capture"], ran.stdout


@pytest.mark.once
def test_a_tool_is_sold_as_the_tutorial_is_written(root: Path, tmp_path: Path, command: str) -> None:
    for needed in ("mcp", "uvicorn"):
        pytest.importorskip(needed)
    with ExitStack() as stack:  # all at once, so that they differ
        listeners = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(4)]
        ports: dict[str, str] = dict(zip(("9000", "9180", "9186", "8000"), (str(listener.getsockname()[1]) for listener in listeners)))
    page = (root / "docs/tutorial/sell-a-tool.md").read_text(encoding="utf-8")
    page = re.sub(r"\b(9000|9180|9186|8000)\b", lambda match: ports[match[0]], page)
    blocks = re.findall(r"^```(?:yaml|sh|python)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    _, tool, lists, draft, gateway, start, shop, client, call, show = blocks
    files = {"tool.py": tool, "list_tools.py": lists, "gateway.yaml": gateway, "shop.py": shop, "client.py": client}
    for name, text in files.items():
        assert f"`{name}`" in page
        (tmp_path / name).write_text(text, encoding="utf-8")
    settled = "until orbgate orbs --db orbs.db holds ACCOUNT --json | grep -qF '[]'; do sleep 0.1; done\n"
    script = draft + start + call + settled.replace("ACCOUNT", re.findall("'http.*#subject'", call)[0]) + show
    for port in ("9000", "9186", "8000"):
        waiting = f"until (: < /dev/tcp/127.0.0.1/{ports[port]}) 2> /dev/null; do kill -0 $! || exit 1; sleep 0.1; done"
        script = re.sub(r"sleep \d$", waiting, script, count=1, flags=re.MULTILINE)
    path = os.pathsep.join([str(Path(command).parent), str(Path(sys.executable).parent), os.environ["PATH"]])
    script = "trap 'kill $(jobs -p); wait' EXIT\n" + script
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PATH": path}, timeout=300)
    ends = [line for line in ran.stdout.splitlines() if line.startswith(("got:", "failed:", "denied:"))]
    kinds = [end.split(":")[0] for end in ends]
    assert kinds == ["denied", "got", "failed", "got", "denied"] and ends[1] == "got: Short.", ran.stdout + ran.stderr
    assert ends[0] == ends[-1] == "denied: insufficient_orbs", ran.stdout + ran.stderr
    assert re.search(r"^available +2$", ran.stdout, re.MULTILINE), ran.stdout + ran.stderr
    assert re.findall(r"Z +([a-z]+) ", ran.stdout) == ["grant", "hold", "capture", "hold", "void", "hold", "capture"], ran.stdout


CASES = Path(__file__).parents[3] / "policy" / "cases" / "mcp"
RESPONSES = [json.loads(line) for line in (CASES / "responses.jsonl").read_text().splitlines()]


async def call_mcp(gate: Gate, row: dict[str, Any]) -> list[dict[str, Any]]:
    """A call of `refund`, which is answered as the row says, in pieces."""

    async def application(scope: Any, receive: Any, send: Any) -> None:
        headers = [tuple(part.encode() for part in line.split(": ")) for line in row["headers"]]
        await send({"type": "http.response.start", "status": row["status"], "headers": headers})
        body = row["body"].encode()
        for at in range(0, len(body), 7):
            await send({"type": "http.response.body", "body": body[at : at + 7], "more_body": True})
        if row.get("closed"):
            await receive()
        else:
            await send({"type": "http.response.body"})

    sent: list[dict[str, Any]] = []
    params: dict[str, Any] = {"name": "refund"}
    lines = [("content-type", "application/json"), ("authorization", ISSUER.bearer("user", "orders:write"))]
    if not row.get("legacy"):
        params["_meta"] = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
        lines += [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "refund")]
    if row.get("session"):
        lines.append(("mcp-session-id", "a"))
    message = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}).encode()
    headers = [(name.encode(), value.encode()) for name, value in lines]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "raw_path": b"/mcp", "query_string": b"", "headers": headers}
    waiting: list[dict[str, Any]] = [{"type": "http.request", "body": message}, {"type": "http.disconnect"}]

    async def receive() -> dict[str, Any]:
        return waiting.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    # Something inside reads the message first.
    async def reads(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await application(scope, receive, send)

    await asgi.GateMiddleware(reads, gate)(scope, receive, send)
    return sent


def test_an_mcp_response_settles(service: Service) -> None:
    policy = Policy.from_file(CASES / "policy.yaml")
    ledgers: list[dict[str, Any]] = [
        {"on_cancelled": "void", "on_broken": "capture", "on_tool_error": "capture", "on_input_required": "void"},
        {"on_cancelled": "capture", "on_broken": "void", "on_tool_error": "void", "on_input_required": "capture"},
    ]
    for settings in ledgers:
        ledger = Ledger(service.url, secret=SECRET, **settings)
        new_gate = Gate(policy, ISSUER.tokens, fetch=ISSUER.fetch, ledger=ledger, mcp="/mcp", mcp_charge_sessions=True)
        for row in RESPONSES:
            service.settled.clear()
            sent = asyncio.run(call_mcp(new_gate, row))
            assert b"".join(message.get("body", b"") for message in sent) == row["body"].encode(), row["name"]
            assert ledger.flush(20)
            costs = settings.get(row["costs"], "capture" if row["costs"] == "captured" else "void")
            assert service.settled == [{"capture": 5} if costs == "capture" else "void"], (row["name"], settings)
    assert len(RESPONSES) == 58


def test_a_call_in_a_session_is_free_or_denied_without_the_setting(service: Service) -> None:
    ledger = Ledger(service.url, secret=SECRET, on_cancelled="void", on_tool_error="void", on_input_required="void")
    new_gate = Gate(Policy.from_file(CASES / "policy.yaml"), ISSUER.tokens, fetch=ISSUER.fetch, ledger=ledger, mcp="/mcp")
    start, body = asyncio.run(call_mcp(new_gate, {**RESPONSES[0], "session": True}))
    assert (start["status"], json.loads(body["body"])["error"]["code"]) == (400, -32600)
    assert not service.holds
    with pytest.raises(ValueError, match="only a gate with `mcp`"):
        Gate(Policy.from_file(CASES / "policy.yaml"), ISSUER.tokens, fetch=ISSUER.fetch, mcp_charge_sessions=True)


def test_an_mcp_endpoint_needs_its_settings_and_denies_with_an_error(service: Service) -> None:
    policy = Policy.from_file(CASES / "policy.yaml")
    with pytest.raises(ValueError, match="`on_tool_error` and `on_input_required`"):
        Gate(policy, ISSUER.tokens, mcp="/mcp", ledger=Ledger(service.url, on_cancelled="void", secret=SECRET))
    with pytest.raises(ValueError, match="`on_tool_error` and `on_input_required`"):
        Ledger(service.url, on_cancelled="void", secret=SECRET, on_tool_error="void")
    with pytest.raises(ValueError, match="`on_input_required` is"):
        Ledger(service.url, on_cancelled="void", secret=SECRET, on_tool_error="void", on_input_required="free")  # type: ignore[arg-type]
    service.secrets = {"another-secret"}
    ledger = Ledger(service.url, on_cancelled="void", secret=SECRET, on_tool_error="void", on_input_required="void")
    sent = asyncio.run(call_mcp(Gate(policy, ISSUER.tokens, fetch=ISSUER.fetch, ledger=ledger, mcp="/mcp"), RESPONSES[0]))
    assert sent[0]["status"] == 503
    error = json.loads(sent[1]["body"])
    assert (error["id"], error["error"]["data"]) == (7, {"reason": "ledger_unavailable", "retryable": True})


def test_a_heartbeat_extends_the_holds_of_calls_that_run(service: Service) -> None:
    ledger = Ledger(service.url, on_cancelled="void", secret=SECRET, ttl=6.0)
    new_gate = Gate(policy(), ISSUER.tokens, fetch=ISSUER.fetch, ledger=ledger)

    def waits(environ: Any, start: Any) -> list[bytes]:
        assert service.extended.wait(30)
        return started(environ, start)

    assert call_wsgi(new_gate, waits)[0] == 200
    assert ledger.flush(20)
    assert service.settled == [{"capture": 10}]


def test_a_full_queue_denies_and_lost_settlements_are_counted(service: Service) -> None:
    counts: list[str] = []
    lost = threading.Event()

    def count(name: str, labels: Any) -> None:
        counts.append(" ".join([name, *labels.values()]))
        if counts[-1] == "orbgate_settlements_total lost":
            lost.set()

    ledger = Ledger(service.url, on_cancelled="void", secret=SECRET, ttl=6.0, queue=1)
    new_gate = Gate(policy(), ISSUER.tokens, fetch=ISSUER.fetch, ledger=ledger, count=count)
    service.settles = False
    assert call_wsgi(new_gate, started)[0] == 200
    assert call_wsgi(new_gate, started)[0] == 503
    assert lost.wait(30)
    assert ledger.counts()["lost"] == 1
    assert [one for one in counts if one.startswith("orbgate_holds")] == ["orbgate_holds_total held", "orbgate_holds_total unavailable"]


def test_flat_denials_hide_an_empty_account_but_not_a_ledger_that_is_down(service: Service) -> None:
    new_gate, _ = gate(service, flat_403=True)
    service.answer = {"hold": "denied", "reason": "insufficient"}
    assert call_wsgi(new_gate, started)[0] == 403
    service.secrets = set()
    assert call_wsgi(new_gate, started)[0] == 503
