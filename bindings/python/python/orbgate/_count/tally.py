"""Counts a log's rows and changes in memory that doesn't grow with the log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

from .._extras import needs
from .._read import private
from .._read.decide import FOLLOWERS, KEY
from .._read.input import ROWS_AT_ONCE
from .bulk import OutlyingTime, apart
from .heavy import Heavy
from .long import names as short_names
from .served import served
from .unread import Kinds
from .unread import count as count_unread


class Tally:
    """Counts of rows by their decisions."""

    def __init__(self) -> None:
        # Imported here, because it needs pyarrow and this module must be importable without it.
        from .counts import Times

        self.rows = 0
        self.errors = 0
        self.kinds: Kinds = {}
        # Calls by time, to find outlying times. Counted like in a report.
        self.times = Times(("decision",), first=("row",), ends=True)
        self.outcomes: Counter[tuple[Any, ...]] = Counter()
        # By the classified status, and whether the policy allows the call.
        self.served: Counter[tuple[str, bool]] = Counter()
        self.calls = Heavy()
        self.callers = Heavy()
        self.denied_without_caller = 0
        self._pa = needs("pyarrow", "logs")
        self._pc = needs("pyarrow.compute", "logs")

    def count(self, batch: Any, decided: Any) -> None:
        """Counts a batch and its decisions."""
        self.rows += batch.num_rows
        self._count_errors(batch)
        self._count_times(batch, decided["decision"])
        grouped = decided.group_by(list(KEY), use_threads=False).aggregate(
            [([], "count_all"), *((name, "first") for name in FOLLOWERS)]
        )
        for row in grouped.to_pylist():
            if row["reason"] is not None:
                names = (*KEY, *(f"{name}_first" for name in FOLLOWERS))
                self.outcomes[tuple(row[name] for name in names)] += row["count_all"]
        self._count_served(batch["served_status"], decided)
        self._count_denied(batch, decided)
        if batch["row"][-1].as_py() % ROWS_AT_ONCE == 0:
            self.calls.settle()
            self.callers.settle()

    def rows_of(self) -> list[tuple[dict[str, Any], int]]:
        """The different outcomes with their counts."""
        return [(dict(zip((*KEY, *FOLLOWERS), outcome)), count) for outcome, count in self.outcomes.items()]

    def _count_errors(self, batch: Any) -> None:
        errors = batch.num_rows - batch["error"].null_count
        if not errors:
            return
        self.errors += errors
        unread = batch.filter(self._pc.is_valid(batch["error"]))
        count_unread(self.kinds, unread["row"], unread["error"])

    def _count_times(self, batch: Any, decision: Any) -> None:
        """Counts calls by time. Unreadable rows are left out, even if they have a time."""
        # Without a zone, because the machine might have no time zone data, not even UTC.
        time = batch["time"].cast(self._pa.timestamp("us"))
        timed = self._pa.table({"time": time, "decision": decision.cast(self._pa.string()), "row": batch["row"]})
        self.times.add(timed.filter(self._pc.is_null(batch["error"])))

    def period(self, where: Callable[[int], str]) -> tuple[datetime | None, datetime | None, list[OutlyingTime]]:
        """The first and the last time without outlying times, and the outlying times."""
        period = apart(self.times.rows(), where)
        first, last = (end and end.replace(tzinfo=timezone.utc) for end in (period.first, period.last))
        return first, last, period.outlying

    def _count_served(self, status: Any, decided: Any) -> None:
        pc = self._pc
        is_judged = pc.and_(pc.is_valid(status), pc.is_valid(decided["reason"]))
        is_allowed = pc.is_null(decided["status"])
        responses = self._pa.table({"said": served(status, is_allowed, decided["reason"]), "is_allowed": is_allowed}).filter(is_judged)
        for row in responses.group_by(["said", "is_allowed"]).aggregate([([], "count_all")]).to_pylist():
            self.served[row["said"], row["is_allowed"]] += row["count_all"]

    def _count_denied(self, batch: Any, decided: Any) -> None:
        pa, pc = self._pa, self._pc
        denied = pc.is_valid(decided["status"])
        names = ["method", "target", "by_scope", "caller"]
        columns = {name: batch[name] for name in names}
        route = pc.coalesce(*(decided[name].cast(pa.string()) for name in ("route", "about")))
        calls = pa.table({**columns, "reason": decided["reason"], "detail": decided["detail"], "route": route}).filter(denied)
        if not calls.num_rows:
            return
        # Calls that reached a route are grouped by it, the others by their target.
        target = pc.if_else(pc.is_valid(calls["route"]), None, calls["target"])
        calls = calls.set_column(1, "target", target)
        for at, name in enumerate(names):
            calls = calls.set_column(at, name, short_names(calls[name]))
        calls = calls.combine_chunks()
        self.denied_without_caller += calls["caller"].null_count
        keys = ["reason", "detail", "route", "method", "target", "by_scope"]
        for row in calls.group_by(keys, use_threads=False).aggregate([([], "count_all")]).to_pylist():
            self.calls.add(_call(row), row["count_all"])
        if calls["caller"].null_count < calls.num_rows:
            for row in calls.group_by("caller", use_threads=False).aggregate([([], "count_all")]).to_pylist():
                if row["caller"] is not None:
                    self.callers.add(_text(row["caller"]), row["count_all"])


def _call(row: dict[str, Any]) -> tuple[str, str | None, str]:
    """The reason of a denial, and the call."""
    why = row["reason"], row["detail"]
    if row["by_scope"] is not None:
        return *why, f"scope {_text(row['by_scope'])}"
    method = private.method(_text(row["method"])) or ""
    # If the method is the error, the route is a path without a method.
    location = row["route"] or private.target(_text(row["target"])) or ""
    return *why, location if location.startswith(f"{method} ") else f"{method} {location}"


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


class Changes:
    """Rows that another policy decides differently, by both decisions and the route, with the first rows of each."""

    def __init__(self, examples: int) -> None:
        self.counts: Counter[tuple[Any, ...]] = Counter()
        self.examples: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        self.unchanged = 0
        self.newly_allowed = 0
        self.newly_denied = 0
        self.otherwise_charged = 0
        self.otherwise_denied = 0
        self._wanted = examples
        self._pa = needs("pyarrow", "logs")

    def count(self, batch: Any, old: Any, new: Any) -> None:
        """Counts a batch by its old and its new decisions."""
        names = (*KEY, *FOLLOWERS)
        both = {f"{side}_{name}": table[name] for side, table in (("old", old), ("new", new)) for name in names}
        keys = [f"{side}_{name}" for side in ("old", "new") for name in KEY]
        followers = [name for name in both if name not in keys]
        table = self._pa.table({**both, "row": batch["row"]})
        grouped = table.group_by(keys, use_threads=False).aggregate(
            [("row", "list"), *((name, "first") for name in followers)]
        )
        first = batch["row"][0].as_py()
        for group in grouped.to_pylist():
            if group["old_reason"] is None:
                continue
            before, after = ({name: _of(group, side, name) for name in names} for side in ("old", "new"))
            rows = group["row_list"]
            change = (outcome(before), outcome(after), after["route"] or before["route"] or after["about"] or before["about"])
            if change[0] == change[1]:
                self.unchanged += len(rows)
                continue
            self.counts[change] += len(rows)
            if before["status"] is None and after["status"] is not None:
                self.newly_denied += len(rows)
            elif before["status"] is not None and after["status"] is None:
                self.newly_allowed += len(rows)
            elif before["status"] is None:
                self.otherwise_charged += len(rows)
            else:
                self.otherwise_denied += len(rows)
            examples = self.examples.setdefault(change, [])
            # Several groups can be one change, so the first rows of all of them are kept.
            examples += [{**_example(batch, row - first), "detail": after["detail"] or before["detail"]} for row in rows[: self._wanted]]
            examples.sort(key=lambda example: int(example["row"]))
            del examples[self._wanted :]


def _of(group: dict[str, Any], side: str, name: str) -> Any:
    return group[f"{side}_{name}" if name in KEY else f"{side}_{name}_first"]


def _example(batch: Any, at: int) -> dict[str, Any]:
    names = ("row", "method", "target", "by_scope", "kind", "scopes", "caller")
    row = batch.slice(at, 1).select(list(names)).to_pylist()[0]
    row = {name: _text(value) if isinstance(value, bytes) else value for name, value in row.items()}
    shown = {"method": private.method, "target": private.target, "kind": private.token, "scopes": private.scopes}
    return {name: value if value is None or name not in shown else shown[name](value) for name, value in row.items()}


def outcome(decision: dict[str, Any]) -> str:
    """A decision in short form: `allow`, `allow, 5 orbs`, `deny: scope_missing`."""
    if decision["status"] is not None:
        return f"deny: {decision['reason']}"
    if not decision["consumes"]:
        return "allow"
    amount = "orbs" if decision["amount"] is None else f"{decision['amount']} {'orb' if decision['amount'] == 1 else 'orbs'}"
    return f"allow, {amount}{' or bonus orbs' if decision['bonus_allowed'] else ''}"
