"""`import orbgate.polars` adds the namespace `orbgate` to polars expressions, Series and DataFrames.

A namespace has no types, so its methods are also available as the functions `decide` and `allowed`.

>>> import polars as pl
>>> import orbgate.polars
>>> from orbgate import Policy, Token
>>> policy = Policy.external()
>>> log = pl.DataFrame({"method": ["GET", "GET"], "target": ["/api/v1/external/orbs", "/"]})
>>> call = pl.struct("method", "target")
>>> log.with_columns(reason=call.orbgate.decide(policy, token=Token("user", "read:orbs")).struct["reason"])["reason"].to_list()
['scope_held', 'no_route']
>>> log.orbgate.decide(policy, token=Token("user", "read:orbs"))["decision"].to_list()
['allow', 'deny']
>>> log.filter(orbgate.polars.allowed(call, policy, token=Token("user", "read:orbs"))).height
1
"""

from __future__ import annotations

from typing import Any, overload

import polars as pl

from ._policy import Policy


@overload
def decide(calls: pl.DataFrame, policy: Policy, **options: Any) -> pl.DataFrame: ...
@overload
def decide(calls: pl.Series, policy: Policy, **options: Any) -> pl.Series: ...
@overload
def decide(calls: pl.Expr, policy: Policy, **options: Any) -> pl.Expr: ...
def decide(calls: pl.DataFrame | pl.Series | pl.Expr, policy: Policy, **options: Any) -> pl.DataFrame | pl.Series | pl.Expr:
    """The decisions for calls, in order. Columns and options are those of `Policy.decide_table`.

    For a DataFrame, the result has columns. For a Series or an expression with the fields method, target, kind and
    scopes, the result consists of structs.
    """
    if isinstance(calls, pl.DataFrame):
        return policy.decide_table(calls, **options).to_polars()
    if isinstance(calls, pl.Series):
        # A frame of a struct Series shares its columns. A row that is null as a whole is null in each of them.
        return policy.decide_table(calls, **options).to_polars().to_struct(calls.name)
    return calls.map_batches(lambda some: decide(some, policy, **options), return_dtype=_schema(), is_elementwise=True)


def allowed(calls: pl.Expr, policy: Policy, **options: Any) -> pl.Expr:
    """Whether each call is allowed."""
    return decide(calls, policy, **options).struct.field("decision").cast(pl.String) == "allow"


def _schema() -> pl.Struct:
    """The type of the results."""
    empty = pl.DataFrame(schema=dict.fromkeys(["method", "target", "kind", "scopes"], pl.String))
    return pl.Struct(Policy.external().decide_table(empty).to_polars().schema)


@pl.api.register_expr_namespace("orbgate")
class ExprNamespace:
    """Decides an expression of structs with the fields method, target, kind and scopes."""

    def __init__(self, expr: pl.Expr) -> None:
        self._expr = expr

    def decide(self, policy: Policy, **options: Any) -> pl.Expr:
        """The function `decide` for this expression."""
        return decide(self._expr, policy, **options)

    def allowed(self, policy: Policy, **options: Any) -> pl.Expr:
        """The function `allowed` for this expression."""
        return allowed(self._expr, policy, **options)


@pl.api.register_series_namespace("orbgate")
class SeriesNamespace:
    """Decides a Series of structs."""

    def __init__(self, series: pl.Series) -> None:
        self._series = series

    def decide(self, policy: Policy, **options: Any) -> pl.Series:
        """The function `decide` for this Series."""
        return decide(self._series, policy, **options)


@pl.api.register_dataframe_namespace("orbgate")
class DataFrameNamespace:
    """Decides a DataFrame."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def decide(self, policy: Policy, **options: Any) -> pl.DataFrame:
        """The function `decide` for this DataFrame."""
        return decide(self._frame, policy, **options)
