"""The columns of every log, with the same names and types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from .. import _native
from .._columns import NAMED_ONLY, NAMES, check, kind_of
from .._errors import TableError
from .._extras import needs
from .._terms import TokenKind
from .notes import Notes, UnnamedColumnError
from .times import Times, said_in

TEXTS = ("method", "target", "kind", "scopes", "caller", "by_scope")

# A space inside one scope of a list makes it invalid: it must not become two scopes.
SPACE = "\u2420"

# The prefix of the log's other columns in a batch. None of our columns starts with it.
OTHER = "log_"


@dataclass
class Layout:
    """The log's columns that describe a request, and the values that replace missing columns."""

    columns: Mapping[str, str] = field(default_factory=dict)
    kind: TokenKind | str | None = None
    scopes: str | None = None
    allow_bonus_orbs_use: bool | None = None
    time_unit: str | None = None
    time_zone: str | None = None
    public: Sequence[str] | None = None

    def __post_init__(self) -> None:
        values = {"kind": self.kind, "scopes": self.scopes, "allow_bonus_orbs_use": self.allow_bonus_orbs_use}
        self.columns = check(self.columns, values)
        self.kind = kind_of(self.kind)
        # Whether the batches include the log's other columns.
        self.keeps_others = False
        self.notes: Notes = Notes(self.columns, {**values, "kind": self.kind})

    @property
    def is_given(self) -> bool:
        """Whether any column or value was given."""
        return self != Layout(time_unit=self.time_unit, time_zone=self.time_zone, public=self.public)

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments that make this layout."""
        return {
            "columns": dict(self.columns) or None,
            "kind": self.kind,
            "scopes": self.scopes,
            "allow_bonus_orbs_use": self.allow_bonus_orbs_use,
            "time_unit": self.time_unit,
            "time_zone": self.time_zone,
            **({"public": list(self.public)} if self.public else {}),
        }

    @property
    def named_only(self) -> list[str]:
        """The columns that are read only because they are named."""
        return [column for column in NAMED_ONLY if column in self.columns]

    def name(self, column: str) -> str:
        """The log's name for a column."""
        return self.columns.get(column, column)

    def has_constant(self, column: str) -> bool:
        """Whether one value was given for all rows of a column."""
        return getattr(self, column, None) is not None

    def find(self, known: Iterable[str], log: str = "the table") -> dict[str, str]:
        """The log's columns to read: named columns, and columns with our names. `log` is the log's name in errors.

        Raises `TableError` if one is missing.
        """
        known = list(known)
        columns = {}
        for column in (*NAMES, *self.named_only):
            name = self.name(column)
            # A path into structures starts with a column.
            there = name in known or name.partition(".")[0] in known
            if there and not self.has_constant(column):
                if known.count(name) > 1:
                    raise TableError(f"there are two columns `{name}` in {log}")
                columns[column] = name
            elif column in self.columns or (column in ("method", "target") and "by_scope" not in self.columns):
                message = f"there is no column `{name}` for `{column}` in {log}; {_listed(known)}"
                raise TableError(message) if column in self.columns else UnnamedColumnError(message, column)
        self.notes.has(known, columns)
        return columns


    def others(self, known: Iterable[str], columns: Mapping[str, str]) -> dict[str, str]:
        """The log's other columns by their names in a batch; empty if they aren't kept."""
        return {OTHER + name: name for name in known if name not in columns.values()} if self.keeps_others else {}


def _listed(known: list[str]) -> str:
    return f"the columns are `{'`, `'.join(known)}`" if known else "it has no columns"


class Normaliser:
    """Converts the batches of every log to the same columns. Strings are bytes, so that the engine decides them unchanged."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.times = Times(layout.time_unit, layout.time_zone)
        # The times at which tokens expire.
        self.expiries = Times(layout.time_unit, layout.time_zone)
        self._pa = needs("pyarrow", "logs")
        self._pc = needs("pyarrow.compute", "logs")
        self.unread_statuses = 0
        # The row of the first, and its value.
        self.first_status: tuple[int, str] | None = None
        self.rows = 0
        # The types of other columns in the first part of the log.
        self._others: dict[str, Any] | None = None

    def schema(self, text: Any = None) -> Any:
        """The columns of a batch."""
        pa = self._pa
        text = text or pa.string()
        return pa.schema(
            [
                ("method", text),
                ("target", text),
                ("kind", text),
                ("scopes", text),
                ("allow_bonus_orbs_use", pa.bool_()),
                ("time", pa.timestamp("us", "UTC")),
                ("caller", text),
                ("by_scope", text),
                ("served_status", pa.int64()),
                ("row", pa.int64()),
                ("error", pa.string()),
                *((name, pa.timestamp("us", "UTC") if name == "token_expires" else text) for name in self.layout.named_only),
            ]
        )

    @property
    def counted(self) -> list[list[Any]]:
        """The counts so far."""
        return [[self.rows, self.unread_statuses, self.first_status], self.times.counted, self.expiries.counted, self.layout.notes.counted]

    @counted.setter
    def counted(self, counted: list[list[Any]]) -> None:
        (self.rows, self.unread_statuses, self.first_status), self.times.counted, self.expiries.counted, self.layout.notes.counted = counted

    def batch(self, source: Mapping[str, Any], rows: int) -> Any:
        """A batch with these columns. Missing columns are null."""
        pa = self._pa
        nothing = pa.nulls(rows)
        texts = {name: self._text(name, source.get(name, nothing), rows) for name in TEXTS}
        error = source.get("error", nothing).cast(pa.string())
        bonus, error = self._flags(source.get("allow_bonus_orbs_use", nothing), error)
        error = self._missing(texts, error)
        is_decided = self._pc.is_null(error)
        first = self.rows + 1
        self.rows += rows
        statuses = self._statuses(source.get("served_status", nothing), is_decided, first)
        self.layout.notes.count(texts, is_decided, statuses)
        columns = {
            **texts,
            "allow_bonus_orbs_use": bonus,
            "time": self.times.column(source.get("time", nothing), is_decided, first),
            "served_status": statuses,
            "row": self._pc.cumulative_sum(pa.repeat(pa.scalar(1, pa.int64()), rows), first - 1),
            "error": error,
        }
        for name in self.layout.named_only:
            column = source.get(name, nothing)
            if name == "token_expires":
                columns[name] = self.expiries.column(column, is_decided, first)
            else:
                column = self._text(name, column, rows)
                columns[name] = fingerprints(column) if name == "token" else column
        schema = self.schema(pa.binary())
        for name, column in self._kept(source, rows).items():
            columns[name] = column
            schema = schema.append(pa.field(name, column.type))
        return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)

    def shown(self, batch: Any) -> Any:
        """The batch with strings for display. Bytes that aren't UTF-8 become U+FFFD."""
        schema = self.schema()
        for name, kind in (self._others or {}).items():
            schema = schema.append(self._pa.field(name, self._pa.string() if kind == self._pa.binary() else kind))
        columns = (self._shown(column, kind) for column, kind in zip(batch.columns, schema.types))
        return self._pa.RecordBatch.from_arrays(list(columns), schema=schema)

    def _kept(self, source: Mapping[str, Any], rows: int) -> dict[str, Any]:
        """The other columns, the same in every batch. A warning names those that only later files have."""
        if not self.layout.keeps_others:
            return {}
        there = {name: column for name, column in source.items() if name.startswith(OTHER)}
        if self._others is None:
            self._others = {name: column.type for name, column in there.items()}
        kept = {}
        for name, kind in self._others.items():
            column = there.pop(name, None)
            if column is not None and column.type != kind:
                try:
                    column = column.cast(kind)
                except self._pa.ArrowException:
                    there[name], column = column, None
            kept[name] = self._pa.nulls(rows, kind) if column is None else column
        self.layout.notes.left_out.update(dict.fromkeys(name.removeprefix(OTHER) for name in there))
        return kept

    def _text(self, name: str, column: Any, rows: int) -> Any:
        """A column of bytes, or of the one given value."""
        pa = self._pa
        if (value := getattr(self.layout, name, None)) is not None:
            return pa.repeat(pa.scalar(value.encode(), pa.binary()), rows)
        types = pa.types
        if types.is_dictionary(column.type):
            # `dictionary_decode` doesn't support views.
            values = column.dictionary
            values = values.cast(pa.string()) if types.is_string_view(values.type) else values
            column = values.take(column.indices)
        if name == "scopes" and types.is_nested(column.type):
            column = self._joined(column)
        try:
            if name == "caller" and types.is_floating(column.type):
                # pandas converts integers to floats if one is missing.
                column = column.cast(pa.int64())
            if types.is_string_view(column.type) or (types.is_integer(column.type) and name == "caller"):
                column = column.cast(pa.string())
            column = column.cast(pa.binary())
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            raise TableError(f"column `{self.layout.name(name)}` must contain {'strings or lists of strings' if name == 'scopes' else 'strings'}, not {column.type}") from None
        if name != "caller":
            return column
        # In every format, an empty name means no caller.
        return self._pc.if_else(self._pc.equal(self._pc.binary_length(column), 0), None, column)

    def _statuses(self, column: Any, is_decided: Any, first: int) -> Any:
        """The statuses of the log. Counts invalid statuses in decided rows."""
        pc = self._pc
        read = _statuses_of(column)
        is_unread = pc.and_(pc.and_(pc.is_valid(column), pc.is_null(read)), is_decided)
        unread = pc.sum(is_unread).as_py() or 0
        self.unread_statuses += unread
        if unread and self.first_status is None:
            at = pc.index(is_unread, True).as_py()
            self.first_status = first + at, said_in(column[at])
        return read

    def _joined(self, column: Any) -> Any:
        """Lists of scopes as strings; other columns stay unchanged."""
        pa = self._pa
        inner = getattr(column.type, "value_type", pa.null())
        inner = inner.value_type if pa.types.is_dictionary(inner) else inner
        is_text = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
        if not any(is_such(inner) for is_such in is_text):
            return column
        return pa.array([None if scopes is None else joined(scopes) for scopes in column.to_pylist()], pa.string())

    def _flags(self, column: Any, error: Any) -> tuple[Any, Any]:
        """A column of flags. Null is false, and any value that is neither true nor false is an error."""
        pa, pc = self._pa, self._pc
        if (value := self.layout.allow_bonus_orbs_use) is not None:
            return pa.repeat(pa.scalar(value), len(column)), error
        if pa.types.is_boolean(column.type) or pa.types.is_null(column.type):
            return column.cast(pa.bool_()).fill_null(False), error
        if not pa.types.is_integer(column.type):
            column = self._shown(self._text("allow_bonus_orbs_use", column, len(column)), pa.string())
        words = pc.utf8_lower(pc.utf8_trim_whitespace(column.cast(pa.string())))
        yes = pc.is_in(words, pa.array(_native.TRUE))
        known = pc.or_(yes, pc.is_in(words, pa.array([*_native.FALSE, None], pa.string())))
        if pc.all(known, min_count=0).as_py():
            return yes, error
        name = self.layout.name("allow_bonus_orbs_use")
        message = pc.binary_join_element_wise(f"`{name}` is `", column.cast(pa.string()), "`, neither true nor false", "")
        return yes, pc.if_else(known, error, pc.coalesce(error, message))

    def _missing(self, texts: Mapping[str, Any], error: Any) -> Any:
        """Adds errors to rows that aren't requests because they lack columns."""
        pc = self._pc
        if not texts["method"].null_count and not texts["target"].null_count and texts["by_scope"].null_count == len(error):
            return error
        # The log's names.
        method, target, by_scope = (f"`{self.layout.name(name)}`" for name in ("method", "target", "by_scope"))
        absent = {name: pc.is_null(texts[name]) for name in ("method", "target", "by_scope")}
        neither = pc.and_(absent["method"], absent["target"])
        both = pc.and_not(pc.invert(absent["by_scope"]), neither)
        nothing = pc.and_(neither, absent["by_scope"])
        for lacks, words in (
            (both, f"{by_scope} cannot be combined with {method} or {target}"),
            (nothing, f"neither {method} and {target} nor {by_scope}"),
            (absent["method"], f"no {method}"),
            (absent["target"], f"no {target}"),
        ):
            if words.startswith("no "):
                lacks = pc.and_(lacks, absent["by_scope"])
            error = pc.if_else(pc.and_(lacks, pc.is_null(error)), words, error)
        return error

    def _shown(self, column: Any, kind: Any) -> Any:
        try:
            return column.cast(kind)
        except self._pa.ArrowInvalid:
            texts = (None if text is None else text.decode("utf-8", "replace") for text in column.to_pylist())
            return self._pa.array(texts, kind)


# A fingerprint as gates write it.
FINGERPRINT = re.compile(rb"[0-9a-f]{16}")


def fingerprints(tokens: Any) -> Any:
    """A column of fingerprints. Anything else is replaced by its fingerprint, the first 8 bytes of its SHA-256, as gates do."""
    pa = needs("pyarrow", "logs")
    coded = tokens.dictionary_encode()
    values = [None if not token else token if FINGERPRINT.fullmatch(token) else sha256(token).hexdigest()[:16].encode() for token in coded.dictionary.to_pylist()]
    return pa.array(values, pa.binary()).take(coded.indices)


def joined(scopes: Iterable[Any]) -> str:
    """Joins a list of scopes to one string."""
    return " ".join(scope.replace(" ", SPACE) for scope in scopes if scope is not None)


def _statuses_of(column: Any) -> Any:
    """A column of HTTP statuses as numbers. Invalid statuses are null."""
    pa, pc = needs("pyarrow", "logs"), needs("pyarrow.compute", "logs")
    if pa.types.is_dictionary(column.type):
        column = column.dictionary.take(column.indices)
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), pa.int64())
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        # pandas converts integers to floats if one is missing.
        column = column.cast(pa.float64(), safe=False)
        whole = pc.equal(pc.floor(column), column)
        column = pc.if_else(whole, column, None)
        column = pc.if_else(pc.and_(pc.greater_equal(column, 100), pc.less(column, 600)), column, None)
        return column.cast(pa.int64())
    try:
        text = column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        texts = (value.decode("latin-1") if isinstance(value, bytes) else None for value in column.to_pylist())
        text = pa.array(texts, pa.string())
    # pandas writes `200.0` if one is missing, and other programs add spaces.
    is_status = pc.match_substring_regex(text, r"\A *[1-5]\d\d(\.0+)? *\z")
    return pc.if_else(is_status, pc.utf8_slice_codeunits(pc.utf8_ltrim(text, " "), 0, 3), None).cast(pa.int64())
