"""The findings about signs: those of one kind together, the most affected first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..._number import number
from ..figures import Finding
from ..numbers import FACT, LEVELS
from .words import MOST_PAIRS, SIGNS

if TYPE_CHECKING:
    from ..figures import Figures

# For each kind, what its findings begin with, and the next step.
KINDS = {
    "rows_missing": (
        "The log lacks rows",
        "Ask for the rows of this time, or confirm that no calls were made: numbers and times of other findings are bounds until then.",
    ),
    "thinner_sample": ("The log is thinner in a part of its time", "Ask whether rows are sampled. Compare rates only within one part."),
    "source_ends": ("The log lacks the rows of a part of the servers", "Ask for the rest of these rows."),
    "unread_source": ("Rows of a part of the servers could not be read", "Find out what these servers write otherwise since then."),
    "copied_rows": ("Rows are in the log twice", "Remove the copies, and make the report again: they are counted in all numbers."),
    "cut_column": ("Values of the log are cut", "Write whole values. Until then, what is cut shows nothing, and no caller is accused of it."),
    "other_spelling": ("A column changes its spelling", "Write it in one way, or name another column. Until then, these rows show nothing."),
    "mixed_zones": ("Times of the log are in several zones", "Write all times in one zone: hours and the order of calls are wrong until then."),
    "entries_missing": ("The ledger's entries are not whole", "Export the entries again, after the log's end. Until then, calls without a hold show nothing."),
    "calls_missing": ("The log may lack calls", "Ask for the rows of all servers. Until then, holds without a call show nothing."),
    "captures_missing": ("The ledger lacks captures", "Find out how these calls were made without paying."),
    "wrong_balances": ("Entries of the ledger do not add up", "Run `orbgate orbs verify` on the ledger: either the export or the ledger was changed."),
    "other_account": ("Calls moved another account's orbs", "Find out why, and return these orbs."),
    "unusual_entries": ("Unusual grants or revocations", "Find out who made them, and for what."),
    "other_price": ("A price differs", "Find out which version or setting changed the amount."),
    "enumeration": ("Objects are tried one after the other", "Find out who this is, and limit the calls to this route, whoever makes them."),
    "many_objects": ("A user reads far more objects than all others", "Ask whether this was meant, if you do not know it: the policy allows these calls."),
    "repeated_object": ("One object is changed again and again", "Find out whether each of these calls had an effect, and whether one key should allow one."),
    "guesses": ("Passwords or tokens are tried", "Limit the attempts, whoever makes them, and find out what the calls that succeeded did."),
    "many_names": ("One address calls as many callers", "Find out who this is, and block or limit the address."),
    "many_users": ("One address calls as many users", "Ask whether this is a proxy of yours. If not, revoke the tokens of these callers."),
    "unequal_answers": ("Servers answer one token differently", "Find out which servers do not know that the token was revoked."),
    "odd_instance": ("One instance answers otherwise than all others", "Compare its clock, its version and its settings with those of the others."),
    "masked_addresses": (
        "Addresses are no longer those of the callers",
        "Let the servers log the forwarded address again: until then, addresses and networks show nothing.",
    ),
    "repeated_day": ("A day of the log is a copy of another", "Ask for the rows of this day: what it shows is of the other one."),
    "other_system": ("Rows of another system are in the log", "Leave these rows out, and make the report again: they are counted in all numbers."),
    "lost_scope": ("Several callers lack a scope that they had", "Find out who took this scope from them, and whether it was meant."),
    "broken_address": ("An address of a caller lost its valid token", "Find out which machine this is, and whether it got the new key."),
    "trial_callers": ("Many callers come once from few addresses", "Find out whether these are different customers."),
    "lookalike": ("A caller's name only looks like another's", "Find out who registered this name."),
    "redirected": ("Calls with a token are redirected", "Find out what failed at that time, for example the service that checks sessions."),
    "rate_limited": ("Most calls are over a limit", "Find out whose limit this is, and whether it is meant."),
    "lost_base_path": ("Unknown paths begin alike", "Find out who writes this path, and which version of the service it is."),
    "new_sensitive": ("A sensitive scope is new", "Ask who granted it."),
    "new_since": ("New since the first part of the log", "Ask whether this was meant, if you do not know it."),
}


def of_signs(figures: Figures) -> Iterator[Finding]:
    """One finding for each kind and level."""
    for kind, (intro, action) in KINDS.items():
        for level in (*LEVELS, FACT):
            rows = figures.signs.signs.where(lambda row: (row.kind, row.level) == (kind, level))
            if rows:
                shown = MOST_NEWS if kind == "new_since" else MOST_PAIRS
                more = f"; and {number(len(rows) - shown)} more" if len(rows) > shown else ""
                sentence = f"{intro}: {'; '.join(row.sentence for row in rows[:shown])}{more}."
                affected = len(rows) if kind in ("new_since", "new_sensitive") else sum(row.affected for row in rows)
                yield Finding(level, kind, affected, all(row.is_exact for row in rows), sentence, action, SIGNS, tuple(row.subject for row in rows))


# The most callers in the line about what is new.
MOST_NEWS = 5
