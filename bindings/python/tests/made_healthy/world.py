"""The simulated company: policy, accounts, users, clients, pods, time, and one server that decides each call."""

import base64
import calendar
import datetime as dt
import json
import random
import re
import uuid as uuidlib
from bisect import bisect_right
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .domains import D

COLUMNS = ["time", "method", "target", "client", "subject", "scopes", "token_kind", "status", "address", "instance", "account", "orbs", "authorization_error"]
DAY = 86400
PROFILES = {
    "office": [1, 1, 1, 1, 1, 2, 6, 20, 60, 90, 95, 85, 55, 75, 90, 85, 70, 45, 20, 10, 6, 4, 2, 1],
    "consumer": [8, 4, 2, 2, 2, 4, 12, 25, 35, 40, 45, 50, 60, 50, 45, 45, 50, 60, 70, 85, 95, 80, 50, 22],
    "evening": [20, 9, 5, 3, 2, 3, 10, 22, 25, 25, 28, 32, 40, 38, 36, 40, 50, 65, 80, 95, 100, 95, 70, 40],
    "school": [1, 1, 1, 1, 1, 2, 8, 50, 95, 90, 80, 85, 60, 50, 40, 40, 35, 30, 28, 25, 18, 10, 4, 2],
    "allday": [30, 26, 24, 22, 24, 28, 36, 50, 70, 85, 90, 88, 80, 85, 88, 86, 80, 70, 60, 55, 50, 46, 40, 34],
    "night": [60, 80, 95, 100, 90, 60, 20, 6, 3, 2, 2, 2, 3, 3, 2, 2, 2, 3, 4, 6, 10, 20, 30, 45],
}
WEEK = {
    "office": [1, 1.05, 1.05, 1, 0.8, 0.06, 0.04],
    "consumer": [0.9, 0.9, 0.9, 0.95, 1, 1.25, 1.3],
    "school": [1, 1, 1, 1, 0.9, 0.1, 0.25],
    "evening": [0.85, 0.85, 0.9, 0.95, 1.2, 1.35, 1.1],
    "allday": [1, 1, 1, 1, 0.97, 0.75, 0.7],
    "night": [1] * 7,
}
ZONES = [
    ("Europe/Berlin", 1, "eu"),
    ("Europe/London", 0, "eu"),
    ("Europe/Athens", 2, "eu"),
    ("Europe/Warsaw", 1, "eu"),
    ("America/New_York", -5, "us"),
    ("America/Denver", -7, "us"),
    ("Asia/Tokyo", 9, ""),
    ("Asia/Kolkata", 5.5, ""),
    ("Europe/Sofia", 2, "eu"),
    ("America/Sao_Paulo", -3, ""),
    ("UTC", 0, ""),
]
FIRST = "anna ben carla david elena fritz greta hugo ines jan karin luca maria nils olga paul rosa sven tina uwe vera wim yara zoe amir priya kenji mei omar fatou joao lucia pierre sofia".split()
LAST = "albers brandt castro dubois eriksen fischer garcia hansen ivanov jensen kaya lopez meier novak okafor patel quint rossi silva tanaka urban vogel weber young ziegler santos moreau kowalski nguyen".split()
CYR_FIRST = "Анна Борис Вера Георги Дарина Елена Иван Красимир Мария Никола Ольга Петър Светлана Тодор Юлия".split()
CYR_LAST = "Иванова Петров Димитрова Стоянов Николова Козлов Шевченко Бондаренко Георгиева Тодоров".split()
GRK_FIRST = "Ελένη Γιώργος Μαρία Νίκος Κατερίνα Δημήτρης Σοφία Παναγιώτης Ιωάννα Χρήστος".split()
GRK_LAST = "Παπαδόπουλος Νικολαΐδης Γεωργίου Οικονόμου Βασιλείου Αλεξίου Μακρής Σαμαράς".split()
WORDS = "north harbour silver maple blue river stone iron green lake amber fox cedar summit polar orbit lumen delta alpine coral velvet quartz ember tide falcon willow meadow pixel".split()
TRADE = "logistics foods media labs retail systems clinic energy group studio works partners trading gmbh ltd bank travel motors".split()
QWORDS = "tent lamp oslo berlin jacket red blue 40cm invoice may winter boots station river park main street hotel coffee jazz live piano report summer kids family water solar".split()


class Route:
    if TYPE_CHECKING:  # what incidents and oddities note on it
        creates: Any

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    __slots__ = ("method", "tmpl", "scope", "orbs", "roles", "weight", "parts", "params", "islist", "creates", "seg", "release", "id")

    def __init__(self, method: Any, tmpl: Any, scope: Any, orbs: Any, roles: Any, weight: Any) -> None:
        self.method, self.tmpl, self.scope, self.orbs, self.roles = method, tmpl, scope, orbs, roles
        self.weight = weight * {"GET": 1, "HEAD": 0.2, "POST": 0.25, "PUT": 0.12, "PATCH": 0.12, "DELETE": 0.03}[method]
        self.parts = re.split(r"\{(\w+)\}", tmpl)
        self.params = self.parts[1::2]
        self.islist = method == "GET" and not tmpl.endswith("}") and not self.params
        self.creates = None
        self.seg = self.parts[0].rstrip("/")
        self.release = 0


class Actor:
    if TYPE_CHECKING:  # what incidents and oddities note on it
        counts: Any
        proactive: Any
        ttl: Any
        exp: Any

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    """Somebody holding one token."""

    def __init__(self, client: Any, subject: Any, scopes: Any, kind: Any, account: Any, role: Any, addr: Any) -> None:
        self.client, self.subject, self.kind, self.account, self.role, self.addr = client, subject, kind, account, role, addr
        self.setscopes(scopes)
        self.exp, self.ttl, self.state, self.rpm, self.quota = 9e18, 9e18, "ok", 0, 0
        self.counts, self.proactive, self.skew = {}, 0.7, 0
        self.routes = None

    def setscopes(self, scopes: Any) -> Any:
        self.scopes = set(scopes)
        self.scope_text = " ".join(scopes)
        self.routes = None


class User:
    if TYPE_CHECKING:  # what incidents and oddities note on it
        actors: Any

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(self, subject: Any, account: Any, role: Any, kinds: Any) -> None:
        self.subject, self.account, self.role, self.addrs, self.actors, self.weight = subject, account, role, kinds, {}, 1.0


class Account:
    if TYPE_CHECKING:  # what incidents and oddities note on it

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(self, aid: Any, name: Any) -> None:
        self.id, self.name, self.weight, self.office = aid, name, 1.0, None
        self.users: list[Any] = []
        self.clients: list[Any] = []


class World:
    if TYPE_CHECKING:  # what incidents and oddities note on it
        users: Any
        notes: Any
        dayfactor: Any
        spikes: Any
        rows: Any
        jobs: Any
        windows: Any
        badpods: Any
        usedids: Any
        seqbase: Any
        pools: Any
        paychecks: Any
        post_rows: Any
        tags: Any
        fmt_cache: Any
        add_on: Any
        apps: Any
        podmin: Any
        podbase: Any
        style: Any
        dom: Any
        week: Any

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(self, key: Any, odds: Any) -> None:
        self.rng = R = random.Random("healthy-" + key)
        self.odds, self.notes = odds, []
        hints: dict[str, Any] = {}
        for n, o in odds:
            both = set(hints.get("domains") or D) & set(o["hints"].get("domains") or D)
            least = max(hints.get("min_days", 1), o["hints"].get("min_days", 1))
            hints.update(o["hints"])
            hints["domains"], hints["min_days"] = both, least
        self.dkey = R.choice([d for d in sorted(D) if d in hints["domains"]] if hints.get("domains") else sorted(D))
        self.dom = D[self.dkey]
        self.zone = R.choice([z for z in ZONES if z[2]] if hints.get("dst") else ZONES)
        if hints.get("zones"):
            self.zone = R.choice([z for z in ZONES if z[0] in hints["zones"]])
        self.days = max(hints.get("min_days", 1), R.choice((1, 2, 3, 4, 5, 6, 7, 7, 8, 10, 10, 12, 14, 14, 16, 20)))
        self.days = min(20, self.days)
        first = dt.date(2024, 1, 2) + dt.timedelta(days=R.randrange(1000))
        if hints.get("cover"):
            d = hints["cover"](R, self)
            first = d - dt.timedelta(days=R.randrange(0, self.days) if self.days < 3 else R.randrange(1, self.days - 1))
        if hints.get("mid_week") and self.days < 5:
            while first.weekday() > 3 - min(3, self.days - 1):
                first -= dt.timedelta(days=1)
        self.first = first
        self.target = int(R.choice((R.uniform(12e3, 24e3), R.uniform(20e3, 45e3), R.uniform(40e3, 68e3))))
        self.profile = list(PROFILES[self.dom["profile"]])
        week: Any = WEEK[self.dom["profile"]]
        self.week = [*week]
        self.dayfactor = {}
        self.spikes = []  # (ts, minutes, share)
        self.share_extra = 0.0
        self.rows, self.jobs = [], []
        self.windows = []  # maintenance (t0, t1)
        self.badpods = []  # (name, t0, t1, share)
        self.outofrange = 0
        self.kind = self.dom["kind"]
        self.peruser = self.kind == "b2c" and R.random() < 0.5
        self.style = dict(
            prefix=R.choice(["/v1", "/v1", "/v2", "/api/v1", "/api", "", "/v3"]),
            free=R.choice(["", "0"]),
            tz=R.choice("ZZZ+L"),
            digits=R.choice((0, 3, 3, 6)),
            ids=R.choice(["seq", "uuid", "hex", "prefixed", "ulid", "seq"]),
            paging=R.choice(["page", "cursor", "offset"]),
            subject=R.choice(["u", "uuid", "auth0", "email", "dot", "num"]),
            account=R.choice(["acct", "slug", "num", "cus"]),
            anon_client=R.random() < 0.4,
            ttl=R.choice((1800, 3600, 3600, 14400, 43200)),
            proactive=R.choice((0.3, 0.6, 0.9, 0.97)),
            noise5=R.choice((0.0002, 0.0006, 0.0015)),
            noise4=R.choice((0.5, 1, 1.5)),
            noise403=R.choice((0, 0.001, 0.004)),
            health=R.random() < 0.3,
        )
        self.podstyle = R.choice(["deploy", "deploy", "stateful", "deploy"])
        self.poplan = "plain"
        self.replicas = R.choice((2, 3, 3, 4, 6, 8))
        self.mix = dict(b2c=dict(u=0.78, k=0.06, b=0.1, s=0.06), b2b=dict(u=0.55, k=0.25, b=0.12, s=0.08), platform=dict(u=0.14, k=0.68, b=0.13, s=0.05))[
            self.kind
        ]
        self.n_accounts = {"b2c": 1, "b2b": R.randint(6, 40), "platform": R.randint(8, 60)}[self.kind]
        self.n_users = {"b2c": R.randint(300, 2500), "b2b": R.randint(60, 700), "platform": R.randint(20, 120)}[self.kind]
        self.size_skew = R.uniform(0.7, 1.3)
        self.mobile_share = {"b2c": 0.6, "b2b": 0.15, "platform": 0.05}[self.kind]
        self.names = "latin"
        self.usedids, self.seqbase = set(), {}
        self.pools = {}
        self.paychecks = {}
        self.flaky = None
        self.post_rows = []  # functions on the finished rows
        self.tags = {}
        self.isps = [
            f"{a}.{R.randrange(1, 255)}"
            for a in R.sample(
                [2, 5, 24, 31, 37, 46, 62, 66, 71, 77, 78, 79, 80, 81, 83, 84, 86, 87, 88, 89, 91, 93, 94, 95, 98, 109, 151, 176, 178, 188, 212, 213, 217], 9
            )
        ]
        self.isp6 = [f"{p}:{R.randrange(0x100, 0xFFFF):x}" for p in R.sample(["2a02", "2a01", "2003", "2601", "2001:8a0", "2a00", "2409", "2804"], 3)]
        self.cgnat = [f"{self.isps[0]}.{R.randrange(256)}.{R.randrange(1, 255)}" for _ in range(R.randint(4, 24))]
        self._times()

    # ---------------------------------------------------------------- time
    def offset(self, ts: Any) -> Any:
        _, std, rule = self.zone
        if not rule:
            return int(std * 3600)
        y = dt.datetime.fromtimestamp(ts, dt.timezone.utc).year
        if y not in self.paychecks:

            def sunday(month: Any, nth: Any) -> Any:
                c = [d for d in calendar.Calendar().itermonthdates(y, month) if d.month == month and d.weekday() == 6]
                return c[nth]

            if rule == "eu":
                a: float = calendar.timegm(sunday(3, -1).timetuple()) + 3600
                b: float = calendar.timegm(sunday(10, -1).timetuple()) + 3600
            else:
                a = calendar.timegm(sunday(3, 1).timetuple()) + 7200 - std * 3600
                b = calendar.timegm(sunday(11, 0).timetuple()) + 3600 - std * 3600
            self.paychecks[y] = (a, b)
        a, b = self.paychecks[y]
        return int((std + (1 if a <= ts < b else 0)) * 3600)

    def at(self, day: Any, hour: Any) -> Any:
        """UTC epoch of a local wall-clock hour (float) of day index."""
        base = calendar.timegm((self.first + dt.timedelta(days=day)).timetuple()) + hour * 3600
        return base - self.offset(base - self.offset(base))

    def _times(self) -> Any:
        self.T0, self.T1 = self.at(0, 0), self.at(self.days, 0)
        self.fmt_cache = {}

    def stamp(self, ts: Any, inst: Any) -> Any:
        s = self.style
        z = s["tz"] if not s.get("tz_by_inst") else s["tz_by_inst"](inst)
        off = self.offset(ts) if z == "L" else 0
        sec = int(ts)
        key = (sec // 60 * 60, off)
        b = self.fmt_cache.get(key)
        if b is None:
            b = self.fmt_cache[key] = dt.datetime.fromtimestamp(key[0] + off, dt.timezone.utc).strftime("%Y-%m-%dT%H:%M:")
        frac = ""
        if s["digits"]:
            frac = "." + f"{ts - sec:.7f}"[2 : 2 + s["digits"]]
        if z == "Z":
            zone = "Z"
        else:
            zone = f"{'-' if off < 0 else '+'}{abs(off) // 3600:02d}:{abs(off) % 3600 // 60:02d}"
        return f"{b}{sec % 60:02d}{frac}{zone}"

    def say(self, ts: Any) -> Any:
        """wall clock for notes"""
        off = self.offset(ts)
        return dt.datetime.fromtimestamp(ts + off, dt.timezone.utc).strftime("%a %Y-%m-%d %H:%M") + f" (UTC{off / 3600:+g})"

    def date(self, day: Any) -> Any:
        return self.first + dt.timedelta(days=day)

    def weekdays(self) -> Any:
        return [d for d in range(self.days) if self.date(d).weekday() < 5]

    def workday(self) -> Any:
        return self.rng.choice(self.weekdays() or list(range(self.days)))

    def hour(self, prof: Any = None) -> Any:
        R = self.rng
        return R.choices(range(24), prof or self.profile)[0] + R.random()

    # ---------------------------------------------------------------- names, ids, addresses
    def uuid(self) -> Any:
        return str(uuidlib.UUID(int=self.rng.getrandbits(128), version=4))

    def hex(self, n: Any) -> Any:
        return f"{self.rng.getrandbits(n * 4):0{n}x}"

    def chars(self, n: Any, alpha: Any = "abcdefghijkmnpqrstuvwxyz23456789") -> Any:
        return "".join(self.rng.choices(alpha, k=n))

    def newid(self, res: Any, t: Any = None) -> Any:
        R, st = self.rng, self.style["ids"]
        t = self.T0 - R.expovariate(1 / (60 * DAY)) if t is None else t
        while True:
            if st == "seq":
                base, rate = self.seqbase.setdefault(res, (R.randrange(10**5, 10**7), R.uniform(0.02, 0.6)))
                n = int(base + (t - self.T0) * rate)
                if n < 1:
                    n = R.randrange(1, base)
                while (res, str(n)) in self.usedids:
                    n += R.randint(1, 60)
                i = str(n)
            elif st == "uuid":
                i = self.uuid()
            elif st == "hex":
                i = self.hex(24)
            elif st == "prefixed":
                i = f"{res[:3]}_{self.chars(14)}"
            elif st == "long":
                i = self.hex(128)
            elif st == "b64":
                i = base64.urlsafe_b64encode(R.getrandbits(240).to_bytes(30, "big")).decode()
            else:
                i = ("01" + self.chars(2, "HJKM") + f"{int(t * 1000) % 32**6:08X}" + self.chars(14, "0123456789ABCDEFGHJKMNPQRSTVWXYZ"))[:26]
            if (res, i) not in self.usedids:
                self.usedids.add((res, i))
                return i
            t += R.uniform(-5000, 0)

    def name(self, names: Any = None) -> Any:
        R, names = self.rng, names or self.names
        if names == "cyrillic":
            return R.choice(CYR_FIRST), R.choice(CYR_LAST)
        if names == "greek":
            return R.choice(GRK_FIRST), R.choice(GRK_LAST)
        return R.choice(FIRST), R.choice(LAST)

    def newsubject(self, names: Any = None, domain: Any = "example.com") -> Any:
        R, st = self.rng, self.style["subject"]
        while True:
            a, b = self.name(names)
            if (names or self.names) != "latin":
                s = f"{a}.{b}{R.choice(['', R.randrange(2, 99)])}"
            elif st == "u":
                s = f"u_{R.randrange(10**6):06d}"
            elif st == "uuid":
                s = self.uuid()
            elif st == "auth0":
                s = "auth0|" + self.hex(24)
            elif st == "num":
                s = str(R.randrange(10**4, 10**7))
            elif st == "email":
                s = f"{a}.{b}{R.choice(['', '', R.randrange(2, 99)])}@{domain}"
            else:
                s = f"{a}.{b}{R.choice(['', R.randrange(1, 999)])}"
            if ("subject", s) not in self.usedids:
                self.usedids.add(("subject", s))
                return s

    def newaccount(self, name: Any = None) -> Any:
        R, st = self.rng, self.style["account"]
        while True:
            n = name or f"{R.choice(WORDS)}-{R.choice(WORDS)}-{R.choice(TRADE)}"
            i = {"acct": f"acct_{R.randrange(10000, 99999)}", "slug": n, "num": str(R.randrange(100000, 999999)), "cus": "cus_" + self.chars(12)}[st]
            if ("account", i) not in self.usedids:
                self.usedids.add(("account", i))
                return Account(i, n)

    def ip4(self, isp: Any = None) -> Any:
        R = self.rng
        return f"{isp or R.choice(self.isps)}.{R.randrange(256)}.{R.randrange(1, 255)}"

    def net6(self) -> Any:
        R = self.rng
        p = R.choice(self.isp6)
        return f"{p}:{R.randrange(0x1000, 0xFFFF):x}:{R.randrange(1, 0xFFFF):x}" if p.count(":") == 1 else f"{p}:{R.randrange(0x1000, 0xFFFF):x}"

    def home(self) -> Any:
        """a function of time: the address of a home line"""
        R = self.rng
        k = R.random()
        if k < 0.55:
            ip = self.ip4()
            return lambda t: ip
        if k < 0.75:  # forced reconnect each night
            isp, salt = R.choice(self.isps), R.getrandbits(32)

            def f(t: Any) -> Any:
                x = hash((salt, int(t // DAY)))
                return f"{isp}.{x % 256}.{x // 256 % 253 + 1}"

            return f
        return self.privacy6()

    def privacy6(self, span: Any = DAY) -> Any:
        net, salt = self.net6(), self.rng.getrandbits(32)

        def f(t: Any) -> Any:
            x = hash((salt, int(t // span), 7)) * 2654435761 & (2**64 - 1)
            return f"{net}:{x >> 48 | 0x1000:x}:{x >> 32 & 0xFFFF | 0x1000:x}:{x >> 16 & 0xFFFF | 0x1000:x}:{x & 0xFFFF | 0x1000:x}"

        return f

    def mobile(self, span: Any = 600) -> Any:
        salt, pool = self.rng.getrandbits(32), self.cgnat
        return lambda t: pool[hash((salt, int(t // span))) % len(pool)]

    def internal(self) -> Any:
        R = self.rng
        ip = f"10.{R.randrange(8, 64)}.{R.randrange(256)}.{R.randrange(2, 250)}"
        return lambda t: ip

    def fixed(self, ip: Any = None) -> Any:
        ip = ip or self.ip4()
        return lambda t: ip

    # ---------------------------------------------------------------- policy
    def make_policy(self) -> Any:
        R, pre = self.rng, self.style["prefix"]
        self.routes, self.scopes = [], {}
        factor = R.choice((1, 1, 1, 2, 3))
        dropped = 0
        for scope, price, roles, weight, routes in self.dom["scopes"]:
            if dropped < 2 and R.random() < 0.06 and weight < 9 and "b" not in roles:
                dropped += 1
                continue
            price = price * factor
            self.scopes[scope] = price
            for m, p in routes:
                self.routes.append(Route(m, pre + p, scope, price, roles, weight))
        self.add_on = []
        {r.tmpl: r for r in self.routes}
        for r in self.routes:
            if r.method == "POST" and not r.params:
                for o in self.routes:
                    if len(o.params) == 1 and o.tmpl == f"{r.tmpl}/{{{o.params[0]}}}":
                        r.creates = o.params[0]
        self.owners = self.dom["owners"]

    def policy_yaml(self) -> Any:
        R = random.Random(self.dkey + str(self.target))
        names = list(self.scopes)
        split = len(names) // 2 if R.random() < 0.25 else len(names)
        apis = [(self.dkey, names[:split])] + ([(self.dkey + "-ops", names[split:])] if split < len(names) else [])
        out = ["version: 1", "apis:"]
        for api, scopes in apis:
            out += [f"  {api}:", "    scopes:"]
            for s in scopes:
                rs = []
                for r in self.routes:
                    if r.scope == s:
                        x = f"{r.method} {r.tmpl}"
                        rs.append(f'"{x}"' if "{" in x else x)
                price = self.scopes[s]
                out.append(f"      {s}: {{ orbs: {price if price else 'false'}, routes: [{', '.join(rs)}] }}")
        return "\n".join(out) + "\n"

    def has(self, role: Any, extra: Any = ()) -> Any:
        return [s for s in self.scopes if any(r.scope == s and role in r.roles for r in self.routes)]

    def add_scope(self, scope: Any, price: Any, roles: Any, weight: Any, routes: Any) -> Any:
        self.scopes[scope] = price
        new = [Route(m, self.style["prefix"] + p, scope, price, roles, weight) for m, p in routes]
        self.routes += new
        return new

    def pick_route(self, role: Any = None, method: Any = None, scope: Any = None, islist: Any = None, own: Any = None, priced: Any = None) -> Any:
        c = [
            r
            for r in self.routes
            if (not role or role in r.roles)
            and (not method or r.method == method)
            and (not scope or r.scope == scope)
            and (islist is None or r.islist == islist)
            and (priced is None or bool(r.orbs) == priced)
        ]
        return self.rng.choice(c) if c else None

    # ---------------------------------------------------------------- people and machines
    def make_parties(self) -> Any:
        R = self.rng
        self.house = self.newaccount(self.dkey + "-internal")
        self.accounts = [self.newaccount() for _ in range(self.n_accounts)]
        for i, a in enumerate(self.accounts):
            a.weight = 1 / (i + 1) ** self.size_skew
        self.apps = R.sample(["web", "ios", "android", "web-app", "mobile", "desktop"], R.randint(1, 3))
        if self.style.get("apps"):
            self.apps = self.style["apps"]
        self.users = []
        tw = sum(a.weight for a in self.accounts)
        for a in self.accounts:
            n = max(1, int(self.n_users * a.weight / tw))
            a.office = self.ip4() if self.kind != "b2c" and R.random() < 0.7 else None
            for _ in range(n):
                self.new_user(a)
        self.staff = [self.new_user(self.house, "s") for _ in range(R.randint(3, 14))]
        self.staff_office = self.ip4()
        for u in self.staff:
            u.addrs = [self.fixed(self.staff_office)] + ([self.home()] if R.random() < 0.5 else [])
        self.admins = [self.new_user(self.house, "a") for _ in range(R.randint(1, 3))]
        for u in self.admins:
            u.addrs = [self.fixed(self.staff_office)]
        self.keyclients = []
        for a in self.accounts if self.kind != "b2c" else [self.newaccount() for _ in range(R.randint(3, 10))]:
            for _ in range(1 if R.random() < 0.7 else R.randint(2, 3)):
                self.keyclients.append(self.new_key(a))
        self.services = [
            self.new_service(n)
            for n in R.sample(["indexer", "notifier", "sync-worker", "pricing", "mailer", "event-bridge", "scheduler", "etl"], R.randint(2, 4))
        ]

    def new_user(self, a: Any, role: Any = "u", names: Any = None) -> Any:
        R = self.rng
        if role == "u" and self.peruser:
            a = self.newaccount()
        dom = a.name + ".example" if self.kind != "b2c" or role != "u" else R.choice(["mail.example", "post.example", "example.com"])
        addrs = []
        if a.office and R.random() < 0.8:
            addrs.append(self.fixed(a.office))
        if R.random() < self.mobile_share:
            addrs.append(self.mobile())
        if not addrs or R.random() < 0.5:
            addrs.append(self.home())
        u = User(self.newsubject(names, dom), a, role, addrs)
        u.weight = R.paretovariate(1.6)
        a.users.append(u)
        if role == "u":
            self.users.append(u)
        return u

    def actor(self, u: Any, app: Any, addr: Any = None) -> Any:
        x = u.actors.get(app)
        if not x:
            x = u.actors[app] = Actor(app, u.subject, self.role_scopes(u), "session", u.account.id, u.role, addr or u.addrs[0])
            x.user, x.exp, x.ttl = u, 0, self.style["ttl"]
            x.proactive = self.style["proactive"]
        return x

    def role_scopes(self, u: Any) -> Any:
        return self.has(u.role)

    def new_key(self, a: Any, client: Any = None, scopes: Any = None, addr: Any = None) -> Any:
        R = self.rng
        mine = self.has("k")
        if scopes is None:
            scopes = [s for s in mine if R.random() < 0.75] or mine[:2]
        client = client or R.choice(
            [
                f"{a.name}-{R.choice(['erp', 'sync', 'backend', 'connector', 'crm', 'bi', 'importer'])}",
                f"app_{self.chars(10)}",
                f"{R.choice(['zapier', 'node-sdk', 'php-sdk', 'python-sdk', 'sap-bridge'])}-{self.chars(5)}",
            ]
        )
        ips = [self.ip4() for _ in range(R.choice((1, 1, 2, 3)))]
        x = Actor(client, "", scopes, "api_key", a.id, "k", addr or (lambda t: ips[hash(int(t // 7)) % len(ips)]))
        x.acc, x.weight = a, a.weight * R.uniform(0.4, 1.6)
        a.clients.append(x)
        return x

    def new_service(self, name: Any, scopes: Any = None, account: Any = None) -> Any:
        x = Actor(
            name,
            "",
            scopes if scopes is not None else [s for s in self.has("b") if self.rng.random() < 0.8] or self.has("b"),
            "service",
            (account or self.house).id,
            "b",
            self.internal(),
        )
        x.ttl, x.exp, x.proactive = 3600, 0, 0.995
        return x

    # ---------------------------------------------------------------- pods
    def make_pods(self) -> Any:
        R = self.rng
        base = R.choice([f"{self.dkey}-api", "api", "gateway", f"{self.dkey}-web"])
        pods: list[Any] = []

        def rs() -> Any:
            return self.hex(9) if R.random() < 0.5 else self.chars(9, "bcdfghjklmnpqrstvwxz2456789")

        T0, T1 = self.T0 - 3600, self.T1 + 7200

        def suffix() -> Any:
            return self.chars(5, "bcdfghjklmnpqrstvwxz2456789")

        deploys = []
        for d in self.weekdays():
            if R.random() < 0.25:
                deploys.append(self.at(d, R.uniform(9.5, 16.5)))
        plan = self.poplan
        if plan == "rolling":
            deploys = sorted(self.at(d, R.uniform(8, 18)) for d in (self.weekdays() or range(self.days)) for _ in range(R.randint(3, 9)))
            self.tags["deploys"] = len(deploys)
        if plan in ("plain", "rolling", "canary") and (self.podstyle == "deploy" or plan != "plain"):
            cuts = [T0] + deploys + [T1]
            for a, b in zip(cuts, cuts[1:]):
                h = rs()
                for i in range(self.replicas):
                    s, e = a + (i * 40 if a > T0 else 0), b + (i * 40 + 30 if b < T1 else 0)
                    while s < e:  # now and then a pod is moved to another node
                        x = min(e, s + R.expovariate(1 / (6 * DAY)))
                        pods.append((s, x, f"{base}-{h}-{suffix()}"))
                        s = x + 5
            if plan == "canary":
                a = self.at(self.workday(), 10)
                b = a + R.uniform(2, 8) * 3600
                n = f"{base}-canary-{suffix()}"
                pods.append((a, b, n))
                self.tags["canary"] = (a, b, n)
        elif plan == "autoscale":
            h, step = rs(), 600
            live: list[Any] = []
            peak = max(self.profile)
            t = T0
            while t < T1:
                l = self.offset(t) + t
                want = max(2, round(self.replicas * 4 * self.profile[int(l // 3600) % 24] / peak * R.uniform(0.85, 1.15)))
                while len(live) < want:
                    live.append((t + R.uniform(0, 90), f"{base}-{h}-{suffix()}"))
                while len(live) > want:
                    s, n = live.pop(R.randrange(len(live)))
                    pods.append((s, t + R.uniform(60, 300), n))
                t += step
            pods += [(s, T1, n) for s, n in live]
            self.tags["pods"] = len(pods)
        elif plan == "bluegreen":
            t, colour, cuts = T0, R.choice(["blue", "green"]), []
            for d in range(self.days):
                if R.random() < 0.45 or (not cuts and d == self.days - 1):
                    c = self.at(d, R.uniform(9, 17))
                    cuts.append(c)
                    if R.random() < 0.35:
                        cuts.append(c + R.uniform(8, 45) * 60)
            for c in cuts + [T1]:
                for i in range(self.replicas):
                    pods.append((t, c, f"{base}-{colour}-{i}"))
                t, colour = c, "green" if colour == "blue" else "blue"
            self.tags["cuts"] = cuts
        elif plan == "serverless":
            t = T0
            for lane in range(self.replicas):
                t = T0
                while t < T1:
                    e = t + R.uniform(240, 2700)
                    pods.append((t, e, f"{dt.datetime.fromtimestamp(t, dt.timezone.utc):%Y/%m/%d}/[$LATEST]{self.hex(32)}"))
                    t = e
        elif plan == "regions":
            a = self.at(self.rng.randrange(self.days), R.uniform(6, 20))
            b = a + R.uniform(1, 5) * 3600
            for s, e, reg in ((T0, a, "eu-west-1"), (a - 20, b, "eu-central-1"), (b - 20, T1, "eu-west-1")):
                for i in range(self.replicas):
                    pods.append((s, e, f"{reg}-{base}-{i}"))
            self.tags["failover"] = (a, b)
        else:
            for i in range(self.replicas):
                pods.append((T0, T1, f"{base}-{i}"))
        self.pods = pods
        minutes = int((T1 - T0) // 60) + 2
        self.podbase = T0
        adds: list[list[Any]] = [[] for _ in range(minutes)]
        for p in pods:
            for m in range(max(0, int((p[0] - T0) // 60)), min(minutes, int((p[1] - T0) // 60) + 1)):
                adds[m].append(p)
        self.podmin = adds

    def pod(self, t: Any) -> Any:
        c = [p for p in self.podmin[int((t - self.podbase) // 60)] if p[0] <= t <= p[1]]
        if not c:
            c = self.podmin[int((t - self.podbase) // 60)] or self.pods[-1:]
        if len(c) > 1 and "-canary-" in c[-1][2]:
            return c[-1][2] if self.rng.random() < 0.05 else self.rng.choice(c[:-1])[2]
        return self.rng.choice(c)[2]

    # ---------------------------------------------------------------- objects
    def pool(self, res: Any, owner: Any) -> Any:
        k = (res, owner)
        p = self.pools.get(k)
        if p is None:
            R = self.rng
            n = R.randint(60, 600) if owner is None else R.randint(1, 8) if self.owners.get(res) == "u" else R.randint(8, 80)
            p = self.pools[k] = [self.newid(res) for _ in range(n)]
        return p

    def owner(self, res: Any, x: Any) -> Any:
        o, R = self.owners.get(res, "a"), self.rng
        if o == "p":
            return None
        if o == "u":
            if x.role == "u" and x.subject:
                return x.subject
            us = getattr(x, "acc", None) and x.acc.users or self.users
            return R.choice(us).subject if us else x.account
        if x.role in "sab":
            return R.choice(self.accounts).id
        return x.account

    def getid(self, res: Any, x: Any) -> Any:
        R = self.rng
        if res == "date":
            return (self.first + dt.timedelta(days=R.randrange(-20, self.days))).isoformat()
        if res == "month":
            d = self.first
            return f"{d.year - R.choice((0, 0, 1))}-{R.randrange(1, d.month + 1):02d}"
        if res in ("n", "z"):
            return str(R.randrange(1, 19 if res == "z" else 9000))
        if res == "currency":
            return R.choice("EUR USD GBP JPY CHF PLN BGN SEK NOK".split())
        if res == "language":
            return R.choice("de en fr es pl bg el uk sr-Latn zh-Hant pt-BR".split())
        if res == "category":
            return R.choice("tents shoes lamps maps stoves ropes packs".split())
        p = self.pool(res, self.owner(res, x))
        if not p:
            p.append(self.newid(res))
        if len(p) > 50:
            return p[min(len(p) - 1, int(R.paretovariate(0.6)) - 1)] if R.random() < 0.7 else R.choice(p)
        return R.choice(p)

    def b64(self, obj: Any) -> Any:
        return base64.urlsafe_b64encode(json.dumps(obj, separators=(",", ":")).encode()).decode()

    def query(self, r: Any, x: Any, t: Any) -> Any:
        R, st = self.rng, self.style
        if r.tmpl.endswith("/search") or r.tmpl.endswith("/geocode"):
            q = " ".join(R.sample(QWORDS, R.randint(1, 3))) if not st.get("queries") or R.random() < 0.5 else R.choice(st["queries"])
            return f"q={quote(q)}" + (f"&page={R.randint(1, 4)}" if R.random() < 0.2 else "")
        if r.tmpl.endswith("/reverse") or r.tmpl.endswith("/forecast"):
            return f"lat={R.uniform(36, 60):.5f}&lon={R.uniform(-8, 30):.5f}"
        if r.islist and R.random() < 0.75:
            q = {
                "page": f"page={int(R.paretovariate(1.2))}&per_page={R.choice((20, 25, 50, 100))}",
                "offset": f"limit={R.choice((20, 50, 100))}&offset={R.choice((0, 0, 0, 20, 50, 100))}",
                "cursor": f"limit={R.choice((20, 50))}" + (f"&cursor={self.b64({'k': self.hex(8), 'n': R.randrange(999)})}" if R.random() < 0.4 else ""),
            }[st["paging"]]
            if st.get("bigquery") and R.random() < 0.7:
                q = f"filter={self.b64({'and': [{'f': R.choice(QWORDS), 'op': R.choice(['eq', 'lt', 'in']), 'v': [self.hex(8) for _ in range(R.randint(1, 9))]} for _ in range(R.randint(1, 4))]})}"
            elif R.random() < 0.3:
                q += "&" + R.choice(
                    [
                        "sort=-created_at",
                        "sort=name",
                        "status=open",
                        "include=items",
                        "fields=id,name,updated_at",
                        f"from={self.first}",
                        "q=" + quote(R.choice(st.get("queries") or QWORDS)),
                    ]
                )
            return q
        return ""

    def fill(self, r: Any, x: Any, ids: Any = None) -> Any:
        if len(r.parts) == 1:
            return r.tmpl, {}
        out, got = [], {}
        for i, p in enumerate(r.parts):
            if i % 2:
                v = ids[p] if ids and p in ids else self.getid(p, x)
                got[p] = v
                out.append(quote(str(v), safe=""))
            else:
                out.append(p)
        return "".join(out), got

    # ---------------------------------------------------------------- the server
    def raw(
        self,
        t: Any,
        method: Any,
        target: Any,
        client: Any = "",
        subject: Any = "",
        scopes: Any = "",
        kind: Any = "",
        status: Any = 200,
        address: Any = "",
        account: Any = "",
        orbs: Any = "",
        err: Any = "",
        inst: Any = None,
    ) -> Any:
        if self.T0 <= t < self.T1:
            self.rows.append((t, method, target, client, subject, scopes, kind, status, address, inst or self.pod(t), account, orbs, err))

    def call(self, t: Any, r: Any, x: Any, addr: Any = None, ids: Any = None, q: Any = None, st: Any = None) -> Any:
        """One call as the server sees it. Returns the status."""
        if not self.T0 <= t < self.T1:
            self.outofrange += 1
            return 0
        R = self.rng
        path, got = self.fill(r, x, ids)
        if q is None:
            q = self.query(r, x, t) if r.method == "GET" else ""
        if q:
            path += "?" + q
        inst = self.pod(t)
        client, subject, scopes, kind, account, err, orbs = x.client, x.subject, x.scope_text, x.kind, x.account, "", ""
        status = None
        for a, b in self.windows:
            if a <= t < b:
                status = 503
        if status is None:
            if x.state == "none":
                status, err = 401, "no_token"
            elif x.state == "invalid":
                status, err = 401, "invalid_token"
            elif t > x.exp:
                status, err = 401, "expired_token"
            elif r.release > t:
                status = 404
            elif r.scope not in x.scopes:
                status, err = 403, "insufficient_scope"
        if x.state == "none":
            client, subject, scopes, kind, account = client if self.style["anon_client"] else "", "", "", "", ""
        elif x.state == "invalid":
            subject, scopes, account = "", "", ""
        if status is None:
            if x.rpm:
                k: Any = int(t // 60)
                x.counts[k] = x.counts.get(k, 0) + 1
                if x.counts[k] > x.rpm:
                    status = 429
            if x.quota:
                k = ("d", int(t // DAY))
                if x.counts.get(k, 0) >= x.quota:
                    status = 429
                else:
                    x.counts[k] = x.counts.get(k, 0) + 1
            for n, a, b, share in self.badpods:
                if inst == n and a <= t < b and R.random() < share:
                    status = R.choice((500, 502, 503))
        if status is None and self.flaky and R.random() < self.flaky(t, x):
            status = R.choice((502, 504, 504, 408))
        if status is None:
            n4 = self.style["noise4"]
            k = R.random()
            if st:
                status = st
            elif k < self.style["noise5"]:
                status = R.choice((500, 502, 503))
            elif r.params and r.method == "GET" and R.random() < 0.004 * n4:
                status = 404
            elif r.method in ("POST", "PUT", "PATCH") and R.random() < 0.015 * n4:
                status = R.choice((400, 422, 422, 409))
            else:
                status = {"GET": 200, "HEAD": 200, "PUT": 200, "PATCH": 200, "DELETE": 204, "POST": 201}[r.method]
                if r.method == "POST" and (hash(r.tmpl.count("a")) + len(r.tmpl)) % 4 == 0:
                    status = 202
                if r.creates:
                    p = self.pool(r.creates, self.owner(r.creates, x))
                    p.append(self.newid(r.creates, t))
                    if len(p) > 400:
                        del p[:100]
                if r.method == "DELETE" and got:
                    p = self.pool(r.params[-1], self.owner(r.params[-1], x)) if r.params[-1] not in ("date",) else []
                    if got[r.params[-1]] in p:
                        p.remove(got[r.params[-1]])
        if 200 <= status < 300:
            orbs = str(r.orbs) if r.orbs else self.style["free"]
        elif self.style["free"] == "0":
            orbs = "0"
        self.rows.append((t, r.method, path, client, subject, scopes, kind, status, addr or x.addr(t), inst, account, orbs, err))
        return status

    def do(self, t: Any, r: Any, x: Any, **kw: Any) -> Any:
        """A call as a decent client makes it: refreshes an expired token, backs off, retries. Returns (time of the end, status)."""
        R = self.rng
        if t > x.exp and x.state == "ok" and (x.exp == 0 or R.random() < x.proactive):
            x.exp = t + x.ttl
        s = self.call(t, r, x, **kw)
        if s == 401 and x.state == "ok":
            t += R.uniform(0.15, 1.4)
            x.exp = t + x.ttl
            s = self.call(t, r, x, **kw)
        k = 0
        while s in (500, 502, 503, 504, 408) and k < 3:
            k += 1
            t += 2**k * R.uniform(0.5, 2)
            s = self.call(t, r, x, **kw)
        k = 0
        while s == 429 and k < 5 and not x.quota:
            k += 1
            t = (t // 60 + 1) * 60 + R.uniform(0.1, 3)
            s = self.call(t, r, x, **kw)
        return t + R.uniform(0.02, 0.25), s

    def usable(self, x: Any) -> Any:
        if x.routes is None:
            x.routes = [r for r in self.routes if r.scope in x.scopes and x.role in r.roles] or [r for r in self.routes if r.scope in x.scopes]
            x.rw = [r.weight for r in x.routes]
        return x.routes

    # ---------------------------------------------------------------- behaviours
    def session(self, t: Any, u: Any, app: Any = None, n: Any = None, addr: Any = None) -> Any:
        R = self.rng
        app = app or R.choice(self.apps)
        ads = u.addrs
        af = addr or (ads[0] if len(ads) == 1 or R.random() < 0.6 else R.choice(ads))
        x = self.actor(u, app)
        x.addr = af
        routes = self.usable(x)
        if not routes:
            return
        live = [r for r in routes if r.release <= t]
        rw = [r.weight for r in live]
        n = n or min(120, 2 + int(R.expovariate(1 / 11)))
        if x.exp == 0 and R.random() < 0.1:
            y = Actor(app, "", [], "", "", "u", af)
            y.state = "none"
            self.call(t, R.choice([r for r in live if r.method == "GET"] or live), y)
            t += R.uniform(3, 30)
        seg = None
        if R.random() < self.style["noise403"] * n:  # a button that the role cannot use
            c = [r for r in self.routes if r.method == "GET" and r.scope not in x.scopes and r.release <= t]
            if c:
                t, s = self.do(t, R.choice(c), x)
                t += R.uniform(2, 9)
        while n > 0:
            for _ in range(R.choice((1, 1, 2, 3))):
                if n <= 0:
                    break
                r = R.choices(live, rw)[0]
                if seg and R.random() < 0.5:
                    c = [o for o in live if o.seg == seg]
                    if c:
                        r = R.choices(c, [o.weight for o in c])[0]
                seg = r.seg
                e, s = self.do(t, r, x)
                t = max(t, e - 0.1) if s != 0 else e
                n -= 1
            t += min(900, R.lognormvariate(2, 1))

    def key_burst(self, t: Any, x: Any, n: Any = None) -> Any:
        R = self.rng
        routes = self.usable(x)
        if not routes:
            return
        rw = x.rw
        for _ in range(n or 1 + int(R.expovariate(1 / 5))):
            r = R.choices(routes, rw)[0]
            if r.release > t:
                continue
            t, s = self.do(t, r, x)
            t += R.expovariate(1 / 1.5)

    def key_burst_fast(self, t: Any, x: Any, n: Any) -> Any:
        routes = self.usable(x)
        for _ in range(n):
            t, s = self.do(t, self.rng.choices(routes, x.rw)[0], x)
            t += self.rng.uniform(0.05, 0.6)

    def sched(self, t: Any, fn: Any, *a: Any, **k: Any) -> Any:
        self.jobs.append((t, len(self.jobs), fn, a, k))

    def extra(self, share: Any, least: Any = 0) -> Any:
        """Number of rows an oddity may add."""
        return max(least, int(self.target * share))

    def day_weights(self) -> Any:
        out = []
        for d in range(self.days):
            out.append(self.week[self.date(d).weekday()] * self.dayfactor.get(d, 1) * self.rng.uniform(0.9, 1.1))
        return out

    def build(self) -> Any:
        R = self.rng
        gens = []
        self.make_policy()
        for n, o in self.odds:
            g = o["fn"](self)
            self.share_extra += o["share"]
            self.cur = n
            next(g)
            gens.append((n, g))
        self.make_parties()
        self.make_pods()
        for self.cur, g in gens:
            try:
                next(g)
            except StopIteration:
                pass
        base = int(self.target * max(0.25, 1 - self.share_extra))
        dw = self.day_weights()
        if sum(dw) <= 0:
            dw = [1] * self.days
        dayidx = list(range(self.days))

        def when() -> Any:
            return self.at(R.choices(dayidx, dw)[0], self.hour())

        spike_share = sum(s for _, _, s in self.spikes)

        def moment() -> Any:
            if spike_share and R.random() < spike_share:
                t, m, _ = R.choices(self.spikes, [s for _, _, s in self.spikes])[0]
                return t + R.expovariate(1 / (m * 20))
            return when()

        mix = self.mix
        users = self.users or self.staff
        uw = []
        s = 0
        for u in users:
            s += u.weight
            uw.append(s)
        for _ in range(int(base * mix["u"] / 14.2)):
            u = users[min(len(users) - 1, bisect_right(uw, R.random() * s))]
            t = moment()
            if getattr(u, "since", 0) <= t <= getattr(u, "until", 9e18):
                self.sched(t, self.session, u)
        team = self.staff + self.admins
        wd = [d for d in range(self.days) if self.date(d).weekday() < 5 or R.random() < 0.3] or dayidx
        for _ in range(int(base * mix["s"] / 14.2)):
            self.sched(
                self.at(R.choice(wd), self.hour(PROFILES["office"])), self.session, R.choice(team), R.choice(["backoffice", "admin-console", "support-desk"])
            )
        kw = [k.weight for k in self.keyclients]
        for _ in range(int(base * mix["k"] / 6)):
            k = R.choices(self.keyclients, kw)[0]
            t = moment() if R.random() < 0.7 else R.uniform(self.T0, self.T1)
            if getattr(k, "since", 0) <= t <= getattr(k, "until", 9e18):
                self.sched(t, self.key_burst, k)
        for _ in range(int(base * mix["b"] / 6)):
            self.sched(when() if R.random() < 0.5 else R.uniform(self.T0, self.T1), self.key_burst, R.choice(self.services))
        if self.style["health"] and self.days <= 10:
            for d in range(int((self.T1 - self.T0) / 300)):
                t = self.T0 + d * 300 + 7 + R.random()
                self.raw(t, "GET", "/healthz", "kube-probe", status=200, address="10.8.0.1")
        self.jobs.sort(key=lambda j: (j[0], j[1]))
        i = 0
        while i < len(self.jobs):  # jobs may not add earlier jobs
            t, _, fn, a, k = self.jobs[i]
            fn(t, *a, **k)
            i += 1
        self.rows.sort(key=lambda r: r[0])
        for f in self.post_rows:
            f(self.rows)
        for self.cur, g in gens:
            for _ in g:
                pass

    def csv_rows(self) -> Any:
        for r in self.rows:
            yield (self.stamp(r[0], r[9]),) + r[1:]

    def note(self, text: Any) -> Any:
        self.notes.append((self.cur, text))

    def note_text(self) -> Any:
        z = {"Z": "UTC", "+": "UTC, written +00:00", "L": "local"}[self.style["tz"]]
        out = [
            f"{self.dom['title'].capitalize()}; home zone {self.zone[0]}; {self.days} day(s) from {self.first}; {len(self.rows)} rows; times in {z}.",
            "",
            "What is odd:",
        ]
        out += [f"- [{n}] {t}" for n, t in self.notes]
        out += [
            "",
            "Nothing is wrong. Every served call of a policy route had the route's scope, every refusal is the right one, and",
            "orbs follow the policy (charged for 2xx of priced scopes only). Ordinary noise (a few 404/422/5xx, expired tokens",
            "refreshed at once, a first call without token before the login, a single 403 of somebody at a button of another role)\nis normal for this service."
            + (" /healthz and other paths outside the policy need no token here." if any(r[3] == "kube-probe" for r in self.rows[:3000]) else ""),
        ]
        return "\n".join(out) + "\n"
