"""Converts OpenAPI documents to policies and back, and compares them, like `orbgate openapi`.

>>> from orbgate import Policy, openapi
>>> document = '''
... openapi: 3.1.0
... info: { title: Items, version: '1' }
... servers: [{ url: https://items.example/v1 }]
... paths:
...   /items: { get: { security: [{ login: [read:items] }] } }
...   /items/{id}.json: { get: { security: [{ login: [read:items] }] } }
... components:
...   securitySchemes: { login: { type: oauth2, flows: {} } }
... '''
>>> imported = openapi.import_policy(document, orbs=False)
>>> [(left.operation, left.kind) for left in imported.left_out]
[('GET /v1/items/{id}.json', 'path')]
>>> policy = Policy.from_yaml(imported.policy)
>>> policy.route_of("GET", "/v1/items").scope
'read:items'
>>> [drift.kind for drift in openapi.check(document, policy, orbs=False)]
['unclear']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from . import _native
from ._rows import Rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._policy import Policy

__all__ = ["Drift", "Imported", "LeftOut", "Note", "check", "export_policy", "import_policy"]


class LeftOut(NamedTuple):
    """An operation that no policy can express, and the reason: `kind` is the code of `orbgate openapi import`.

    `line` and `column` are the location of the part of the document that can't be expressed.
    """

    operation: str
    kind: str
    message: str
    line: int
    column: int


class Note(NamedTuple):
    """What you should know of an operation that was imported: `kind` is "fragment", "same_call",
    "required_optional", "undeclared_scope", "dropped_alternative", "redundant_alternative", "all_of" or "multi_segment". With
    "closed", of a path that was closed.
    """

    operation: str
    kind: str
    message: str
    line: int
    column: int


class Imported(NamedTuple):
    """A policy imported from a document: its YAML, the number of operations in it, the operations that were left out,
    and notes about the others. `with_scopes` operations of the document need scopes, of which `with_scopes_imported` are
    in the policy. `multi_segment` of these have a path parameter that seems to take several segments, so that no such call
    matches the route.
    """

    policy: str
    operations: int
    with_scopes: int
    with_scopes_imported: int
    multi_segment: int
    left_out: Rows[LeftOut]
    notes: Rows[Note]


class Drift(NamedTuple):
    """A difference between a document and a policy.

    `kind` is "missing", "extra", "scope", "orbs", "organisation", "closed", "unclear" or "unequal". `document` and `policy` are
    locations in the two files, as line and column.
    """

    kind: str
    operation: str
    message: str
    document: tuple[int, int] | None
    policy: tuple[int, int] | None


def import_policy(
    document: str | bytes,
    *,
    scheme: str | Iterable[str] | None = None,
    elsewhere: str | Iterable[str] | None = None,
    base_path: str | None = None,
    default_scope: str | None = None,
    orbs: bool | int | None = None,
    require_optional: bool = False,
    all_of_as_any: bool = False,
) -> Imported:
    """Converts an OpenAPI 3.0 or 3.1 document, in JSON or YAML, to a policy.

    The policy never allows a call for less than the document requires, unless you set `elsewhere` or `all_of_as_any`: an
    operation is either expressed exactly or left out. `scheme` is the security scheme whose scopes are used; several names
    are schemes that are one token, whose scopes are joined. `elsewhere` names schemes without scopes that something in
    front of the policy checks. `all_of_as_any` requires any of several scopes where the document requires all of them,
    because many documents mean that. Messages name these options as those of the command. `base_path` replaces the servers'
    path before every path. `default_scope` is the scope of operations that name none. `orbs` is what a call consumes without
    `x-orbs`: False, True, or an amount from 1. `require_optional` imports operations whose security is optional (`{}`) with
    their other requirement, so callers without a token are denied; otherwise they are left out.

    Raises `PolicyError` with all errors in the document, or in the options for it.
    """
    opened = _open(scheme, elsewhere, base_path, default_scope, orbs, require_optional, all_of_as_any)
    imported = _native.openapi_import(document, opened)
    left_out = Rows(LeftOut, (LeftOut(**row) for row in imported.pop("left_out")))
    notes = Rows(Note, (Note(**row) for row in imported.pop("notes")))
    return Imported(left_out=left_out, notes=notes, **imported)


def export_policy(policy: Policy, *, json: bool = False) -> str:
    """Converts a policy to a document, in YAML or JSON. Importing it gives a policy with the same digest."""
    return _native.openapi_export(policy.text, json)


def check(
    document: str | bytes,
    policy: Policy,
    *,
    scheme: str | Iterable[str] | None = None,
    elsewhere: str | Iterable[str] | None = None,
    base_path: str | None = None,
    default_scope: str | None = None,
    orbs: bool | int | None = None,
    require_optional: bool = False,
    all_of_as_any: bool = False,
) -> Rows[Drift]:
    """Compares a document with a policy. The options are those of `import_policy`.

    Raises `PolicyError` with all errors in the document.
    """
    opened = _open(scheme, elsewhere, base_path, default_scope, orbs, require_optional, all_of_as_any)
    drift = _native.openapi_check(document, policy.text, opened)
    return Rows(Drift, (Drift(**row) for row in drift))


def _open(
    scheme: str | Iterable[str] | None,
    elsewhere: str | Iterable[str] | None,
    base_path: str | None,
    default_scope: str | None,
    orbs: bool | int | None,
    require_optional: bool,
    all_of_as_any: bool,
) -> dict[str, Any]:
    """The settings that a document doesn't contain."""
    if orbs is not None and not isinstance(orbs, bool) and not (isinstance(orbs, int) and 0 < orbs < 1 << 63):
        raise ValueError(f"`orbs` is False, True or a whole number from 1 on, not {orbs!r}")
    return {
        "schemes": _names(scheme),
        "elsewhere": _names(elsewhere),
        "base_path": base_path,
        "default_scope": default_scope,
        "orbs": orbs,
        "require_optional": require_optional,
        "all_of_as_any": all_of_as_any,
    }


def _names(names: str | Iterable[str] | None) -> list[str]:
    if names is None:
        return []
    return [names] if isinstance(names, str) else [*names]
