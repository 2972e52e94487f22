"""Attacks, counted by what they are about: each file has one kind."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ...failures import ATTACK
from ..ground import Cover, Ground, Sign
from .addresses import many_at_an_address
from .guesses import guesses
from .lookalikes import lookalikes
from .objects import Explained, enumerations
from .reads import far_more
from .repeats import repeated
from .series import fast_series, slow_series
from .unequal import unequal_instances, unequal_tokens


def attacks(ground: Ground, cover: Cover, lost: Collection[str]) -> Iterator[Sign]:
    """The attacks, without callers that another finding says to attack, and calls that lack a scope that several callers have `lost`."""
    known = {row.caller for row in ground.failures if row.looks_like == ATTACK}
    unequal = (*unequal_tokens(ground), *unequal_instances(ground, cover))
    others = Explained(ground, unequal, lost)
    told: set[tuple[str, str]] = set()
    has_callers = False
    for column, objects in ground.evidence.objects:
        table = objects.table()
        if table is None:
            continue
        has_callers |= column == "caller"
        # Of an address, a job and others read objects together.
        is_alone = column == "caller" or not has_callers
        series = (*fast_series(column, table, objects.is_exact), *slow_series(column, table, objects.is_exact)) if is_alone else ()
        for found in (*enumerations(column, table, objects.is_exact, cover, others), *series, *repeated(column, table, objects.is_exact)):
            # A caller, its address and its token are one sign.
            what = found.kind, str(found.first)
            if what not in told and not (column == "caller" and found.subject in known and found.kind == "enumeration"):
                told.add(what)
                yield found
        if column == "caller":
            yield from far_more(ground, cover, table, objects.is_exact)
    yield from guesses(ground, known)
    yield from many_at_an_address(ground)
    yield from unequal
    if not cover.are_clients_other:
        yield from lookalikes(ground)
