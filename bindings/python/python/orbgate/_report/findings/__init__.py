"""The findings of a report: problems that need attention, the most severe first, with the next step for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._number import number
from ..._rows import Rows
from ..accepted import Acceptance, split, split_signs
from ..denials import hour_is_bound
from ..figures import Finding
from ..numbers import FACT, LEVELS
from .clients import of_bursts, of_clients
from .log import OTHER_POLICY, of_log, of_unjudged
from .ledger import of_ledger
from .scopes import of_orbs, of_properties, of_scopes, of_tokens
from .server import of_changes, of_server, responses
from .signs import KINDS as SIGN_KINDS
from .signs import of_signs
from .words import were

if TYPE_CHECKING:
    from ..figures import Figures

# The codes of all findings.
KINDS = (
    OTHER_POLICY, "broken_log", "no_calls", "unread_rows", "warnings", "served_though_denied", "refused_though_allowed", "preflights", "expired_token",
    "late_tokens", "early_expiry", "shared_token", "token_networks", "roaming_tokens", "properties", "probe", "scanner", "attack", "successful_attack",
    "outage", "misconfigured_client", "always_denied_client", "broken_client", "stopped_client", "left_client",
    "mended_client", "recovered_client", "reloaded_client", "retries", "other_policy_client",
    "changes", "not_judged", "burst", "held_without_call", "called_without_hold", "captured_otherwise", "charged_failures", "unused_grants",
    "unknown_scopes",
    *SIGN_KINDS,
)  # fmt: skip


def findings(figures: Figures) -> Rows[Finding]:
    """The findings, the most severe first, and after them the facts. In each level, doubts about the log and wrongly served calls come first."""
    every = (
        *of_log(figures),
        *of_signs(figures),
        *of_server(figures),
        *of_properties(figures),
        *of_tokens(figures),
        *of_clients(figures),
        *of_changes(figures),
        *of_unjudged(figures),
        *of_bursts(figures),
        *of_ledger(figures),
        *of_orbs(figures),
        *of_scopes(figures),
    )
    # With the policy of another service, nothing else on the page holds.
    return Rows(Finding, sorted(every, key=lambda row: (row.kind != OTHER_POLICY, (*LEVELS, FACT).index(row.level), row.kind in USUAL)))


# Nearly every log has these.
USUAL = ("charged_failures", "unused_grants", "unknown_scopes", "not_judged")


def without_accepted(figures: Figures, rows: tuple[Acceptance, ...]) -> Figures:
    """The figures with their findings and facts, without those that are accepted. Of signs, each is accepted by itself."""
    signs, used = split_signs(figures.signs.signs, rows)
    left, accepted = split(findings(figures._replace(signs=figures.signs._replace(signs=signs))), rows)
    of_signs = {at for at, row in enumerate(used) if row.is_used}
    every = Rows(Acceptance, (row._replace(is_used=row.is_used or at in of_signs) for at, row in enumerate(accepted)))
    facts = left.where(lambda row: row.level == FACT)
    return figures._replace(findings=left.where(lambda row: row.level != FACT), facts=facts, accepted=every)


def checked(figures: Figures) -> list[str]:
    """The checks that found nothing, and those that the log doesn't allow, a sentence each."""
    sentences = [
        *(responses(figures),),
        f"{were(figures.denied)} denied, and no caller looks like a probe or a misconfigured client." if figures.denied else "No call was denied.",
    ]
    if bounds := hour_is_bound(figures.denials.groups):
        sentences.append(bounds)
    if figures.times.first is None:
        sentences.append("The log has no times, so clients whose calls fail from a time on can't be recognised.")
    if not figures.callers.counts:
        sentences.append("The log names no callers, so grants were compared for all calls together.")
    used = "" if any(row.kind == "unused_grants" for row in figures.facts) else " every granted scope was used,"
    sentences.append(f"Every row could be read,{used} and every scope in a valid token is in the policy.")
    if figures.facts:
        sentences.append(f"{number(len(figures.facts), 'fact')} below {'is' if len(figures.facts) == 1 else 'are'} such as nearly every log shows.")
    return [*sentences, *(["Every property holds."] if figures.properties is not None else [])]


def nothing(figures: Figures) -> str:
    """The verdict without findings. A log whose responses prove nothing has none, but is not fine."""
    calls = number(figures.calls, "call")
    return f"Nothing to do: {calls} checked." if figures.served.proved else f"No finding in {calls}, but no response shows what the server did."
