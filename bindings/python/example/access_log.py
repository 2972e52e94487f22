"""A log of calls as an API gateway might have written it, made up: for the notebook and the tests.

A few applications make most of the calls, each call mostly to what it is for; most paths have ids, some of which are
asked for again and again and most of which are not; there are scanners, paths that are put together wrongly, and applications that were never
given what they try. The same arguments always give the same log.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute  # type: ignore[import-untyped]
from orbgate import Policy

# Its functions are made when it is imported, where pyright does not see them.
pc: Any = pyarrow.compute

FIRST = datetime(2026, 11, 2, tzinfo=timezone.utc)
DAYS = 14
CALLERS = 200
IDS = 5_000_000
# What goes wrong, and how often.
STRAY, NO_TOKEN, BROKEN = 0.06, 0.004, 0.01
BROKEN_TARGETS = ["/.env", "/wp-login.php", "/api/v1/external/../admin", "/api/v1/external//keys", "/api/v1/external/voxies/"]


def access_log(policy: Policy, rows: int, seed: int = 7) -> pa.Table:
    """Calls with the columns method, target, kind, scopes, allow_bonus_orbs_use, time and caller, in order of time."""
    # The stream of numbers of this generator is frozen; that of newer ones is not.
    draw = np.random.RandomState(seed)
    return calls(policy, applications(policy, draw), rows, draw)


def calls(policy: Policy, callers: dict[str, Any], rows: int, draw: np.random.RandomState, first: datetime = FIRST, days: int = DAYS) -> pa.Table:
    """Calls of these applications from `first` on."""
    routes = policy.routes()
    caller = _often_few(draw, len(callers["kinds"]), rows)
    used = callers["routes"][caller, draw.randint(0, callers["routes"].shape[1], rows)]
    tried = callers["tries"][caller, draw.randint(0, callers["tries"].shape[1], rows)]
    route = np.where(draw.random_sample(rows) < STRAY, tried, used)
    broken = pa.array(draw.random_sample(rows) < BROKEN)
    targets = pc.if_else(broken, _pick(BROKEN_TARGETS, draw.randint(0, len(BROKEN_TARGETS), rows)), _targets(policy, route, draw))
    kinds = pc.if_else(pa.array(draw.random_sample(rows) < NO_TOKEN), None, _pick(callers["kinds"], caller))
    return pa.table(
        {
            "method": _pick([one.method for one in routes], route),
            "target": targets,
            "kind": kinds,
            "scopes": _pick(callers["scopes"], caller),
            "allow_bonus_orbs_use": pa.array(draw.random_sample(rows) < 0.3),
            "time": _times(rows, draw, first, days),
            "caller": _pick([f"app-{number:03}" for number in range(len(callers["kinds"]))], caller),
        }
    )


def applications(policy: Policy, draw: np.random.RandomState, count: int = CALLERS) -> dict[str, Any]:
    """What each application may do, what it does, and what else it tries: most hold more than they use."""
    routes, scopes = policy.routes(), [scope.scope for scope in policy.scopes()]
    locations = {name: [at for at, route in enumerate(routes) if route.scope == name] for name in scopes}
    kinds, texts, used, tries = [], [], [], []
    for _ in range(count):
        held = draw.choice(scopes, draw.randint(2, 9), replace=False)
        open_to_it = [at for name in held for at in locations[name]] or [0]
        used.append(draw.choice(open_to_it, 6))
        tries.append(draw.randint(0, len(routes), 3))
        texts.append(" ".join(held))
        kinds.append("organisation" if draw.random_sample() < 0.7 else "user")
    return {"kinds": kinds, "scopes": texts, "routes": np.array(used), "tries": np.array(tries)}


def _often_few(draw: np.random.RandomState, different: int, rows: int) -> Any:
    """Numbers below `different`, by Zipf's law: the second is half as frequent as the first, and so on."""
    shares = np.cumsum(1 / np.arange(1, different + 1))
    return np.searchsorted(shares, draw.random_sample(rows) * shares[-1])


def _pick(texts: list[str], locations: Any) -> Any:
    return pa.array(texts, pa.string()).take(pa.array(locations))


def _targets(policy: Policy, route: Any, draw: np.random.RandomState) -> Any:
    """The paths of the routes with ids in them; some lists are read page by page."""
    routes = policy.routes()
    templates = [one.template for one in routes]
    heads = _pick([template.partition("{")[0] for template in templates], route)
    tails = _pick([template.partition("}")[2] for template in templates], route)
    # Ids that follow one another do not look alike.
    ids = pa.array((_often_few(draw, IDS, len(route)) + 1) * 2_654_435_761 % 2**32).cast(pa.string())
    has_id = np.array(["{" in template for template in templates])[route]
    has_page = np.array([one.method == "GET" for one in routes])[route] & ~has_id & (draw.random_sample(len(route)) < 0.2)
    pages = pc.binary_join_element_wise("?page=", pa.array(draw.randint(1, 50, len(route))).cast(pa.string()), "")
    query = pc.if_else(pa.array(has_page), pages, "")
    return pc.binary_join_element_wise(heads, pc.if_else(pa.array(has_id), ids, query), tails, "")


def _times(rows: int, draw: np.random.RandomState, first: datetime, days: int) -> Any:
    """In order, more by day than by night, and less at weekends."""
    shares = np.cumsum([0.3 if (first + timedelta(day)).weekday() > 4 else 1 for day in range(days)])
    day = np.searchsorted(shares, draw.random_sample(rows) * shares[-1])
    hour = np.clip(draw.normal(14, 4, rows), 0, 23.999)
    start = int(first.timestamp()) * 1_000_000
    return pa.array(np.sort(start + ((day * 24 + hour) * 3_600_000_000).astype(np.int64)), pa.timestamp("us", "UTC"))
