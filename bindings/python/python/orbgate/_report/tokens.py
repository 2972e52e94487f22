"""Finds tokens that several clients use, that come from two networks at the same time, and that are served after they expire; and clocks
that are ahead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from .._count.counts import Counts
from .._count.served import SERVED, SKEW, past_expiry, served
from .._rows import Rows
from .._terms import Effect, Reason

if TYPE_CHECKING:
    from .._count.decided import Part

# Two calls of a token within this time come from two places at once. An address's network has so many bits.
AT_ONCE, BITS = timedelta(minutes=1), {4: 24, 6: 48}
# If more tokens than this, and more than this part of all, come from two networks at once, this is how the clients work.
FEW_TOKENS, TOKENS_PART = 3, 50
# Addresses that say nothing of a place.
PRIVATE = tuple(
    map(ip_network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "fc00::/7", "fe80::/10", "::1/128"))
)
# The most rows of counts. With more, tokens are dropped that are used by one client from one network.
MOST_ROWS = 1 << 18
# A token that is served so many seconds after its expiry may show a clock that is ahead, or an answer that the server has kept.
CLOCK = 900
# A chance below one in so many is none. From so many tokens on, it has been found out, or never is.
CHANCE, ENOUGH_TOKENS = 1_000, 64
# A clock that is ahead concerns at least so many tokens and callers, and of the tokens that are refused after their expiry one in `TURNED_PART`.
TURNED, TURNED_CALLERS, TURNED_PART = 10, 3, 8
SHARED, TWO_NETWORKS, EXPIRED = "used by several clients", "used from two networks within a minute", "served after its expiry"
# The use from two networks that is usual.
ROAMING = "used from many networks"


class TokenUse(NamedTuple):
    """A token that is used in a suspicious way, by its fingerprint.

    `what` is "used by several clients", otherwise "used from two networks within a minute"; or "served after its expiry". `clients` and
    `networks` are those of all its calls, each in the order of bytes, the first few. `calls` counts the calls by all but the
    client with the most, those from the two networks within a minute, or those served after its expiry, from `first` to `last`.
    `row` is the first of them, counted from 1. `late` are the most seconds after the expiry. A use from two networks `is_usual` if
    many tokens are used so, or this one from its first calls on, or if the client uses other tokens from each of them.
    """

    token: str
    what: str
    clients: tuple[str, ...]
    networks: tuple[str, ...]
    calls: int
    first: datetime | None
    last: datetime | None
    row: int
    late: int | None
    is_usual: bool


class Early(NamedTuple):
    """The calls that the server refused for their token at most 15 minutes before its expiry although the policy allows them: their number,
    their tokens (64 or more count as 64), the most seconds before the expiry, and the part of all calls with a valid token that come as shortly before it.
    """

    calls: int
    tokens: int
    longest: int
    part: float

    @property
    def is_by_chance(self) -> bool:
        """Whether calls that are refused for another reason might all come so shortly before the expiry. A token is refused again."""
        return not self.calls or self.part**self.tokens * CHANCE > 1


class Turned(NamedTuple):
    """The tokens that were refused as expired when their callers had already used the next ones for a minute: their number, their callers,
    and the most seconds after the expiry; and all `tokens_refused` a minute or more after their expiry.
    """

    tokens: int
    callers: int
    longest: int
    tokens_refused: int

    @property
    def is_clock(self) -> bool:
        """Whether a clock that is ahead explains them. Some clients have two tokens at a time."""
        return self.tokens >= TURNED and self.callers >= TURNED_CALLERS and TURNED_PART * self.tokens >= self.tokens_refused


# The most clients and networks that are named.
NAMED = 4


class TokenCounts:
    """Counts the uses of tokens by client, network and minute."""

    def __init__(self) -> None:
        self.is_exact = True
        # As plain data: the calls that were refused early, the most seconds, and their tokens; the served calls by minutes before the expiry.
        self._early: list[Any] = [0, 0, []]
        self._life = [0] * (CLOCK // 60 + 1)
        self._has_turns = True
        self._turns = Counts(["caller", "token", "is_late"], least=["expires", "earliest"], greatest=["latest"])
        self._uses = Counts(["token", "caller", "network", "minute", "is_expired"], least=["row", "earliest"], greatest=["latest", "late"])

    def add(self, part: Part) -> None:
        """Counts calls with a fingerprint, row by row."""
        calls = part.calls
        if "token" not in calls.column_names:
            return
        time, nothing = calls["time"], pa.nulls(calls.num_rows, pa.binary())
        is_allowed = pc.equal(part.decided["decision"], Effect.ALLOW.value)
        # Without a status, the log shows only that the policy allows the call.
        is_served = pc.equal(served(calls["served_status"], is_allowed, part.decided["reason"]), SERVED).fill_null(False)
        is_expired = pc.and_(past_expiry(calls, SKEW), is_served)
        expires = calls["token_expires"].cast(time.type) if "token_expires" in calls.column_names else pa.nulls(calls.num_rows, time.type)
        self._see_early(calls, is_allowed, is_served, expires)
        self._see_turns(calls, is_served, expires)
        columns = {
            "token": calls["token"], "caller": calls["caller"], "network": networks(calls["address"]) if "address" in calls.column_names else nothing,
            "minute": pc.floor_temporal(time, unit="minute"), "is_expired": is_expired, "row": calls["row"], "earliest": time, "latest": time,
            "late": pc.if_else(is_expired, seconds(pc.subtract(time, expires)), None),
        }  # fmt: skip
        used = pa.table(columns)
        self._uses.add(used.filter(pc.is_valid(used["token"])))

    def _see_early(self, calls: Any, is_allowed: Any, is_served: Any, expires: Any) -> None:
        """Counts calls that the server refused for their token shortly before it expired, and those that it served by the time before."""
        left = seconds(pc.subtract(expires, calls["time"]))
        minutes = pc.min_element_wise(pc.divide(pc.max_element_wise(left, 0, skip_nulls=False), 60), CLOCK // 60, skip_nulls=False)
        for row in pc.value_counts(minutes.filter(is_served).drop_null()).to_pylist():
            self._life[row["values"]] += row["counts"]
        is_refused = pc.and_(pc.equal(calls["served_status"], Reason.INVALID_TOKEN.status), is_allowed)
        is_early = pc.and_(pc.and_(is_refused, past_expiry(calls, -timedelta(seconds=CLOCK))), pc.invert(past_expiry(calls, -SKEW))).fill_null(False)
        if pc.any(is_early).as_py():
            count, longest, names = self._early
            early = left.filter(is_early)
            names = sorted({*names, *calls["token"].filter(is_early).drop_null().unique().to_pylist()})[:ENOUGH_TOKENS]
            self._early = [count + len(early), max(longest, pc.max(early).as_py()), names]

    def _see_turns(self, calls: Any, is_served: Any, expires: Any) -> None:
        """Sees when tokens were served, and refused after their expiry."""
        time = calls["time"]
        is_late = pc.and_(pc.equal(calls["served_status"], Reason.INVALID_TOKEN.status).fill_null(False), past_expiry(calls, SKEW))
        used = pa.table({"caller": calls["caller"], "token": calls["token"], "is_late": is_late, "expires": expires, "earliest": time, "latest": time})
        if self._has_turns:
            self._turns.add(used.filter(pc.or_(is_late, is_served)).drop_null())

    @property
    def early(self) -> Early:
        """The calls that the server refused for their token shortly before it expired."""
        count, longest, names = self._early
        part = (sum(self._life[: longest // 60 + 1]) + 1) / (sum(self._life) + 1)
        return Early(count, len(names), longest, part)

    @property
    def turned(self) -> Turned:
        """The tokens that were refused as expired after the next ones of their callers were used. With very many tokens, none are known."""
        refused, delays = 0, []
        rows = sorted(self._turns.rows(), key=lambda row: (row["caller"], row["expires"], row["token"], row["is_late"]))
        for caller, of in groupby(rows, key=lambda row: row["caller"]):
            # From the last token on, the first use of any later one.
            later: datetime | None = None
            for expires, some in groupby(reversed([*of]), key=lambda row: row["expires"]):
                next_use = later
                for row in some:
                    if not row["is_late"]:
                        later = min(later or row["earliest"], row["earliest"])
                        continue
                    refused += 1
                    # A client with several tokens at a time uses another one before.
                    if next_use is not None and expires - SKEW <= next_use < row["latest"] - SKEW:
                        delays.append((caller, (row["latest"] - expires) // timedelta(seconds=1)))
        return Turned(len(delays), len({caller for caller, _ in delays}), max((late for _, late in delays), default=0), refused)

    def fit(self) -> None:
        """Drops tokens if there are too many rows. Those that might be suspicious later are lost, so it isn't exact any more."""
        if self._turns.settle(0) > MOST_ROWS:
            self._has_turns, self._turns = False, Counts([])
        if self._uses.settle(0) > MOST_ROWS:
            self.is_exact = False
            kept = pa.array([row.token.encode() for row in self.rows()], pa.binary())
            self._uses.change(lambda table: table.filter(pc.is_in(table["token"], kept)))

    def rows(self) -> Rows[TokenUse]:
        """The suspicious tokens: first those that were served after their expiry, then by their calls."""
        uses = sorted(self._uses.rows(), key=lambda row: (row["token"], row["earliest"] or datetime.min, row["row"]))
        by_token = {token: [*of] for token, of in groupby(uses, key=lambda row: row["token"])}
        # The number of tokens of each client in each network.
        homes = Counter(home for of in by_token.values() for home in {(row["caller"], row["network"]) for row in of})
        suspicious = [use for token, of in by_token.items() for use in _of_token(token.decode(), of, homes)]
        roaming = sum(row.what == TWO_NETWORKS for row in suspicious)
        if roaming > FEW_TOKENS and TOKENS_PART * roaming > len(by_token):
            suspicious = [row._replace(is_usual=row.is_usual or row.what == TWO_NETWORKS) for row in suspicious]
        order = (EXPIRED, SHARED, TWO_NETWORKS)
        return Rows(TokenUse, sorted(suspicious, key=lambda row: (order.index(row.what), -row.calls, row.token)))


def _of_token(token: str, uses: list[dict[str, Any]], homes: Counter[tuple[bytes | None, bytes | None]]) -> Iterator[TokenUse]:
    by_client: dict[bytes, int] = {}
    for row in uses:
        if row["caller"] is not None:
            by_client[row["caller"]] = by_client.get(row["caller"], 0) + row["calls"]
    names = tuple(client.decode("utf-8", "backslashreplace") for client in sorted(by_client)[:NAMED])
    places = tuple(sorted({row["network"].decode() for row in uses if row["network"] is not None})[:NAMED])
    if expired := [row for row in uses if row["is_expired"]]:
        yield _use(token, EXPIRED, names, places, expired)
    if len(by_client) > 1:
        main = min(by_client, key=lambda client: (-by_client[client], client))
        yield _use(token, SHARED, names, places, [row for row in uses if row["caller"] not in (None, main)])
    # A token of several clients is one incident, wherever they are.
    elif near := _near([row for row in uses if row["network"] is not None and row["earliest"] is not None]):
        before = sum(row["calls"] for row in uses if row["earliest"] is not None and row["earliest"] < near[0]["earliest"])
        is_from_home = all(homes[row["caller"], row["network"]] > 1 for row in near)
        yield _use(token, TWO_NETWORKS, names, places, near, is_usual=is_from_home or 10 * before < sum(row["calls"] for row in uses))


def _near(uses: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of uses in the order of time, those with a call that came less than a minute before or after one from another network."""
    near: dict[int, dict[str, Any]] = {}
    for at, row in enumerate(uses):
        for later in range(at + 1, len(uses)):
            other = uses[later]
            if other["earliest"] - row["latest"] >= AT_ONCE:
                break
            # Only the ends of a use are known to be calls.
            ends = [abs(one - two) for one in (row["earliest"], row["latest"]) for two in (other["earliest"], other["latest"])]
            # A client can use both versions of IP at once.
            is_other = other["network"] != row["network"] and (b":" in other["network"]) == (b":" in row["network"])
            if is_other and min(ends) < AT_ONCE:
                near |= {at: row, later: other}
    return [near[at] for at in sorted(near)]


def _use(token: str, what: str, clients: tuple[str, ...], places: tuple[str, ...], rows: Iterable[dict[str, Any]], is_usual: bool = False) -> TokenUse:
    rows = [*rows]
    times = [row[end] for row in rows for end in ("earliest", "latest") if row[end] is not None]
    return TokenUse(
        token,
        what,
        clients,
        places,
        sum(row["calls"] for row in rows),
        min(times, default=None),
        max(times, default=None),
        min(row["row"] for row in rows),
        max((row["late"] for row in rows if row["late"] is not None), default=None),
        is_usual,
    )


def seconds(lengths: Any) -> Any:
    """The whole seconds of lengths of time."""
    return pc.divide(lengths.cast(pa.int64()), 1_000_000)


def networks(addresses: Any) -> Any:
    """The networks of addresses: a /24 of IPv4, a /48 of IPv6. What isn't an address is null, and so are private ones."""
    coded = addresses.combine_chunks().dictionary_encode() if hasattr(addresses, "combine_chunks") else addresses.dictionary_encode()
    coded = coded.combine_chunks() if hasattr(coded, "combine_chunks") else coded
    return pa.array([None if address is None else network(address) for address in coded.dictionary.to_pylist()], pa.binary()).take(coded.indices)


def network(text: bytes) -> bytes | None:
    """The network of an address; None for a private one, and for what isn't an address."""
    address = _address(text)
    if address is None or _is_private(address):
        return None
    return str(ip_network(f"{address}/{BITS[address.version]}", strict=False)).encode()


def is_private(text: bytes | None) -> bool:
    """Whether this is an address of a private network."""
    address = None if text is None else _address(text)
    return address is not None and _is_private(address)


def _address(text: bytes) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text.decode("ascii"))
    except ValueError:
        return None
    # A zone belongs to the machine.
    return getattr(address, "ipv4_mapped", None) or ip_address(str(address).partition("%")[0])


def _is_private(address: IPv4Address | IPv6Address) -> bool:
    return any(address in of for of in PRIVATE)
