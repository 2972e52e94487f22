"""Incidents of the data: the service did its work, the log or the ledger export tells it wrongly."""

import hashlib
from typing import Any

from .behaviour import kind, marked, some, span
from .world import DAY, HOUR, MIN


def gap_credits(w: Any, lost: Any) -> Any:
    ids = [x for x in lost if x.orbs]
    return len(ids), sum(x.orbs for x in ids)


@kind("truncated-columns")
def truncated(w: Any) -> Any:
    w.deploys = 0
    yield
    yield
    r = w.rng
    t0, limit = w.cut(0.2, 0.6), r.choice([150, 170, 190, 210])
    pods = set(w.pods if w.big else [r.choice(w.pods)])
    w.hit = 0

    def line(x: Any, text: Any) -> Any:
        if x.t >= t0 and x.instance in pods and len(text) > limit:
            w.hit += 1
            return text[:limit]
        return text

    w.line = line
    yield
    w.say(
        f"From {w.say_t(t0)} the log shipper {'of all pods' if w.big else 'of pod ' + some(sorted(pods))} cuts lines after {limit} characters: {w.hit} rows end in the middle and lack their last columns (orbs and authorization_error always, often also account, instance, address, or even the status and a part of scopes).",
        "Long lines are hit most, that is people with many scopes and long targets; the calls themselves were served normally.",
    )
    w.no("calls without account, without payment or without scopes; fields that are absent were cut, not empty")


@kind("shifted-columns")
def shifted(w: Any) -> Any:
    w.deploys = 0
    yield
    yield
    r = w.rng
    t0, how = w.cut(0.25, 0.6), r.choice(["drop", "comma", "extra"])
    pods = set(w.pods if w.big and how != "drop" else r.sample(w.pods, max(1, w.npods // 3)))
    w.hit, w.hits = 0, set()

    def fields(x: Any, f: Any) -> Any:
        if x.t < t0 or x.instance not in pods:
            return f
        if how == "drop":
            w.hit += 1
            return f[:4] + f[5:]
        if how == "extra":
            w.hit += 1
            return f[:2] + [hashlib.md5(f"{x.t}{x.target}".encode()).hexdigest()[:16]] + f[2:]
        if "," in f[2]:
            w.hit += 1
            return f[:2] + f[2].split(",") + f[3:]
        return f

    w.fields = fields
    yield
    what = {
        "drop": "leaves the column subject out, so that everything after client stands one column too far left (scopes under subject, token_kind under scopes, address under status and so on; 12 columns)",
        "comma": "no longer quotes a target that contains a comma (?...&fields=name,dob), so that everything after it stands one column too far right (14 columns)",
        "extra": "writes a trace id as a new third column without a change of the header, so that target and everything after it stand one too far right (14 columns)",
    }[how]
    w.say(
        f"From {w.say_t(t0)} the logger of {some(sorted(pods), 9)} {what}: {w.hit} rows.",
        "The rows are complete otherwise and can be repaired by shifting them back.",
    )
    w.no("users named like scopes, clients named like user names, statuses that are addresses: these are shifted values, and none of these rows shows a misuse")


@kind("hours-missing", n=(30000, 110000), entries=True)
def hours_missing(w: Any) -> Any:
    yield
    yield
    r = w.rng
    gaps = []
    for i in range(r.randint(2, 3) if w.big and w.days > 3 else 1):
        t0 = w.at(r.randint(i * w.days // 3, min(w.days - 1, (i + 1) * w.days // 3)), r.choice([1, 8, 10, 13, 17]), r.randint(0, 59))
        t0 = min(t0, w.end - 8 * HOUR)
        gaps.append((t0, t0 + r.randint(100, 420) * MIN))
    lost = [x for x in w.rows if any(a <= x.t < b for a, b in gaps)]
    w.rows = [x for x in w.rows if not any(a <= x.t < b for a, b in gaps)]
    n, o = gap_credits(w, lost)
    w.say(
        "The log has no row at all, from any pod, "
        + " and ".join(f"from {w.say_t(a)} to {w.say_t(b)}" for a, b in gaps)
        + f"; the collector stood still and about {len(lost)} rows are lost.",
        f"The service worked: the ledger shows {n} captured calls ({o} orbs) within that time that no log row belongs to.",
    )
    w.no("an outage of the service", "credits charged without work", "somebody deleting rows about themselves: all callers are missing alike")


@kind("sampling-starts", days=(3, 14), n=(60000, 112000), entries=True)
def sampling(w: Any) -> Any:
    yield
    yield
    r = w.rng
    t0, k = w.cut(0.35, 0.6), r.choice([5, 10, 20])
    before = len(w.rows)
    errs = r.random() < 0.7
    w.rows = [x for x in w.rows if x.t < t0 or (errs and x.status >= 400) or r.random() < 1 / k]
    w.say(
        f"From {w.say_t(t0)} only one in {k} rows is written"
        + (", but every row with a status of 400 or above" if errs else ", at random and of every status")
        + f"; {before - len(w.rows)} rows are not in the log.",
        "The ledger is complete and shows unchanged use, so most captures after that time have no row in the log."
        + (" The share of errors seems to rise many times, which is an effect of the sampling." if errs else ""),
    )
    w.no("a fall of traffic or customers leaving", "a wave of errors" if errs else "single callers who went away", "charges without calls")


@kind("duplicates-shipped", n=(23000, 80000))
def duplicates(w: Any) -> Any:
    w.deploys = 0
    yield
    yield
    r = w.rng
    t0 = w.cut(0.2, 0.7)
    t1 = min(w.end, t0 + (r.randint(10, 26) * HOUR if w.big else r.randint(30, 150) * MIN))
    pods = set(w.pods) if w.big else {r.choice(w.pods)}
    times = r.choice([1, 1, 2])
    dup = [x for x in w.rows if t0 <= x.t < t1 and x.instance in pods]
    if len(w.rows) + times * len(dup) > 118000:
        times = 1
    if r.random() < 0.5:  # the repetition stands after the period, as it arrived
        i = next((i for i, x in enumerate(w.rows) if x.t >= t1), len(w.rows))
        w.rows = w.rows[:i] + dup * times + w.rows[i:]
        where = "as a block after that period"
    else:
        w.rows = sorted(w.rows + dup * times, key=lambda x: x.t)
        where = "each beside its original"
    w.say(
        f"The shipper delivered the rows of {'all pods' if w.big else 'pod ' + some(sorted(pods))} from {w.say_t(t0)} to {w.say_t(t1)} again, {times} time{'s' if times > 1 else ''}: {len(dup) * times} rows are exact repetitions to the millisecond ({where}).",
        "Each call happened once and was charged once.",
    )
    w.no("double charging", "replayed requests or clients that repeat themselves: true retries have another time")


@kind("zones-mixed")
def zones(w: Any) -> Any:
    w.deploys = 0
    yield
    yield
    r = w.rng
    pods = list(w.pods)
    r.shuffle(pods)
    bad = pods[: 1 if not w.big else max(1, len(pods) // 3)]
    good = pods[len(bad) : len(bad) + 1]
    t0 = w.start if r.random() < 0.5 else w.cut(0.2, 0.6)
    z = w.zone
    tail = f"+{z // 60:02d}:{z % 60:02d}"
    n = 0
    for x in w.rows:
        n += x.instance in bad and x.t >= t0

    def clock(x: Any) -> Any:
        if x.instance in good:
            return w.when(x.t, z, tail)
        if x.instance in bad and x.t >= t0:
            return w.when(x.t, z, "Z")
        return w.when(x.t)

    w.clockf = clock
    w.say(
        f"The pod{'s' if len(bad) > 1 else ''} {some(bad, 4)} write{'' if len(bad) > 1 else 's'} local time but mark{'' if len(bad) > 1 else 's'} it Z, {'in the whole log' if t0 == w.start else 'since ' + w.say_t(t0)}: its {n} rows are {z // 60} hour{'s' if z > 60 else ''} too late. (Times here are true UTC.)",
        f"{some(good)} also writes local time, but correctly with {tail}. Rows are in order of arrival, which is the true order.",
    )
    w.no(
        "sessions used hours after logging out, work before the login, one user in two places at once, or activity at night because of these rows",
        f"{some(good)}, which is right",
    )


@kind("spelling-changes")
def spelling(w: Any) -> Any:
    w.deploys = 0
    yield
    yield
    r = w.rng
    t0 = w.cut(0.3, 0.6)
    pods = set(w.pods) if w.big else set(r.sample(w.pods, max(1, w.npods // 2)))
    how = r.choice(["client", "client", "scopes", "both", "subject"])
    camel = r.choice([lambda c: "".join(p.capitalize() for p in c.split("-")), lambda c: c.replace("-", "_"), lambda c: c.upper(), lambda c: "urn:app:" + c])
    sc = r.choice(
        [lambda s: s.replace(":", "."), lambda s: " ".join(f"api/{q}" for q in s.split()), lambda s: s.replace(":read", ":r").replace(":write", ":w")]
    )
    n = 0
    ex: dict[Any, Any] = {}
    for x in w.rows:
        if x.t >= t0 and x.instance in pods:
            n += 1
            if how in ("client", "both") and x.client:
                ex[x.client] = x.client = camel(x.client) if x.client not in ex else ex[x.client]
            if how in ("scopes", "both"):
                x.scopes = sc(x.scopes)
            if how == "subject" and x.subject:
                x.subject = x.subject + "@hospital.example"
    s = next(x for x in w.rows if x.t >= t0 and x.instance in pods and x.client and x.scopes and (x.subject or how != "subject"))
    w.say(
        f"From {w.say_t(t0)} {'all pods' if w.big else 'the pods ' + some(sorted(pods), 4)} spell the column{'s client and scopes' if how == 'both' else ' ' + how} differently, e.g. client {s.client!r}, scopes {s.scopes[:40]!r}, subject {s.subject!r}: {n} rows.",
        "Addresses, rhythm, statuses and everything else go on unchanged; they are the same callers with the same rights.",
    )
    w.no("new clients or users that appear, old ones that vanish, or rights that were taken away or added")


@kind("pod-log-ends-early", n=(30000, 105000), entries=True)
def pod_ends(w: Any) -> Any:
    w.deploys = 0
    yield
    yield
    r = w.rng
    pod = r.choice(w.pods)
    t0 = w.cut(0.15, 0.5) if w.big else w.cut(0.6, 0.8)
    lost = [x for x in w.rows if x.instance == pod and x.t >= t0]
    w.rows = [x for x in w.rows if not (x.instance == pod and x.t >= t0)]
    n, o = gap_credits(w, lost)
    w.say(
        f"The log of pod {pod} ends at {w.say_t(t0)}, but the pod went on serving to the end: about {len(lost)} rows ({100 // w.npods} % of the traffic from then on) are missing.",
        f"It shows in that the other pods did not take over its share, that people's sittings have holes, and in {n} captures ({o} orbs) of the ledger without a log row.",
    )
    w.no("that the pod was stopped or crashed", "charges without calls", "sessions without login, whose login that pod served")


@kind("ledger-gaps", entries=True)
def ledger_gaps(w: Any) -> Any:
    yield
    yield
    r = w.rng
    e = w.entries
    k = r.randint(3, 7)
    cut: list[Any] = []
    _rng: list[Any] = []
    for _ in range(k):
        m = r.randint(len(e) // 50, len(e) // 15) if w.big else r.randint(2, 12)
        i = r.randint(20, len(e) - m - 20)
        cut.append((i, i + m))
    cut.sort()
    gone = {j for a, b in cut for j in range(a, b)}
    renum = r.random() < 0.3
    first = e[0][0]
    out, what = [], []
    for j, x in enumerate(e):
        if j not in gone:
            out.append(list(x))
    m = []
    for a, b in cut:
        if m and a <= m[-1][1]:
            m[-1][1] = max(b, m[-1][1])
        else:
            m.append([a, b])
    what = [f"{e[a][0]} to {e[b - 1][0]} ({w.say_t(e[a][1])} to {w.say_t(e[b - 1][1])})" for a, b in m]
    if renum:
        for j, x in enumerate(out):
            x[0] = first + j
    w.entries = out
    w.say(
        f"The ledger export lacks {len(gone)} entries in {len(m)} places"
        + (", though its seq runs through because the export was numbered anew; by the true numbers: " if renum else "; by seq: ")
        + "; ".join(what)
        + ".",
        "The balances paid, bonus and held of the accounts jump at these places, holds have no capture and captures no hold; the log of calls is complete and fits the true ledger.",
    )
    w.no("money taken or given by hand, holds left open, or calls that were not paid for: the entries exist, they were merely not exported")


@kind("ledger-twice", entries=True)
def ledger_twice(w: Any) -> Any:
    yield
    yield
    r = w.rng
    e = w.entries
    whole = r.random() < 0.4
    a, b = (0, len(e)) if whole else sorted(r.sample(range(0, len(e)), 2))
    if not whole and b - a < len(e) // 8:
        a, b = len(e) // 3, 2 * len(e) // 3
    part = [list(x) for x in e[a:b]]
    inter = not whole and r.random() < 0.5
    w.entries = (e[:b] + part + e[b:]) if inter or whole else e + part
    w.say(
        f"The ledger export holds {'everything' if whole else 'one part'} twice: the {len(part)} entries with seq {part[0][0]} to {part[-1][0]} ({w.say_t(part[0][1])} to {w.say_t(part[-1][1])}) are repeated with the same seq and ids, {'directly after their first appearance' if inter or whole else 'at the end of the file'}.",
        "The balances of the repeated entries are the same as the first time, and the log of calls has each call once; so each was charged once.",
    )
    w.no("double charges, double grants or double refunds")


@kind("half-pods-absent", n=(52000, 115000), entries=True)
def half_absent(w: Any) -> Any:
    w.deploys = 0
    w.npods = max(4, w.npods)
    yield
    yield
    r = w.rng
    gone = set(r.sample(w.pods, w.npods // 2))
    t0 = w.start if w.big else w.cut(0.2, 0.5)
    lost = [x for x in w.rows if x.instance in gone and x.t >= t0]
    w.rows = [x for x in w.rows if not (x.instance in gone and x.t >= t0)]
    n, o = gap_credits(w, lost)
    w.say(
        f"The logs of {len(gone)} of {w.npods} pods are absent {'from the whole delivery' if t0 == w.start else 'since ' + w.say_t(t0)} ({some(sorted(gone), 4)}): {len(lost)} rows.",
        f"Of the captures in the ledger {n} ({o} orbs) have no row in the log, evenly over accounts and hours, and sittings lack single steps at random, often the login.",
    )
    w.no(
        "charges without calls",
        "users working without login",
        "a halving of the traffic" if t0 != w.start else "small traffic: the true one is about twice as large",
    )


@kind("clock-skew")
def clock_skew(w: Any) -> Any:
    w.deploys = 0
    yield
    r = w.rng
    pod = r.choice(w.pods)
    sign = r.choice([1, 1, -1])
    most = sign * (r.randint(18, 55) * MIN if w.big else r.randint(60, 300) * 1000)
    a = w.start + r.randint(0, w.days * 8) * HOUR
    b = w.end - r.randint(2, max(3, w.days * 6)) * HOUR
    w.skew = lambda t: int(most * (t - a) / (b - a)) if a <= t < b else 0
    for x in w.rows:
        s = w.skew(x.t)
        if x.instance == pod and x.kind == "session" and s > 4 * MIN and x.status < 300 and r.random() < 0.12:
            x.status, x.err, x.mark = 401, "expired_token", "x"
    yield
    rows = [x for x in w.rows if x.instance == pod and a <= x.t < b]
    ex = marked(w, "x")
    arrival = r.random() < 0.5
    for x in rows:
        x.t += w.skew(x.t)
    if not arrival:
        w.rows.sort(key=lambda x: x.t)
    w.say(
        f"The clock of pod {pod} drifts from {w.say_t(a)} on and is {abs(most) // 1000} seconds {'ahead' if sign > 0 else 'behind'} at {w.say_t(b)}, when it is set right at once; the times of its {len(rows)} rows are wrong by up to that much (the log is ordered by {'arrival' if arrival else 'the written time'}).",
        (f"Because it believes to be later, it also refused {len(ex)} still valid sessions as expired_token. " if ex else "")
        + "Seen over pods, people seem to work before their login or after their logout.",
    )
    w.no("stolen or replayed sessions", "requests before login as a break of the login")


@kind("subjects-hashed")
def hashed(w: Any) -> Any:
    w.deploys = 0
    yield
    yield
    r = w.rng
    t0 = w.cut(0.3, 0.6)
    how = r.choice(["sha", "sha", "blank", "daily"])
    n = 0
    for x in w.rows:
        if x.t >= t0 and x.subject:
            n += 1
            if how == "blank":
                x.subject = ""
            else:
                salt = x.t // DAY if how == "daily" else "s"
                x.subject = hashlib.sha256(f"{salt}{x.subject}".encode()).hexdigest()[:12]
    w.say(
        f"From {w.say_t(t0)} the column subject is {'empty' if how == 'blank' else 'a pseudonym (hash)' + (', another one every UTC day' if how == 'daily' else '')} in all {n} rows of people: privacy masking was switched on.",
        "It is the same people with the same clients, addresses and scopes"
        + (
            "; who did what can no longer be said from the log."
            if how == "blank"
            else ("; within a day a pseudonym is stable." if how == "daily" else "; a pseudonym stays the same for the rest of the log.")
        ),
    )
    w.no("hundreds of invented or new users", "all users having left", "tokens without a person")


@kind("addresses-proxied")
def proxied(w: Any) -> Any:
    w.deploys = 0
    yield
    yield
    r = w.rng
    t0 = w.cut(0.25, 0.6)
    lbs = [f"10.0.{r.randint(0, 9)}.{r.randint(2, 20)}" for _ in range(r.randint(1, 3))]
    pods = set(w.pods) if w.big else set(r.sample(w.pods, max(1, w.npods // 2)))
    n, cl = 0, set()
    for x in w.rows:
        if x.t >= t0 and x.instance in pods and not x.address.startswith("10.20."):
            x.address = r.choice(lbs)
            cl.add(x.client)
            n += 1
    w.say(
        f"From {w.say_t(t0)} {'all pods' if w.big else 'the pods ' + some(sorted(pods), 5)} log the load balancer ({some(lbs)}) as the client address instead of the caller's: {n} rows of {len(cl)} clients. The forwarded header is no longer evaluated.",
        "Who calls and what they do did not change.",
    )
    w.no("one attacker at that address who uses everybody's tokens", "stolen tokens used elsewhere", "failed logins from 'one address' as stuffing")


@kind("statuses-masked")
def masked(w: Any) -> Any:
    w.deploys = 0
    yield
    yield
    r = w.rng
    t0 = w.cut(0.2, 0.6)
    pods = set(w.pods) if w.big and r.random() < 0.5 else {r.choice(w.pods)}
    to = r.choice(["200", "200", "0", "class"])
    n = 0
    for x in w.rows:
        if x.t >= t0 and x.instance in pods:
            s = {"200": 200, "0": 0, "class": x.status // 100 * 100}[to]
            n += s != x.status
            x.status = s
    d = sum(1 for x in w.rows if x.t >= t0 and x.instance in pods and x.err)
    w.say(
        f"From {w.say_t(t0)} {'all pods' if len(pods) > 1 else 'pod ' + some(pods)} write{'' if len(pods) > 1 else 's'} {'the status 200 for everything' if to == '200' else 'the status 0 for everything' if to == '0' else 'only the class of the status (200 for 201 and 204, 400 for 401, 403 and 404, ...)'}: {n} rows have a wrong status.",
        f"The true answers were as before; {d} of those rows still tell of a refusal in authorization_error, and refused priced calls still have 0 orbs.",
    )
    w.no(
        "a pod that lets everybody in in spite of insufficient_scope or no_token" if to == "200" else "an outage of that pod",
        "free work: priced calls with 0 orbs there were refused or failed",
    )


@kind("day-repeated", days=(4, 14), entries=True)
def day_repeated(w: Any) -> Any:
    yield
    yield
    r = w.rng
    d = r.randint(0, w.days - 2)
    back = r.choice([1, 1, min(7, d + 1)])
    src = d if back == 1 else d + 1 - back
    dst = src + back
    a, b = w.start + src * DAY, w.start + dst * DAY
    # delivery is by UTC day
    a -= a % DAY
    b -= b % DAY
    if a < w.start:
        a, b = a + DAY, b + DAY
    copy = []
    for x in w.rows:
        if a <= x.t < a + DAY:
            y = x.copy()
            y.t += b - a
            copy.append(y)
    lost = [x for x in w.rows if b <= x.t < b + DAY]
    w.rows = [x for x in w.rows if x.t < b] + copy + [x for x in w.rows if x.t >= b + DAY]
    w.say(
        f"The log of the UTC day {w.say_t(b)[:10]} is the file of {w.say_t(a)[:10]} with another date: {len(copy)} rows agree to the millisecond in everything but the day; the true rows of that day (about {len(lost)}) are missing.",
        "The ledger is right: its holds and captures of that day do not fit the times of the log rows, those of the day copied fit.",
    )
    w.no("machines that repeat a day exactly, a replay attack, or charges without calls on that day")


@kind("staging-mixed", n=(23000, 80000))
def staging(w: Any) -> Any:
    yield
    r = w.rng
    n = r.randint(9000, 26000) if w.big else r.randint(900, 3000)
    dur = r.randint(40, 360) * MIN
    t0 = min(w.cut(0.2, 0.7), w.end - dur)
    pods = [f"stg-api-{w.hexes(5)}-{i}" for i in range(r.randint(1, 3))]
    us = [r.choice(w.users[k]) for k in ("doctor", "desk", "admin", "billing") for _ in range(2)]
    us = [
        u.clone(subject=f"load.test{i:02d}" if r.random() < 0.7 else u.subject, addr=[w.ip(True)], panel=[str(i) for i in range(1, 60)], account="acc-staging")
        for i, u in enumerate(us)
    ]
    for _ in range(n):
        a = r.choice(us)
        keys = list(a.mix) + (["DELETE /v1/users/{id}"] if a.role == "admin" else [])
        k = r.choice(keys)
        st = r.choice([500, 503, 401, 404]) if r.random() < 0.12 else None
        w.req(
            t0 + r.random() * dur,
            k,
            a,
            status=st,
            err="invalid_token" if st == 401 else "",
            scopes="" if st == 401 else None,
            pod=r.choice(pods),
            mark="g",
            noise=False,
        )
    yield
    g = marked(w, "g")
    w.say(
        f"Rows of the staging system are mixed into the log: {len(g)} rows of the instance{'s' if len(pods) > 1 else ''} {some(pods)}, {span(w, g)}, a load test with the account acc-staging, users load.test.. and some real user names, and patients numbered 1 to 59.",
        f"Among them are {sum(x.tpl == 'DELETE /v1/users/{id}' for x in g)} DELETE /v1/users and {sum(x.status >= 400 for x in g)} errors; none of it happened in production.",
    )
    w.no(
        "deleted users, a wave of errors or an attack from the inner network in production",
        f"the persons whose names the test borrowed ({some(sorted({u.subject for u in us if not u.subject.startswith('load')}), 4) or 'none here'})",
    )
