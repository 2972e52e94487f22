"""Shortens a log's strings, so that memory is bounded."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from .._extras import needs

# The longest name in bytes that is kept unchanged, and the bytes of a longer one that are kept before its digest.
LONGEST, KEPT = 256, 200
# The longest valid target. The rest of a longer one affects no decision.
LONGEST_TARGET = 8_192


def name(text: bytes) -> bytes:
    """A name. A long one is replaced by its start and a digest of 128 bits, so different names stay different.

    >>> name(b"ann"), len(name(b"a" * 9_000)), name(b"a" * 9_000) == name(b"a" * 9_001)
    (b'ann', 235, False)
    """
    if len(text) <= LONGEST:
        return text
    # Never cut inside a character.
    start = text[:KEPT].decode("utf-8", "ignore").encode()
    return start + "…".encode() + blake2b(text, digest_size=16).hexdigest().encode()


def names(column: Any) -> Any:
    """A column of bytes with long values shortened by `name`."""
    pa, pc = needs("pyarrow", "logs"), needs("pyarrow.compute", "logs")
    is_long = pc.greater(pc.binary_length(column), LONGEST).fill_null(False)
    if not pc.any(is_long).as_py():
        return column
    texts = pa.array([name(text) for text in column.filter(is_long).to_pylist()], column.type)
    if isinstance(column, pa.ChunkedArray):
        column, is_long = column.combine_chunks(), is_long.combine_chunks()
    return pc.replace_with_mask(column, is_long, texts)


def targets(column: Any) -> Any:
    """A column of targets, cut one byte after the longest valid length."""
    pc = needs("pyarrow.compute", "logs")
    if (pc.max(pc.binary_length(column)).as_py() or 0) <= LONGEST_TARGET + 1:
        return column
    return pc.binary_slice(column, 0, LONGEST_TARGET + 1)
