"""Logs with a request on each line: requests as JSON, flat objects, access logs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from .._errors import TableError
from .._extras import needs
from .._native import LINE_LIMIT, read_access, read_requests
from ._columns import NAMES, Layout, joined
from ._input import Input

Columns = dict[str, Any]


def requests(log: Input) -> Iterator[Columns]:
    """Requests as `orbgate replay` reads them, each a JSON object."""
    for block in log.blocks():
        yield _columns(read_requests(block))


def access(log: Input, layout: Layout) -> Iterator[Columns]:
    """An access log in the common or combined format, and what other fields say."""
    for name in ("method", "target", "by_scope"):
        if name in layout.columns:
            raise TableError(f"an access log has its `{name}` in the request, and in no other field")
    fields = {"time": "time", "caller": "host", **layout.columns}
    for block in log.blocks():
        yield _columns(read_access(block, list(fields.items())))


class _Stream:
    def __init__(self, capsule: object) -> None:
        self._capsule = capsule

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._capsule


def _columns(capsule: object) -> Columns:
    batch = needs("pyarrow", "logs").RecordBatchReader.from_stream(_Stream(capsule)).read_next_batch()
    return dict(zip(batch.schema.names, batch.columns))


def flat(log: Input, layout: Layout) -> Iterator[Columns]:
    """JSON objects that have what a request is made of among their members, also in objects in them."""
    pa = needs("pyarrow", "logs")
    members = {name: layout.name(name) for name in NAMES if not layout.has_constant(name)}
    for block in log.blocks():
        found = [_object(line, members) for line in block.removesuffix(b"\n").split(b"\n")]
        columns: Columns = {
            name: pa.array([row.get(name) for row in found], pa.string()) for name in (*members, "error") if name != "time"
        }
        times = [row.get("time") for row in found]
        if any(isinstance(time, str) for time in times):
            times = [None if time is None else str(time) for time in times]
        columns["time"] = pa.array(times)
        yield columns


def _object(line: bytes, members: dict[str, str]) -> dict[str, Any]:
    """What a line says, or what is wrong with it."""
    try:
        if len(line) > LINE_LIMIT:
            raise ValueError("longer than 16 MiB")
        if not line.strip():
            raise ValueError("blank line")
        record = json.loads(line.decode("utf-8"), object_pairs_hook=_once)
        if not isinstance(record, dict):
            raise ValueError("not a JSON object")
        return {name: _value(name, member, _find(record, member)) for name, member in members.items()}
    except UnicodeDecodeError as error:
        return {"error": f"not UTF-8 at byte {error.start + 1}"}
    except json.JSONDecodeError as error:
        return {"error": f"not JSON: {error.msg} at column {error.colno}"}
    except RecursionError:
        return {"error": "not JSON: nested too deep"}
    except ValueError as error:
        return {"error": str(error)}


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Which of two members of one name counts is not guessed."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"duplicate field `{next(name for name in names if names.count(name) > 1)}`")
    return found


def _find(record: dict[str, Any], path: str) -> Any:
    """A member, or one of an object in it: `token.kind`."""
    if path in record:
        return record[path]
    name, _, rest = path.partition(".")
    inner = record.get(name) if rest else None
    return _find(inner, rest) if isinstance(inner, dict) else None


def _value(name: str, member: str, value: Any) -> Any:
    """The text of a member."""
    if value is None or (name == "time" and isinstance(value, (int, float))):
        return value
    if isinstance(value, str):
        if not value.isascii() and _HALVES.search(value):
            raise ValueError(f"`{member}` has half a surrogate pair in it, and is no text")
        return value
    if name == "scopes" and isinstance(value, list) and all(isinstance(scope, str) for scope in value):
        return joined(value)
    if name == "allow_bonus_orbs_use" and isinstance(value, bool):
        return str(value)
    if name == "caller" and isinstance(value, int):
        return str(value)
    raise ValueError(f"`{member}` is {_KINDS.get(type(value), 'a number')}, not text")


_HALVES = re.compile("[\ud800-\udfff]")
_KINDS: dict[type, str] = {dict: "an object", list: "an array", bool: "a boolean"}
