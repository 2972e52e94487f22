"""Decides which scope a route needs, whether a token may call it, whether it consumes orbs, and why.

>>> from orbgate import Policy, Token
>>> policy = Policy.external()
>>> decision = policy.decide("POST", "/api/v1/external/voxies", Token("user", "write:voxies"))
>>> decision.is_allow, decision.reason, decision.scope
(True, <Reason.SCOPE_HELD: 'scope_held'>, 'write:voxies')
>>> decision.orbs
Charge(consumes=True, amount=None, bonus_allowed=False)
"""

from . import _native
from ._errors import (
    ConfigError,
    InternalError,
    NoPropertyError,
    NoRouteError,
    OrbgateError,
    PolicyError,
    PropertyError,
    PropertyWarning,
    TableError,
)
from ._native import Charge, Decision, DecisionTable, Token
from ._policy import Policy
from ._terms import Detail, Effect, Reason, TokenKind

__version__ = _native.VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import audit as audit
    from . import logs as logs
    from . import openapi as openapi
    from ._answers import (
        Allowed,
        CaseResult,
        Change,
        Coverage,
        CoveredRow,
        Diagnostic,
        Diff,
        Explanation,
        Finding,
        LeastScopes,
        NearMiss,
        Need,
        PropertyResult,
        Reach,
        Refusal,
        Route,
        Scope,
        ScopeUse,
        ScopeUseBy,
        TableRow,
        TargetRule,
        Witness,
    )
    from ._report import Report, report
    from ._rows import Rows

__all__ = [
    "Allowed",
    "CaseResult",
    "Change",
    "Charge",
    "ConfigError",
    "Coverage",
    "CoveredRow",
    "Decision",
    "DecisionTable",
    "Detail",
    "Diagnostic",
    "Diff",
    "Effect",
    "Explanation",
    "Finding",
    "InternalError",
    "LeastScopes",
    "NearMiss",
    "Need",
    "NoPropertyError",
    "NoRouteError",
    "OrbgateError",
    "Policy",
    "PolicyError",
    "PropertyError",
    "PropertyResult",
    "PropertyWarning",
    "Reach",
    "Reason",
    "Refusal",
    "Report",
    "Route",
    "Rows",
    "Scope",
    "ScopeUse",
    "ScopeUseBy",
    "TableError",
    "TableRow",
    "TargetRule",
    "Token",
    "TokenKind",
    "Witness",
    "report",
]

# Tracebacks and pickles show the names that users import.
for _class in (ConfigError, Detail, Effect, InternalError, NoPropertyError, NoRouteError, OrbgateError, Policy, PolicyError, PropertyError, PropertyWarning, Reason, TableError, TokenKind):
    _class.__module__ = __name__


# Modules that are imported on first use.
_MODULES = ("audit", "logs", "openapi")


def __getattr__(name: str) -> object:
    if name in _MODULES:
        from importlib import import_module

        return import_module(f"{__name__}.{name}")
    # The types of results need `typing`, whose import takes longer than everything else, so they are loaded on first
    # use.
    if name not in __all__:
        raise AttributeError(f"module 'orbgate' has no attribute {name!r}")
    from . import _answers, _report, _rows

    module = next(module for module in (_report, _rows, _answers) if hasattr(module, name))
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
