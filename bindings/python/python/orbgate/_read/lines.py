"""Reads logs with one request per line: JSON requests, flat objects, access logs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from .._columns import NAMES
from .._errors import TableError
from .._extras import needs
from .._native import LINE_LIMIT, AccessLog, read_requests
from .columns import OTHER, Layout, joined
from .input import Input

Columns = dict[str, Any]

# The fields that every line of an access log has.
EVERY_LINE = ("host", "identity", "user", "time", "status", "size")


# The digits from which an integer is kept as text. Valid values have fewer.
MOST_DIGITS = 100

# The most fields after the combined format that are kept with the other columns.
MOST_EXTRAS = 16


def requests(log: Input) -> Iterator[Columns]:
    """Reads requests in the format of `orbgate replay`, each a JSON object."""
    for block in log.blocks():
        columns = from_capsule(read_requests(block))
        yield {**columns, "error": _with_hint(columns["error"])}


def _with_hint(errors: Any) -> Any:
    """Adds a hint for logs of flat objects, whose file names look like logs of requests."""
    if errors.null_count == len(errors):
        return errors
    hint = "; for flat objects with other members, use the format `json`"
    messages = (why + hint if why and why.startswith("unknown field ") else why for why in errors.to_pylist())
    return needs("pyarrow", "logs").array(messages, errors.type)


def access(log: Input, layout: Layout) -> Iterator[Columns]:
    """Reads an access log in any format that is recognised by its lines, including other fields."""
    for name in ("method", "target", "by_scope"):
        if name in layout.columns:
            raise TableError(f"an access log takes `{name}` from its request, so no other field can be mapped to it")
    fields = {"time": "time", "caller": "host", "served_status": "status", **layout.columns}
    others, extras = _other_fields(fields) if layout.keeps_others else {}, None
    reader = AccessLog()
    for block in log.blocks():
        columns = from_capsule(reader.read(block, [*fields.items(), *others.items()]))
        if not len(columns["error"]):
            # Only directives of a W3C log.
            continue
        if others and extras is None:
            # The extra fields of the first lines, and one more, which shows if later lines have more.
            extras = [name for name, field in others.items() if field.startswith("extra") and columns[name].null_count < len(columns[name])]
            last = max((int(name.removeprefix(f"{OTHER}extra")) for name in extras), default=0)
            dropped = {name for name, field in others.items() if field.startswith("extra") and int(field.removeprefix("extra")) > last + 1}
            others = {name: field for name, field in others.items() if name not in dropped}
            columns = {name: column for name, column in columns.items() if name not in dropped}
        for name in fields:
            # Every line has the standard fields, even if only as `-`.
            if fields[name] in EVERY_LINE or columns[name].null_count < len(columns[name]):
                layout.notes.see(name)
        yield columns


def _other_fields(fields: dict[str, str]) -> dict[str, str]:
    """The fields of an access log that aren't read otherwise, with more extra fields than logs usually have."""
    known = (*EVERY_LINE, "vhost", "referer", "agent", *(f"extra{at}" for at in range(1, MOST_EXTRAS + 1)))
    return {OTHER + field: field for field in known if field not in fields.values()}


class _Stream:
    def __init__(self, capsule: object) -> None:
        self._capsule = capsule

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._capsule


def from_capsule(capsule: object) -> Columns:
    """The columns of an Arrow C stream with one batch."""
    batch = needs("pyarrow", "logs").RecordBatchReader.from_stream(_Stream(capsule)).read_next_batch()
    return dict(zip(batch.schema.names, batch.columns))


def flat(log: Input, layout: Layout) -> Iterator[Columns]:
    """Reads JSON objects whose members, possibly nested, describe a request."""
    pa = needs("pyarrow", "logs")
    members = [(name, layout.name(name)) for name in (*NAMES, *layout.named_only) if not layout.has_constant(name)]
    read = {member for _, member in members}
    notes = layout.notes
    inside = [member for _, member in members if "." in member]
    nothing = [None] * len(members)
    for block in log.blocks():
        rows: list[list[Any]] = []
        errors: list[str | None] = []
        rests: list[str | None] = []
        for line in block.removesuffix(b"\n").split(b"\n"):
            try:
                record = _record(line)
                rows.append([_member(record, name, member) for name, member in members])
                errors.append(None)
                rest = {name: value for name, value in record.items() if name not in read} if layout.keeps_others else None
                rests.append(_written(rest) if rest else None)
                if len(errors) == 1:
                    notes.has(record, {name: member for name, member in members if _has(record, member)})
                for member in inside:
                    if _is_bare(record, member):
                        notes.bare[member] = notes.bare.get(member, 0) + 1
                for name, member in [*notes.unseen.items()]:
                    if _has(record, member):
                        notes.see(name)
            except ValueError as error:
                rows.append(nothing)
                rests.append(None)
                errors.append(str(error))
        columns = {name: pa.array(values, pa.string()) for (name, _), values in zip(members, zip(*rows))}
        if layout.keeps_others:
            columns[f"{OTHER}members"] = pa.array(rests, pa.string())
        yield {**columns, "error": pa.array(errors, pa.string())}


def _record(line: bytes) -> dict[str, Any]:
    """Parses the object on a line. Raises `ValueError` with the reason if it is invalid."""
    if len(line) > LINE_LIMIT:
        raise ValueError("longer than 16 MiB")
    if not line.strip():
        raise ValueError("blank line")
    try:
        record = _DECODER.decode(line.decode())
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start + 1}") from None
    except json.JSONDecodeError as error:
        # Some of its messages end in "at".
        raise ValueError(f"not JSON: {error.msg.removesuffix(' at')} at column {error.colno}") from None
    except RecursionError:
        raise ValueError("not JSON: nested too deep") from None
    if not isinstance(record, dict):
        raise ValueError("not a JSON object")
    return record


def _member(record: dict[str, Any], name: str, member: str) -> Any:
    """The value of a column in an object."""
    value = record.get(member)
    # The fast path: most members are ASCII strings or absent.
    if not (isinstance(value, str) and value.isascii()) and (value is not None or "." in member):
        value = _value(name, member, _find(record, member))
    return value


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Makes an object, and raises `ValueError` if a member occurs twice."""
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"duplicate field `{next(name for name in names if names.count(name) > 1)}`")
    return members


def _find(record: dict[str, Any], path: str) -> Any:
    """A member, or a member of a nested object such as `token.kind`."""
    if path in record:
        return record[path]
    name, _, rest = path.partition(".")
    inner = record.get(name) if rest else None
    return _find(inner, rest) if isinstance(inner, dict) else None


def _has(record: Any, path: str) -> bool:
    """Whether the member exists, with any value."""
    if not isinstance(record, dict) or path in record:
        return isinstance(record, dict)
    name, _, rest = path.partition(".")
    return bool(rest) and _has(record.get(name), rest)


def _is_bare(record: dict[str, Any], path: str) -> bool:
    """Whether a parent of the member is neither an object nor null."""
    if path in record:
        return False
    name, _, rest = path.partition(".")
    inner = record.get(name)
    return bool(rest) and (_is_bare(inner, rest) if isinstance(inner, dict) else inner is not None)


def _value(name: str, member: str, value: Any) -> Any:
    """The value of a member as a string."""
    if value is None:
        return value
    if isinstance(value, str):
        if not value.isascii() and _HALVES.search(value):
            raise ValueError(f"`{member}` contains half of a surrogate pair, so it is not a valid string")
        return value
    if name == "scopes" and isinstance(value, list):
        if other := next((_kind(scope) for scope in value if not isinstance(scope, str)), None):
            raise ValueError(f"`{member}` is an array that contains {other}, but only strings are allowed")
        return joined(value)
    if name == "served_status" and isinstance(value, float) and 100 <= value < 600 and value.is_integer():
        return str(int(value))
    is_such = isinstance(value, bool) if name == "allow_bonus_orbs_use" else isinstance(value, (int, float))
    if is_such and name in ("allow_bonus_orbs_use", "caller", "time", "served_status", "token_expires"):
        return _written(value)
    raise ValueError(f"`{member}` is {_kind(value)}, not a string")


def _kind(value: Any) -> str:
    """The JSON type of a value that isn't a string, with its article."""
    return _KINDS.get(type(value), "a number")


class _Number(float):
    """A number that Python would format differently from the log."""

    text: str

    def __new__(cls, text: str) -> _Number:
        number = super().__new__(cls, text)
        number.text = text
        return number


def _real(text: str) -> float:
    number = float(text)
    return number if repr(number) == text else _Number(text)


def _whole(text: str) -> float:
    # Python doesn't convert integers with thousands of digits, and has no integer `-0`.
    return int(text) if len(text) < MOST_DIGITS and text != "-0" else _Number(text)


def _written(value: Any) -> str:
    """A value as JSON, with numbers exactly as the log has them."""
    if isinstance(value, _Number):
        return value.text
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    # Most values need no special formatting.
    if any(isinstance(of, (_Number, dict, list)) for of in inner):
        try:
            if isinstance(value, list):
                return f"[{', '.join(map(_written, value))}]"
            return f"{{{', '.join(f'{_ENCODER.encode(name)}: {_written(of)}' for name, of in value.items())}}}"
        except RecursionError:
            pass
    return _ENCODER.encode(value)


_DECODER = json.JSONDecoder(object_pairs_hook=once, parse_float=_real, parse_int=_whole)
_ENCODER = json.JSONEncoder(ensure_ascii=False)
_HALVES = re.compile("[\ud800-\udfff]")
_KINDS: dict[type, str] = {dict: "an object", list: "an array", bool: "a boolean", type(None): "null"}
