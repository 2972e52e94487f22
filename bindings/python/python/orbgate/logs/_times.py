"""When a request was made, however a log writes it: instants in UTC."""

from __future__ import annotations

import contextlib
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


class Times:
    """Reads times. One that cannot be read is absent and counted, and takes nothing from its request."""

    def __init__(self, unit: str | None) -> None:
        if unit is not None and unit not in UNITS:
            raise ValueError(f"the unit of time is `{unit}`, not one of {', '.join(UNITS)}")
        self.unread = 0
        self._unit = unit

    def column(self, found: Any) -> Any:
        """A column of times."""
        pa = needs("pyarrow", "logs")
        types = pa.types
        if types.is_boolean(found.type):
            # Python would count them.
            self.unread += len(found) - found.null_count
            return pa.nulls(len(found), pa.timestamp("us", "UTC"))
        if types.is_timestamp(found.type) or types.is_date(found.type) or types.is_null(found.type):
            # Without a zone it is in UTC; nanoseconds are dropped.
            times = _known_to_calendars(found.cast(pa.timestamp("us", "UTC"), safe=False))
        else:
            coded = found if types.is_dictionary(found.type) else found.dictionary_encode()
            times = self._different(coded.dictionary).take(coded.indices)
        self.unread += times.null_count - found.null_count
        return times

    def _different(self, found: Any) -> Any:
        """Times that are different: all at once where they are alike, as in most logs, or one by one."""
        pa = needs("pyarrow", "logs")
        instant = pa.timestamp("us", "UTC")
        if pa.types.is_string(found.type) or pa.types.is_binary(found.type):
            for read in (_iso, _access):
                with contextlib.suppress(pa.ArrowInvalid):
                    return read(found.cast(pa.string())).cast(instant)
        return pa.array([self._read(value) for value in found.to_pylist()], pa.int64()).cast(instant)

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


def _known_to_calendars(found: Any) -> Any:
    """Years beyond 9999 are no times of a log."""
    pa, pc = needs("pyarrow", "logs"), needs("pyarrow.compute", "logs")
    count = found.cast(pa.int64())
    return pc.if_else(pc.and_(pc.greater_equal(count, FIRST), pc.less_equal(count, LAST)), found, None)


def _iso(found: Any) -> Any:
    """Texts in ISO 8601, all with a zone or all without one."""
    pa = needs("pyarrow", "logs")
    with contextlib.suppress(pa.ArrowInvalid):
        return found.cast(pa.timestamp("us", "UTC"))
    return found.cast(pa.timestamp("us"))


def _access(found: Any) -> Any:
    """Texts as access logs have them, `20/Nov/2026:13:05:00 +0000`."""
    pa, pc = needs("pyarrow", "logs"), needs("pyarrow.compute", "logs")
    day, month, year, time, zone = (
        pc.utf8_slice_codeunits(found, start, stop) for start, stop in ((0, 2), (3, 6), (7, 11), (12, 20), (21, 26))
    )
    number = pa.array([f"-{at:02}-" for at in MONTHS.values()]).take(pc.index_in(month, pa.array(list(MONTHS))))
    # A month of another name is null, and so is its time.
    texts = pc.binary_join_element_wise(year, number, day, "T", time, zone, "")
    alike = pc.all(pc.match_like(found, "__/___/____:__:__:__ _____"), min_count=0).as_py()
    if texts.null_count > found.null_count or not alike:
        raise pa.ArrowInvalid("not all as in access logs")
    return texts.cast(pa.timestamp("us", "UTC"))


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
