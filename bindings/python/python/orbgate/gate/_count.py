"""Counters of OpenTelemetry, if it is installed."""

from __future__ import annotations

from . import _names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_NAMES = (
    _names.DECISIONS_TOTAL,
    _names.TOKENS_REFUSED_TOTAL,
    _names.MISROUTED_TOTAL,
    _names.POLICY_LOADS_TOTAL,
    _names.AUDIT_LOST_TOTAL,
)


def counter() -> Callable[[str, Mapping[str, str]], object]:
    """The counter: OpenTelemetry's interface, which does nothing until the program configures it, or None."""
    try:
        from opentelemetry.metrics import get_meter
    except ImportError:
        return lambda name, labels: None
    meter = get_meter("orbgate")
    counters = {name: meter.create_counter(name) for name in _NAMES}
    return lambda name, labels: counters[name].add(1, dict(labels))
