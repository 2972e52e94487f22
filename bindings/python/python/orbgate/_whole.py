"""Writes files atomically."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from secrets import token_hex
from typing import Any


class NotWrittenError(OSError):
    """A file that couldn't be written. It names the file, which the system's own error of a write doesn't."""


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


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[io.BufferedWriter[_Raw]]:
    """The same as a file for bytes, whose errors name `path`."""
    with whole(path) as part, io.BufferedWriter(_Raw(part, os.fspath(path))) as file:
        yield file


@contextmanager
def whole_text(path: str | os.PathLike[str]) -> Iterator[io.TextIOWrapper]:
    """The same for text."""
    with whole_file(path) as file, io.TextIOWrapper(file, encoding="utf-8", newline="\n") as text:
        yield text


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Gives an error of writing the name of its file."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise NotWrittenError(error.errno, os.strerror(error.errno) if error.errno else str(error), path) from error


class _Raw(io.FileIO):
    def __init__(self, part: str, path: str) -> None:
        super().__init__(part, "w")
        self._path = path

    def write(self, data: Any) -> int:
        with naming(self._path):
            return super().write(data)
