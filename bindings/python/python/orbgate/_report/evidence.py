"""Counts what the signs of a report are found in: callers with their times and what they had, what calls were about, and how the rows are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from .. import _native
from .._count.counts import Counts
from .._count.served import served_though_denied
from .._terms import Effect, Reason
from .timelines import HOUR, LET_IN, OK, OLD_LOGIN, OWN, REJECTED, outcomes

if TYPE_CHECKING:
    from .._count.decided import Decided, Part
    from .._policy import Policy

# What became of calls, as far as the object that they are about matters.
SERVED, MISSING, LACKING, UNKNOWN, ELSE = "served", "missing", "refused", "without a valid token", "otherwise"
CLASSES = {
    OK: SERVED, LET_IN: SERVED, "404": MISSING, REJECTED: LACKING, Reason.SCOPE_MISSING.value: LACKING, Reason.USER_TOKEN_REQUIRED.value: LACKING,
    OLD_LOGIN: LACKING, Reason.METHOD_NOT_DECLARED.value: LACKING, OWN: UNKNOWN, Reason.NO_TOKEN.value: UNKNOWN, Reason.INVALID_TOKEN.value: UNKNOWN,
}  # fmt: skip
# The most rows of counts of one table. Beyond, those with the fewest calls are dropped.
MOST = 1 << 17
# The most objects. With more, they are counted by a shorter digest, so that what is counted is a lower bound.
MOST_OBJECTS = 1 << 20
MASKS = (-1, 0xFFFF, 0xFFF, 0xFF)
# The most routes with what became of their calls, of all objects together.
MOST_WHATS = 1 << 14
# The rows that wait to be merged.
WAITING = 1 << 14
# The sampled rows in which copies are looked for, and how much of the log is sampled, halved as often as needed.
SAMPLED = 1 << 16
# The most distinct values whose ends are compared with the policy's names.
TEXTS = 1 << 14
# The bytes at the end of a value by which values that are cut differ.
END = 12
# Steps between two rows that are whole quarters of an hour, up to a day, with a tolerance in seconds; smaller ones are usual.
QUARTER, SHORTEST_STEP, LONGEST_STEP, NEAR_STEP = 900, 1_800, 86_400, 45
# The place of steps that are as long, but no whole quarters.
OTHER_STEP = 0
# More files than this are not compared with each other.
FILES = 64


def of_day(micros: Any) -> Any:
    """The microseconds since the last midnight, for any time that a column can have."""
    rest = pc.subtract(micros, pc.multiply(pc.divide(micros, DAY_MICROS), DAY_MICROS))
    return pc.if_else(pc.less(rest, 0), pc.add(rest, DAY_MICROS), rest)


class Bounded(Counts):
    """Counts with at most `most` rows. `is_exact` states whether none was dropped."""

    def __init__(
        self, keys: Sequence[str], most: int = MOST, least: Sequence[str] = ("second", "row"), greatest: Sequence[str] = ("last",), use_threads: bool = True
    ) -> None:
        super().__init__(keys, least=least, greatest=greatest, use_threads=use_threads)
        self.is_exact, self._most = True, most

    def state(self) -> dict[str, Any]:
        return {**super().state(), "is_exact": self.is_exact}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.is_exact = state["is_exact"]

    def fit(self) -> None:
        """Drops rows if there are too many."""
        # Tables that wait cost more than what they are merged to.
        if self.settle(max(WAITING, 2 * self._settled)) > self._most and self.settle(0) > self._most:
            self.shorten()

    def shorten(self) -> None:
        """Drops the half with the fewest calls."""
        self.is_exact = False
        self._parts = [self._parts[0].sort_by([("calls", "descending"), ("row", "ascending")])[: self._most // 2].combine_chunks()]
        self._settled = self._rows()

    def table(self) -> Any:
        """The counts as a table; None without counts."""
        self.settle(0)
        return self._parts[0] if self._rows() else None

    def dicts(self) -> list[dict[str, Any]]:
        """The counts as dictionaries."""
        return [*self.rows()]


class Objects(Bounded):
    """Counts calls by who made them, their route, what became of them, and a digest of the object that they are about."""

    def __init__(self) -> None:
        # Nearly all rows are distinct, so threads that count a part each would only take more memory.
        super().__init__(["who", "what", "key"], MOST_OBJECTS, least=("second", "row", "number"), greatest=("last", "most"), use_threads=False)
        self._level = 0
        # The routes and what became of their calls, which counts have as a number: texts would be most of their memory.
        self._whats: dict[str, int] = {}

    def state(self) -> dict[str, Any]:
        return {**super().state(), "level": self._level, "whats": [*self._whats]}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self._level, self._whats = state["level"], {what: at for at, what in enumerate(state["whats"])}

    def add(self, table: Any) -> None:
        coded = pc.binary_join_element_wise(table["class"], table["location"], "\n").combine_chunks().dictionary_encode()
        numbers = [self._number(what) for what in coded.dictionary.to_pylist()]
        table = table.append_column("what", pa.array(numbers, pa.int32()).take(coded.indices))
        if None in numbers:
            self.is_exact = False
            table = table.filter(pc.is_valid(table["what"]))
        super().add(self._coarser(table))

    def table(self) -> Any:
        table = super().table()
        if table is None:
            return None
        what = table["what"]
        for at, name in enumerate(("class", "location")):
            names = pa.array([one.partition("\n")[2 * at] for one in self._whats], pa.string())
            table = table.append_column(name, names.take(what.combine_chunks()))
        return table.drop_columns(["what"])

    def _number(self, what: str) -> int | None:
        """The number of a route with what became of its calls; None if there are too many, because callers choose the methods."""
        if what not in self._whats and len(self._whats) >= MOST_WHATS:
            return None
        return self._whats.setdefault(what, len(self._whats))

    def shorten(self) -> None:
        while self._rows() > self._most and self._level + 1 < len(MASKS):
            self._level, self.is_exact = self._level + 1, False
            self.change(self._coarser)
        if self._rows() > self._most:
            super().shorten()

    def _coarser(self, table: Any) -> Any:
        if not self._level:
            return table
        return table.set_column(table.column_names.index("key"), "key", pc.bit_wise_and(table["key"], MASKS[self._level]))


class Evidence:
    """The counters, fed part by part, as far as the log has the columns that they need."""

    def __init__(self, log: Decided, policy: Policy) -> None:
        self.has_instances, self.has_addresses, self.has_tokens, self.has_accounts = (name in log.names for name in ("instance", "address", "token", "account"))
        self.held = Bounded(["caller", "scopes", "kind"])
        self.made = Bounded(["caller", "location", "amount", "is_allowed"])
        self.uses = Bounded(["caller", "used"])
        self.paid = Bounded(["caller", "account"])
        self.hours = Bounded(["caller", "hour"])
        self.places = Bounded(["address", "caller", "token", "hour", "class"])
        self.sources = Bounded(["source", "hour"])
        self.source_outcomes = Bounded(["source", "outcome", "hour"])
        self.source_statuses = Bounded(["source", "status", "hour"])
        self.source_addresses = Bounded(["source", "address", "hour"])
        self.of_sources = Bounded(["who", "source", "class", "hour"])
        self.caller_objects, self.address_objects, self.token_objects = Objects(), Objects(), Objects()
        self.statuses = Bounded(["location", "status", "outcome", "hour"])
        self.lost = Bounded(["caller", "start", "status", "method"])
        self.lengths = Bounded(["column", "length", "is_part", "is_denied", "is_served", "end"])
        self.spellings = Bounded(["column", "value", "is_served"])
        self.copies = Counts(["row_key", "micros", "instance"], least=["row", "second"], greatest=["last_row"])
        self.steps: Counter[int] = Counter()
        self.mask = 0
        # Whether times are more exact than seconds, so that no two calls are alike by chance.
        self.has_fractions = False
        self._last: list[int] = []
        self._log, self._policy = log, policy
        self._scopes = [scope.scope.encode() for scope in policy.scopes()]
        self._templates = sorted({tuple(route.template.encode().split(b"/")) for route in policy.routes()})
        self._ends = tuple(self._ends_at(count) for count in range(max((len(template) for template in self._templates), default=0)))
        self._known: dict[tuple[str, bytes], bool] = {}
        self._spelt: dict[bytes, bytes | None] = {}

    @cached_property
    def visits(self) -> list[dict[str, Any]]:
        """The calls by address, caller and what became of them. Read after counting only."""
        table = self.places.table() if self.has_addresses else None
        if table is None:
            return []
        groups = table.filter(pc.is_valid(table["address"])).group_by(["address", "caller", "class"])
        whole = groups.aggregate([("calls", "sum"), ("second", "min"), ("last", "max"), ("row", "min")])
        rows: list[dict[str, Any]] = whole.rename_columns([name.partition("_")[0] for name in whole.column_names]).to_pylist()
        return rows

    @property
    def objects(self) -> list[tuple[str, Objects]]:
        """The counts of objects, by the column that says who called."""
        every = (("caller", True, self.caller_objects), ("address", self.has_addresses, self.address_objects), ("token", self.has_tokens, self.token_objects))
        return [(name, counts) for name, is_there, counts in every if is_there]

    def add(self, part: Part, used: Any) -> None:
        """Counts calls with their decisions and the scopes that they used, row by row."""
        if not part.calls.num_rows:
            return
        table = self._table(part).append_column("used", used)
        self._see_copies(table)
        self._see_steps(table)
        self._see_texts(table)
        lost = table.filter(pc.and_(pc.is_null(table["location"]), pc.is_valid(table["target"])))
        if lost.num_rows:
            self.lost.add(lost.append_column("start", _starts(lost["target"])))
        timed = table.filter(pc.is_valid(table["second"]))
        for counts in (self.held, self.made, self.hours, self.statuses):
            counts.add(timed)
        self.uses.add(timed.filter(pc.and_(pc.is_valid(timed["used"]), pc.is_valid(timed["caller"]))))
        if self.has_accounts:
            self.paid.add(timed.filter(pc.and_(pc.is_valid(timed["caller"]), pc.greater(pc.binary_length(timed["account"]), 0)).fill_null(False)))
        timed = timed.append_column("source", self._source(timed))
        self.sources.add(timed)
        if self.has_instances:
            # Preflights are let in by many servers, and are another finding.
            self.source_outcomes.add(timed.filter(pc.not_equal(timed["method"], b"OPTIONS").fill_null(True)))
            self.source_statuses.add(timed)
        if self.has_addresses:
            self.source_addresses.add(timed)
        if self.has_addresses or self.has_tokens:
            self.places.add(timed)
        if self.has_instances:
            # Without tokens, a caller stands for its token.
            who = timed["token" if self.has_tokens else "caller"]
            # A wrong password, a scope that the policy demands, or a method that it lacks, shows nothing of whether a token is known.
            is_of_token = pc.and_(pc.is_valid(who), pc.invert(pc.is_in(timed["outcome"], pa.array([*OF_NO_TOKEN]))))
            # Without a status, only the policy refuses, and a server that knows no token of a call refuses it with 401. What it serves although
            # the policy denies it is another finding.
            is_known = pc.and_(
                pc.invert(pc.equal(timed["outcome"], LET_IN)), pc.or_(pc.not_equal(timed["outcome"], REJECTED), pc.equal(timed["status"], UNAUTHORIZED))
            )
            is_of_token = pc.and_(pc.and_(is_of_token, pc.is_valid(timed["status"])), is_known)
            self.of_sources.add(timed.append_column("who", who).filter(is_of_token))
        about = timed.filter(pc.and_(pc.is_valid(timed["key"]), pc.is_valid(timed["location"])))
        # Another method than those of the policy is a part of what a call is about.
        is_preflight = pc.and_(pc.starts_with(about["location"], "/"), pc.equal(about["method"], b"OPTIONS")).fill_null(False)
        is_other = pc.or_(pc.equal(about["outcome"], Reason.METHOD_NOT_DECLARED.value), is_preflight)
        route = pc.if_else(is_other, pc.binary_join_element_wise(texts(about["method"]), about["location"], " "), about["location"])
        about = _with(about.append_column("most", about["number"]), "location", route)
        for name, objects in self.objects:
            objects.add(about.filter(pc.is_valid(about[name])).rename_columns(["who" if column == name else column for column in about.column_names]))

    def fit(self) -> None:
        """Keeps memory bounded, after a whole block."""
        for counter in vars(self).values():
            if isinstance(counter, Bounded):
                counter.fit()
        while self.copies.settle(SAMPLED) > SAMPLED:
            self.mask = 2 * self.mask + 1
            self.copies.change(self._sampled)

    def _sampled(self, table: Any) -> Any:
        return table.filter(pc.equal(pc.bit_wise_and(table["row_key"], self.mask), 0))

    def _table(self, part: Part) -> Any:
        """The columns that are counted, with what each call is about."""
        calls, decided = part.calls, part.decided
        micros = calls["time"].cast(pa.int64())
        second = pc.divide(pc.floor_temporal(calls["time"], unit="second").cast(pa.int64()), 1_000_000)
        outcome = outcomes(calls, decided)
        named = {name: calls[name] if name in calls.column_names else pa.nulls(calls.num_rows, pa.binary()) for name in NAMED}
        is_allowed = pc.equal(decided["decision"], Effect.ALLOW.value)
        table = pa.table({
            **{name: calls[name] for name in ("caller", "method", "target", "kind", "scopes", "row")}, **named,
            "status": calls["served_status"], "micros": micros, "second": second,
            "of_day": of_day(micros),
            "last": second, "hour": pc.floor(pc.divide(second.cast(pa.float64()), HOUR)).cast(pa.int64()),
            "location": pc.coalesce(decided["route"], decided["about"]), "route": decided["route"],
            "outcome": outcome, "amount": decided["amount"], "is_allowed": is_allowed, "is_denied": pc.invert(is_allowed), "class": _classes(outcome),
            "is_served": served_though_denied(calls["served_status"], decided), "reason": decided["reason"],
            "is_malformed": pc.equal(decided["reason"], Reason.MALFORMED_REQUEST.value),
        })  # fmt: skip
        found = pa.table(_native.objects(_with(table, "route", table["location"]).combine_chunks(), [*SAME]))
        for name in ("key", "number", "row_key"):
            table = table.append_column(name, found[name])
        return table

    def _source(self, table: Any) -> Any:
        """Where rows come from: the instance, or the number of the file if the log has a few."""
        if self.has_instances:
            return table["instance"]
        begun = self._log.begun
        if not 1 < self._log.file_count <= FILES:
            return pa.nulls(table.num_rows, pa.binary())
        number = pa.repeat(pa.scalar(-1, pa.int64()), table.num_rows)
        for before in begun:
            number = pc.add(number, pc.greater(table["row"], before).cast(pa.int64()))
        return number.cast(pa.string()).cast(pa.binary())

    def _see_copies(self, table: Any) -> None:
        """Rows with equal values in all columns, in a sample of the rows that has all copies of each."""
        if not self.has_fractions and table["micros"].length():
            self.has_fractions = bool(pc.any(pc.not_equal(table["micros"], pc.multiply(table["second"], 1_000_000))).as_py())
        keyed = self._sampled(table.filter(pc.is_valid(table["micros"])))
        self.copies.add(keyed.select(["row_key", "micros", "instance", "row", "second"]).append_column("last_row", keyed["row"]))

    def _see_steps(self, table: Any) -> None:
        """Steps of whole quarters of an hour from one row to the next."""
        seconds = table["second"].drop_null().combine_chunks()
        if not len(seconds):
            return
        before = pa.concat_arrays([pa.array(self._last or [seconds[0].as_py()], pa.int64()), seconds[:-1]])
        step = pc.subtract(seconds, before)
        size = pc.abs(step)
        quarters = pc.divide(pc.add(size, QUARTER // 2), QUARTER)
        is_near = pc.less_equal(pc.abs(pc.subtract(size, pc.multiply(quarters, QUARTER))), NEAR_STEP)
        is_step = pc.and_(is_near, pc.and_(pc.greater_equal(size, SHORTEST_STEP), pc.less_equal(size, LONGEST_STEP)))
        is_other = pc.and_(pc.invert(is_near), pc.and_(pc.greater_equal(size, QUARTER), pc.less_equal(size, LONGEST_STEP)))
        self.steps[OTHER_STEP] += pc.sum(is_other).as_py() or 0
        for one in pc.value_counts(pc.multiply(quarters, pc.sign(step)).filter(is_step)).to_pylist():
            self.steps[one["values"]] += one["counts"]
        self._last = [seconds[-1].as_py()]

    def _see_texts(self, table: Any) -> None:
        """How values are written: the lengths of scopes and targets, kinds of tokens, and methods."""
        for column, is_part in (("scopes", self._is_part_of_scopes), ("target", self._is_part_of_path)):
            is_seen = pc.and_(pc.is_valid(table[column]), pc.is_null(table["location"]) if column == "target" else pc.is_valid(table["kind"]))
            of = table.filter(is_seen)
            if of.num_rows:
                coded = of[column].combine_chunks().dictionary_encode()
                values = coded.dictionary.to_pylist()
                parts = [is_part(value) for value in values]
                flags = pa.array(parts, pa.bool_()).take(coded.indices)
                # What is cut ends differently; a client that writes one value wrongly always writes the same.
                ends = pa.array([value[-END:] if is_cut else None for value, is_cut in zip(values, parts)], pa.binary())
                seen = _with(_with(of, "length", pc.binary_length(of[column]).cast(pa.int64())), "is_part", flags).append_column(
                    "end", ends.take(coded.indices)
                )
                self.lengths.add(seen.append_column("column", pa.repeat(column, of.num_rows)))
                if column == "scopes":
                    spelt = pa.array([self._spelling(value) for value in values], pa.binary()).take(coded.indices)
                    if spelt.null_count < len(spelt):
                        self.spellings.add(of.append_column("column", pa.repeat(column, of.num_rows)).append_column("value", spelt))
        nothing = pa.nulls(table.num_rows, pa.binary())
        if table["target"].null_count < table.num_rows:
            self.lengths.add(
                _with(_with(table, "length", pc.binary_length(table["target"]).cast(pa.int64())), "is_part", pa.repeat(False, table.num_rows))
                .append_column("end", nothing)
                .append_column("column", pa.repeat("every target", table.num_rows))
            )
        for column in ("kind", "method"):
            self.spellings.add(table.append_column("column", pa.repeat(column, table.num_rows)).append_column("value", pc.binary_slice(table[column], 0, 40)))

    def _is_part_of_scopes(self, scopes: bytes) -> bool:
        """Whether the last of these scopes is the beginning of one of the policy's, and no scope itself."""
        return self._remembered(
            "scopes", scopes, lambda last: last not in self._scopes and any(scope.startswith(last) for scope in self._scopes), scopes.rpartition(b" ")[2]
        )

    def _spelling(self, scopes: bytes) -> bytes | None:
        """How scopes differ from the policy's, if each that isn't one would be one in another spelling. The last one may be cut."""
        if scopes not in self._spelt:
            if len(self._spelt) >= TEXTS:
                self._spelt.clear()
            every = scopes.split()
            self._spelt[scopes] = self._form_of(every) or (self._form_of(every[:-1]) if len(every) > 1 else None)
        return self._spelt[scopes]

    def _form_of(self, scopes: list[bytes]) -> bytes | None:
        """How all of these scopes differ from the policy's. Of those with shorter words, some may be as short as they are."""
        others = [scope for scope in scopes if scope not in self._scopes]
        form = next((form for form in (self._form(others[0], own) for own in self._scopes) if form is not None), None) if others else None
        if form is None or (form != SHORT and len(others) < len(scopes)):
            return None
        return form if all(any(self._form(scope, own) == form for own in self._scopes) for scope in others) else None

    def _form(self, scope: bytes, own: bytes) -> bytes | None:
        """How a scope differs from one of the policy's: by what precedes it, its case or its separators."""
        if scope in self._scopes:
            return None
        if scope.endswith(own):
            return b"after " + scope[: -len(own)]
        if scope.lower() == own.lower():
            return b"in another case"
        start, word = own[: self._last_word(own)], scope[self._last_word(own) :]
        if word and scope.startswith(start) and start and own.startswith(scope):
            return SHORT
        return b"with other separators" if scope.translate(None, SEPARATORS) == own.translate(None, SEPARATORS) else None

    @staticmethod
    def _last_word(scope: bytes) -> int:
        """Where the last word of a scope begins, after its last separator."""
        return 1 + max(scope.rfind(separator) for separator in SEPARATORS)

    def _is_part_of_path(self, target: bytes) -> bool:
        """Whether a path without a route ends in the middle of a literal of a template."""
        return self._remembered("target", target, self._cuts_template, target)

    def _remembered(self, column: str, value: bytes, judge: Callable[[bytes], bool], of: bytes) -> bool:
        if (column, value) not in self._known:
            if len(self._known) >= TEXTS:
                self._known.clear()
            self._known[column, value] = len(of) > 1 and judge(of)
        return self._known[column, value]

    def _ends_at(self, count: int) -> frozenset[bytes] | None:
        """The beginnings of all literals after so many segments; None if a template continues there with any value."""
        there = [template for template in self._templates if len(template) > count]
        if any(template[count].startswith(b"{") and len(template) > count + 1 for template in there):
            return None
        return frozenset(template[count][:length] for template in there if not template[count].startswith(b"{") for length in range(len(template[count]) + 1))

    def _cuts_template(self, target: bytes) -> bool:
        # The path before a query is whole.
        if b"?" in target:
            return False
        *whole, last = target.split(b"/")
        count = len(whole)
        # What no template has there excludes nearly all paths.
        if count >= len(self._ends) or ((possible := self._ends[count]) is not None and last not in possible):
            return False
        return any(
            len(template) > count
            and (template[count].startswith(last) if not template[count].startswith(b"{") else len(template) > count + 1)
            and all(of == own or of.startswith(b"{") for of, own in zip(template, whole))
            for template in self._templates
        )


# What can be between the words of a scope.
SEPARATORS = b":._-/"
# Scopes of which only the last words are shorter.
SHORT = b"with shorter last words"
# What a server answers to a token that it doesn't know.
UNAUTHORIZED = Reason.INVALID_TOKEN.status
# Refusals that say nothing of whether a server knows a token.
OF_NO_TOKEN = (OWN, OLD_LOGIN, Reason.SCOPE_MISSING.value, Reason.USER_TOKEN_REQUIRED.value, Reason.METHOD_NOT_DECLARED.value)
# The columns that are read only if they are named.
NAMED = ("address", "token", "instance", "account")
DAY_MICROS = 86_400_000_000
# The columns in which a copy of a row is equal, apart from the day of its time.
SAME = ("method", "target", "caller", "scopes", "token", "address", "instance", "of_day", "status")


def _classes(outcome: Any) -> Any:
    named = pa.array([*CLASSES.values()]).take(pc.index_in(outcome, pa.array([*CLASSES])))
    return pc.fill_null(named, ELSE)


def _with(table: Any, name: str, column: Any) -> Any:
    """A table with another column in place of one, or with one more."""
    if name in table.column_names:
        return table.set_column(table.column_names.index(name), name, column)
    return table.append_column(name, column)


def _starts(target: Any) -> Any:
    """The first two segments of paths."""
    start = pc.extract_regex(texts(pc.binary_slice(target, 0, 256)), r"^(?P<start>(?:/+[^/?#]*){1,2})")
    return pc.struct_field(start, "start")


def texts(names: Any) -> Any:
    """A column of names as strings, without what isn't UTF-8."""
    try:
        return names.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.chunked_array([[None if name is None else name.decode("utf-8", "backslashreplace") for name in names.to_pylist()]], pa.string())
