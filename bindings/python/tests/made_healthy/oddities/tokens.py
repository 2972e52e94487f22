"""Oddities of tokens and scopes."""

from typing import Any

from ..world import PROFILES, Actor
from .common import anon, odd


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
