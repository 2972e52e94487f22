"""Checks the parts of a bundle against each other, without the log: manifest, tables and page must say the same."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin, get_type_hints

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from .._number import number
from .._rows import Rows
from .bundle import BASE, MANIFEST, PAGE, POLICY, PROPERTIES, read_table
from .figures import Figures
from .numbers import LEVELS

# The members of a manifest that not every bundle has.
OPTIONAL = ("orbgate_evidence", "also")
# A sum in the summary of the page.
TILE = re.compile(r"<dt>(Calls|Allowed|Denied)</dt><dd><strong>(.*?)</strong>")
FINDING = re.compile(rf'<li class="(?:{"|".join(LEVELS)})">')
# The kinds of findings for mismatches, and the doubts about the log that can take their place.
MISMATCHES = {
    "served though denied": ("served_though_denied", "preflights", "cut_column", "other_spelling", "other_policy"),
    "refused though allowed": ("refused_though_allowed", "other_policy"),
}


def table_names(of: Any = Figures, prefix: str = "") -> set[str]:
    """The names of all tables that a bundle of this version can have."""
    names = set()
    for name, hint in get_type_hints(of).items():
        kinds = [hint, *get_args(hint)]
        if any(kind is Rows or get_origin(kind) is Rows for kind in kinds):
            names.add(f"tables/{prefix}{name}.parquet")
        for kind in kinds:
            if hasattr(kind, "_fields"):
                names |= table_names(kind, f"{prefix}{name}_")
    return names


def differences(inside: Mapping[str, bytes], manifest: Mapping[str, Any], members: Mapping[str, Any]) -> Iterator[tuple[str, bool, str]]:
    """What was compared, whether it is the same, and the details."""
    if unknown := sorted({*manifest} - {*members, *OPTIONAL}):
        yield "manifest: members", False, f"no bundle has {', '.join(f'`{name}`' for name in unknown)}"
    if unknown := sorted({*inside} - table_names() - {PAGE, POLICY, BASE, PROPERTIES, MANIFEST}):
        yield "files of the bundle", False, f"no bundle has {', '.join(f'`{name}`' for name in unknown)}"
    try:
        tables = {name: read_table(data) for name, data in inside.items() if name.endswith(".parquet") and name in table_names()}
        yield from _sums(tables, manifest)
        yield _summary(manifest, inside.get(PAGE, b"").decode("utf-8", "replace"))
        yield from _findings(tables, inside.get(PAGE, b"").decode("utf-8", "replace"))
        yield from _files(tables, manifest, inside.get(PAGE, b"").decode("utf-8", "replace"))
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        yield "tables", False, f"they cannot be compared: {error}"


def _sums(tables: Mapping[str, Any], manifest: Mapping[str, Any]) -> Iterator[tuple[str, bool, str]]:
    """The calls by decision, which several tables and the manifest state."""
    stated: dict[str, Any] = manifest["calls"]
    sums = {}
    for name in ("decisions_outcomes", "decisions_reasons"):
        table = tables[f"tables/{name}.parquet"]
        by = dict(zip(*(column.to_pylist() for column in table.group_by("decision").aggregate([("calls", "sum")]).columns))) if table.num_rows else {}
        sums[name] = (by.get("allow", 0), by.get("deny", 0))
    routes = tables["tables/decisions_routes.parquet"]
    sums["decisions_routes"] = (pc.sum(routes["allowed"]).as_py() or 0, pc.sum(routes["denied"]).as_py() or 0)
    wanted = (stated.get("allowed"), stated.get("denied"))
    wrong = [f"`{name}` has {allowed:,} allowed and {denied:,} denied" for name, (allowed, denied) in sums.items() if (allowed, denied) != wanted]
    yield "sums of calls", not wrong, "; ".join(wrong) or f"{wanted[0]:,} allowed and {wanted[1]:,} denied in all tables and the manifest"


def _summary(manifest: Mapping[str, Any], page: str) -> tuple[str, bool, str]:
    """The sums of the manifest, which the page's summary shows."""
    allowed, denied = manifest["calls"]["allowed"], manifest["calls"]["denied"]
    wanted = {"Calls": allowed + denied, **({"Allowed": allowed, "Denied": denied} if allowed + denied else {})}
    shown = {name: figure.replace("<wbr>", "") for name, figure in TILE.findall(page)}
    about = ", ".join(f"{figure} {name.lower()}" for name, figure in shown.items())
    return "sums on the page", shown == {name: number(count) for name, count in wanted.items()}, about or "the page has none"


def _findings(tables: Mapping[str, Any], page: str) -> Iterator[tuple[str, bool, str]]:
    """The findings, which the page shows, and which signs and mismatches must have."""
    rows, facts = (tables[f"tables/{name}.parquet"].to_pylist() for name in ("findings", "facts"))
    plain = html.unescape(page)
    lacking = [row["kind"] for row in (*rows, *facts) if row["sentence"] not in plain]
    count = len(FINDING.findall(page))
    same = not lacking and count == len(rows)
    yield "findings on the page", same, f"{len(rows):,} in the table, {count:,} on the page" + (
        f"; the page lacks {', '.join(sorted({*lacking}))}" if lacking else ""
    )
    kinds = {row["kind"] for row in (*rows, *facts)} | {row["finding"] for row in tables["tables/accepted.parquet"].to_pylist() if row["is_used"]}
    signs = {row["kind"] for row in tables["tables/signs_signs.parquet"].to_pylist()} - kinds
    mismatches = {row["what"] for row in tables["tables/served_mismatches.parquet"].to_pylist()}
    without = [what for what in sorted(mismatches) if not kinds & {*MISMATCHES.get(what, kinds)}]
    yield "findings of signs and responses", not signs and not without, (
        f"no finding says {', '.join([*sorted(signs), *without])}" if signs or without else "each has its finding"
    )


def _files(tables: Mapping[str, Any], manifest: Mapping[str, Any], page: str) -> Iterator[tuple[str, bool, str]]:
    """The files of the log, and the policy's digest on the page."""
    log: dict[str, Any] = manifest["log"]
    same = tables["tables/log_files.parquet"].to_pylist() == log.get("files")
    yield "files of the log", same, "the same in manifest and table" if same else "manifest and table differ"
    digest = manifest.get("policy")
    shown = isinstance(digest, str) and digest in page
    yield "digest of the policy on the page", shown, str(digest)
