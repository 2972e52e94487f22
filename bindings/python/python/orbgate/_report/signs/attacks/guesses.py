"""Passwords and tokens that are tried."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import groupby

from ...._number import number
from ...evidence import SERVED, UNKNOWN
from ...failures import ATTACK, WITHOUT
from ...numbers import HIGH, MEDIUM, shown
from ...thresholds import GUESSES, GUESSES_PART
from ...timelines import HOUR, OK, OWN
from ..ground import Ground, Sign, name, said_when, sign


def guesses(ground: Ground, known: set[str | None]) -> Iterator[Sign]:
    """Passwords or tokens that are tried for long, however slowly: by a caller, or else from an address."""
    told, alone = set(known), _alone(ground)
    columns = [("caller", ground.timelines), *([("address", ground.addresses)] if ground.evidence.has_addresses else [])]
    attacked = {row.route: row.failed for row in ground.failures if row.looks_like == ATTACK}
    for column, timelines in columns:
        for caller, rows in timelines.failing(GUESSES, WITHOUT):
            if caller is None or name(caller) in told:
                continue
            for location, of in groupby(
                sorted(
                    (row for row in rows if row["location"] is not None or row["outcome"] in WITHOUT), key=lambda row: (row["location"] or "", row["first"])
                ),
                key=lambda row: row["location"],
            ):
                every = [*of]
                refused = [row for row in every if row["outcome"] in (OWN, *(WITHOUT - {OWN}))]
                failed, calls = sum(row["calls"] for row in refused), sum(row["calls"] for row in every)
                first, last = min((row["first"] for row in refused), default=0), max((row["last"] for row in refused), default=0)
                if failed < GUESSES or location is None or last - first < HOUR or failed < 2 * attacked.get(location, 0):
                    continue
                is_own = any(row["outcome"] == OWN for row in refused)
                looks = is_own or SIGN_IN in _last_word(location)
                # A client with an expired token that reads the same route is broken, and is another finding.
                if not looks or failed < GUESSES_PART * calls:
                    continue
                # An application's users mistype passwords where they also sign in.
                lonely = alone.get((column, caller))
                if lonely is not None and (2 * lonely[1] < failed or lonely[1] < GUESSES / 2):
                    continue
                after = sum(row["calls"] for row in every if row["outcome"] == OK and row["first"] >= last)
                mean = failed / max(1, (last - first) / HOUR)
                then = f"; then {number(after, 'call')} succeeded" if after else ""
                sentence = (
                    f"{shown(name(caller))} tries {location} {number(failed)} times without a valid password or token, about "
                    f"{number(max(1, round(mean)))} an hour, {said_when(first, last)}{then}"
                )
                yield sign("guesses", HIGH if after else MEDIUM, name(caller), failed, sentence, first, last, min(row["row"] for row in refused))
                told.add(name(caller))
                break


def _alone(ground: Ground) -> dict[tuple[str, bytes], tuple[int, int]]:
    """By caller and address, the addresses from which more calls were refused without a valid token than were served, and their refused calls;
    empty without addresses.
    """
    refused: defaultdict[bytes, Counter[bytes | None]] = defaultdict(Counter)
    served: Counter[bytes] = Counter()
    found: defaultdict[tuple[str, bytes], list[int]] = defaultdict(lambda: [0, 0])
    for row in ground.evidence.visits:
        if row["class"] == UNKNOWN:
            refused[row["address"]][row["caller"]] += row["calls"]
        elif row["class"] == SERVED:
            served[row["address"]] += row["calls"]
    for address, callers in refused.items():
        is_alone = served[address] < callers.total()
        for column, name_of, calls in (
            ("address", address, callers.total()),
            *(("caller", caller, count) for caller, count in callers.items() if caller is not None),
        ):
            of = found[column, name_of]
            of[:] = [of[0] + is_alone, of[1] + (calls if is_alone else 0)]
    return {key: (of[0], of[1]) for key, of in found.items()}


SIGN_IN = "sign in"

WORDS = (
    "login", "logon", "signin", "sign-in", "session", "sessions", "token", "tokens", "password",
    "oauth", "auth", "authenticate", "verify", "otp", "code", "pin",
)  # fmt: skip


def _last_word(location: str) -> str:
    """Whether a route is one at which callers sign in, by its last literal segment."""
    method, _, path = location.partition(" ")
    words = [word.lower() for word in path.split("/") if word and not word.startswith("{")]
    return SIGN_IN if method == "POST" and words and words[-1] in WORDS else ""
