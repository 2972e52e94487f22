"""Draws the charts of a report to SVG with Vega-Lite and vl-convert, in the colours of the page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import accumulate
from math import ceil
from typing import Any, NamedTuple, Protocol

import vl_convert


VERSION = "6.4"
# vl-convert includes this font, so text has the same width on every machine. It is as wide as Arial.
FONT = "Liberation Sans"
# A chart is drawn for a wide page and for a narrow one; text has the same size in both.
WIDTHS = {"wide": 560, "narrow": 330}
ROW_HEIGHT = 32
MOST_BARS = 8
# The share of a row's width for its value.
VALUE_SHARE = 0.46

CHART = {
    "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
    "background": None,
    "padding": 0,
    "autosize": {"type": "fit-x", "contains": "padding"},
    "config": {"aria": False, "font": FONT, "text": {"fontSize": 13}, "view": {"stroke": None}},
}
TICKS = 4
# Larger numbers are too long for an axis, which then uses units such as 80k.
LONG_NUMBER = 10_000
SHORT_NUMBERS = ((10**12, " tn"), (10**9, " bn"), (10**6, "M"), (10**3, "k"), (1, ""))
# Larger numbers have no well-known unit, so the axis uses powers of ten.
HUGE_NUMBER = 10**15
# The highest bar of a row in `lanes`, and the height of a row in `matrix`.
LANE, CELL = 14, 20
# The longest names at the sides of a matrix, in pixels.
LABEL = 100
LONGEST = 1 << 53
PATH, DIGITS = re.compile(r"<path [^>]*>"), re.compile(r"(\d\.\d)\d{2,}")
# What nobody hears in a drawing that is hidden from readers, the font, which the page's style names, and classes other than those of bars,
# areas and what belongs to an axis.
KEPT = r'class="mark-(?:rect|area|text role-axis-label|rule role-axis-domain)'
TAG, UNUSED = re.compile(r"<\w[^>]*>"), re.compile(rf' (?!{KEPT})(?:role|class|aria-[a-z]+|xmlns:xlink|font-family)="[^"]*"| role-mark[^"]*(?=")')
AXIS = {"title": None, "labelColor": "var(--quiet)", "labelFontSize": 12}


class Series(NamedTuple):
    """The meaning of a colour. `colour` is a CSS variable of the page."""

    name: str
    colour: str


class Spanning(Protocol):
    """The span of time of a bar in a timeline."""

    @property
    def start(self) -> datetime: ...
    @property
    def end(self) -> datetime: ...


class Bar(NamedTuple):
    """A row of a bar chart: its label, its value in words, and the number of each series."""

    label: str
    value: str
    numbers: Sequence[int]


def bars(rows: Sequence[Bar], series: Sequence[Series]) -> list[str]:
    """Draws horizontal bars, each under its label and value, as SVG in each of `WIDTHS`."""
    rows = rows[:MOST_BARS]
    texts = [{"row": at, "label": row.label, "value": row.value} for at, row in enumerate(rows)]
    parts = [part for at, row in enumerate(rows) for part in _parts({"row": at}, row.numbers, series)]
    location = {"field": "row", "type": "ordinal", "axis": None}

    def words(field: str, align: str, x: int | str, limit: float, colour: str) -> dict[str, Any]:
        mark = {"type": "text", "align": align, "baseline": "bottom", "dy": 3, "limit": limit, "color": colour}
        text = {"field": field, "type": "nominal"}
        return {"data": {"values": texts}, "mark": mark, "encoding": {"y": location, "x": {"value": x}, "text": text}}

    def spec(width: int) -> dict[str, Any]:
        of_value = width * VALUE_SHARE
        number = {"field": "from", "type": "quantitative", "axis": None, "scale": {"nice": False}}
        bar = {
            "data": {"values": parts},
            "mark": {"type": "bar", "height": 10, "yOffset": 11},
            "encoding": {"y": location, "x": number, "x2": {"field": "to"}, "color": _colours(series)},
        }
        label = words("label", "left", 0, width - of_value - 8, "var(--ink)")
        value = words("value", "right", "width", of_value, "var(--quiet)")
        # Letters such as Arial's `w` extend slightly to the left of their text.
        return {"width": width, "height": {"step": ROW_HEIGHT}, "padding": {"left": 1, "right": 1}, "layer": [bar, label, value]}

    return _draw(spec)


def timeline(spans: Sequence[Spanning], numbers: Sequence[Sequence[int]], series: Sequence[Series], ticks: str) -> list[str]:
    """Draws a bar for each span of time, with a part for each series, as SVG in each of `WIDTHS`.

    `ticks` is the `strftime` format of times on the axis.
    """
    parts = [part for span, of_span in zip(spans, numbers) for part in _parts({"start": _utc(span.start), "end": _utc(span.end)}, of_span, series)]

    most = max(map(sum, numbers), default=0)
    unit, short = next((size, name) for size, name in SHORT_NUMBERS if most > LONG_NUMBER and most >= size or size == 1)
    label = f"format(datum.value / {unit}, ',.4~f') + (datum.value ? '{short}' : '')" if most < HUGE_NUMBER else "format(datum.value, '.3~e')"
    # Counts are integers, so small axes have only integer ticks.
    ticks_of_numbers = {"values": list(range(most + 1))} if most < TICKS else {"tickCount": TICKS}

    def spec(width: int) -> dict[str, Any]:
        time = _time(spans, ticks, width)
        number_axis = {**AXIS, "domain": False, "ticks": False, "gridColor": "var(--rule)", "labelExpr": label, **ticks_of_numbers}
        return {
            "width": width,
            "height": 190,
            # If neither font is installed, another one might be wider.
            "padding": {"left": 8, "right": 24, "top": 6, "bottom": 4},
            "data": {"values": parts},
            "mark": {"type": "rect", "xOffset": 0.5, "x2Offset": -0.5},
            "encoding": {
                "x": {"field": "start", **time},
                "x2": {"field": "end"},
                "y": {"field": "from", "type": "quantitative", "axis": number_axis},
                "y2": {"field": "to"},
                "color": _colours(series),
            },
        }

    return _draw(spec)


def lanes(rows: Sequence[Bar], spans: Sequence[Spanning], series: Series, ticks: str) -> list[str]:
    """Draws a timeline for each row, under its label and value, as SVG in each of `WIDTHS`. Its numbers are those of the spans, and
    each row has its own scale.
    """
    rows = rows[:MOST_BARS]
    height = ROW_HEIGHT * len(rows)
    texts = [{"y": ROW_HEIGHT * at + ROW_HEIGHT - LANE - 2, "label": row.label, "value": row.value} for at, row in enumerate(rows)]
    # One outline for each row, because a mark for each span would make the page much longer.
    starts = [_utc(time) for time in (*(span.start for span in spans), spans[-1].end)]
    outlines = [
        {"row": at, "time": start, "y": ROW_HEIGHT * (at + 1) - (max(2, LANE * count / max(row.numbers)) if count else 0), "bottom": ROW_HEIGHT * (at + 1)}
        for at, row in enumerate(rows)
        for start, count in zip(starts, (*row.numbers, 0))
    ]
    # In pixels from the top.
    down = {"field": "y", "type": "quantitative", "axis": None, "scale": {"domain": [0, height], "range": [0, height], "nice": False}}

    def words(field: str, align: str, x: int | str, limit: float, colour: str) -> dict[str, Any]:
        mark = {"type": "text", "align": align, "baseline": "bottom", "limit": limit, "color": colour}
        return {"data": {"values": texts}, "mark": mark, "encoding": {"y": down, "x": {"value": x}, "text": {"field": field, "type": "nominal"}}}

    def spec(width: int) -> dict[str, Any]:
        area = {
            "data": {"values": outlines},
            "mark": {"type": "area", "interpolate": "step-after", "color": f"var(--{series.colour})"},
            "encoding": {
                "x": {"field": "time", **_time(spans, ticks, width)},
                "y": down,
                "y2": {"field": "bottom"},
                "detail": {"field": "row", "type": "nominal"},
            },
        }
        inner = width - 32
        of_value = inner * VALUE_SHARE
        label = words("label", "left", 0, (inner - of_value) * 0.85, "var(--ink)")
        value = words("value", "right", "width", of_value, "var(--quiet)")
        return {"width": width, "height": height, "padding": {"left": 8, "right": 24, "top": 1, "bottom": 4}, "layer": [area, label, value]}

    return _draw(spec)


def matrix(rows: Sequence[str], columns: Sequence[str], cells: Sequence[tuple[int, int, Series]], series: Sequence[Series]) -> list[str]:
    """Draws cells at rows and columns, in the colours of their series, as SVG in each of `WIDTHS`."""
    values = [{"row": row, "column": column, "series": of.name} for row, column, of in cells]

    def axis(names: Sequence[str], limit: int, angle: int) -> dict[str, Any]:
        # By number, because two names can be equal once they are cut. Names are JSON strings in the expression, so they can't be code.
        words = {**AXIS, "labelAngle": angle, "labelLimit": limit, "labelExpr": f"{json.dumps(names)}[datum.value]", "domain": False, "ticks": False}
        return {"type": "ordinal", "scale": {"domain": list(range(len(names))), "paddingInner": 0.15}, "axis": words}

    def spec(width: int) -> dict[str, Any]:
        return {
            "width": width,
            "height": {"step": CELL},
            # If neither font is installed, another one might be wider.
            "padding": {"left": 24, "right": 8, "top": 1, "bottom": 20},
            "data": {"values": values},
            "mark": {"type": "rect"},
            "encoding": {"y": {"field": "row", **axis(rows, LABEL, 0)}, "x": {"field": "column", **axis(columns, LABEL, -90)}, "color": _colours(series)},
        }

    return _draw(spec)


def _time(spans: Sequence[Spanning], ticks: str, width: int) -> dict[str, Any]:
    """An axis of times, on a chart of this width."""
    # Without hours in the format, ticks between days would repeat the day.
    days = (spans[-1].end - spans[0].start).days
    is_by_day = "%d" in ticks and "%H" not in ticks
    count = {"interval": "day", "step": max(1, ceil(days * 70 / width))} if is_by_day and days < 28 else width // 110
    axis = {
        **AXIS,
        "grid": False,
        "labelFlush": False,
        "labelOverlap": "greedy",
        "labelSeparation": 8,
        "domainColor": "var(--rule)",
        "tickColor": "var(--rule)",
    }
    return {"type": "temporal", "scale": {"type": "utc"}, "axis": {**axis, "format": ticks, "tickCount": count}}


def _parts(where: dict[str, Any], numbers: Sequence[int], series: Sequence[Series]) -> list[dict[str, Any]]:
    """The parts of a bar, one after the other."""
    # JSON readers don't support integers beyond 64 bits, and a bar's length doesn't need them.
    ends = [0, *(end if end < LONGEST else float(end) for end in accumulate(numbers))]
    return [{**where, "from": start, "to": end, "series": of.name} for start, end, of in zip(ends, ends[1:], series)]


def _utc(time: datetime) -> str:
    return f"{time.isoformat(timespec='milliseconds')}Z"


def _colours(series: Sequence[Series]) -> dict[str, Any]:
    scale = {"domain": [of.name for of in series], "range": [f"var(--{of.colour})" for of in series]}
    return {"field": "series", "type": "nominal", "scale": scale, "legend": None}


def _draw(spec: Callable[[int], dict[str, Any]]) -> list[str]:
    drawn = []
    for name, width in WIDTHS.items():
        svg = vl_convert.vegalite_to_svg({**CHART, **spec(width)}, vl_version=VERSION)
        # A tenth of a pixel is exact enough. The pattern matches only outlines, because `<` is escaped in text.
        svg = PATH.sub(lambda path: DIGITS.sub(lambda number: number[1], path[0]), svg)
        svg = TAG.sub(lambda tag: UNUSED.sub("", tag[0]), svg).replace('<path d="" display="none"/>', "")
        # The page's style decides which drawing is visible, and the page describes it.
        drawn.append(svg.replace("<svg", f'<svg class="{name}" aria-hidden="true"', 1))
    return drawn
