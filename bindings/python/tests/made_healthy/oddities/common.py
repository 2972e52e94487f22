"""What the oddities share."""

import datetime as dt
from collections.abc import Callable
from typing import Any

from ..world import Actor

ODD: dict[str, Any] = {}

Job = Callable[[Any], Any]


def odd(groups: Any = "", share: Any = 0.0, **hints: Any) -> Callable[[Job], Job]:
    def deco(fn: Job) -> Job:
        ODD[fn.__name__] = dict(fn=fn, groups=set(groups.split()), share=share, hints=hints)
        return fn

    return deco


def year_date(m: Any, d: Any) -> Any:
    return lambda R, w: dt.date(R.choice((2024, 2025)), m, d)


def black_friday(R: Any, w: Any) -> Any:
    y = R.choice((2024, 2025))
    d = dt.date(y, 11, 30)
    while d.weekday() != 4 or d.day > 29 or d.day < 22:
        d -= dt.timedelta(days=1)
    return d


def month_first(R: Any, w: Any) -> Any:
    return dt.date(R.choice((2024, 2025)), R.randrange(2, 13), 1)


def dst_day(R: Any, w: Any) -> Any:
    y, spring = R.choice((2024, 2025, 2026)), R.random() < 0.5
    rule = w.zone[2] or "eu"
    if rule == "eu":
        d = dt.date(y, 3 if spring else 10, 31)
        while d.weekday() != 6:
            d -= dt.timedelta(days=1)
    else:
        d = dt.date(y, 3, 8) if spring else dt.date(y, 11, 1)
        while d.weekday() != 6:
            d += dt.timedelta(days=1)
    return min(d, dt.date(2026, 10, 25))


def anon(w: Any, client: Any = "", addr: Any = None) -> Any:
    x = Actor(client, "", [], "", "", "u", addr or w.fixed())
    x.state = "none"
    return x


def biggest_key(w: Any) -> Any:
    return max(w.keyclients, key=lambda k: k.weight)


def page(w: Any, r: Any, i: Any, size: Any = 100) -> Any:
    return {
        "page": f"page={i + 1}&per_page={size}",
        "offset": f"limit={size}&offset={i * size}",
        "cursor": f"limit={size}" + (f"&cursor={w.b64({'after': i * size})}" if i else ""),
    }[w.style["paging"]]


def many_gets(w: Any, t: Any, x: Any, r: Any, ids: Any, gap: Any) -> Any:
    R = w.rng
    for i in ids:
        t, s = w.do(t, r, x, ids={r.params[0]: i}, q="")
        t += R.uniform(0.5, 1.5) * gap
        if t > w.T1:
            break
    return t
