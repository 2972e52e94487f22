"""Texts of a log in a length that memory has room for: how many different ones are counted is bounded, and so is each of them."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from .._extras import needs

# The longest name in bytes that is kept as it is, and how much is kept of a longer one, before its digest.
LONGEST, KEPT = 256, 200
# The longest target that may be in order; of a longer one, no decision and no reader sees the rest.
LONGEST_TARGET = 8_192


def name(text: bytes) -> bytes:
    """A name; of a long one its start and a digest of 128 bits, so different names stay different.

    >>> name(b"ann"), len(name(b"a" * 9_000)), name(b"a" * 9_000) == name(b"a" * 9_001)
    (b'ann', 235, False)
    """
    if len(text) <= LONGEST:
        return text
    # Not in the middle of a character.
    start = text[:KEPT].decode("utf-8", "ignore").encode()
    return start + "…".encode() + blake2b(text, digest_size=16).hexdigest().encode()


def names(column: Any) -> Any:
    """A column of bytes, with the names of long texts in their place."""
    pa, pc = needs("pyarrow", "logs"), needs("pyarrow.compute", "logs")
    is_long = pc.greater(pc.binary_length(column), LONGEST).fill_null(False)
    if not pc.any(is_long).as_py():
        return column
    texts = pa.array([name(text) for text in column.filter(is_long).to_pylist()], column.type)
    if isinstance(column, pa.ChunkedArray):
        column, is_long = column.combine_chunks(), is_long.combine_chunks()
    return pc.replace_with_mask(column, is_long, texts)


def targets(column: Any) -> Any:
    """A column of targets, without what is beyond the longest and one byte more."""
    pc = needs("pyarrow.compute", "logs")
    if (pc.max(pc.binary_length(column)).as_py() or 0) <= LONGEST_TARGET + 1:
        return column
    return pc.binary_slice(column, 0, LONGEST_TARGET + 1)
