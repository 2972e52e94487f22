"""What a gate tells its service: the functions that it calls, and by default its counters, audit lines and log."""

from __future__ import annotations

import contextlib
import inspect
import json
import logging
import time
from types import AsyncGeneratorType, CoroutineType, GeneratorType

from . import _names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar

    from .._native import Answer

    _Adapter = logging.LoggerAdapter[logging.Logger]
    _Hook = TypeVar("_Hook", bound=Callable[..., object])
else:
    _Adapter = logging.LoggerAdapter

COUNTERS = (
    _names.DECISIONS_TOTAL,
    _names.TOKENS_REFUSED_TOTAL,
    _names.MISROUTED_TOTAL,
    _names.POLICY_LOADS_TOTAL,
    _names.AUDIT_LOST_TOTAL,
    _names.HOLDS_TOTAL,
    _names.SETTLEMENTS_TOTAL,
    _names.OVER_CEILING_TOTAL,
)


def checked(name: str, hook: _Hook) -> _Hook:
    """Refuses what can't be called, and a function whose call starts nothing: its lines or counts would be lost."""
    if not callable(hook):
        raise TypeError(f"`{name}` must be a function, not {type(hook).__name__}")
    starts_nothing = inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction
    if any(does(one) for one in (hook, type(hook).__call__) for does in starts_nothing):
        raise TypeError(f"`{name}` must be an ordinary function: nothing awaits one that is `async`, or runs a generator")
    return hook


def called(hook: Callable[..., Any], *given: object) -> Any:
    """Calls a hook. Raises TypeError if it returns something that would still have to be awaited or run."""
    result = hook(*given)
    if isinstance(result, (CoroutineType, GeneratorType, AsyncGeneratorType)):
        if not isinstance(result, AsyncGeneratorType):
            result.close()
        raise TypeError(f"it returned a {type(result).__name__}, which nothing awaits or runs")
    return result


def counter() -> Callable[[str, Mapping[str, str]], object]:
    """The default counter: OpenTelemetry's interface, which does nothing until the program configures it, or None."""
    try:
        from opentelemetry.metrics import get_meter
    except ImportError:
        return lambda name, labels: None
    meter = get_meter("orbgate")
    counters = {name: meter.create_counter(name) for name in COUNTERS}
    return lambda name, labels: counters[name].add(1, dict(labels))


def line_of(answer: Answer, hold_id: str | None = None, *, reads_bonus: bool = False) -> str:
    """The audit line, the same for every gate: the decision, its time and, for the token, only its kind and an id that reveals nothing."""
    token = answer.token
    decision = answer.decision.to_dict()
    if (orbs := decision["orbs"]) and not reads_bonus:
        # The gate hasn't read the body; the handler may still charge with bonus orbs.
        orbs["bonus_allowed"] = None
    line = {
        "time_ms": time.time_ns() // 1_000_000,
        **decision,
        "about": answer.decision.about,
        "token_kind": None if token is None else token.kind.value,
        "token": None if token is None else token.fingerprint,
        "token_refused": answer.refused,
    }
    if hold_id is not None:
        line["hold_id"] = hold_id
    return json.dumps(line, separators=(",", ":"))


class _Quiet(_Adapter):
    """The log of gates, which never affects a result."""

    def log(self, *args: object, **values: object) -> None:
        # A handler or filter of the service might raise.
        with contextlib.suppress(Exception):
            super().log(*args, **values)  # type: ignore[arg-type]


logger = _Quiet(logging.getLogger("orbgate.gate"), {})
