"""When a request was made, however a log writes it: instants in UTC."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import Any

from .._extras import needs

UNITS = {"s": 1_000_000, "ms": 1_000, "us": 1, "ns": 0.001}

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
ACCESS = re.compile(r"(\d\d)/(\w{3})/(\d{4}):(\d\d):(\d\d):(\d\d) ([+-])(\d\d)(\d\d)", re.ASCII)
MONTHS = {name: at for at, name in enumerate("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), start=1)}
FRACTION = re.compile(r"[.,](\d+)", re.ASCII)

# Microseconds of the years that Python knows.
FIRST, LAST = -62_135_596_800_000_000, 253_402_300_799_999_999

# More different texts than this are forgotten again: a log is in the order of its times.
REMEMBERED = 100_000


class Times:
    """Reads times. One that cannot be read is absent and counted, and takes nothing from its request."""

    def __init__(self, unit: str | None) -> None:
        if unit is not None and unit not in UNITS:
            raise ValueError(f"the unit of time is `{unit}`, not one of {', '.join(UNITS)}")
        self.unread = 0
        self._unit = unit
        self._known: dict[Any, int | None] = {}

    def column(self, found: Any) -> Any:
        """A column of times."""
        pa = needs("pyarrow", "logs")
        instant = pa.timestamp("us", "UTC")
        if pa.types.is_null(found.type):
            return found.cast(instant)
        if pa.types.is_temporal(found.type):
            # Without a zone it is in UTC; a nanosecond more or less is nobody's business.
            return self._known_to_calendars(found.cast(instant, safe=False))
        coded = found if pa.types.is_dictionary(found.type) else found.dictionary_encode()
        times = pa.array([self._one(value) for value in coded.dictionary.to_pylist()], pa.int64())
        times = times.take(coded.indices)
        self.unread += times.null_count - found.null_count
        return times.cast(instant)

    def _known_to_calendars(self, found: Any) -> Any:
        """Years beyond 9999 are no times of a log."""
        pa, pc = needs("pyarrow", "logs"), needs("pyarrow.compute", "logs")
        count = found.cast(pa.int64())
        known = pc.and_(pc.greater_equal(count, FIRST), pc.less_equal(count, LAST))
        times = pc.if_else(known, found, None)
        self.unread += times.null_count - found.null_count
        return times

    def _one(self, value: Any) -> int | None:
        if value not in self._known:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[value] = self._read(value)
        return self._known[value]

    def _read(self, value: Any) -> int | None:
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        try:
            if isinstance(value, str):
                number = _number(value)
                return _text(value) if number is None else self._count(number)
            return self._count(value)
        except (OverflowError, TypeError, ValueError):
            return None

    def _count(self, number: float) -> int | None:
        """What a number counts is not guessed."""
        if self._unit is None:
            return None
        count = round(number * UNITS[self._unit])
        return count if FIRST <= count <= LAST else None


def _number(text: str) -> float | None:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return None


def _text(text: str) -> int | None:
    """ISO 8601, where a time without a zone is in UTC, or as access logs have it."""
    if found := ACCESS.fullmatch(text):
        day, month, year, hour, minute, second, sign, hours, minutes = found.groups()
        ahead = timedelta(hours=int(hours), minutes=int(minutes)) * (1 if sign == "+" else -1)
        zone = timezone(ahead)
        when = datetime(int(year), MONTHS.get(month, 0), int(day), int(hour), int(minute), int(second), tzinfo=zone)
    else:
        # Python 3.10 reads neither `Z` nor nanoseconds.
        text = FRACTION.sub(lambda digits: f".{digits[1][:6]:0<6}", text.strip())
        when = datetime.fromisoformat(re.sub("[Zz]$", "+00:00", text))
        if when.tzinfo is None:
            when = when.replace(tzinfo=timezone.utc)
    return (when - EPOCH) // timedelta(microseconds=1)
