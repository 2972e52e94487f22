"""Whether a log can be trusted: each file looks for one reason to doubt it."""

from __future__ import annotations

from ..ground import Cover, Ground, Sign
from .callers import renamed_users, respelt_callers
from .classes import status_classes
from .columns import cut_columns, other_spellings
from .copies import copied_rows, repeated_days
from .ends import sources_that_end
from .gaps import rows_missing
from .masked import masked_addresses
from .systems import other_systems
from .thinner import thinner_sample
from .zones import mixed_zones


def doubts(ground: Ground) -> tuple[list[Sign], Cover]:
    """The doubts about a log, and what they cover."""
    found: list[Sign] = []
    if ground.period is not None and ground.has_hours:
        found += [
            *rows_missing(ground),
            *thinner_sample(ground),
            *sources_that_end(ground),
            *copied_rows(ground),
            *repeated_days(ground),
            *mixed_zones(ground),
            *masked_addresses(ground),
            *other_systems(ground),
        ]
    cut, cover = cut_columns(ground)
    parts = [(cut, cover), other_spellings(ground, "scopes" in cover.columns), respelt_callers(ground)]
    if ground.period is not None and ground.has_hours:
        parts += [status_classes(ground), renamed_users(ground)]
    covers = [cover for _, cover in parts]
    sources = frozenset(source for cover in covers for source in cover.sources)
    columns = frozenset(column for cover in covers for column in cover.columns)
    served, are_clients_other = sum(cover.served for cover in covers), any(cover.are_clients_other for cover in covers)
    return [*found, *(one for some, _ in parts for one in some)], Cover(served, columns, sources, are_clients_other=are_clients_other)


def not_made(ground: Ground) -> tuple[str, ...]:
    """The checks that need columns that the log hasn't, a sentence each."""
    evidence = ground.evidence
    lacks = (
        (evidence.has_instances, "instance", "whether the rows of one instance end early, and whether instances answer one token differently"),
        (evidence.has_addresses, "address", "many callers from one address"),
        (evidence.has_tokens, "token", "one token that is answered differently"),
        (
            evidence.has_accounts,
            "account",
            "whether calls moved the orbs of another account than theirs, except, with a ledger, for callers that nearly always use one account",
        ),
    )
    return tuple(f"Not checked without a column `{column}`: {what}." for has, column, what in lacks if not has)
