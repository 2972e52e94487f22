"""Counters: OpenTelemetry's, where it is installed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_NAMES = (
    "orbgate_decisions_total",
    "orbgate_tokens_refused_total",
    "orbgate_misrouted_total",
    "orbgate_policy_loads_total",
)


def counter() -> Callable[[str, Mapping[str, str]], object]:
    """What counts: OpenTelemetry's interface, which does nothing until the program sets it up, or nothing."""
    try:
        from opentelemetry.metrics import get_meter
    except ImportError:
        return lambda name, labels: None
    meter = get_meter("orbgate")
    counters = {name: meter.create_counter(name) for name in _NAMES}
    return lambda name, labels: counters[name].add(1, dict(labels))
