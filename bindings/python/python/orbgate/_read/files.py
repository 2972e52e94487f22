"""The files of a log, which may be many: named one by one, by a pattern, or by the folder that they are in."""

from __future__ import annotations

import errno
import glob
import os
import re
from collections.abc import Iterable, Iterator

from .input import STANDARD_INPUT

FORMATS = {
    "parquet": "Parquet",
    "csv": "comma-separated values with a header",
    "tsv": "the same, separated by tabs",
    "requests": "JSON Lines: requests as `orbgate replay` reads them",
    "json": "JSON Lines: flat objects with a member for each column",
    "access": "access log in the common or combined format",
}

SUFFIXES = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "requests",
    ".ndjson": "requests",
    ".json": "requests",
    ".log": "access",
    ".txt": "access",
}


def files(log: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[str]:
    """The paths of a log's files, in the order in which they are read; those of a pattern or a folder by their names.

    Raises `OSError` where there is none.
    """
    found: list[str] = []
    for path in [log] if isinstance(log, (str, os.PathLike)) else log:
        found += _of_path(os.fspath(path))
    if not found:
        raise ValueError("a log has at least one file")
    if STANDARD_INPUT in found and len(found) > 1:
        raise ValueError("standard input is a log by itself, not one file of it")
    return found


def labels(paths: list[str]) -> list[str]:
    """What people call the files: by their names, with as much of their folders as they do not share.

    >>> labels(["/logs/a/access.log", "/logs/b/access.log"]), labels(["../access.log"])
    (['a/access.log', 'b/access.log'], ['access.log'])
    """
    if paths == [STANDARD_INPUT]:
        return ["standard input"]
    whole = [os.path.abspath(path) for path in paths]
    shared = os.path.commonpath([os.path.dirname(path) for path in whole]) if len({os.path.splitdrive(path)[0] for path in whole}) == 1 else None
    return [os.path.relpath(path, shared).replace(os.sep, "/") if shared is not None else path for path in whole]


def _of_path(path: str) -> list[str]:
    if path == STANDARD_INPUT or os.path.isfile(path):
        return [path]
    if os.path.isdir(path):
        found = list(_inside(path))
    elif glob.has_magic(path):
        found = glob.glob(path, recursive=True)
    else:
        # Opening it says why it cannot be.
        return [path]
    found = sorted(filter(os.path.isfile, found))
    if not found:
        raise FileNotFoundError(errno.ENOENT, "no log there", path)
    return found


def _inside(folder: str) -> Iterator[str]:
    for position, folders, names in os.walk(folder):
        # Names of files that other programs leave next to a table start with these: `_SUCCESS`, `_temporary`, `.part-0.parquet.crc`.
        folders[:] = (name for name in folders if not name.startswith((".", "_")))
        # A file whose format is not clear is not left out in silence: `_format` says so.
        wanted = (name for name in names if not name.startswith((".", "_")))
        yield from (os.path.join(position, name) for name in wanted)


def format_of(path: str) -> str | None:
    """The format that a file's name says."""
    # As logrotate and people leave them: `access.log.1`, `access.log-2026-11-20.gz`, `access.log.gz.1`, `access_log.bak`.
    name = re.sub(r"([._-]\d+|\.(gz|zst|bak|old))+$", "", os.path.basename(path).lower())
    # As Apache calls them: `access_log`, `ssl_access_log`.
    return "access" if name.endswith("access_log") else SUFFIXES.get(os.path.splitext(name)[1])
