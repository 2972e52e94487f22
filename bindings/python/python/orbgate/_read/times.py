"""Reads times of requests in any supported form as instants in UTC.

The result for a time depends neither on neighbouring times nor on the version of Python. Arrow reads whole columns of the
most common forms, and a test checks that both ways give the same results.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Any

from .._extras import needs

UNITS: dict[str, float] = {"s": 1_000_000, "ms": 1_000, "us": 1, "ns": 0.001}

# Microseconds in each of Arrow's units, except nanoseconds.
FACTORS = {"day": 86_400_000_000, "s": 1_000_000, "ms": 1_000, "us": 1}

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
START = datetime(1970, 1, 1)
MONTHS = {name: at for at, name in enumerate("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), start=1)}

# If the given unit is too small, numbers become times in the first days of 1970.
FIRST_MONTH = 31 * 86_400_000_000
# Microseconds of the first and last time that Python supports.
FIRST, LAST = -62_135_596_800_000_000, 253_402_300_799_999_999

_ZONE = r"(?P<zone>[Zz]|[+-]\d\d(?::?\d\d)?)?"
_DATE = r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)"
# ISO 8601: a date, and a time after any separator; or both without punctuation. The last form is that of access logs.
FORMS = tuple(
    re.compile(form, re.ASCII | re.DOTALL)
    for form in (
        rf"{_DATE}(?:.(?P<hour>\d\d)(?::(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<part>\d+))?)?)? ?{_ZONE})?",
        rf"(?P<year>\d{{4}})(?P<month>\d\d)(?P<day>\d\d)[Tt](?P<hour>\d\d)(?P<minute>\d\d)(?:(?P<second>\d\d)(?:[.,](?P<part>\d+))?)?{_ZONE}",
        rf"(?P<day>\d\d)/(?P<name>\w{{3}})/(?P<year>\d{{4}}):(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:[.,](?P<part>\d+))? ?{_ZONE}",
    )
)
_OFFSET = re.compile(r"([+-])(\d\d)(?::?(\d\d))?", re.ASCII)

# The forms that Arrow reads with the same result. They are used if most strings of a column have them.
_ZONED = r"\A\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]([01]\d|2[0-3]):?[0-5]\d)\z"
_LOCAL = r"\A\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,6})?\z"
_ACCESS = r"\A\d\d/[A-Z][a-z][a-z]/\d{4}:\d\d:\d\d:\d\d [+-]([01]\d|2[0-3])[0-5]\d\z"


class Times:
    """Reads times. An unreadable time is null and counted; its request is still decided."""

    def __init__(self, unit: str | None, zone: str | None = None) -> None:
        if unit is not None and unit not in UNITS:
            raise ValueError(f"`time_unit` must be one of {', '.join(UNITS)}, not `{unit}`")
        self.unread = 0
        # The row and value of the first unreadable time, and whether any unreadable time is a number.
        self.first_unread: tuple[int, str] | None = None
        self.any_number = False
        # Whether a local time occurred twice or never.
        self.any_changed = False
        self.zoneless = 0
        # The number of dates without a time of day, and the row of the first. Each becomes the day's first second, so the gaps between calls aren't known.
        self.days = 0
        self.first_day: int | None = None
        # Microseconds of the latest time that is a number.
        self.latest_number: int | None = None
        self._unit = unit
        self._zone = zone_of(zone)
        self._pa = needs("pyarrow", "logs")
        self._pc = needs("pyarrow.compute", "logs")

    def column(self, column: Any, is_decided: Any, first: int = 1) -> Any:
        """A column of times; `first` is the number of its first row. Counts unreadable times, times without a zone, and dates
        without a time of day, in decided rows.
        """
        pa, pc = self._pa, self._pc
        if pa.types.is_dictionary(column.type):
            column = _decoded(pa, column)
        counts, is_local, is_day = self._read(column)
        is_known = pc.and_(pc.greater_equal(counts, FIRST), pc.less_equal(counts, LAST))
        counts = pc.if_else(is_known, counts, None)
        is_unread = pc.and_(pc.is_valid(column), pc.is_null(counts))
        self._count_unread(column, pc.and_(is_unread, is_decided), first)
        is_timed = pc.and_(pc.is_valid(counts), is_decided)
        self.zoneless += _count(pc, pc.and_(is_timed, is_local))
        is_day = pc.and_(is_timed, is_day)
        if days := _count(pc, is_day):
            self.days += days
            self.first_day = self.first_day or first + pc.index(is_day, True).as_py()
        return counts.cast(pa.timestamp("us", "UTC"))

    @property
    def counted(self) -> list[Any]:
        """The counts so far."""
        return [self.unread, self.zoneless, self.first_unread, self.any_number, self.any_changed, self.days, self.first_day, self.latest_number]

    @counted.setter
    def counted(self, counted: list[Any]) -> None:
        self.unread, self.zoneless, self.first_unread, self.any_number, self.any_changed, self.days, self.first_day, self.latest_number = counted

    def _count_unread(self, column: Any, is_unread: Any, first: int) -> None:
        pc, types = self._pc, self._pa.types
        unread = _count(pc, is_unread)
        if not unread:
            return
        self.unread += unread
        if self.first_unread is None:
            at = pc.index(is_unread, True).as_py()
            self.first_unread = first + at, said_in(column[at])
        if types.is_integer(column.type) or types.is_floating(column.type):
            self.any_number = True
        elif not self.any_number and any(is_text(column.type) for is_text in (types.is_string, types.is_large_string, types.is_string_view, types.is_binary)):
            # `filter` doesn't support views.
            texts = column.cast(self._pa.binary()).filter(is_unread).unique()
            self.any_number = any(_number(said_in(value)) is not None for value in texts)

    def _read(self, column: Any) -> tuple[Any, Any, Any]:
        """Microseconds since 1970, which times had no zone, and which are dates without a time of day."""
        pa, types = self._pa, self._pa.types
        if types.is_timestamp(column.type) or types.is_date(column.type):
            counts = self._of_calendar(column)
            is_local = types.is_date(column.type) or column.type.tz is None
            return self._instants(counts) if is_local else counts, pa.scalar(is_local), pa.scalar(types.is_date(column.type))
        if types.is_null(column.type) or types.is_boolean(column.type):
            # Python would treat booleans as numbers.
            return pa.nulls(len(column), pa.int64()), pa.scalar(False), pa.scalar(False)
        coded = column.dictionary_encode()
        counts, is_local, is_day = (of.take(coded.indices) for of in self._different(coded.dictionary))
        return counts, is_local, is_day

    def _of_calendar(self, column: Any) -> Any:
        """Microseconds of Arrow's dates and times. Out-of-range values are null, because they would overflow. Nanoseconds are
        dropped.
        """
        pa, pc = self._pa, self._pc
        is_days = pa.types.is_date32(column.type)
        counts = (column.cast(pa.int32()) if is_days else column).cast(pa.int64())
        unit = "day" if is_days else "ms" if pa.types.is_date64(column.type) else column.type.unit
        if unit == "ns":
            # Rounded down, like all other times.
            return pc.divide(pc.subtract(counts, pc.if_else(pc.less(counts, 0), 999, 0)), 1_000)
        factor = FACTORS[unit]
        fits = pc.and_(pc.greater_equal(counts, FIRST // factor), pc.less_equal(counts, LAST // factor))
        return pc.multiply(pc.if_else(fits, counts, None), factor)

    def _different(self, values: Any) -> tuple[Any, Any, Any]:
        """Reads distinct times: those of the most common form together, the others one by one."""
        pa, pc = self._pa, self._pc
        if pa.types.is_string(values.type) or pa.types.is_binary(values.type):
            try:
                text = values.cast(pa.string())
                for form, read in ((_ZONED, _zoned), (_LOCAL, _local), (_ACCESS, _access)):
                    fits = pc.match_substring_regex(text, form)
                    if 2 * _count(pc, fits) >= len(text):
                        counts = read(pa, pc, pc.if_else(fits, text, None))
                        counts = self._instants(counts) if form == _LOCAL else counts
                        others = self._one_by_one(text.filter(pc.invert(fits)))
                        alike = (counts, *(pa.repeat(pa.scalar(so), len(text)) for so in (form == _LOCAL, False)))
                        counts, is_local, is_day = (pc.replace_with_mask(of, pc.invert(fits), by) for of, by in zip(alike, others))
                        return counts, is_local, is_day
            except pa.ArrowInvalid:
                # A day that doesn't exist in its month, or bytes that aren't text.
                pass
        return self._one_by_one(values)

    def _one_by_one(self, values: Any) -> tuple[Any, Any, Any]:
        pa, read = self._pa, [self._one(value) for value in values.to_pylist()]
        return (
            pa.array([count for count, _, _ in read], pa.int64()),
            pa.array([is_local for _, is_local, _ in read], pa.bool_()),
            pa.array([is_day for _, _, is_day in read], pa.bool_()),
        )

    def _one(self, value: Any) -> tuple[int | None, bool, bool]:
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        try:
            number = _number(value) if isinstance(value, str) else value
            if number is not None:
                return self._count(number), False, False
            count, is_local, is_day = _text(value.strip())
            return self._instant(count) if is_local else count, is_local, is_day
        except (AttributeError, OverflowError, TypeError, ValueError):
            return None, False, False

    def _count(self, number: float) -> int | None:
        """The time of a number; None without a unit."""
        if self._unit is None:
            return None
        count = round(number * UNITS[self._unit])
        if not FIRST <= count <= LAST:
            return None
        self.latest_number = count if self.latest_number is None else max(self.latest_number, count)
        return count

    def _instants(self, counts: Any) -> Any:
        """The instants of local times."""
        if self._zone is timezone.utc:
            return counts
        coded = counts.dictionary_encode()
        instants = [None if count is None else self._instant(count) for count in coded.dictionary.to_pylist()]
        return self._pa.array(instants, self._pa.int64()).take(coded.indices)

    def _instant(self, count: int) -> int | None:
        """The instant of a local time; None if it occurred twice or never, because clocks were changed."""
        if not FIRST <= count <= LAST:
            return None
        local = START + timedelta(microseconds=count)
        first, second = (self._zone.utcoffset(local.replace(fold=fold)) for fold in (0, 1))
        if first is None or first != second:
            self.any_changed = True
            return None
        return count - first // timedelta(microseconds=1)


def zone_of(name: str | None) -> tzinfo:
    """The zone of times without a zone, by default UTC.

    >>> zone_of("+05:30"), zone_of(None)
    (datetime.timezone(datetime.timedelta(seconds=19800)), datetime.timezone.utc)
    """
    if name is None or name == "UTC":
        return timezone.utc
    try:
        if _OFFSET.fullmatch(name):
            return timezone(timedelta(microseconds=_offset(name)))
        from zoneinfo import ZoneInfo

        return ZoneInfo(name)
    # Names that aren't paths, paths that are folders, and machines without time zone data.
    except (LookupError, OSError, TypeError, ValueError):
        raise ValueError(f"`{name}` is not a time zone on this machine; use an offset such as +02:00, or a name such as Europe/Berlin") from None


def _text(text: str) -> tuple[int, bool, bool]:
    """Microseconds since 1970 of a time in ISO 8601 or in the form of access logs, whether it has no zone, and whether it is a
    date without a time of day.
    """
    match = next((match for form in FORMS if (match := form.fullmatch(text))), None)
    if match is None:
        raise ValueError(text)
    parts = match.groupdict()
    month = MONTHS[parts["name"]] if parts.get("name") in MONTHS else int(parts.get("month") or 0)
    hour, minute, second = (int(parts[name] or 0) for name in ("hour", "minute", "second"))
    when = datetime(int(parts["year"]), month, int(parts["day"]), hour, minute, second)
    part = int(f"{(parts.get('part') or '0')[:6]:0<6}")
    count = (when - START) // timedelta(microseconds=1) + part
    return (count, True, parts["hour"] is None) if parts["zone"] is None else (count - _offset(parts["zone"]), False, False)


def _offset(zone: str) -> int:
    """The offset of a zone in microseconds."""
    match = _OFFSET.fullmatch(zone)
    if match is None:
        return 0
    sign, hours, minutes = match.groups("0")
    if int(hours) > 23 or int(minutes) > 59:
        raise ValueError(zone)
    return (int(hours) * 60 + int(minutes)) * (60_000_000 if sign == "+" else -60_000_000)


def _zoned(pa: Any, pc: Any, text: Any) -> Any:
    return text.cast(pa.timestamp("us", "UTC")).cast(pa.int64())


def _local(pa: Any, pc: Any, text: Any) -> Any:
    return text.cast(pa.timestamp("us")).cast(pa.int64())


def _access(pa: Any, pc: Any, text: Any) -> Any:
    """Times in the form of access logs, `20/Nov/2026:13:05:00 +0000`."""
    day, month, year, time, zone = (
        pc.utf8_slice_codeunits(text, start, stop) for start, stop in ((0, 2), (3, 6), (7, 11), (12, 20), (21, 26))
    )
    number = pa.array([f"-{at:02}-" for at in MONTHS.values()]).take(pc.index_in(month, pa.array(list(MONTHS))))
    # A time with an unknown month is null.
    return _zoned(pa, pc, pc.binary_join_element_wise(year, number, day, "T", time, zone, ""))


def said_in(value: Any) -> str:
    """A value of a column as a string."""
    try:
        plain = value.as_py()
    except (OverflowError, ValueError):
        # A time that Python does not support, as a number. Days have 32 bits.
        plain = value.cast("int32" if value.type == "date32[day]" else "int64").as_py()
    if isinstance(plain, bool):
        # The spelling of Arrow, JSON and CSV.
        return str(plain).lower()
    return plain.decode("utf-8", "backslashreplace") if isinstance(plain, bytes) else str(plain)


def _number(text: str) -> float | None:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            pass
    return None


def _decoded(pa: Any, column: Any) -> Any:
    # `dictionary_decode` doesn't support views.
    values = column.dictionary
    return (values.cast(pa.string()) if pa.types.is_string_view(values.type) else values).take(column.indices)


def _count(pc: Any, flags: Any) -> int:
    return pc.sum(flags).as_py() or 0
