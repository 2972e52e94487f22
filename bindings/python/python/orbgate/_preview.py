"""Decisions and tables in a prompt, and in a notebook as plain HTML tables in its own colours."""

from __future__ import annotations

from html import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ._native import Decision, DecisionTable

IN_TEXT = 5
IN_HTML = 20
COLUMNS = ("decision", "status", "reason", "detail", "route", "scope", "consumes")


def rows(table: DecisionTable) -> Iterator[Decision]:
    """The decisions, one by one."""
    return (table[at] for at in range(len(table)))


def text(table: DecisionTable) -> str:
    """A line about the table, and one for each of its first rows."""
    lines = [f"<orbgate.DecisionTable: {len(table):,} rows>"]
    for row in table[:IN_TEXT]:
        route = "" if row.route is None else f" {row.route}"
        detail = "" if row.detail is None else f", {row.detail}"
        lines.append(f"  {row.decision}: {row.reason}{detail}{route}")
    return "\n".join([*lines, "  …"] if len(table) > IN_TEXT else lines)


def html(table: DecisionTable) -> str:
    """The first rows as a table."""
    shown = []
    for row in table[:IN_HTML]:
        consumes = None if row.orbs is None else row.orbs.consumes
        cells = (row.decision, row.status, row.reason, row.detail, row.route, row.scope, consumes)
        shown.append(["" if cell is None else str(cell) for cell in cells])
    more = len(table) - len(shown)
    return html_table(COLUMNS, shown) + (f"<p>and {more:,} more rows</p>" if more else "")


def html_decision(decision: Decision) -> str:
    """A decision with its reason, route and orbs."""
    denied = "" if decision.status is None else f" {decision.status}"
    rows = [("reason", f"{decision.reason}: {decision.reason.explanation}")]
    if decision.detail is not None:
        rows.append(("detail", f"{decision.detail}: {decision.detail.explanation}"))
    names = {"api": decision.api, "route": decision.route, "scope": decision.scope}
    rows.extend((name, text) for name, text in names.items() if text is not None)
    if decision.is_allow:
        rows.append(("orbs", _orbs(decision)))
    rows.append(("policy", decision.policy))
    cells = "".join(f"<tr><th>{name}</th><td>{escape(text)}</td></tr>" for name, text in rows)
    return f"<table><caption><b>{decision.decision}{denied}</b></caption>{cells}</table>"


def html_table(names: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of strings, which are escaped."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _orbs(decision: Decision) -> str:
    if (orbs := decision.orbs) is None:
        return "the policy does not state whether the scope consumes orbs"
    if not orbs.consumes:
        return "consumes none"
    amount = "orbs, amount not stated by the policy" if orbs.amount is None else f"{orbs.amount} orbs"
    return f"consumes {amount}; bonus orbs {'' if orbs.bonus_allowed else 'not '}allowed"
