"""Oddities of times: seasons, peaks, zones."""

import datetime as dt
from typing import Any

from ..world import PROFILES, WORDS
from .common import black_friday, dst_day, odd, year_date


# ------------------------------------------------------------------ shapes in time
@odd("shape", min_days=9)
def weekend_business(w: Any) -> Any:
    w.week = [0.06, 0.04, 0.04, 0.08, 0.5, 3, 2.6]
    w.note("The business lives at weekends: Friday evening to Sunday carry nearly everything, weekdays are almost silent.")
    yield


@odd("shape date", min_days=4, cover=lambda R, w: black_friday(R, w) if R.random() < 0.6 else dt.date(2025, 12, R.randrange(15, 22)))
def seasonal_peak(w: Any) -> Any:
    best = max(range(w.days), key=lambda d: w.date(d).month * 100 + w.date(d).day if w.date(d).weekday() == 4 else 0)
    f = w.rng.uniform(4, 8)
    w.dayfactor[best] = f
    if best + 1 < w.days:
        w.dayfactor[best + 1] = f / 2
    w.note(f"Seasonal peak: {w.date(best)} has about {f:.0f} times the usual traffic (sale), the day after still half of it.")
    yield


@odd("shape", min_days=2)
def night_business(w: Any) -> Any:
    w.profile = list(PROFILES["night"])
    w.week = [1, 1, 1, 1, 1, 0.9, 0.8]
    w.note("A night business (bakeries, wholesale markets, newspapers): people work from 00:00 to 05:00 local time; days are quiet.")
    yield


@odd("shape date", min_days=5, cover=year_date(5, 1))
def public_holiday(w: Any) -> Any:
    d = next((i for i in range(w.days) if (w.date(i).month, w.date(i).day) == (5, 1)), 0)
    w.dayfactor[d] = 0.06
    if d + 1 < w.days and w.date(d + 1).weekday() == 4:
        w.dayfactor[d + 1] = 0.3
    w.note(f"Public holiday on {w.date(d)}: nearly no people, machines go on.")
    yield


@odd("spike")
def tv_spot(w: Any) -> Any:
    R = w.rng
    ts = []
    for _ in range(R.randint(1, 4)):
        t = w.at(R.randrange(w.days), R.choice((18.75, 19.9, 20.25, 21.5)))
        w.spikes.append((t, R.uniform(6, 18), R.uniform(0.02, 0.07)))
        ts.append(w.say(t))
    w.note("TV spots with a link: crowds within minutes at " + "; ".join(ts) + ".")
    yield


@odd("shape", min_days=6)
def product_launch_ramp(w: Any) -> Any:
    g = w.rng.uniform(1.12, 1.35)
    for d in range(w.days):
        w.dayfactor[d] = g**d
    w.note(f"Young product that grows by {100 * (g - 1):.0f} % a day over the whole log.")
    yield


@odd("date tz", min_days=3, dst=True, cover=dst_day)
def dst_change(w: Any) -> Any:
    w.style["tz"] = "L"
    offs = {w.offset(w.at(d, 12)) for d in range(w.days)}
    day = next((w.date(d) for d in range(w.days) if w.offset(w.at(d, 12)) != w.offset(w.at(d, 0))), w.first)
    w.note(
        f"Local time stamps with a change of daylight saving time on {day}: offsets {', '.join(f'{o / 3600:+g}' for o in sorted(offs))}; an hour is missing or twice there, nightly jobs seem moved."
    )
    yield


@odd("tz")
def mixed_zone_pods(w: Any) -> Any:
    w.style["tz_by_inst"] = lambda inst: "L" if sum(map(ord, inst)) % 2 else "Z"
    if w.zone[0] == "UTC":
        w.zone = ("Europe/Sofia", 2, "eu")
        w._times()
    w.note("Half of the pods write local time with its offset, the others Z: the text of the times jumps, the instants are in order.")
    yield


@odd("order")
def shipped_out_of_order(w: Any) -> Any:
    yield
    R = w.rng
    lag: dict[Any, Any] = {}

    def shuffle(rows: Any) -> Any:
        rows.sort(key=lambda r: r[0] + lag.setdefault(r[9], R.uniform(0, 25)) + R.uniform(0, 3))

    w.post_rows.append(shuffle)
    w.note("Lines of the pods are shipped with different delays: the file is up to about 30 seconds out of order.")


@odd("shape date tz", min_days=8, zones=["Asia/Kolkata", "Asia/Tokyo"])
def far_away_zone(w: Any) -> Any:
    w.style["tz"] = "Z"
    w.note(f"The customers live in {w.zone[0]} while the log is in UTC: office hours look like night work.")
    yield


@odd("monday", min_days=8, share=0.08, domains=["freight", "clinic", "estate", "hr", "school", "lingo"])
def monday_stampede(w: Any) -> Any:
    w.style["proactive"] = 0.1
    yield
    R = w.rng
    days = [d for d in range(w.days) if w.date(d).weekday() == 0]
    us = w.users[:]
    for d in days:
        for _ in range(w.extra(0.08) // (6 * max(1, len(days)))):
            w.sched(w.at(d, 8) + R.uniform(0, 900), w.session, R.choice(us), w.apps[0], 6)
    w.note("Tabs kept open over the weekend: each Monday from 08:00 to 08:15 a crowd of expired_token, each refreshed at once.")


@odd("spike", domains=["shop", "stream", "ticket", "game", "school"], share=0.1)
def newsletter(w: Any) -> Any:
    yield
    R = w.rng
    t0 = w.at(R.randrange(w.days), R.choice((7, 10, 18)))
    c = [r for r in w.routes if r.method == "GET" and len(r.params) == 1 and w.owners.get(r.params[0]) == "p" and "u" in r.roles]
    r = R.choice(c)
    i = w.getid(r.params[0], w.keyclients[0])

    def go(t: Any) -> Any:
        u = R.choice(w.users)
        x = w.actor(u, R.choice(w.apps))
        w.do(t, r, x, ids={r.params[0]: i}, q="utm_source=newsletter&utm_campaign=" + R.choice(WORDS), addr=R.choice(u.addrs)(t))

    for _ in range(w.extra(0.1)):
        w.sched(t0 + R.expovariate(1 / 5400), go)
    w.note(f"A newsletter at {w.say(t0)}: a large part of all users opens the one object {i} ({r.tmpl}).")
