"""The files of a log, given as paths, a pattern or a folder."""

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
    "tsv": "tab-separated values with a header",
    "requests": "JSON Lines: requests as `orbgate replay` reads them",
    "json": "JSON Lines: objects with a member for each column",
    "access": "access log: common or combined, W3C (IIS, CloudFront), ALB, HAProxy, Envoy",
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
    """The paths of a log's files, in the order in which they are read. Files of a pattern or a folder are sorted by name.

    Raises `OSError` if there are none.
    """
    paths: list[str] = []
    for path in [log] if isinstance(log, (str, os.PathLike)) else log:
        paths += _of_path(os.fspath(path))
    if not paths:
        raise ValueError("a log needs at least one file")
    if STANDARD_INPUT in paths and len(paths) > 1:
        raise ValueError("standard input cannot be combined with other files")
    return paths


def labels(paths: list[str]) -> list[str]:
    """The files' names for display, without the folders that they share.

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
        paths = list(_inside(path))
    elif glob.has_magic(path):
        paths = glob.glob(path, recursive=True)
    else:
        # Opening the file raises the error.
        return [path]
    paths = sorted(filter(os.path.isfile, paths))
    if not paths:
        raise FileNotFoundError(errno.ENOENT, "no log files found", path)
    return paths


def _inside(folder: str) -> Iterator[str]:
    for position, folders, names in os.walk(folder):
        # Other programs leave files such as `_SUCCESS`, `_temporary` and `.part-0.parquet.crc` next to a table.
        folders[:] = (name for name in folders if not name.startswith((".", "_")))
        # A file of unknown format isn't skipped silently: `_format` raises an error.
        wanted = (name for name in names if not name.startswith((".", "_")))
        yield from (os.path.join(position, name) for name in wanted)


def format_of(path: str) -> str | None:
    """The format that a file's name implies."""
    # Names of rotated and copied files: `access.log.1`, `access.log-2026-11-20.gz`, `access.log.gz.1`, `access_log.bak`.
    name = re.sub(r"([._-]\d+|\.(gz|zst|bak|old))+$", "", os.path.basename(path).lower())
    # Apache's names: `access_log`, `ssl_access_log`.
    return "access" if name.endswith("access_log") else SUFFIXES.get(os.path.splitext(name)[1])
