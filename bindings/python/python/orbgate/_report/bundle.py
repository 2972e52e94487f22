"""Makes bundles: an archive of the page, its tables, the policies and a description of the log, with reproducible bytes."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from hashlib import sha256
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq  # type: ignore[import-untyped]

from .._errors import TableError
from .._native import VERSION
from .._rows import Rows

if TYPE_CHECKING:
    from .._policy import Policy
    from .figures import Figures
    from .proved import Properties
    from .signs import Earlier

FORMAT = 1
MANIFEST, PAGE, POLICY, BASE, PROPERTIES = "manifest.json", "report.html", "policy.yaml", "base.yaml", "properties.test.yaml"
# The libraries that affect the bytes of the page and the tables.
LIBRARIES = ("jinja2", "pyarrow", "vl-convert-python")
# The first time that an archive can state.
EPOCH = (1980, 1, 1, 0, 0, 0)


def entries(html: str, figures: Figures, policy: Policy, base: Policy | None, title: str, top: int, also: Mapping[str, str] | None = None) -> dict[str, bytes]:
    """The files of the archive by name. The manifest is the last. `also` has the SHA-256 of other files that the report read."""
    files = {PAGE: html.encode(), POLICY: policy.text}
    if base is not None:
        files[BASE] = base.text
    proved = figures.properties
    if proved is not None:
        files[PROPERTIES] = proved.text
    files |= dict(table_files(figures))
    manifest = {
        "orbgate_evidence": FORMAT,
        "made_by": {"orbgate": VERSION, **{name: version(name) for name in LIBRARIES}},
        "title": title,
        "top": top,
        "log": {"format": figures.log.format, "arguments": figures.log.arguments, "files": [file._asdict() for file in figures.log.files]},
        "policy": policy.digest,
        "base": base and base.digest,
        "properties": summary(proved),
        "calls": {"allowed": figures.allowed, "denied": figures.denied, "unread": figures.log.unread},
        "broken": figures.log.broken,
        "warnings": list(figures.log.warnings),
        **({"also": dict(also)} if also else {}),
        "sha256": {name: sha256(data).hexdigest() for name, data in files.items()},
    }
    return {**files, MANIFEST: (json.dumps(manifest, indent=2, ensure_ascii=False, sort_keys=True) + "\n").encode()}


def summary(proved: Properties | None) -> dict[str, Any] | None:
    """The properties in the manifest."""
    return proved and {"file": proved.file, "sha256": proved.sha256, "properties": len(proved.rows), "failed": len(proved.failed)}


def table_files(figures: Any, prefix: str = "") -> Iterator[tuple[str, bytes]]:
    """All tables of the figures as Parquet, with their names in the archive."""
    for name, rows in tables(figures, prefix):
        yield f"tables/{name}.parquet", _parquet(rows)


def tables(figures: Any, prefix: str = "") -> Iterator[tuple[str, Rows[Any]]]:
    """All tables of the figures, including nested ones, with their names."""
    for name, value in zip(figures._fields, figures):
        if isinstance(value, Rows):
            yield prefix + name, value
        elif hasattr(value, "_fields"):
            yield from tables(value, f"{prefix}{name}_")


def pack(files: Mapping[str, bytes]) -> bytes:
    """Makes an archive. Nothing is compressed, because the bytes would depend on the machine's zlib."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            archive.writestr(entry, content)
    return data.getvalue()


class BrokenBundleError(TableError):
    """A readable archive that isn't a complete bundle: a file is missing, occurs twice or is invalid."""


def unpack(data: bytes) -> dict[str, bytes]:
    """The files of an archive. Raises `TableError` unless `pack` makes exactly the same bytes, so nothing can hide between files."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            # A compressed file might be far larger than it looks.
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
                raise TableError("the bundle is compressed, so orbgate did not make it")
            names = Counter(entry.filename for entry in archive.infolist())
            if twice := [name for name, count in names.items() if count > 1]:
                raise BrokenBundleError(f"the archive contains `{twice[0]}` twice")
            files = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    except TableError:
        raise
    except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError, RuntimeError, ValueError) as error:
        raise TableError(f"the bundle cannot be read as an archive, so it is damaged or not a bundle: {error}") from None
    if pack(files) != data:
        raise TableError("the bundle was changed, or made by another program")
    return files


# What `--since` reads.
SEEN, PERIODS = "tables/signs_seen.parquet", "tables/signs_periods.parquet"


def earlier_of(path: str | os.PathLike[str]) -> tuple[Earlier, str]:
    """Who was seen with what in the bundle of an earlier report, and in those before it, and the bundle's SHA-256. Raises `TableError` if it
    has no such tables.
    """
    from .signs import Covered, Earlier, Seen
    from .signs.news import MOST_SEEN

    with open(path, "rb") as file:
        data = file.read()
    files = unpack(data)
    if lacking := [name for name in (SEEN, PERIODS) if name not in files]:
        raise TableError(f"`{os.fspath(path)}` has no `{lacking[0]}`, so it can't say what is new since")
    seen, periods = ([_without_zone(row) for row in read_table(files[name]).to_pylist()] for name in (SEEN, PERIODS))
    earlier = Earlier(Rows(Seen, (Seen(**row) for row in seen)), Rows(Covered, (Covered(**row) for row in periods)), len(seen) < MOST_SEEN)
    return earlier, sha256(data).hexdigest()


def _without_zone(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose times are in UTC without saying so, as they are in a report."""
    return {name: value.replace(tzinfo=None) if isinstance(value, datetime) else value for name, value in row.items()}


def read_table(data: bytes) -> Any:
    """A table of the archive as an Arrow table."""
    return pq.read_table(io.BytesIO(data))


def _parquet(rows: Rows[Any]) -> bytes:
    data = io.BytesIO()
    pq.write_table(rows.to_pyarrow(), data)
    return data.getvalue()
