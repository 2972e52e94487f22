"""Oddities of servers, and of their limits."""

from typing import Any

from ..world import DAY, Route
from .common import odd


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
