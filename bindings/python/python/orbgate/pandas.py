"""`import orbgate.pandas` gives the DataFrames of pandas the accessor `orbgate`.

An accessor has no types, so what it has is here as a function, too: `decide`.

>>> import pandas as pd
>>> import orbgate.pandas
>>> from orbgate import Policy, Token
>>> log = pd.DataFrame({"method": ["GET", "GET"], "target": ["/api/v1/external/orbs", "/"]}, index=["a", "b"])
>>> decided = log.orbgate.decide(Policy.external(), token=Token("user", "read:orbs"))
>>> log.assign(allowed=decided["decision"] == "allow").loc["a", "allowed"].item()
True
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from ._policy import Policy


def decide(frame: pd.DataFrame, policy: Policy, **options: Any) -> pd.DataFrame:
    """The decisions of the rows, with their index: the columns of `Policy.decide_table`, whose options these are."""
    return policy.decide_table(frame, **options).to_pandas().set_axis(frame.index)


@pd.api.extensions.register_dataframe_accessor("orbgate")
class DataFrameAccessor:
    """Decides a DataFrame; needs pyarrow."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def decide(self, policy: Policy, **options: Any) -> pd.DataFrame:
        """The function `decide` of this DataFrame."""
        return decide(self._frame, policy, **options)
