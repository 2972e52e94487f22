"""The namespace of polars and the accessor of pandas: what `decide_table` says."""

from __future__ import annotations

from typing import Any

import pytest
from orbgate import Policy, TableError, Token

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pytest.importorskip("pyarrow")

import orbgate.pandas  # noqa: E402
import orbgate.polars  # noqa: E402

POLICY = Policy.external()
COLUMNS = {
    "method": ["GET", "POST", "GET", None] * 500,
    "target": ["/api/v1/external/orbs", "/api/v1/external/voxies", "/api/v1/external/keys/7", "/"] * 500,
    "kind": ["user", "organisation", None, "user"] * 500,
    "scopes": ["read:orbs", "read:voxies write:voxies", "read:keys", None] * 500,
}
FRAME = pl.DataFrame(COLUMNS)
EXPECTED = POLICY.decide_table(FRAME).to_polars().to_dicts()
CALL = pl.struct("method", "target", "kind", "scopes")
ask: Any = CALL


@pytest.mark.parametrize("frame", [FRAME, FRAME.cast(pl.Categorical), pl.concat([FRAME[:7], FRAME[7:]], rechunk=False)])
def test_polars_expressions(frame: Any) -> None:
    decided = frame.select(ask.orbgate.decide(POLICY).alias("decided")).unnest("decided")
    assert decided.to_dicts() == EXPECTED
    allowed = [row["decision"] == "allow" for row in EXPECTED]
    assert frame.select(ask.orbgate.allowed(POLICY)).to_series().to_list() == allowed
    lazy = frame.lazy().filter(ask.orbgate.allowed(POLICY)).collect()
    assert lazy.height == sum(allowed) and set(lazy["target"]) == {"/api/v1/external/orbs", "/api/v1/external/voxies"}


def test_functions_are_what_namespaces_are() -> None:
    call = pl.struct("method", "target", "kind", "scopes")
    assert orbgate.polars.decide(FRAME, POLICY).to_dicts() == EXPECTED
    assert orbgate.polars.decide(FRAME.to_struct("calls"), POLICY).struct.unnest().to_dicts() == EXPECTED
    decided = FRAME.lazy().select(orbgate.polars.decide(call, POLICY).alias("decided")).collect().unnest("decided")
    assert decided.to_dicts() == EXPECTED
    allowed = FRAME.select(orbgate.polars.allowed(call, POLICY)).to_series().to_list()
    assert allowed == [row["decision"] == "allow" for row in EXPECTED]
    frame = pd.DataFrame(COLUMNS, index=range(2_000, 0, -1))
    if hasattr(frame, "__arrow_c_stream__"):
        assert orbgate.pandas.decide(frame, POLICY).equals(frame.orbgate.decide(POLICY))


def test_polars_lazily_knows_its_schema() -> None:
    lazy = FRAME.lazy().select(ask.orbgate.decide(POLICY).alias("decided"))
    assert lazy.collect_schema() == lazy.collect().schema


def test_polars_series_and_frames() -> None:
    frame: Any = FRAME
    assert frame.orbgate.decide(POLICY).to_dicts() == EXPECTED
    series: Any = FRAME.to_struct("calls")
    assert series.orbgate.decide(POLICY).struct.unnest().to_dicts() == EXPECTED
    assert series.orbgate.decide(POLICY).name == "calls"
    with pytest.raises(TableError, match="`kind`"):
        frame.drop("kind").orbgate.decide(POLICY)
    token = Token("user", "read:orbs")
    assert frame.drop("kind").orbgate.decide(POLICY, token=token)["decision"].to_list()[0] == "allow"


def test_pandas_frames_keep_their_index() -> None:
    frame = pd.DataFrame(COLUMNS, index=range(2_000, 0, -1))
    if not hasattr(frame, "__arrow_c_stream__"):
        pytest.skip("this pandas has no Arrow C interface")
    decided = frame.orbgate.decide(POLICY)
    assert decided.index.equals(frame.index)
    assert decided["reason"].tolist() == [row["reason"] for row in EXPECTED]
    assert frame.join(decided)["decision"].iloc[0] == "allow"


def test_a_column_of_numbers_and_texts_is_an_error_of_the_table() -> None:
    frame = pd.DataFrame({**COLUMNS, "scopes": [1, "a"] * 1000})
    with pytest.raises(TableError):
        POLICY.decide_table(frame)
