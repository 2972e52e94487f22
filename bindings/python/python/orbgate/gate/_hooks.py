"""The functions of a service that a gate calls: counter, audit and fetch."""

from __future__ import annotations

import inspect
from types import AsyncGeneratorType, CoroutineType, GeneratorType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    _Hook = TypeVar("_Hook", bound=Callable[..., object])


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
