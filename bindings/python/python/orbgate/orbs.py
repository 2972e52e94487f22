"""Entries, balances, accounts, statements and totals of a ledger of orbs, as Arrow tables.

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

`movements` and `grants` read what ``orbgate orbs account ACCOUNT --json`` writes, `accounts` and `totals` what the commands of these names
write.

>>> totals = b'{"at":1795863064597,"outstanding":7,"paid":{"granted":9,"captured":2,"refunded":0,"expired":0,"revoked":0,"outstanding":7,'
>>> totals += b'"available":7,"held":0},"bonus":{"granted":0,"captured":0,"refunded":0,"expired":0,"revoked":0,"outstanding":0,"available":0,"held":0}}'
>>> orbs.totals(io.BytesIO(totals)).select(["bucket", "granted", "outstanding"]).to_pylist()
[{'bucket': 'paid', 'granted': 9, 'outstanding': 7}, {'bucket': 'bonus', 'granted': 0, 'outstanding': 0}]

It needs pyarrow: ``pip install pyarrow tqdm``.
"""

from ._read.entries import balance, entries
from ._read.people import accounts, grants, movements, totals

__all__ = ["accounts", "balance", "entries", "grants", "movements", "totals"]
