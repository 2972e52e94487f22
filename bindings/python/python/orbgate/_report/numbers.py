"""Formats numbers and names for display."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from .._count.text import shown as escaped
from .._number import number

# The levels of findings, the most severe first.
LEVELS = HIGH, MEDIUM, LOW = "high", "medium", "low"
# What nearly every log has: no finding, but stated on the page.
FACT = "fact"
UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))
# The default for the most rows in a table of the page.
TOP = 25
# The days of logs without a use before a grant is proposed to be revoked.
UNUSED_DAYS = 90
# A longer string is cut in its middle, because its end is often the most specific part.
MOST_CHARACTERS = 120


def bound(count: int, is_exact: bool, noun: str = "") -> str:
    """A number that might be a lower bound.

    >>> bound(5, True), bound(1, False, "caller")
    ('5', 'at least 1 caller')
    """
    return f"{'' if is_exact else 'at least '}{number(count, noun)}"


def share(part: int, whole: int) -> str:
    """A share in percent. Only all is 100%, and only nothing is 0%.

    >>> share(1, 3), share(999_999, 1_000_000), share(1, 1_000_000), share(0, 5), share(0, 0)
    ('33.3%', '>99.9%', '<0.1%', '0%', '–')
    """
    if not whole:
        return "–"
    if part in (0, whole):
        return "100%" if part else "0%"
    # Integers give the same percentages on every machine.
    thousandths = (2_000 * part + whole) // (2 * whole)
    if thousandths in (0, 1_000):
        return ">99.9%" if thousandths else "<0.1%"
    return f"{thousandths // 10}.{thousandths % 10}%"


def shown(text: str | None, most: int = MOST_CHARACTERS) -> str:
    """A string of a log for display, escaped and shortened.

    >>> shown("a\\nb\\u202ec"), shown("x" * 50, most=9), shown(None), shown("two\\u2420words")
    ('a\\\\nb\\\\u202ec', 'xxxx…xxxx', '–', 'two·words')
    """
    if not text:
        return "–" if text is None else "(empty)"
    # Few fonts have the character that replaces a space inside a scope.
    text = text.replace("\u2420", "·")
    if len(text) > most:
        half = (most - 1) // 2
        text = f"{text[:half]}…{text[-half:]}"
    return escaped(text)


def short_routes(names: Sequence[str]) -> list[str]:
    """Short names of routes for a chart, without their common prefix.

    >>> short_routes(["GET /api/v1/keys", "POST /api/v1/keys/agent"]), short_routes(["GET /a", "GET /b"])
    (['GET …/keys', 'POST …/keys/agent'], ['GET /a', 'GET /b'])
    """
    paths = [name[name.find("/") :].split("/") for name in names if "/" in name]
    common = 0
    while paths and all(len(path) > common + 1 and path[common] == paths[0][common] for path in paths):
        common += 1
    prefix = "/".join(paths[0][:common]) if common > 1 else ""
    return [name.replace(prefix, "…", 1) if prefix else name for name in names]


def before(last: int, end: int) -> str:
    """The time from the last call to the end of the log, in two units, rounded down. Both arguments are seconds.

    >>> before(32_400, 86_400 * 2 + 46_799), before(7, 7)
    ('2 days 3 hours before the log ends', "at the log's end")
    """
    return f"{length(end - last)} before the log ends" if end > last else "at the log's end"


def length(seconds: int) -> str:
    """A length of time, in its two longest units, rounded down."""
    parts = []
    for name, unit in UNITS:
        count, seconds = divmod(seconds, unit)
        parts += [number(count, name)] if count else []
    return " ".join(parts[:2])


def when(first: datetime | None, last: datetime | None, is_of_days: bool) -> str:
    """The times of the first and the last call, in minutes, or in days if the log has no times of day; empty if unknown.

    >>> when(datetime(2026, 11, 2, 9), datetime(2026, 11, 2, 9, 30), False), when(datetime(2026, 11, 2), datetime(2026, 11, 2), True)
    ('from 2026-11-02 09:00 to 2026-11-02 09:30', 'on 2026-11-02')
    """
    if first is None or last is None:
        return ""
    start, end = (f"{time:%Y-%m-%d}" if is_of_days else f"{time:%Y-%m-%d %H:%M}" for time in (first, last))
    return f"on {start}" if start == end else f"from {start} to {end}"


def period(first: datetime | None, last: datetime | None) -> str:
    """The period of the log."""
    if first is None or last is None:
        return "unknown, because the log has no times"
    if first.replace(second=0, microsecond=0) == last.replace(second=0, microsecond=0):
        return f"{first.isoformat(' ', 'minutes')} UTC"
    return f"{first.isoformat(' ', 'minutes')} to {last.isoformat(' ', 'minutes')} UTC"
