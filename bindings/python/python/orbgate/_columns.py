"""Maps the columns of tables to the names of this package, and checks values that replace columns."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import NoneType

from ._errors import TableError
from ._terms import TokenKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from typing_extensions import TypeIs

    from ._frames import ArrowArray, ArrowStream

# The columns that determine a decision, and other columns of a log.
DECIDED = ("method", "target", "kind", "scopes", "allow_bonus_orbs_use")
NAMES = (*DECIDED, "time", "caller", "by_scope", "served_status")
# The columns that are read only if they are named: a token's fingerprint, its expiry, the client's network address, the id of the
# call's hold in a ledger, the instance of the server that wrote the row, and the account whose orbs the call consumes.
NAMED_ONLY = ("token", "token_expires", "address", "hold", "instance", "account")
EVERY = (*NAMES, *NAMED_ONLY)
# The columns that one value can replace, apart from the kind, and their types.
VALUES = {"scopes": str, "allow_bonus_orbs_use": bool}


def check(columns: Mapping[str, str] | None, values: Mapping[str, object], names: Sequence[str] = EVERY) -> dict[str, str]:
    """The named columns, in the order of `names`.

    Raises `ValueError` for an unknown name, and for a name with both a column and a value. Raises `TypeError` for wrong types.
    """
    if not isinstance(columns, (Mapping, NoneType)):
        raise TypeError(f"`columns` must be a mapping from these names to the table's, not {type(columns).__name__}")
    for name, wanted in VALUES.items():
        value = values.get(name)
        if not isinstance(value, (wanted, NoneType)):
            raise TypeError(f"`{name}` must be a {wanted.__name__}, not {type(value).__name__}")
    named = dict(columns or {})
    for name, theirs in named.items():
        if name not in names:
            raise ValueError(f"`{name}` is not a column that can be mapped; use {', '.join(names)}")
        if not isinstance(theirs, str):
            raise TypeError(f"the name of the column `{name}` must be a str, not {type(theirs).__name__}")
        if values.get(name) is not None:
            raise ValueError(f"`{name}` is set to one value for all requests, so it cannot also be the column `{theirs}`")
    # Sorted, so that errors don't depend on the order of the mapping.
    return {name: named[name] for name in names if name in named}


def kind_of(kind: TokenKind | str | None) -> str | None:
    """The string of a kind. Raises `ValueError` for an invalid kind, which would deny every request."""
    return None if kind is None else str(TokenKind(kind))


def of_table(
    data: Any, columns: Mapping[str, str] | None, values: Mapping[str, object], by: str | None = None
) -> tuple[Any, dict[str, Any]]:
    """A table to decide, and the names of its columns. `flag_required` states whether the flag's column must exist."""
    named = check(columns, values, DECIDED)
    names = {name: named.get(name, name) for name in DECIDED}
    flag = names["allow_bonus_orbs_use"]
    if is_frame(data):
        # Only the flag's column can be missing.
        looked_at = [theirs for name, theirs in names.items() if values.get(name) is None]
        looked_at = [theirs for theirs in looked_at if theirs != flag or flag in data.columns or flag in named.values()]
        data = select(data, [*looked_at, by] if by is not None else looked_at)
    return data, {**names, "flag_required": "allow_bonus_orbs_use" in named}


def is_table(data: object) -> TypeIs[ArrowStream | ArrowArray]:
    """Whether an object has the Arrow C interface."""
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def is_frame(data: Any) -> bool:
    """Whether an object is a pandas or polars DataFrame, which converts all of its columns to Arrow or none."""
    modules = (sys.modules.get(name) for name in ("pandas", "polars"))
    return any(module is not None and isinstance(data, module.DataFrame) for module in modules)


def select(frame: Any, names: Iterable[str]) -> Any:
    """The needed columns of a DataFrame. Other columns might have types that Arrow doesn't support.

    If a column is missing, returns the whole frame, so that the error lists all columns. Raises `TableError` if two columns have
    the same name.
    """
    names, there = list(dict.fromkeys(names)), list(frame.columns)
    if twice := [name for name in names if there.count(name) > 1]:
        raise TableError(f"there are two columns `{twice[0]}`")
    return frame[names] if all(name in there for name in names) else frame
