"""What tables call their columns, in the one vocabulary of the package: a mapping of columns, values apart."""

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

    from ._arrow import ArrowArray, ArrowStream

# What a decision follows from, and what else a log can say of a call.
DECIDED = ("method", "target", "kind", "scopes", "allow_bonus_orbs_use")
NAMES = (*DECIDED, "time", "caller", "by_scope", "served_status")
# What may be one value for all rows, besides the kind.
VALUES = {"scopes": str, "allow_bonus_orbs_use": bool}


def check(columns: Mapping[str, str] | None, values: Mapping[str, object], names: Sequence[str] = NAMES) -> dict[str, str]:
    """The columns that were named, in the order of `names`.

    Raises `ValueError` for a name that is none, and for what is both a column and a value; and `TypeError`.
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
            raise ValueError(f"there is no column `{name}` to be named; what can be is {', '.join(names)}")
        if not isinstance(theirs, str):
            raise TypeError(f"the name of the column `{name}` must be a str, not {type(theirs).__name__}")
        if values.get(name) is not None:
            raise ValueError(f"`{name}` is both one value for all requests and the column `{theirs}`")
    # In one order: what is said of them does not depend on that in which they were named.
    return {name: named[name] for name in names if name in named}


def kind_of(kind: TokenKind | str | None) -> str | None:
    """The text of a kind; one that is none would deny every request."""
    return None if kind is None else str(TokenKind(kind))


def of_table(
    data: Any, columns: Mapping[str, str] | None, values: Mapping[str, object], by: str | None = None
) -> tuple[Any, dict[str, Any]]:
    """A table that is to be decided, and the names of its columns; `flag_required` says whether the flag's column must be there."""
    named = check(columns, values, DECIDED)
    names = {name: named.get(name, name) for name in DECIDED}
    flag = names["allow_bonus_orbs_use"]
    if is_frame(data):
        # Of these, the flag may be absent.
        looked_at = [theirs for name, theirs in names.items() if values.get(name) is None]
        looked_at = [theirs for theirs in looked_at if theirs != flag or flag in data.columns or flag in named.values()]
        data = select(data, [*looked_at, by] if by is not None else looked_at)
    return data, {**names, "flag_required": "allow_bonus_orbs_use" in named}


def is_table(data: object) -> TypeIs[ArrowStream | ArrowArray]:
    """Whether it has the Arrow C interface."""
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def is_frame(data: Any) -> bool:
    """Whether it is a DataFrame of pandas or polars, which converts all of its columns to Arrow or none."""
    modules = (sys.modules.get(name) for name in ("pandas", "polars"))
    return any(module is not None and isinstance(data, module.DataFrame) for module in modules)


def select(frame: Any, names: Iterable[str]) -> Any:
    """The columns of a DataFrame that are looked at: another may hold what Arrow has no type for.

    Where one is missing it is the whole frame, so that the error names all columns. Raises `TableError` where two have one name.
    """
    names, there = list(dict.fromkeys(names)), list(frame.columns)
    if twice := [name for name in names if there.count(name) > 1]:
        raise TableError(f"there are two columns `{twice[0]}`")
    return frame[names] if all(name in there for name in names) else frame
