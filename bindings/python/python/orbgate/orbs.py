"""Entries and balances of a ledger of orbs, as Arrow tables.

`orbgate orbs --db orbs.db entries --format json > entries.jsonl` writes the entries of a SQLite file or a PostgreSQL database.

>>> import io
>>> from orbgate import orbs
>>> line = b'{"cursor":"1-9f3c41d2ab70e658","account":"alice","seq":1,"at":1795863064597,"cause":"grant","id":"g1","lines":[{"grant":"g1","bucket":"paid",'
>>> line += b'"available":100,"held":0,"captured":0}],"note":"","paid":100,"bonus":0,"held":0,"shortfall":0}'
>>> entries = orbs.entries(io.BytesIO(line))
>>> entries["cause"].to_pylist()
['grant']
>>> orbs.balance(entries).select(["account", "available"]).to_pylist()
[{'account': 'alice', 'available': 100}]

It needs pyarrow: ``pip install pyarrow tqdm``.
"""

from ._read.entries import balance, entries

__all__ = ["balance", "entries"]
