"""Random headers and bodies at an MCP endpoint, against rules written here, over Python's own reader of JSON."""

from __future__ import annotations

import asyncio
import base64
import json
import random
import re
from typing import Any

import pytest
from test_gate_mcp import Service, gate

NEW, OLD = "2026-07-28", "2025-11-25"
VERSION = "io.modelcontextprotocol/protocolVersion"
RUNS = {
    ("initialize", None),
    ("response", None),
    ("ping", None),
    ("tools/list", None),
    ("tools/call", "list_orders"),
    ("prompts/get", "summary"),
    ("resources/read", "orders://42"),
}
"""The operations of the tests' policy that the token may call."""
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
NAMES = {
    "": ["jsonrpc", "id", "method", "params", "result", "error"],
    "params": ["name", "uri", "arguments", "_meta", "ref", "cursor", "task"],
    "_meta": [VERSION, "progressToken"],
    "ref": ["type", "name", "uri"],
}


class Denied(Exception):
    pass


class Members(list[Any]):
    """An object as it is written."""

    def get(self, name: str) -> Any:
        return next((value for known, value in self if known == name), None)


def rule(holds: object) -> None:
    if not holds:
        raise Denied


def whole(text: str) -> bool:
    return not re.search("[\ud800-\udfff]", text)


def plain(name: str) -> str:
    return "".join(character for character in name if ord(character) >= 32 and not 127 <= ord(character) < 160).casefold()


def walk(value: Any, level: int = 1, place: str | None = "") -> None:
    """The rules for names and depth. `place` is None where the protocol has no names."""
    if not isinstance(value, list):
        return
    rule(level <= 64)
    if not isinstance(value, Members):
        for item in value:
            walk(item, level + 1, None)
        return
    names = [name for name, _ in value]
    rule(all(whole(name) for name in names))
    if place is None:
        rule(len(set(names)) == len(names))
    else:
        rule(not any("\0" in name for name in names) and len({plain(name) for name in names}) == len(names))
        rule(not any(plain(name) == plain(known) and name != known for name in names for known in NAMES[place]))
    for name, inner in value:
        walk(inner, level + 1, name if (place, name) in {("", "params"), ("params", "_meta"), ("params", "ref")} and isinstance(inner, Members) else None)


def number(text: str) -> float:
    return 1.0


def constant(text: str) -> Any:
    raise Denied


def operation(lines: list[tuple[str, str]], body: bytes) -> tuple[str, Any]:
    """What the body calls, if every rule holds."""
    values: dict[str, list[str]] = {}
    for name, value in lines:
        values.setdefault(name.lower(), []).append(value)
    one = {name: found[0] for name, found in values.items()}
    rule(set(values.pop("content-encoding", ["identity"])) == {"identity"})
    rule(all(len(found) == 1 for found in values.values()))
    rule(re.fullmatch(r"application/json(; charset=utf-8)?", one.get("content-type", "")))
    try:
        found = json.loads(body.decode("utf-8"), object_pairs_hook=Members, parse_constant=constant, parse_float=number, parse_int=number)
    except (ValueError, RecursionError):
        raise Denied from None
    rule(isinstance(found, Members))
    walk(found)
    method, params, names = found.get("method"), found.get("params"), [name for name, _ in found]
    rule(found.get("jsonrpc") == "2.0")
    rule("id" not in names or isinstance(found.get("id"), (str, float)))
    is_response = "method" not in names
    rule("result" in names and "id" in names if is_response else isinstance(method, str) and whole(method) and "result" not in names)
    rule("params" not in names or isinstance(params, Members))
    params = params if isinstance(params, Members) else Members()
    meta = params.get("_meta")
    meta = meta if isinstance(meta, Members) else Members()
    texts = [each for each in (params.get("name"), params.get("uri"), meta.get(VERSION)) if isinstance(each, str)]
    rule(all(whole(each) for each in texts))
    version, told = one.get("mcp-protocol-version"), VERSION in [name for name, _ in meta]
    is_request = "id" in names and not is_response
    rule(version is None or not told or version == meta.get(VERSION))
    rule(version is not None or meta.get(VERSION) != NEW)
    rule(version != NEW or told or not is_request)
    rule(one["mcp-method"] == method if "mcp-method" in one else version != NEW or not is_request)
    given = params.get(NAMED[method]) if method in NAMED else None
    called = given if isinstance(given, str) else None
    rule(method != "response")
    shown = one.get("mcp-name")
    if shown is not None:
        encoded = f"=?base64?{base64.b64encode((called or '').encode()).decode()}?="
        rule(called is not None and (shown == encoded if shown.startswith("=?base64?") else shown == called))
    else:
        rule(version != NEW or not is_request or called is None)
    rule(method not in NAMED or called is not None)
    return method or "response", called


class Random:
    """Mostly sound messages, of which each part is sometimes wrong."""

    def __init__(self, seed: int) -> None:
        self.of = random.Random(seed)

    def rarely(self, one_of: int = 25) -> bool:
        return self.of.randrange(one_of) == 0

    def text(self, text: str) -> str:
        """A string of JSON, in any spelling."""
        if self.rarely(6):
            at = self.of.randrange(len(text) + 1)
            return '"' + text[:at] + "".join(f"\\u{ord(each):04x}" for each in text[at:]) + '"'
        return json.dumps(text, ensure_ascii=False)

    def name(self, name: str) -> str:
        if not self.rarely(60):
            return self.text(name)
        at = self.of.randrange(len(name))
        letter = name[at]
        before = self.of.choice(["\\u0000", "\\u0007", "\\ud800", "x", ""])
        after = self.of.choice([letter, letter.swapcase(), {"s": "ſ", "k": "\u212a"}.get(letter, "é")])
        return f'"{name[:at]}{before}{after}{name[at + 1 :]}"'

    def object(self, members: list[tuple[str, str]]) -> str:
        members = list(members)
        self.of.shuffle(members)
        if members and self.rarely(40):
            members.append(self.of.choice(members))
        if members and self.rarely(40):
            at = self.of.randrange(len(members))
            members.insert(self.of.randrange(len(members) + 1), (self.of.choice(["Name", "URI", "METHOD", "paramſ", "iD", "x", "_Meta", "ref"]), members[at][1]))
        space = self.of.choice(["", "", " ", "\r\n\t"])
        return "{" + ",".join(f"{space}{self.name(name)}:{space}{value}" for name, value in members) + space + "}"

    def value(self) -> str:
        of = self.of
        depth = of.choice([1, 2, 60, 61, 62, 63, 64, 200])
        return of.choice(
            ["1", "-0.5e+3", "1e999", "true", "null", '"\\ud800"', '"\\u0000"', '{"a":1,"A":2}', "[]", '"ä"', '{"Name":1,"name":2}']
            + (["[" * depth + "]" * depth, '{"a":1,"a":2}', '{"\\ud800":1}', "NaN", "01", "1.", "+1", "'a'", "[1,]", '"\t"', "tru"] if self.rarely(3) else [])
        )

    def pair(self) -> tuple[list[tuple[str, str]], bytes]:
        of = self.of
        method = of.choice(["tools/call"] * 5 + ["prompts/get", "resources/read", "tools/list", "ping", "initialize", "subscriptions/listen", "tools/call/list_orders", "response"])
        names = {"tools/call": ["list_orders"] * 4 + ["refund", "List_orders", "../x", ""], "prompts/get": ["summary", "other"], "resources/read": ["orders://42", "https://secret.example/a", "orders://42?x", "orders://4\\2"]}
        name = of.choice(names.get(method, [""]))
        is_new = of.randrange(2) == 0
        version = NEW if is_new else of.choice([OLD, "2025-06-18", "x"])
        meta = [(VERSION, json.dumps(version if not self.rarely() else of.choice([NEW, OLD, 5])))] if is_new != self.rarely() else []
        params = [(NAMED[method], json.dumps(name) if not self.rarely() else self.value())] if method in NAMED else []
        params += [("arguments", self.value())] if self.rarely(2) else []
        params += [("_meta", self.object(meta))] if meta or self.rarely() else []
        params += [(of.choice(["name", "uri", "cursor"]), json.dumps(of.choice(["refund", "list_orders"])))] if self.rarely(15) and method not in NAMED else []
        members = [("jsonrpc", self.text("2.0") if not self.rarely(40) else of.choice(['"1.0"', "2.0"])), ("method", self.text(method) if not self.rarely(40) else self.value())]
        members += [("id", of.choice(["1", '"a"', "-5", "1.5"]) if not self.rarely(30) else self.value())] if not self.rarely(15) else []
        members += [("params", self.object(params) if not self.rarely(40) else self.value())] if params or self.rarely(2) else []
        members += [("result", "1")] if self.rarely(40) else []
        body = self.object(members).encode("utf-8", "surrogatepass")
        if self.rarely(30):
            at = of.randrange(len(body) + 1)
            body = of.choice([b"[" + body + b"]", body + b"}", body + b" ", b"\xef\xbb\xbf" + body, body[:at], body[:at] + b"\xff" + body[at:], body[:at] + b"," + body[at:], body + body])
        lines = [("Content-Type", "application/json" if not self.rarely(40) else of.choice(["text/plain", "application/json; charset=utf-8", "application/json; charset=utf-16"]))]
        lines += [("Content-Encoding", of.choice(["identity", "gzip"]))] if self.rarely(40) else []
        lines += [("MCP-Protocol-Version", version if not self.rarely(30) else of.choice([NEW, OLD, "x"]))] if is_new != self.rarely(30) or self.rarely(2) else []
        shown = is_new or self.rarely(3)
        lines += [("Mcp-Method", method if not self.rarely(20) else "tools/list")] if shown != self.rarely(30) else []
        encoded = base64.b64encode(name.encode()).decode()
        told = name if not self.rarely(8) else of.choice(["list_orders", "refund", f"=?base64?{encoded}?=", f"=?base64?{encoded}=?=", f"=?base64?{encoded[:-1]}?="])
        lines += [("Mcp-Name", told)] if (method in NAMED and shown) != self.rarely(30) else []
        lines += [of.choice(lines)] if self.rarely(40) else []
        return lines, body


@pytest.mark.parametrize("seed", range(4))
def test_what_runs_is_what_the_body_calls(seed: int) -> None:
    service, of, runs = Service(gate()), Random(seed), 0

    async def all_of_them() -> int:
        runs = 0
        for _ in range(2500):
            lines, body = of.pair()
            try:
                called = operation(lines, body)
            except Denied:
                called = None
            before = len(service.bodies)
            status, _, answer = await service.ask([{"type": "http.request", "body": body, "more_body": False}], lines)
            ran = service.bodies[before:]
            assert (status == 200) == (called in RUNS), (status, called, lines, body, answer)
            assert ran == ([body] if called in RUNS else []), (lines, body)
            if ran:
                path = "/".join(part for part in called or () if part is not None).replace("://", ":/")
                assert service.allowed[-1]._answer.operation == f"/mcp/{path}"
                runs += 1
        return runs

    runs = asyncio.run(all_of_them())
    # Neither side of the comparison is empty.
    assert 300 < runs < 2000
