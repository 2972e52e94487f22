"""The healthy business: people, partners, services, pods, credits. Standard library only."""

import bisect
import heapq
import random
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

MIN, HOUR, DAY = 60_000, 3_600_000, 86_400_000

# ---------------------------------------------------------------- policy
ROUTES = [  # (api, method, template, scope, price)
    ("clinic", "GET", "/v1/patients", "patients:read", 0),
    ("clinic", "GET", "/v1/patients/{id}", "patients:read", 0),
    ("clinic", "POST", "/v1/patients", "patients:write", 0),
    ("clinic", "PATCH", "/v1/patients/{id}", "patients:write", 0),
    ("clinic", "DELETE", "/v1/patients/{id}", "patients:erase", 0),
    ("clinic", "GET", "/v1/patients/{id}/records", "records:read", 0),
    ("clinic", "POST", "/v1/patients/{id}/records", "records:write", 0),
    ("clinic", "GET", "/v1/appointments", "appointments:read", 0),
    ("clinic", "POST", "/v1/appointments", "appointments:write", 0),
    ("clinic", "DELETE", "/v1/appointments/{id}", "appointments:write", 0),
    ("clinic", "GET", "/v1/lab-results/{id}", "lab:read", 0),
    ("clinic", "POST", "/v1/lab-results", "lab:write", 0),
    ("paid", "POST", "/v1/reports", "reports:run", 5),
    ("paid", "GET", "/v1/reports/{id}", "reports:read", 0),
    ("paid", "POST", "/v1/exports", "exports:run", 20),
    ("paid", "POST", "/v1/transcriptions", "speech:run", 3),
    ("paid", "POST", "/v1/messages", "messages:send", 1),
    ("shop", "GET", "/v1/products", "catalog:read", 0),
    ("shop", "GET", "/v1/products/{id}", "catalog:read", 0),
    ("shop", "GET", "/v1/orders", "orders:read", 0),
    ("shop", "GET", "/v1/orders/{id}", "orders:read", 0),
    ("shop", "POST", "/v1/orders", "orders:write", 0),
    ("shop", "POST", "/v1/orders/{id}/refunds", "refunds:issue", 0),
    ("shop", "GET", "/v1/invoices/{id}", "invoices:read", 0),
    ("admin", "GET", "/v1/users", "users:admin", 0),
    ("admin", "POST", "/v1/users", "users:admin", 0),
    ("admin", "PUT", "/v1/users/{id}/roles", "users:admin", 0),
    ("admin", "DELETE", "/v1/users/{id}", "users:admin", 0),
    ("admin", "POST", "/v1/keys", "keys:admin", 0),
    ("admin", "DELETE", "/v1/keys/{id}", "keys:admin", 0),
    ("admin", "GET", "/v1/audit", "audit:read", 0),
]
PUBLIC = [("POST", "/v1/sessions"), ("DELETE", "/v1/sessions/current"), ("GET", "/v1/ping"), ("HEAD", "/v1/ping")]
V0 = [
    ("legacy", "GET", "/v0/patients/{id}", "patients:read", 0),
    ("legacy", "GET", "/v0/appointments", "appointments:read", 0),
    ("legacy", "GET", "/v0/orders/{id}", "orders:read", 0),
]


def policy_yaml(routes: Any) -> Any:
    """The one place that knows the YAML form of the policy."""
    out = ["version: 1", "apis:"]
    for api in sorted({r[0] for r in routes}):
        out += [f"  {api}:", "    scopes:"]
        scopes: dict[Any, list[str]] = {}
        for a, m, tpl, scope, price in routes:
            if a == api:
                scopes.setdefault((scope, price), []).append(f"{m} {tpl}")
        for (scope, price), rs in scopes.items():
            listed = ", ".join(f'"{r}"' if "{" in r else r for r in rs)
            out.append(f"      {scope}: {{ orbs: {price if price else 'false'}, routes: [{listed}] }}")
    out.append("# reachable without a token: " + ", ".join(f"{m} {t}" for m, t in PUBLIC))
    return "\n".join(out) + "\n"


def policy_txt(routes: Any) -> Any:
    out = [
        "Every route needs the one scope named beside it. A token without it is answered 403 insufficient_scope;",
        "no token, an unknown or revoked one, or one past its time is answered 401. The price is in orbs (credits):",
        "held before the work, captured when the answer is 2xx, voided when it is 5xx or 422, expired when nobody",
        "settled the hold within 15 minutes. Without enough credits the answer is 402. A route marked - needs no token.",
        "Any other method or path is unknown (404). OPTIONS is answered 204 for browsers. Prices and routes as of the log's start.",
        "",
    ]
    out += [f"{m} {t} {s} {p}" for _, m, t, s, p in routes] + [f"{m} {t} - 0" for m, t in PUBLIC]
    return "\n".join(out) + "\n"


# ---------------------------------------------------------------- roles
ROLES = {
    "doctor": (
        "patients:read patients:write records:read records:write appointments:read lab:read reports:run reports:read speech:run",
        {
            "GET /v1/patients": 8,
            "GET /v1/patients/{id}": 22,
            "GET /v1/patients/{id}/records": 24,
            "POST /v1/patients/{id}/records": 9,
            "GET /v1/appointments": 10,
            "GET /v1/lab-results/{id}": 12,
            "PATCH /v1/patients/{id}": 3,
            "POST /v1/reports": 1.6,
            "GET /v1/reports/{id}": 2,
            "POST /v1/transcriptions": 4,
        },
    ),
    "nurse": (
        "patients:read records:read records:write appointments:read lab:read",
        {
            "GET /v1/patients": 10,
            "GET /v1/patients/{id}": 30,
            "GET /v1/patients/{id}/records": 20,
            "POST /v1/patients/{id}/records": 12,
            "GET /v1/appointments": 12,
            "GET /v1/lab-results/{id}": 10,
            "POST /v1/reports": 0.12,
        },
    ),
    "desk": (
        "patients:read patients:write appointments:read appointments:write messages:send",
        {
            "GET /v1/patients": 22,
            "GET /v1/patients/{id}": 20,
            "POST /v1/patients": 2,
            "PATCH /v1/patients/{id}": 4,
            "GET /v1/appointments": 26,
            "POST /v1/appointments": 12,
            "DELETE /v1/appointments/{id}": 3,
            "POST /v1/messages": 4,
            "GET /v1/patients/{id}/records": 0.15,
        },
    ),
    "billing": (
        "orders:read invoices:read reports:read reports:run",
        {"GET /v1/orders": 14, "GET /v1/orders/{id}": 26, "GET /v1/invoices/{id}": 34, "POST /v1/reports": 2, "GET /v1/reports/{id}": 4},
    ),
    "support": (
        "orders:read orders:write invoices:read refunds:issue messages:send catalog:read",
        {
            "GET /v1/orders": 12,
            "GET /v1/orders/{id}": 36,
            "GET /v1/invoices/{id}": 14,
            "POST /v1/orders/{id}/refunds": 2.2,
            "POST /v1/messages": 5,
            "GET /v1/products/{id}": 8,
        },
    ),
    "admin": (
        "users:admin keys:admin audit:read patients:read",
        {
            "GET /v1/users": 30,
            "POST /v1/users": 1,
            "PUT /v1/users/{id}/roles": 1.2,
            "DELETE /v1/users/{id}": 0.7,
            "POST /v1/keys": 0.6,
            "DELETE /v1/keys/{id}": 0.4,
            "GET /v1/audit": 12,
            "GET /v1/patients/{id}": 1,
        },
    ),
    "customer": (
        "catalog:read orders:read orders:write appointments:read appointments:write invoices:read messages:send",
        {
            "GET /v1/products": 16,
            "GET /v1/products/{id}": 24,
            "GET /v1/orders": 10,
            "GET /v1/orders/{id}": 12,
            "POST /v1/orders": 3,
            "GET /v1/appointments": 14,
            "POST /v1/appointments": 4,
            "DELETE /v1/appointments/{id}": 1.2,
            "GET /v1/invoices/{id}": 6,
            "POST /v1/messages": 1,
        },
    ),
}
ROLE_CLIENTS = {
    "doctor": ["clinic-desktop"],
    "nurse": ["clinic-desktop", "ward-tablet"],
    "desk": ["clinic-desktop"],
    "billing": ["backoffice-web"],
    "support": ["backoffice-web"],
    "admin": ["admin-console"],
    "customer": ["portal-web", "portal-web", "mobile-ios", "mobile-android"],
}
PARTNERS = [  # role, names, scopes, mix, share
    (
        "lab",
        ["lab-connect", "labor-nord", "biolab-bridge"],
        "lab:read lab:write patients:read",
        {"POST /v1/lab-results": 40, "GET /v1/lab-results/{id}": 25, "GET /v1/patients/{id}": 20},
        0.06,
    ),
    (
        "pharmacy",
        ["pharma-link", "apo-express", "medidrop"],
        "orders:read orders:write catalog:read",
        {"GET /v1/orders/{id}": 40, "POST /v1/orders": 12, "GET /v1/products": 12, "GET /v1/products/{id}": 20},
        0.04,
    ),
    ("insurer", ["helvia-insure", "kasse-eins", "unicover"], "invoices:read patients:read", {"GET /v1/invoices/{id}": 60, "GET /v1/patients/{id}": 15}, 0.03),
    (
        "research",
        ["uni-cohort", "trialbase", "epi-study"],
        "reports:run reports:read patients:read records:read",
        {"POST /v1/reports": 14, "GET /v1/reports/{id}": 40, "GET /v1/patients/{id}/records": 14, "GET /v1/patients": 5},
        0.02,
    ),
    ("speech", ["dictaphon", "voxnote", "scribe-ai"], "speech:run messages:send", {"POST /v1/transcriptions": 40, "POST /v1/messages": 8}, 0.03),
    (
        "bi",
        ["dashly", "insight-desk", "kpi-pilot"],
        "reports:run reports:read exports:run orders:read",
        {"POST /v1/reports": 10, "GET /v1/reports/{id}": 30, "POST /v1/exports": 1.2, "GET /v1/orders": 20},
        0.015,
    ),
]
FIRST = "anna ben carla david elif fabio greta hugo ines jonas karim lea marco nora oskar paula quirin rosa samir tara ugo vera wanda xaver yara zeno".split()
LAST = (
    "ackermann bauer costa dubois egger frei graf huber imhof jansen keller lang moser nowak ott peter ruf sato tobler ullrich vogt weber yilmaz zimmer".split()
)
CITIES = ["north", "lake", "central", "harbour", "hill", "park", "west", "spring"]


class R:
    if TYPE_CHECKING:  # what incidents and oddities note on it

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    __slots__ = (
        "t",
        "method",
        "target",
        "client",
        "subject",
        "scopes",
        "kind",
        "status",
        "address",
        "instance",
        "account",
        "orbs",
        "err",
        "tpl",
        "price",
        "cap",
        "mark",
    )

    def copy(self) -> Any:
        n = R.__new__(R)
        for s in R.__slots__:
            setattr(n, s, getattr(self, s))
        return n


class Actor:
    if TYPE_CHECKING:  # what incidents and oddities note on it

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(
        s: Any,
        client: Any,
        subject: Any,
        scopes: Any,
        kind: Any,
        account: Any,
        addr: Any,
        role: Any = "",
        panel: Any = (),
        orders: Any = (),
        invoices: Any = (),
        mix: Any = None,
    ) -> None:
        s.client, s.subject, s.kind, s.account, s.addr, s.role = client, subject, kind, account, addr, role
        s.panel, s.orders, s.invoices = panel, orders, invoices
        s.set_scopes(scopes)
        s.mix = list(mix) if mix else None
        s.w = list(mix.values()) if mix else None
        s.stop = None  # (from, to) when the actor does not appear in ordinary traffic

    def set_scopes(s: Any, scopes: Any) -> Any:
        s.scopes = tuple(sorted(scopes.split() if isinstance(scopes, str) else scopes))
        s.sc = " ".join(s.scopes)

    def clone(s: Any, **kw: Any) -> Any:
        n = Actor.__new__(Actor)
        n.__dict__.update(s.__dict__)
        for k, v in kw.items():
            n.set_scopes(v) if k == "scopes" else setattr(n, k, v)
        return n


OK = {"GET": 200, "HEAD": 200, "POST": 201, "PUT": 200, "PATCH": 200, "DELETE": 204}


class World:
    if TYPE_CHECKING:  # what incidents and oddities note on it
        rows: Any
        entries: Any
        nots: Any
        text: Any
        extra: Any
        decoys: Any
        _daycache: Any
        users: Any

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(w: Any, seed: Any, kind: Any, days: Any, n: Any) -> None:
        w.rng = rng = random.Random(f"incidents/{seed}/{kind}")
        w.seed, w.kind = seed, kind
        w.days = rng.randint(*days)
        lo, hi = n
        w.n = int(lo * (hi / lo) ** rng.random())
        w.big = rng.random() < 0.5
        month = rng.randint(1, 10)
        w.zone = 60 if month <= 3 else 120  # minutes east of UTC, constant over a log
        d = datetime(2026, month, rng.randint(1, 10 if month in (3, 10) else 26), tzinfo=timezone.utc)
        w.start = int(d.timestamp() * 1000) - w.zone * MIN
        w.end = w.start + w.days * DAY
        w.routes = list(ROUTES)
        w.rows, w.entries, w.nots, w.text, w.extra = [], [], [], [], []
        w.deploys = rng.choice([0, 0, 1, 1, 2])
        w.npods = rng.randint(3, 8)
        w.decoys = []
        w.line = None  # row, fields -> text of the line (data incidents)
        w.prices = None  # row -> price, when not the policy's
        w.want_entries = False
        w._daycache = {}
        w.oid = rng.randint(20000, 900000)

    # ------------------------------------------------------ small helpers
    def hexes(w: Any, n: Any = 8) -> Any:
        return f"{w.rng.getrandbits(4 * n):0{n}x}"

    def ip(w: Any, private: Any = False) -> Any:
        r = w.rng
        if private:
            return f"10.20.{r.randint(0, 7)}.{r.randint(2, 250)}"
        return f"{r.choice([31, 37, 46, 62, 77, 80, 84, 91, 178, 185, 188, 212, 213])}.{r.randint(1, 250)}.{r.randint(0, 255)}.{r.randint(1, 254)}"

    def ip6(w: Any) -> Any:
        r = w.rng
        return f"2a02:{r.randint(0x100, 0xFFF):x}:{r.randint(1, 0xFFFF):x}:{r.randint(1, 0xFFFF):x}::{r.randint(1, 0xFFFF):x}"

    def foreign(w: Any) -> Any:
        r = w.rng
        return f"{r.choice([23, 45, 103, 141, 154, 193, 196])}.{r.randint(1, 250)}.{r.randint(0, 255)}.{r.randint(1, 254)}"

    def at(w: Any, day: Any, hour: Any, minute: Any = 0) -> Any:
        """Local clock time of the log's day -> ms."""
        return w.start + day * DAY + int(hour * HOUR) + minute * MIN + w.rng.randint(0, 59_999)

    def say_t(w: Any, t: Any) -> Any:
        return datetime.fromtimestamp(t / 1000, timezone.utc).strftime("%Y-%m-%d %H:%M UTC")

    def weekday(w: Any, day: Any) -> Any:
        return datetime.fromtimestamp((w.start + w.zone * MIN + day * DAY) / 1000, timezone.utc).weekday()

    def workday(w: Any, lo: Any = 0, hi: Any = None) -> Any:
        """A day index, Monday to Friday if the range has one."""
        hi = w.days - 1 if hi is None else hi
        c = [d for d in range(max(lo, 0), hi + 1) if w.weekday(d) < 5] or list(range(max(lo, 0), hi + 1))
        return w.rng.choice(c)

    def cut(w: Any, lo: Any = 0.3, hi: Any = 0.7) -> Any:
        """A moment in the log's middle, in working hours."""
        d = w.rng.randint(int(w.days * lo), max(int(w.days * lo), min(w.days - 1, int(w.days * hi))))
        return w.at(d, w.rng.randint(8, 15), w.rng.randint(0, 59))

    def when(w: Any, t: Any, zone: Any = 0, tail: Any = "Z") -> Any:
        t += zone * MIN
        day, ms = divmod(t, DAY)
        s = w._daycache.get(day)
        if s is None:
            s = w._daycache[day] = datetime.fromtimestamp(day * 86400, timezone.utc).strftime("%Y-%m-%dT")
        s1, ms = divmod(ms, 1000)
        m, s1 = divmod(s1, 60)
        h, m = divmod(m, 60)
        return f"{s}{h:02d}:{m:02d}:{s1:02d}.{ms:03d}{tail}"

    def say(w: Any, *sentences: Any) -> Any:
        w.text += sentences

    def no(w: Any, *things: Any) -> Any:
        w.nots += things

    # ------------------------------------------------------ pods
    def make_pods(w: Any) -> Any:
        r = w.rng
        chars = "bcdfghjklmnpqrstvwxz2456789"

        def name(rs: Any) -> Any:
            return f"api-{rs}-" + "".join(r.choice(chars) for _ in range(5))

        rs = w.hexes(9)
        pods = [name(rs) for _ in range(w.npods)]
        w.epochs = [(w.start - DAY, list(pods))]
        for _ in range(w.deploys):
            t = w.at(r.randint(0, w.days - 1), r.randint(9, 17), r.randint(0, 59))
            rs = w.hexes(9)
            w.epochs.append((t, rs))
        w.epochs.sort(key=lambda e: e[0])
        out = []
        for t, p in w.epochs:
            if isinstance(p, list):
                out.append((t, p))
            else:
                for i in range(w.npods):
                    pods = list(pods)
                    pods[i] = name(p)
                    t += r.randint(20, 70) * 1000
                    out.append((t, pods))
        out.sort(key=lambda e: e[0])
        w.epochs = out
        w.eps = [e[0] for e in out]
        w.pods = out[0][1]

    def pod(w: Any, t: Any) -> Any:
        if len(w.eps) == 1:
            p = w.pods
        else:
            p = w.epochs[bisect.bisect_right(w.eps, t) - 1][1]
        return p[int(w.rng.random() * len(p))]

    # ------------------------------------------------------ people
    def make_people(w: Any) -> Any:
        r = w.rng
        w.index()
        w.patients0 = r.randrange(100000, 700000, 1000)
        w.npatients = r.randint(3000, 20000)
        nclin = r.randint(3, 7)
        names = r.sample(CITIES, nclin)
        w.clinics = [(f"acc-{n}-clinic", w.ip()) for n in names]
        w.house = "acc-house"
        w.users = {k: [] for k in ROLES}
        taken = set()

        def uname() -> Any:
            while True:
                u = f"{r.choice(FIRST)}.{r.choice(LAST)}"
                if u in taken:
                    u += str(r.randint(2, 9999))
                if u not in taken:
                    taken.add(u)
                    return u

        w.uname = uname
        scale = (w.n / 60000) ** 0.5 * (1.5 if w.days < 5 else 1)
        counts = {"doctor": 22, "nurse": 26, "desk": 12, "billing": 6, "support": 6, "admin": 3, "customer": 700}
        for role, c in counts.items():
            for _ in range(max(3, int(c * scale * r.uniform(0.7, 1.4)))):
                w.users[role].append(w.new_user(role))
        w.partners = []
        for role, ns, scopes, mix, share in PARTNERS:
            name = r.choice(ns)
            w.partners.append(
                Actor(
                    name,
                    "",
                    scopes,
                    "api_key",
                    f"acc-{name}",
                    [w.ip() for _ in range(r.randint(1, 3))],
                    role,
                    [w.patient() for _ in range(r.randint(150, 700))],
                    [w.order_id() for _ in range(400)],
                    [w.order_id("i") for _ in range(500)],
                    mix,
                )
            )
            w.partners[-1].share = share * r.uniform(0.6, 1.5)
        w.partner = {p.role: p for p in w.partners}

        def svc(name: Any, scopes: Any) -> Any:
            return Actor(
                name,
                "",
                scopes,
                "service",
                w.house,
                [w.ip(True) for _ in range(2)],
                "service",
                [w.patient() for _ in range(1500)],
                [w.order_id() for _ in range(1500)],
                [w.order_id("i") for _ in range(1500)],
            )

        w.svc = {
            n: svc(n, s)
            for n, s in {
                "billing-worker": "orders:read invoices:read refunds:issue",
                "reminder-svc": "messages:send appointments:read",
                "nightly-export": "exports:run patients:read records:read",
                "search-indexer": "patients:read catalog:read",
                "retention-job": "patients:read patients:erase",
                "fhir-bridge": "patients:read lab:read lab:write appointments:read",
            }.items()
        }
        w.monitor = Actor("uptime-probe", "", "", "", "", [w.foreign(), w.foreign()], "bot")

    def patient(w: Any) -> Any:
        return str(w.patients0 + int(w.rng.random() * w.npatients))

    def order_id(w: Any, p: Any = "o") -> Any:
        return f"{p}-{w.oid + w.rng.randint(0, 60000)}"

    def new_user(w: Any, role: Any) -> Any:
        r = w.rng
        scopes, mix = ROLES[role]
        u = w.uname()
        client = r.choice(ROLE_CLIENTS[role])
        if role == "customer":
            addr = [w.ip6() if r.random() < 0.15 else w.ip()]
            if client.startswith("mobile"):
                addr.append(w.ip6() if r.random() < 0.3 else w.ip())
            a = Actor(
                client,
                u,
                scopes,
                "session",
                w.house,
                addr,
                role,
                (),
                [w.order_id() for _ in range(r.randint(1, 9))],
                [w.order_id("i") for _ in range(r.randint(1, 6))],
                mix,
            )
        else:
            acc, nat = r.choice(w.clinics)
            if role in ("billing", "support", "admin"):
                acc, nat = w.house, w.clinics[0][1]
            a = Actor(
                client,
                u,
                scopes,
                "session",
                acc,
                [nat],
                role,
                [w.patient() for _ in range(r.randint(30, 130))],
                [w.order_id() for _ in range(60)] if role in ("billing", "support") else (),
                [w.order_id("i") for _ in range(90)] if role in ("billing", "support") else (),
                mix,
            )
        a.home = w.ip()
        return a

    def index(w: Any) -> Any:
        w.need = {f"{m} {t}": (s, p) for _, m, t, s, p in w.routes}

    # ------------------------------------------------------ one request
    def fill(w: Any, key: Any, a: Any) -> Any:
        """A target for 'METHOD /template' as this actor would ask it."""
        r = w.rng
        m, t = key.split(" ", 1)
        if "{id}" in t:
            head = t.split("{id}")[0]
            if head.endswith("/patients/"):
                i = r.choice(a.panel) if a.panel and r.random() < 0.93 else w.patient()
            elif head.endswith("/orders/"):
                i = r.choice(a.orders) if a.orders else w.order_id()
            elif head.endswith("/invoices/"):
                i = r.choice(a.invoices) if a.invoices else w.order_id("i")
            elif head.endswith("/products/"):
                i = f"p-{min(r.randint(1, 900), r.randint(1, 900))}"
            elif head.endswith("/users/") and m == "DELETE":
                i = f"{r.choice(FIRST)}.{r.choice(LAST)}{r.randint(10000, 99999)}"  # somebody who left long ago
            elif head.endswith("/users/"):
                i = r.choice(w.users[r.choice(["doctor", "nurse", "desk", "billing"])]).subject
            elif head.endswith("/keys/"):
                i = "k-" + w.hexes(8)
            elif head.endswith("/lab-results/"):
                i = "lr-" + str(w.oid + r.randint(0, 90000))
            elif head.endswith("/appointments/"):
                i = "ap-" + str(w.oid + r.randint(0, 90000))
            else:
                i = w.hexes(10)
            return t.replace("{id}", i)
        if m == "GET":
            if t.endswith("/patients"):
                return t + (f"?q={r.choice(LAST)[: r.randint(3, 5)]}" if r.random() < 0.7 else f"?page={r.randint(1, 9)}&fields=name,dob")
            if t.endswith("/products"):
                return t + f"?page={min(r.randint(1, 20), r.randint(1, 20))}"
            if t.endswith("/appointments"):
                return t + f"?day={r.randint(1, 28):02d}"
            if t.endswith("/users") or t.endswith("/audit") or t.endswith("/orders"):
                return t + (f"?page={r.randint(1, 5)}" if r.random() < 0.5 else "")
        return t

    def req(
        w: Any,
        t: Any,
        key: Any,
        a: Any,
        target: Any = None,
        status: Any = None,
        err: Any = "",
        addr: Any = None,
        pod: Any = None,
        noise: Any = True,
        mark: Any = None,
        scopes: Any = None,
        account: Any = None,
    ) -> Any:
        r = w.rng
        x = R.__new__(R)
        m, tpl = key.split(" ", 1)
        x.t, x.method, x.tpl = int(t), m, key
        x.target = target or w.fill(key, a)
        x.client, x.subject, x.kind, x.account = a.client, a.subject, a.kind, a.account if account is None else account
        x.scopes = a.sc if scopes is None else scopes
        x.address = addr or (a.addr[0] if r.random() < 0.8 else r.choice(a.addr))
        x.instance = pod or w.pod(t)
        x.orbs, x.cap, x.mark, x.price = 0, None, mark, 0
        need = w.need.get(key)
        retry = False
        if status is None:
            if need and need[0] not in (x.scopes.split() if scopes is not None else a.scopes):
                if x.kind:
                    status, err = 403, "insufficient_scope"
                else:
                    status, err = 401, "no_token"
            else:
                status = OK.get(m, 200)
                if key == "POST /v1/messages":
                    status = 202
                if noise:
                    q = r.random()
                    if q < 0.0035:
                        status, retry = r.choice([500, 502, 503, 503, 504]), True
                    elif q < 0.0095 and "{id}" in tpl:
                        status = 404
                    elif q < 0.011:
                        status, retry = 429, True
                    elif q < 0.02 and m in ("POST", "PATCH"):
                        status = 422
                    elif q < 0.05 and m == "GET" and "{id}" not in tpl:
                        status = 304
        x.status, x.err = status, err
        if need and need[1]:
            x.price = need[1]
        w.rows.append(x)
        if retry and r.random() < 0.7:
            w.req(t + r.randint(800, 6000), key, a, target=x.target, addr=x.address, mark=mark, scopes=scopes)
        return x

    def login(w: Any, t: Any, a: Any, ok: Any = True, addr: Any = None, mark: Any = None, status: Any = None, client: Any = None) -> Any:
        anon = Actor(client or a.client, a.subject if ok else "", "", "", "", a.addr)
        return w.req(t, "POST /v1/sessions", anon, status=status or (201 if ok else 401), addr=addr, mark=mark)

    def session(w: Any, a: Any, t: Any, n: Any = None, addr: Any = None, mark: Any = None, gap: Any = None, mix: Any = None) -> Any:
        """A person's sitting: log in, work, perhaps log out."""
        r = w.rng
        addr = addr or (a.addr[0] if r.random() < 0.85 else r.choice(a.addr))
        if r.random() < 0.07:
            w.login(t, a, False, addr, mark)
            t += r.randint(4000, 20000)
        w.login(t, a, True, addr, mark)
        t0 = t
        n = n or max(2, int(r.expovariate(1 / (11 if a.role == "customer" else 24))))
        gap = gap or (14_000 if a.role == "customer" else 26_000)
        keys = r.choices(list(mix) if mix else a.mix, weights=list(mix.values()) if mix else a.w, k=n)
        web = a.client == "portal-web"
        last = None
        for k in keys:
            t += 300 + r.expovariate(1 / gap)
            if t - t0 > HOUR:
                w.req(t, k, a, status=401, err="expired_token", addr=addr, mark=mark)
                t += r.randint(500, 15000)
                w.login(t, a, True, addr, mark)
                t += r.randint(300, 2000)
                t0 = t
            if web and r.random() < 0.06:
                w.req(t - 40, "OPTIONS " + k.split(" ", 1)[1], Actor(a.client, "", "", "", "", [addr]), target=w.fill(k, a), status=204)
            # people return to the record they have open
            tgt = last if last and k == "GET /v1/patients/{id}/records" and r.random() < 0.5 else None
            x = w.req(t, k, a, target=tgt, addr=addr, mark=mark)
            if k == "GET /v1/patients/{id}":
                last = x.target + "/records"
        if r.random() < 0.3:
            w.req(t + 5000, "DELETE /v1/sessions/current", a, status=204, addr=addr, mark=mark)
        return t

    # ------------------------------------------------------ ordinary life
    STAFF = [1, 1, 1, 1, 1, 3, 14, 45, 90, 100, 100, 92, 60, 70, 95, 95, 85, 60, 28, 16, 12, 8, 4, 2]
    WARD = [22, 18, 16, 16, 18, 24, 50, 70, 90, 95, 90, 85, 70, 75, 85, 85, 75, 70, 60, 50, 45, 40, 36, 28]
    HOME = [6, 3, 2, 2, 2, 4, 14, 30, 45, 52, 55, 55, 62, 55, 50, 50, 55, 65, 78, 92, 100, 88, 50, 20]

    def clock(w: Any, hours: Any, weekend: Any) -> Any:
        cells, weights = [], []
        for d in range(w.days):
            f = weekend if w.weekday(d) >= 5 else w.rng.uniform(0.88, 1.12)
            for h in range(24):
                cells.append(w.start + d * DAY + h * HOUR)
                weights.append(hours[h] * f)
        cum, s = [], 0
        for x in weights:
            s += x
            cum.append(s)
        return lambda k: [c + w.rng.random() * HOUR for c in w.rng.choices(cells, cum_weights=cum, k=k)]

    def base(w: Any) -> Any:
        r = w.rng
        staff, ward, home = w.clock(w.STAFF, 0.12), w.clock(w.WARD, 0.75), w.clock(w.HOME, 1.15)
        flat = w.clock([50] * 24, 0.9)
        N = w.n
        # partners
        for p in w.partners:
            ts = (staff if p.role in ("insurer", "bi") else ward)(int(N * p.share))
            keys = r.choices(p.mix, weights=p.w, k=len(ts))
            for t, k in zip(ts, keys):
                if p.stop and p.stop[0] <= t < p.stop[1]:
                    continue
                w.req(t, k, p)
            if r.random() < 0.6:  # a key of a forgotten test machine
                for t in flat(r.randint(3, 30)):
                    w.req(t, p.mix[0], p, status=401, err="invalid_token", scopes="", account="")
        # services
        s = w.svc
        for t in flat(int(N * 0.035)):
            w.req(t, r.choice(["GET /v1/orders/{id}", "GET /v1/invoices/{id}", "GET /v1/invoices/{id}"]), s["billing-worker"])
        for t in ward(int(N * 0.05)):
            w.req(t, r.choice(["GET /v1/patients/{id}", "POST /v1/lab-results", "GET /v1/lab-results/{id}", "GET /v1/appointments"]), s["fhir-bridge"])
        for d in range(w.days):
            per = N / w.days
            for hour, share in ((7, 0.012), (16, 0.008)):
                t = w.at(d, hour)
                for _ in range(int(per * share)):
                    t += r.expovariate(1 / 700)
                    w.req(t, "POST /v1/messages", s["reminder-svc"])
            t = w.at(d, 2, 10)
            w.req(t, "POST /v1/exports", s["nightly-export"])
            for i in range(int(per * 0.012)):
                t += r.expovariate(1 / 900)
                w.req(t, "GET /v1/patients", s["nightly-export"], target=f"/v1/patients?page={i + 1}&fields=id,updated")
            for _ in range(int(per * 0.03)):
                t += r.expovariate(1 / 400)
                w.req(t, "GET /v1/patients/{id}/records", s["nightly-export"])
            t = w.at(d, 3, 5)
            first = w.patients0 + d * int(per * 0.025) % w.npatients
            for i in range(int(per * 0.025)):
                t += r.expovariate(1 / 350)
                w.req(t, "GET /v1/patients/{id}", s["search-indexer"], target=f"/v1/patients/{first + i}")
            t = w.at(d, 4, 0)
            for _ in range(r.randint(2, 14)):
                t += r.expovariate(1 / 3000)
                pid = w.patient()
                w.req(t, "GET /v1/patients/{id}", s["retention-job"], target=f"/v1/patients/{pid}", status=200)
                w.req(t + 300, "DELETE /v1/patients/{id}", s["retention-job"], target=f"/v1/patients/{pid}")
            for _ in range(r.randint(0, 3)):
                w.req(w.at(d, r.uniform(9, 17)), "POST /v1/orders/{id}/refunds", s["billing-worker"])
            step = max(1, int(1440 / max(24, per * 0.03)))
            for k in range(0, 1440, step):  # monitors
                w.req(w.at(d, 0, k), "HEAD /v1/ping" if k % 2 else "GET /v1/ping", w.monitor, status=200 if r.random() < 0.998 else 503)
        # the internet
        for t in flat(int(N * 0.006)):
            bot = Actor("", "", "", "", "", [w.foreign()])
            w.req(
                t,
                "GET -",
                bot,
                target=r.choice(["/robots.txt", "/.env", "/wp-login.php", "/favicon.ico", "/v1/", "/.git/config", "/actuator/health"]),
                status=404,
            )
        for t in flat(int(N * 0.004)):
            w.req(t, r.choice(["GET /v1/patients", "GET /v1/users", "GET /v1/products", "GET /v1/orders"]), Actor("", "", "", "", "", [w.foreign()]))
        old = Actor("mobile-android", "", "", "", "", [w.ip() for _ in range(12)])
        for t in home(int(N * 0.003)):
            w.req(t, "GET -", old, target="/v1/app-config?build=311", status=404)
        # favourite calls that somebody has who may not
        w.make_decoys()
        # people
        clocks = {"doctor": ward, "nurse": ward, "desk": staff, "billing": staff, "support": staff, "admin": staff, "customer": home}
        shares = {"doctor": 18, "nurse": 19, "desk": 14, "billing": 5, "support": 4, "admin": 1.2, "customer": 52}
        heavy = {k: [r.gammavariate(2, 1) + 0.1 for _ in us] for k, us in w.users.items()}
        names, ws = list(shares), list(shares.values())
        while len(w.rows) < N:
            roles = r.choices(names, weights=ws, k=200)
            by = {k: clocks[k](roles.count(k)) for k in names}
            for role in roles:
                if len(w.rows) >= N:
                    break
                a = r.choices(w.users[role], weights=heavy[role])[0]
                t = by[role].pop()
                if a.stop and a.stop[0] <= t < a.stop[1]:
                    continue
                w.session(a, t)
        w.clip()

    def make_decoys(w: Any) -> Any:
        r = w.rng
        if r.random() < 0.6:
            d = w.workday()
            acc, nat = r.choice(w.clinics)
            t0 = w.at(d, 7, 40)
            n = r.randint(30, 110)
            us = [u for k in ("doctor", "nurse", "desk") for u in w.users[k] if u.account == acc] or w.users["doctor"]
            for _ in range(n):
                t = t0 + r.random() * 70 * MIN
                w.login(t, r.choice(us), False, nat)
                if r.random() < 0.3:
                    w.login(t + 15000, r.choice(us), True, nat)
            w.decoys.append(f"the staff behind {nat} ({acc}), who mistyped new passwords about {n} times from {w.say_t(t0)}")
        if r.random() < 0.5:
            a = r.choice(w.users["doctor"])
            ad = w.foreign()
            d = r.randint(0, w.days - 1)
            for k in range(3):
                w.session(a, w.at(d, 9 + 4 * k), 15, addr=ad)
            w.decoys.append(f"the travelling doctor {a.subject} at {ad}")
        if r.random() < 0.5:
            a = w.new_user("nurse")
            d = w.workday(0, max(0, w.days - 2))
            t = w.at(d, 10, r.randint(0, 50))
            adm = w.users["admin"][0]
            w.req(t, "POST /v1/users", adm, noise=False)
            w.req(t + 40000, "PUT /v1/users/{id}/roles", adm, target=f"/v1/users/{a.subject}/roles", noise=False)
            w.session(a, t + 2 * HOUR)
            w.users["nurse"].append(a)
            a.stop = (0, t + 2 * HOUR)
            w.decoys.append(f"the newly hired nurse {a.subject}, created in office hours by {adm.subject}")
        if r.random() < 0.4:
            p = w.partner["research"]
            t0 = t = w.at(w.workday(), 11)
            n = int(w.n * 0.004)
            for _ in range(n):
                t += r.expovariate(1 / 4000)
                w.req(t, "POST /v1/reports", p)
            w.decoys.append(f"{p.client}, whose {n} reports from {w.say_t(t0)} were an agreed quarterly run")

    def clip(w: Any) -> Any:
        w.rows = [x for x in w.rows if w.start <= x.t < w.end]

    def active(w: Any, role: Any, least: Any = 30) -> Any:
        """People of the role with enough ordinary rows, most first excluded from surprise."""
        c: dict[Any, Any] = {}
        for x in w.rows:
            if x.subject:
                c[x.subject] = c.get(x.subject, 0) + 1
        us = [u for u in w.users[role] if c.get(u.subject, 0) >= least and not u.stop]
        return us or sorted(w.users[role], key=lambda u: -c.get(u.subject, 0))[:2]

    # ------------------------------------------------------ credits
    def settle(w: Any) -> Any:
        w.clip()
        w.rows.sort(key=lambda x: x.t)
        L = w.ledger = Ledger(w)
        known = dict.fromkeys(x.account for x in w.rows if x.price and x.account and not x.account.startswith("trial-"))
        gone = set()  # who was erased is not found any more
        for x in w.rows:
            if "/patients/{id}" in x.tpl and x.status < 400:
                tgt = "/v1" + x.target[3:].removesuffix("/records")
                if tgt in gone:
                    x.status = 404
                elif x.method == "DELETE":
                    gone.add(tgt)
        for i, acc in enumerate(known):
            L.get(acc, w.start + i * 41)
        for x in w.rows:
            L.until(x.t)
            if not x.price or x.err or x.status in (401, 403, 404, 429, 301, 302, 307, 308, 405, 410) or not x.account:
                continue
            if w.prices:
                x.price = w.prices(x)
            L.use(x)
        L.until(w.end - 1)
        w.entries = L.out
        w.entries.sort(key=lambda e: e[0])


class Ledger:
    if TYPE_CHECKING:  # what incidents and oddities note on it
        out: Any
        acc: Any
        heap: Any
        caps: Any

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(s: Any, w: Any) -> None:
        s.w, s.out, s.acc, s.heap, s.n, s.k = w, [], {}, [], 0, 0
        s.rng = random.Random(f"ledger/{w.seed}/{w.kind}")
        s.first = s.rng.randint(100, 90000)
        s.caps = {}  # account -> list of captures
        for t, fn in w.extra:
            s.later(t, fn)

    def later(s: Any, t: Any, fn: Any) -> Any:
        s.k += 1
        heapq.heappush(s.heap, (int(t), s.k, fn))

    def until(s: Any, t: Any) -> Any:
        while s.heap and s.heap[0][0] <= t:
            u, _, fn = heapq.heappop(s.heap)
            fn(s, u)

    def id(s: Any, p: Any) -> Any:
        return f"{p}-{s.rng.getrandbits(40):010x}"

    def get(s: Any, account: Any, t: Any) -> Any:
        a = s.acc.get(account)
        if a is None:
            a = s.acc[account] = {"paid": 0, "bonus": 0, "held": 0, "top": False, "used": 0}
            big = 4000 if account in (s.w.house,) else s.rng.choice([300, 600, 1500])
            if account.startswith("trial-"):
                big = 0
            if big:
                s.grant(account, t, big, 0)
            s.grant(account, t, 0, 10 if not big else s.rng.choice([20, 50]))
            a["size"] = big
            a["unit"] = big
        return a

    def put(s: Any, t: Any, account: Any, kind: Any, id: Any, hold: Any, amount: Any) -> Any:
        a = s.acc[account]
        s.out.append([s.first + s.n, int(t), account, kind, id, hold, amount, a["paid"], a["bonus"], a["held"]])
        s.n += 1

    def grant(s: Any, account: Any, t: Any, paid: Any, bonus: Any) -> Any:
        a = s.acc[account]
        a["paid"] += paid
        a["bonus"] += bonus
        s.put(t, account, "grant", s.id("g"), "", paid or bonus)

    def use(s: Any, x: Any) -> Any:
        a = s.get(x.account, x.t)
        r = s.rng
        if a["paid"] + a["bonus"] < x.price:
            s.topup(a, x.account, x.t)
            x.status, x.orbs = 402, 0
            return
        b = min(a["bonus"], x.price)
        p = x.price - b
        a["bonus"] -= b
        a["paid"] -= p
        a["held"] += x.price
        hid = s.id("h")
        s.put(x.t, x.account, "hold", hid, "", x.price)
        if 200 <= x.status < 300:
            x.orbs = x.price
            cid = s.id("c")
            x.cap = cid

            def fn(s: Any, t: Any, acc: Any = x.account, n: Any = x.price) -> Any:
                s.acc[acc]["held"] -= n
                s.put(t, acc, "capture", cid, hid, n)
                s.caps.setdefault(acc, []).append((cid, hid, n, t))
                if r.random() < 0.002:
                    s.later(t + r.randint(HOUR, 20 * HOUR), lambda s, t: s.refund(acc, t, cid, n))

            s.later(x.t + r.randint(120, 2500), fn)
        else:
            kind = "expire" if x.status == 504 else "void"

            def fn(s: Any, t: Any, acc: Any = x.account, n: Any = x.price) -> Any:
                q = s.acc[acc]
                q["held"] -= n
                q["bonus"] += b
                q["paid"] += p
                s.put(t, acc, kind, s.id("e" if kind == "expire" else "v"), hid, n)

            s.later(x.t + (15 * MIN if kind == "expire" else r.randint(80, 900)), fn)
        if a["paid"] < a["unit"] * 0.25:
            s.topup(a, x.account, x.t)

    def refund(s: Any, acc: Any, t: Any, cid: Any, n: Any) -> Any:
        s.acc[acc]["paid"] += n
        s.put(t, acc, "refund", s.id("r"), cid, n)

    def topup(s: Any, a: Any, acc: Any, t: Any) -> Any:
        if a["top"] or not a["unit"]:
            return
        a["top"] = True

        def fn(s: Any, t: Any) -> Any:
            a["top"] = False
            a["size"] = int(a["size"] * 1.3)
            s.grant(acc, t, a["size"], 0)
            if s.rng.random() < 0.15:
                s.grant(acc, t, 0, 15)
                s.later(t + s.rng.randint(12, 60) * HOUR, lambda s, t: s.revoke(acc, t))

        s.later(t + s.rng.choice([2, 5, 10, 30, 70]) * MIN, fn)

    def revoke(s: Any, acc: Any, t: Any) -> Any:
        n = s.acc[acc]["bonus"]
        if n:
            s.acc[acc]["bonus"] = 0
            s.put(t, acc, "revoke", s.id("k"), "", n)
