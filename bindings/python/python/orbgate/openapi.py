"""Policies from OpenAPI documents, documents from policies, and where the two differ: the answers of `orbgate openapi`.

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
    from ._policy import Policy

__all__ = ["Drift", "Imported", "LeftOut", "check", "export_policy", "import_policy"]


class LeftOut(NamedTuple):
    """An operation that has no equal in a policy, and why: `kind` is the code of `orbgate openapi import`.

    `line` and `column` are where the document says what has no equal.
    """

    operation: str
    kind: str
    message: str
    line: int
    column: int


class Imported(NamedTuple):
    """A policy from a document: its text, how many operations it has, and the others."""

    policy: str
    operations: int
    left_out: Rows[LeftOut]


class Drift(NamedTuple):
    """What a document and a policy do not say alike.

    `kind` is "missing", "extra", "scope", "orbs", "organisation", "unclear" or "unequal". `document` and `policy` are locations
    there, as line and column.
    """

    kind: str
    operation: str
    message: str
    document: tuple[int, int] | None
    policy: tuple[int, int] | None


def import_policy(
    document: str | bytes,
    *,
    scheme: str | None = None,
    base_path: str | None = None,
    default_scope: str | None = None,
    orbs: bool | int | None = None,
) -> Imported:
    """Makes a policy from a document of OpenAPI 3.0 or 3.1, in JSON or YAML.

    The policy never allows what the document does not: an operation has an equal, or is left out. `scheme` is the security scheme
    whose scopes count, `base_path` comes before every path instead of the servers', `default_scope` is the scope of operations
    that name none, and `orbs` is what a call consumes without `x-orbs`: False, True, or an amount from 1 on.

    Raises `PolicyError` with every error of the document, or of the options for it.
    """
    found = _native.openapi_import(document, _open(scheme, base_path, default_scope, orbs))
    return Imported(found["policy"], found["operations"], Rows(LeftOut, (LeftOut(**row) for row in found["left_out"])))


def export_policy(policy: Policy, *, json: bool = False) -> str:
    """Writes a policy as a document, in YAML or JSON; to import it gives a policy of the same digest."""
    return _native.openapi_export(policy.text, json)


def check(
    document: str | bytes,
    policy: Policy,
    *,
    scheme: str | None = None,
    base_path: str | None = None,
    default_scope: str | None = None,
    orbs: bool | int | None = None,
) -> Rows[Drift]:
    """Compares a document with a policy; the options are those of `import_policy`.

    Raises `PolicyError` with every error of the document.
    """
    found = _native.openapi_check(document, policy.text, _open(scheme, base_path, default_scope, orbs))
    return Rows(Drift, (Drift(**row) for row in found))


def _open(scheme: str | None, base_path: str | None, default_scope: str | None, orbs: bool | int | None) -> dict[str, Any]:
    """What a document leaves open."""
    if orbs is not None and not isinstance(orbs, bool) and not (isinstance(orbs, int) and 0 < orbs < 1 << 63):
        raise ValueError(f"`orbs` is False, True or a whole number from 1 on, not {orbs!r}")
    return {"scheme": scheme, "base_path": base_path, "default_scope": default_scope, "orbs": orbs}
