"""`import orbgate.polars` gives polars the namespace `orbgate`, on expressions, Series and DataFrames.

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
"""

from __future__ import annotations

from typing import Any

import polars as pl

from ._policy import Policy


def _series(requests: pl.Series, policy: Policy, options: dict[str, Any]) -> pl.Series:
    # A frame of a struct Series shares its columns; what is null as a whole is null in each of them.
    return policy.decide_table(requests, **options).to_polars().to_struct(requests.name)


def _schema() -> pl.Struct:
    """What the answers look like."""
    empty = pl.DataFrame(schema=dict.fromkeys(["method", "target", "kind", "scopes"], pl.String))
    return pl.Struct(Policy.external().decide_table(empty).to_polars().schema)


@pl.api.register_expr_namespace("orbgate")
class ExprNamespace:
    """Decides an expression of structs with the fields method, target, kind and scopes."""

    def __init__(self, expr: pl.Expr) -> None:
        self._expr = expr

    def decide(self, policy: Policy, **options: Any) -> pl.Expr:
        """The decisions, structs with the columns of `Policy.decide_table`, whose options these are."""
        return self._expr.map_batches(
            lambda requests: _series(requests, policy, options), return_dtype=_schema(), is_elementwise=True
        )

    def allowed(self, policy: Policy, **options: Any) -> pl.Expr:
        """Whether each call is allowed."""
        return self.decide(policy, **options).struct.field("decision").cast(pl.String) == "allow"


@pl.api.register_series_namespace("orbgate")
class SeriesNamespace:
    """Decides a Series of structs."""

    def __init__(self, series: pl.Series) -> None:
        self._series = series

    def decide(self, policy: Policy, **options: Any) -> pl.Series:
        """The decisions, structs with the columns of `Policy.decide_table`, whose options these are."""
        return _series(self._series, policy, options)


@pl.api.register_dataframe_namespace("orbgate")
class DataFrameNamespace:
    """Decides a DataFrame."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def decide(self, policy: Policy, **options: Any) -> pl.DataFrame:
        """The decisions of the rows, in their order: the columns of `Policy.decide_table`, whose options these are."""
        return policy.decide_table(self._frame, **options).to_polars()
