"""`import orbgate.pandas` adds the accessor `orbgate` to pandas DataFrames.

An accessor has no types, so its method is also available as the function `decide`.

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
    """The decisions for the rows, with their index. Columns and options are those of `Policy.decide_table`."""
    return policy.decide_table(frame, **options).to_pandas().set_axis(frame.index)


@pd.api.extensions.register_dataframe_accessor("orbgate")
class DataFrameAccessor:
    """Decides a DataFrame. Needs pyarrow."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def decide(self, policy: Policy, **options: Any) -> pd.DataFrame:
        """The function `decide` for this DataFrame."""
        return decide(self._frame, policy, **options)
