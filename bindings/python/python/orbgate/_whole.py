"""Writes files atomically."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from secrets import token_hex


def is_same_file(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether both are one regular file, now or once it is written. A terminal or a pipe can take several outputs."""
    if os.path.exists(one) and os.path.exists(other):
        return os.path.isfile(one) and os.path.samefile(one, other)
    return os.path.normcase(os.path.realpath(one)) == os.path.normcase(os.path.realpath(other))


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
    # A new file, so that two runs don't write the same one, and no link that was planted there is followed.
    part = f"{target}.{token_hex(8)}.part"
    os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    try:
        yield part
        os.replace(part, target)
    except BaseException:
        # Ctrl-C can also come after the renaming.
        with suppress(FileNotFoundError):
            os.unlink(part)
        raise
