"""Writes files atomically."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[str]:
    """A file to write to, which is renamed to `path` at the end. If an error or Ctrl-C comes first, nothing is left
    behind.

    If `path` exists and isn't a regular file, such as a terminal or a pipe, it is written directly.
    """
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        yield target
        return
    part = f"{target}.part"
    try:
        yield part
        if os.path.exists(part):
            os.replace(part, target)
    except BaseException:
        if os.path.exists(part):
            os.unlink(part)
        raise
