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


def findings(found: Figures) -> Rows[Finding]:
    """The findings, the most severe first. In each level, findings about wrongly served calls come first."""
    every = (*of_log(found), *of_server(found), *of_properties(found), *of_tokens(found), *of_clients(found), *of_changes(found), *of_unjudged(found), *of_bursts(found), *of_ledger(found), *of_orbs(found), *of_scopes(found))
    # With the policy of another service, nothing else on the page holds.
    return Rows(Finding, sorted(every, key=lambda row: (row.kind != OTHER_POLICY, LEVELS.index(row.level))))


def checked(found: Figures) -> list[str]:
    """The checks that found nothing, and those that the log doesn't allow, a sentence each."""
    said = [*(responses(found),), f"{were(found.denied)} denied, and no caller looks like a probe or a misconfigured client." if found.denied else "No call was denied."]
    if bounds := hour_is_bound(found.denials.groups):
        said.append(bounds)
    if found.times.first is None:
        said.append("The log has no times, so clients whose calls fail from a time on can't be recognised.")
    if not found.callers.counts:
        said.append("The log names no callers, so grants were compared for all calls together.")
    said.append("Every row could be read, every granted scope was used, and every scope in a valid token is in the policy.")
    return [*said, *(["Every property holds."] if found.properties is not None else [])]


def nothing(found: Figures) -> str:
    """The verdict without findings. A log whose responses prove nothing has none, but is not fine."""
    calls = number(found.calls, "call")
    return f"Nothing to do: {calls} checked." if found.served.proved else f"No finding in {calls}, but no response shows what the server did."
