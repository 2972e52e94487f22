"""Incidents of behaviour. Each is a generator: before the ordinary traffic | after it | after the ledger settled it."""

from collections.abc import Callable
from typing import Any

from .world import DAY, HOUR, LAST, MIN, OK, ROLES, V0, Actor

KINDS: dict[str, Any] = {}
Job = Callable[[Any], Any]


def kind(name: Any, days: Any = (2, 14), n: Any = (23000, 100000), entries: Any = False) -> Callable[[Job], Job]:
    def deco(fn: Job) -> Job:
        KINDS[name] = (fn, days, n, entries)
        return fn

    return deco


def eg(xs: Any, k: Any = 4) -> Any:
    return ", ".join(list(dict.fromkeys(xs))[:k])


def some(xs: Any, k: Any = 5) -> Any:
    xs = list(dict.fromkeys(xs))
    return ", ".join(map(str, xs[:k])) + (f" and {len(xs) - k} more" if len(xs) > k else "")


def marked(w: Any, m: Any, f: Any = lambda x: True) -> Any:
    return [x for x in w.rows if x.mark == m and f(x)]


def span(w: Any, rows: Any) -> Any:
    return f"{w.say_t(min(x.t for x in rows))} to {w.say_t(max(x.t for x in rows))}"


@kind("stuffing-fast")
def stuffing_fast(w: Any) -> Any:
    yield
    r = w.rng
    n = r.randint(5000, 11000) if w.big else r.randint(700, 2000)
    nets = [w.foreign().rsplit(".", 1)[0] for _ in range(r.randint(2, 9))]
    addrs = [f"{r.choice(nets)}.{r.randint(2, 250)}" for _ in range(r.randint(40, 260))]
    t0 = w.at(r.randint(w.days // 3, w.days - 1), r.choice([1, 3, 5, 14, 20]))
    dur = r.randint(20, 90) * MIN
    if t0 + dur + HOUR > w.end:
        t0 = w.end - dur - HOUR
    client = r.choice(["portal-web", "mobile-android"])
    act = w.active("customer", 3)
    victims = r.sample(act, min(3, len(act))) + r.sample(w.users["customer"], r.randint(2, 15) if w.big else r.randint(1, 3))
    anon = Actor(client, "", "", "", "", addrs)
    per: dict[str, int] = {}
    for _ in range(n):
        t = t0 + r.random() * dur
        ad = r.choice(addrs)
        per[ad] = per.get(ad, 0) + 1
        w.req(t, "POST /v1/sessions", anon, status=429 if per[ad] > 90 and r.random() < 0.6 else 401, addr=ad, mark="s")
    for v in victims:
        t = t0 + r.uniform(0.1, 0.95) * dur
        ad = r.choice(addrs)
        v = v.clone(client=client)
        w.login(t, v, True, ad, "hit")
        for k in ("GET /v1/orders", "GET /v1/orders/{id}", "GET /v1/invoices/{id}", "GET /v1/appointments"):
            t += r.randint(400, 2500)
            w.req(t, k, v, addr=ad, mark="hit", noise=False)
    yield
    s = marked(w, "s")
    w.say(
        f"Credential stuffing through {client}: {len(s)} failed logins (POST /v1/sessions) from {len({x.address for x in s})} addresses in the networks {some([q + '.0/24' for q in nets], 9)}, {span(w, s)}.",
        f"{len(dict.fromkeys(v.subject for v in victims))} accounts were opened with it: {some([v.subject for v in victims], 20)}; seconds later their orders, invoices and appointments were read from the same addresses.",
    )
    w.no("an outage of the login, or a fault of the app " + client)


@kind("stuffing-slow", days=(5, 14))
def stuffing_slow(w: Any) -> Any:
    yield
    r = w.rng
    n = r.randint(1500, 3000) if w.big else r.randint(350, 800)
    addrs = [w.foreign() for _ in range(n // 2)]
    anon = Actor("mobile-android", "", "", "", "", addrs)
    t0 = w.start + r.randint(4, 20) * HOUR
    step = (w.end - t0) / n
    for i in range(n):
        w.req(t0 + step * (i + r.uniform(-0.2, 0.2)), "POST /v1/sessions", anon, status=401, addr=r.choice(addrs), mark="s")
    vs = r.sample(w.users["customer"], r.randint(4, 14))
    for v in vs:
        t = r.uniform(t0, w.end - 5 * HOUR)
        ad = r.choice(addrs)
        v = v.clone(client="mobile-android")
        w.login(t, v, True, ad, "hit")
        t += r.randint(1, 3) * HOUR
        ad = w.foreign()
        w.login(t, v, True, ad, "hit")
        for k in ("GET /v1/orders", "GET /v1/invoices/{id}", "POST /v1/orders"):
            t += r.randint(2000, 30000)
            w.req(t, k, v, addr=ad, mark="hit", noise=False)
    yield
    s = marked(w, "s")
    hit = marked(w, "hit")
    w.say(
        f"A slow credential stuffing through mobile-android: {len(s)} failed logins, evenly by day and night (one every {int(step / 1000)} seconds), {span(w, s)}, from {len({x.address for x in s})} addresses with only a few tries each.",
        f"Logins succeeded for {some([x.subject for x in sorted(hit, key=lambda x: x.t)], 20)}, and one to three hours later each was used from yet another unknown address to read invoices and place an order.",
    )
    w.no("customers who forget their password: those keep the daily rhythm and come from addresses known for them")


@kind("enumeration-allowed")
def enumeration_allowed(w: Any) -> Any:
    yield
    r = w.rng
    p = w.partner[r.choice(["lab", "insurer"])]
    n = r.randint(6000, 14000) if w.big else r.randint(700, 1800)
    n = min(n, w.npatients - 500)
    t = min(w.at(r.randint(w.days // 3, w.days - 1), r.choice([0, 6, 13, 22])), w.end - int(n * 460) - HOUR)
    first = w.patients0 + r.randint(0, w.npatients - n - 1)
    down = r.random() < 0.3
    ids = [first + i for i in range(n)]
    if down:
        ids.reverse()
    ad = r.choice(p.addr)
    for i in ids:
        t += r.expovariate(1 / 420) + 30
        w.req(t, "GET /v1/patients/{id}", p, target=f"/v1/patients/{i}", addr=ad, status=200 if r.random() < 0.94 else 404, mark="e")
    yield
    e = marked(w, "e")
    w.say(
        f"The partner {p.client} ({p.account}, address {ad}) read patients one after another in {'descending' if down else 'ascending'} order of number, /v1/patients/{ids[0]} to /v1/patients/{ids[-1]}, {span(w, e)}: {len(e)} calls, {sum(x.status == 200 for x in e)} answered 200.",
        "Its key holds patients:read, so everything was allowed; ordinarily it asks only for some hundreds of patients of its own, out of order and in the day.",
    )
    w.no("search-indexer, which walks a range of patient numbers every night at three from the inner network; that is its work", "a break of the scope check")


@kind("enumeration-denied")
def enumeration_denied(w: Any) -> Any:
    yield
    r = w.rng
    n = r.randint(3000, 9000) if w.big else r.randint(120, 500)
    if r.random() < 0.5:
        a, key, first = r.choice(w.active("customer", 5)), "GET /v1/patients/{id}/records", w.patients0 + r.randint(0, 900)

        def tgt(i: Any) -> Any:
            return f"/v1/patients/{first + i}/records"
    else:
        a, key, first = r.choice(w.active("desk")), "GET /v1/invoices/{id}", w.oid + r.randint(0, 900)

        def tgt(i: Any) -> Any:
            return f"/v1/invoices/i-{first + i}"

    gap = 700 if w.big else 4000
    t = min(w.at(r.randint(w.days // 3, w.days - 1), r.randint(12, 21)), w.end - n * gap * 2)
    ad = a.home if a.role == "desk" else a.addr[0]
    w.login(t, a, True, ad, "e0")
    for i in range(n):
        t += r.expovariate(1 / gap) + 80
        w.req(t, key, a, target=tgt(i), status=403, err="insufficient_scope", addr=ad, mark="e")
    yield
    e = marked(w, "e")
    w.say(
        f"{a.subject} (client {a.client}, address {ad}) tried {len(e)} objects in sequence, {e[0].target} to {e[-1].target}, {span(w, e)}.",
        f"Every one was denied with 403 insufficient_scope (the session lacks {w.need[key][0]}): nothing was read.",
    )
    w.no("a data leak; no record left the house", f"the others with role {a.role}, who only run into a 403 now and then")


@kind("enumeration-404")
def enumeration_404(w: Any) -> Any:
    yield
    r = w.rng
    p = w.partner["pharmacy"]
    n = r.randint(4000, 9000) if w.big else r.randint(400, 1200)
    lo, hi = w.oid - 3000000 if w.oid > 3000000 else 1, 99999999
    gap = 900
    t = min(w.at(r.randint(w.days // 4, w.days - 1), r.choice([1, 11, 19])), w.end - n * gap * 2)
    ad = w.foreign() if r.random() < 0.5 else p.addr[0]
    hits = []
    for i in range(n):
        t += r.expovariate(1 / gap) + 50
        if r.random() < 0.009:
            o = w.order_id()
            hits.append(w.req(t, "GET /v1/orders/{id}", p, target=f"/v1/orders/{o}", status=200, addr=ad, mark="e"))
        else:
            w.req(t, "GET /v1/orders/{id}", p, target=f"/v1/orders/o-{r.randint(lo, hi)}", status=404, addr=ad, mark="e")
    if not hits:
        hits.append(w.req(t + 900, "GET /v1/orders/{id}", p, status=200, addr=ad, mark="e"))
    yield
    e = marked(w, "e")
    w.say(
        f"With the key of {p.client} somebody guessed order numbers at random from {ad}: {len(e)} calls of GET /v1/orders/{{id}}, {span(w, e)}, nearly all 404.",
        f"{sum(x.status == 200 for x in e)} guesses hit an order and were answered 200: {some([x.target for x in e if x.status == 200], 8)}.",
        "The address is " + ("unknown for this client." if ad not in p.addr else "the partner's own usual one."),
    )
    w.no("a deleted or lost stock of orders (the usual orders still answer 200)", "the crawlers from the internet asking for /robots.txt, /.env and so on")


@kind("new-administrator", days=(4, 14))
def new_administrator(w: Any) -> Any:
    yield
    r = w.rng
    adm = r.choice(w.active("admin", 5))
    d = r.randint(1, w.days - 3)
    t = t0 = w.at(d, r.choice([2, 3, 4]), r.randint(0, 50))
    ad, ad2 = w.foreign(), w.foreign()
    name = r.choice(["svc.backup", "sys.health", "it.helper", w.uname()])
    w.login(t, adm, True, ad, "n")
    for k, tgt in (("GET /v1/users", None), ("POST /v1/users", "/v1/users"), ("PUT /v1/users/{id}/roles", f"/v1/users/{name}/roles")):
        t += r.randint(9000, 60000)
        w.req(t, k, adm, target=tgt, addr=ad, noise=False, mark="n")
    new = adm.clone(subject=name, addr=[ad2])
    nights = r.randint(1, min(4, w.days - d - 1))
    for i in range(nights):
        t = w.at(d + i, r.choice([22, 23, 23.5])) if i else t0 + r.randint(20, 60) * MIN
        w.login(t, new, True, ad2, "u")
        for _ in range(r.randint(60, 260) if w.big else r.randint(8, 25)):
            t += r.expovariate(1 / 9000) + 500
            w.req(t, r.choice(["GET /v1/users", "GET /v1/audit", "GET /v1/audit", "GET /v1/patients/{id}"]), new, addr=ad2, mark="u", noise=False)
        t += 9000
        w.req(t, "DELETE /v1/users/{id}" if i and r.random() < 0.4 else "POST /v1/keys", new, addr=ad2, mark="u", noise=False)
    yield
    u = marked(w, "u")
    w.say(
        f"At {w.say_t(t0)} the administrator {adm.subject}, at night from the unknown address {ad}, created the user {name} (POST /v1/users) and gave it a role (PUT /v1/users/{name}/roles).",
        f"{name} then worked with users:admin and keys:admin from {ad2}, {span(w, u)}: {len(u)} calls, of which POST /v1/keys {sum(x.tpl == 'POST /v1/keys' for x in u)}, DELETE /v1/users/{{id}} {sum(x.tpl == 'DELETE /v1/users/{id}' for x in u)}, GET /v1/users or /v1/audit {sum(x.tpl in ('GET /v1/users', 'GET /v1/audit') for x in u)}, single patients {sum('patients' in x.target for x in u)}.",
    )
    w.no(
        f"that {adm.subject} did it: the account was most probably taken over, since the person's usual address is {adm.addr[0]}",
        "the users created in office hours",
    )


@kind("token-used-elsewhere")
def token_elsewhere(w: Any) -> Any:
    yield
    r = w.rng
    if r.random() < 0.5:
        a = w.partner[r.choice(["lab", "research", "insurer", "bi"])]
        keys, who = a.mix, f"the API key of {a.client}"
    else:
        a = r.choice(w.active("doctor"))
        keys, who = ["GET /v1/patients", "GET /v1/patients/{id}", "GET /v1/patients/{id}/records"], f"the session of {a.subject}"
    ad = w.foreign()
    own = sorted(x.t for x in w.rows if (x.subject == a.subject if a.subject else x.client == a.client) and w.start + DAY // 2 < x.t < w.end - 5 * HOUR)
    t = t0 = r.choice(own or [w.start + DAY]) + r.randint(60_000, 300_000)
    n = r.randint(800, 4000) if w.big else r.randint(25, 120)
    stranger = a.clone(panel=(), orders=())
    gap = 3000 if w.big else 15000
    if a.subject:  # a session lives an hour
        n = min(n, 1500)
        gap = min(gap, 40 * MIN / n)
    for i in range(n):
        t += r.expovariate(1 / gap) + 200
        w.req(t, r.choice(keys), stranger, addr=ad, mark="x")
        if r.random() < 0.05:  # the owner works on meanwhile
            w.req(t + 900, r.choice(keys), a, addr=a.addr[0])
    yield
    x = marked(w, "x")
    w.say(
        f"From {w.say_t(t0)} {who} was used at the same time from a second, unknown address {ad} while the owner went on at {a.addr[0]}: {len(x)} calls, {span(w, x)}.",
        f"There was no login from {ad}. Touched were objects that the owner does not usually ask for, e.g. {eg([q.target for q in x if q.status == 200], 4)}.",
    )
    w.no("the owner", "people who change between Wi-Fi and mobile network, or travel: they log in anew and are not in two places at once")


@kind("privilege-added", days=(4, 14))
def privilege_added(w: Any) -> Any:
    yield
    r = w.rng
    a = r.choice(w.active("billing"))
    adm = r.choice(w.active("admin", 5))
    d = r.randint(1, w.days - 2)
    t0 = w.at(d, r.choice([6, 19, 20, 21]))
    add = r.choice(["refunds:issue", "patients:read records:read", "users:admin"])
    ad = a.addr[0] if r.random() < 0.6 else a.home
    w.login(t0 - 60000, adm, True, ad)
    w.req(t0, "PUT /v1/users/{id}/roles", adm, target=f"/v1/users/{a.subject}/roles", addr=ad, noise=False, mark="p")
    old = a.sc
    new = " ".join(sorted((old + " " + add).split()))
    for x in w.rows:
        if x.subject == a.subject and x.t > t0 and x.scopes == old:
            x.scopes = new
    b = a.clone(scopes=new)
    keys = [k for k, v in w.need.items() if v[0] in add.split() and not k.startswith(("POST /v1/users", "DELETE"))]
    for i in range(r.randint(2, 6)):
        t = w.at(r.randint(d, w.days - 1), r.uniform(8, 20))
        t = max(t, t0 + 5 * MIN)
        w.login(t, b, True, ad)
        for _ in range(r.randint(30, 150) if w.big else r.randint(2, 8)):
            t += r.expovariate(1 / 12000) + 300
            w.req(t, r.choice(keys), b, addr=ad, mark="u", noise=False)
    # a harmless one: two nurses get lab:write in office hours
    team = w.users["nurse"][:3]
    t1 = w.at(w.workday(0, w.days - 2), 10)
    adm2 = w.users["admin"][-1]
    for i, q in enumerate(team):
        w.req(t1 + i * 50000, "PUT /v1/users/{id}/roles", adm2, target=f"/v1/users/{q.subject}/roles", noise=False)
        nsc = " ".join(sorted((q.sc + " lab:write").split()))
        for x in w.rows:
            if x.subject == q.subject and x.t > t1 + i * 50000 and x.scopes == q.sc:
                x.scopes = nsc
    yield
    u = marked(w, "u")
    w.say(
        f"At {w.say_t(t0)} the roles of {a.subject} (billing, client {a.client}) were changed by PUT /v1/users/{a.subject}/roles with the account of {adm.subject}, from {ad}, which is "
        + ("the address of the billing office" if ad == a.addr[0] else f"an address otherwise unknown for {adm.subject}")
        + f"; from then on the token held {add} in addition.",
        f"The new privilege was used {len(u)} times, {span(w, u)}, e.g. {eg([x.method + ' ' + x.target for x in u], 4)}.",
    )
    w.no(f"the nurses {some([q.subject for q in team])}, who were given lab:write in office hours as a team", f"the rest of the billing people")


@kind("outage-redirects", entries=True)
def outage_redirects(w: Any) -> Any:
    w.deploys = 0
    yield
    r = w.rng
    t0 = w.cut(0.2, 0.8)
    t1 = min(t0 + r.randint(45, 260) * MIN, w.end - HOUR)
    code = r.choice([301, 302, 307, 308])
    heads = r.choice([("/v1/orders", "/v1/products"), ("/v1/patients", "/v1/appointments"), ("/v1/",)])
    pods = w.pods if w.big else r.sample(w.pods, max(1, w.npods // 2))
    skip = ("POST /v1/sessions", "GET /v1/ping", "HEAD /v1/ping")
    for x in list(w.rows):
        if (
            t0 <= x.t < t1
            and x.target.startswith(heads)
            and x.instance in pods
            and x.tpl not in skip
            and not x.err
            and x.method != "OPTIONS"
            and x.tpl != "GET -"
        ):
            x.status, x.mark = code, "r"
            for i in range(r.choice([0, 1, 2, 4]) if w.n < 70000 else r.choice([0, 1])):
                y = x.copy()
                y.t = x.t + (i + 1) * r.randint(20, 120)
                y.instance = r.choice(pods)
                if code in (301, 302) and y.method not in ("GET", "HEAD"):
                    y.method, y.tpl, y.price = "GET", "GET " + y.tpl.split(" ", 1)[1], 0
                w.rows.append(y)
    yield
    m = marked(w, "r")
    w.say(
        f"An outage that shows no 5xx: from {w.say_t(t0)} to {w.say_t(t1)} {'all pods' if len(pods) == w.npods else 'the pods ' + some(pods, 9)} answered the routes below {' and '.join(heads)} with {code} instead of the work ({len(m)} rows), and clients ran in circles after the redirect.",
        f"No such call was done there in that time; nothing was charged for them. It touched {len({x.client for x in m})} clients alike.",
    )
    w.no("an attack, or a client gone wild: the repeats are followed redirects", "healthy service because the error rate stayed low")


@kind("key-rotation", days=(4, 14))
def key_rotation(w: Any) -> Any:
    yield
    r = w.rng
    p = w.partner[r.choice(["lab", "pharmacy", "speech", "insurer"])]
    if len(p.addr) < 2:
        p.addr.append(w.ip())
        for x in w.rows:
            if x.client == p.client and x.kind and r.random() < 0.4:
                x.address = p.addr[1]
    bad = p.addr[1]
    t0 = w.cut(0.2, 0.5)
    t1 = min(t0 + (r.randint(20, 60) * HOUR if w.big else r.randint(2, 9) * HOUR), w.end - 4 * HOUR)
    adm = w.users["admin"][0]
    kid = "k-" + w.hexes()
    w.req(t0 - 30 * MIN, "POST /v1/keys", adm, noise=False)
    w.req(t0, "DELETE /v1/keys/{id}", adm, target=f"/v1/keys/{kid}", noise=False)
    for x in list(w.rows):
        if x.client == p.client and x.address == bad and t0 <= x.t < t1 and x.kind:
            x.status, x.err, x.scopes, x.mark, x.account = 401, "invalid_token", "", "k", ""
            if r.random() < 0.8:
                y = x.copy()
                y.t += r.randint(1000, 9000)
                w.rows.append(y)
    yield
    k = marked(w, "k")
    w.say(
        f"A key rotation done in halves: {adm.subject} made a new key and deleted the old one ({kid}) of {p.client} at {w.say_t(t0)}; the partner's machine {bad} kept the old key until {w.say_t(t1)} and got {len(k)} times 401 invalid_token, while {p.addr[0]} went on with the new key.",
        "After that it worked again. No data was lost to anybody; the partner merely missed that work.",
    )
    w.no(f"an attack from {bad} with guessed tokens: it is the partner's second machine and was good before and after")


@kind("partner-base-path")
def partner_base_path(w: Any) -> Any:
    yield
    r = w.rng
    p = w.partner[r.choice(["lab", "pharmacy", "insurer", "research"])]
    t0 = w.cut(0.25, 0.6)
    t1 = w.end if w.big else min(w.end, t0 + r.randint(6, 30) * HOUR)
    f = r.choice([lambda s: "/v1" + s, lambda s: "/api" + s, lambda s: "/" + s, lambda s: s.replace("/v1/", "/")])
    for x in w.rows:
        if x.client == p.client and t0 <= x.t < t1 and x.kind:
            x.target, x.tpl, x.status, x.err, x.mark, x.price = f(x.target), x.method + " -", 404, "", "b", 0
    yield
    b = marked(w, "b")
    w.say(
        f"The partner {p.client} changed its base path: from {w.say_t(t0)} {'to the end of the log' if t1 == w.end else 'to ' + w.say_t(t1)} all its {len(b)} calls went to paths such as {eg([x.target for x in b], 2)} and got 404; its work stood still.",
        "Addresses, key and rhythm stayed the same.",
    )
    w.no("probing or enumeration: these are its ordinary calls below a wrong prefix", "a removed route: the same routes answer everyone else")


@kind("pod-not-revoking")
def pod_not_revoking(w: Any) -> Any:
    w.deploys = 0
    yield
    r = w.rng
    p = w.partner[r.choice(["lab", "pharmacy", "insurer", "bi"])]
    t0 = w.cut(0.2, 0.6)
    bad = r.choice(w.pods)
    kid = "k-" + w.hexes()
    adm = w.users["admin"][0]
    w.req(t0, "DELETE /v1/keys/{id}", adm, target=f"/v1/keys/{kid}", noise=False)
    t1 = w.end if w.big else min(w.end, t0 + r.randint(10, 40) * HOUR)
    for x in list(w.rows):
        if x.client == p.client and x.kind and x.t >= t0 + 4000:
            if x.instance == bad and x.t < t1:
                x.mark = "ok" if x.status < 300 else None
            else:
                x.status, x.err, x.scopes, x.account, x.mark = 401, "invalid_token", "", "", "no"
                if r.random() < 0.6:
                    y = x.copy()
                    y.t += r.randint(500, 3000)
                    y.instance = r.choice(w.pods)
                    if y.instance == bad and y.t < t1:
                        y.status, y.err, y.scopes, y.account, y.mark = OK.get(y.method, 200), "", p.sc, p.account, "ok"
                    w.rows.append(y)
    yield
    ok, no = marked(w, "ok"), marked(w, "no")
    w.say(
        f"The key {kid} of {p.client} was revoked at {w.say_t(t0)} (DELETE /v1/keys/{kid} by {adm.subject}), and every pod answers it 401 invalid_token since ({len(no)} times) except {bad}, which still let {len(ok)} calls through, {span(w, ok) if ok else ''}.",
        "That pod did not learn of the revocation" + ("; it lasts to the end of the log." if t1 == w.end else f" until {w.say_t(t1)}."),
    )
    w.no(f"that {p.client} found a way round: it merely retries, and only {bad} lets it in", "flaky network of the partner")


@kind("invented-clients", days=(3, 14), entries=True)
def invented_clients(w: Any) -> Any:
    yield
    r = w.rng
    n = r.randint(700, 1600) if w.big else r.randint(60, 180)
    addrs = [w.foreign() for _ in range(r.randint(2, 6))]
    t0 = w.at(r.randint(0, w.days - 2), r.randint(0, 20))
    step = (w.end - t0 - HOUR) / n
    form = r.choice(["app-{}", "demo-{}", "my-clinic-{}"])
    mix = "speech:run messages:send catalog:read"
    for i in range(n):
        h = w.hexes(5)
        c = Actor(form.format(h), "", mix, "api_key", "trial-" + h, [r.choice(addrs)])
        q = t0 + step * i
        for _ in range(r.randint(3, 5)):
            w.req(q, "POST /v1/transcriptions", c, mark="i", noise=False)
            q += r.randint(900, 4000)
    # a few honest trials
    for i in range(r.randint(3, 8)):
        h = w.hexes(5)
        c = Actor(r.choice(["praxis-", "drapp-", "vet-"]) + r.choice(LAST), "", mix, "api_key", "trial-" + h, [w.ip()])
        q = w.at(w.workday(0, w.days - 1), r.uniform(8, 15))
        for _ in range(r.randint(2, 12)):
            w.req(q, r.choice(["POST /v1/transcriptions", "POST /v1/messages", "GET /v1/products"]), c, noise=False)
            q += r.expovariate(1 / 500000)
    yield
    m = marked(w, "i")
    w.say(
        f"{len({x.client for x in m})} invented clients ({eg([x.client for x in m], 3)}, ...), each with a trial account of its own, came from only {len({x.address for x in m})} addresses ({some([x.address for x in m], 6)}), {span(w, m)}.",
        f"Each used up nearly all of the 10 bonus orbs of its trial on POST /v1/transcriptions and was never seen again: {sum(x.orbs for x in m)} orbs of work for nothing, {len(m)} calls.",
    )
    w.no("a successful campaign with many new customers", "the few honest trial users, each with an address of their own and in working hours")


@kind("insider-mass-export", days=(3, 14), entries=True)
def insider(w: Any) -> Any:
    yield
    r = w.rng
    a = r.choice(w.active("doctor"))
    nights = min(w.days - 1, r.randint(1, 4))
    d0 = r.randint(0, w.days - 1 - nights)
    ad = a.home if r.random() < 0.6 else a.addr[0]
    per = r.randint(1200, 2600) if w.big else r.randint(150, 400)
    first = w.patients0 + r.randint(0, w.npatients // 2)
    ids = [first + i * r.randint(1, 2) for i in range(nights * per)]
    r.shuffle(ids)
    for k in range(nights):
        t = w.at(d0 + k, 23, r.randint(0, 59))
        w.login(t, a, True, ad, "m")
        tl = t
        for i in range(per):
            t += r.expovariate(1 / 4500) + 200
            if t - tl > 55 * MIN:
                w.login(t, a, True, ad, "m")
                tl = t
            w.req(t, "GET /v1/patients/{id}/records", a, target=f"/v1/patients/{ids[k * per + i]}/records", addr=ad, mark="m")
            if r.random() < 0.02:
                w.req(t + 100, "POST /v1/reports", a, addr=ad, mark="m")
    yield
    m = marked(w, "m")
    rec = {x.target for x in m if x.tpl.endswith("/records") and x.status == 200}
    w.say(
        f"{a.subject}, a doctor of {a.account}, read the records of {len(rec)} patients in {nights} night{'s' if nights > 1 else ''} ({span(w, m)}) from {ad}, {'at home' if ad == a.home else 'the clinic network'}, with the own login and permitted scopes (client {a.client}).",
        f"Also {sum(x.tpl == 'POST /v1/reports' and x.orbs > 0 for x in m)} reports were run at {a.account}'s cost. By day the same person reads only a panel of {len(a.panel)} patients.",
    )
    w.no(
        "nightly-export, which reads records from the inner network every night after two as its work",
        "nurses on night duty",
        "an intruder from outside, for which there is no sign (no failed login, usual client)",
    )


@kind("refund-abuse", days=(4, 14), entries=True)
def refund_abuse(w: Any) -> Any:
    yield
    r = w.rng
    a = r.choice(w.active("support", 20))
    acc = r.choice([w.partner["speech"].account, w.partner["bi"].account, w.partner["research"].account])
    t0 = w.at(r.randint(1, max(1, w.days // 3)), 10)
    n = r.randint(60, 220) if w.big else r.randint(8, 24)
    w.hits = []
    ts = sorted(max(t0, min(w.end - HOUR, w.at(r.randint(1, w.days - 1), r.uniform(8, 19)))) for _ in range(n))

    def fn(L: Any, t: Any) -> Any:
        caps = L.caps.get(acc)
        if not caps:
            return
        if w.hits and r.random() < 0.45:
            cid, hid, m, _ = r.choice(w.hits)[:4]
        else:
            cid, hid, m, _ = r.choice(caps[-60:])
        L.refund(acc, t, cid, m)
        w.hits.append((cid, hid, m, t))

    for t in ts:
        o = r.choice(a.orders)
        w.req(t, "POST /v1/orders/{id}/refunds", a, target=f"/v1/orders/{o}/refunds", noise=False, mark="f")
        w.extra.append((t + 400, fn))
    yield
    f = marked(w, "f")
    c = [h[0] for h in w.hits]
    twice = [x for x in dict.fromkeys(c) if c.count(x) > 1]
    w.say(
        f"{a.subject} (support) issued {len(f)} refunds by POST /v1/orders/{{id}}/refunds, {span(w, f)}, and within a second the credits went to one account, {acc}: {len(w.hits)} ledger refunds, {sum(h[2] for h in w.hits)} orbs.",
        f"{len(twice)} captures were refunded more than once, e.g. {eg(twice, 4)}, which no work of that account explains."
        if twice
        else "The refunded work had all been done and captured; nobody complained.",
    )
    w.no("the occasional single refunds of other accounts (about two in a thousand captures)", "billing-worker, whose few refunds a day are its task")


@kind("price-change", entries=True)
def price_change(w: Any) -> Any:
    w.deploys = 0
    yield
    r = w.rng
    t0 = w.cut(0.3, 0.7)

    def count(k: Any) -> Any:
        return min(sum(x.tpl == k and x.status < 300 and x.t < t0 for x in w.rows), sum(x.tpl == k and x.status < 300 and x.t > t0 + 10 * HOUR for x in w.rows))

    key, old, new = r.choice(
        [
            c
            for c in [
                ("POST /v1/reports", 5, 8),
                ("POST /v1/transcriptions", 3, 2),
                ("POST /v1/messages", 1, 2),
                ("POST /v1/exports", 20, 35),
                ("POST /v1/reports", 5, 4),
            ]
            if count(c[0]) >= 12 or c[0] == "POST /v1/messages"
        ]
    )
    roll = {p: t0 + (r.randint(0, 20) * HOUR // 2 if w.big else i * 50000) for i, p in enumerate(w.pods)}
    w.prices = lambda x: new if x.tpl == key and x.t >= roll[x.instance] else x.price
    yield
    n = [x for x in w.rows if x.tpl == key and x.orbs == new]
    o = [x for x in w.rows if x.tpl == key and x.orbs == old]
    ends = [v for v in roll.values()]
    w.say(
        f"The price of {key} changed from {old} to {new} orbs, from {w.say_t(min(ends))}; {len(o)} calls were charged {old} and {len(n)} calls {new}, for all accounts alike.",
        f"The pods took it over one after another until {w.say_t(max(ends))}"
        + (", so that for hours the price depended on the pod that answered." if w.big else ".")
        + " Holds, captures and the log agree; the policy file shows the old price.",
    )
    w.no("that some account was overcharged or favoured, or that a client cheated")


@kind("charged-to-other-account", days=(3, 14), entries=True)
def charged_other(w: Any) -> Any:
    w.deploys = 0
    yield
    r = w.rng
    p = w.partner[r.choice(["speech", "bi", "research"])]
    v = w.partner["lab"] if r.random() < 0.5 else r.choice([q for q in w.partners if q is not p])
    t0 = w.cut(0.2, 0.6)
    pods = None if w.big else r.sample(w.pods, max(1, w.npods // 3))
    for x in w.rows:
        if x.client == p.client and x.t >= t0 and x.account == p.account and (pods is None or x.instance in pods):
            x.account, x.mark = v.account, "c"
    yield
    c = [x for x in marked(w, "c") if x.orbs]
    w.say(
        f"From {w.say_t(t0)} to the end of the log the priced calls of {p.client} were charged to {v.account}, the account of {v.client}, instead of {p.account}: {len(c)} calls, {sum(x.orbs for x in c)} orbs"
        + (f", only by the pods {some(pods, 4)}." if pods else ", by all pods."),
        f"Scopes, key and addresses of {p.client} are unchanged: the assignment of client to account is what changed.",
    )
    w.no(f"that {v.client} used more; its own calls did not change", f"a stolen key of {v.client}: its client id never appears in these rows")


@kind("probing-by-head")
def probing_head(w: Any) -> Any:
    yield
    r = w.rng
    bypass = r.random() < 0.6
    a = r.choice(w.active("customer", 5)) if r.random() < 0.6 else w.partner["pharmacy"]
    n = r.randint(2500, 7000) if w.big else r.randint(60, 300)
    first = w.patients0 + r.randint(0, w.npatients // 2)
    ad = w.foreign()
    gap = 1100
    t = min(w.at(r.randint(w.days // 4, w.days - 1), r.randint(0, 21)), w.end - n * gap * 2)
    if a.subject:
        w.login(t - 2000, a, True, ad, "l")
    for i in range(n):
        t += r.expovariate(1 / gap) + 60
        q = r.random()
        if q < 0.7:
            tpl, tgt = "/v1/patients/{id}", f"/v1/patients/{first + i}"
        elif q < 0.9:
            tpl, tgt = "/v1/invoices/{id}", f"/v1/invoices/{w.order_id('i')}"
        else:
            tpl = r.choice(["/v1/users", "/v1/audit", "/v1/exports", "/v1/keys"])
            tgt = tpl
        st = (200 if r.random() < 0.6 else 404) if bypass else r.choice([403, 403, 403, 405])
        if tpl in ("/v1/exports", "/v1/keys"):
            st = 405
        w.req(t, "HEAD " + tpl, a, target=tgt, status=st, err="insufficient_scope" if st == 403 else "", addr=ad, mark="h")
    yield
    h = marked(w, "h")
    w.say(
        f"{a.subject or a.client} (client {a.client}) probed with HEAD from {ad}, {span(w, h)}: {len(h)} calls on patients from number {first} on, on invoices and on admin routes.",
        (
            f"HEAD was not held to the scopes: {sum(x.status == 200 for x in h)} were answered 200 and the rest 404 or 405, though the token lacks patients:read and users:admin, so whoever asked learnt which patients exist (contents were not sent)."
            if bypass
            else f"All were refused with 403 or 405, nothing was learnt but that the routes exist."
        ),
    )
    w.no("uptime-probe, which sends HEAD /v1/ping all day", "a read of the records themselves: there is no GET")


@kind("look-alike-client", days=(3, 14))
def look_alike(w: Any) -> Any:
    yield
    r = w.rng
    p = w.partner[r.choice(["lab", "pharmacy", "insurer", "research"])]
    c = p.client
    cand = [
        c.replace("l", "1", 1),
        c.replace("-", "_"),
        c.replace("o", "0", 1),
        c.replace("i", "l", 1),
        c.replace("n", "nn", 1),
        c.replace("a", "\u0430", 1),
        c + "s",
        c.replace("e", "3", 1),
    ]
    name = r.choice([x for x in cand if x != c])
    t0 = w.cut(0.15, 0.5)
    ad = w.foreign()
    adm = r.choice(w.users["admin"])
    tk = t0 - r.randint(1, 5) * HOUR
    x = w.req(tk, "POST /v1/keys", adm, noise=False, addr=ad if r.random() < 0.5 else None)
    w.keyed = f"The key was probably made at {w.say_t(tk)} by POST /v1/keys with the account of {adm.subject} from {x.address}" + (
        ", the impostor's own address." if x.address == ad else "."
    )
    f = Actor(
        name,
        "",
        p.sc + " records:read patients:read",
        "api_key",
        p.account,
        [ad],
        mix={"GET /v1/patients": 1, "GET /v1/patients/{id}": 6, "GET /v1/patients/{id}/records": 6},
    )
    n = r.randint(1500, 5000) if w.big else r.randint(60, 250)
    for _ in range(n):
        t = r.uniform(t0, w.end)
        w.req(t, r.choices(f.mix, weights=f.w)[0], f, mark="l")
    sis = p.clone(client=c + r.choice(["-eu", "-test", "2"]), addr=[p.addr[0]])
    for _ in range(r.randint(40, 200)):
        w.req(r.uniform(w.start, w.end), r.choices(p.mix, weights=p.w)[0], sis)
    yield
    m = marked(w, "l")
    w.say(
        f"A client {name!r} appears first at {w.say_t(min(x.t for x in m))}; the name imitates the partner {c!r} but the key is another one, held by somebody at {ad} and charged to {p.account}.",
        f"It read {len({x.target for x in m if x.status == 200 and '{id}' in x.tpl})} different patients or records until the end of the log ({len(m)} calls), with records:read{'' if 'records:read' in p.scopes else ', which ' + c + ' does not hold'}, without any daily rhythm.",
        w.keyed,
    )
    w.no(
        f"{c} itself", f"{sis.client}, the partner's real second client at the partner's own address", "a change of spelling: the true client goes on unchanged"
    )


@kind("stolen-service-token-deletes", days=(2, 12))
def stolen_deletes(w: Any) -> Any:
    yield
    r = w.rng
    a = w.svc["retention-job"]
    ad = w.foreign() if r.random() < 0.75 else w.ip(True)
    n = r.randint(1500, 4500) if w.big else r.randint(60, 260)
    t = t0 = min(w.at(r.randint(w.days // 3, max(w.days // 3, w.days - 2)), r.choice([1, 4, 12, 22])), w.end - 12 * HOUR - n * 500)
    pan = sorted({x.target for x in w.rows if x.tpl == "GET /v1/patients/{id}" and x.status == 200 and x.t < t0})
    r.shuffle(pan)
    pan = pan[:n]
    for tgt in pan:
        t += r.expovariate(1 / 350) + 40
        w.req(t, "DELETE /v1/patients/{id}", a, target=tgt, addr=ad, status=204 if r.random() < 0.985 else 404, mark="d")
    gone = {x.target: x.t for x in w.rows if x.mark == "d" and x.status == 204}
    for x in w.rows:
        if x.mark != "d" and x.status in (200, 201, 204) and x.tpl.split(" ", 1)[1].startswith("/v1/patients/{id}"):
            g = gone.get(x.target.removesuffix("/records"))
            if g and x.t > g:
                x.status, x.mark = 404, "after"
    yield
    d, aft = marked(w, "d"), marked(w, "after")
    w.say(
        f"With the service token of retention-job {sum(x.status == 204 for x in d)} patients were deleted (DELETE /v1/patients/{{id}}), {span(w, d)}, from {ad}, an address that this service never had ({some(a.addr)}); e.g. {eg([x.target for x in d], 3)}.",
        f"After it {len(aft)} calls of honest callers for those patients ran into 404.",
    )
    w.no("retention-job itself, which erases a dozen patients a night after four from its own addresses", "the callers who now get 404: they do not enumerate")


@kind("rate-limit-storm", n=(23000, 80000))
def storm(w: Any) -> Any:
    yield
    r = w.rng
    a = r.choice([w.partner["pharmacy"], w.partner["lab"], w.svc["billing-worker"]])
    key = {"pharmacy": "GET /v1/products", "lab": "GET /v1/lab-results/{id}"}.get(a.role, "GET /v1/invoices/{id}")
    n = r.randint(12000, 26000) if w.big else r.randint(1500, 4000)
    dur = r.randint(25, 180) * MIN
    t0 = min(w.cut(0.2, 0.8), w.end - dur - HOUR)
    t = t0
    ad = a.addr[0]
    i = 0
    tgt = w.fill(key, a)
    gap = dur / n
    while i < n:
        t += r.expovariate(1 / gap)
        ok = r.random() < 0.03
        w.req(t, key, a, target=tgt, status=200 if ok else 429, addr=ad, mark="w")
        if ok:
            tgt = w.fill(key, a)
        i += 1
    end = t
    for x in w.rows:
        if x.mark is None and t0 < x.t < end and x.status < 300 and x.client and r.random() < (0.12 if w.big else 0.04):
            x.status, x.mark = r.choice([503, 503, 429]), "c"
    yield
    s, c = marked(w, "w"), marked(w, "c")
    w.say(
        f"{a.client} ({ad}) repeated {key} without waiting after 429: {len(s)} calls, {span(w, s)}, {sum(x.status == 429 for x in s)} of them 429, the same target again and again.",
        f"As a side effect {len(c)} calls of {len({x.client for x in c})} other clients got 503 or 429 in that time.",
    )
    w.no("a denial-of-service attack from outside: known client, known address, valid token", "the clients that got 503 in that time")


@kind("scope-removed-by-mistake", days=(3, 14))
def scope_removed(w: Any) -> Any:
    yield
    r = w.rng
    role, scope = r.choice(
        [("desk", "appointments:write"), ("nurse", "records:read"), ("doctor", "lab:read"), ("customer", "orders:read"), ("billing", "invoices:read")]
    )
    d = w.workday(0, w.days - 2)
    t0 = w.at(d, r.choice([7, 8, 9, 10]))
    t1 = min(w.end - HOUR, t0 + (r.randint(24, 60) * HOUR if w.big else r.randint(3, 9) * HOUR))
    old = " ".join(sorted(ROLES[role][0].split()))
    new = " ".join(s for s in old.split() if s != scope)
    for x in list(w.rows):
        if x.scopes == old and t0 <= x.t < t1:
            x.scopes = new
            if w.need.get(x.tpl, ("",))[0] == scope:
                x.status, x.err, x.mark = 403, "insufficient_scope", "z"
                for i in range(r.choice([0, 1, 1, 2])):
                    y = x.copy()
                    y.t += (i + 1) * r.randint(2000, 9000)
                    w.rows.append(y)
    w.req(t0 - 20000, "PUT /v1/users/{id}/roles", w.users["admin"][0], target=f"/v1/users/role:{role}/roles", noise=False)
    w.req(t1, "PUT /v1/users/{id}/roles", w.users["admin"][0], target=f"/v1/users/role:{role}/roles", noise=False)
    yield
    z = marked(w, "z")
    w.say(
        f"The scope {scope} was taken from the role {role} by mistake at {w.say_t(t0)} (change by {w.users['admin'][0].subject}) and given back at {w.say_t(t1)}.",
        f"In between {len({x.subject for x in z})} people got {len(z)} times 403 insufficient_scope on calls that they did every day before and do after.",
    )
    w.no("an attack or privilege probing by these people", "a wrong scope of single users: the whole role was hit")


@kind("slow-leak", days=(7, 14))
def slow_leak(w: Any) -> Any:
    yield
    r = w.rng
    if r.random() < 0.6:
        a = r.choice(w.active("nurse") if r.random() < 0.5 else w.active("doctor"))
        who, ad = a.subject, a.addr[0]
    else:
        a = w.partner["research"]
        who, ad = a.client, a.addr[0]
    per = r.randint(60, 140) if w.big else r.randint(14, 30)
    step = r.choice([1, 1, 2, 3])
    i, first = 0, w.patients0 + r.randint(0, w.npatients // 3)
    own: dict[Any, Any] = {}
    for x in w.rows:
        if (x.subject == a.subject if a.subject else x.client == a.client) and x.kind:
            own.setdefault((x.t - w.start) // DAY, []).append(x.t)
    for d in range(w.days):
        ts = own.get(d, [])
        for _ in range(per):
            t = r.choice(ts) + r.uniform(1000, 120000) if ts and r.random() < 0.9 else w.at(d, r.uniform(8, 17))
            w.req(t, "GET /v1/patients/{id}/records", a, target="/v1/patients/%d/records" % 0, addr=ad, status=200, mark="q")
    q = sorted((x for x in w.rows if x.mark == "q"), key=lambda x: x.t)
    for x in q:
        x.target = f"/v1/patients/{first + i * step}/records"
        i += 1
    yield
    q = marked(w, "q")
    w.say(
        f"{who} read, hidden in ordinary work over all {w.days} days ({span(w, q)}), the records of {len({x.target for x in q})} patients outside the usual ones, about {per} a day and each only once, in rising order of number with step {step}: {q[0].target} to {q[-1].target}.",
        f"All calls were permitted (scope records:read), from the usual address {ad}; no single day stands out.",
    )
    w.no("busy doctors and nurses with more calls: they return to the same patients", "nightly-export, which reads records every night as its work")


@kind("removed-api-version", days=(3, 14))
def removed_version(w: Any) -> Any:
    w.routes = w.routes + V0
    yield
    r = w.rng
    t0 = w.cut(0.3, 0.6)
    code = r.choice([404, 410, 410])
    ps = [w.svc["fhir-bridge"], w.partner["pharmacy"], w.partner["insurer"]]
    names = {p.client for p in ps} | {"ward-tablet"}
    part = 0.8 if w.big else 0.25
    for x in w.rows:
        new = {"GET /v1/patients/{id}": 1, "GET /v1/appointments": 1, "GET /v1/orders/{id}": 1}.get(x.tpl)
        if new and x.client in names and x.kind and r.random() < part:
            if x.t >= t0 + 3 * DAY and x.client == ps[0].client:
                continue  # moved to v1 at last
            x.target, x.tpl = x.target.replace("/v1/", "/v0/", 1), x.tpl.replace("/v1/", "/v0/", 1)
            x.mark = "v"
            if x.t >= t0 and not x.err:
                x.status = code
    yield
    v = marked(w, "v", lambda x: x.t >= t0)
    w.say(
        f"The old API version /v0 was switched off at {w.say_t(t0)}: since then its three routes answer {code} ({len(v)} calls), while /v1 works.",
        f"Still on /v0 were {some(sorted({x.client for x in v}), 6)}; before that time the same calls were answered 200.",
    )
    w.no("enumeration or probing by those clients", "an outage of the pods", "deleted patients or orders")
