"""Replays a log with a policy, and counts the changes from another policy."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from .._errors import TableError
from .._extras import needs
from .._policy import Policy
from .._read.decide import Decider
from .._read.input import STANDARD_INPUT
from .._read.notes import NoColumnError, ResumeError, breaks_off
from .._terms import Reason
from .._whole import is_same_file, naming, whole
from .bulk import warning
from .matches import Matches
from .served import REDIRECTED, REFUSED, SERVED, UNCLEAR
from .tally import Changes, Tally
from .unread import by_reason, first_rows, to_dicts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._read.reader import Reader
    from .resume import Resume

SHOWN_ERRORS = 5
SHOWN_TIMES = 5


class Summary:
    """The counts of a replay. Equal logs and policies have equal summaries."""

    def __init__(self, log: Reader, policy: Policy, base: Policy | None, top: int, examples: int) -> None:
        self.log = log
        self.policy = policy
        self.base = base
        self.broken: TableError | None = None
        self.matches: Matches = Matches()
        self._tally = Tally()
        self._changes = None if base is None else Changes(examples)
        self._top, self._examples = top, examples

    @property
    def rows(self) -> int:
        """The number of rows, including unreadable rows."""
        return self._tally.rows

    @property
    def errors(self) -> int:
        """The number of unreadable rows."""
        return self._tally.errors

    @property
    def is_complete(self) -> bool:
        """Whether every row was read."""
        return self.broken is None and not self._tally.errors

    def count(self, batch: Any, decided: Any, before: Any) -> None:
        """Counts a batch with its decisions, and those of the other policy."""
        self.matches.add(batch, decided)
        self._tally.count(batch, decided)
        if self._changes is not None:
            self._changes.count(batch, before, decided)

    def state(self) -> list[Any]:
        """The counts as plain data."""
        from .resume import state_of

        return [state_of(counter) for counter in (self.matches, self._tally, self._changes) if counter is not None]

    def restore(self, state: list[Any]) -> None:
        """Restores the counts."""
        from .resume import restore

        for counter, of in zip((self.matches, self._tally, self._changes), state):
            restore(counter, of)

    def to_dict(self) -> dict[str, Any]:
        """The summary in the form of JSON."""
        tally = self._tally
        rows = tally.rows_of()
        first, last, outlying = tally.period(self.log.where)
        summary = {
            "log": self.log.path,
            "format": self.log.format,
            "arguments": {**self.log.arguments, "top": self._top, "examples": self._examples},
            "warnings": [*self._lacks(), *([warned.sentence] if (warned := self.matches.warning(self.policy)) else []), *self.log.warnings, *([warning(outlying)] if outlying else [])],
            "policy": self.policy.digest,
            "rows": tally.rows,
            "allowed": sum(count for row, count in rows if row["status"] is None),
            "denied": sum(count for row, count in rows if row["status"] is not None),
            "errors": tally.errors,
            "unread_times": self.log.unread_times,
            "zoneless_times": self.log.zoneless_times,
            "first_time": first and first.isoformat(),
            "last_time": last and last.isoformat(),
            "outlying_times": {
                "calls": sum(row.calls for row in outlying),
                "different": len(outlying),
                "first": [{"time": f"{row.time.isoformat()}+00:00", "until": f"{row.until.isoformat()}+00:00", "count": row.calls, "row": row.row, "where": row.where} for row in outlying[:SHOWN_TIMES]],
            },
            "served": self._served(),
            "reasons": self._reasons(rows),
            "routes": self._routes(rows),
            "orbs": self._orbs(rows),
            "top_denied": [
                {"reason": reason, "detail": detail, "call": call, "count": entry.count, "is_exact": entry.is_exact}
                for (reason, detail, call), entry in tally.calls.first(self._top)
            ],
            "top_denied_is_exact": tally.calls.is_exact,
            "top_denied_callers": [
                {"caller": caller, "count": entry.count, "is_exact": entry.is_exact}
                for caller, entry in tally.callers.first(self._top)
            ],
            "top_denied_callers_is_exact": tally.callers.is_exact,
            "denied_without_caller": tally.denied_without_caller,
            "first_errors": [{"row": row, "message": message} for row, message in first_rows(tally.kinds, SHOWN_ERRORS)],
            "errors_by_reason": to_dicts(by_reason(tally.kinds)),
            "broken": self.broken and str(self.broken),
        }
        return summary if self._changes is None else {**summary, "changes": self._changed(self._changes)}

    def __str__(self) -> str:
        from .text import text

        return text(self.to_dict())

    def _lacks(self) -> list[str]:
        return [] if self.broken is None else [breaks_off(self.rows, str(self.broken))]

    def _served(self) -> dict[str, Any]:
        """The log's statuses compared with the decisions."""
        served = self._tally.served
        return {
            "calls_with_status": served.total(),
            "served_though_denied": served[SERVED, False],
            "refused_though_allowed": served[REFUSED, True],
            "served_and_allowed": served[SERVED, True],
            "refused_and_denied": served[REFUSED, False],
            "redirected": served[REDIRECTED, True] + served[REDIRECTED, False],
            "unclear": served[UNCLEAR, True] + served[UNCLEAR, False],
        }

    def _reasons(self, rows: list[tuple[dict[str, Any], int]]) -> list[dict[str, Any]]:
        counts = _sums(rows, lambda row: row["reason"])
        return [{"reason": reason.value, "count": counts[reason]} for reason in Reason if reason in counts]

    def _routes(self, rows: list[tuple[dict[str, Any], int]]) -> list[dict[str, Any]]:
        def sums(belongs: Callable[[dict[str, Any]], bool]) -> Counter[Any]:
            return _sums([(row, count) for row, count in rows if belongs(row)], _location)

        calls = sums(lambda row: True)
        allowed = sums(lambda row: row["status"] is None)
        consuming = sums(lambda row: bool(row["consumes"]))
        unstated = sums(lambda row: bool(row["consumes"]) and row["amount"] is None)
        stated: Counter[Any] = Counter()
        for row, count in rows:
            stated[_location(row)] += (row["amount"] or 0) * count if row["consumes"] else 0
        routes = sorted(calls, key=lambda route: (-calls[route], route))
        return [
            {
                "route": route or None,
                "calls": calls[route],
                "allowed": allowed[route],
                "denied": calls[route] - allowed[route],
                "consuming": consuming[route],
                "stated_amount": stated[route],
                "calls_without_stated_amount": unstated[route],
            }
            for route in routes
        ]

    def _orbs(self, rows: list[tuple[dict[str, Any], int]]) -> dict[str, Any]:
        consuming = [(row, count) for row, count in rows if row["consumes"]]
        return {
            "calls": sum(count for _, count in consuming),
            "stated_amount": sum(row["amount"] * count for row, count in consuming if row["amount"] is not None),
            "calls_without_stated_amount": sum(count for row, count in consuming if row["amount"] is None),
            "calls_that_allow_bonus_orbs": sum(count for row, count in consuming if row["bonus_allowed"]),
        }

    def _changed(self, changes: Changes) -> dict[str, Any]:
        assert self.base is not None
        order = sorted(changes.counts.items(), key=lambda item: (-item[1], *(part or "" for part in item[0])))
        return {
            "base": self.base.digest,
            "unchanged": changes.unchanged,
            "changed": sum(changes.counts.values()),
            "newly_allowed": changes.newly_allowed,
            "newly_denied": changes.newly_denied,
            "otherwise_charged": changes.otherwise_charged,
            "otherwise_denied": changes.otherwise_denied,
            "by_decision_and_route": [
                {
                    "old": change[0],
                    "new": change[1],
                    "route": change[2],
                    "count": count,
                    "examples": changes.examples[change],
                }
                for change, count in order
            ],
        }


def _location(row: dict[str, Any]) -> str:
    """The route of calls, possibly a public one; empty if they reached none."""
    is_public = row["reason"] == Reason.PUBLIC_ROUTE
    return (row["about"] if is_public else row["route"]) or ""


def _sums(rows: list[tuple[dict[str, Any], int]], of: Callable[[dict[str, Any]], Any]) -> Counter[Any]:
    sums: Counter[Any] = Counter()
    for row, count in rows:
        sums[of(row)] += count
    return sums


def replay(
    log: Reader,
    policy: Policy,
    *,
    base: Policy | None = None,
    out: str | os.PathLike[str] | None = None,
    top: int = 10,
    examples: int = 3,
    watch: Callable[[], None] | None = None,
) -> Summary:
    """Decides every request of a log, in constant memory.

    With another policy as `base`, the summary also lists the changes from `base` to `policy`. `out` is a Parquet file to
    write: the requests, the log's other columns (each named `log_` and its name), the decisions, and those of `base`. `top`
    is the number of most denied calls and callers in the summary, and `examples` the number of requests that show each
    change. `watch` is called after each batch.

    An unreadable row is counted, and written with its error and without a decision. If the log breaks off, the summary
    covers all rows before that, and its `broken` gives the reason.

    Raises `ValueError` if `out` is a file of the log.
    """
    return replayed(log, policy, base, out, top, examples, watch, None)


def replayed(
    log: Reader,
    policy: Policy,
    base: Policy | None,
    out: str | os.PathLike[str] | None,
    top: int,
    examples: int,
    watch: Callable[[], None] | None,
    resume: Resume | None,
) -> Summary:
    """The same; `resume` stores the progress."""
    if out is not None:
        if any(is_same_file(out, file) for file in log.paths if file != STANDARD_INPUT):
            raise ValueError("`out` is the log itself")
        log.keep_others()
    summary = Summary(log, policy, base, top, examples)
    new, old = Decider(policy, log.public), None if base is None else Decider(base, log.public)
    if resume is not None or len(log.paths) > 1:
        # One of several files might be a copy of another.
        log.digest_files()
    if resume is not None:
        if (state := resume.load()) is not None:
            log.go_to(state["location"], watch)
            summary.restore(state["counted"])
    with contextlib.ExitStack() as stack:
        write = stack.enter_context(_writer(out)) if out is not None else None
        try:
            batches = log.exact()
            for batch in batches if resume is None else resume.over(batches, log, lambda: {"location": log.location(), "counted": summary.state()}):
                decided = new.decide(batch)
                before = old and old.decide(batch)
                summary.count(batch, decided, before)
                if write:
                    write(_row_by_row(log.shown(batch), new.plain(decided), before and new.plain(before)))
                if watch:
                    watch()
        except TableError as error:
            if not summary.rows or isinstance(error, (NoColumnError, ResumeError)):
                raise
            summary.broken = error
        if write and not summary.rows:
            write(_nothing(log, new, old))
    return summary


def _row_by_row(batch: Any, decided: Any, before: Any) -> Any:
    """The requests and their decisions, side by side."""
    columns = {
        **dict(zip(batch.schema.names, batch.columns)),
        **dict(zip(decided.column_names, decided.columns)),
    }
    if before is not None:
        columns.update((f"base_{name}", before[name]) for name in before.column_names)
    return needs("pyarrow", "logs").table(columns)


def _nothing(log: Reader, new: Decider, old: Decider | None) -> Any:
    """An empty table with the columns, for a log without rows."""
    schema = log.exact_schema
    empty = schema.empty_table().to_batches() or [needs("pyarrow", "logs").RecordBatch.from_pylist([], schema=schema)]
    decided = new.plain(new.decide(empty[0]))
    return _row_by_row(log.shown(empty[0]), decided, old and new.plain(old.decide(empty[0])))


@contextlib.contextmanager
def _writer(path: str | os.PathLike[str]) -> Iterator[Callable[[Any], None]]:
    """Writes tables to a Parquet file, which appears once it is complete."""
    parquet = needs("pyarrow.parquet", "logs")
    writer = None

    def write(table: Any) -> None:
        nonlocal writer
        with naming(os.fspath(path)):
            writer = writer or parquet.ParquetWriter(part, table.schema)
            writer.write_table(table)

    with whole(path) as part:
        try:
            yield write
        finally:
            if writer:
                with naming(os.fspath(path)):
                    writer.close()
