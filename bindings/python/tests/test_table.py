"""Whole tables: every encoding, equal to `decide` row by row; the errors; the rate."""

from __future__ import annotations

import gc
import json
import pickle
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from expected import Expected
from orbgate import Decision, Policy, TableError, Token, logs

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")
import orbgate.polars  # noqa: E402

POLICY = Policy.external()
COLUMNS = ["method", "target", "kind", "scopes", "bonus"]
BONUS = {"allow_bonus_orbs_use": "bonus"}
Row = tuple[Any, ...]


def rows(count: int, seed: int = 7) -> list[Row]:
    """Requests of which some are malformed, unknown, without a token, without anything."""
    choose = random.Random(seed)
    routes = POLICY.routes()
    names = [scope.scope for scope in POLICY.scopes()]
    kinds = ["user", "user", "organisation", "robot", None]
    made_up: list[Row] = []
    for _ in range(count):
        route = choose.choice(routes)
        parts = route.template.split("/")
        target = "/".join(f"v{choose.randrange(20)}" if part.startswith("{") else part for part in parts)
        path = choose.choice([target] * 6 + [target + "/", "/nowhere", target + "?q=ü", "", None])
        method = choose.choice([route.method] * 6 + ["PUT", "get", None])
        scopes = choose.choice([" ".join(choose.sample(names, 5)), route.scope, "", None])
        made_up.append((method, path, choose.choice(kinds), scopes, choose.choice([True, False, None])))
    return made_up


ROWS = rows(1_200)
TABLE = pa.table({name: [row[at] for row in ROWS] for at, name in enumerate(COLUMNS)})


def flat(decision: Decision) -> dict[str, Any]:
    fields = decision.to_dict()
    orbs = fields.pop("orbs") or dict.fromkeys(["consumes", "amount", "bonus_allowed"])
    scopes = fields.pop("scopes", None)
    needs = scopes and json.dumps(scopes, separators=(",", ":"))
    return {**fields, **orbs, "about": decision.about, "needs": needs}


def one_by_one(requests: list[Row], token: Token | None = None) -> list[dict[str, Any]]:
    """What the table must answer, by `decide`."""
    answers = []
    for method, target, kind, scopes, bonus in requests:
        carried = token or (None if kind is None else Token(kind, scopes or ""))
        answers.append(flat(POLICY.decide(method or "", target or "", carried, allow_bonus_orbs_use=bool(bonus))))
    return answers


EXPECTED = one_by_one(ROWS)


def answers(data: Any, **options: Any) -> list[dict[str, Any]]:
    if options.get("allow_bonus_orbs_use") is None:
        options["columns"] = {"allow_bonus_orbs_use": "bonus", **options.get("columns", {})}
    decided = POLICY.decide_table(data, **options)
    result = decided.to_pyarrow().to_pylist()
    assert len(decided) == len(result)
    return result  # type: ignore[no-any-return]


def text_columns(change: Callable[[Any], Any]) -> Any:
    columns = {name: change(TABLE[name].combine_chunks()) for name in COLUMNS[:4]}
    return pa.table({**columns, "bonus": TABLE["bonus"]})


def cast(kind: Any) -> Any:
    return text_columns(lambda column: column.cast(kind))


def coded(keys: Any) -> Any:
    small = text_columns(lambda column: column)
    columns = {
        name: pa.DictionaryArray.from_arrays(
            pa.array(
                [None if text is None else sorted(texts).index(text) for text in column.to_pylist()],
                type=keys if len(texts) < 120 else pa.int32(),
            ),
            sorted(texts),
        )
        for name, column in zip(small.column_names[:4], small.columns)
        for texts in [{text for text in column.to_pylist() if text is not None}]
    }
    return pa.table({**columns, "bonus": small["bonus"]})


ENCODINGS: dict[str, Callable[[], Any]] = {
    "string": lambda: TABLE,
    "large_string": lambda: cast(pa.large_string()),
    "string_view": lambda: cast(pa.string_view()),
    "binary": lambda: cast(pa.binary()),
    "large_binary": lambda: cast(pa.large_binary()),
    "binary_view": lambda: cast(pa.binary_view()),
    "dictionary": lambda: text_columns(lambda column: column.dictionary_encode()),
    **{
        f"dictionary of {keys}": partial(coded, keys)
        for keys in (pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int64(), pa.uint32(), pa.uint64())
    },
    "dictionary of large strings": lambda: text_columns(lambda c: c.cast(pa.large_string()).dictionary_encode()),
    "dictionary of some": lambda: TABLE.set_column(3, "scopes", TABLE["scopes"].dictionary_encode()),
    "chunks": lambda: pa.concat_tables([TABLE.slice(0, 1), TABLE.slice(1, 500), TABLE.slice(501)]),
    "batches": lambda: TABLE.to_reader(max_chunksize=17),
    "one batch": lambda: TABLE.combine_chunks().to_batches()[0],
    "one array": lambda: TABLE.to_struct_array().combine_chunks(),
    "polars": lambda: pl.from_arrow(TABLE),
    "polars in chunks": lambda: pl.concat([pl.from_arrow(TABLE.slice(0, 9)), pl.from_arrow(TABLE.slice(9))]),
    "polars categories": lambda: pl.from_arrow(TABLE).with_columns(pl.col(COLUMNS[:4]).cast(pl.Categorical)),
    "polars enumerations": lambda: pl.from_arrow(TABLE).with_columns(
        pl.col("kind").cast(pl.Enum(["robot", "user", "organisation"]))
    ),
    "polars structs": lambda: pl.from_arrow(TABLE).to_struct("requests"),
    "pandas": lambda: TABLE.to_pandas(),
    "pandas categories": lambda: TABLE.to_pandas().astype({name: "category" for name in COLUMNS[:4]}),
    "pandas objects": lambda: pd.DataFrame(ROWS, columns=COLUMNS, dtype=object),
    "pandas arrow": lambda: TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "duckdb": lambda: duckdb.from_arrow(TABLE),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_table_decides_as_its_rows_do(encoding: str) -> None:
    data = ENCODINGS[encoding]()
    if not hasattr(data, "__arrow_c_stream__") and not hasattr(data, "__arrow_c_array__"):
        pytest.skip(f"this version's {type(data).__name__} has no Arrow C interface")
    assert answers(data) == EXPECTED


@pytest.mark.parametrize("encoding", ["string", "string_view", "dictionary", "polars", "polars categories"])
def test_a_part_of_a_table_decides_as_its_rows_do(encoding: str) -> None:
    data = ENCODINGS[encoding]()
    for start, length in [(0, 1), (1, 8), (197, 1_000), (1_199, 1), (1_200, 0)]:
        assert answers(data.slice(start, length)) == EXPECTED[start : start + length]


LISTED = pa.array([None if row[3] is None else row[3].split(" ") for row in ROWS])
LISTS: dict[str, Callable[[Any], Any]] = {
    "list": lambda lists: lists,
    "large list of views": lambda lists: lists.cast(pa.large_list(pa.string_view())),
    "list of dictionaries": lambda lists: pa.ListArray.from_arrays(lists.offsets, lists.values.dictionary_encode(), mask=lists.is_null()),
    "slice": lambda lists: pa.concat_arrays([pa.array([["read:orbs", None], []]), lists]).slice(2),
}


@pytest.mark.parametrize("encoding", LISTS)
def test_lists_of_scopes_decide_as_their_text_does(encoding: str) -> None:
    data = TABLE.set_column(3, "scopes", LISTS[encoding](LISTED))
    assert answers(data) == EXPECTED
    assert answers(data.slice(197, 1_000)) == EXPECTED[197:1_197]
    assert POLICY.scope_usage(data) == POLICY.scope_usage(TABLE)
    frame = pl.from_arrow(TABLE).with_columns(pl.Series("scopes", LISTED.to_pylist(), pl.List(pl.String)))
    decided = orbgate.polars.decide(frame, POLICY, columns=BONUS)
    assert decided["reason"].to_list() == [row["reason"] for row in EXPECTED]


def test_a_scope_of_a_list_never_becomes_two() -> None:
    call = {"method": "GET", "target": "/api/v1/external/orbs", "kind": "user"}
    lists = [["read:keys read:orbs"], ["read:keys", None, "read:orbs"], [], None]
    table = pa.Table.from_pylist([{**call, "scopes": scopes} for scopes in lists])
    assert POLICY.decide_table(table).to_pyarrow()["decision"].to_pylist() == ["deny", "allow", "deny", "deny"]
    pairs = pa.FixedSizeListArray.from_arrays(pa.array(["read:keys", "read:api", "read:keys", "read:orbs"]), 2)
    fixed = pa.table({**{name: [value] * 2 for name, value in call.items()}, "scopes": pairs})
    assert POLICY.decide_table(fixed).to_pyarrow()["decision"].to_pylist() == ["deny", "allow"]
    with pytest.raises(TableError, match=r"`scopes` .* lists of strings, not List\(Int64\)"):
        POLICY.decide_table(pa.Table.from_pylist([{**call, "scopes": [7]}]))
    uses = [POLICY.scope_usage([(*call.values(), scopes)]) for scopes in (["read:keys read:orbs"], ["read:orbs"])]
    assert [[use.scope for use in used if use.used] for used in uses] == [[], ["read:orbs"]]


def test_flags_of_text_are_read_as_in_logs() -> None:
    words: dict[Any, list[str | None]] = {True: ["true", "Yes", " 1 "], False: ["false", "NO", "0", ""], None: [None]}
    texts = [words[row[4]][at % len(words[row[4]])] for at, row in enumerate(ROWS)]
    for flags in (pa.array(texts), pa.array(texts).dictionary_encode()):
        assert answers(TABLE.set_column(4, "bonus", flags)) == EXPECTED


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_change_nothing(threads: int) -> None:
    """Pieces of 65,536 rows come back in their order."""
    many = pa.concat_tables([TABLE] * 200)
    one = POLICY.decide_table(TABLE, columns=BONUS).to_pyarrow()
    expected = pa.concat_tables([plain(one)] * 200).combine_chunks()
    for data in (many, many.combine_chunks(), many.combine_chunks().to_batches()[0].to_struct_array()):
        decided = POLICY.decide_table(data, columns=BONUS, threads=threads)
        assert plain(decided.to_pyarrow()).combine_chunks().equals(expected)


def plain(table: Any) -> Any:
    """The table without dictionaries."""
    columns = {
        name: column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
        for name, column in zip(table.column_names, table.columns)
    }
    return pa.table(columns)


@pytest.mark.parametrize("encoding", ["string", "dictionary"])
def test_one_token_for_all_rows(encoding: str) -> None:
    token = Token("organisation", ["read:orbs", "write:voxies", "read:keys write:keys"])
    data = ENCODINGS[encoding]().select(["method", "target", "bonus"])
    assert answers(data, token=token) == one_by_one(ROWS, token)


def test_columns_have_the_names_that_they_have() -> None:
    data = TABLE.rename_columns(["verb", "path", "who", "scp", "b"])
    names = {"method": "verb", "target": "path", "kind": "who", "scopes": "scp", "allow_bonus_orbs_use": "b"}
    assert answers(data, columns=names) == EXPECTED
    never = answers(TABLE, allow_bonus_orbs_use=False)
    assert never == one_by_one([(*row[:4], False) for row in ROWS])


def test_values_stand_for_columns() -> None:
    bare = TABLE.select(["method", "target", "bonus"])
    token = Token("user", "read:orbs read:voxies")
    assert answers(bare, kind="user", scopes="read:orbs read:voxies") == one_by_one(ROWS, token)
    of_users = one_by_one([(method, target, "user", scopes, bonus) for method, target, _, scopes, bonus in ROWS])
    assert answers(TABLE, kind="user") == of_users
    calls = [(method or "", target or "", "user", scopes or "") for method, target, _, scopes, _ in ROWS]
    assert POLICY.scope_usage(TABLE, kind="user") == POLICY.scope_usage(calls)


def test_the_flag_has_its_own_name_or_is_false() -> None:
    named = TABLE.rename_columns([*COLUMNS[:4], "allow_bonus_orbs_use"])
    for data in (named, pl.from_arrow(named), named.to_pandas()):
        assert POLICY.decide_table(data).to_pyarrow().to_pylist() == EXPECTED
    assert POLICY.decide_table(named, allow_bonus_orbs_use=True).to_pyarrow().to_pylist() == one_by_one(
        [(*row[:4], True) for row in ROWS]
    )
    with pytest.raises(TableError, match="`b`"):
        POLICY.decide_table(TABLE, columns={"allow_bonus_orbs_use": "b"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": {"path": "target"}}, "`path`.* method, target"),
        ({"columns": {"caller": "who"}}, "`caller`"),
        ({"columns": {"kind": "k"}, "kind": "user"}, "`kind` .* column `k`"),
        ({"columns": {"scopes": "s"}, "token": Token("user", "")}, "`scopes` .* column `s`"),
        ({"kind": "k"}, "k"),
        ({"kind": "user", "token": Token("user", "")}, "absent"),
        ({"threads": 0}, "at least 1, not 0"),
        ({"threads": -1}, "at least 1, not -1"),
    ],
)
def test_arguments_that_do_not_fit(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        POLICY.decide_table(TABLE, **options)


def test_threads_without_end_are_no_more_than_processors() -> None:
    """A million of them once took all memory before anything was decided."""
    for threads in (1 << 40, 10**30):
        assert len(POLICY.decide_table(TABLE, threads=threads)) == len(ROWS)


@pytest.mark.parametrize("threads", ["2", True, 2.0])
def test_threads_are_an_int(threads: Any) -> None:
    with pytest.raises(TypeError, match=f"`threads`.* int, not {type(threads).__name__}"):
        POLICY.decide_table(TABLE, threads=threads)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scopes": ["a"]}, "`scopes`.* str, not list"),
        ({"scopes": b"a"}, "`scopes`.* str, not bytes"),
        ({"allow_bonus_orbs_use": 1}, "`allow_bonus_orbs_use`.* bool, not int"),
        ({"columns": ["target"]}, "`columns`.* mapping .* not list"),
        ({"columns": {"target": 1}}, "`target`.* str, not int"),
    ],
)
def test_arguments_of_another_type_are_named(options: dict[str, Any], message: str) -> None:
    """A report took 1 for a flag, and a list of scopes was an `AttributeError` of the package's own."""
    asks: list[Callable[..., object]] = [POLICY.decide_table, logs.read]
    if "allow_bonus_orbs_use" not in options:
        asks.append(POLICY.scope_usage)
    for ask in asks:
        with pytest.raises(TypeError, match=message):
            ask(TABLE, **options)


class Lent:
    """A table that shows only its C interface."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.data.__arrow_c_stream__()


FRAME = pl.from_arrow(TABLE)
ODD: dict[str, Callable[[], Any]] = {
    "Int128 of polars": lambda: FRAME.with_columns(other=pl.lit(1, pl.Int128)),
    "Int128 of polars, lent": lambda: Lent(FRAME.with_columns(other=pl.lit(1, pl.Int128))),
    "Int128 of polars in structs": lambda: FRAME.with_columns(other=pl.lit(1, pl.Int128)).to_struct("calls"),
    "nulls of polars": lambda: FRAME.with_columns(other=pl.lit(None)),
    "objects of polars": lambda: FRAME.with_columns(other=pl.Series([object()] * len(ROWS), dtype=pl.Object)),
    "objects of pandas": lambda: TABLE.to_pandas().assign(other=[1, "x"] * (len(ROWS) // 2)),
    "two of one name": lambda: TABLE.append_column("other", TABLE["kind"]).append_column("other", TABLE["kind"]),
    "lists": lambda: TABLE.append_column("other", pa.array([[1]] * len(ROWS))),
    "an extension": lambda: TABLE.append_column("other", pa.array([bytes(16)] * len(ROWS), pa.uuid())),
    "run ends": lambda: TABLE.append_column("other", pa.RunEndEncodedArray.from_arrays([len(ROWS)], ["x"])),
}


@pytest.mark.parametrize("name", ODD)
def test_columns_that_nobody_asks_for_may_be_of_any_type(name: str) -> None:
    data = ODD[name]()
    assert answers(data) == EXPECTED
    assert POLICY.scope_usage(data) == POLICY.scope_usage(TABLE)


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_nothing_but_nulls_are_nulls(name: str) -> None:
    expected = one_by_one([tuple(None if at == name else cell for at, cell in zip(COLUMNS, row)) for row in ROWS])
    frame = FRAME.with_columns(pl.lit(None).alias(name))
    assert frame.schema[name] == pl.Null
    for data in (frame, frame.to_struct("calls"), frame[:700].vstack(frame[700:]), TABLE.to_pandas().assign(**{name: None})):
        assert answers(data) == expected
    assert POLICY.scope_usage(frame) == POLICY.scope_usage(frame.to_pandas())


@pytest.mark.parametrize("name", COLUMNS)
def test_two_columns_of_one_name_are_an_error(name: str) -> None:
    """Which of them counted depended on their order."""
    twice = TABLE.append_column(name, TABLE[name])
    frame = TABLE.to_pandas()
    for data in (twice, twice.to_batches()[0], pd.concat([frame, frame[[name]]], axis=1)):
        with pytest.raises(TableError, match=f"two columns `{name}`"):
            answers(data)


def test_tables_without_rows_are_looked_at() -> None:
    for nothing in (TABLE.schema.empty_table(), pa.Table.from_batches([], TABLE.schema), FRAME.clear()):
        with pytest.raises(TableError, match="`verb`; .* `method`, `target`"):
            answers(nothing, columns={"method": "verb"})
    numbers = pa.schema([(name, pa.int64()) for name in COLUMNS]).empty_table()
    with pytest.raises(TableError, match="`method` .* strings, not Int64"):
        answers(numbers)


@pytest.mark.parametrize("empty", [TABLE.slice(0, 0), TABLE.schema.empty_table(), pl.from_arrow(TABLE).clear()])
def test_no_rows_are_no_rows(empty: Any) -> None:
    assert answers(empty) == []
    none = POLICY.decide_table(pa.Table.from_batches([], TABLE.schema))
    assert len(none) == 0 and none.columns == POLICY.decide_table(TABLE).columns


def test_nothing_but_nulls() -> None:
    nothing = pa.table({name: pa.nulls(3) for name in COLUMNS[:4]})
    assert answers(nothing, allow_bonus_orbs_use=False) == one_by_one([(None,) * 5] * 3)


def test_a_row_that_is_null_as_a_whole_has_nothing() -> None:
    array = pa.StructArray.from_arrays(
        [pa.array(["GET", "GET"]), pa.array(["/api/v1/external/account"] * 2), pa.array(["user"] * 2), pa.array(["read:account"] * 2)],
        names=COLUMNS[:4],
        mask=pa.array([False, True]),
    )
    for data in (array, array.take(pa.array([0, 1])), array.take(pa.array([1, 1, 0, 1])).slice(2)):
        decided = answers(data, allow_bonus_orbs_use=False)
        assert [row["reason"] for row in decided] == ["scope_held", "malformed_request"]


def test_a_dictionary_of_strangers() -> None:
    """More combinations than rows; entries that no row has; entries that are null."""
    wide = pa.DictionaryArray.from_arrays(pa.array([0, 2, None, 1]), pa.array(["read:orbs", None, "read:keys"]))
    data = pa.table(
        {
            "method": pa.array(["GET"] * 4).dictionary_encode(),
            "target": pa.DictionaryArray.from_arrays(
                pa.array([5_000, 5_000, 5_000, 1]), [f"/{at}" for at in range(5_000)] + ["/api/v1/external/orbs"]
            ),
            "kind": pa.array(["user"] * 4).dictionary_encode(),
            "scopes": wide,
        }
    )
    reasons = [row["reason"] for row in answers(data, allow_bonus_orbs_use=False)]
    assert reasons == ["scope_held", "scope_missing", "scope_missing", "no_route"]


@pytest.mark.parametrize("encoding", ["string", "dictionary", "polars categories", "batches"])
def test_the_usage_of_scopes_in_a_table(encoding: str) -> None:
    calls = [
        (method or "", target or "", kind, scopes or "") for method, target, kind, scopes, _ in ROWS if kind is not None
    ]
    usage = POLICY.scope_usage(ENCODINGS[encoding]())
    assert usage == POLICY.scope_usage(calls) and any(use.used for use in usage)
    assert POLICY.scope_usage(TABLE.rename_columns([*"abcd", "e"]), columns=dict(zip(COLUMNS[:4], "abcd"))) == usage


class Twice:
    """Hands out one capsule again and again."""

    def __init__(self, data: Any, method: str) -> None:
        self.capsules = getattr(data, method)()
        setattr(type(self), method, lambda self, requested_schema=None: self.capsules)


def test_what_was_read_before_is_an_error_and_not_empty() -> None:
    reader = TABLE.to_reader()
    assert len(POLICY.decide_table(reader)) == len(ROWS)
    with pytest.raises(TableError, match="read before"):
        POLICY.decide_table(reader)
    for method in ("__arrow_c_stream__", "__arrow_c_array__"):
        once: Any = type("Once", (Twice,), {})(TABLE.combine_chunks().to_batches()[0], method)
        assert len(POLICY.decide_table(once)) == len(ROWS)
        with pytest.raises(TableError, match="read before"):
            POLICY.decide_table(once)


def test_a_producer_that_fails_says_why() -> None:
    def batches() -> Iterator[Any]:
        yield from TABLE.to_batches(max_chunksize=10)
        raise RuntimeError("the disk is gone")

    with pytest.raises(TableError, match="the disk is gone"):
        POLICY.decide_table(pa.RecordBatchReader.from_batches(TABLE.schema, batches()))


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.drop_columns(["kind"]),
        lambda t: t.set_column(0, "method", pa.array(range(len(t)))),
        lambda t: t.set_column(4, "bonus", t["method"]),
        lambda t: t.set_column(4, "bonus", pa.array(range(len(t)))),
        lambda t: t["method"],
        lambda t: t.append_column("kind", t["kind"]),
    ],
    ids=["dropped", "numbers", "no flags", "numbers for flags", "no table", "twice"],
)
def test_a_table_that_cannot_be_decided(change: Callable[[Any], Any], expected: Expected) -> None:
    with pytest.raises(TableError) as caught:
        answers(change(TABLE))
    expected(caught.value)


def test_other_data_is_refused() -> None:
    ask: Any = POLICY.decide_table
    for data in (ROWS, "GET /", None, {"method": ["GET"]}):
        with pytest.raises(TypeError, match="Arrow C interface"):
            ask(data)
    with pytest.raises(TypeError):
        ask(TABLE, token="write:voxies")


def test_the_answer_is_handed_over_as_often_as_asked() -> None:
    decided = POLICY.decide_table(TABLE, columns=BONUS)
    frames = [decided.to_polars(), pl.DataFrame(decided), pl.from_arrow(decided.to_pyarrow())]
    assert all(frame.to_dicts() == EXPECTED for frame in frames)
    assert decided.to_pandas()["reason"].tolist() == [row["reason"] for row in EXPECTED]
    allowed = duckdb.from_arrow(decided.to_pyarrow()).filter("decision = 'allow'").count("*").fetchall()
    assert allowed == [(sum(row["decision"] == "allow" for row in EXPECTED),)]


def test_no_copy_is_made_of_the_answer() -> None:
    decided = POLICY.decide_table(TABLE)
    buffers = [decided.to_pyarrow()["amount"].chunk(0).buffers()[1].address for _ in range(2)]
    assert buffers[0] == buffers[1]


@pytest.mark.long
@pytest.mark.once
def test_memory_stays_flat() -> None:
    array = TABLE.to_struct_array().combine_chunks()

    def decide(times: int) -> None:
        for _ in range(times):
            POLICY.decide_table(TABLE).to_pyarrow()
            POLICY.decide_table(array).__arrow_c_stream__()
        gc.collect()

    decide(200)
    before = pa.total_allocated_bytes()
    rss = resident()
    decide(2_000)
    assert pa.total_allocated_bytes() == before
    assert resident() - rss < 8_000_000


def resident() -> int:
    if sys.platform != "linux":
        return 0
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * 4096


def vast() -> Any:
    """A table of 240 million rows, which are the same ones again and again."""
    batch = pa.concat_tables([TABLE] * 100).combine_chunks().to_batches()[0]
    return pa.Table.from_batches([batch] * 2_000)


@pytest.mark.alone
def test_ctrl_c_is_honoured() -> None:
    table = vast()
    # A shell that runs the tests in the background may make them ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT)).start()
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            POLICY.decide_table(table)
        assert time.monotonic() - start < 5
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_run_meanwhile() -> None:
    table = pa.concat_tables([TABLE] * 700).combine_chunks()
    done = threading.Event()
    decided = []

    def work() -> None:
        decided.append(POLICY.decide_table(table))
        done.set()

    worker = threading.Thread(target=work)
    steps = 0
    worker.start()
    while not done.is_set():
        steps += 1
    worker.join()
    assert len(decided[0]) == len(table)
    assert steps > 1_000


def by_caller() -> tuple[Any, dict[Any, list[Row]]]:
    """The table with callers, and the rows of each."""
    names = [["ann", "bob", "", None][at % 4] for at in range(len(ROWS))]
    of: dict[Any, list[Row]] = {}
    for name, row in zip(names, ROWS):
        of.setdefault(name, []).append(row)
    return TABLE.append_column("who", pa.array(names)), of


@pytest.mark.parametrize("change", [lambda table: table, pl.from_arrow, lambda table: table.to_reader(max_chunksize=99)])
def test_the_usage_of_scopes_by_caller(change: Callable[[Any], Any]) -> None:
    table, of = by_caller()
    usage = POLICY.scope_usage(change(table), by="who")
    for who, requests in of.items():
        calls = [(method or "", target or "", kind, scopes or "") for method, target, kind, scopes, _ in requests if kind]
        assert [row[1:] for row in usage if row.by == who] == POLICY.scope_usage(calls)
    assert {row.by for row in usage if row.scope == "read:orbs" and row.granted} == set(of)


@pytest.mark.parametrize("kind", ["user", "organisation", None])
def test_the_least_scopes_by_caller(kind: str | None) -> None:
    table, of = by_caller()
    by_who = POLICY.least_scopes(table, kind, by="who")
    assert list(by_who) == [None, "", "ann", "bob"]
    for who, requests in of.items():
        if kind is not None:
            assert by_who[who] == POLICY.least_scopes([(row[0] or "", row[1] or "") for row in requests], kind)
        assert any(need.scope for need in by_who[who].needs)
    everything = POLICY.least_scopes(pl.from_arrow(table), kind)
    assert {need.scope: need.calls for need in everything.needs} == {
        scope: sum(need.calls for least in by_who.values() for need in least.needs if need.scope == scope)
        for scope in {need.scope for least in by_who.values() for need in least.needs}
    }
    names = table.rename_columns(["verb", *table.column_names[1:]])
    assert POLICY.least_scopes(names, kind, columns={"method": "verb"}) == everything


def test_what_tells_rows_apart_is_a_column_of_text() -> None:
    numbers = TABLE.append_column("who", pa.array(range(len(ROWS))))
    for ask in (POLICY.scope_usage, POLICY.least_scopes):
        with pytest.raises(TableError, match="`who`"):
            ask(TABLE, by="who")
        with pytest.raises(TableError, match="`who` .* strings, not Int64"):
            ask(numbers, by="who")
    bad: Any = [("GET", "/", "user", "")]
    with pytest.raises(ValueError, match="`by` .* only with a table"):
        POLICY.scope_usage(bad, by="who")
    with pytest.raises(ValueError, match="`by` .* only with a table"):
        POLICY.least_scopes([("GET", "/")], columns={"method": "verb"})


def test_a_decided_table_is_looked_at_row_by_row() -> None:
    decided = POLICY.decide_table(TABLE.to_reader(max_chunksize=500), columns=BONUS)
    rows = list(decided)
    assert [flat(row) for row in rows] == EXPECTED and isinstance(rows[0], Decision)
    for row, (method, target, kind, scopes, bonus) in zip(rows, ROWS):
        token = None if kind is None else Token(kind, scopes or "")
        assert row == POLICY.decide(method or "", target or "", token, allow_bonus_orbs_use=bool(bonus))
    assert decided[-1] == rows[-1] == decided[len(ROWS) - 1] and decided[-len(ROWS)] == rows[0]
    for part in (slice(3), slice(-3, None), slice(490, 1_010), slice(5, 2), slice(None)):
        assert list(decided[part]) == rows[part] and len(decided[part]) == len(rows[part])
    ask: Any = decided
    for bad, error in ((len(ROWS), IndexError), (-len(ROWS) - 1, IndexError), ("a", TypeError), (slice(0, 9, 2), ValueError)):
        with pytest.raises(error):
            ask[bad]


def test_a_decided_table_shows_its_first_rows() -> None:
    few, many = POLICY.decide_table(TABLE.slice(0, 2)), POLICY.decide_table(TABLE)
    assert repr(few).splitlines()[0] == "<orbgate.DecisionTable: 2 rows>" and len(repr(few).splitlines()) == 3
    assert repr(many).startswith("<orbgate.DecisionTable: 1,200 rows>\n  ") and len(repr(many).splitlines()) == 7
    html = many._repr_html_()
    assert html.count("<tr>") == 21 and html.endswith("<p>and 1,180 more rows</p>")
    assert "more" not in few._repr_html_()


def test_a_decided_table_pickles() -> None:
    decided = POLICY.decide_table(TABLE, columns=BONUS)
    for table in (decided, decided[7:9], POLICY.decide_table(TABLE.slice(0, 0))):
        again = pickle.loads(pickle.dumps(table))
        assert list(again) == list(table) and again.to_pyarrow().schema == table.to_pyarrow().schema
    with pytest.raises(TableError):
        type(decided).__reduce__(decided)[0](TABLE)
