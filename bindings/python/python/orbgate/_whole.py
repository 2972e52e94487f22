"""Files that are there once they are whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[str]:
    """Where to write what is to be at `path`, which becomes it at the end; where an error or Ctrl-C comes before, nothing is left.

    What is there and is no regular file, as a terminal or a pipe, is written itself.
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
