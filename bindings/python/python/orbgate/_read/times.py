"""When a request was made, however a log writes it: instants in UTC.

What a time is does not depend on the times next to it, nor on the version of Python: the forms are those below. Arrow reads whole
columns of the most common ones, and a test holds both to one table.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Any

from .._extras import needs

UNITS: dict[str, float] = {"s": 1_000_000, "ms": 1_000, "us": 1, "ns": 0.001}

# Microseconds in what Arrow counts dates and times in, but for nanoseconds.
FACTORS = {"day": 86_400_000_000, "s": 1_000_000, "ms": 1_000, "us": 1}

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
START = datetime(1970, 1, 1)
MONTHS = {name: at for at, name in enumerate("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), start=1)}

# Numbers of a larger unit than was said are times in the first days.
FIRST_MONTH = 31 * 86_400_000_000
# Microseconds of the years that Python knows.
FIRST, LAST = -62_135_596_800_000_000, 253_402_300_799_999_999

_ZONE = r"(?P<zone>[Zz]|[+-]\d\d(?::?\d\d)?)?"
_DATE = r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)"
# ISO 8601: a date, and a time with any sign between them; or both without signs in them. The last one is of access logs.
FORMS = tuple(
    re.compile(form, re.ASCII | re.DOTALL)
    for form in (
        rf"{_DATE}(?:.(?P<hour>\d\d)(?::(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<part>\d+))?)?)? ?{_ZONE})?",
        rf"(?P<year>\d{{4}})(?P<month>\d\d)(?P<day>\d\d)[Tt](?P<hour>\d\d)(?P<minute>\d\d)(?:(?P<second>\d\d)(?:[.,](?P<part>\d+))?)?{_ZONE}",
        rf"(?P<day>\d\d)/(?P<name>\w{{3}})/(?P<year>\d{{4}}):(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:[.,](?P<part>\d+))? ?{_ZONE}",
    )
)
_OFFSET = re.compile(r"([+-])(\d\d)(?::?(\d\d))?", re.ASCII)

# What Arrow reads as we do, where most texts of a column are so.
_ZONED = r"\A\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]([01]\d|2[0-3]):?[0-5]\d)\z"
_LOCAL = r"\A\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,6})?\z"
_ACCESS = r"\A\d\d/[A-Z][a-z][a-z]/\d{4}:\d\d:\d\d:\d\d [+-]([01]\d|2[0-3])[0-5]\d\z"


class Times:
    """Reads times. One that cannot be read is absent and counted, and takes nothing from its request."""

    def __init__(self, unit: str | None, zone: str | None = None) -> None:
        if unit is not None and unit not in UNITS:
            raise ValueError(f"the unit of time is `{unit}`, not one of {', '.join(UNITS)}")
        self.unread = 0
        # The row of the first that could not be read, and what it says; and whether any such is a number.
        self.first_unread: tuple[int, str] | None = None
        self.any_number = False
        # Whether one was there twice or never.
        self.any_changed = False
        self.zoneless = 0
        # How many name a day and no time of day, and the row of the first. Each is the day's first second, which says nothing of how near calls came.
        self.days = 0
        self.first_day: int | None = None
        # Microseconds of the latest time that is a number.
        self.latest_number: int | None = None
        self._unit = unit
        self._zone = zone_of(zone)
        self._pa = needs("pyarrow", "logs")
        self._pc = needs("pyarrow.compute", "logs")

    def column(self, found: Any, is_decided: Any, first: int = 1) -> Any:
        """A column of times, whose first row has this number. Of the rows that are decided it counts those that cannot be read, those without a zone, and days alone."""
        pa, pc = self._pa, self._pc
        if pa.types.is_dictionary(found.type):
            found = _decoded(pa, found)
        counts, is_local, is_day = self._read(found)
        is_known = pc.and_(pc.greater_equal(counts, FIRST), pc.less_equal(counts, LAST))
        counts = pc.if_else(is_known, counts, None)
        is_unread = pc.and_(pc.is_valid(found), pc.is_null(counts))
        self._count_unread(found, pc.and_(is_unread, is_decided), first)
        is_timed = pc.and_(pc.is_valid(counts), is_decided)
        self.zoneless += _count(pc, pc.and_(is_timed, is_local))
        is_day = pc.and_(is_timed, is_day)
        if days := _count(pc, is_day):
            self.days += days
            self.first_day = self.first_day or first + pc.index(is_day, True).as_py()
        return counts.cast(pa.timestamp("us", "UTC"))

    @property
    def counted(self) -> list[Any]:
        """What was counted of the times so far."""
        return [self.unread, self.zoneless, self.first_unread, self.any_number, self.any_changed, self.days, self.first_day, self.latest_number]

    @counted.setter
    def counted(self, counted: list[Any]) -> None:
        self.unread, self.zoneless, self.first_unread, self.any_number, self.any_changed, self.days, self.first_day, self.latest_number = counted

    def _count_unread(self, found: Any, is_unread: Any, first: int) -> None:
        pc, types = self._pc, self._pa.types
        unread = _count(pc, is_unread)
        if not unread:
            return
        self.unread += unread
        if self.first_unread is None:
            at = pc.index(is_unread, True).as_py()
            self.first_unread = first + at, said_in(found[at])
        if types.is_integer(found.type) or types.is_floating(found.type):
            self.any_number = True
        elif not self.any_number and any(is_text(found.type) for is_text in (types.is_string, types.is_large_string, types.is_string_view, types.is_binary)):
            # `filter` knows no views.
            texts = found.cast(self._pa.binary()).filter(is_unread).unique()
            self.any_number = any(_number(said_in(value)) is not None for value in texts)

    def _read(self, found: Any) -> tuple[Any, Any, Any]:
        """Microseconds since 1970, which times had no zone, and which are days alone."""
        pa, types = self._pa, self._pa.types
        if types.is_timestamp(found.type) or types.is_date(found.type):
            counts = self._of_calendar(found)
            is_local = types.is_date(found.type) or found.type.tz is None
            return self._instants(counts) if is_local else counts, pa.scalar(is_local), pa.scalar(types.is_date(found.type))
        if types.is_null(found.type) or types.is_boolean(found.type):
            # Python would count flags.
            return pa.nulls(len(found), pa.int64()), pa.scalar(False), pa.scalar(False)
        coded = found.dictionary_encode()
        counts, is_local, is_day = (of.take(coded.indices) for of in self._different(coded.dictionary))
        return counts, is_local, is_day

    def _of_calendar(self, found: Any) -> Any:
        """Microseconds of Arrow's own dates and times: a product that is too large would be another time. Nanoseconds are dropped."""
        pa, pc = self._pa, self._pc
        is_days = pa.types.is_date32(found.type)
        counts = (found.cast(pa.int32()) if is_days else found).cast(pa.int64())
        unit = "day" if is_days else "ms" if pa.types.is_date64(found.type) else found.type.unit
        if unit == "ns":
            # Down, as with all others.
            return pc.divide(pc.subtract(counts, pc.if_else(pc.less(counts, 0), 999, 0)), 1_000)
        factor = FACTORS[unit]
        fits = pc.and_(pc.greater_equal(counts, FIRST // factor), pc.less_equal(counts, LAST // factor))
        return pc.multiply(pc.if_else(fits, counts, None), factor)

    def _different(self, found: Any) -> tuple[Any, Any, Any]:
        """Times that are different: at once those of the form that most have, the others one by one."""
        pa, pc = self._pa, self._pc
        if pa.types.is_string(found.type) or pa.types.is_binary(found.type):
            try:
                text = found.cast(pa.string())
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
                # A day that no month has, or bytes that are no text.
                pass
        return self._one_by_one(found)

    def _one_by_one(self, found: Any) -> tuple[Any, Any, Any]:
        pa, read = self._pa, [self._one(value) for value in found.to_pylist()]
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
        """What a number counts is not guessed."""
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
        """None where clocks were changed, and the time was there twice or never."""
        if not FIRST <= count <= LAST:
            return None
        local = START + timedelta(microseconds=count)
        first, second = (self._zone.utcoffset(local.replace(fold=fold)) for fold in (0, 1))
        if first is None or first != second:
            self.any_changed = True
            return None
        return count - first // timedelta(microseconds=1)


def zone_of(name: str | None) -> tzinfo:
    """The zone of times that name none, by default UTC.

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
    # Names that are no paths, paths that are folders, and machines without any zone.
    except (LookupError, OSError, TypeError, ValueError):
        raise ValueError(f"`{name}` is no time zone here: say an offset, as +02:00, or a name, as Europe/Berlin") from None


def _text(text: str) -> tuple[int, bool, bool]:
    """Microseconds since 1970 of a time in ISO 8601 or as access logs have it, whether it has no zone, and whether it is a day alone."""
    found = next((found for form in FORMS if (found := form.fullmatch(text))), None)
    if found is None:
        raise ValueError(text)
    parts = found.groupdict()
    month = MONTHS[parts["name"]] if parts.get("name") in MONTHS else int(parts.get("month") or 0)
    hour, minute, second = (int(parts[name] or 0) for name in ("hour", "minute", "second"))
    when = datetime(int(parts["year"]), month, int(parts["day"]), hour, minute, second)
    part = int(f"{(parts.get('part') or '0')[:6]:0<6}")
    count = (when - START) // timedelta(microseconds=1) + part
    return (count, True, parts["hour"] is None) if parts["zone"] is None else (count - _offset(parts["zone"]), False, False)


def _offset(zone: str) -> int:
    """How far a zone is ahead, in microseconds."""
    found = _OFFSET.fullmatch(zone)
    if found is None:
        return 0
    sign, hours, minutes = found.groups("0")
    if int(hours) > 23 or int(minutes) > 59:
        raise ValueError(zone)
    return (int(hours) * 60 + int(minutes)) * (60_000_000 if sign == "+" else -60_000_000)


def _zoned(pa: Any, pc: Any, text: Any) -> Any:
    return text.cast(pa.timestamp("us", "UTC")).cast(pa.int64())


def _local(pa: Any, pc: Any, text: Any) -> Any:
    return text.cast(pa.timestamp("us")).cast(pa.int64())


def _access(pa: Any, pc: Any, text: Any) -> Any:
    """Texts as access logs have them, `20/Nov/2026:13:05:00 +0000`."""
    day, month, year, time, zone = (
        pc.utf8_slice_codeunits(text, start, stop) for start, stop in ((0, 2), (3, 6), (7, 11), (12, 20), (21, 26))
    )
    number = pa.array([f"-{at:02}-" for at in MONTHS.values()]).take(pc.index_in(month, pa.array(list(MONTHS))))
    # A month of another name is null, and so is its time.
    return _zoned(pa, pc, pc.binary_join_element_wise(year, number, day, "T", time, zone, ""))


def said_in(value: Any) -> str:
    """What a value of a column says, as text."""
    try:
        found = value.as_py()
    except (OverflowError, ValueError):
        # A time of Arrow that Python has not, as the number that it is; days are 32 bits.
        found = value.cast("int32" if value.type == "date32[day]" else "int64").as_py()
    if isinstance(found, bool):
        # As Arrow, JSON and CSV have it.
        return str(found).lower()
    return found.decode("utf-8", "backslashreplace") if isinstance(found, bytes) else str(found)


def _number(text: str) -> float | None:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            pass
    return None


def _decoded(pa: Any, found: Any) -> Any:
    # `dictionary_decode` knows no views.
    values = found.dictionary
    return (values.cast(pa.string()) if pa.types.is_string_view(values.type) else values).take(found.indices)


def _count(pc: Any, flags: Any) -> int:
    return pc.sum(flags).as_py() or 0
