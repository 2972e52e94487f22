"""Answers that a loop waits for at once."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

Result = TypeVar("Result")


async def together(coroutines: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    """The results of coroutines that run at the same time, during which the loop must go on."""
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticking = asyncio.create_task(tick())
    results = await asyncio.gather(*coroutines)
    ticking.cancel()
    assert ticks > 10, "the loop stood still"
    return results
