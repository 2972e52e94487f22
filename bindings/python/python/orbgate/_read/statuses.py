"""Reads HTTP statuses of a log as numbers."""

from __future__ import annotations

from typing import Any

from .._extras import needs


def statuses(found: Any) -> Any:
    """A column of statuses as numbers. Invalid statuses are null."""
    pa, pc = needs("pyarrow", "logs"), needs("pyarrow.compute", "logs")
    if pa.types.is_dictionary(found.type):
        found = found.dictionary.take(found.indices)
    if pa.types.is_null(found.type):
        return pa.nulls(len(found), pa.int64())
    if pa.types.is_integer(found.type) or pa.types.is_floating(found.type):
        # pandas converts integers to floats if one is missing.
        found = found.cast(pa.float64(), safe=False)
        whole = pc.equal(pc.floor(found), found)
        found = pc.if_else(whole, found, None)
        found = pc.if_else(pc.and_(pc.greater_equal(found, 100), pc.less(found, 600)), found, None)
        return found.cast(pa.int64())
    try:
        text = found.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        texts = (value.decode("latin-1") if isinstance(value, bytes) else None for value in found.to_pylist())
        text = pa.array(texts, pa.string())
    # pandas writes `200.0` if one is missing, and other programs add spaces.
    is_status = pc.match_substring_regex(text, r"\A *[1-5]\d\d(\.0+)? *\z")
    return pc.if_else(is_status, pc.utf8_slice_codeunits(pc.utf8_ltrim(text, " "), 0, 3), None).cast(pa.int64())
