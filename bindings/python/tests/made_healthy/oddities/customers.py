"""Oddities of customers and their people."""

from typing import Any

from ..world import DAY, PROFILES, WORDS, Actor
from .common import biggest_key, odd


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
