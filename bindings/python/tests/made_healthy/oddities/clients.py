"""Oddities of clients, and of how they write."""

from typing import Any
from urllib.parse import quote

from ..world import DAY, Route
from .common import anon, odd


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
