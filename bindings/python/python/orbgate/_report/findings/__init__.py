"""The findings of a report: problems that need attention, the most severe first, with the next step for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._number import number
from ..._rows import Rows
from ..denials import hour_is_bound
from ..figures import Finding
from ..numbers import LEVELS
from .clients import of_bursts, of_clients
from .log import OTHER_POLICY, of_log, of_unjudged
from .ledger import of_ledger
from .scopes import of_orbs, of_properties, of_scopes, of_tokens
from .server import of_changes, of_server, responses
from .words import were

if TYPE_CHECKING:
    from ..figures import Figures

# The codes of all findings.
KINDS = (
    OTHER_POLICY, "broken_log", "no_calls", "unread_rows", "warnings", "served_though_denied", "refused_though_allowed", "preflights", "expired_token", "late_tokens", "early_expiry", "shared_token", "token_networks", "roaming_tokens", "properties", "probe", "scanner", "attack",
    "successful_attack", "outage", "misconfigured_client", "always_denied_client", "broken_client", "recovered_client", "retries", "other_policy_client", "changes", "not_judged", "burst", "held_without_call", "called_without_hold", "captured_otherwise", "charged_failures", "unused_grants", "unknown_scopes",
)  # fmt: skip


def findings(figures: Figures) -> Rows[Finding]:
    """The findings, the most severe first. In each level, findings about wrongly served calls come first."""
    every = (*of_log(figures), *of_server(figures), *of_properties(figures), *of_tokens(figures), *of_clients(figures), *of_changes(figures), *of_unjudged(figures), *of_bursts(figures), *of_ledger(figures), *of_orbs(figures), *of_scopes(figures))
    # With the policy of another service, nothing else on the page holds.
    return Rows(Finding, sorted(every, key=lambda row: (row.kind != OTHER_POLICY, LEVELS.index(row.level))))


def checked(figures: Figures) -> list[str]:
    """The checks that found nothing, and those that the log doesn't allow, a sentence each."""
    sentences = [*(responses(figures),), f"{were(figures.denied)} denied, and no caller looks like a probe or a misconfigured client." if figures.denied else "No call was denied."]
    if bounds := hour_is_bound(figures.denials.groups):
        sentences.append(bounds)
    if figures.times.first is None:
        sentences.append("The log has no times, so clients whose calls fail from a time on can't be recognised.")
    if not figures.callers.counts:
        sentences.append("The log names no callers, so grants were compared for all calls together.")
    sentences.append("Every row could be read, every granted scope was used, and every scope in a valid token is in the policy.")
    return [*sentences, *(["Every property holds."] if figures.properties is not None else [])]


def nothing(figures: Figures) -> str:
    """The verdict without findings. A log whose responses prove nothing has none, but is not fine."""
    calls = number(figures.calls, "call")
    return f"Nothing to do: {calls} checked." if figures.served.proved else f"No finding in {calls}, but no response shows what the server did."
