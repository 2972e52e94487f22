"""Decides Spark DataFrames, on as many machines as Spark has.

Needs pyspark 4 or newer with pyarrow and pandas, which `pip install "pyspark[sql]>=4"` installs, and this package on
every executor. The policy is sent with the tasks as a pickle. A partition's result depends only on its rows and the
policy, so a task that runs again gives the same result.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ._columns import DECIDED, check
from ._errors import TableError
from ._extras import needs
from ._policy import Policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyspark.sql import DataFrame

    # A batch of pyarrow, which has no types, and a table: columns of the batch, then others.
    _Kernel = Callable[[Any], Any]


def decide(log: DataFrame, policy: Policy, *, prefix: str = "", **options: Any) -> DataFrame:
    """Adds columns with the decision to each row of a DataFrame.

    `options` are those of `Policy.decide_table`. So are the columns, whose names begin with `prefix`:

    | column | type | null |
    |---|---|---|
    | `decision` | string: `allow` or `deny` | never |
    | `status` | smallint: the HTTP status of a denial | where allowed |
    | `reason` | string | never |
    | `detail` | string: the rule that a malformed request breaks | everywhere else |
    | `api`, `route`, `scope` | string | where none was found |
    | `consumes`, `bonus_allowed` | boolean | where denied, and where the policy doesn't state it |
    | `amount` | bigint | the same, and where the policy states no amount |
    | `policy` | string: the digest of the policy | never |
    | `about` | string: the route that the request is about, even without a valid token | where no route has the path and the method |
    | `needs` | string: the `scopes` of a decision as JSON | where the call needs just `scope` |

    No row is lost: an invalid row has a reason. Each task decides with one thread, because Spark runs a task on every
    core.
    Raises `TableError`, before anything runs, if a column is missing or has another type, or if the DataFrame already
    has a column with such a name.
    """
    decided = partial(_decided, policy=policy, kept=log.columns, prefix=prefix, options=options)
    return _map(log, log.columns, decided)


def count(
    log: DataFrame, policy: Policy, *, by: str | Iterable[str] = (), prefix: str = "", **options: Any
) -> DataFrame:
    """The number of rows of a DataFrame for each decision: one row for each, with the columns of `decide` and a bigint
    `calls`.

    `by` names columns of the DataFrame by which rows are also grouped, such as the caller or the day; these columns
    come first. The result is small, because a route stands for all the paths that it matches. Rows are decided and
    counted where they are, so little data is sent between machines. `prefix` and `options` are those of `decide`, and
    so are the errors.

    To count the changes under a new policy:

        before = orbgate.spark.decide(log, old, prefix="old_")
        orbgate.spark.count(before, new, by=["old_decision"]).filter("old_decision <> decision")
    """
    kept = [by] if isinstance(by, str) else list(dict.fromkeys(by))
    needed = dict.fromkeys([*_asked(options, log.columns), *kept])
    # Columns that aren't needed are never read. If one is missing, the error lists all columns.
    if needed.keys() <= set(log.columns):
        log = log.select(*(log[f"`{name}`"] for name in needed))
    decided = partial(_decided, policy=policy, kept=kept, prefix=prefix, options=options)
    counted = _map(log, kept, partial(_counted, decided=decided, name=prefix + "calls"))
    *names, calls = counted.columns
    return counted.groupBy(*names).sum(calls).toDF(*names, calls)


def _asked(options: dict[str, Any], there: Iterable[str]) -> list[str]:
    """The names of the columns that `Policy.decide_table` reads."""
    named = check(options.get("columns"), {}, DECIDED)
    constant = {name for name in DECIDED if options.get(name) is not None}
    constant |= {"kind", "scopes"} if options.get("token") else set()
    if "allow_bonus_orbs_use" not in {*named, *there}:
        constant.add("allow_bonus_orbs_use")
    return [named.get(name, name) for name in DECIDED if name not in constant]


def _map(log: DataFrame, kept: list[str], kernel: _Kernel) -> DataFrame:
    """Applies a kernel to the rows of a DataFrame, some of whose columns it keeps."""
    pa = needs("pyarrow", "spark")
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
    from pyspark.sql.types import StructType

    # Deciding no rows finds errors here, not in the middle of a job, and shows the columns.
    nothing = pa.RecordBatch.from_pylist([], schema=to_arrow_schema(log.schema, timezone="UTC"))
    new = from_arrow_schema(_plain(kernel(nothing)).schema).fields[len(kept) :]
    return log.mapInArrow(partial(_each, kernel=kernel), StructType([*(log.schema[name] for name in kept), *new]))


def _each(batches: Iterable[Any], kernel: _Kernel) -> Iterator[Any]:
    for batch in batches:
        yield from _plain(kernel(batch)).to_batches()


def _decided(rows: Any, policy: Policy, kept: list[str], prefix: str, options: dict[str, Any]) -> Any:
    """The rows, or some columns of them, with their decisions."""
    pa = needs("pyarrow", "spark")
    # A stream without rows has no batches to read, but an array always has its columns.
    decisions = policy.decide_table(rows.to_struct_array(), **{"threads": 1, **options}).to_pyarrow()
    there = rows.schema.names
    if missing := [name for name in kept if name not in there]:
        raise TableError(f"there is no column `{missing[0]}`; the columns are `{'`, `'.join(there)}`")
    _all_different([*kept, *(prefix + name for name in decisions.column_names)])
    fields = [*map(rows.schema.field, kept), *(field.with_name(prefix + field.name) for field in decisions.schema)]
    return pa.table([*map(rows.column, kept), *decisions.columns], schema=pa.schema(fields))


def _counted(rows: Any, decided: _Kernel, name: str) -> Any:
    """The number of rows for each decision."""
    table = decided(rows)
    names = [*table.column_names, name]
    _all_different(names)
    counted = table.group_by(table.column_names, use_threads=False).aggregate([([], "count_all")])
    return counted.rename_columns(names)


def _all_different(names: list[str]) -> None:
    # Spark ignores letter case in column names.
    lower = [name.lower() for name in names]
    if twice := [name for name in lower if lower.count(name) > 1]:
        raise TableError(f"there would be two columns `{twice[0]}`: give the new ones a prefix")


def _plain(table: Any) -> Any:
    """The table without dictionary encoding, which Spark doesn't read."""
    pa = needs("pyarrow", "spark")
    coded = pa.types.is_dictionary
    plain = (field.with_type(field.type.value_type) if coded(field.type) else field for field in table.schema)
    return table.cast(pa.schema(list(plain)))
