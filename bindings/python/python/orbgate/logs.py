"""Reads request logs from files: Parquet, CSV, JSON Lines, access logs.

>>> import io, pathlib, tempfile
>>> from orbgate import Policy, logs
>>> with tempfile.TemporaryDirectory() as folder:
...     log = pathlib.Path(folder, "access.log")
...     line = '::1 - - [20/Nov/2026:13:05:00 +0000] "GET /api/v1/external/orbs HTTP/1.1" 200 17\\n'
...     _ = log.write_text(line)
...     decided = Policy.external().decide_table(logs.read(log, kind="user", scopes="read:orbs"))
>>> decided.to_pyarrow()["decision"].to_pylist()
['allow']

It needs pyarrow: ``pip install pyarrow tqdm``.
"""

from ._count.replay import Summary, replay
from ._read.files import FORMATS
from ._read.reader import Log as Log
from ._read.reader import Reader, read

__all__ = ["FORMATS", "Reader", "Summary", "read", "replay"]
