"""What a policy makes of a log, as one page of HTML."""

from __future__ import annotations

import os
from html import escape

from .._extras import needs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from .._arrow import ArrowArray, ArrowStream
    from .._policy import Policy
    from .figures import Figures

TITLE = "Access report"
TOP = 25


class Report:
    """A page of HTML, and the figures on it as tables. A notebook shows the page."""

    __slots__ = ("figures", "html")

    def __init__(self, html: str, figures: Figures) -> None:
        self.html: str = html
        self.figures: Figures = figures

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file."""
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(self.html)

    def __repr__(self) -> str:
        found = self.figures
        return f"<orbgate report: {found.calls:,} calls, {found.allowed:,} allowed, {found.denied:,} denied>"

    def _repr_html_(self) -> str:
        # A frame keeps the page's style to the page; the empty `sandbox` lets it do nothing but be looked at.
        source = escape(self.html)
        style = "width:100%;height:48rem;border:1px solid #8888;border-radius:6px"
        return f'<iframe sandbox srcdoc="{source}" title="{TITLE}" style="{style}"></iframe>'


def report(
    log: str | os.PathLike[str] | ArrowStream | ArrowArray | Iterable[ArrowStream | ArrowArray],
    policy: Policy,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str = TITLE,
    top: int = TOP,
    method: str = "method",
    target: str = "target",
    kind: str = "kind",
    scopes: str = "scopes",
    allow_bonus_orbs_use: str = "allow_bonus_orbs_use",
    time: str = "time",
    caller: str = "caller",
) -> Report:
    """Decides a log, and tells on one page of HTML what came of it; `path` is where to write the page.

    On it are the calls that were allowed and denied, by reason and by route; the calls that consumed orbs, over
    time; the scopes that were granted and never used, and those that denied calls lacked; and the callers who were
    denied most.

    `log` is a file, as for `orbgate.logs.read`, or what that gives for it, where it must be told more. Or it is a table
    as for `Policy.decide_table`, or batches of one, which are read one after the other; then the names are those of its
    columns: `time` is a time, without a zone in UTC, and `caller` is whatever names who called; a table may lack both,
    and `allow_bonus_orbs_use`. `top` is how many rows a table of the page has at most.

    The page is one file without scripts, and asks for nothing of the network. It has no tokens and no queries of
    targets, but it has callers. The same log, policy and arguments make the same page, byte for byte. Memory grows with
    the callers, not with the calls.

    A row of a file that cannot be read is not decided: it is counted, and the page says so; so it is where a file
    breaks off. Needs `orbgate[report]`. Raises `TableError` where a column is missing or cannot be read, and `OSError`
    where the file cannot be opened or the page cannot be written.
    """
    names = (method, target, kind, scopes, allow_bonus_orbs_use, time, caller)
    made = make(log, policy, names, title, top)
    if path is not None:
        made.save(path)
    return made


def make(
    log: Any, policy: Policy, names: tuple[str, ...], title: str, top: int, watch: Callable[[], None] | None = None
) -> Report:
    """Makes a report; `watch` is called after each part of a file."""
    if top < 1:
        raise ValueError(f"`top` must be at least 1, not {top}")
    for module in ("pyarrow", "vl_convert", "jinja2"):
        needs(module, "report")
    from . import figures, page
    from .log import Columns, Log

    found = figures.count(Log(log, policy, Columns(*names), watch), policy)
    return Report(page.render(found, policy, title, top), found)
