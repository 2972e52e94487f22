"""Oddities of jobs that do much at once."""

import datetime as dt
from typing import Any

from .common import many_gets, month_first, odd, page


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
