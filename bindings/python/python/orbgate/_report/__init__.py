"""What a policy makes of a log, as one page of HTML."""

from __future__ import annotations

import os
from html import escape

from .._extras import needs
from .._whole import whole
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
    """A page of HTML, and the figures on it as tables. A notebook shows the page."""

    __slots__ = ("_made_with", "figures", "html")

    def __init__(self, html: str, figures: Figures, made_with: Any = None) -> None:
        self.html: str = html
        self.figures: Figures = figures
        self._made_with = made_with

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file."""
        with whole(path) as part, open(part, "w", encoding="utf-8", newline="\n") as file:
            file.write(self.html)

    def bundle(self) -> bytes:
        """The page with all that it was made of but the log, as a ZIP archive: the same page makes the same bytes.

        It has the policies' texts, that of the properties, every table as Parquet, and a manifest with the arguments, the versions, and the SHA-256 of the log's files
        and of all that is in it. `orbgate.audit.verify` checks it, and makes it again.
        """
        from .bundle import entries, pack

        return pack(entries(self.html, self.figures, *self._made_with))

    def __repr__(self) -> str:
        found = self.figures
        return f"<orbgate report: {found.calls:,} calls, {found.allowed:,} allowed, {found.denied:,} denied>"

    def _repr_html_(self) -> str:
        # A frame keeps the page's style to the page. The empty `sandbox` lets it run nothing.
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
) -> Report:
    """Decides a log, and shows the decisions on one HTML page; `path` is where to write the page.

    On it are the calls that the server served though the policy denies them, or refused though it allows them, where the log has
    statuses; the calls that were allowed and denied, by reason and by route; the calls that consumed orbs, over time; the scopes
    that were granted and never used, and those that denied calls lacked; and the callers who were denied most.

    `log` is anything that `orbgate.logs.read` takes, files or tables, and the arguments from `format` on are those of
    `orbgate.logs.read`. Or `log` is a reader, which has all of them. `top` is how many rows a table of the page has at most.
    With another policy as `base`, the page also says what that policy decides otherwise. With a test file as `properties`, it says of each
    property in it whether it holds for all requests, and which are against it: `figures.properties` has them.

    The page is one file without scripts, and loads nothing from the network. It has callers, paths and scopes, and says
    at its end what it leaves out of them, such as queries. The same rows, policy and arguments make the same page, byte for byte, from files and from
    tables, except for what it says of files. Memory is bounded: if there are too many callers, or too many scopes that
    the policy does not have, the page shows those with most calls, and says where their counts are lower bounds.

    A row that cannot be read is not decided: it is counted, and the page says so. It also says where a file breaks off.
    Needs the extra `report`. Raises what `orbgate.logs.read` raises, `OSError` where the page cannot be written or `properties` not be read,
    and `PolicyError` with every error of that file.
    """
    check_needs()
    from .._read.reader import Reader, read
    from .proved import properties_of

    proved = None if properties is None else properties_of(policy, properties)
    said: dict[str, Any] = {"format": format, "columns": columns, "kind": kind, "scopes": scopes, "time_unit": time_unit, "time_zone": time_zone}
    said |= {"allow_bonus_orbs_use": allow_bonus_orbs_use, "public": public}
    if not isinstance(log, Reader):
        made = make(read(log, **said), policy, title, top, base=base, properties=proved)
    elif given := [name for name, value in said.items() if value is not None]:
        raise ValueError(f"a reader knows what it reads: `{given[0]}` must be said where it is made")
    else:
        made = make(log, policy, title, top, base=base, properties=proved)
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
) -> Report:
    """Makes a report; `watch` is called after each part of the log, `resume` keeps how far counting has come, `events` writes decisions and findings."""
    if top < 1:
        raise ValueError(f"`top` must be at least 1, not {top}")
    check_needs()
    from .._count.decided import Decided
    from . import counting, findings, page

    found = counting.count(Decided(log, policy, watch, base), policy, base, resume, events)._replace(properties=properties)
    found = found._replace(findings=findings.findings(found))
    if events is not None:
        events.end(found)
    return Report(page.render(found, policy, title, top), found, (policy, base, title, top))


def check_needs() -> None:
    for module in ("pyarrow", "vl_convert", "jinja2"):
        needs(module, "report")
