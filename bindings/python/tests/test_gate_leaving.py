"""A caller leaves a paid call at any await over ASGI, and at any piece over WSGI: each hold is settled once, by seed.

`ORBGATE_LEAVING` is the number of calls of each.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Coroutine, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from orbgate import Policy
from orbgate.gate import Gate, Ledger, asgi, wsgi
from test_gate_ledger import ISSUER

CALLS = int(os.environ.get("ORBGATE_LEAVING", "300"))
TOGETHER = 8
ROUTES: list[str] = ["POST /run", "MCP /mcp/tools/call/run"]
POLICY = "orbgate: 1\napis: { a: { base_path: '', scopes: { run: { orbs: true, routes: [ROUTES] } } } }\n...\n"
GATEWAY = """\
orbgate_gateway: 1
tokens: tokens.yaml
listeners: [{ mode: ledger, listen: "unix:FOLDER/ledger" }]
ledger: { db: orbs.db, gate_secrets: [secret], operator_secrets: [operator] }
...
"""
QUESTION = json.dumps(
    {
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "run", "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}},
    }
).encode()  # fmt: skip
RESULT = b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}}'
MCP_HEADERS = [(b"mcp-protocol-version", b"2026-07-28"), (b"mcp-method", b"tools/call"), (b"mcp-name", b"run")]


class Plan:
    """What a call does, and how its caller leaves."""

    def __init__(self, seed: int, kind: str) -> None:
        self.number = seed
        chosen = random.Random(seed)
        self.is_mcp = kind == "asgi" and chosen.random() < 0.5
        is_events = chosen.random() < 0.5
        self.type = b"text/event-stream" if is_events else b"application/json"
        text = b"event: message\ndata: %b\n\n" % RESULT if is_events else RESULT
        cuts = sorted(chosen.randrange(len(text) + 1) for _ in range(chosen.randrange(4)))
        self.pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)])]
        self.pauses = [chosen.randrange(3) for _ in range(len(self.pieces) + 1)]
        # The piece before which the application fails, if there are so many.
        self.fails = chosen.randrange(12)
        self.leaves = chosen.randrange(24)
        self.way = chosen.choice(["stays", "cancels", "closes", "disconnects", "is not told"])
        self.has_sent = 0
        self.has_begun = self.is_told = self.is_whole = False

    @property
    def amount(self) -> int:
        """What the call costs, which tells it from the others."""
        return self.number + 1

    def cost(self, on_cancelled: str) -> int:
        """A complete answer is charged, and a complete MCP response also if the stream goes on."""
        is_complete = self.is_whole or (self.is_mcp and self.has_sent == len(b"".join(self.pieces)))
        is_stopped = self.has_begun and (self.has_sent or self.is_told)
        return self.amount if is_complete or (is_stopped and on_cancelled == "capture") else 0


class Leaving:
    """Runs a coroutine, whose caller leaves when it has waited this often."""

    def __init__(self, coroutine: Coroutine[Any, Any, None], plan: Plan) -> None:
        self.coroutine = coroutine
        self.plan = plan
        self.waited = 0

    @property
    def has_left(self) -> bool:
        return self.waited > self.plan.leaves

    def __await__(self) -> Generator[Any, Any, None]:
        stopped: BaseException | None = None
        while True:
            try:
                waits = self.coroutine.send(None) if stopped is None else self.coroutine.throw(stopped)
            except StopIteration:
                return
            self.waited += 1
            if self.waited == self.plan.leaves + 1:
                if self.plan.way == "closes":
                    self.coroutine.close()
                    return
                task = asyncio.current_task()
                if self.plan.way == "cancels" and task is not None:
                    task.cancel()
            stopped = None
            try:
                yield waits
            except asyncio.CancelledError as cancelled:
                self.plan.is_told = True
                stopped = cancelled


async def over_asgi(gate: Gate, plan: Plan) -> None:
    async def pause(count: int) -> None:
        for _ in range(count):
            await asyncio.sleep(0)

    async def application(scope: Any, receive: Any, send: Any) -> None:
        plan.has_begun = True
        await pause(plan.pauses[0])
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", plan.type)]})
        for at, piece in enumerate(plan.pieces):
            await pause(plan.pauses[at + 1])
            if at == plan.fails:
                raise ValueError("as an application can")
            plan.is_whole = at == len(plan.pieces) - 1
            plan.has_sent += len(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": not plan.is_whole})

    parts = [QUESTION[:40], QUESTION[40:]]

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0)
        if leaving.has_left or not parts:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}

    async def send(message: Any) -> None:
        await asyncio.sleep(0)
        if leaving.has_left and plan.way == "disconnects":
            plan.is_told = True
            raise OSError("the caller has left")

    path = "/mcp" if plan.is_mcp else "/run"
    headers = [(b"authorization", ISSUER.bearer("user", "run").encode()), (b"content-type", b"application/json"), (b"x-amount", b"%d" % plan.amount)]
    headers += MCP_HEADERS if plan.is_mcp else []
    scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"", "headers": headers}
    leaving = Leaving(asgi.GateMiddleware(application, gate)(scope, receive, send), plan)
    try:
        await leaving
    except (asyncio.CancelledError, OSError, ValueError):
        pass


def over_wsgi(gate: Gate, plan: Plan) -> None:
    def pieces() -> Iterator[bytes]:
        for at, piece in enumerate(plan.pieces):
            if at == plan.fails:
                raise ValueError("as an application can")
            plan.has_sent += len(piece)
            yield piece
        plan.is_whole = True

    def application(environ: Any, start: Any) -> Any:
        plan.has_begun = True
        write = start("200 OK", [("Content-Type", plan.type.decode())])
        if plan.way == "disconnects":
            plan.has_sent = True
            write(b"first")
        if plan.way == "is not told":
            plan.is_whole = True
            return plan.pieces
        return pieces()

    def write(piece: bytes) -> None:
        if plan.leaves % 2:
            raise OSError("the caller has left")

    environ = {"REQUEST_METHOD": "POST", "RAW_URI": "/run", "PATH_INFO": "/run", "HTTP_AUTHORIZATION": ISSUER.bearer("user", "run"), "HTTP_X_AMOUNT": str(plan.amount)}
    try:
        response = wsgi.GateMiddleware(application, gate)(environ, lambda *given: write)
    except OSError:
        return
    try:
        for at, _ in enumerate(response):
            if plan.way != "stays" and at == plan.leaves % (len(plan.pieces) + 1):
                plan.is_told = True
                break
    except ValueError:
        pass
    if plan.way != "cancels":  # Or the server forgets to close it.
        close = getattr(response, "close", None)
        if close is not None:
            close()


@contextmanager
def service(command: str) -> Iterator[Path]:
    """A ledger service in a folder with a short path, which one account with many orbs uses."""
    with tempfile.TemporaryDirectory(prefix="orbs", dir="/tmp") as name:
        folder = Path(name)
        for file, text in (("tokens.yaml", ISSUER.tokens), ("secret", "s" * 32), ("operator", "o" * 32), ("gateway.yaml", GATEWAY.replace("FOLDER", name))):
            (folder / file).write_text(text)
            (folder / file).chmod(0o600)
        granted = [command, "orbs", "--db", str(folder / "orbs.db"), "grant", "https://issuer.test#subject", "1000000000000", "--id", "all"]
        subprocess.run(granted, check=True, stdout=subprocess.DEVNULL)
        program = subprocess.Popen([Path(command).with_name("orbgate-gateway"), "--config", "gateway.yaml"], cwd=folder, stderr=subprocess.DEVNULL)
        try:
            end = time.monotonic() + 60
            while not (folder / "ledger").exists():
                assert program.poll() is None and time.monotonic() < end
                time.sleep(0.01)
            yield folder
        finally:
            program.terminate()
            program.wait(60)


def entries(command: str, folder: Path) -> list[dict[str, Any]]:
    listed = subprocess.run([command, "orbs", "--db", folder / "orbs.db", "entries", "--json"], check=True, capture_output=True, text=True)
    return [json.loads(line) for line in listed.stdout.splitlines()]


@pytest.mark.parametrize("on_cancelled", ["void", "capture"])
@pytest.mark.parametrize("kind", ["asgi", "wsgi"])
def test_a_caller_leaves_at_any_moment_and_its_call_is_settled_once(kind: str, on_cancelled: Any, command: str) -> None:
    plans = [Plan(seed, kind) for seed in range(CALLS)]

    async def together(some: list[Plan]) -> None:
        await asyncio.gather(*(over_asgi(gate, plan) for plan in some))

    with service(command) as folder:
        secret = folder / "secret"
        ledger = Ledger(
            f"unix:{folder}/ledger", secret_file=secret, on_cancelled=on_cancelled, on_tool_error="void", on_input_required="void", ttl=300.0, timeout=20.0
        )
        routes = ROUTES[: 2 if kind == "asgi" else 1]
        amounts = dict.fromkeys(routes, lambda headers, token: int(headers["x-amount"]))
        policy = Policy.from_yaml(POLICY.replace("ROUTES", ", ".join(routes)))
        gate = Gate(policy, ISSUER.tokens, fetch=ISSUER.fetch, ledger=ledger, amounts=amounts, mcp="/mcp" if kind == "asgi" else None)
        for start in range(0, CALLS, TOGETHER):
            if kind == "asgi":
                asyncio.run(together(plans[start : start + TOGETHER]))
            else:
                for plan in plans[start : start + TOGETHER]:
                    over_wsgi(gate, plan)
        assert ledger.flush(60)
        counts = ledger.counts()
        moved = entries(command, folder)[1:]
    causes: dict[str, list[str]] = {}
    for entry in moved:
        causes.setdefault(entry["id"], []).append(entry["cause"])
    holds = {line["held"]: entry["id"] for entry in moved if entry["cause"] == "hold" for line in entry["lines"]}
    ends: Counter[str] = Counter()
    for plan in plans:
        end = causes.get(holds.get(plan.amount, ""), [])
        wanted = ["hold", "capture" if plan.cost(on_cancelled) else "void"]
        # What never ran may never have been held.
        assert end == wanted or not (end or plan.has_begun), (end, wanted, vars(plan))
        ends.update(end[1:])
    assert all(ends[cause] > CALLS // 50 for cause in ("capture", "void")), ends
    assert (counts["captured"], counts["lost"]) == (ends["capture"], 0)
