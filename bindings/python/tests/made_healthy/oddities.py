"""The oddities. Each is a generator: before the first yield the world is bent, after it jobs are planned,
after the second one the rows are known. All of it is healthy."""

import datetime as dt
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from .world import DAY, PROFILES, WORDS, Actor, Route

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


# ------------------------------------------------------------------ customers
@odd("customers", domains=["freight", "clinic", "pay", "geo", "meter", "lingo", "estate", "hr", "weather"])
def single_huge_customer(w: Any) -> Any:
    w.size_skew = 3.2
    yield
    for k in w.accounts[0].clients:
        k.weight *= 8
    w.note(f"One customer, account {w.accounts[0].id}, is about nine tenths of all traffic.")


@odd("office", domains=["freight", "clinic", "school", "estate", "hr", "lingo"])
def office_nat(w: Any) -> Any:
    yield
    ip = w.ip4()
    n = 0
    for a in w.accounts[:3]:
        for u in a.users:
            u.addrs = [w.fixed(ip)]
            n += 1
    w.note(f"Three sister companies share one building: {n} users behind the one address {ip}.")


@odd("customers2", share=0.12, min_days=3, mid_week=True, domains=["freight", "pay", "geo", "meter", "estate", "hr", "lingo", "shop", "clinic"])
def onboarding(w: Any) -> Any:
    w.peruser = False
    yield
    R = w.rng
    day = min(w.days - 1, max(1, w.days // 2))
    t0 = w.at(day, R.uniform(9, 11))
    a = w.newaccount("new-" + R.choice(WORDS))
    a.office = w.ip4()
    k = w.new_key(a, client=a.name + "-migration", scopes=[s for s in w.has("k")])
    full = list(k.scopes)
    posts = [r for r in w.routes if r.method in ("POST", "PUT") and "k" in r.roles]
    main = max(posts, key=lambda r: (r.weight if r.creates else r.weight / 4) / (1 + (r.orbs or 0)))
    k.setscopes([s for s in w.has("k") if s != main.scope])
    k.since = t0 + 3000
    w.keyclients.append(k)
    k.weight = biggest_key(w).weight
    for _ in range(R.randint(4, 14)):
        u = w.new_user(a)
        u.since = t0 + 7200
    n = w.extra(0.12)

    def first(t: Any) -> Any:
        y = Actor(k.client, "", [], "api_key", "", "k", k.addr)
        y.state = "invalid"
        for i in range(R.randint(2, 5)):  # the key pasted with a blank at its end
            w.call(t + i * R.uniform(8, 40), main, y)
        t += 400
        for i in range(R.randint(3, 8)):
            w.call(t + i * R.uniform(10, 60), main, k)  # scope still missing

    w.sched(t0, first)

    def grant(t: Any) -> Any:
        k.setscopes(sorted(full))
        i, t = 0, t + 30
        while i < n and t < w.T1:
            t, s = w.do(t, main, k)
            t += R.expovariate(1 / (w.rng.choice((0.6, 0.6, 1.2)) * min(1, 20000 / n)))
            i += 1

    w.sched(t0 + 2400, grant)
    w.note(
        f"New customer {a.id} comes on {w.say(t0)}: first a few 401 (key pasted wrongly) and 403 (scope {main.scope} not yet granted), then a bulk import of about {n} calls {main.method} {main.tmpl}, then normal work."
    )


@odd("customers2 export", share=0.1, domains=["freight", "pay", "estate", "hr", "lingo", "meter", "geo"], min_days=4)
def customer_leaves(w: Any) -> Any:
    yield
    R = w.rng
    a = w.accounts[1]
    day = max(1, int(w.days * 0.6))
    t0 = w.at(day, 10)
    k = R.choice(a.clients)
    for u in a.users:
        u.until = t0 + 8 * 3600
    for c in a.clients:
        c.until = t0
    items = [
        r
        for r in w.usable(k)
        if r.method == "GET" and len(r.params) == 1 and w.owners.get(r.params[0], "a") == "a" and r.params[0] not in ("date", "month", "currency", "language")
    ]
    r = R.choice(items or w.usable(k))
    ids = sorted({w.newid(r.params[0]) for _ in range(w.extra(0.1))}) if r.params else [None] * 300

    def export(t: Any) -> Any:
        for i in ids:
            t, s = w.do(t, r, k, ids={r.params[0]: i} if i else None, q="")
            t += R.uniform(0.05, 0.5)
        w.tags["bye"] = t
        y = Actor(k.client, "", [], "api_key", "", "k", k.addr)
        y.state = "invalid"
        for h in range(2, 30):  # a forgotten cron job
            w.call(t + h * 3600 * 6, r, y)

    w.sched(t0, export)
    w.sched(t0 + 8 * 3600, lambda t: setattr(k, "state", "invalid"))
    w.note(
        f"Customer {a.id} ended the contract: exports all own data with {k.client} from {w.say(t0)}, then the key is closed; a forgotten cron job gets invalid_token each six hours."
    )


@odd("travel", min_days=5, share=0.04)
def travellers(w: Any) -> Any:
    yield
    R = w.rng
    team = R.sample(w.staff, min(len(w.staff), R.randint(2, 5)))
    names = []
    for u in team:
        places = [[w.ip4(), w.ip4()] for _ in range(w.days + 2)]

        def where(t: Any, places: Any = places) -> Any:
            return places[max(0, min(w.days, int((t - w.T0) // DAY)))][int(t // 9000) % 2]

        u.addrs = [where]
        for d in range(w.days):
            shift = R.choice((-8, -6, 0, 5, 8))
            for _ in range(R.randint(1, 4)):
                w.sched(w.at(d, (R.uniform(7, 23) - shift) % 24), w.session, u, "backoffice", R.randint(4, 20), where)
        names.append(u.subject)
    w.note(
        f"Sales people travel ({', '.join(names)}): hotels, airports, another town or country and other hours each day, there the hotel's and the customer's network in turn."
    )


@odd("vpn", share=0.03)
def vpn_and_office(w: Any) -> Any:
    yield
    R = w.rng
    egress = [w.ip4() for _ in range(3)]
    for u in w.staff + w.admins:
        u.addrs = [w.fixed(w.staff_office)] + [w.fixed(e) for e in egress]
    for _ in range(w.extra(0.03) // 12 + 1):
        u = R.choice(w.staff)
        t = w.at(w.workday(), R.uniform(8, 17))
        w.sched(t, w.session, u, "backoffice", 8, w.fixed(w.staff_office))
        w.sched(t + R.uniform(200, 900), w.session, u, "backoffice", 6, w.fixed(R.choice(egress)))
    w.note(f"Staff switch the company VPN on and off: one subject within minutes at the office {w.staff_office} and at exits abroad ({', '.join(egress)}).")


@odd("kiosk", share=0.2, domains=["freight", "clinic", "hr", "school", "shop", "ticket", "estate"])
def shared_kiosk(w: Any) -> Any:
    w.peruser = False
    yield
    R = w.rng
    a = R.choice(w.accounts[:3])
    ip = a.office or w.ip4()
    us = [w.new_user(a) for _ in range(R.randint(15, 45))]
    for u in us:
        u.addrs, u.weight = [w.fixed(ip)], 0.3
    for _ in range(w.extra(0.2) // 6):
        d = R.randrange(w.days)
        w.sched(
            w.at(d, R.choice((6, 14, 22)) + abs(R.gauss(0, 0.4))) if R.random() < 0.7 else w.at(d, R.uniform(0, 24)),
            w.session,
            R.choice(us),
            f"kiosk-{R.randrange(1, 5):02d}",
            R.randint(2, 9),
        )
    w.note(f"Shift workers of {a.id} share four kiosks at {ip}: {len(us)} subjects on one device in a row at 06:00, 14:00 and 22:00.")


@odd("customers2", share=0.1, domains=["geo", "lingo", "weather", "pay", "freight", "meter"])
def expensive_month_end(w: Any) -> Any:
    yield
    R = w.rng
    k = biggest_key(w)
    r = max((r for r in w.routes if "k" in r.roles and r.orbs and r.method == "POST"), key=lambda r: r.orbs)
    k.setscopes(sorted(k.scopes | {r.scope}))
    n, t0 = w.extra(0.1), w.at(w.days - 1, R.uniform(6, 12))

    def run(t: Any) -> Any:
        for _ in range(n):
            t, s = w.do(t, r, k)
            t += R.expovariate(1 / min(3, 30000 / n))

    w.sched(t0, run)
    w.note(
        f"On the last day {k.client} ({k.account}) runs its yearly report: about {n} calls {r.method} {r.tmpl} at {r.orbs} orbs, many times its usual spending; announced."
    )


@odd("class", share=0.15, domains=["school"])
def class_starts(w: Any) -> Any:
    yield
    R = w.rng
    n = 0
    for d in w.weekdays() or [0]:
        for hour in (8, 8.83, 9.75, 10.6, 11.5):
            us = R.sample(w.users, min(len(w.users), R.randint(18, 32)))
            ip = w.ip4()
            for u in us:
                if n * 6 < w.extra(0.15):
                    w.sched(w.at(d, hour) + abs(R.gauss(20, 25)), w.session, u, "web", R.randint(3, 9), w.fixed(ip))
                    n += 1
    w.note("School hours: whole classes log in within a minute from the one address of their school, five times a day.")


# ------------------------------------------------------------------ tokens
@odd("ttl")
def short_tokens(w: Any) -> Any:
    w.style["ttl"], w.style["proactive"] = w.rng.choice((120, 180, 300)), 0.05
    w.note(
        f"Session tokens live {w.style['ttl']} seconds and the clients refresh only on 401 expired_token: many of these, each followed at once by the same call with success."
    )
    yield


@odd("rotation", share=0.02)
def key_rotation(w: Any) -> Any:
    yield
    R = w.rng
    said = []
    for k in R.sample(w.keyclients, min(len(w.keyclients), R.randint(1, 3))):
        t0 = w.at(w.workday(), R.uniform(9, 16))
        y = Actor(k.client, "", [], "api_key", "", "k", k.addr)
        y.state = "invalid"
        n = R.randint(40, 220)

        def burst(t: Any, k: Any = k, y: Any = y, n: Any = n) -> Any:
            rs = w.usable(k)
            e = R.uniform(120, 600)
            for _ in range(n):
                r = R.choices(rs, k.rw)[0]
                (w.call(t + R.uniform(0, e), r, y) if R.random() < 0.7 else w.call(t + R.uniform(0, e), r, k))

        w.sched(t0, burst)
        said.append(f"{k.client} at {w.say(t0)}")
    w.note("Planned key rotation; workers with the old key get 401 invalid_token for some minutes until they reload: " + "; ".join(said) + ".")


@odd("optional", min_days=3)
def nightly_optional_403(w: Any) -> Any:
    yield
    R = w.rng
    k = R.choice(w.keyclients)
    miss = [r for r in w.routes if r.scope not in k.scopes and r.method == "GET"] or [r for r in w.routes if "k" not in r.roles]
    r = R.choice(miss)
    k.setscopes([s for s in k.scope_text.split() if s != r.scope])
    hh = R.uniform(0, 4)
    for d in range(w.days):

        def night(t: Any) -> Any:
            w.call(t, r, k)
            w.key_burst(t + 1, k, R.randint(15, 40))

        w.sched(w.at(d, hh) + R.uniform(0, 20), night)
    w.note(
        f"Integration {k.client} tries the optional {r.method} {r.tmpl} each night about {int(hh):02d}:{int(hh % 1 * 60):02d} local, gets 403 (has no {r.scope}), and goes on without."
    )


@odd("staff", share=0.2)
def staff_many_roles(w: Any) -> Any:
    yield
    R = w.rng
    sets = [w.has("s"), w.has("a"), w.has("s")[:2], sorted(set(w.has("s") + w.has("a"))), w.has("u")]
    us = R.sample(w.staff, min(len(w.staff), 5))
    for _ in range(w.extra(0.2) // 12):
        u, i = R.choice(us), R.randrange(5)
        t = w.at(w.workday(), w.hour(PROFILES["office"]))

        def go(t: Any, u: Any = u, i: Any = i) -> Any:
            x = w.actor(u, ["support-desk", "admin-console", "wallboard", "back-office-super", "web"][i])
            if x.scope_text != " ".join(sets[i]):
                x.setscopes(sets[i])
            x.exp = max(x.exp, 1)
            w.session(t, u, x.client, R.randint(4, 20))

        w.sched(t, go)
    w.note(
        f"Small company, staff with several hats: {', '.join(u.subject for u in us)} work as support, admin, and plain user on one day, with other scopes in each tool."
    )


@odd("superservice", share=0.2)
def service_all_scopes(w: Any) -> Any:
    yield
    R = w.rng
    x = w.new_service(R.choice(["core-monolith", "legacy-bridge", "bff"]), list(w.scopes))
    x.role = "b"
    x.routes = list(w.routes)
    x.rw = [r.weight for r in w.routes]
    for _ in range(w.extra(0.2) // 6):
        w.sched(w.at(R.randrange(w.days), w.hour()), w.key_burst, x)
    w.note(f"The service {x.client} was the monolith: its account owns all {len(w.scopes)} scopes and it calls every route, as designed.")


@odd("upgrade", min_days=4, share=0.03)
def plan_upgrade(w: Any) -> Any:
    yield
    R = w.rng
    k = R.choice(w.keyclients[: max(3, len(w.keyclients) // 3)])
    s = R.choice([s for s in w.has("k")])
    k.setscopes([o for o in w.has("k") if o != s])
    rs = [r for r in w.routes if r.scope == s]
    t0 = w.at(max(1, w.days // 2), R.uniform(9, 16))
    for i in range(R.randint(3, 9)):
        w.sched(t0 - R.uniform(600, 80000), lambda t: w.call(t, R.choice(rs), k))
    w.sched(t0, lambda t: k.setscopes(w.has("k")))
    for i in range(w.extra(0.03)):
        w.sched(R.uniform(t0 + 60, w.T1), lambda t: w.do(t, R.choice(rs), k))
    w.note(f"{k.client} ({k.account}) tried {s} without having it (a handful of 403), bought the bigger plan at {w.say(t0)}, and uses it since.")


@odd("stepup", share=0.08, domains=["shop", "freight", "clinic", "school", "stream", "ticket", "estate", "game", "hr"])
def incremental_consent(w: Any) -> Any:
    yield
    R = w.rng
    full = w.has("u")
    s = R.choice([s for s in full if w.scopes[s] == 0][1:] or full)
    small = [o for o in full if o != s]
    rs = [r for r in w.routes if r.scope == s and "u" in r.roles]
    for _ in range(w.extra(0.08) // 9):
        u = R.choice(w.users)

        def go(t: Any, u: Any = u) -> Any:
            x = Actor("web", u.subject, small, "session", u.account.id, "u", u.addrs[0])
            x.user, x.exp, x.ttl = u, t + 3600, 3600
            w.key_burst(t, x, R.randint(2, 6))
            t += 60
            r = R.choice(rs)
            w.call(t, r, x)
            x.setscopes(full)
            t += R.uniform(4, 25)
            w.call(t, r, x)
            w.key_burst(t + 3, x, R.randint(1, 4))

        w.sched(w.at(R.randrange(w.days), w.hour()), go)
    w.note(
        f"Step-up consent: the web app asks for {s} only when needed; the user gets one 403 insufficient_scope, consents, and the same call succeeds seconds later with a larger token."
    )


@odd("behalf", share=0.15)
def service_on_behalf(w: Any) -> Any:
    yield
    R = w.rng
    names = R.sample(["assistant", "voice-gateway", "mail-to-api", "chat-connector"], 2)
    scopes = w.has("u")
    for _ in range(w.extra(0.15) // 4):
        u, n = R.choice(w.users), R.choice(names)

        def go(t: Any, u: Any = u, n: Any = n) -> Any:
            x = Actor(n, u.subject, scopes, "service", u.account.id, "u", ins[n])
            x.user = u
            w.key_burst(t, x, R.randint(1, 8))

        w.sched(w.at(R.randrange(w.days), w.hour()), go)
    ins = {n: w.internal() for n in names}
    w.note(f"Services {' and '.join(names)} act on behalf of users: service tokens with a subject, thousands of subjects from one internal address each.")


@odd("skew", share=0.1)
def clock_skew_devices(w: Any) -> Any:
    yield
    R = w.rng
    ks = []
    for i in range(R.randint(5, 12)):
        a = R.choice(w.accounts)
        k = w.new_key(a, client=f"terminal-{R.randrange(1000, 9999)}", addr=w.home())
        k.kind, k.ttl, k.exp, k.proactive = "service", 900, 0, 0
        ks.append(k)
    for _ in range(w.extra(0.1) // 5):
        w.sched(w.at(R.randrange(w.days), w.hour()), w.key_burst, R.choice(ks), R.randint(2, 7))
    w.note(
        f"{len(ks)} terminals with a wrong clock think their token is still good: they start nearly each visit with one 401 expired_token and refresh at once."
    )


@odd("oldapp", share=0.06)
def old_app_version(w: Any) -> Any:
    yield
    R = w.rng
    old = [R.choice(["/v0/sync", "/legacy/session", "/v1/me/badges", "/api/old/feed"]), "/v0/config"]
    us = R.sample(w.users, min(len(w.users), 60))
    for _ in range(w.extra(0.06) // 4):
        u = R.choice(us)

        def go(t: Any, u: Any = u) -> Any:
            x = w.actor(u, "android-2.1.0")
            x.exp = max(x.exp, t + 900)
            for p in old:
                w.raw(
                    t,
                    "GET",
                    p,
                    x.client,
                    x.subject,
                    x.scope_text,
                    "session",
                    R.choice((410, 410, 404)),
                    x.addr(t),
                    x.account,
                    "" if w.style["free"] == "" else "0",
                    "",
                )
                t += 0.2
            w.session(t + 1, u, "android-2.1.0", 3)

        w.sched(w.at(R.randrange(w.days), w.hour()), go)
    w.note(f"About {len(us)} users never updated: android-2.1.0 still asks for the removed {', '.join(old)} (410/404) and then works normally.")


@odd("anon", share=0.08)
def first_call_without_token(w: Any) -> Any:
    w.style["anon_client"] = True
    yield
    R = w.rng
    gets = [r for r in w.routes if r.method == "GET" and "u" in r.roles and not r.params] or [r for r in w.routes if r.method == "GET"]
    r = gets[0]
    for _ in range(w.extra(0.08) // 9):
        u = R.choice(w.users)

        def go(t: Any, u: Any = u) -> Any:
            w.call(t, r, anon(w, "web", u.addrs[0]))
            w.session(t + R.uniform(4, 40), u, "web", 8)

        w.sched(w.at(R.randrange(w.days), w.hour()), go)
    w.note(f"The single page app always calls {r.method} {r.tmpl} without token to see whether somebody is logged in (401 no_token), then the user logs in.")


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


@odd("tabs", share=0.1)
def background_tabs(w: Any) -> Any:
    yield
    R = w.rng
    lists = [r for r in w.routes if r.islist and "u" in r.roles and not r.orbs] or [r for r in w.routes if "u" in r.roles and r.method == "GET"]
    r = R.choice(lists)
    us = R.sample(w.users, min(len(w.users), 8))
    step = max(60, (w.T1 - w.T0) * len(us) * 0.55 / w.extra(0.1))
    for u in us:
        for d in range(w.days):
            a, b = w.at(d, R.uniform(7, 10)), w.at(d, R.uniform(17, 34))
            x = w.actor(u, "dashboard")
            x.proactive = 0
            t = a
            while t < b:
                w.sched(t, lambda t, x=x: w.do(t, r, x, q="refresh=auto"))
                t += step + R.uniform(-0.2, 0.2)
    w.note(
        f"{len(us)} users leave a dashboard open day and night: {r.method} {r.tmpl} exactly each {step:.0f} s, with an expired_token each time the token ends."
    )


# ------------------------------------------------------------------ infrastructure
@odd("pods")
def pods_rolling(w: Any) -> Any:
    w.poplan = "rolling"
    yield
    w.note(f"Continuous deployment: {w.tags['deploys']} rolling deploys, pods start and end all day.")


@odd("pods")
def autoscaling(w: Any) -> Any:
    w.poplan, w.replicas = "autoscale", max(3, w.replicas)
    yield
    w.note(f"Autoscaling by load: {w.tags['pods']} pods lived in this log, many for minutes only.")


@odd("pods", min_days=3)
def blue_green(w: Any) -> Any:
    w.poplan = "bluegreen"
    yield
    w.note("Blue/green releases, some rolled back after minutes: " + "; ".join(w.say(c) for c in w.tags["cuts"]) + ".")


@odd("pods")
def canary(w: Any) -> Any:
    w.poplan = "canary"
    yield
    a, b, n = w.tags["canary"]
    w.note(f"A canary pod {n} takes 5 % of the calls from {w.say(a)} to {w.say(b)}.")


@odd("pods")
def serverless(w: Any) -> Any:
    w.poplan, w.replicas = "serverless", min(4, w.replicas)
    yield
    w.note(f"Functions instead of pods: {len(w.pods)} instance names, each lives 4 to 45 minutes.")


@odd("pods", min_days=2)
def region_failover(w: Any) -> Any:
    w.poplan = "regions"
    yield
    a, b = w.tags["failover"]
    w.note(f"Failover drill: the whole traffic goes to another region from {w.say(a)} to {w.say(b)}.")


@odd("window")
def maintenance(w: Any) -> Any:
    R = w.rng
    a = w.at(R.randrange(w.days), R.choice((2, 3, 4, 22, 12)))
    b = a + R.choice((10, 15, 20, 30, 45)) * 60
    w.windows.append((a, b))
    yield
    for _ in range(R.randint(20, 150)):
        w.sched(R.uniform(a, b), w.key_burst, R.choice(w.keyclients), 2)
    w.note(f"Announced maintenance from {w.say(a)}, {(b - a) / 60:.0f} minutes: 503 for all calls, no orbs, clients retry.")


@odd("window", share=0.02)
def bad_pod(w: Any) -> Any:
    w.podstyle = "stateful"
    yield
    R = w.rng
    a = w.at(w.workday(), R.uniform(9, 18))
    n = w.pod(a + 60)
    b = a + R.uniform(5, 15) * 60
    w.badpods.append((n, a, b, 0.6))
    for _ in range(w.extra(0.02) // 5):
        w.sched(R.uniform(a - 600, b), w.key_burst, R.choice(w.keyclients), 4)
    w.note(f"One pod ({n}) is ill from {w.say(a)} for {(b - a) / 60:.0f} minutes: 5xx there only, clients retry, the pod recovers.")


@odd("health", share=0.3)
def health_checks(w: Any) -> Any:
    w.style["health"] = False
    yield
    R = w.rng
    kinds = [
        ("kube-probe", "/healthz", "10.8.0.1"),
        ("kube-probe", "/readyz", "10.8.0.1"),
        ("GoogleHC", "/", "35.191.0.77"),
        ("prometheus", "/metrics", "10.12.0.9"),
    ]
    kinds = R.sample(kinds, R.randint(2, 4))
    step = (w.T1 - w.T0) * len(kinds) / w.extra(0.3)
    for n, (c, p, ip) in enumerate(kinds):
        t = w.T0 + R.uniform(0, step)
        while t < w.T1:
            w.raw(t, "GET", p, c, status=200 if R.random() < 0.9997 else 503, address=ip)
            t += step + R.uniform(-0.02, 0.02)
    w.note(
        f"Nearly a third of the log are probes without token on paths outside the policy ({', '.join(c + ' ' + p for c, p, _ in kinds)}), each {step:.0f} s."
    )


@odd("synthetic", share=0.15)
def synthetic_monitoring(w: Any) -> Any:
    yield
    R = w.rng
    x = w.new_service("uptime-robot", w.has("u") or w.has("k"), w.newaccount("synthetic-checks"))
    r1 = [r for r in w.routes if r.scope in x.scopes and r.method == "GET" and r.params] or [r for r in w.routes if r.scope in x.scopes]
    r2 = [r for r in w.routes if r.scope in x.scopes and r.islist] or r1
    ids = {p: w.newid(p) for r in r1 for p in r.params if p not in ("date", "month", "n", "z")}
    places = [w.ip4() for _ in range(5)]
    a, b = R.choice(r1), R.choice(r2)
    step = (w.T1 - w.T0) / (w.extra(0.15) / 2)
    t, i = w.T0 + 5, 0
    while t < w.T1:

        def go(t: Any, i: Any = i) -> Any:
            w.do(t, a, x, ids=ids, addr=places[i % 5], q="")
            w.do(t + 0.4, b, x, addr=places[i % 5], q="limit=1")

        w.sched(t, go)
        t, i = t + step + R.uniform(-0.1, 0.1), i + 1
    w.note(
        f"Synthetic checks from five continents: uptime-robot reads one and the same test object each {step:.0f} s day and night ({', '.join(places)}), and pays for it like others."
    )


# ------------------------------------------------------------------ kinds of traffic
@odd("poll", share=0.25)
def polling_304(w: Any) -> Any:
    yield
    R = w.rng
    free = [r for r in w.routes if r.method == "GET" and not r.orbs and "k" in r.roles]
    ks = R.sample(w.keyclients, min(len(w.keyclients), R.randint(2, 5)))
    per = w.extra(0.25) / len(ks)
    step = (w.T1 - w.T0) / per
    said = []
    for k in ks:
        r = R.choice([r for r in free if r.scope in k.scopes and not r.params] or [r for r in free if r.scope in k.scopes] or free)
        k.setscopes(sorted(k.scopes | {r.scope}))
        ids = {p: w.getid(p, k) for p in r.params}
        t = w.T0 + R.uniform(0, step)
        while t < w.T1:
            w.sched(t, lambda t, k=k, r=r, ids=ids: w.do(t, r, k, ids=ids, q="", st=304 if R.random() < 0.96 else None))
            t += step + R.uniform(-0.3, 0.3)
        said.append(f"{k.client} {r.tmpl}")
    w.note(f"Conditional polling each {step:.0f} s, nearly always 304: " + "; ".join(said) + ".")


@odd("poll", share=0.2)
def polling_404_until_ready(w: Any) -> Any:
    yield
    R = w.rng
    pairs = [
        (p, g)
        for p in w.routes
        for g in w.routes
        if p.creates and g.method == "GET" and g.params == [p.creates] and g.tmpl.endswith("}") and g.seg == p.tmpl and "k" in g.roles and "k" in p.roles
    ]
    pairs = [p for p in pairs if p[0].orbs] or pairs
    if pairs:
        p, g = R.choice(pairs)
    else:
        p = R.choice([r for r in w.routes if r.method == "POST"])
        g = R.choice([r for r in w.routes if r.method == "GET" and r.params])
    ks = R.sample(w.keyclients, min(len(w.keyclients), 4))
    for k in ks:
        k.setscopes(sorted(k.scopes | {p.scope, g.scope}))
    for _ in range(w.extra(0.2) // 10):

        def go(t: Any) -> Any:
            k = R.choice(ks)
            t, s = w.do(t, p, k, st=202 if R.random() < 0.98 else None)
            i = w.newid(g.params[0], t)
            for _ in range(R.randint(2, 16)):
                t += 3 + R.uniform(0, 0.1)
                w.do(t, g, k, ids={g.params[0]: i}, st=404, q="")
            w.do(t + 3, g, k, ids={g.params[0]: i}, st=200, q="")

        w.sched(w.at(R.randrange(w.days), w.hour()), go)
    w.note(f"{p.method} {p.tmpl} is asynchronous: clients poll {g.tmpl} each 3 s and get 404 until it is ready.")


@odd("crawl", share=0.05)
def crawlers(w: Any) -> Any:
    yield
    R = w.rng
    paths = [
        "/robots.txt",
        "/favicon.ico",
        "/sitemap.xml",
        "/apple-touch-icon.png",
        "/.well-known/security.txt",
        "/.well-known/assetlinks.json",
        "/ads.txt",
        "/",
        "/robots.txt",
        "/favicon.ico",
    ]
    bots = [f"66.249.{R.randrange(64, 96)}.{R.randrange(1, 250)}" for _ in range(6)] + [f"157.55.{R.randrange(256)}.{R.randrange(1, 250)}" for _ in range(3)]
    docs = [r for r in w.routes if r.method == "GET" and not r.params]
    for _ in range(w.extra(0.05)):
        t = R.uniform(w.T0, w.T1)
        if R.random() < 0.9 or not docs:
            p = R.choice(paths)
            w.raw(
                t,
                "GET" if R.random() < 0.95 else "HEAD",
                p,
                status=200 if p == "/robots.txt" else R.choice((404, 404, 204)) if p == "/favicon.ico" else 404,
                address=R.choice(bots) if R.random() < 0.7 else w.ip4(),
            )
        else:
            w.sched(t, lambda t: w.call(t, R.choice(docs), anon(w, "", w.fixed(R.choice(bots))), q=""))
    w.note(
        "Crawlers and browsers ask for robots.txt, favicon.ico, and the like (200/404, no token), and now and then follow a link of the documentation (401 no_token)."
    )


@odd("ids")
def very_long_ids(w: Any) -> Any:
    w.style["ids"] = "long"
    w.note("All ids are 128 hex digits (hashes): targets are very long.")
    yield


@odd("ids")
def base64_everywhere(w: Any) -> Any:
    w.style["ids"], w.style["bigquery"], w.style["paging"] = "b64", True, "cursor"
    w.note("Ids, cursors, and filters are base64 of binary or JSON: queries look like noise.")
    yield


@odd("clients", share=0.25)
def versioned_clients(w: Any) -> Any:
    yield
    R = w.rng
    fam = R.choice(["pos-terminal", "com.example.driver", "scanner-fw", "desktop-sync"])
    vs = [
        f"{fam}/{R.randint(2, 6)}.{R.randint(0, 20)}.{R.randint(0, 9)}{R.choice(['', '', '+build.' + str(R.randrange(100, 999)), '-rc1', '-beta.2'])}"
        for _ in range(R.randint(40, 200))
    ]
    for _ in range(w.extra(0.25) // 7):
        u = R.choice(w.users)
        k = getattr(u, "ver", None)
        if not k or R.random() < 0.05:
            k = u.ver = R.choice(vs)
        w.sched(w.at(R.randrange(w.days), w.hour()), w.session, u, k, R.randint(3, 11))
    w.note(f"The client id holds version and build: {len(vs)} ids of the one program {fam}, with betas and release candidates; users update in the middle.")


@odd("limit", share=0.12)
def backoff_429(w: Any) -> Any:
    yield
    R = w.rng
    ks = R.sample(w.keyclients, min(len(w.keyclients), 3))
    n = w.extra(0.12) // 130 + 1
    for k in ks:
        k.rpm = R.choice((30, 60))
    for _ in range(n):
        w.sched(w.at(R.randrange(w.days), w.hour()), lambda t: w.key_burst_fast(t, R.choice(ks), R.randint(90, 160)))
    w.note(f"Rate limit by the minute: {', '.join(k.client for k in ks)} run into 429, wait for the next minute as told, and go on.")


@odd("limit", min_days=3, share=0.2, domains=["geo", "weather", "lingo", "pay", "freight", "meter"])
def daily_quota(w: Any) -> Any:
    yield
    R = w.rng
    k = R.choice(w.keyclients)
    q = max(60, int(w.extra(0.2) / w.days * 0.75))
    k.quota = q
    d = w.T0 // DAY * DAY
    while d < w.T1:
        t = d + R.uniform(0.5, 4)
        gap = 14 * 3600 / q
        for i in range(q):
            w.sched(t, lambda t: w.key_burst(t, k, 1))
            t += R.expovariate(1 / gap)
        while t < d + DAY - 60:
            w.sched(t, lambda t: w.key_burst(t, k, 1))
            t += 180 + R.uniform(0, 30)
        d += DAY
    w.note(f"{k.client} has a quota of {q} calls a day (UTC): works from 00:00:00 UTC, then 429 every three minutes until midnight.")


def many_gets(w: Any, t: Any, x: Any, r: Any, ids: Any, gap: Any) -> Any:
    R = w.rng
    for i in ids:
        t, s = w.do(t, r, x, ids={r.params[0]: i}, q="")
        t += R.uniform(0.5, 1.5) * gap
        if t > w.T1:
            break
    return t


@odd("export ids", share=0.25)
def full_export_sequential(w: Any) -> Any:
    w.style["ids"] = "seq"
    yield
    R = w.rng
    c = [
        r
        for r in w.routes
        if r.method == "GET"
        and len(r.params) == 1
        and r.tmpl.endswith("}")
        and not r.orbs
        and r.params[0] not in ("date", "month", "currency", "language", "category")
    ]
    r = R.choice([r for r in c if "b" in r.roles] or c)
    x = w.new_service(R.choice(["warehouse-export", "search-reindex", "bi-full-load", "backup-runner"]), sorted({r.scope} | set(w.has("b")[:2])))
    n = w.extra(0.25)
    runs = R.choice((1, 1, 2)) if w.days < 3 else R.choice((1, 2, 3))
    ts = []
    base = R.randrange(10000, 900000)
    for i in range(runs):
        t0 = w.at(int(i * w.days / runs), R.choice((0.5, 1, 2, 20, 13)))
        ts.append(w.say(t0))
        w.sched(t0, lambda t: many_gets(w, t, x, r, range(base, base + n // runs), min(0.8, 6 * 3600 / (n / runs))))
    w.note(f"Full load by the service {x.client}, which owns {r.scope}: {r.tmpl} with ids {base} to {base + n // runs - 1} in sequence; {'; '.join(ts)}.")


@odd("purge", share=0.2, min_days=2)
def retention_deletes(w: Any) -> Any:
    yield
    R = w.rng
    c = [r for r in w.routes if r.method == "DELETE" and "b" in r.roles and len(r.params) == 1]
    if not c:
        c = w.add_scope("retention:purge", 0, "b", 0.01, [("DELETE", "/archive/{record}"), ("GET", "/archive")])[:1]
    r = R.choice(c)
    x = w.new_service(R.choice(["retention-job", "gdpr-eraser", "cleanup-cron"]), [r.scope])
    n = w.extra(0.2)
    days = sorted(R.sample(range(w.days), min(w.days, R.choice((1, 2, w.days)))))

    def run(t: Any, m: Any) -> Any:
        for _ in range(m):
            t, s = w.do(t, r, x, ids={r.params[0]: w.newid(r.params[0])}, st=204 if R.random() < 0.98 else 404)
            t += R.uniform(0.02, 0.5)

    for d in days:
        w.sched(w.at(d, 3.25), run, n // len(days))
    w.note(f"Retention job {x.client} deletes about {n} old objects ({r.method} {r.tmpl}, scope {r.scope}) at 03:15 on {len(days)} night(s).")


@odd("sandbox", share=0.12)
def sandbox_clients(w: Any) -> Any:
    yield
    R = w.rng
    a = w.newaccount("sandbox")
    names = [
        "test-client",
        "foo-app",
        "hello-world",
        "my-cool-integration-2",
        "asdf",
        "postman-tests",
        "cypress-e2e",
        "DELETE-ME",
        "acme-corp-demo",
        "admin-test",
    ]
    subs = ["john.doe", "jane.roe", "test", "max.mustermann", "user1", "user2", "lorem.ipsum", "donald.duck", "null", "root-test", "o'brien.test", "a"]
    for s in subs:
        w.usedids.add(("subject", s))
    for _ in range(w.extra(0.12) // 8):
        c = R.choice(names)

        def go(t: Any, c: Any = c) -> Any:
            if c in ("cypress-e2e", "postman-tests", "acme-corp-demo"):
                s = R.choice(subs)
                x = Actor(c, s, w.has("u"), "session", a.id, "u", ips)
                x.user = w.users[0]
            else:
                x = Actor(c, "", w.has("k"), "api_key", a.id, "k", ips)
                x.acc = a
            w.key_burst(t, x, R.randint(3, 13))

        w.sched(w.at(R.randrange(w.days), w.hour(PROFILES["office"])), go)
    ips = w.fixed()
    w.note(
        f"Test tenant {a.id}: clients and users with invented names ({', '.join(names[:5])}; {', '.join(subs[:6])}) of the developers and the CI; all with proper test tokens."
    )


@odd("names tz")
def rare_languages(w: Any) -> Any:
    w.names = w.rng.choice(["cyrillic", "greek"])
    w.style["subject"], w.zone = "dot", ("Europe/Sofia", 2, "eu") if w.names == "cyrillic" else ("Europe/Athens", 2, "eu")
    w._times()
    w.style["queries"] = (
        ["палатка", "улица Шипка", "зимни обувки", "Пловдив", "фактура май"]
        if w.names == "cyrillic"
        else ["σκηνή", "οδός Ερμού", "Θεσσαλονίκη", "τιμολόγιο", "χειμερινά"]
    )
    yield
    w.note(f"Users write their names and searches in {w.names.capitalize()} letters; that is their language, there are no look-alike accounts.")


@odd("queries", domains=["shop", "geo", "stream"])
def odd_but_legal_searches(w: Any) -> Any:
    w.style["queries"] = [
        "O'Neill",
        "O'Brien & Sons",
        "union square",
        "select comfort",
        "drop table lamp",
        "1=1 coaching",
        "script font <3",
        "100% cotton",
        "C++ & C#",
        "../ (album)",
        "null island",
        "'t Hooft",
        "AC/DC; live",
        "rock -- roll",
        "admin chair",
        "${size} poster",
        "Ke$ha",
        "M*A*S*H",
        "{{mustache}} cup",
    ]
    yield
    R = w.rng
    w.note(
        "Legal searches that look like attacks: O'Neill, union square, drop table lamp, 1=1 coaching, script font <3, ../ (album). These are products, streets, and titles."
    )
    r = next((r for r in w.routes if r.tmpl.endswith("/search") or r.tmpl.endswith("/geocode")), None)
    if r:
        for _ in range(w.extra(0.05)):
            u = R.choice(w.users)

            def go(t: Any, u: Any = u) -> Any:
                x = w.actor(u, w.apps[0])
                if r.scope in x.scopes:
                    w.do(t, r, x, q="q=" + quote(R.choice(w.style["queries"])))

            w.sched(w.at(R.randrange(w.days), w.hour()), go)


@odd("date billing", share=0.2, min_days=3, cover=month_first)
def monthly_billing(w: Any) -> Any:
    yield
    R = w.rng
    d = next((i for i in range(w.days) if w.date(i).day == 1), 0)
    c = [r for r in w.routes if r.method == "POST" and r.roles == "b"]
    if not c:
        c = w.add_scope("billing:run", 0, "b", 0.01, [("POST", "/billing/runs"), ("POST", "/billing/invoices")])
    x = w.new_service(R.choice(["billing", "invoicing-job", "fin-batch"]), sorted({r.scope for r in c}))
    n = w.extra(0.2)
    t0 = w.at(d, R.choice((0.1, 1, 4)))
    gap = min(1.2, 5 * 3600 / n)

    def run(t: Any) -> Any:
        w.do(t, c[0], x)
        for _ in range(n):
            t, s = w.do(t, c[-1], x)
            t += R.expovariate(1 / gap)

    w.sched(t0, run)
    w.note(
        f"Monthly billing run of service {x.client} from {w.say(t0)}: about {n} calls {c[-1].method} {c[-1].tmpl} in some hours; nothing like it on other days."
    )


@odd("batch", share=0.25, min_days=2)
def night_batches(w: Any) -> Any:
    yield
    R = w.rng
    said = []
    per = w.extra(0.25) / w.days / 3
    for name, hh in zip(R.sample(["batch-prices", "batch-mirror", "dwh-load", "cache-warmer", "ledger-close"], 3), R.sample([0, 1, 2, 3, 4, 23], 3)):
        x = w.new_service(name, w.has("b"))
        r = R.choice(w.usable(x))
        for d in range(w.days):

            def run(t: Any, x: Any = x, r: Any = r) -> Any:
                for i in range(int(per * R.uniform(0.9, 1.1))):
                    t, s = w.do(t, r, x, **({"q": page(w, r, i)} if r.islist else {}))
                    t += R.uniform(0.02, 0.3)

            w.sched(w.at(d, hh) + 1, run)
        said.append(f"{name} {hh:02d}:00 {r.method} {r.tmpl}")
    w.note(f"Night batches, about {per:.0f} calls each as quickly as they can: " + "; ".join(said) + ".")


@odd("feature", share=0.12, min_days=4)
def new_feature(w: Any) -> Any:
    R = w.rng
    name, price = R.choice([("insights", 2), ("favourites", 0), ("timeline", 0), ("assistant", 10), ("exports-beta", 5)])
    scope = f"{name}:use"
    new = w.add_scope(scope, price, "us", 5, [("GET", f"/{name}"), ("POST", f"/{name}"), ("GET", f"/{name}/{{entry}}")])
    t0 = w.at(max(1, w.days // 2), R.uniform(9, 15))
    for r in new:
        r.release = t0
    w.owners.setdefault("entry", "u")
    yield
    q = [u for u in w.users]
    for _ in range(w.extra(0.12) // 5):
        t = t0 + R.uniform(0, 1) ** 1.6 * (w.T1 - t0)

        def go(t: Any) -> Any:
            u = R.choice(q)
            x = w.actor(u, w.apps[0])
            for _ in range(R.randint(1, 8)):
                t, s = w.do(t, R.choice(new), x)
                t += R.uniform(1, 20)

        w.sched(t, go)
    for _ in range(12):
        w.sched(t0 - R.uniform(60, 5000), lambda t: w.do(t, new[0], w.actor(w.staff[0], "admin-console")))
    w.note(
        f"New feature {scope} ({price or 'no'} orbs) released {w.say(t0)}: no call before but some 404 of staff's own tests, then much use. Tokens held the scope before."
    )


@odd("flaky", share=0.05)
def flaky_network(w: Any) -> Any:
    R = w.rng
    spans = [(t, t + R.uniform(15, 90) * 60) for t in (w.at(R.randrange(w.days), R.uniform(6, 22)) for _ in range(R.randint(2, 5)))]
    w.flaky = lambda t, x: 0.22 if any(a <= t < b for a, b in spans) else 0
    yield
    for a, b in spans:
        for _ in range(w.extra(0.05) // 20):
            w.sched(R.uniform(a, b), w.key_burst, R.choice(w.keyclients), 3)
    w.note(
        "A flaky upstream network: 502/504/408 with retries of the same call (also POST, with idempotency keys) at "
        + "; ".join(w.say(a) for a, _ in spans)
        + "."
    )


@odd("mobile", share=0.15, domains=["shop", "stream", "game", "ticket", "school", "freight"])
def mobile_cgnat_ipv6(w: Any) -> Any:
    w.mobile_share = 0.95
    w.style["apps"] = ["ios", "android"]
    yield
    R = w.rng
    for u in w.users:
        k = R.random()
        u.addrs = (
            [w.mobile(R.choice((60, 300, 900)))]
            if k < 0.5
            else [w.privacy6(R.choice((3600, 14400, DAY)))]
            if k < 0.8
            else [w.mobile(120), w.privacy6(7200), w.home()]
        )
    w.note(
        f"Mobile app: hundreds of users share {len(w.cgnat)} carrier addresses (CGNAT) and change them within a session, others have IPv6 privacy addresses that change by the hour."
    )
    for _ in range(w.extra(0.15) // 14):
        w.sched(w.at(R.randrange(w.days), w.hour()), w.session, R.choice(w.users), None, 14)


@odd("loadtest", share=0.25, min_days=2)
def announced_load_test(w: Any) -> Any:
    yield
    R = w.rng
    a = w.newaccount("internal-loadtest")
    x = w.new_service("k6-loadtest", w.has("k"), a)
    x.role, x.acc, x.rpm = "k", a, 0
    x.ttl = 9e9
    t0 = w.at(R.randrange(w.days), R.choice((1, 5, 22)))
    n = w.extra(0.25)
    rs = w.usable(x)

    def run(t: Any) -> Any:
        for i in range(n):
            f = i / n
            w.do(t + 1500 * f**0.6, R.choices(rs, x.rw)[0], x)

    w.sched(t0, run)
    w.note(
        f"Announced load test of the own team at {w.say(t0)}: k6-loadtest, account {a.id}, {n} calls in 25 minutes; priced calls are charged to that account."
    )


@odd("backfill", share=0.2, domains=["meter", "weather"])
def backfill(w: Any) -> Any:
    yield
    R = w.rng
    r = next(r for r in w.routes if "{date}" in r.tmpl and r.method == "PUT")
    x = w.new_service("backfill-2023", sorted({r.scope}))
    n = w.extra(0.2)
    obj = [w.newid(r.params[0]) for _ in range(max(1, n // 180))]
    t0 = w.at(R.randrange(max(1, w.days - 1)), R.uniform(7, 20))

    def run(t: Any) -> Any:
        for o in obj:
            for d in range(180):
                t, s = w.do(t, r, x, ids={r.params[0]: o, "date": (dt.date(2023, 1, 1) + dt.timedelta(days=d)).isoformat()})
                t += R.uniform(0.02, 0.6)

    w.sched(t0, run)
    w.note(f"A backfill of half a year 2023 ({len(obj)} objects, each of 180 dates in sequence) by {x.client} from {w.say(t0)} after a data fix.")


@odd("devices", share=0.4, domains=["meter", "weather", "freight", "game", "shop"])
def device_fleet(w: Any) -> Any:
    yield
    R = w.rng
    push = [r for r in w.routes if r.method in ("POST", "PUT") and ("k" in r.roles or "b" in r.roles) and not r.creates] or [
        r for r in w.routes if r.method == "POST"
    ]
    r = push[0]
    n = R.randint(80, 900)
    step = max(60, round((w.T1 - w.T0) * n / w.extra(0.4) / 60) * 60)
    ds = []
    for i in range(n):
        k = w.new_key(R.choice(w.accounts[:6]), client=f"dev-{w.hex(12)}", scopes=[r.scope], addr=w.home() if R.random() < 0.6 else w.mobile(3600))
        k.pid = {p: w.newid(p) for p in r.params if p not in ("date",)}
        ds.append(k)

    def tick(t: Any) -> Any:
        for k in ds:
            ids = dict(k.pid)
            if "date" in r.params:
                ids["date"] = dt.datetime.fromtimestamp(t, dt.timezone.utc).date().isoformat()
            w.call(t + abs(R.gauss(0, 4)), r, k, ids=ids)

    t = (w.T0 // step + 1) * step
    while t < w.T1:
        w.sched(t, tick)
        t += step
    w.note(f"{n} devices, each with an own key and id, send {r.method} {r.tmpl} all together each {step // 60:.0f} min on the minute.")


@odd("cors", share=0.15)
def cors_preflights(w: Any) -> Any:
    yield
    R = w.rng

    def add(rows: Any) -> Any:
        new, want = [], w.extra(0.15)
        c = [r for r in rows if r[6] == "session" and r[7] != 503 and w.T0 + 1 < r[0]]
        for r in R.sample(c, min(len(c), want)):
            new.append((r[0] - R.uniform(0.03, 0.12), "OPTIONS", r[2], "", "", "", "", 204, r[8], r[9], "", "", ""))
        rows += new
        rows.sort(key=lambda r: r[0])

    w.post_rows.append(add)
    w.note("Browsers send CORS preflights: OPTIONS of the same target just before the call, 204, without token, free, outside the policy.")


@odd("notebook", share=0.1)
def analyst_notebook(w: Any) -> Any:
    yield
    R = w.rng
    a = w.accounts[0]
    k = w.new_key(a, client=R.choice(["jupyter-analyst", "excel-powerquery", "rstudio", "curl-scripts"]), addr=w.fixed())
    r = R.choice([r for r in w.usable(k) if r.method == "GET" and r.params] or w.usable(k))
    days = [w.workday() for _ in range(R.randint(1, 4))]

    def run(t: Any, m: Any) -> Any:
        for _ in range(m):
            t, s = w.do(t, r, k)
            t += R.uniform(0.1, 0.4)

    for d in days:
        w.sched(w.at(d, R.uniform(9, 20)), run, w.extra(0.1) // len(days))
    w.note(f"An analyst of {a.id} works with {k.client}: loops over the own objects ({r.tmpl}) on {len(days)} occasion(s), in scope, charged.")


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


@odd("refund", share=0.05, domains=["shop", "pay", "ticket"])
def mass_refund(w: Any) -> Any:
    yield
    R = w.rng
    c = [r for r in w.routes if "refund" in r.tmpl and r.method == "POST"]
    if not c:
        c = w.add_scope("refunds:issue", 0, "sa", 0.3, [("POST", "/refunds")])
    r = c[0]
    u = R.choice(w.staff)
    t0 = w.at(w.workday(), R.uniform(9, 14))

    def run(t: Any) -> Any:
        x = w.actor(u, "backoffice")
        for _ in range(max(200, w.extra(0.05))):
            t, s = w.do(t, r, x)
            t += R.lognormvariate(1.2, 0.5)

    w.sched(t0, run)
    w.note(f"After a faulty price list the support ({u.subject}) refunds by hand and by list from {w.say(t0)}, hundreds in some hours; decided and announced.")


@odd("redirect", share=0.1)
def moved_paths_308(w: Any) -> Any:
    yield
    R = w.rng
    r0 = R.choice([r for r in w.routes if r.islist and not r.orbs and "k" in r.roles] or [r for r in w.routes if r.islist])
    old = "/old" + r0.tmpl[len(w.style["prefix"]) :] if not w.style["prefix"] else w.style["prefix"] + "-legacy" + r0.tmpl[len(w.style["prefix"]) :]
    r = Route("GET", old, r0.scope, r0.orbs, "", 0)
    w.routes.append(r)
    ks = [k for k in w.keyclients if r0.scope in k.scopes] or w.keyclients[:1]
    for k in ks:
        k.setscopes(sorted(k.scopes | {r0.scope}))
    for _ in range(w.extra(0.1) // 2):

        def go(t: Any) -> Any:
            k = R.choice(ks)
            t, s = w.do(t, r, k, st=308, q="")
            w.do(t + 0.05, r0, k)

        w.sched(w.at(R.randrange(w.days), w.hour()), go)
    w.note(f"The old path {old} is still in the policy and answers 308 to {r0.tmpl}; integrations follow each time.")


@odd("clients", share=0.12)
def two_clusters_one_service(w: Any) -> Any:
    yield
    R = w.rng
    ad = [w.internal(), w.fixed(), w.internal()]
    x = w.new_service("replicator", w.has("b"))
    for _ in range(w.extra(0.12) // 5):

        def go(t: Any) -> Any:
            x.addr = R.choice(ad)
            w.key_burst(t, x, 5)

        w.sched(R.uniform(w.T0, w.T1), go)
    w.note(f"The service account {x.client} is used by three clusters at the same time ({', '.join(a(0) for a in ad)}), as documented.")


@odd("dupes", share=0.1)
def double_clicks_and_duplicates(w: Any) -> Any:
    yield
    R = w.rng

    def add(rows: Any) -> Any:
        c = [r for r in rows if r[6] and r[7] == 200 and r[1] == "GET"]
        new = []
        for r in R.sample(c, min(len(c), w.extra(0.1))):
            new.append((min(w.T1 - 0.001, r[0] + R.uniform(0.005, 0.3)),) + r[1:])
        rows += new
        rows.sort(key=lambda r: r[0])

    w.post_rows.append(add)
    w.note("Eager front ends fetch the same thing twice within 300 ms (React strict mode, double clicks): many equal neighbour lines, each charged as served.")


@odd("head")
def head_requests(w: Any) -> Any:
    yield
    R = w.rng
    c = [r for r in w.routes if r.method == "GET" and not r.orbs and r.params and "k" in r.roles] or [r for r in w.routes if r.method == "GET" and not r.orbs]
    r0 = R.choice(c)
    h = Route("HEAD", r0.tmpl, r0.scope, r0.orbs, "", 0)
    w.routes.append(h)
    k = R.choice([k for k in w.keyclients if r0.scope in k.scopes] or w.keyclients)
    k.setscopes(sorted(k.scopes | {r0.scope}))
    for _ in range(w.extra(0.08)):
        w.sched(w.at(R.randrange(w.days), w.hour()), lambda t: w.do(t, h, k, st=200 if R.random() < 0.7 else 404, q=""))
    w.note(f"{k.client} checks with HEAD {h.tmpl} (in the policy) whether objects exist before it does anything; a third is 404.")
