"""Everything that a caller chooses, in sequences by seed, before the official SDK's server with sessions: finished work is never free, except where a
setting says so, and nothing is charged twice.
"""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from orbgate.gate import Gate, Ledger
from orbgate.gate.testing import Issuer
from test_gate_ledger import SECRET, Service
from test_gate_mcp import HELD

pytest.importorskip("mcp")
import httpx2
from mcp import MCPError
from mcp.server.mcpserver import MCPServer
from orbgate.gate.mcp import protect
from test_gate_mcp_sdk import SESSIONS, listening, served

# The SDK forgets the streams that it mixes up.
pytestmark = [pytest.mark.once, pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")]
LONG = "a" * 300
IDS = (1, 1, 1, "1", 1.0, 2, LONG, None)
LEGACY, MODERN = "2025-11-25", "2026-07-28"
PATIENCE = 20


class Call:
    """A call of a tool, which does its work at once and then waits until it may answer."""

    def __init__(self, chosen: random.Random, key: str) -> None:
        self.key = key
        self.tool = chosen.choice(("refund", "refund", "list_orders"))
        self.id = chosen.choice(IDS)
        self.sessions = chosen.choice(((), ("own",), ("own",), ("own",), ("other",), ("own", "other"), ("unknown",)))
        self.end = chosen.choice(("result", "error", "tool error"))
        self.is_task = chosen.randrange(8) == 0
        self.works = asyncio.Event()
        self.answers = asyncio.Event()
        self.sent: asyncio.Task[httpx2.Response] | None = None
        self.holds: list[Any] = []
        self.has_left = False

    @property
    def status(self) -> int:
        is_over = self.sent is not None and self.sent.done() and not self.sent.cancelled() and self.sent.exception() is None
        return self.sent.result().status_code if is_over and self.sent is not None else 0

    def __repr__(self) -> str:
        return f"{self.tool} {self.id!r:.9} in {self.sessions}, {self.end}{', a task' if self.is_task else ''}: {self.status}"


class World:
    """A gate with a ledger before the SDK's server, and two callers with a session each."""

    def __init__(self, is_json: bool, charges: bool) -> None:
        self.issuer, self.service = Issuer(), Service()
        self.calls: dict[str, Call] = {}
        settings: Any = dict.fromkeys(("on_cancelled", "on_tool_error", "on_input_required"), "capture" if charges else "void")
        self.charges = charges
        self.ledger = Ledger(self.service.url, secret=SECRET, **settings)
        server = MCPServer("shop")

        async def work(key: str) -> str:
            call = self.calls[key]
            call.works.set()
            await asyncio.wait_for(call.answers.wait(), PATIENCE)
            if call.end == "error":
                raise MCPError(-32000, "no")
            if call.end == "tool error":
                raise ValueError("no")
            return "done"

        for name in ("refund", "list_orders"):
            server.add_tool(work, name=name)
        self.app = server.streamable_http_app(json_response=is_json)
        protect(self.app, Gate(SESSIONS, self.issuer.tokens, fetch=self.issuer.fetch, mcp="/mcp", ledger=self.ledger, mcp_charge_sessions=True))
        self.scopes = f"{HELD} orders:write"

    def lines(self, caller: str, *more: tuple[str, str]) -> list[tuple[str, str]]:
        return [("Accept", "application/json, text/event-stream"), ("Authorization", self.issuer.bearer("user", self.scopes, sub=caller)), *more]

    async def begin(self, web: httpx2.AsyncClient, caller: str) -> str:
        client = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
        begun = await web.post("/mcp", headers=self.lines(caller), json={"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client})
        session = begun.headers["mcp-session-id"]
        in_it = self.lines(caller, ("Mcp-Session-Id", session), ("MCP-Protocol-Version", LEGACY))
        await web.post("/mcp", headers=in_it, json={"jsonrpc": "2.0", "method": "notifications/initialized"})
        return str(session)

    async def run(self, web: httpx2.AsyncClient, chosen: random.Random) -> tuple[list[Call], list[str]]:
        """One sequence: its calls, and what happened."""
        sessions = {"own": await self.begin(web, "ada"), "other": await self.begin(web, "eve"), "unknown": "0" * 32}
        calls = [Call(chosen, f"{chosen.random()}") for _ in range(chosen.randrange(1, 5))]
        self.calls = {call.key: call for call in calls}
        happened, streams = [], []

        def named(call: Call) -> list[tuple[str, str]]:
            return [*(("Mcp-Session-Id", sessions[name]) for name in call.sessions), ("MCP-Protocol-Version", LEGACY)]

        async def start(call: Call) -> None:
            params: dict[str, Any] = {"name": call.tool, "arguments": {"key": call.key}}
            headers = named(call)
            if call.is_task:
                params["task"] = {"ttl": 60000}
            if not call.sessions:
                names: tuple[tuple[str, Any], ...] = ("protocolVersion", MODERN), ("clientInfo", {"name": "c", "version": "1"}), ("clientCapabilities", {})
                params["_meta"] = {f"io.modelcontextprotocol/{name}": value for name, value in names}
                headers = [("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/call"), ("Mcp-Name", call.tool)]
            message = {"jsonrpc": "2.0", "method": "tools/call", "params": params, **({} if call.id is None else {"id": call.id})}
            before = len(self.service.holds)
            call.sent = asyncio.create_task(web.post("/mcp", headers=self.lines("ada", *headers), json=message))
            works = asyncio.create_task(call.works.wait())
            await asyncio.wait((call.sent, works), timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
            works.cancel()
            call.holds = self.service.holds[before:]

        def background(request: Any) -> None:
            streams.append(asyncio.create_task(request))

        waiting = list(calls)
        for _ in range(chosen.randrange(2, 10)):
            event = chosen.choice(("start", "start", "answer", "leave", "cancel", "end", "listen"))
            call = chosen.choice(calls)
            if event == "start" and waiting:
                call = waiting.pop(0)
                await start(call)
            elif call.sent is None:
                continue
            elif event == "answer":
                call.answers.set()
                await asyncio.sleep(0)
            elif event == "leave" and not call.sent.done():
                call.has_left = call.sent.cancel()
            elif event == "cancel":
                message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call.id}}
                await web.post("/mcp", headers=self.lines("ada", *named(call)), json=message)
            elif event == "end":
                await web.delete("/mcp", headers=self.lines("ada", *named(call)))
            elif event == "listen":
                last = [("Last-Event-ID", chosen.choice(("0", "1", call.key)))] if chosen.randrange(2) else []
                background(web.get("/mcp", headers=self.lines("ada", *named(call), *last)))
            happened.append(f"{event} {calls.index(call)}")
        for call in waiting:
            await start(call)
            happened.append(f"start {calls.index(call)}")
        for call in calls:
            call.answers.set()
        sent = [call.sent for call in calls if call.sent is not None]
        # A response that the server has lost never comes.
        await asyncio.wait(sent, timeout=0.2)
        for call in calls:
            assert call.sent is not None
            call.has_left |= not call.sent.done() and call.sent.cancel()
        for stream in streams:
            stream.cancel()
        await asyncio.gather(*sent, *streams, return_exceptions=True)
        for caller, name in (("ada", "own"), ("eve", "other")):
            await web.delete("/mcp", headers=self.lines(caller, ("Mcp-Session-Id", sessions[name]), ("MCP-Protocol-Version", LEGACY)))
        return calls, happened

    def faults(self, call: Call) -> list[str]:
        """What the page's table doesn't say."""
        ids = [hold["id"] for hold in call.holds]
        settled = [each["settlement"] for each in self.service.settlements if each["hold"] in ids]
        if call.tool != "refund" or not call.works.is_set():
            # What hasn't run costs nothing, unless the server has answered it in a session with 200.
            is_free = call.tool != "refund" or call.status >= 400
            return [f"{call.key} costs {settled} and has not run"] if is_free and any(each != "void" for each in settled) else []
        if len(settled) != 1 or len(ids) != 1:
            return [f"{call.key} has run, with {len(ids)} holds and {settled}"]
        charged = {"capture": 5}
        by_setting = charged if self.charges else "void"
        if call.sessions:
            expected: list[Any] = ["void"] if 400 <= call.status < 500 else [charged]
        else:
            expected = [{"result": charged, "error": "void", "tool error": by_setting}[call.end]]
            if call.id == LONG:
                # The gate can't read such a response, so its status counts.
                expected = ["void" if call.status >= 400 else charged]
            if call.has_left:
                expected.append(by_setting)
        return [] if settled[0] in expected else [f"{call.key} has run and costs {settled[0]}, not {expected}"]


@pytest.mark.parametrize("charges", [False, True])
@pytest.mark.parametrize("is_json", [False, True])
@pytest.mark.parametrize("count", [6, pytest.param(300, marks=pytest.mark.long)])
def test_finished_work_is_never_free_and_nothing_is_charged_twice(is_json: bool, charges: bool, count: int) -> None:
    world = World(is_json, charges)
    sequences = []

    async def run() -> None:
        with listening() as listener:
            async with served(world.app, listener) as url, httpx2.AsyncClient(timeout=PATIENCE, base_url=url) as web:
                for seed in range(count):
                    sequences.append(await world.run(web, random.Random(f"{is_json} {charges} {seed}")))

    asyncio.run(run())
    # A server that answers with JSON doesn't notice who leaves: such calls are over, and settled, when it stops.
    assert world.ledger.flush(PATIENCE)
    world.service.shutdown()
    world.service.server_close()
    lines = []
    for seed, (calls, happened) in enumerate(sequences):
        if faults := [fault for call in calls for fault in world.faults(call)]:
            lines += [f"{seed}: {line}" for line in (*faults, *calls, *happened)]
    assert not lines, "\n".join(lines)
    ran = [call.tool for calls, _ in sequences for call in calls if call.works.is_set()]
    # Neither is rare.
    assert len(ran) > count / 2 and ran.count("refund") > count / 4
