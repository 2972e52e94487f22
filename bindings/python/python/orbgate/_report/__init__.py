"""Reports what a policy decides for a log, as one HTML page."""

from __future__ import annotations

import os
from html import escape

from .._extras import needs
from .._whole import whole_text
from .numbers import TOP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from .._count.resume import Resume
    from .._policy import Policy
    from .._read.reader import Log, Reader
    from .._terms import TokenKind
    from .figures import Figures
    from .ocsf import Events
    from .proved import Properties

TITLE = "Access report"


class Report:
    """An HTML page, and its figures as tables. Notebooks display the page."""

    __slots__ = ("_html", "_made_with", "_render", "figures")

    def __init__(self, render: Callable[[], str], figures: Figures, made_with: Any = None) -> None:
        self.figures: Figures = figures
        self._render, self._made_with = render, made_with
        self._html: str | None = None

    @property
    def html(self) -> str:
        """The page. It is made when it is needed, because its charts take as long as a small log."""
        if self._html is None:
            self._html = self._render()
        return self._html

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file."""
        html = self.html
        with whole_text(path) as file:
            file.write(html)

    def bundle(self) -> bytes:
        """The page and its sources, except the log, as a ZIP archive. The same page makes the same bytes.

        The archive contains the policies, the properties, every table as Parquet, and a manifest with the arguments, the versions,
        and the SHA-256 of the log's files and of all files in the archive. `orbgate.audit.verify` checks it and makes it again.
        """
        from .bundle import entries, pack

        if self._made_with is None:
            raise ValueError("the entries of the ledger were not read by `orbgate.orbs.entries`, so a bundle could not say which they are")
        return pack(entries(self.html, self.figures, *self._made_with))

    def __repr__(self) -> str:
        figures = self.figures
        return f"<orbgate report: {figures.calls:,} calls, {figures.allowed:,} allowed, {figures.denied:,} denied>"

    def _repr_html_(self) -> str:
        # A frame keeps the page's style out of the notebook. The empty `sandbox` lets the page run nothing.
        source = escape(self.html)
        style = "width:100%;height:48rem;border:1px solid #8888;border-radius:6px"
        return f'<iframe sandbox srcdoc="{source}" title="{TITLE}" style="{style}"></iframe>'


def report(
    log: Log | Reader,
    policy: Policy,
    path: str | os.PathLike[str] | None = None,
    *,
    base: Policy | None = None,
    title: str = TITLE,
    top: int = TOP,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    kind: TokenKind | str | None = None,
    scopes: str | None = None,
    allow_bonus_orbs_use: bool | None = None,
    time_unit: str | None = None,
    time_zone: str | None = None,
    public: Sequence[str] | None = None,
    properties: str | os.PathLike[str] | None = None,
    entries: Any = None,
    accept: str | os.PathLike[str] | None = None,
    since: str | os.PathLike[str] | None = None,
) -> Report:
    """Decides a log, and shows the decisions on one HTML page. With `path`, also writes the page to this file.

    If the log has statuses, the page lists calls that the server served although the policy denies them, or refused although
    it allows them. It also shows allowed and denied calls by reason and route, orbs over time, unused and missing scopes, and
    the callers with the most denied calls.

    `log` and the arguments from `format` on are those of `orbgate.logs.read`. `log` can also be a reader, which already has
    these arguments. `top` is the most rows in a table of the page. With another policy as `base`, the page also lists calls
    that this policy decides differently. With a test file as `properties`, it shows whether each property in the file holds
    for all requests, and the requests that violate it; they are also in `figures.properties`. With `entries`, from
    `orbgate.orbs.entries`, it compares the calls that consume orbs with those of a ledger, by a column `hold` of `columns`.
    `accept` is a file of findings that are accepted until a day, and with the bundle of an earlier report as `since`, what is new is
    compared with that report instead of the log's first part.

    The page is one file without scripts, and loads nothing from the network. It contains callers, paths and scopes, and lists
    at its end what it leaves out, such as queries. The same rows, policy and arguments make the same bytes, from files and from
    tables, except for details about files. Memory is bounded: if there are too many callers, or too many scopes that the
    policy doesn't have, the page shows the most frequent ones, and marks lower bounds.

    Unreadable rows are counted but not decided. The page reports them, and where a file breaks off. Needs the extra `report`.
    Raises the same errors as `orbgate.logs.read`, `OSError` if the page can't be written or `properties` can't be read, and
    `PolicyError` with all errors in that file.
    """
    check_needs()
    from .._read.reader import Reader, read
    from .proved import properties_of

    proved = None if properties is None else properties_of(policy, properties)
    options: dict[str, Any] = {"format": format, "columns": columns, "kind": kind, "scopes": scopes, "time_unit": time_unit, "time_zone": time_zone}
    options |= {"allow_bonus_orbs_use": allow_bonus_orbs_use, "public": public}
    if not isinstance(log, Reader):
        made = make(read(log, **options), policy, title, top, base=base, properties=proved, entries=entries, accept=accept, since=since)
    elif given := [name for name, value in options.items() if value is not None]:
        raise ValueError(f"set `{given[0]}` when you create the reader, not here")
    else:
        made = make(log, policy, title, top, base=base, properties=proved, entries=entries, accept=accept, since=since)
    if path is not None:
        made.save(path)
    return made


def make(
    log: Reader,
    policy: Policy,
    title: str,
    top: int,
    watch: Callable[[], None] | None = None,
    base: Policy | None = None,
    properties: Properties | None = None,
    resume: Resume | None = None,
    events: Events | None = None,
    entries: Any = None,
    accept: str | os.PathLike[str] | None = None,
    since: str | os.PathLike[str] | None = None,
) -> Report:
    """Makes a report. `watch` is called after each part of the log, `resume` stores the progress, `events` writes decisions
    and findings, and `entries` are those of a ledger.
    """
    if top < 1:
        raise ValueError(f"`top` must be at least 1, not {top}")
    if entries is not None and not {"hold", "account"} & {*log.schema.names}:
        raise ValueError("to compare the log with a ledger, name its column with the ids of holds, `hold`, or at least that with accounts, `account`")
    check_needs()
    from .._count.decided import Decided
    from .._read.entries import digest_of
    from . import counting, findings, page
    from .accepted import read_accepted
    from .bundle import earlier_of

    acceptances = None if accept is None else read_accepted(accept, findings.KINDS)
    earlier, of_earlier = (None, None) if since is None else earlier_of(since)
    figures = counting.count(Decided(log, policy, watch, base), policy, base, resume, events, entries, earlier)._replace(properties=properties)
    figures = findings.without_accepted(figures, () if acceptances is None else acceptances.at(figures.times.last))
    if events is not None:
        events.end(figures)
    digests = {"entries": digest_of(entries), "accept": acceptances and acceptances.sha256, "since": of_earlier}
    is_whole = entries is None or digests["entries"] is not None
    also = {name: digest for name, digest in digests.items() if digest is not None}
    return Report(lambda: page.render(figures, policy, title, top), figures, (policy, base, title, top, also) if is_whole else None)


def check_needs() -> None:
    for module in ("pyarrow", "vl_convert", "jinja2"):
        needs(module, "report")
